/* c_strings.c: kernels on strings as C, directly from their definitions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "export/c_text.h"
#include "kernel/built_in.h"
#include "kernel/parts.h"

static bool holds(const mcr_kernel *k, const mcr_kernel_type *type)
{
    bool found = k->type == type;
    for (int c = 0; c < k->children; c++)
        found = found || holds(k->child[c], type);
    return found;
}

/* ssk of an object with itself. */
static bool has_limit(const mcr_kernel *k)
{
    bool found = k->type == &mcr_kernel_normalize && holds(k, &mcr_kernel_ssk);
    for (int c = 0; c < k->children; c++)
        found = found || has_limit(k->child[c]);
    return found;
}

bool mcr_c_has_limit(const mcr_portable *p)
{
    bool own = p->finish == MCR_FINISH_GP || p->finish == MCR_FINISH_KNN; /* K(x,x) */
    return has_limit(p->kernel) || (own && holds(p->kernel, &mcr_kernel_ssk)) ||
           (p->second && has_limit(p->second));
}

static void put_head(mcr_c_writer *w, int64_t number)
{
    mcr_c_put(w,
              "static @_real @_strings%lld(const unsigned char *a, long m, const unsigned char *b, "
              "long n)\n{\n",
              (long long)number);
}

static void put_equal(mcr_c_writer *w, int64_t number)
{
    mcr_c_put(w,
              "static int @_equal%lld(const unsigned char *a, const unsigned char *b, long p)\n"
              "{\n"
              "    while (p > 0 && a[p - 1] == b[p - 1])\n"
              "        p--;\n"
              "    return p == 0;\n"
              "}\n\n",
              (long long)number);
}

static void put_spectrum(mcr_c_writer *w, const mcr_kernel *k, int64_t number)
{
    int64_t longest = (int64_t)mcr_kernel_number(k, "p");
    int64_t shortest = k->type == &mcr_kernel_blended ? 1 : longest;
    bool presence = mcr_kernel_choice(k, "mode") == 0;
    put_equal(w, number);
    put_head(w, number);
    mcr_c_put(w,
              "    @_real sum = 0;\n"
              "    for (long p = %lld; p <= %lld; p++)\n"
              "        for (long i = 0; i + p <= m; i++) {\n",
              (long long)shortest, (long long)longest);
    if (presence)
        mcr_c_put(w,
                  "            long before = 0, j = 0;\n"
                  "            while (before < i && !@_equal%lld(a + before, a + i, p))\n"
                  "                before++;\n"
                  "            while (before == i && j + p <= n && !@_equal%lld(a + i, b + j, p))\n"
                  "                j++;\n"
                  "            sum += before == i && j + p <= n ? 1 : 0;\n",
                  (long long)number, (long long)number);
    else
        mcr_c_put(w,
                  "            for (long j = 0; j + p <= n; j++)\n"
                  "                sum += @_equal%lld(a + i, b + j, p) ? 1 : 0;\n",
                  (long long)number);
    mcr_c_put(w, "        }\n    return sum;\n}\n\n");
}

/* Sums over pairs of words by their number of mismatches. */
static void put_pairs(mcr_c_writer *w, const mcr_mismatches *what, int64_t number)
{
    char name[32];
    snprintf(name, sizeof name, "h%lld", (long long)number);
    mcr_c_reals(w, name, what->h, what->most + 1);
    if (what->both_strands)
        mcr_c_put(w,
                  "static int @_base%lld(unsigned char c)\n"
                  "{\n"
                  "    return c == 'A' || c == 'a' ? 0 : c == 'C' || c == 'c' ? 1 : c == 'G' || c "
                  "== 'g' ? 2 : c == 'T' || c == 't' ? 3 : 4;\n"
                  "}\n\n",
                  (long long)number);
    put_head(w, number);
    mcr_c_put(w,
              "    @_real sum = 0;\n"
              "    for (long i = 0; i + %lld <= m; i++)\n"
              "        for (long j = 0; j + %lld <= n; j++) {\n",
              (long long)what->length, (long long)what->length);
    if (what->both_strands)
        mcr_c_put(w,
                  "            int same = 0, across = 0, bad = 0;\n"
                  "            for (long t = 0; t < %lld; t++) {\n"
                  "                int x = @_base%lld(a[i + t]), y = @_base%lld(b[j + t]);\n"
                  "                bad |= x > 3 || y > 3;\n"
                  "                same += x != y;\n"
                  "                across += x != 3 - @_base%lld(b[j + %lld - t]);\n"
                  "            }\n"
                  "            if (!bad && same <= %lld)\n"
                  "                sum += $_READ(@_h%lld + same);\n"
                  "            if (!bad && across <= %lld)\n"
                  "                sum += $_READ(@_h%lld + across);\n",
                  (long long)what->length, (long long)number, (long long)number, (long long)number,
                  (long long)what->length - 1, (long long)what->most, (long long)number,
                  (long long)what->most, (long long)number);
    else
        mcr_c_put(w,
                  "            int apart = 0;\n"
                  "            for (long t = 0; t < %lld; t++)\n"
                  "                apart += a[i + t] != b[j + t];\n"
                  "            if (apart <= %lld)\n"
                  "                sum += $_READ(@_h%lld + apart);\n",
                  (long long)what->length, (long long)what->most, (long long)number);
    mcr_c_put(w, "        }\n    return sum;\n}\n\n");
}

/* The recursion of Lodhi and others (2002), letter by letter of a; g[t][j]: for the first j letters
 * of b, subsequences of t letters extended to the end. */
static void put_ssk(mcr_c_writer *w, const mcr_kernel *k, int64_t number)
{
    int64_t p = (int64_t)mcr_kernel_number(k, "p");
    int64_t string = mcr_portable_string(k->field);
    char most[64];
    if (mcr_c_has_limit(w->p))
        snprintf(most, sizeof most, "$_LONGEST");
    else
        snprintf(most, sizeof most, "%lld", (long long)mcr_portable_longest(w->p, string));
    put_head(w, number);
    mcr_c_put(w,
              "    const @_real lambda = %s;\n"
              "    @_real sum = 0, ",
              mcr_c_number(w, mcr_kernel_number(k, "lambda")));
    mcr_c_put(w, "g[%lld][", (long long)p);
    mcr_c_lines(w, most);
    mcr_c_put(w,
              " + 1];\n"
              "    for (int t = 0; t < %lld; t++)\n"
              "        for (long j = 0; j <= n; j++)\n"
              "            g[t][j] = t == 0 ? 1 : 0;\n"
              "    for (long i = 0; i < m; i++) {\n"
              "        for (long j = 0; j < n; j++)\n"
              "            sum += a[i] == b[j] ? lambda * lambda * g[%lld][j] : 0;\n"
              "        for (int t = %lld; t > 0; t--) {\n"
              "            @_real run = 0, old = g[t - 1][0];\n"
              "            for (long j = 0; j < n; j++) {\n"
              "                run = lambda * run + (a[i] == b[j] ? lambda * lambda * old : 0);\n"
              "                old = g[t - 1][j + 1];\n"
              "                g[t][j + 1] = lambda * g[t][j + 1] + run;\n"
              "            }\n"
              "        }\n"
              "    }\n"
              "    return sum;\n"
              "}\n\n",
              (long long)p, (long long)p - 1, (long long)p - 1);
}

mcr_status mcr_c_string_kernel(mcr_c_writer *w, const mcr_kernel *k, int64_t number)
{
    mcr_mismatches what;
    if (k->type == &mcr_kernel_spectrum || k->type == &mcr_kernel_blended) {
        put_spectrum(w, k, number);
    } else if (k->type == &mcr_kernel_ssk) {
        put_ssk(w, k, number);
    } else {
        if (k->type == &mcr_kernel_mismatch)
            mcr_mismatch_pairs(&what, k);
        else
            mcr_gkm_pairs(&what, k);
        put_pairs(w, &what, number);
    }
    return w->status;
}

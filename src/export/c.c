/* c.c: a model as one self-contained file of C99, with a header.
 *
 * Constant arrays and loops, no memory from the heap; of the library only exp, tanh and sqrt. On
 * AVR the arrays stay in flash memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "export/c_text.h"

enum { INT_MOST = 32767, LIMIT = 1024 };

/* A text for a comment, which it must not end: a model may be untrusted, and compilers join lines
 * at a backslash before they look for the end. */
static void put_comment(mcr_c_writer *w, const char *before, const char *text)
{
    mcr_c_put(w, "%s", before);
    if (strlen(text) >= 400)
        text = "(long)";
    for (char last = ' '; *text; last = *text++) {
        bool mark = (*text == '/' && last == '*') || (*text == '*' && last == '/');
        mcr_text_add(&w->text, mark || (unsigned char)*text < 32 || *text == 127 ? "?" : text, 1);
    }
    mcr_text_string(&w->text, "\n");
}

static void put_meaning(mcr_c_writer *w)
{
    const mcr_fitted *f = w->p->fitted;
    mcr_c_put(w, " * @_scores(x, out) writes %lld number%s: ", (long long)f->outputs,
              f->outputs == 1 ? "" : "s");
    mcr_c_put(w, "%s.\n",
              f->rule == MCR_RULE_COORDINATES ? "the coordinates"
              : f->rule == MCR_RULE_PAIRS
                  ? "one for each pair of classes (0,1), (0,2), ..., above 0 for the first"
              : f->task == MCR_REGRESS ? "the values"
              : f->task == MCR_DETECT  ? "0 or more for what is like the training data"
              : f->outputs == 1        ? "above 0 for class 1, else class 0"
                                       : "one for each class or cluster");
    if (f->task == MCR_CLASSIFY)
        mcr_c_put(w,
                  " * @_predict(x) returns the number of the class, @_label(number) its name.\n");
    else if (f->task == MCR_CLUSTER)
        mcr_c_put(w, " * @_predict(x) returns the number of the cluster, from 0.\n");
    else if (f->task == MCR_DETECT)
        mcr_c_put(w, " * @_predict(x) returns 1 or -1.\n");
    else if (f->task == MCR_REGRESS)
        mcr_c_put(w, " * @_predict(x) returns the%s value.\n", f->outputs > 1 ? " first" : "");
    if (mcr_model_has_probability(w->p->model))
        mcr_c_put(w, " * @_proba(x, out) writes the probability of each class.\n");
    if (mcr_model_has_std(w->p->model))
        mcr_c_put(w, " * @_std(x) returns the standard deviation of the value.\n");
}

static void put_inputs(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    for (int64_t f = 0; f < p->ports; f++) {
        const mcr_port *port = &p->port[f];
        char line[96];
        if (port->text)
            snprintf(line, sizeof line, " * text%lld, length%lld: the bytes of the field ",
                     (long long)port->string, (long long)port->string);
        else
            snprintf(line, sizeof line, " * x[%lld] to x[%lld]: the field ", (long long)port->first,
                     (long long)(port->first + port->cols - 1));
        put_comment(w, line, port->field.store->name);
    }
    if (mcr_c_has_limit(p))
        mcr_c_put(w, " * Strings of more than $_LONGEST bytes have no prediction: scores are NAN, "
                     "labels -1.\n");
}

static void put_about(mcr_c_writer *w, const char *end)
{
    const mcr_model *m = w->p->model;
    mcr_c_put(w, "/* @%s: made by Mercer %s.\n *\n", end, mcr_version());
    put_comment(w, " * learner: ", m->learner);
    put_comment(w, " * kernel: ", mcr_kernel_text(m->kernel));
    if (w->int8.q)
        mcr_c_put(w, " * int8: a score differs from the model's by at most %g * sqrt(K(x,x)).\n",
                  w->call->report->error);
    mcr_c_put(w, " *\n");
    put_inputs(w);
    put_meaning(w);
}

/* ---- the header -------------------------------------------------------------------------------*/

static void put_sizes(mcr_c_writer *w)
{
    const mcr_fitted *f = w->p->fitted;
    mcr_c_put(w, "enum { $_INPUTS = %lld, $_OUTPUTS = %lld, $_CLASSES = %lld };\n\n",
              (long long)w->p->inputs, (long long)f->outputs, (long long)f->classes);
}

static void put_header(mcr_c_writer *w)
{
    put_about(w, ".h");
    mcr_c_put(w,
              " */\n#ifndef $_H\n#define $_H\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
              "typedef %s @_real;\n",
              w->precise ? "double" : "float");
    put_sizes(w);
    mcr_c_prototypes(w);
    mcr_c_put(w, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* ---- the file ---------------------------------------------------------------------------------*/

static int64_t largest_index(const mcr_portable *p)
{
    int64_t most = p->basis, count = 0;
    const int64_t all[] = {p->inputs, p->width, 4 * p->segments, p->fitted->outputs, 0};
    (void)mcr_fitted_find(p->fitted, "vote.object", &count);
    most = count > most ? count : most;
    for (const int64_t *a = all; *a; a++)
        most = *a > most ? *a : most;
    return most;
}

static void put_types(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    bool small = largest_index(p) < INT_MOST, narrow = p->width < 2 * INT_MOST;
    mcr_c_put(w,
              "typedef %s @_real;\n"
              "typedef %s @_index;\n",
              w->precise ? "double" : "float", small ? "int" : "long");
    if (w->p->parts > 0)
        mcr_c_put(w, "typedef unsigned %s @_place; /* a column */\n", narrow ? "short" : "long");
    mcr_c_put(w,
              "#define $_EXP exp%s\n"
              "#define $_SQRT sqrt%s\n"
              "#define $_TANH tanh%s\n"
              "#define $_EPSILON ((@_real)%s)\n"
              "#define $_COUPLED ((@_real)%s)\n",
              w->f, w->f, w->f, w->precise ? "2.2204460492503131e-16" : "1.1920929e-7",
              w->precise ? "1e-9" : "1e-6");
    mcr_c_put(w,
              "#ifdef __AVR__ /* arrays stay in flash memory */\n"
              "#include <avr/pgmspace.h>\n"
              "#define $_ROM PROGMEM\n"
              "#define $_READ(p) pgm_read_float(p)\n"
              "#define $_READ_BYTE(p) pgm_read_byte(p)\n"
              "#define $_READ_INDEX(p) pgm_read_%s(p)\n"
              "#define $_READ_PLACE(p) pgm_read_%s(p)\n"
              "#define $_READ_LONG(p) pgm_read_dword(p)\n"
              "#else\n"
              "#define $_ROM\n"
              "#define $_READ(p) (*(p))\n"
              "#define $_READ_BYTE(p) (*(p))\n"
              "#define $_READ_INDEX(p) (*(p))\n"
              "#define $_READ_PLACE(p) (*(p))\n"
              "#define $_READ_LONG(p) (*(p))\n"
              "#endif\n",
              small ? "word" : "dword", narrow ? "word" : "dword");
    if (mcr_c_has_limit(p)) {
        int64_t longest = LIMIT;
        for (int64_t t = 0; t < p->strings; t++)
            if (mcr_portable_longest(p, t) > longest)
                longest = mcr_portable_longest(p, t);
        mcr_c_put(w, "#ifndef $_LONGEST\n#define $_LONGEST %lld /* bytes of a string */\n#endif\n",
                  (long long)longest);
    }
}

static void put_structs(mcr_c_writer *w)
{
    const mcr_portable *p = w->p;
    mcr_c_put(w,
              "enum { $_WIDTH = %lld, $_SUPPORT = %lld };\n\n"
              "/* An object as the kernel sees it. */\n"
              "typedef struct @_object {\n    const @_real *v;\n",
              (long long)p->width, (long long)p->basis);
    if (w->owns > 0)
        mcr_c_put(w, "    const @_real *own;\n");
    for (int64_t t = 0; t < p->strings; t++)
        mcr_c_put(w, "    const unsigned char *text%lld;\n    long length%lld;\n", (long long)t,
                  (long long)t);
    mcr_c_put(w, "} @_object;\n\ntypedef struct @_input {\n");
    if (p->parts > 0)
        mcr_c_put(w, "    @_real v[$_WIDTH];\n");
    if (w->owns > 0)
        mcr_c_put(w, "    @_real own[%lld];\n", (long long)w->owns);
    mcr_c_put(w, "    char unused;\n} @_input;\n\n");
}

static mcr_status put_file(mcr_c_writer *w)
{
    put_about(w, ".c");
    mcr_c_put(w, " *\n * Test: cc -std=c99 -D$_TEST @.c -lm && ./a.out\n */\n"
                 "#include <math.h>\n\n");
    put_types(w);
    mcr_c_put(w, "\n");
    put_sizes(w);
    mcr_c_prototypes(w);
    mcr_c_put(w, "\n");
    if (w->p->basis > 0)
        put_structs(w);
    mcr_status s = mcr_c_arrays(w);
    if (!s && w->p->basis > 0)
        s = mcr_c_kernel(w);
    if (!s)
        s = mcr_c_decide(w);
    if (!s)
        s = mcr_c_test(w);
    return s;
}

/* moons.c: moons.h; "": none. */
static void find_header(char *out, size_t size, const char *path)
{
    size_t length = strlen(path);
    out[0] = '\0';
    if (length > 2 && length < size && strcmp(path + length - 2, ".c") == 0) {
        memcpy(out, path, length + 1);
        out[length - 1] = 'h';
    }
}

static mcr_status write(const mcr_exporting *e)
{
    mcr_portable *p = NULL;
    bool precise = strcmp(e->numbers, "double") == 0;
    mcr_c_writer w = {.ctx = e->ctx, .call = e, .name = e->name, .precise = precise};
    w.f = precise ? "" : "f";
    for (size_t i = 0; e->name[i] && i + 1 < sizeof w.capitals; i++)
        w.capitals[i] = (char)toupper((unsigned char)e->name[i]);
    mcr_text_init(&w.text, e->ctx);
    mcr_status s = mcr_portable_open(&p, e->ctx, e->model, "C", true);
    if (!s && strcmp(e->numbers, "int8") == 0)
        s = mcr_quantised_open(&w.int8, p, e->report);
    if (!s) {
        w.p = p;
        w.owns = mcr_c_owns(p);
        e->report->inputs = p->inputs;
        s = put_file(&w);
    }
    if (!s)
        s = w.status;
    if (!s)
        s = mcr_text_save(&w.text, e->path);
    if (!s)
        find_header(e->report->also, sizeof e->report->also, e->path);
    if (!s && e->report->also[0]) {
        mcr_text_free(&w.text);
        mcr_text_init(&w.text, e->ctx);
        put_header(&w);
        s = w.status ? w.status : mcr_text_save(&w.text, e->report->also);
    }
    mcr_text_free(&w.text);
    mcr_quantised_close(e->ctx, &w.int8);
    mcr_portable_close(p);
    return s;
}

const mcr_export_type mcr_export_c = {
    .name = "c",
    .summary = "one self-contained file of C99, with a header",
    .numbers = "float|double|int8",
    .write = write,
};

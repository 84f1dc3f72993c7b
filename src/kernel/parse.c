/* parse.c: from the text of a kernel expression to its tree.
 *
 *   expr = term { "+" term }      term = factor { "*" factor }      factor = base [ "^" integer ]
 *   base = number | "(" expr ")" | name [ "(" [arg {"," arg}] ")" ]
 *   arg  = field | pattern | name "=" value | expr
 *
 * A minus sign belongs to a number, and a power binds tighter than it: -2^2 is -(2^2). A leaf takes
 * a field, a leaf on vectors also several columns or patterns of their names (x_*), a combinator
 * takes kernels. A recursive descent parser of limited depth; every error is marked at its position
 * in the text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel/built_in.h"
#include "kernel/parser.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/params.h"

/* Canonical texts nest less deeply than this, as each node adds at most one pair of parentheses. */
enum { NEST_MAX = 2 * MCR_KERNEL_DEPTH_MAX, NAMES_MAX = 256, DEGREE_MAX = 1000000 };

typedef struct kernel_list {
    mcr_kernel **item;
    int64_t count, capacity;
} kernel_list;

static mcr_status parse_expr(mcr_parser *p, mcr_kernel **out);

/* ---- lists of kernels -------------------------------------------------------------------------*/

static mcr_status list_add(mcr_parser *p, kernel_list *list, mcr_kernel *item)
{
    mcr_status status = mcr_reserve(p->ctx, &list->item, &list->capacity, list->count + 1,
                                    sizeof *list->item);
    if (status != MCR_OK)
        mcr_kernel_free(item);
    else
        list->item[list->count++] = item;
    return status;
}

static void list_free(mcr_parser *p, kernel_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        mcr_kernel_free(list->item[i]);
    mcr_free(p->ctx, list->item);
}

/* ---- numbers, values --------------------------------------------------------------------------*/

/* A node with one parameter: a number or a power. */
static mcr_status make_simple(mcr_parser *p, mcr_kernel **out, mcr_span s,
                              const mcr_kernel_type *type, mcr_span value, mcr_kernel *child)
{
    mcr_kernel *children[1] = {child};
    void *params = mcr_alloc_zero(p->ctx, 1, type->params_size);
    mcr_status status = params != NULL ? mcr_params_init(p->ctx, type->params, params)
                                       : MCR_NO_MEMORY;
    if (status == MCR_OK)
        status = mcr_parser_place(p, value,
                                  mcr_params_set(p->ctx, type->name, type->params, params,
                                                 value.start, (size_t)(value.end - value.start)));
    if (status != MCR_OK) {
        if (params != NULL)
            mcr_params_free(p->ctx, type->params, params);
        mcr_free(p->ctx, params);
        mcr_kernel_free(child);
        return status;
    }
    return mcr_parser_place(
        p, s, mcr_kernel_new(out, p->ctx, type, params, NULL, children, child != NULL));
}

static mcr_status parse_number(mcr_parser *p, mcr_kernel **out)
{
    const char *digits = p->at + (*p->at == '-');
    bool dot = digits < p->end && *digits == '.';
    if (digits + dot >= p->end || !is_digit(digits[dot]))
        return *p->at == '-' ? mcr_parser_minus(p) : mcr_parser_expected(p);
    double value;
    mcr_span s = {p->at, mcr_parse_real(p->at, p->end, &value)};
    if (s.end == NULL)
        return mcr_parser_expected(p);
    if (s.end < p->end && *s.end == ':') {
        while (s.end < p->end && !is_space(*s.end) && strchr(",()*^", *s.end) == NULL)
            s.end++;
        return mcr_parser_range_fault(p, s);
    }
    if (!isfinite(value))
        return mcr_parser_fault(p, s, "the number %.*s is too large", shown(s), s.start);
    p->at = s.end;
    return make_simple(p, out, s, &mcr_kernel_constant, s, NULL);
}

/* ---- calls: name(arguments) -------------------------------------------------------------------*/

typedef struct call {
    const mcr_kernel_type *type;
    mcr_span name;
    void *params;
    uint64_t given; /* bits: parameters set so far */
    char *field;
    bool columns; /* field is a list */
    kernel_list children;
} call;

/* gamma=0.5 where a kernel is expected. */
static mcr_status stray_parameter(mcr_parser *p, mcr_span name)
{
    p->at++;
    mcr_span value;
    mcr_status status = mcr_parser_value(p, name, &value);
    if (status != MCR_OK)
        return status;
    return mcr_parser_fault(p, (mcr_span){name.start, value.end},
                            "%.*s=%.*s must be inside the parentheses of a kernel", shown(name),
                            name.start, shown(value), value.start);
}

static mcr_status unknown_kernel(const mcr_parser *p, mcr_span name)
{
    const char *names[NAMES_MAX + 1];
    char near[128];
    int64_t count = 0;
    const mcr_kernel_type *type;
    while (count < NAMES_MAX && (type = mcr_kernel_type_at(p->ctx, count)) != NULL)
        names[count++] = type->name;
    names[count] = NULL;
    return mcr_parser_fault(p, name, "unknown kernel \"%.*s\"%s", shown(name), name.start,
                            mcr_parser_suggestion(near, sizeof near, name, names));
}

static mcr_status unknown_parameter(const mcr_parser *p, const call *c, mcr_span name)
{
    const char *names[NAMES_MAX + 1];
    char near[512];
    int count = 0;
    for (const mcr_param *t = c->type->params; t != NULL && t->name != NULL && count < NAMES_MAX;
         t++)
        names[count++] = t->name;
    names[count] = NULL;
    mcr_parser_suggestion(near, sizeof near, name, names);
    if (near[0] == '\0' && count == 0)
        snprintf(near, sizeof near, " (it has none)");
    for (int i = 0, used = near[0] == '\0' ? 0 : -1; used >= 0 && i < count; i++) {
        int more = snprintf(near + used, sizeof near - (size_t)used, "%s%s%s",
                            i == 0 ? " (it has " : ", ", names[i], i + 1 == count ? ")" : "");
        used = more < 0 || used + more >= (int)sizeof near ? -1 : used + more;
    }
    return mcr_parser_fault(p, name, "%s has no parameter \"%.*s\"%s", c->type->name, shown(name),
                            name.start, near);
}

static mcr_status parse_parameter(mcr_parser *p, call *c, mcr_span name)
{
    const mcr_param *table = c->type->params;
    size_t length = (size_t)(name.end - name.start);
    const mcr_param *found = table != NULL ? mcr_params_find(table, name.start, length) : NULL;
    if (found == NULL)
        return unknown_parameter(p, c, name);
    if (p->foreign && (found->flags & MCR_NAMES_FILE) != 0)
        return mcr_fail(p->ctx, MCR_BAD_DATA, "kernel: %s names a file by its parameter %s",
                        c->type->name, found->name);
    uint64_t bit = UINT64_C(1) << (found - table);
    if ((c->given & bit) != 0)
        return mcr_parser_fault(p, name, "%s: %s is given twice", c->type->name, found->name);
    c->given |= bit;
    mcr_span value;
    mcr_status status = mcr_parser_value(p, name, &value);
    if (status != MCR_OK)
        return status;
    return mcr_parser_place(p, value,
                            mcr_params_set(p->ctx, c->type->name, found, c->params, value.start,
                                           (size_t)(value.end - value.start)));
}

/* Another name or pattern: a single field becomes a list. */
static mcr_status add_column(mcr_parser *p, call *c, const char *name, bool pattern)
{
    mcr_text list;
    mcr_text_init(&list, p->ctx);
    if (c->field != NULL && c->columns)
        mcr_text_string(&list, c->field);
    else if (c->field != NULL)
        mcr_kernel_print_field(c->field, &list);
    if (c->field != NULL)
        mcr_text_string(&list, ", ");
    if (pattern)
        mcr_text_string(&list, name);
    else
        mcr_kernel_print_field(name, &list);
    mcr_status status = list.status;
    char *joined = status == MCR_OK ? mcr_copy_text(p->ctx, list.bytes, (size_t)list.length) : NULL;
    mcr_text_free(&list);
    if (status == MCR_OK && joined == NULL)
        status = MCR_NO_MEMORY;
    if (status != MCR_OK)
        return status;
    mcr_free(p->ctx, c->field);
    c->field = joined;
    c->columns = true;
    return MCR_OK;
}

/* The name in s, without quotes; the caller frees it. */
static char *plain_field(const mcr_parser *p, mcr_span s)
{
    char *name = mcr_copy_text(p->ctx, s.start, (size_t)(s.end - s.start)), *to = name;
    if (name == NULL || *s.start != '"')
        return name;
    for (const char *from = s.start + 1; from < s.end - 1; from++) {
        if (*from == '\\')
            from++;
        *to++ = *from;
    }
    *to = '\0';
    return name;
}

static mcr_status set_field(mcr_parser *p, call *c, mcr_span s, bool pattern)
{
    bool several = (c->type->kinds & (MCR_DENSE | MCR_SPARSE)) != 0;
    if ((c->field != NULL || pattern) && !several)
        return mcr_parser_fault(p, s, "%s works on one field", c->type->name);
    char *name = plain_field(p, s);
    if (name == NULL)
        return MCR_NO_MEMORY;
    mcr_status status = MCR_OK;
    if (name[0] == '\0')
        status = mcr_parser_fault(p, s, "a field's name is empty");
    else if (c->field != NULL || pattern)
        status = add_column(p, c, name, pattern);
    else
        c->field = name;
    if (name != c->field)
        mcr_free(p->ctx, name);
    return status;
}

static bool is_word(const mcr_parser *p, const char *at)
{
    return at < p->end && (mcr_kernel_name_valid(at, 1) || is_digit(*at) || *at == '*');
}

/* Reads a pattern of names: letters, digits, _ and at least one *; false, consuming nothing, if
 * there is none. rbf(a*b) is a pattern only if neither a nor b is a kernel. */
static bool take_pattern(mcr_parser *p, mcr_span *s)
{
    *s = (mcr_span){p->at, p->at};
    const char *star = NULL;
    for (; is_word(p, s->end); s->end++)
        star = star == NULL && *s->end == '*' ? s->end : star;
    mcr_parser behind = *p;
    behind.at = s->end;
    skip_space(&behind);
    if (star == NULL || (peek(&behind) != ',' && peek(&behind) != ')'))
        return false;
    if (mcr_kernel_type_find(p->ctx, s->start, (size_t)(star - s->start)) != NULL ||
        mcr_kernel_type_find(p->ctx, star + 1, (size_t)(s->end - star - 1)) != NULL)
        return false;
    p->at = s->end;
    return true;
}

/* An argument of a leaf that is not name=value. */
static mcr_status parse_field(mcr_parser *p, call *c)
{
    mcr_span s;
    mcr_status status = MCR_OK;
    const mcr_param *first = c->type->params;
    if (take_pattern(p, &s))
        return set_field(p, c, s, true);
    s = mcr_parser_character(p);
    if (starts_name(p))
        s = mcr_parser_name(p);
    else if (peek(p) == '"')
        status = mcr_parser_quoted(p, &s);
    else if ((is_digit(peek(p)) || peek(p) == '-' || peek(p) == '.') && first != NULL)
        return mcr_parser_fault(p, s, "%s: a number needs its name, such as %s=%.*s", c->type->name,
                                first->name, (int)strspn(s.start, "0123456789.eE+-"), s.start);
    else
        return mcr_parser_fault(p, s, "expected a field or name=value, not \"%.*s\"", shown(s),
                                s.start);
    if (status != MCR_OK)
        return status;
    skip_space(p);
    if (peek(p) == '(' || peek(p) == '+' || peek(p) == '*' || peek(p) == '^')
        return mcr_parser_fault(p, s, "%s works on a field and takes no kernel inside",
                                c->type->name);
    return set_field(p, c, s, false);
}

static mcr_status parse_child(mcr_parser *p, call *c)
{
    mcr_span s = {p->at, p->at};
    mcr_kernel *child;
    mcr_status status = parse_expr(p, &child);
    if (status != MCR_OK)
        return status;
    s.end = p->at;
    while (s.end > s.start && is_space(s.end[-1]))
        s.end--;
    if (c->children.count < c->type->max_children)
        return list_add(p, &c->children, child);
    mcr_kernel_free(child);
    if (c->type->max_children == 0)
        return mcr_parser_fault(p, s, "%s takes no kernels", c->type->name);
    return mcr_parser_fault(p, s, "%s takes at most %d kernel%s", c->type->name,
                            c->type->max_children, c->type->max_children == 1 ? "" : "s");
}

static mcr_status parse_argument(mcr_parser *p, call *c)
{
    if (starts_name(p)) {
        mcr_parser ahead = *p;
        mcr_span name = mcr_parser_name(&ahead);
        skip_space(&ahead);
        if (peek(&ahead) == '=') {
            p->at = ahead.at + 1;
            return parse_parameter(p, c, name);
        }
    }
    return c->type->kinds != 0 ? parse_field(p, c) : parse_child(p, c);
}

/* After the name, with p at "(". */
static mcr_status parse_arguments(mcr_parser *p, call *c)
{
    const char *open = p->at++;
    if (++p->nest > NEST_MAX)
        return mcr_parser_fault(p, (mcr_span){open, open + 1}, "more than %d nested parentheses",
                                NEST_MAX);
    skip_space(p);
    mcr_status status = MCR_OK;
    for (bool first = true; status == MCR_OK && (!first || peek(p) != ')'); first = false) {
        if (!first && peek(p) != ',')
            return mcr_parser_misplaced(p, open, "a comma or \")\"");
        p->at += !first;
        skip_space(p);
        if (p->at == p->end)
            return mcr_parser_misplaced(p, open, "");
        status = parse_argument(p, c);
        skip_space(p);
        if (peek(p) == ')')
            break;
    }
    p->nest--;
    p->at += status == MCR_OK;
    return status;
}

static mcr_status start_call(mcr_parser *p, call *c)
{
    const mcr_kernel_type *type = mcr_kernel_type_find(p->ctx, c->name.start,
                                                       (size_t)(c->name.end - c->name.start));
    if (type == NULL) {
        skip_space(p);
        return peek(p) == '=' ? stray_parameter(p, c->name) : unknown_kernel(p, c->name);
    }
    c->type = type;
    if (type->params == NULL)
        return MCR_OK;
    void *params = mcr_alloc_zero(p->ctx, 1, type->params_size);
    if (params == NULL)
        return MCR_NO_MEMORY;
    mcr_status status = mcr_params_init(p->ctx, type->params, params);
    if (status != MCR_OK)
        mcr_free(p->ctx, params);
    else
        c->params = params;
    return status;
}

/* rbf gamma=1 and rbf[gamma=1]: parentheses are missing. */
static mcr_status check_behind(const mcr_parser *p, const call *c)
{
    mcr_parser behind = *p;
    skip_space(&behind);
    mcr_span at = mcr_parser_character(&behind);
    const mcr_param *first = c->type->params;
    if (peek(&behind) == '[' || peek(&behind) == '{')
        return mcr_parser_fault(p, at, "parameters are in parentheses: write %s(%s)", c->type->name,
                                first != NULL ? "name=value" : "");
    if (!starts_name(&behind))
        return MCR_OK;
    at = mcr_parser_name(&behind);
    skip_space(&behind);
    if (peek(&behind) != '=')
        return MCR_OK;
    return mcr_parser_fault(p, at, "parameters are in parentheses: write %s(%.*s=...)",
                            c->type->name, shown(at), at.start);
}

/* rbf(linear): the name of a kernel where a field is expected. */
static mcr_status explain_field(const mcr_parser *p, mcr_span whole, const char *leaf,
                                const char *field)
{
    char why[MCR_MESSAGE_MAX];
    snprintf(why, sizeof why, "%s", mcr_message(p->ctx));
    return mcr_parser_fault(p, whole,
                            "%s takes no kernel inside, \"%s\" is read as the name of a field; and "
                            "%s",
                            leaf, field, why);
}

static mcr_status finish_call(mcr_parser *p, call *c, mcr_kernel **out)
{
    const mcr_kernel_type *type = c->type;
    mcr_span whole = {c->name.start, p->at};
    if (c->children.count < type->min_children)
        return type->min_children == 1
                   ? mcr_parser_fault(p, whole, "%s needs a kernel inside, such as %s(linear)",
                                      type->name, type->name)
                   : mcr_parser_fault(p, whole, "%s needs at least %d kernels", type->name,
                                      type->min_children);
    void *params = c->params;
    char *field = c->field, name[64] = "";
    if (field != NULL && mcr_kernel_type_find(p->ctx, field, strlen(field)) != NULL)
        snprintf(name, sizeof name, "%s", field);
    c->params = NULL;
    c->field = NULL;
    mcr_status status = c->columns ? mcr_kernel_new_columns(out, p->ctx, type, params, field)
                                   : mcr_kernel_new(out, p->ctx, type, params, field,
                                                    c->children.item, (int)c->children.count);
    if (status == MCR_BAD_CALL && name[0] != '\0')
        return explain_field(p, whole, type->name, name);
    return mcr_parser_place(p, whole, status);
}

static mcr_status parse_call(mcr_parser *p, mcr_kernel **out)
{
    call c = {.name = mcr_parser_name(p)};
    mcr_status status = start_call(p, &c);
    mcr_parser behind = *p;
    skip_space(&behind);
    if (status == MCR_OK && peek(&behind) == '(') {
        p->at = behind.at;
        status = parse_arguments(p, &c);
    } else if (status == MCR_OK) {
        status = check_behind(p, &c);
    }
    if (status == MCR_OK)
        status = finish_call(p, &c, out);
    if (c.params != NULL)
        mcr_params_free(p->ctx, c.type->params, c.params);
    mcr_free_all(p->ctx, c.params, c.field);
    list_free(p, &c.children);
    return status;
}

/* ---- base, factor, term, expr -----------------------------------------------------------------*/

static mcr_status parse_group(mcr_parser *p, mcr_kernel **out)
{
    const char *open = p->at++;
    if (++p->nest > NEST_MAX)
        return mcr_parser_fault(p, (mcr_span){open, open + 1}, "more than %d nested parentheses",
                                NEST_MAX);
    mcr_status status = parse_expr(p, out);
    if (status == MCR_OK && peek(p) != ')') {
        status = mcr_parser_misplaced(p, open, "+, * or \")\"");
        mcr_kernel_free(*out);
        *out = NULL;
    }
    p->nest--;
    p->at += status == MCR_OK;
    return status;
}

static mcr_status parse_base(mcr_parser *p, mcr_kernel **out)
{
    skip_space(p);
    char c = peek(p);
    if (c == '(')
        return parse_group(p, out);
    if (is_digit(c) || c == '-' || c == '.')
        return parse_number(p, out);
    return starts_name(p) ? parse_call(p, out) : mcr_parser_expected(p);
}

static mcr_status parse_factor(mcr_parser *p, mcr_kernel **out);

/* "-2^" */
static bool is_negated_power(const mcr_parser *p)
{
    double value;
    mcr_parser behind = *p;
    if (peek(p) != '-' || !(behind.at = mcr_parse_real(p->at, p->end, &value)))
        return false;
    skip_space(&behind);
    return peek(&behind) == '^';
}

/* -2^2 as -1*2^2. */
static mcr_status parse_negated(mcr_parser *p, mcr_kernel **out)
{
    static const char minus_one[] = "-1";
    mcr_kernel *part[2] = {NULL, NULL};
    mcr_span whole = {p->at, p->at + 1};
    mcr_span value = {minus_one, minus_one + 2};
    p->at++;
    *out = NULL;
    mcr_status status = parse_factor(p, &part[1]);
    whole.end = p->at;
    if (status == MCR_OK)
        status = make_simple(p, &part[0], whole, &mcr_kernel_constant, value, NULL);
    if (status == MCR_OK)
        return mcr_parser_place(
            p, whole, mcr_kernel_new(out, p->ctx, &mcr_kernel_product, NULL, NULL, part, 2));
    mcr_kernel_free(part[1]);
    return status;
}

static mcr_status parse_factor(mcr_parser *p, mcr_kernel **out)
{
    skip_space(p);
    if (is_negated_power(p))
        return parse_negated(p, out);
    mcr_span whole = {p->at, p->at};
    mcr_status status = parse_base(p, out);
    if (status != MCR_OK)
        return status;
    skip_space(p);
    if (peek(p) != '^')
        return MCR_OK;
    p->at++;
    skip_space(p);
    mcr_kernel *base = *out;
    *out = NULL;
    mcr_span s = {p->at, p->at};
    while (s.end < p->end && (is_digit(*s.end) || *s.end == '.' || *s.end == '-'))
        s.end++;
    int64_t degree = 0;
    if (mcr_parse_int(s.start, s.end, &degree) != s.end || degree < 1 || degree > DEGREE_MAX) {
        mcr_kernel_free(base);
        return mcr_parser_fault(p, s, "a power is a whole number from 1 to %d", DEGREE_MAX);
    }
    p->at = whole.end = s.end;
    status = make_simple(p, out, whole, &mcr_kernel_power, s, base);
    skip_space(p);
    return status;
}

/* One or more operands with the operator between them; several become a node of the type. */
static mcr_status parse_chain(mcr_parser *p, mcr_kernel **out, char sign,
                              const mcr_kernel_type *type,
                              mcr_status (*parse_part)(mcr_parser *, mcr_kernel **))
{
    kernel_list parts = {NULL, 0, 0};
    *out = NULL;
    skip_space(p);
    mcr_span whole = {p->at, p->at};
    mcr_status status = MCR_OK;
    bool more = true;
    while (status == MCR_OK && more) {
        mcr_kernel *part = NULL;
        status = parse_part(p, &part);
        if (status == MCR_OK)
            status = list_add(p, &parts, part);
        whole.end = p->at;
        skip_space(p);
        more = peek(p) == sign;
        p->at += status == MCR_OK && more;
    }
    if (status == MCR_OK && parts.count > MCR_KERNEL_NODES_MAX)
        status = mcr_parser_fault(p, whole, "the expression has more than %d parts",
                                  MCR_KERNEL_NODES_MAX);
    if (status == MCR_OK && parts.count == 1) {
        *out = parts.item[0];
        parts.count = 0;
    } else if (status == MCR_OK) {
        status = mcr_parser_place(
            p, whole, mcr_kernel_new(out, p->ctx, type, NULL, NULL, parts.item, (int)parts.count));
    }
    list_free(p, &parts);
    return status;
}

static mcr_status parse_term(mcr_parser *p, mcr_kernel **out)
{
    return parse_chain(p, out, '*', &mcr_kernel_product, parse_factor);
}

static mcr_status parse_expr(mcr_parser *p, mcr_kernel **out)
{
    return parse_chain(p, out, '+', &mcr_kernel_sum, parse_term);
}

/* White space of all kinds is allowed, other control characters are not. */
static mcr_status check_bytes(const mcr_parser *p)
{
    for (const char *c = p->text; c < p->end; c++)
        if (((unsigned char)*c < 0x20 && !is_space(*c)) || *c == 0x7f)
            return mcr_parser_fault(p, (mcr_span){c, c + 1},
                                    "the expression contains a control character");
    return MCR_OK;
}

static mcr_status parse_text(mcr_kernel **out, mcr *ctx, const char *expression, bool foreign)
{
    *out = NULL;
    size_t length = strlen(expression);
    mcr_parser p = {.ctx = ctx,
                    .text = expression,
                    .end = expression + length,
                    .at = expression,
                    .foreign = foreign};
    if (length > MCR_KERNEL_TEXT_MAX)
        return mcr_parser_fault(&p, (mcr_span){p.text, p.text + 1},
                                "the expression is longer than %d bytes", MCR_KERNEL_TEXT_MAX);
    skip_space(&p);
    if (p.at == p.end)
        return mcr_parser_fault(&p, (mcr_span){p.text, p.text},
                                "the expression is empty (write, for example, rbf(gamma=0.5))");
    mcr_status status = check_bytes(&p);
    if (status == MCR_OK)
        status = parse_expr(&p, out);
    if (status == MCR_OK && p.at < p.end) {
        status = mcr_parser_misplaced(&p, NULL, "+ or *");
        mcr_kernel_free(*out);
        *out = NULL;
    }
    return status;
}

mcr_status mcr_kernel_parse(mcr_kernel **out, mcr *ctx, const char *expression)
{
    return parse_text(out, ctx, expression, false);
}

mcr_status mcr_kernel_parse_foreign(mcr_kernel **out, mcr *ctx, const char *expression)
{
    return parse_text(out, ctx, expression, true);
}

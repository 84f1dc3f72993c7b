/* csv_assign.c: assigns roles to the columns of a table: targets and weights by their names, the
 * others by the caller's options, by the table to match, or by their values (csv_roles.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv_maker.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "data/format/collect.h"

/* In the order of preference; their indices are stored in model files. */
static const char *const usual_targets[] = {"target", "label", "class", "y"};

enum { USUAL = sizeof usual_targets / sizeof *usual_targets };

int mcr_csv_usual_target(const char *name, size_t length)
{
    for (int i = 0; i < USUAL; i++)
        if (strlen(usual_targets[i]) == length && strncasecmp(name, usual_targets[i], length) == 0)
            return i;
    return -1;
}

static mcr_status no_column(const mcr_csv_maker *m, const char *word, const char *what)
{
    const mcr_csv_plan *plan = m->plan;
    if (!plan->header)
        return mcr_fail_at(
            m->ctx, MCR_BAD_CALL, m->file, 0,
            "no column \"%s\" for the %s: the file has no header; give a number from 1 to %" PRId64,
            word, what, plan->columns);
    const char **names = mcr_alloc(m->ctx, (size_t)plan->columns + 1, sizeof *names);
    if (names == NULL)
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < plan->columns; c++)
        names[c] = plan->column[c].name;
    names[plan->columns] = NULL;
    const char *near = mcr_nearest(word, names);
    mcr_status status = mcr_fail_at(
        m->ctx, MCR_BAD_CALL, m->file, 0, "no column \"%s\" for the %s%s%s%s", word, what,
        near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
    mcr_free(m->ctx, names);
    return status;
}

enum { NONE = -1 };

/* The column with this name; names are unique. */
static int64_t find_name(const mcr_csv_plan *plan, const char *name)
{
    for (int64_t c = 0; plan->header && c < plan->columns; c++)
        if (strcmp(plan->column[c].name, name) == 0)
            return c;
    return NONE;
}

/* A column by its name or, failing that, by its number from 1. */
static mcr_status find_column(int64_t *out, const mcr_csv_maker *m, const char *word,
                              const char *what)
{
    const mcr_csv_plan *plan = m->plan;
    int64_t found = find_name(plan, word), number;
    const char *end = word + strlen(word);
    if (found < 0 && mcr_parse_int(word, end, &number) == end && number >= 1 &&
        number <= plan->columns)
        found = number - 1;
    *out = found;
    return found >= 0 ? MCR_OK : no_column(m, word, what);
}

static mcr_status add_target(mcr_csv_maker *m, const char *word)
{
    int64_t c;
    mcr_status status = find_column(&c, m, word, "target");
    if (status != MCR_OK)
        return status;
    if (c == m->plan->weight)
        return mcr_fail_at(m->ctx, MCR_BAD_CALL, m->file, 0,
                           "the target and the weights are the same column");
    if (m->plan->column[c].rank > 0)
        return mcr_fail_at(m->ctx, MCR_BAD_CALL, m->file, 0,
                           "column %" PRId64 " is given twice as a target", c + 1);
    m->plan->column[c].rank = ++m->plan->targets;
    return MCR_OK;
}

/* The caller's targets; a column whose own name contains commas is one target. */
static mcr_status find_given(mcr_csv_maker *m)
{
    const char *given = m->options->target;
    mcr_status status = MCR_OK;
    for (int64_t c = 0; m->plan->header && c < m->plan->columns; c++)
        if (strcmp(m->plan->column[c].name, given) == 0)
            return add_target(m, given);
    for (int64_t t = 0; t < m->targets.count && status == MCR_OK; t++)
        status = add_target(m, m->targets.word[t]);
    return status;
}

/* Finds the roles of the table to match in this one: by name, or by position. */
static mcr_status find_roles(mcr_csv_maker *m)
{
    const mcr_layout *like = m->options->like;
    const mcr_csv_plan *plan = m->plan;
    bool named = plan->header && like->name != NULL;
    m->role = mcr_alloc(m->ctx, (size_t)like->roles, sizeof *m->role);
    if (m->role == NULL)
        return MCR_NO_MEMORY;
    for (int64_t r = 0; r < like->roles; r++) {
        bool target = r < like->targets;
        bool given = (target ? m->options->target : m->options->weight) != NULL;
        m->role[r] = NONE;
        if (!given && named)
            m->role[r] = find_name(plan, like->name->name[r]);
        else if (!given && plan->columns == like->columns)
            m->role[r] = like->column[r];
    }
    return MCR_OK;
}

/* Takes the targets of the other table: all of them, each in a different column, or none. */
static bool take_targets(mcr_csv_maker *m)
{
    mcr_csv_plan *plan = m->plan;
    bool all = true;
    for (int64_t t = 0; t < m->options->like->targets && all; t++) {
        int64_t c = m->role[t];
        all = c >= 0 && c != plan->weight && plan->column[c].rank == 0;
        if (all)
            plan->column[c].rank = ++plan->targets;
    }
    for (int64_t c = 0; c < plan->columns && !all; c++)
        plan->column[c].rank = 0;
    if (!all)
        plan->targets = 0;
    return all;
}

/* Whether the caller uses the column for something else, or not at all. */
static bool is_taken(const mcr_csv_plan *plan, int64_t c)
{
    mcr_role given = plan->column[c].given;
    return c == plan->weight || given == MCR_IGNORED || given == MCR_ID || given == MCR_GROUP;
}

/* The column with the most preferred common name of a target. A feature of the other table does not
 * count. */
static int64_t find_usual(const mcr_csv_maker *m)
{
    const mcr_csv_plan *plan = m->plan;
    const uint32_t features = m->options->like != NULL ? m->options->like->usual : 0;
    int best = USUAL;
    int64_t found = NONE;
    for (int64_t c = 0; plan->header && c < plan->columns; c++) {
        int rank = mcr_csv_usual_target(plan->column[c].name, strlen(plan->column[c].name));
        if (rank >= 0 && rank < best && !is_taken(plan, c) && !(features >> rank & 1)) {
            best = rank;
            found = c;
        }
    }
    return found;
}

/* Whether the other table determines the targets here, by name or by position; if so, takes them. A
 * common name of a target is accepted if the target has been renamed. */
static bool take_alike(mcr_csv_maker *m, int64_t usual)
{
    const mcr_csv_plan *plan = m->plan;
    const mcr_layout *like = m->options->like;
    bool named = plan->header && like->name != NULL;
    bool bare = plan->columns == like->columns - like->roles; /* only the features */
    bool fits = bare || plan->columns == like->columns;
    if (like->targets == 0)
        return fits || (plan->header && usual < 0);
    if (named ? take_targets(m) || plan->columns < like->columns : bare)
        return true;
    if (usual >= 0 || !(named || fits))
        return false;
    take_targets(m);
    return true;
}

static mcr_status refuse_unlike(const mcr_csv_maker *m)
{
    const mcr_layout *like = m->options->like;
    return mcr_advise(
        m->ctx,
        mcr_fail_at(
            m->ctx, MCR_BAD_DATA, m->file, 0,
            "%" PRId64 " column%s, but the model's training data had %" PRId64 ", %" PRId64
            " of them for targets and weights: say which column is the target, or that none is",
            m->plan->columns, m->plan->columns == 1 ? "" : "s", like->columns, like->roles),
        "target");
}

static mcr_status find_target(mcr_csv_maker *m)
{
    mcr_csv_plan *plan = m->plan;
    if (mcr_target_is_none(m->options))
        return MCR_OK;
    if (m->options->target != NULL)
        return find_given(m);
    int64_t found = find_usual(m);
    if (m->options->like != NULL && take_alike(m, found))
        return MCR_OK;
    if (m->options->like != NULL && !plan->header)
        return refuse_unlike(m);
    if (found < 0)
        for (found = plan->columns - 1; found >= 0 && is_taken(plan, found);)
            found--;
    plan->targets = found >= 0;
    if (found >= 0)
        plan->column[found].rank = 1;
    return MCR_OK;
}

static mcr_status check_text(const mcr_csv_maker *m, int64_t c)
{
    const mcr_csv_column *column = &m->plan->column[c];
    char text[MCR_CSV_COLUMN_TEXT];
    if (2 * (column->commas + column->thousands) > column->words)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 0,
                           "%s has commas inside numbers; write them with a decimal point and "
                           "without thousands separators",
                           mcr_csv_column_text(m->plan, c, text));
    if (column->name != NULL && strcmp(column->name, "x") == 0 && m->plan->numbers > 0)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                           "column \"x\" contains text, but \"x\" is the name of the field of all "
                           "numeric columns; rename the column");
    return MCR_OK;
}

/* The name of a feature of the model's table that is missing here; NULL if none is, or if there are
 * no names. */
static const char *find_missing(const mcr_csv_maker *m)
{
    const mcr_layout *like = m->options->like;
    for (int64_t c = 0; like != NULL && m->plan->header && c < mcr_layout_columns(like); c++) {
        const mcr_role role = like->all[c];
        bool feature = role == MCR_NUMBER || role == MCR_DATE || mcr_csv_is_text(role);
        if (feature && find_name(m->plan, like->called->name[c]) == NONE)
            return like->called->name[c];
    }
    return NULL;
}

/* A single column of words: the separator was probably not found. */
static mcr_status no_data(const mcr_csv_maker *m)
{
    const mcr_csv_plan *plan = m->plan;
    const mcr_csv_field *f = m->first;
    const char *missing = find_missing(m);
    if (missing != NULL)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                           "there is no column \"%.100s\", which the model needs", missing);
    if (f->length > 0 && f->text[0] == '#' && !f->quoted)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                           "the line is one column and starts with \"#\": there are no comments in "
                           "tables; remove the line");
    if (plan->columns == 1 && !mcr_csv_is_numeric(plan->column))
        return mcr_advise(m->ctx,
                          mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                                      "only one column was found, with %s between columns: the "
                                      "separator must be a comma, a semicolon or a tab",
                                      plan->separator == '\t'  ? "tabs"
                                      : plan->separator == ';' ? "semicolons"
                                                               : "commas"),
                          "format");
    bool assumed = plan->targets > 0 && m->options->target == NULL;
    mcr_status s = mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 0, "no column is left for the data%s",
                               assumed ? ": if there is no target, say so" : "");
    return assumed ? mcr_advise(m->ctx, s, "target") : s;
}

/* The caller's "column=role". */
static mcr_status take_role(mcr_csv_maker *m, const char *text)
{
    const char *sign = strrchr(text, '=');
    mcr_role role = sign != NULL ? mcr_role_find(sign + 1, strlen(sign + 1)) : MCR_ROLE_NONE;
    if (role == MCR_ROLE_NONE)
        return mcr_fail_at(m->ctx, MCR_BAD_CALL, m->file, 0,
                           "role \"%.80s\": write column=role, with number, category, date, text, "
                           "set, id, target, weight, group or ignore",
                           text);
    char *name = mcr_copy_text(m->ctx, text, (size_t)(sign - text));
    int64_t c = NONE;
    mcr_status status = name != NULL ? find_column(&c, m, name, "role") : MCR_NO_MEMORY;
    mcr_free(m->ctx, name);
    if (status != MCR_OK)
        return status;
    mcr_csv_column *column = &m->plan->column[c];
    if (column->given != MCR_ROLE_NONE)
        return mcr_fail_at(m->ctx, MCR_BAD_CALL, m->file, 0, "column %" PRId64 " has two roles",
                           c + 1);
    column->given = role;
    if (role == MCR_WEIGHT)
        m->plan->weight = c;
    if (role == MCR_TARGET)
        column->rank = ++m->plan->targets;
    return MCR_OK;
}

typedef void column_mark(mcr_csv_column *column);

static void mark_dropped(mcr_csv_column *column)
{
    column->given = MCR_IGNORED;
}

static void mark_kept(mcr_csv_column *column)
{
    column->carried = true;
}

static void mark_feature(mcr_csv_column *column)
{
    column->usual = true; /* no longer needed for its first purpose */
}

/* Marks the columns of a comma-separated list. */
static mcr_status mark_columns(mcr_csv_maker *m, const char *list, const char *what,
                               column_mark *mark)
{
    mcr_words words = {0};
    mcr_status status = mcr_target_names(&words, m->ctx, &(mcr_read_options){.target = list});
    for (int64_t w = 0; w < words.count && status == MCR_OK; w++) {
        int64_t c;
        status = find_column(&c, m, words.word[w], what);
        if (status == MCR_OK)
            mark(&m->plan->column[c]);
    }
    mcr_words_free(&words, m->ctx);
    return status;
}

static mcr_status take_words(mcr_csv_maker *m)
{
    const mcr_read_options *o = m->options;
    mcr_status status = MCR_OK;
    for (int64_t i = 0; o->roles != NULL && o->roles[i] != NULL && status == MCR_OK; i++)
        status = take_role(m, o->roles[i]);
    if (status == MCR_OK && o->drop != NULL)
        status = mark_columns(m, o->drop, "columns to drop", mark_dropped);
    if (status == MCR_OK && o->keep != NULL)
        status = mark_columns(m, o->keep, "columns to keep", mark_kept);
    return status;
}

/* Columns that the caller does not name are not features. */
static mcr_status take_only(mcr_csv_maker *m)
{
    mcr_csv_plan *plan = m->plan;
    if (m->options->only == NULL)
        return MCR_OK;
    for (int64_t c = 0; c < plan->columns; c++)
        plan->column[c].usual = false;
    mcr_status status = mark_columns(m, m->options->only, "only columns", mark_feature);
    for (int64_t c = 0; c < plan->columns && status == MCR_OK; c++)
        if (!plan->column[c].usual && plan->column[c].given == MCR_ROLE_NONE &&
            mcr_csv_guess(&plan->column[c], plan->separator) != MCR_ID)
            plan->column[c].given = MCR_IGNORED;
    return status;
}

/* The column's role in the table to match. */
static mcr_role role_there(const mcr_csv_maker *m, int64_t c)
{
    const mcr_layout *like = m->options->like;
    const mcr_csv_plan *plan = m->plan;
    if (like->called == NULL || !plan->header)
        return plan->columns == like->columns ? like->all[c] : MCR_ROLE_NONE;
    for (int64_t k = 0; k < like->columns; k++)
        if (strcmp(like->called->name[k], plan->column[c].name) == 0)
            return like->all[k] == MCR_TARGET || like->all[k] == MCR_WEIGHT ? MCR_IGNORED
                                                                            : like->all[k];
    return MCR_IGNORED;
}

/* Old models, and those with only numbers, find their columns by name: none are dropped. */
static mcr_role choose_role(const mcr_csv_maker *m, int64_t c)
{
    const mcr_csv_column *column = &m->plan->column[c];
    const mcr_layout *like = m->options->like;
    if (column->rank > 0)
        return MCR_TARGET;
    if (c == m->plan->weight)
        return MCR_WEIGHT;
    if (column->given != MCR_ROLE_NONE)
        return column->given;
    mcr_role role = like != NULL && like->all != NULL ? role_there(m, c) : MCR_ROLE_NONE;
    if (role != MCR_ROLE_NONE)
        return role;
    role = mcr_csv_guess(column, m->plan->separator);
    if (like == NULL || like->all != NULL || role == MCR_CATEGORY)
        return role;
    return mcr_csv_is_numeric(column) ? MCR_NUMBER : MCR_WORDS;
}

static mcr_status set_roles(mcr_csv_maker *m)
{
    mcr_csv_plan *plan = m->plan;
    for (int64_t c = 0; c < plan->columns; c++) {
        mcr_csv_column *column = &plan->column[c];
        mcr_role role = column->role = choose_role(m, c);
        column->carried |= role == MCR_ID || role == MCR_GROUP;
        plan->numbers += role == MCR_NUMBER;
        plan->texts += mcr_csv_is_text(role);
        plan->dates += role == MCR_DATE;
        plan->carried += column->carried;
    }
    if (plan->numbers + plan->texts + plan->dates == 0)
        return no_data(m);
    mcr_status status = MCR_OK;
    for (int64_t c = 0; c < plan->columns && status == MCR_OK; c++)
        if (mcr_csv_is_text(plan->column[c].role) || plan->column[c].role == MCR_DATE)
            status = check_text(m, c);
    return status;
}

/* The features of a model that was trained with a joined table must all be in this one, if no table
 * is joined to it. */
static mcr_status check_joined(const mcr_csv_maker *m)
{
    const mcr_layout *like = m->options->like;
    bool joined = like != NULL && like->joined != NULL && m->options->join == NULL;
    const char *missing = joined ? find_missing(m) : NULL;
    return missing == NULL
               ? MCR_OK
               : mcr_advise(m->ctx,
                            mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                                        "there is no column \"%.100s\", which the model needs: it "
                                        "was trained on this table and another one, joined by "
                                        "column \"%.100s\"",
                                        missing, like->joined),
                            "join");
}

mcr_status mcr_csv_assign(mcr_csv_maker *m)
{
    mcr_csv_plan *plan = m->plan;
    plan->weight = -1;
    plan->joined = m->options->join != NULL;
    mcr_status status = check_joined(m);
    if (status == MCR_OK)
        status = take_words(m);
    const mcr_layout *like = m->options->like;
    if (status == MCR_OK && like != NULL)
        status = find_roles(m);
    if (status == MCR_OK && m->options->weight != NULL)
        status = find_column(&plan->weight, m, m->options->weight, "weights");
    else if (status == MCR_OK && like != NULL && like->roles > like->targets && plan->weight < 0)
        plan->weight = m->role[like->targets];
    if (status == MCR_OK && plan->targets == 0)
        status = find_target(m);
    if (status == MCR_OK)
        status = take_only(m);
    return status == MCR_OK ? set_roles(m) : status;
}

/* If all columns are numbers, texts, targets and weights, the names of the fields suffice. */
static mcr_status keep_roles(mcr_layout *l, const mcr_csv_plan *plan)
{
    bool plain = !plan->joined;
    mcr_role *role = mcr_alloc(l->ctx, (size_t)plan->columns, sizeof *role);
    const char **name = mcr_alloc(l->ctx, (size_t)plan->columns, sizeof *name);
    mcr_status status = role != NULL && name != NULL ? MCR_OK : MCR_NO_MEMORY;
    for (int64_t c = 0; c < plan->columns && status == MCR_OK; c++) {
        role[c] = plan->column[c].role;
        name[c] = plan->column[c].name;
        plain = plain && (role[c] == MCR_NUMBER || role[c] == MCR_WORDS || role[c] == MCR_TARGET ||
                          role[c] == MCR_WEIGHT);
    }
    if (status == MCR_OK && !plain)
        status = mcr_layout_roles(l, role, plan->header ? name : NULL);
    mcr_free_all(l->ctx, role, name);
    return status;
}

mcr_status mcr_csv_plan_layout(mcr_layout **out, mcr *ctx, const mcr_csv_plan *plan)
{
    mcr_layout l = {.columns = plan->columns,
                    .targets = plan->targets,
                    .roles = plan->targets + (plan->weight >= 0)};
    const char **name = mcr_alloc(ctx, (size_t)l.roles, sizeof *name);
    l.column = mcr_alloc(ctx, (size_t)l.roles, sizeof *l.column);
    mcr_status status = name != NULL && l.column != NULL ? MCR_OK : MCR_NO_MEMORY;
    bool telling = plan->header;
    for (int64_t c = 0; c < plan->columns && status == MCR_OK; c++) {
        int64_t role = c == plan->weight ? plan->targets : plan->column[c].rank - 1;
        if (role < 0) {
            int usual = plan->header ? mcr_csv_usual_target(plan->column[c].name,
                                                            strlen(plan->column[c].name))
                                     : -1;
            l.usual |= usual >= 0 ? 1U << usual : 0;
            continue;
        }
        l.column[role] = c;
        name[role] = plan->column[c].name;
        telling = telling && name[role][0] != '\0' && find_name(plan, name[role]) == c;
    }
    if (status == MCR_OK)
        status = mcr_layout_new(out, ctx, &l, telling ? name : NULL);
    if (status == MCR_OK && (status = keep_roles(*out, plan)) != MCR_OK) {
        mcr_layout_free(*out);
        *out = NULL;
    }
    mcr_free_all(ctx, l.column, name);
    return status;
}

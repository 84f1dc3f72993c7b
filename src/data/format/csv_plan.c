/* csv_plan.c: what the columns of a table mean, decided by its first block of lines.
 *
 * A column is numeric if at least half of its cells there (missing ones aside) are numbers; then
 * every cell must be one. That way a bad number is found and reported, and does not turn the column into
 * text behind the user's back.
 *
 * The first line is a header if a cell of it starts like a name above a numeric column, or if it
 * holds the name that the caller gave for the target or the weights, or if all its cells are
 * different words and one of them is a usual name for a target that does not occur below.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "data/format/collect.h"

/* In the order of choice; model files know them by their numbers. */
static const char *const usual_targets[] = {"target", "label", "class", "y"};

enum { USUAL = sizeof usual_targets / sizeof *usual_targets };

static int usual_target(const char *name, size_t length)
{
    for (int i = 0; i < USUAL; i++)
        if (strlen(usual_targets[i]) == length && strncasecmp(name, usual_targets[i], length) == 0)
            return i;
    return -1;
}

const char *mcr_csv_column_text(const mcr_csv_plan *plan, int64_t column,
                                char text[MCR_CSV_COLUMN_TEXT])
{
    const char *name = plan->column[column].name;
    if (name != NULL && name[0] != '\0')
        snprintf(text, MCR_CSV_COLUMN_TEXT, "column \"%.64s%s\"", name,
                 strlen(name) > 64 ? "..." : "");
    else
        snprintf(text, MCR_CSV_COLUMN_TEXT, "column %" PRId64, column + 1);
    return text;
}

void mcr_csv_plan_free(mcr_csv_plan *plan, mcr *ctx)
{
    for (int64_t c = 0; plan->column != NULL && c < plan->columns; c++)
        mcr_free(ctx, plan->column[c].name);
    mcr_free(ctx, plan->column);
    *plan = (mcr_csv_plan){0};
}

/* ---- the separator -----------------------------------------------------------------------------*/

/* "1,5": a number for people who write a decimal comma. */
static bool has_decimal_comma(const mcr_csv_field *f)
{
    size_t digits = 0, commas = 0;
    for (size_t i = 0; i < f->length; i++) {
        char c = f->text[i];
        if (c >= '0' && c <= '9')
            digits++;
        else if (c == ',' && i + 1 < f->length)
            commas++;
        else if (i > 0 || (c != '-' && c != '+'))
            return false;
    }
    return digits > 1 && commas == 1;
}

typedef struct trial {
    int64_t fields;        /* of the first record */
    int64_t records, like; /* records seen, and those with as many fields */
    int64_t cells, numbers;
} trial;

static trial try_separator(const char *p, const char *end, char separator)
{
    enum { RECORDS = 50 };
    trial t = {0};
    while (p < end && t.records < RECORDS) {
        int64_t lines, fields = 0;
        const char *stop = mcr_csv_record(p, end, separator, &lines);
        if (stop == NULL)
            break;
        mcr_csv_field f;
        mcr_csv_state state;
        double value;
        do {
            state = mcr_csv_next(&f, &p, stop, separator);
            fields++;
            t.cells++;
            t.numbers += mcr_csv_number(&f, &value) || has_decimal_comma(&f);
        } while (state == MCR_CSV_FIELD);
        p = stop;
        if (fields == 1 && f.length == 0 && !f.quoted) {
            t.cells--; /* a blank line says nothing */
            continue;
        }
        if (t.records++ == 0)
            t.fields = fields;
        t.like += fields == t.fields;
    }
    return t;
}

static bool is_better(const trial *a, const trial *b)
{
    if ((a->fields > 1) != (b->fields > 1))
        return a->fields > 1;
    if (a->like * b->records != b->like * a->records)
        return a->like * b->records > b->like * a->records;
    return a->numbers * b->cells > b->numbers * a->cells;
}

char mcr_csv_separator(const char *bytes, size_t count, double *share)
{
    static const char candidates[] = {',', ';', '\t'};
    char best = 0;
    trial won = {0};
    const char *end = count > 0 ? memrchr(bytes, '\n', count) : NULL;
    *share = 0;
    if (end == NULL)
        return 0;
    for (size_t i = 0; i < sizeof candidates; i++) {
        trial t = try_separator(bytes, end + 1, candidates[i]);
        if (t.fields > 1 && (best == 0 || is_better(&t, &won))) {
            best = candidates[i];
            won = t;
        }
    }
    if (best != 0)
        *share = (double)won.like / (double)won.records;
    return best;
}

/* ---- columns -----------------------------------------------------------------------------------*/

typedef struct maker {
    mcr_csv_plan *plan;
    mcr *ctx;
    const char *file;
    const mcr_read_options *options;
    const char *bytes, *end;
    mcr_csv_field *first; /* the cells of the first record */
    int64_t first_lines;
    mcr_words targets; /* their names, as the caller gave them */
    int64_t *role; /* where each role of the table that this one is like stands; NONE: nowhere */
    char *scratch; /* for names */
    int64_t scratch_room;
} maker;

static mcr_status read_first(maker *m)
{
    int64_t room = 0, columns = 0;
    const char *p = m->bytes;
    const char *stop = mcr_csv_record(p, m->end, m->plan->separator, &m->first_lines);
    if (stop == NULL)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1, "a quote is not closed");
    mcr_csv_state state;
    do {
        mcr_status status = mcr_reserve(m->ctx, &m->first, &room, columns + 1, sizeof *m->first);
        if (status != MCR_OK)
            return status;
        state = mcr_csv_next(&m->first[columns++], &p, stop, m->plan->separator);
    } while (state == MCR_CSV_FIELD);
    if (state == MCR_CSV_BEHIND)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, m->first_lines,
                           "text stands behind a closing quote");
    if (columns == 1 && m->first[0].length == 0)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1, "the line is blank");
    m->plan->column = mcr_alloc_zero(m->ctx, (size_t)columns, sizeof *m->plan->column);
    if (m->plan->column == NULL)
        return MCR_NO_MEMORY;
    m->plan->columns = columns;
    m->bytes = stop;
    return MCR_OK;
}

static void count_cell(mcr_csv_column *column, const mcr_csv_field *f, const mcr_csv_field *name)
{
    double value;
    if (f->length == name->length && memcmp(f->text, name->text, f->length) == 0)
        column->usual = false;
    if (mcr_csv_missing(f))
        return;
    if (mcr_csv_number(f, &value))
        column->numbers++;
    else
        column->words++;
    column->commas += has_decimal_comma(f);
}

/* What stands below the first record, as far as the block shows it. */
static void count_cells(maker *m)
{
    mcr_csv_plan *plan = m->plan;
    for (int64_t c = 0; c < plan->columns; c++)
        plan->column[c].usual = usual_target(m->first[c].text, m->first[c].length) >= 0;
    for (const char *p = m->bytes; p < m->end;) {
        int64_t lines;
        const char *stop = mcr_csv_record(p, m->end, plan->separator, &lines);
        if (stop == NULL)
            return;
        mcr_csv_state state = MCR_CSV_FIELD;
        for (int64_t c = 0; c < plan->columns && state == MCR_CSV_FIELD; c++) {
            mcr_csv_field f;
            state = mcr_csv_next(&f, &p, stop, plan->separator);
            if (state <= MCR_CSV_LAST)
                count_cell(&plan->column[c], &f, &m->first[c]);
        }
        p = stop;
    }
}

static bool is_numeric(const mcr_csv_column *column)
{
    return column->numbers >= column->words;
}

static bool starts_like_name(const mcr_csv_field *f)
{
    double value;
    return f->length > 0 && memchr("0123456789+-.", f->text[0], 13) == NULL &&
           !mcr_csv_missing(f) && !mcr_csv_number(f, &value);
}

static bool cell_is(const mcr_csv_field *f, const char *name)
{
    return name != NULL && strlen(name) == f->length && memcmp(name, f->text, f->length) == 0;
}

/* Whether the caller calls a target or the weights so. */
static bool is_wanted(const maker *m, const mcr_csv_field *f)
{
    bool wanted = cell_is(f, m->options->target) || cell_is(f, m->options->weight);
    for (int64_t t = 0; t < m->targets.count && !wanted; t++)
        wanted = cell_is(f, m->targets.word[t]);
    const mcr_layout *like = m->options->like;
    for (int64_t r = 0; like != NULL && like->name != NULL && r < like->roles && !wanted; r++)
        wanted = cell_is(f, like->name->name[r]);
    return wanted;
}

static bool all_different_words(const maker *m)
{
    enum { MOST = 256 }; /* wider tables have numbers */
    if (m->plan->columns > MOST)
        return false;
    for (int64_t i = 0; i < m->plan->columns; i++) {
        if (!starts_like_name(&m->first[i]))
            return false;
        for (int64_t j = 0; j < i; j++)
            if (m->first[i].length == m->first[j].length &&
                memcmp(m->first[i].text, m->first[j].text, m->first[i].length) == 0)
                return false;
    }
    return true;
}

static bool is_header(const maker *m)
{
    const mcr_csv_plan *plan = m->plan;
    bool usual = false;
    for (int64_t c = 0; c < plan->columns; c++) {
        const mcr_csv_field *f = &m->first[c];
        double value;
        bool number = mcr_csv_number(f, &value);
        if (starts_like_name(f) && plan->column[c].numbers > 0 && is_numeric(&plan->column[c]))
            return true;
        if (!number && is_wanted(m, f))
            return true;
        usual |= plan->column[c].usual;
    }
    return usual && all_different_words(m);
}

static mcr_status keep_names(maker *m)
{
    for (int64_t c = 0; c < m->plan->columns; c++) {
        const mcr_csv_field *f = &m->first[c];
        mcr_status status = mcr_reserve(m->ctx, &m->scratch, &m->scratch_room,
                                        (int64_t)f->length + 1, 1);
        if (status != MCR_OK)
            return status;
        size_t length = mcr_csv_plain(m->scratch, f);
        if (memchr(m->scratch, '\0', length) != NULL)
            return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                               "the name of column %" PRId64 " holds a NUL byte", c + 1);
        m->plan->column[c].name = mcr_copy_text(m->ctx, m->scratch, length);
        if (m->plan->column[c].name == NULL)
            return MCR_NO_MEMORY;
    }
    return MCR_OK;
}

/* ---- roles -------------------------------------------------------------------------------------*/

static mcr_status no_column(const maker *m, const char *word, const char *what)
{
    const mcr_csv_plan *plan = m->plan;
    if (!plan->header)
        return mcr_fail_at(
            m->ctx, MCR_BAD_CALL, m->file, 0,
            "no column \"%s\" for the %s: the file has no header; give a number from "
            "1 to %" PRId64,
            word, what, plan->columns);
    const char **names = mcr_alloc(m->ctx, (size_t)plan->columns + 1, sizeof *names);
    if (names == NULL)
        return MCR_NO_MEMORY;
    for (int64_t c = 0; c < plan->columns; c++)
        names[c] = plan->column[c].name;
    names[plan->columns] = NULL;
    const char *near = mcr_nearest(word, names);
    mcr_status status = near != NULL
                            ? mcr_fail_at(m->ctx, MCR_BAD_CALL, m->file, 0,
                                          "no column \"%s\" for the %s (did you mean \"%s\"?)",
                                          word, what, near)
                            : mcr_fail_at(m->ctx, MCR_BAD_CALL, m->file, 0,
                                          "no column \"%s\" for the %s", word, what);
    mcr_free(m->ctx, names);
    return status;
}

enum { NONE = -1, SEVERAL = -2 };

/* The column of that name, if there is one only. */
static int64_t find_name(const mcr_csv_plan *plan, const char *name)
{
    int64_t found = NONE;
    for (int64_t c = 0; plan->header && c < plan->columns && found != SEVERAL; c++)
        if (strcmp(plan->column[c].name, name) == 0)
            found = found == NONE ? c : SEVERAL;
    return found;
}

static mcr_status refuse_repeated(const maker *m, const char *word, const char *what)
{
    return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                       "two columns are called \"%s\": give the %s by its number", word, what);
}

/* A column by its name or, failing that, by its number from 1. */
static mcr_status find_column(int64_t *out, const maker *m, const char *word, const char *what)
{
    const mcr_csv_plan *plan = m->plan;
    int64_t found = find_name(plan, word), number;
    if (found == SEVERAL)
        return refuse_repeated(m, word, what);
    const char *end = word + strlen(word);
    if (found < 0 && mcr_parse_int(word, end, &number) == end && number >= 1 &&
        number <= plan->columns)
        found = number - 1;
    *out = found;
    return found >= 0 ? MCR_OK : no_column(m, word, what);
}

static mcr_status add_target(maker *m, const char *word)
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

/* The names of the caller; a column whose own name has commas in it is one target. */
static mcr_status find_given(maker *m)
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

/* Where the roles of the table that this one is like stand here: by their names, or by their places. */
static mcr_status find_roles(maker *m)
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
        if (m->role[r] == SEVERAL)
            return refuse_repeated(m, like->name->name[r], target ? "target" : "weights");
    }
    return MCR_OK;
}

/* Takes the targets that the other table had: all, each in a column of its own, or none. */
static bool take_targets(maker *m)
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

/* The column with the best of the usual names. What was a feature of the other table is none. */
static int64_t find_usual(const maker *m)
{
    const mcr_csv_plan *plan = m->plan;
    const uint32_t features = m->options->like != NULL ? m->options->like->usual : 0;
    int best = USUAL;
    int64_t found = NONE;
    for (int64_t c = 0; plan->header && c < plan->columns; c++) {
        int rank = usual_target(plan->column[c].name, strlen(plan->column[c].name));
        if (rank >= 0 && rank < best && c != plan->weight && !(features >> rank & 1)) {
            best = rank;
            found = c;
        }
    }
    return found;
}

/* Whether the other table says which columns are targets here: by their names, or by their places. Then
 * they are taken. A usual name is believed where the target has got another one. */
static bool take_alike(maker *m, int64_t usual)
{
    const mcr_csv_plan *plan = m->plan;
    const mcr_layout *like = m->options->like;
    bool named = plan->header && like->name != NULL;
    bool bare = plan->columns == like->columns - like->roles; /* the features alone */
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

static mcr_status refuse_unlike(const maker *m)
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

static mcr_status find_target(maker *m)
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
        found = plan->weight == plan->columns - 1 ? plan->columns - 2 : plan->columns - 1;
    plan->targets = found >= 0;
    if (found >= 0)
        plan->column[found].rank = 1;
    return MCR_OK;
}

static mcr_status check_text(const maker *m, int64_t c)
{
    const mcr_csv_column *column = &m->plan->column[c];
    char text[MCR_CSV_COLUMN_TEXT];
    if (2 * column->commas > column->words)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 0,
                           "%s has decimal commas; numbers are written with a point",
                           mcr_csv_column_text(m->plan, c, text));
    if (column->name != NULL && strcmp(column->name, "x") == 0 && m->plan->numbers > 0)
        return mcr_fail_at(
            m->ctx, MCR_BAD_DATA, m->file, 1,
            "column \"x\" holds text, but \"x\" is what the numeric columns together "
            "are called; rename the column");
    return MCR_OK;
}

/* One column of words is a table whose separator was not found. */
static mcr_status no_data(const maker *m)
{
    const mcr_csv_plan *plan = m->plan;
    const mcr_csv_field *f = m->first;
    if (f->length > 0 && f->text[0] == '#' && !f->quoted)
        return mcr_fail_at(m->ctx, MCR_BAD_DATA, m->file, 1,
                           "the line is one column and starts with \"#\": there are no comments in "
                           "tables; remove the line");
    if (plan->columns == 1 && !is_numeric(plan->column))
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
                               assumed ? ": if none is the target, say so" : "");
    return assumed ? mcr_advise(m->ctx, s, "target") : s;
}

static mcr_status give_roles(maker *m)
{
    mcr_csv_plan *plan = m->plan;
    plan->weight = -1;
    mcr_status status = MCR_OK;
    const mcr_layout *like = m->options->like;
    if (like != NULL)
        status = find_roles(m);
    if (status == MCR_OK && m->options->weight != NULL)
        status = find_column(&plan->weight, m, m->options->weight, "weights");
    else if (status == MCR_OK && like != NULL && like->roles > like->targets)
        plan->weight = m->role[like->targets];
    if (status == MCR_OK)
        status = find_target(m);
    if (status != MCR_OK)
        return status;
    for (int64_t c = 0; c < plan->columns; c++) {
        mcr_csv_column *column = &plan->column[c];
        column->role = column->rank > 0     ? MCR_CSV_TARGET
                       : c == plan->weight  ? MCR_CSV_WEIGHT
                       : is_numeric(column) ? MCR_CSV_NUMBER
                                            : MCR_CSV_TEXT;
        plan->numbers += column->role == MCR_CSV_NUMBER;
        plan->texts += column->role == MCR_CSV_TEXT;
    }
    if (plan->numbers + plan->texts == 0)
        return no_data(m);
    for (int64_t c = 0; c < plan->columns && status == MCR_OK; c++)
        if (plan->column[c].role == MCR_CSV_TEXT)
            status = check_text(m, c);
    return status;
}

mcr_status mcr_csv_plan_make(mcr_csv_plan *plan, mcr *ctx, const char *file, const char *bytes,
                             size_t count, char separator, const mcr_read_options *options)
{
    *plan = (mcr_csv_plan){.separator = separator};
    double share;
    if (separator == 0)
        plan->separator = mcr_csv_separator(bytes, count, &share);
    if (plan->separator == 0)
        plan->separator = ',';
    maker m = {.plan = plan,
               .ctx = ctx,
               .file = file,
               .options = options,
               .bytes = bytes,
               .end = bytes + count};
    mcr_status status = mcr_target_names(&m.targets, ctx, options);
    if (status == MCR_OK)
        status = read_first(&m);
    if (status == MCR_OK) {
        count_cells(&m);
        plan->header = is_header(&m);
    }
    if (status == MCR_OK && plan->header)
        status = keep_names(&m);
    for (int64_t c = 0; c < plan->columns && status == MCR_OK && !plan->header; c++)
        count_cell(&plan->column[c], &m.first[c], &m.first[c]);
    if (status == MCR_OK)
        status = give_roles(&m);
    mcr_words_free(&m.targets, ctx);
    mcr_free(ctx, m.first);
    mcr_free(ctx, m.role);
    mcr_free(ctx, m.scratch);
    if (status != MCR_OK)
        mcr_csv_plan_free(plan, ctx);
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
            int usual = plan->header
                            ? usual_target(plan->column[c].name, strlen(plan->column[c].name))
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
    mcr_free(ctx, l.column);
    mcr_free(ctx, name);
    return status;
}

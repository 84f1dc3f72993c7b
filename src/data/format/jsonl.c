/* jsonl.c: JSON lines, one object per line; the format that holds every kind of field.
 *
 *   {"y": 1, "x": [1, 2], "sequence": "ACGT", "molecule": {"nodes": ["C", "O"], "edges": [[0, 1]]}}
 *
 * The first line fixes the keys and their kinds, and all others must have the same, in any order.
 *   target      options.target, else the first of "y", "target", "label", "class" that is there: a
 *               number, a word, true or false. None there: no targets. "none": no targets, and
 *               these keys are fields like others. Several keys ("a,b") are several targets, all
 *               numbers.
 *   weight      options.weight, else "weight": a number >= 0
 *   [1, 2]      numbers: a dense vector field
 *   1           a number, true (1) or false (0): a column of the dense field "x", columns in the
 *               order of the first line; a dense field of one column of its own where "x" is a key
 *   {"i": [0, 7], "v": [1, 2.5]}        a sparse vector, indices from 0, rising; "n": the number of
 *               columns (else the largest index decides); "indices" and "values" are the same
 *   "text"      a string field; {"hex": "00ff"} for bytes that are not UTF-8
 *   {"nodes": ["C", "O"], "edges": [[0, 1]]}   a graph; nodes: labels (all words or all integers),
 *               or their number; edges: pairs of node numbers from 0, all with an integer label as
 *               third or all without
 *   {"k": [1, 0.5], "id": 0}            a row of a precomputed kernel; "id": which reference object
 *               this is, -1: none
 * Blank lines are passed over. Refused: null and everything else, with the line, column and key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/format/jsonl.h"
#include "data/join.h"
#include "data/write.h"

#include <string.h>

enum { KEYS_MAX = 4096 }; /* a line of a file that is not a data set could have any number */

typedef struct reader {
    mcr *ctx;
    mcr_input *in;
    const mcr_read_options *options;
    mcr_join *join; /* the join that needs the names; NULL: none */
    mcr_json json;
    mcr_words targets; /* their keys */
    mcr_jsonl_field *field;
    int64_t fields, capacity;
    int64_t count; /* objects */
} reader;

/* ---- the first line ------------------------------------------------------------------------- */

static bool has_key(const mcr_json_value *object, const char *key)
{
    return mcr_json_find(object, key) != NULL;
}

/* Finds the keys of the targets in the first object. A key that contains commas is one target. */
static mcr_status find_targets(reader *r, const mcr_json_value *object)
{
    static const char *const usual[] = {"y", "target", "label", "class"};
    const char *given = r->options ? r->options->target : NULL, *key = given;
    int32_t number;
    if (mcr_target_is_none(r->options))
        return MCR_OK;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !key; i++)
        if (has_key(object, usual[i]))
            key = usual[i];
    if (!key || has_key(object, key))
        return key ? mcr_words_number(&r->targets, r->ctx, key, strlen(key), &number) : MCR_OK;
    mcr_status status = mcr_target_names(&r->targets, r->ctx, r->options);
    for (int64_t t = 0; t < r->targets.count && status == MCR_OK; t++)
        if (!has_key(object, r->targets.word[t]))
            status = mcr_input_fail(r->in, "there is no key \"%s\" for the target",
                                    r->targets.word[t]);
    return status;
}

static mcr_status find_weight(reader *r, const mcr_json_value *object, const char **key)
{
    const char *given = r->options ? r->options->weight : NULL;
    *key = given ? given : "weight";
    if (given && !has_key(object, given))
        return mcr_input_fail(r->in, "there is no key \"%s\" for the weights", given);
    return MCR_OK;
}

static mcr_status add_field(reader *r, const mcr_json_value *key, const char *weight)
{
    mcr_jsonl_field *field = &r->field[r->fields];
    if (key->count == 0 || memchr(key->text, 0, (size_t)key->count))
        return mcr_json_fail(&r->json, key, "a key that is empty or contains a NUL");
    for (int64_t i = 0; i < r->fields; i++)
        if (mcr_json_is(key, r->field[i].name))
            return mcr_json_fail(&r->json, key, "key \"%s\" occurs twice", r->field[i].name);
    field->name = mcr_copy_text(r->ctx, key->text, (size_t)key->count);
    if (!field->name)
        return MCR_NO_MEMORY;
    r->fields++;
    field->json = &r->json;
    int64_t t = 0;
    while (t < r->targets.count && strcmp(field->name, r->targets.word[t]) != 0)
        t++;
    field->column = t;
    if (t < r->targets.count)
        field->role = r->targets.count > 1 ? MCR_JSONL_TARGETS : MCR_JSONL_TARGET;
    else if (weight && strcmp(field->name, weight) == 0)
        field->role = MCR_JSONL_WEIGHT;
    else if (r->join && strcmp(field->name, mcr_join_key(r->join)) == 0) {
        field->role = MCR_JSONL_NAME;
        field->join = r->join;
    } else
        return mcr_jsonl_classify(field, key + 1);
    return MCR_OK;
}

/* Numbers share the dense field "x", unless another key has that name. */
static void share_numbers(reader *r)
{
    mcr_jsonl_field *home = NULL;
    bool taken = false;
    for (int64_t i = 0; i < r->fields; i++)
        if (r->field[i].role > MCR_JSONL_NUMBER && strcmp(r->field[i].name, "x") == 0)
            taken = true;
    for (int64_t i = 0; i < r->fields; i++) {
        mcr_jsonl_field *field = &r->field[i];
        if (field->role != MCR_JSONL_NUMBER)
            continue;
        if (!home || taken)
            home = field;
        field->home = home;
        field->named = taken;
        field->column = home->columns;
        home->columns++;
    }
}

static mcr_status open_fields(reader *r, const mcr_json_value *object)
{
    const char *weight;
    if (object->count > KEYS_MAX)
        return mcr_input_fail(r->in, "more than %d keys", KEYS_MAX);
    mcr_status status = find_targets(r, object);
    if (status == MCR_OK)
        status = find_weight(r, object, &weight);
    if (status == MCR_OK)
        status = mcr_reserve(r->ctx, &r->field, &r->capacity, object->count + 1, sizeof *r->field);
    if (status != MCR_OK)
        return status;
    memset(r->field, 0, (size_t)r->capacity * sizeof *r->field);
    const mcr_json_value *key = object + 1;
    for (int64_t i = 0; i < object->count; i++, key = mcr_json_next(key + 1)) {
        status = add_field(r, key, weight);
        if (status != MCR_OK)
            return status;
    }
    share_numbers(r);
    for (int64_t i = 0; status == MCR_OK && i < r->fields; i++)
        status = mcr_jsonl_open(&r->field[i]);
    return status;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* The field of a key; most files keep the order of the first line, so `guess` is tried first. */
static mcr_jsonl_field *find_field(reader *r, const mcr_json_value *key, int64_t guess)
{
    if (guess < r->fields && mcr_json_is(key, r->field[guess].name))
        return &r->field[guess];
    for (int64_t i = 0; i < r->fields; i++)
        if (mcr_json_is(key, r->field[i].name))
            return &r->field[i];
    return NULL;
}

static mcr_status fail_missing(reader *r, const mcr_json_value *object)
{
    int64_t i = 0;
    while (r->field[i].seen == r->count + 1)
        i++;
    return mcr_json_fail(&r->json, object, "key \"%s\" is missing", r->field[i].name);
}

static mcr_status add_object(reader *r)
{
    const mcr_json_value *object = r->json.value, *key = object + 1;
    if (object->type != MCR_JSON_OBJECT)
        return mcr_json_fail(&r->json, object, "a line should be one object in { }");
    mcr_status status = r->count == 0 ? open_fields(r, object) : MCR_OK;
    for (int64_t i = 0; status == MCR_OK && i < object->count; i++, key = mcr_json_next(key + 1)) {
        mcr_jsonl_field *field = find_field(r, key, i);
        if (!field)
            return mcr_json_fail(&r->json, key, "key \"%.*s\" is not in the first line",
                                 (int)key->count, key->text);
        if (field->seen == r->count + 1)
            return mcr_json_fail(&r->json, key, "key \"%s\" occurs twice", field->name);
        field->seen = r->count + 1;
        status = mcr_jsonl_add(field, key + 1, r->count);
    }
    if (status == MCR_OK && object->count < r->fields)
        return fail_missing(r, object);
    r->count++;
    return status;
}

static bool is_blank(const char *p, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
            return false;
    return true;
}

static mcr_status read_lines(reader *r)
{
    for (;;) {
        const char *line;
        size_t length;
        mcr_status status = mcr_input_line(r->in, &line, &length);
        if (status != MCR_OK)
            return status;
        if (!line)
            break;
        int64_t number = mcr_input_line_number(r->in);
        if (number == 1)
            mcr_line_skip_mark(&line, &length);
        if (is_blank(line, length))
            continue;
        status = mcr_json_parse(&r->json, line, length, mcr_input_name(r->in), number);
        if (status == MCR_OK)
            status = add_object(r);
        if (status != MCR_OK)
            return status;
    }
    return r->count > 0 ? MCR_OK : mcr_input_fail(r->in, "no objects: the file is empty");
}

/* Applies a model's number of columns, if it can only refer to one field. */
static void widen_sparse(reader *r)
{
    mcr_jsonl_field *only = NULL;
    for (int64_t i = 0; i < r->fields; i++) {
        if (r->field[i].role != MCR_JSONL_SPARSE)
            continue;
        if (only)
            return;
        only = &r->field[i];
    }
    if (only && !only->named && r->options && r->options->features > only->store->cols)
        only->store->cols = r->options->features;
}

static mcr_status finish_targets(reader *r, mcr_builder *builder)
{
    int64_t cols = r->targets.count;
    if (cols < 2)
        return MCR_OK;
    double *table = mcr_alloc(r->ctx, (size_t)r->count, (size_t)cols * sizeof *table);
    if (!table)
        return MCR_NO_MEMORY;
    for (int64_t f = 0; f < r->fields; f++)
        for (int64_t i = 0; i < r->count && r->field[f].role == MCR_JSONL_TARGETS; i++)
            table[i * cols + r->field[f].column] = r->field[f].weight[i];
    mcr_status status = mcr_builder_target_table(builder, table, cols,
                                                 (const char *const *)r->targets.word);
    mcr_free(r->ctx, table);
    return status;
}

static mcr_status finish_fields(reader *r, mcr_builder *builder)
{
    bool data = r->join != NULL;
    for (int64_t i = 0; i < r->fields; i++)
        data = data || r->field[i].role >= MCR_JSONL_NUMBER;
    if (!data)
        return mcr_fail_at(r->ctx, MCR_BAD_DATA, mcr_input_name(r->in), 0,
                           "the objects have no key besides target and weight");
    widen_sparse(r);
    mcr_status status = MCR_OK;
    for (int64_t i = 0; status == MCR_OK && i < r->fields; i++)
        if (r->field[i].role != MCR_JSONL_WEIGHT)
            status = mcr_jsonl_finish(&r->field[i], builder, r->count);
    for (int64_t i = 0; status == MCR_OK && i < r->fields; i++)
        if (r->field[i].role == MCR_JSONL_WEIGHT) /* the builder now knows the count */
            status = mcr_jsonl_finish(&r->field[i], builder, r->count);
    return status == MCR_OK ? finish_targets(r, builder) : status;
}

static mcr_status jsonl_read(mcr_builder *builder, mcr *ctx, mcr_input *in,
                             const mcr_read_options *options)
{
    reader r = {.ctx = ctx, .in = in, .options = options, .join = options ? options->join : NULL};
    mcr_json_init(&r.json, ctx);
    mcr_status status = read_lines(&r);
    if (status == MCR_OK)
        status = finish_fields(&r, builder);
    for (int64_t i = 0; i < r.fields; i++)
        mcr_jsonl_close(&r.field[i], ctx);
    mcr_words_free(&r.targets, ctx);
    mcr_free(ctx, r.field);
    mcr_json_free(&r.json);
    return status;
}

static int jsonl_sniff(bool named, const char *bytes, size_t count)
{
    mcr_line_skip_mark(&bytes, &count);
    size_t i = 0;
    while (i < count &&
           (bytes[i] == ' ' || bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\r'))
        i++;
    if (i < count && bytes[i] == '{')
        return named ? 100 : 90;
    return named ? 80 : 0;
}

const mcr_format mcr_format_jsonl = {
    .name = "jsonl",
    .summary =
        "JSON lines: {\"y\": 1, \"x\": [..], \"sequence\": \"ACGT\", ...}, every kind of field",
    .extensions = (const char *const[]){"jsonl", "ndjson", NULL},
    .also = (const char *const[]){"json", NULL},
    .writer = &mcr_writer_jsonl,
    .sniff = jsonl_sniff,
    .read = jsonl_read,
};

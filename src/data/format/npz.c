/* npz.c: NumPy's archives of arrays: one array is the data matrix, another the targets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "data/format/collect.h"
#include "data/format/npy.h"
#include "data/format/zip.h"

enum { NONE = -1, READ_BYTES = 1 << 20, NAMES_SHOWN = 8 };

/* Common names, in the order in which they are tried. */
static const char *const usual_matrix[] = {"X", "x", "data", NULL};
static const char *const usual_target[] = {"y", "Y", "target", "label", "labels", NULL};

/* Reads the whole file: its directory is at the end, and the input may be a pipe. */
static mcr_status read_whole(mcr_text *whole, mcr *ctx, mcr_input *in)
{
    for (size_t got = READ_BYTES; got == READ_BYTES;) {
        char *to = mcr_text_extend(whole, READ_BYTES);
        mcr_status status = to != NULL ? mcr_input_some(in, to, READ_BYTES, &got) : whole->status;
        if (status != MCR_OK)
            return status;
        whole->length -= (int64_t)(READ_BYTES - got);
        if (whole->length > UINT32_MAX)
            return mcr_fail_at(
                ctx, MCR_BAD_DATA, mcr_input_name(in), 0,
                "archives of 4 GiB or more are not read; save the arrays as .npy files");
    }
    return MCR_OK;
}

/* The length of the array's name, that of its member without ".npy"; 0: not an array. */
static int name_length(const mcr_zip_entry *e)
{
    size_t length = e->length;
    return length > 4 && memcmp(e->name + length - 4, ".npy", 4) == 0 ? (int)length - 4 : 0;
}

/* Lists the arrays for a message. */
static const char *list_names(const mcr_zip *zip, mcr_text *list)
{
    int shown = 0;
    for (int64_t i = 0; i < zip->count; i++) {
        int length = name_length(&zip->entry[i]);
        if (length > 0 && ++shown <= NAMES_SHOWN)
            mcr_text_format(list, "%s%.*s", shown > 1 ? ", " : "", length < 40 ? length : 40,
                            zip->entry[i].name);
    }
    if (shown > NAMES_SHOWN)
        mcr_text_format(list, " and %d more", shown - NAMES_SHOWN);
    return list->bytes != NULL ? list->bytes : "none";
}

/* The array with this name; NONE: there is none. Duplicates are refused. */
static mcr_status find(int64_t *found, const mcr_zip *zip, const char *name)
{
    *found = NONE;
    for (int64_t i = 0; i < zip->count; i++) {
        size_t length = (size_t)name_length(&zip->entry[i]);
        if (length == 0 || length != strlen(name) || memcmp(zip->entry[i].name, name, length) != 0)
            continue;
        if (*found != NONE)
            return mcr_fail_at(zip->ctx, MCR_BAD_DATA, zip->file, 0,
                               "there are two arrays called \"%.100s\"", name);
        *found = i;
    }
    return MCR_OK;
}

static mcr_status find_first(int64_t *found, const mcr_zip *zip, const char *const *names)
{
    mcr_status status = MCR_OK;
    *found = NONE;
    for (; *names != NULL && *found == NONE && status == MCR_OK; names++)
        status = find(found, zip, *names);
    return status;
}

static mcr_status find_named(int64_t *found, const mcr_zip *zip, const char *name)
{
    mcr_status status = find(found, zip, name);
    if (status != MCR_OK || *found != NONE)
        return status;
    mcr_text list;
    mcr_text_init(&list, zip->ctx);
    status = mcr_fail_at(zip->ctx, MCR_BAD_DATA, zip->file, 0,
                         "there is no array \"%.100s\"; there are: %s", name,
                         list_names(zip, &list));
    mcr_text_free(&list);
    return status;
}

/* SciPy's sparse matrices have an array "data", which is not a matrix. */
static mcr_status refuse_sparse(const mcr_zip *zip)
{
    int64_t shape, format;
    mcr_status status = find(&shape, zip, "shape");
    if (status == MCR_OK)
        status = find(&format, zip, "format");
    if (status == MCR_OK && shape != NONE && format != NONE)
        status = mcr_fail_at(zip->ctx, MCR_BAD_DATA, zip->file, 0,
                             "this is a sparse matrix of SciPy; write it as LIBSVM lines "
                             "(sklearn.datasets.dump_svmlight_file)");
    return status;
}

/* Without a common name, the only array besides the targets is the matrix. */
static mcr_status only_array(int64_t *found, const mcr_zip *zip, int64_t target)
{
    int64_t count = 0;
    for (int64_t i = 0; i < zip->count; i++)
        if (i != target && name_length(&zip->entry[i]) > 0) {
            *found = i;
            count++;
        }
    if (count == 1)
        return MCR_OK;
    if (count == 0)
        return mcr_fail_at(zip->ctx, MCR_BAD_DATA, zip->file, 0,
                           "the archive has no array of objects");
    mcr_text list;
    mcr_text_init(&list, zip->ctx);
    mcr_status status = mcr_advise(
        zip->ctx,
        mcr_fail_at(zip->ctx, MCR_BAD_DATA, zip->file, 0,
                    "no array is called X or data; name the one with the objects, and the one with "
                    "the targets: %s",
                    list_names(zip, &list)),
        "array");
    mcr_text_free(&list);
    return status;
}

static mcr_status choose(int64_t *matrix, int64_t *target, const mcr_zip *zip,
                         const mcr_read_options *options)
{
    *matrix = *target = NONE;
    mcr_status status = MCR_OK;
    if (options->target == NULL)
        status = find_first(target, zip, usual_target);
    else if (!mcr_target_is_none(options))
        status = find_named(target, zip, options->target);
    if (status == MCR_OK && options->only != NULL)
        return find_named(matrix, zip, options->only);
    if (status == MCR_OK)
        status = refuse_sparse(zip);
    if (status == MCR_OK)
        status = find_first(matrix, zip, usual_matrix);
    if (status == MCR_OK && *matrix == NONE)
        status = only_array(matrix, zip, *target);
    return status;
}

/* The array as an input named "file:array" in messages. */
static mcr_status open_array(mcr_input **out, const mcr_zip *zip, int64_t entry)
{
    mcr_text name;
    mcr_text_init(&name, zip->ctx);
    *out = NULL;
    mcr_text_format(&name, "%s:%.*s", zip->file, name_length(&zip->entry[entry]),
                    zip->entry[entry].name);
    mcr_status status = name.status;
    if (status == MCR_OK)
        status = mcr_zip_input(out, zip, entry, name.bytes);
    mcr_text_free(&name);
    return status;
}

static mcr_status read_arrays(mcr_builder *b, const mcr_zip *zip, const mcr_read_options *options)
{
    int64_t matrix, target, rows = 0;
    mcr_input *in = NULL;
    mcr_status status = choose(&matrix, &target, zip, options);
    if (status == MCR_OK && matrix == target)
        status = mcr_fail_at(zip->ctx, MCR_BAD_DATA, zip->file, 0,
                             "one array cannot be both the objects and the targets");
    if (status == MCR_OK)
        status = open_array(&in, zip, matrix);
    if (status == MCR_OK)
        status = mcr_npy_field(b, zip->ctx, in, options, &rows);
    mcr_input_close(in);
    if (status != MCR_OK || target == NONE)
        return status;
    status = open_array(&in, zip, target);
    if (status == MCR_OK)
        status = mcr_npy_targets(b, zip->ctx, in, rows);
    mcr_input_close(in);
    return status;
}

static mcr_status read_npz(mcr_builder *b, mcr *ctx, mcr_input *in, const mcr_read_options *options)
{
    mcr_zip zip = {.ctx = ctx};
    mcr_text whole;
    mcr_text_init(&whole, ctx);
    mcr_status status = read_whole(&whole, ctx, in);
    if (status == MCR_OK)
        status = mcr_zip_open(&zip, ctx, mcr_input_name(in), whole.bytes, (size_t)whole.length);
    if (status == MCR_OK)
        status = read_arrays(b, &zip, options);
    mcr_zip_close(&zip);
    mcr_text_free(&whole);
    return status;
}

/* A zip archive whose first member is an array; other archives only by their extension. */
static int sniff(bool named, const char *bytes, size_t count)
{
    const unsigned char *p = (const unsigned char *)bytes;
    if (count < 30 || memcmp(bytes, "PK\3\4", 4) != 0)
        return named ? 90 : 0;
    size_t length = p[26] | (size_t)p[27] << 8;
    bool array = length > 4 && count >= 30 + length &&
                 memcmp(bytes + 30 + length - 4, ".npy", 4) == 0;
    return array ? 100 : named ? 95 : 0;
}

const mcr_format mcr_format_npz = {
    .name = "npz",
    .summary = "NumPy archive: the array X or data, targets y or target",
    .extensions = (const char *const[]){"npz", NULL},
    .picks = true,
    .sniff = sniff,
    .read = read_npz,
};

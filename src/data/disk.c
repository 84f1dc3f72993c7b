/* disk.c: values that stay in their file and are read when objects are used.
 *
 * A pass over all objects reads them block by block, so that the data may be larger than memory.
 * The file is not mapped: truncating a mapped file while it is read would kill the process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/disk.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

struct mcr_disk {
    mcr *ctx;
    char *name;
    int fd;
    int64_t offset; /* offset of the first value */
    int64_t cols;
    bool single; /* float, else double */
    off_t size;  /* size and modification time of the file */
    struct timespec changed;
};

void mcr_disk_close(void *user)
{
    mcr_disk *d = user;
    if (!d)
        return;
    if (d->fd >= 0)
        close(d->fd);
    mcr_free_all(d->ctx, d->name, d);
}

mcr_status mcr_disk_open(mcr_disk **out, mcr *ctx, mcr_input *in, int64_t cols, bool single)
{
    struct stat now;
    int64_t offset;
    int fd = mcr_input_place(in, &offset);
    *out = NULL;
    if (fd < 0 || fstat(fd, &now) || !S_ISREG(now.st_mode) || (fd = dup(fd)) < 0)
        return MCR_OK;
    mcr_disk *d = mcr_alloc_zero(ctx, 1, sizeof *d);
    if (!d) {
        close(fd);
        return MCR_NO_MEMORY;
    }
    *d = (mcr_disk){.ctx = ctx,
                    .fd = fd,
                    .offset = offset,
                    .cols = cols,
                    .single = single,
                    .size = now.st_size,
                    .changed = now.st_mtim};
    const char *name = mcr_input_name(in);
    d->name = mcr_copy_text(ctx, name, strlen(name));
    if (!d->name) {
        mcr_disk_close(d);
        return MCR_NO_MEMORY;
    }
    *out = d;
    return MCR_OK;
}

static mcr_status check_file(const mcr_disk *d)
{
    struct stat now;
    if (fstat(d->fd, &now) == 0 && now.st_size == d->size &&
        now.st_mtim.tv_sec == d->changed.tv_sec && now.st_mtim.tv_nsec == d->changed.tv_nsec)
        return MCR_OK;
    return mcr_fail_at(d->ctx, MCR_BAD_DATA, d->name, 0, "the file was changed while it was used");
}

static mcr_status read_bytes(const mcr_disk *d, int64_t at, char *to, size_t count)
{
    while (count > 0) {
        ssize_t got = pread(d->fd, to, count, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mcr_fail_at(d->ctx, MCR_BAD_DATA, d->name, 0, "cannot read: %s",
                               strerror(errno));
        if (got == 0)
            return mcr_fail_at(d->ctx, MCR_BAD_DATA, d->name, 0,
                               "the file was changed while it was used");
        to += got;
        at += got;
        count -= (size_t)got;
    }
    return MCR_OK;
}

/* Checks the values, because another program may have written to the file. */
static mcr_status check_values(const mcr_disk *d, int64_t row, const double *values, int64_t count)
{
    double zero = 0;
    for (int64_t i = 0; i < count; i++)
        zero += values[i] * 0;
    if (zero == 0) /* not NAN */
        return MCR_OK;
    int64_t bad = 0;
    while (isfinite(values[bad]))
        bad++;
    return mcr_fail_at(d->ctx, MCR_BAD_DATA, d->name, 0,
                       "row %" PRId64 ", column %" PRId64 ": the value is not finite",
                       row + bad / d->cols + 1, bad % d->cols + 1);
}

/* Reads consecutive rows; floats are read into the second half and widened from there. */
static mcr_status read_run(const mcr_disk *d, int64_t row, int64_t count, double *to)
{
    size_t values = (size_t)(count * d->cols), real = d->single ? sizeof(float) : sizeof(double);
    char *raw = (char *)(to + values) - values * real;
    mcr_status s = read_bytes(d, d->offset + row * d->cols * (int64_t)real, raw, values * real);
    for (size_t i = 0; i < values && d->single && !s; i++) {
        float value;
        memcpy(&value, raw + i * sizeof value, sizeof value);
        to[i] = (double)value;
    }
    return s ? s : check_values(d, row, to, (int64_t)values);
}

/* Reads the rows of a field. Thread-safe. */
static mcr_status read_field(const mcr_disk *d, const mcr_field *field, double *to)
{
    mcr_status s = check_file(d);
    for (int64_t i = 0, run; i < field->count && !s; i += run) {
        int64_t row = mcr_field_at(field, i);
        for (run = 1; i + run < field->count && mcr_field_at(field, i + run) == row + run;)
            run++;
        s = read_run(d, row, run, to + i * d->cols);
    }
    return s;
}

bool mcr_data_on_disk(const mcr_data *data)
{
    for (int64_t f = 0; f < data->fields; f++)
        if (data->store[f]->disk)
            return true;
    return false;
}

mcr_status mcr_data_need_memory(const mcr_data *data, const char *what)
{
    if (!mcr_data_on_disk(data))
        return MCR_OK;
    return mcr_advise(data->ctx,
                      mcr_fail(data->ctx, MCR_OVER_BUDGET,
                               "the data do not fit the memory budget and are read from their file "
                               "in blocks: %s needs them in memory; allow more memory",
                               what),
                      "memory");
}

/* Loads the rows of a view into memory. */
static mcr_status load_store(mcr_store **out, const mcr_data *view)
{
    mcr_field field = mcr_data_field(view, 0);
    const mcr_store *from = field.store;
    mcr_store *to;
    mcr_status s = mcr_store_new(&to, view->ctx, from->name, MCR_DENSE);
    if (s)
        return s;
    to->count = view->count;
    to->cols = from->cols;
    s = mcr_store_alloc_dense(to);
    if (!s)
        s = read_field(from->disk, &field, to->dense);
    return mcr_store_give(out, to, s);
}

/* Gives a view the only store, with a row for each of its objects; kept columns refer to the view's
 * rows, and are dropped. */
static mcr_status replace_store(mcr_data *view, mcr_store *store)
{
    mcr_store **stores = mcr_alloc(view->ctx, 1, sizeof(mcr_store *));
    if (!stores)
        return MCR_NO_MEMORY;
    for (int64_t i = 0; i < view->fields; i++)
        mcr_store_free(view->store[i]);
    for (int64_t i = 0; i < view->carries; i++)
        mcr_store_free(view->carried[i]);
    mcr_free_all(view->ctx, view->rows, view->store);
    view->carries = 0;
    view->rows = NULL;
    view->first = 0;
    stores[0] = mcr_store_retain(store);
    view->store = stores;
    view->fields = 1;
    return MCR_OK;
}

mcr_status mcr_data_load(mcr_data **out, const mcr_data *data, mcr_rows rows)
{
    mcr_data *view = NULL;
    mcr_store *store = NULL;
    mcr_status s = mcr_data_select(&view, data, rows);
    if (s || !mcr_data_on_disk(view)) {
        *out = view;
        return s;
    }
    *out = NULL;
    s = load_store(&store, view);
    if (!s)
        s = replace_store(view, store);
    mcr_store_free(store);
    return mcr_data_give(out, view, s);
}

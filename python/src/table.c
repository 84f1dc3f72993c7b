/* table.c: columns of tables with their roles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fields.h"

#include <string.h>

/* The role that a word names; MCR_ROLE_NONE with an exception set: there is none. */
static mcr_role role_of(const char *word)
{
    for (int r = MCR_NUMBER; word && mcr_role_name((mcr_role)r); r++)
        if (strcmp(mcr_role_name((mcr_role)r), word) == 0)
            return (mcr_role)r;
    if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "there is no role \"%s\"", word ? word : "None");
    return MCR_ROLE_NONE;
}

mcr_status core_add_missing(building *b, const char *rule)
{
    return mcr_builder_missing(b->builder, rule);
}

mcr_status core_add_numbers(building *b, const char *name)
{
    (void)name;
    mcr_dense_view view = MCR_INIT(mcr_dense_view);
    const char **column = NULL;
    int64_t columns = 0;
    if (core_matrix(b, 2, "dfqihbQIHB?", &view) < 0 ||
        core_texts(&b->j, core_part(b, 3), &column, &columns) < 0)
        return MCR_OK;
    if (columns != view.cols) {
        PyErr_SetString(PyExc_ValueError, "a name for each column is wanted");
        return MCR_OK;
    }
    view.column = column;
    return mcr_builder_numbers(b->builder, &view);
}

mcr_status core_add_dates(building *b, const char *name)
{
    Py_buffer *days = core_lend(b, 2, "d", b->count);
    return days ? mcr_builder_dates(b->builder, name, days->buf) : MCR_OK;
}

/* Strings from two buffers of the field, at `at` and behind it; -1 with an exception set. */
static int strings(building *b, Py_ssize_t at, mcr_string_view *to)
{
    Py_buffer *start = core_lend(b, at, "iq", b->count + 1);
    Py_buffer *bytes = start ? core_lend(b, at + 1, "Bbc", -1) : NULL;
    if (!bytes || core_number_type(start, &to->start_type) < 0)
        return -1;
    int64_t end = to->start_type == MCR_INT64 ? ((int64_t *)start->buf)[b->count]
                                              : ((int32_t *)start->buf)[b->count];
    if (end > bytes->len) {
        PyErr_SetString(PyExc_ValueError, "the strings end behind their bytes");
        return -1;
    }
    to->start = start->buf;
    to->bytes = bytes->buf;
    return 0;
}

mcr_status core_add_words(building *b, const char *name)
{
    mcr_string_view view = MCR_INIT(mcr_string_view);
    mcr_role role = role_of(core_text(&b->j, core_part(b, 2)));
    if (role == MCR_ROLE_NONE || strings(b, 3, &view) < 0)
        return MCR_OK;
    view.release = core_give_back;
    view.user = core_hand_over(b);
    return mcr_builder_words_column(b->builder, name, role, &view);
}

mcr_status core_add_columns(building *b, const char *name)
{
    (void)name;
    const char **column = NULL, **word = NULL;
    int64_t columns = 0, words = 0;
    if (core_texts(&b->j, core_part(b, 2), &column, &columns) < 0 ||
        core_texts(&b->j, core_part(b, 3), &word, &words) < 0)
        return MCR_OK;
    mcr_role *role = columns == words ? core_alloc(&b->j, (size_t)columns, sizeof *role) : NULL;
    for (int64_t c = 0; role && c < columns; c++)
        if ((role[c] = role_of(word[c])) == MCR_ROLE_NONE)
            return MCR_OK;
    return role ? mcr_builder_columns(b->builder, column, role, columns) : MCR_OK;
}

/* guess_role(name, count, start, bytes, whole): the role of a column of strings. */
PyObject *core_guess_role(PyObject *self, PyObject *args)
{
    PyObject *name, *start, *bytes;
    long long count;
    int whole = 0;
    mcr_role role = MCR_ROLE_NONE;
    mcr_status status = MCR_OK;
    if (!PyArg_ParseTuple(args, "ULOO|p", &name, &count, &start, &bytes, &whole))
        return NULL;
    building *b = core_job_new(sizeof *b, (session *)self, NULL);
    if (!b)
        return NULL;
    lent held = {.views = 0};
    mcr_string_view view = MCR_INIT(mcr_string_view);
    b->count = count;
    b->lent = &held;
    b->field = Py_BuildValue("(OO)", start, bytes);
    const char *word = b->field ? core_text(&b->j, name) : NULL;
    if (word && strings(b, 0, &view) == 0)
        status = mcr_role_guess(&role, b->j.ctx, word, &view, count, whole);
    Py_XDECREF(b->field);
    for (int i = 0; i < held.views; i++)
        PyBuffer_Release(&held.view[i]);
    PyObject *made = NULL;
    if (status != MCR_OK)
        core_raise(status, b->j.ctx);
    else if (!PyErr_Occurred())
        made = core_string(mcr_role_name(role));
    core_job_close(&b->j);
    return made;
}

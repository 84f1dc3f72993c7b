/* numbers.c: the user's arrays, of any numeric type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "data/numbers.h"

#include "base/context.h"

static const struct {
    size_t bytes;
    bool whole;
} types[] = {
    [MCR_FLOAT64] = {8, false}, [MCR_FLOAT32] = {4, false}, [MCR_INT64] = {8, true},
    [MCR_INT32] = {4, true},    [MCR_INT16] = {2, true},    [MCR_INT8] = {1, true},
    [MCR_UINT64] = {8, true},   [MCR_UINT32] = {4, true},   [MCR_UINT16] = {2, true},
    [MCR_UINT8] = {1, true},
};

static bool known(mcr_number type)
{
    return (int)type >= 0 && (size_t)type < sizeof types / sizeof *types;
}

size_t mcr_number_bytes(mcr_number type)
{
    return known(type) ? types[type].bytes : 0;
}

bool mcr_number_whole(mcr_number type)
{
    return known(type) && types[type].whole;
}

bool mcr_number_int(int64_t *out, const void *values, mcr_number type, int64_t at)
{
    switch (type) {
    case MCR_INT64: *out = ((const int64_t *)values)[at]; return true;
    case MCR_INT32: *out = ((const int32_t *)values)[at]; return true;
    case MCR_INT16: *out = ((const int16_t *)values)[at]; return true;
    case MCR_INT8: *out = ((const int8_t *)values)[at]; return true;
    case MCR_UINT32: *out = ((const uint32_t *)values)[at]; return true;
    case MCR_UINT16: *out = ((const uint16_t *)values)[at]; return true;
    case MCR_UINT8: *out = ((const uint8_t *)values)[at]; return true;
    case MCR_UINT64: {
        uint64_t value = ((const uint64_t *)values)[at];
        *out = (int64_t)value;
        return value <= INT64_MAX;
    }
    case MCR_FLOAT64:
    case MCR_FLOAT32: break;
    }
    return false;
}

bool mcr_number_real(double *out, const void *values, mcr_number type, int64_t at)
{
    const int64_t most = (int64_t)1 << 53;
    int64_t whole;
    if (type == MCR_FLOAT64)
        *out = ((const double *)values)[at];
    else if (type == MCR_FLOAT32)
        *out = (double)((const float *)values)[at];
    else if (!mcr_number_int(&whole, values, type, at) || whole > most || whole < -most)
        return false;
    else
        *out = (double)whole;
    return true;
}

mcr_status mcr_number_check(mcr *ctx, const char *what, const void *values, mcr_number type,
                            int64_t count)
{
    if (!known(type))
        return mcr_fail(ctx, MCR_BAD_CALL, "%s: there is no type of number %d", what, (int)type);
    if (values == NULL && count > 0)
        return mcr_fail(ctx, MCR_BAD_CALL, "%s: there is no array", what);
    if ((uintptr_t)values % types[type].bytes != 0)
        return mcr_fail(ctx, MCR_BAD_CALL,
                        "%s: the array is not aligned to the %d bytes of its numbers; copy it",
                        what, (int)types[type].bytes);
    return MCR_OK;
}

void mcr_dense_view_steps(mcr_dense_view *v)
{
    if (v->row_step != 0 || v->col_step != 0)
        return;
    v->row_step = v->cols;
    v->col_step = 1;
}

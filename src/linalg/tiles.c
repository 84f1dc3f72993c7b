/* tiles.c: the available tile kits, and the best one for this processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/tiles.h"

#include <stddef.h>
#include <string.h>

/* The kits are made from tile.c and vmath.c, compiled once for each; meson.build defines
 * MCR_HAVE_V3 and MCR_HAVE_V4 if the compiler supports them. */
#define TILES(isa)                                                                                 \
    extern const mcr_tile_kit mcr_tile_kit_##isa##_f32, mcr_tile_kit_##isa##_f64;                  \
    static const mcr_tiles tiles_##isa = {#isa, &mcr_tile_kit_##isa##_f32,                         \
                                          &mcr_tile_kit_##isa##_f64};

TILES(base)
#if defined(MCR_HAVE_V3)
TILES(v3)
#endif
#if defined(MCR_HAVE_V4)
TILES(v4)
#endif

#if defined(MCR_HAVE_V3)
static bool has_v3(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

#if defined(MCR_HAVE_V4)
static bool has_v4(void)
{
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

const mcr_tiles *mcr_tiles_best(void)
{
#if defined(MCR_HAVE_V4)
    if (has_v4())
        return &tiles_v4;
#endif
#if defined(MCR_HAVE_V3)
    if (has_v3())
        return &tiles_v3;
#endif
    return &tiles_base;
}

const mcr_tiles *mcr_tiles_named(const char *name)
{
#if defined(MCR_HAVE_V4)
    if (strcmp(name, "v4") == 0)
        return has_v4() ? &tiles_v4 : NULL;
#endif
#if defined(MCR_HAVE_V3)
    if (strcmp(name, "v3") == 0)
        return has_v3() ? &tiles_v3 : NULL;
#endif
    return strcmp(name, "base") == 0 ? &tiles_base : NULL;
}

bool mcr_tile_prefers_sparse(const mcr_tile_kit *kit, int64_t dims, double density)
{
    /* Four panels are used together; with 36 KB most of them still fit a common L1 of 32 KB. */
    int64_t panels = 4 * kit->width * kit->bytes;
    bool small = dims <= 36 * 1024 / panels;
    return density < (small ? kit->sparse_below : kit->sparse_below_large);
}

/* smo_pick.c: the inner solver for this processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "solve/smo_inner.h"

/* Made from smo_inner.c; see meson.build. */
extern mcr_smo_run mcr_smo_run_base_f32, mcr_smo_run_base_f64;
#if defined(MCR_HAVE_V3)
extern mcr_smo_run mcr_smo_run_v3_f32, mcr_smo_run_v3_f64;
#endif
#if defined(MCR_HAVE_V4)
extern mcr_smo_run mcr_smo_run_v4_f32, mcr_smo_run_v4_f64;
#endif

mcr_smo_run *mcr_smo_inner(const char *tiles_name, int precise)
{
#if defined(MCR_HAVE_V4)
    if (strcmp(tiles_name, "v4") == 0)
        return precise ? mcr_smo_run_v4_f64 : mcr_smo_run_v4_f32;
#endif
#if defined(MCR_HAVE_V3)
    if (strcmp(tiles_name, "v3") == 0)
        return precise ? mcr_smo_run_v3_f64 : mcr_smo_run_v3_f32;
#endif
    (void)tiles_name;
    return precise ? mcr_smo_run_base_f64 : mcr_smo_run_base_f32;
}

/* fortran.c: loading BLAS and LAPACK; without them, own.c provides the routines.
 *
 * Libraries stay loaded: they may have threads, and further contexts reuse them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "linalg/fortran.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "base/system.h"
#include "linalg/own.h"

_Static_assert(sizeof(mcr_fortran) <= MCR_BLAS_BYTES, "the routines fit the context");

static const char openblas[] = "libopenblas.so.0";

/* OpenBLAS reserves buffers for each core when it is loaded, and retries forever if that fails: it
 * must not be loaded if a limit of the address space is too low for that. */
static bool has_space(size_t *left, size_t *needed)
{
    *left = mcr_system_address_space();
    *needed = ((size_t)512 << 20) + ((size_t)128 << 20) * (size_t)mcr_system_cores();
    return *left >= *needed;
}

static void *open_library(const char *file)
{
#ifdef __EMSCRIPTEN__
    (void)file;
    return NULL;
#else
    return dlopen(file, RTLD_NOW | RTLD_LOCAL);
#endif
}

static bool find(void *library, const char *name, void *to)
{
    void *routine = dlsym(library, name);
    *(void **)to = routine;
    return routine != NULL;
}

/* Looks up all routines in this library; false if one is missing. */
static bool take(mcr_fortran *f, const char *file)
{
    void *lib = open_library(file);
    if (!lib)
        return false;
    bool all = find(lib, "dgemm_", &f->dgemm) && find(lib, "dsyrk_", &f->dsyrk) &&
               find(lib, "dgemv_", &f->dgemv) && find(lib, "dtrsm_", &f->dtrsm) &&
               find(lib, "dtrsv_", &f->dtrsv) && find(lib, "dpotrf_", &f->dpotrf) &&
               find(lib, "dsyevd_", &f->dsyevd) && find(lib, "dsyevr_", &f->dsyevr) &&
               find(lib, "sgemm_", &f->sgemm) && find(lib, "ssyrk_", &f->ssyrk) &&
               find(lib, "strsm_", &f->strsm) && find(lib, "strsv_", &f->strsv) &&
               find(lib, "spotrf_", &f->spotrf);
    if (!find(lib, "omp_get_max_threads", &f->get_threads) ||
        !find(lib, "omp_set_num_threads", &f->set_threads))
        f->get_threads = NULL;
    return all;
}

/* The name that selects Mercer's own routines. */
static bool is_own(const char *wanted)
{
    return wanted && strcmp(wanted, "own") == 0;
}

static bool load(mcr *ctx)
{
    mcr_fortran *f = (mcr_fortran *)ctx->blas;
    const char *wanted = ctx->config.blas;
    if (is_own(wanted) || (!wanted && !take(f, openblas) && !take(f, "liblapack.so.3")))
        mcr_own_routines(f);
    else if (wanted)
        return take(f, wanted);
    return true;
}

mcr_status mcr_fortran_load(const mcr_fortran **out, mcr *ctx)
{
    const char *wanted = ctx->config.blas;
    *out = (const mcr_fortran *)ctx->blas;
    size_t left, needed;
    if (__atomic_load_n(&ctx->blas_state, __ATOMIC_ACQUIRE) == 0 && !is_own(wanted) &&
        !has_space(&left, &needed)) {
        char a[MCR_SIZE_TEXT], b[MCR_SIZE_TEXT];
        return mcr_fail(ctx, MCR_NO_MEMORY,
                        "factorising matrices needs %s of address space for BLAS and LAPACK, and "
                        "the limit of this process leaves %s: raise the limit",
                        mcr_size_text(needed, b), mcr_size_text(left, a));
    }
    if (mcr_once(ctx, &ctx->blas_state, load))
        return MCR_OK;
    return mcr_fail(ctx, MCR_IO,
                    "%s: not found, or not BLAS and LAPACK, which factorising matrices needs: "
                    "install libopenblas0-openmp",
                    wanted);
}

int mcr_fortran_threads(const mcr_fortran *f, int threads)
{
    if (!f->get_threads || threads <= 0)
        return 0;
    int before = f->get_threads();
    f->set_threads(threads);
    return before;
}

const char *mcr_fortran_core(const char **config)
{
    size_t left, needed;
    void *lib = has_space(&left, &needed) ? open_library(openblas) : NULL;
    char *(*name)(void) = NULL, *(*made)(void) = NULL;
    *config = NULL;
    if (!lib || !find(lib, "openblas_get_corename", &name))
        return NULL;
    if (find(lib, "openblas_get_config", &made))
        *config = made();
    return name();
}

/* context.h: what all calls of one user share: allocator, threads, memory budget, seed, callbacks.
 *
 * The library has no globals. Everything starts from a context; one context may be used by one
 * thread at a time, several contexts are independent. The library never exits, prints, or touches
 * signal handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_CONTEXT_H
#define MERCER_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#include <mercer/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MCR_VERSION_MAJOR 0
#define MCR_VERSION_MINOR 1
#define MCR_VERSION_PATCH 0

typedef struct mcr mcr;

/* Structs that may grow in later versions begin with `size`, the bytes that the caller knows of:
 *
 *     mcr_plot plot = MCR_INIT(mcr_plot);
 *     plot.kind = "roc";
 *
 * One rule holds for all of them, whoever was compiled first, the program or the library:
 *   - given to the library: fields beyond `size` take their defaults, as fields of 0 do. A field that
 *     this version does not know must be 0, else MCR_BAD_CALL;
 *   - filled by the library: no more than `size` bytes are written, `size` stays as it is, and fields
 *     that this version does not know become 0. In an array the size of the first element counts
 *     for all;
 *   - made by the library (reports, progress): `size` says how much of it there is. Fields are only
 *     added at the end.
 * A size that was not set is MCR_BAD_CALL. Structs without `size` never change. */
#ifdef __cplusplus
#define MCR_INIT(type)                                                                             \
    ([] {                                                                                          \
        type fresh = type();                                                                       \
        fresh.size = sizeof fresh;                                                                 \
        return fresh;                                                                              \
    }())
#else
#define MCR_INIT(type) ((type){.size = sizeof(type)})
#endif

/* A report from something long. Fields that do not apply are NAN or 0. */
typedef struct mcr_progress {
    size_t size;           /* sizeof(mcr_progress) of the library */
    const char *phase;     /* "reading", "gram", "svm", ... */
    double fraction;       /* 0 to 1 where the end is known, else NAN */
    double seconds;        /* since the phase began */
    int64_t step;          /* iterations so far */
    double objective;      /* of a solver */
    double violation;      /* of its optimality condition */
    int64_t active, total; /* size of the active set, and of the whole */
    double left;           /* seconds to the end, by what has been seen so far; 0: not known */
} mcr_progress;

enum { MCR_LOG_DEBUG = 0, MCR_LOG_INFO = 1, MCR_LOG_WARNING = 2 };

/* Zero in a field (all but size) means the default. */
typedef struct mcr_config {
    size_t size; /* sizeof(mcr_config) */
    /* As realloc; new_bytes 0 frees and returns NULL. old_bytes is what was asked for. Must be safe
     * to call from several threads if `threads` is not 1. */
    void *(*realloc)(void *user, void *block, size_t old_bytes, size_t new_bytes);
    int (*progress)(void *user, const mcr_progress *now); /* nonzero: stop, keep the best so far */
    void (*log)(void *user, int level, const char *line);
    void *user;
    int threads;         /* default: all cores the process may use */
    size_t memory_bytes; /* budget for kernel storage; default: half of the free memory */
    uint64_t seed;       /* default: 1 */
    /* The file of a library with BLAS and LAPACK, which is loaded when a matrix is first factorised;
     * borrowed until mcr_close. Default: OpenBLAS, or else the system's. */
    const char *blas;
    /* Most memory that reading data and models may take: more is refused. With memory_bytes and 32
     * MB it also limits all that the context takes. Default: half of the free memory, and a file
     * may not cause more than 32 MB and 64 times its size, nor unpack to more than 250 times its
     * size, unless this is set. */
    size_t data_bytes;
    /* Most work, in seconds by a rough estimate for this machine, that a kernel may begin; more is
     * refused with the estimate. Default: 3600, and 20 where a model is asked, which may be
     * foreign. */
    double work_seconds;
} mcr_config;

/* config may be NULL. On failure *out is NULL; then only the status is known. */
MCR_API mcr_status mcr_open(mcr **out, const mcr_config *config);
/* Close after all objects made from it are freed. NULL is allowed. */
MCR_API void mcr_close(mcr *ctx);
/* Frees what a call gave the caller as bytes (mcr_model_save_memory). NULL is allowed. */
MCR_API void mcr_bytes_free(mcr *ctx, void *bytes);

/* From any thread, also while another one is in a call of this context. Asks what is running to stop, as
 * a progress callback does by giving back nonzero: the best so far is kept where there is any, else the
 * call ends with MCR_STOPPED. Stays in force, for later calls too, until it is taken back (wanted 0). */
MCR_API void mcr_cancel(mcr *ctx, int wanted);
/* From any thread: the last report of what runs or ran in this context; phase NULL: there was none. For
 * programs that look from time to time instead of being called. */
MCR_API mcr_status mcr_progress_last(mcr *ctx, mcr_progress *now);

/* The message of the last failure, one line, without newline; "" if there was none. Borrowed: valid
 * until the next call that fails. */
MCR_API const char *mcr_message(const mcr *ctx);
/* Where it was found, if it was in a file: NULL and 0 otherwise. */
MCR_API const char *mcr_message_file(const mcr *ctx);
MCR_API int64_t mcr_message_line(const mcr *ctx);

MCR_API int mcr_threads(const mcr *ctx);
MCR_API uint64_t mcr_seed(const mcr *ctx);
MCR_API size_t mcr_memory_budget(const mcr *ctx);
/* "0.1.0"; and which code paths run here ("avx2, 2 threads, OpenBLAS ..."). Static strings. */
MCR_API const char *mcr_version(void);
/* OpenBLAS sometimes takes old, slow code on a new processor. Then this is what the variable
 * OPENBLAS_CORETYPE should hold when a program starts; NULL: all is well. The program `mercer`
 * restarts itself with it before it factorises matrices. */
MCR_API const char *mcr_blas_core_hint(void);

#ifdef __cplusplus
}
#endif
#endif

/* context.h: the state that calls share: allocator, threads, memory budget, seed, callbacks.
 *
 * The library has no global variables: everything starts from a context. It never exits, prints, or
 * changes signal handlers.
 *
 * Threads. A call starts the threads of its context (mcr_config.threads) by itself. A program with
 * threads of its own gives each of them a context:
 *   - a context is used by one thread at a time; several contexts are independent;
 *   - data, kernels, layouts, models and splits are immutable. Any number of threads may use the
 *     same one at the same time, each with its own context: train on the same data, predict with
 *     the same model. Reference counts are atomic. The exception is mcr_model_calibrate, which
 *     changes the model: no other thread may use the model meanwhile;
 *   - every other object (options, Grams, maps, features, builders, outputs, figures) uses the
 *     context that it was made with, and so belongs to one thread at a time;
 *   - an object takes its memory from the context that it was made with. Close that context last.
 *     If threads share the object, its allocator must be safe to call from several threads, as the
 *     default allocator is. A function without a context argument sets the message of the object's
 *     context. If threads share the object, that message may be another thread's; the returned
 *     status is always right.
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

typedef struct mcr mcr; /* one thread at a time */

/* Structs that may grow in later versions begin with `size`, the number of bytes that the caller
 * knows:
 *
 *     mcr_plot plot = MCR_INIT(mcr_plot);
 *     plot.kind = "roc";
 *
 * One rule holds for all of them, whether the program or the library is the newer one:
 *   - structs passed to the library: fields beyond `size` take their defaults, as fields of 0 do.
 *     If a field that this version does not know is not 0, the call fails with MCR_BAD_CALL;
 *   - structs filled by the library: at most `size` bytes are written, `size` itself is unchanged,
 *     and fields that this version does not know become 0. In an array, the size of the first
 *     element applies to all elements;
 *   - structs made by the library (reports, progress): `size` is the number of valid bytes. New
 *     fields are only added at the end.
 * A call with a struct whose size is not set fails with MCR_BAD_CALL. Structs without `size` never
 * change. ISO C does not let MCR_INIT initialise a static object: write {.size = sizeof(mcr_plot)}
 * there. */
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

/* The progress of a long computation. Fields that do not apply are NAN or 0. */
typedef struct mcr_progress {
    size_t size;           /* sizeof(mcr_progress) */
    const char *phase;     /* "reading", "gram", "svm", ... */
    double fraction;       /* 0 to 1 where the end is known, else NAN */
    double seconds;        /* since the phase began */
    int64_t step;          /* iterations so far */
    double objective;      /* of a solver */
    double violation;      /* of its optimality condition */
    int64_t active, total; /* size of the active set, and of the whole */
    double left;           /* estimated seconds to the end; 0: not known */
} mcr_progress;

enum { MCR_LOG_DEBUG = 0, MCR_LOG_INFO = 1, MCR_LOG_WARNING = 2 };

/* Zero in a field (all but size) means the default. */
typedef struct mcr_config {
    size_t size; /* sizeof(mcr_config) */
    /* Works like realloc; new_bytes 0 frees the block and returns NULL. old_bytes is the size that
     * was requested. Must be safe to call from several threads if `threads` is not 1, or if threads
     * share objects of this context. */
    void *(*realloc)(void *user, void *block, size_t old_bytes, size_t new_bytes);
    /* Callbacks are called from any thread of the context, one at a time. A progress callback that
     * returns nonzero stops the computation, which then returns its best result so far. */
    int (*progress)(void *user, const mcr_progress *now);
    void (*log)(void *user, int level, const char *line);
    void *user;
    int threads;         /* default: all cores the process may use */
    size_t memory_bytes; /* budget for kernel storage; default: half of the free memory */
    uint64_t seed;       /* default: 1 */
    /* The file of a shared library with BLAS and LAPACK, which is loaded when a matrix is first
     * factorised; borrowed until mcr_close. "own": Mercer's own routines, which are slower.
     * Default: OpenBLAS, or else the system's BLAS, or else Mercer's own routines. */
    const char *blas;
    /* The most memory that reading data and models may take; a file that needs more is refused. The
     * context as a whole may take memory_bytes + data_bytes + 32 MB. Default: half of the free
     * memory. If this is not set, two more limits hold: a file may not take more than 32 MB + 64
     * times its size, and may not unpack to more than 250 times its size. */
    size_t data_bytes;
    /* The longest computation that a kernel may begin, in seconds by a rough estimate for this
     * machine; a longer one is refused, with the estimate in the message. Default: 3600, and 20
     * when a model is applied, since the model may come from someone else. */
    double work_seconds;
} mcr_config;

/* config may be NULL. On failure *out is NULL, and there is no message beyond the status. */
MCR_API mcr_status mcr_open(mcr **out, const mcr_config *config);
/* Free all objects made with the context first. NULL is allowed. */
MCR_API void mcr_close(mcr *ctx);
/* Frees bytes that a call handed to the caller (mcr_model_save_memory). NULL is allowed. */
MCR_API void mcr_bytes_free(mcr *ctx, void *bytes);

/* May be called from any thread, also while another thread is in a call with this context. Asks the
 * running call to stop, as a progress callback does by returning nonzero: the call returns its best
 * result so far, or MCR_STOPPED if it has none. The request stays in force, also for later calls,
 * until it is withdrawn (wanted 0). */
MCR_API void mcr_cancel(mcr *ctx, int wanted);
/* May be called from any thread: the last progress report in this context; its phase is NULL if
 * there was none. For programs that poll instead of using a callback. */
MCR_API mcr_status mcr_progress_last(mcr *ctx, mcr_progress *now);

/* The message of the last failure, one line, without newline; "" if there was none. Borrowed: valid
 * until the next call that fails. */
MCR_API const char *mcr_message(const mcr *ctx);
/* The file and line of the fault, if it is in a file; else NULL and 0. */
MCR_API const char *mcr_message_file(const mcr *ctx);
MCR_API int64_t mcr_message_line(const mcr *ctx);
/* Messages name concepts ("the memory budget"). The id identifies the remedy by a short word, so
 * that a program can name its own option or command. A static string; NULL: none in particular.
 *   memory, data-limit, work-limit   raise memory_bytes, data_bytes, work_seconds of mcr_config
 *   format, target, array, cache-dir set that field of mcr_read_options (array: only and target)
 *   join, key                        set `join` of mcr_read_options; name the key of mcr_join_open
 *   precomputed                      read kernel values with the format of that name
 *   kernel, kernel2                  pass an expression (kernel2: the kernel of the other fields)
 *   kernels, learners                list the kernels or learners that exist
 *   definite                         test whether the function is a kernel: mcr_kernel_check
 *   range                            use mcr_tune: only it takes ranges
 *   resume, no-resume, output        of mcr_search: set resume, clear it, name another checkpoint
 *   option NAME, option NAME=VALUE   set that option of the learner */
MCR_API const char *mcr_message_id(const mcr *ctx);

/* From now on mcr_fit stores the state of a training in this file, at most every ten seconds, and
 * continues from it if the file exists; NULL: it does not. A training that was killed and continued
 * gives the same model, bit for bit, as an uninterrupted one. MCR_BAD_DATA if the file is damaged
 * or belongs to other data or another kernel, option, seed or version; MCR_BAD_CALL for learners
 * that cannot store their state (knn, pca, fisher, cca). The file stays after training. Set
 * memory_bytes as well: its default depends on the free memory. */
MCR_API mcr_status mcr_checkpoint_file(mcr *ctx, const char *path);

MCR_API int mcr_threads(const mcr *ctx);
/* Ends the threads that the context has started. Later calls run in the calling thread. For
 * contexts that are kept only because models or data still use them. Must not be called from a
 * callback. */
MCR_API void mcr_stop_threads(mcr *ctx);
MCR_API uint64_t mcr_seed(const mcr *ctx);
MCR_API size_t mcr_memory_budget(const mcr *ctx);
/* "0.1.0". A static string. */
MCR_API const char *mcr_version(void);
#ifdef __cplusplus
}
#endif
#endif

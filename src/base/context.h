/* context.h (internal): the context's insides, messages, memory, budget.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MCR_BASE_CONTEXT_H
#define MCR_BASE_CONTEXT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mercer/context.h>

enum { MCR_MESSAGE_MAX = 1024, MCR_FILE_MAX = 512, MCR_MARK_MAX = 512, MCR_BLAS_BYTES = 192 };

struct mcr {
    mcr_config config;    /* complete: defaults filled in */
    pthread_mutex_t lock; /* guards message, budget_used: workers may fail or allocate together */
    pthread_mutex_t callback_lock; /* recursive: the user's callbacks run one at a time */
    char message[MCR_MESSAGE_MAX];
    char file[MCR_FILE_MAX];
    int64_t line;
    const char *id; /* of the message: what would help; NULL: nothing special */
    /* A fault in a kernel expression: a window of its text and the place in it; "" if the last
     * fault was elsewhere. Set by kernel/scan.c, cleared by every message. */
    char mark_text[MCR_MARK_MAX];
    int64_t mark_column, mark_length;
    size_t budget_used;
    /* Memory in blocks, and the most there may be now; atomic. See limits.h. */
    size_t taken, limit;
    bool data_limit_given; /* by the user */
    int predicting;        /* above 0: between mcr_predicting(ctx, true) and (ctx, false) */
    double deadline;       /* by mcr_now: then reports ask to stop; 0: none */
    double whole_since;    /* by mcr_now: work that began then is of use only as a whole; 0: none */
    bool user_stopped;     /* the user's callback has asked to stop since the deadline was set */
    struct {               /* the file that is being read; depth 0: none */
        int depth;
        const char *name;
        size_t bytes, before; /* of it so far; memory taken before it */
    } reading;
    /* A search made of many trainings reports in their place; see mcr_cover. */
    bool covered;
    mcr_progress cover;
    struct mcr_pool *pool;                           /* of threads; NULL with one thread */
    int blas_state;                                  /* of mcr_once */
    _Alignas(16) unsigned char blas[MCR_BLAS_BYTES]; /* its routines: linalg/fortran.h */
    const struct mcr_kernel_type **extra_kernels;    /* registered by the user: copies */
    int64_t extra_kernel_count;
    struct mcr_function *extra_functions; /* of objects, by mcr_function_register */
    int64_t extra_function_count;
    const struct mcr_learner_type **extra_learners; /* by mcr_learner_register */
    int64_t extra_learner_count;
    struct mcr_kept *kept; /* by mcr_keep */
    int64_t kept_count, kept_capacity;
    uint64_t hash_key[2];      /* drawn at opening: hash.h */
    int cancelled;             /* atomic: another thread asks to stop */
    mcr_progress seen;         /* the last report; guarded by lock */
    struct mcr_team *team;     /* of processes; NULL: there is one (team.h) */
    char *checkpoint;          /* a file; NULL: none is kept (resume.h) */
    struct mcr_resume *resume; /* what it holds, during a training; else NULL */
};

/* Forgets what the user has registered. */
void mcr_extensions_free(mcr *ctx);

#if defined(__GNUC__)
#define MCR_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define MCR_PRINTF(f, a)
#endif

/* Sets the message (control characters and line breaks in the text become '?') and returns status,
 * so that a failing function ends with `return mcr_fail(ctx, MCR_BAD_DATA, "...")`. */
mcr_status mcr_fail(mcr *ctx, mcr_status status, const char *format, ...) MCR_PRINTF(3, 4);
/* The same for a fault in a file: the message becomes "FILE:LINE: text" (line 0: "FILE: text"). */
mcr_status mcr_fail_at(mcr *ctx, mcr_status status, const char *file, int64_t line,
                       const char *format, ...) MCR_PRINTF(5, 6);
/* After a failure: what would help, by an id of mcr_message_id (a static string). Returns status. A
 * message that quotes this one keeps the id. */
mcr_status mcr_advise(mcr *ctx, mcr_status status, const char *id);
void mcr_log(mcr *ctx, int level, const char *format, ...) MCR_PRINTF(3, 4);
/* Calls the progress callback, if there is one; true: the user asks to stop. */
bool mcr_report(mcr *ctx, const mcr_progress *now);
/* The same for a solver after some steps, or for a share of some work; phase NULL: no report. */
bool mcr_report_step(mcr *ctx, const char *phase, double seconds, int64_t step, double objective,
                     double violation);
bool mcr_report_part(mcr *ctx, const char *phase, double fraction, double seconds);
/* MCR_STOPPED with the message "interrupted" if the user asks to stop. */
mcr_status mcr_part_done(mcr *ctx, const char *phase, double fraction, double seconds);
/* From now on reports ask to stop once so many seconds are over; 0: never. Not within a search,
 * whose trainings have limits of their own. */
void mcr_deadline_set(mcr *ctx, double seconds);
/* The same for work of which a part is of no use: reports ask to stop as soon as the share that is
 * done says that the whole will take much longer. */
void mcr_deadline_set_whole(mcr *ctx, double seconds);
/* Whether that is why they did; the same at a time of mcr_now() that is known. */
bool mcr_deadline_over(const mcr *ctx);
bool mcr_deadline_passed(const mcr *ctx, double now);
/* From here to mcr_uncover everything that reports shows `now` instead, which the same caller may
 * set again. False: somebody covers already, whose report stays. */
bool mcr_cover(mcr *ctx, const mcr_progress *now);
void mcr_cover_set(mcr *ctx, const mcr_progress *now);
void mcr_uncover(mcr *ctx);
/* The last message of the calling thread, also within a parallel loop. */
const char *mcr_last_message(const mcr *ctx);
double mcr_now(void); /* seconds, monotonic */
/* Calls `make` the first time, whichever thread comes first, and from then on returns its result.
 * It may neither allocate nor fail with a message. */
bool mcr_once(mcr *ctx, int *state, bool (*make)(mcr *ctx));

/* What is to be released when the context is closed. Space is made first, so that adding cannot
 * fail. */
typedef struct mcr_kept {
    void (*release)(void *user);
    void *user;
} mcr_kept;
mcr_status mcr_keep_reserve(mcr *ctx);
void mcr_keep(mcr *ctx, void (*release)(void *user), void *user);

/* Memory. Blocks are aligned to 64 bytes and know their size. All return NULL, with the message
 * set, when memory is short or count * size overflows; a count of 0 gives a valid block. Counts
 * have 64 bits on every machine: rows times columns is computed before it is refused. */
void *mcr_alloc(mcr *ctx, uint64_t count, size_t size);      /* not cleared */
void *mcr_alloc_zero(mcr *ctx, uint64_t count, size_t size); /* cleared */
/* On failure the block is unchanged. */
void *mcr_resize(mcr *ctx, void *block, uint64_t count, size_t size);
void mcr_free(mcr *ctx, void *block); /* NULL allowed */
/* Several arrays of `count` doubles: mcr_alloc_doubles(ctx, count, &a, &b). false: no memory; those
 * that were not made are NULL. */
#define mcr_alloc_doubles(ctx, count, ...)                                                         \
    mcr_alloc_list(ctx, count, mcr_alloc, (double **const[]){__VA_ARGS__},                         \
                   sizeof((double **const[]){__VA_ARGS__}) / sizeof(double **))
#define mcr_zero_doubles(ctx, count, ...)                                                          \
    mcr_alloc_list(ctx, count, mcr_alloc_zero, (double **const[]){__VA_ARGS__},                    \
                   sizeof((double **const[]){__VA_ARGS__}) / sizeof(double **))
bool mcr_alloc_list(mcr *ctx, uint64_t count, void *(*alloc)(mcr *, uint64_t, size_t),
                    double **const *array, size_t arrays);
/* Several arrays in one block, which the caller frees: mcr_alloc_arrays(ctx, MCR_ARRAY(a, n),
 * MCR_CLEARED(b, m)). NULL: no memory; so are the arrays then. */
typedef struct mcr_array {
    void *to; /* T ** */
    uint64_t count;
    size_t size;
    bool cleared;
} mcr_array;
#define MCR_ARRAY(a, n)   ((mcr_array){&(a), n, sizeof *(a), false})
#define MCR_CLEARED(a, n) ((mcr_array){&(a), n, sizeof *(a), true})
#define mcr_alloc_arrays(ctx, ...)                                                                 \
    mcr_alloc_array_list(ctx, (const mcr_array[]){__VA_ARGS__},                                    \
                         sizeof((const mcr_array[]){__VA_ARGS__}) / sizeof(mcr_array))
void *mcr_alloc_array_list(mcr *ctx, const mcr_array *array, size_t arrays);
/* Several blocks, in this order. */
#define mcr_free_all(ctx, ...)                                                                     \
    mcr_free_list(ctx, (void *const[]){__VA_ARGS__},                                               \
                  sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void mcr_free_list(mcr *ctx, void *const *block, size_t count);
/* The blocks of a list (T **), and the list; NULL allowed. */
void mcr_free_each(mcr *ctx, void *list, int64_t count);
char *mcr_copy_text(mcr *ctx, const char *text, size_t length);
/* Grows *block to hold at least `need` elements (doubling); *space is its size in elements. */
mcr_status mcr_reserve(mcr *ctx, void *block /* T ** */, int64_t *capacity, int64_t need,
                       size_t size);

/* What config.realloc is when the user gives none. */
void *mcr_default_realloc(void *user, void *block, size_t old_bytes, size_t new_bytes);

/* a * b and a + b with overflow check: false on overflow. */
bool mcr_size_mul(size_t a, size_t b, size_t *out);
bool mcr_size_add(size_t a, size_t b, size_t *out);

/* The memory budget (kernel storage: rows, packed copies, caches). take fails with
 * MCR_OVER_BUDGET and a message that gives what is needed and what there is. */
mcr_status mcr_budget_take(mcr *ctx, size_t bytes, const char *what);
void mcr_budget_give(mcr *ctx, size_t bytes);
size_t mcr_budget_left(mcr *ctx);

/* The nearest of `names` (NULL-terminated) to `word` by edit distance, NULL if none is near. */
const char *mcr_nearest(const char *word, const char *const *names);

#endif

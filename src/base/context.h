/* context.h (internal): the members of the context; messages, memory, budget.
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
    mcr_config config;    /* complete: unset fields have their defaults */
    pthread_mutex_t lock; /* guards message and budget_used: workers may fail or allocate at the
                           * same time */
    pthread_mutex_t callback_lock; /* recursive: the user's callbacks run one at a time */
    char message[MCR_MESSAGE_MAX];
    char file[MCR_FILE_MAX];
    int64_t line;
    const char *id; /* id of the message's remedy; NULL: none in particular */
    /* A fault in a kernel expression: an excerpt of its text and the position in it; "" if the last
     * fault was not in one. Set by kernel/scan.c, cleared by every message. */
    char mark_text[MCR_MARK_MAX];
    int64_t mark_column, mark_length;
    size_t budget_used;
    /* Bytes allocated now, and their limit; atomic. See limits.h. */
    size_t taken, limit;
    bool data_limit_given; /* set by the user */
    int predicting;        /* above 0: between mcr_predicting(ctx, true) and (ctx, false) */
    double deadline;       /* on the clock of mcr_now; afterwards reports ask to stop; 0: none */
    double whole_since;    /* on the same clock: start of work whose partial result is useless; 0:
                            * none */
    bool user_stopped;     /* the user's callback has asked to stop since the deadline was set */
    struct {               /* the file being read; depth 0: none */
        int depth;
        const char *name;
        size_t bytes, before; /* bytes read so far; memory allocated before */
    } reading;
    /* A search over many trainings reports in their place; see mcr_cover. */
    bool covered;
    mcr_progress cover;
    struct mcr_pool *pool;                           /* threads; NULL if there is only one */
    int blas_state;                                  /* state of mcr_once */
    _Alignas(16) unsigned char blas[MCR_BLAS_BYTES]; /* its routines; see linalg/fortran.h */
    const struct mcr_kernel_type **extra_kernels;    /* registered by the user; copies */
    int64_t extra_kernel_count;
    struct mcr_function *extra_functions; /* on objects, registered by mcr_function_register */
    int64_t extra_function_count;
    const struct mcr_learner_type **extra_learners; /* registered by mcr_learner_register */
    int64_t extra_learner_count;
    struct mcr_kept *kept; /* added by mcr_keep */
    int64_t kept_count, kept_capacity;
    uint64_t hash_key[2];      /* random, drawn when the context is opened; see hash.h */
    int cancelled;             /* atomic: set by another thread to request a stop */
    mcr_progress seen;         /* the last report; guarded by lock */
    struct mcr_team *team;     /* processes; NULL: this is the only one (team.h) */
    char *checkpoint;          /* path; NULL: no checkpoint is written (resume.h) */
    struct mcr_resume *resume; /* its contents during a training; else NULL */
};

/* Frees everything that the user has registered. */
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
/* Adds the remedy to a failure: an id of mcr_message_id (a static string). Returns status. A
 * message that quotes this one keeps the id. */
mcr_status mcr_advise(mcr *ctx, mcr_status status, const char *id);
void mcr_log(mcr *ctx, int level, const char *format, ...) MCR_PRINTF(3, 4);
/* Calls the progress callback, if any; true: the user requests a stop. */
bool mcr_report(mcr *ctx, const mcr_progress *now);
/* The same for a solver after some steps, or for part of a larger job; phase NULL: no report. */
bool mcr_report_step(mcr *ctx, const char *phase, double seconds, int64_t step, double objective,
                     double violation);
bool mcr_report_part(mcr *ctx, const char *phase, double fraction, double seconds);
/* MCR_STOPPED with the message "interrupted" if the user requests a stop. */
mcr_status mcr_part_done(mcr *ctx, const char *phase, double fraction, double seconds);
/* From now on reports ask to stop after this many seconds; 0: never. No effect within a search,
 * whose trainings have their own limits. */
void mcr_deadline_set(mcr *ctx, double seconds);
/* The same for work whose partial result is useless: reports ask to stop as soon as the fraction
 * done shows that the whole would exceed the limit by far. */
void mcr_deadline_set_whole(mcr *ctx, double seconds);
/* Whether the deadline was the reason to stop; the second function takes the current mcr_now(). */
bool mcr_deadline_over(const mcr *ctx);
bool mcr_deadline_passed(const mcr *ctx, double now);
/* From here to mcr_uncover every report shows `now` instead; the caller may update it. False:
 * another caller already covers, and its report is kept. */
bool mcr_cover(mcr *ctx, const mcr_progress *now);
void mcr_cover_set(mcr *ctx, const mcr_progress *now);
void mcr_uncover(mcr *ctx);
/* The last message of the calling thread, even within a parallel loop. */
const char *mcr_last_message(const mcr *ctx);
double mcr_now(void); /* seconds, monotonic */
/* Calls `make` once, in whichever thread comes first, and returns its result then and later. `make`
 * may neither allocate nor fail with a message. */
bool mcr_once(mcr *ctx, int *state, bool (*make)(mcr *ctx));

/* Objects to be released when the context is closed. The list grows first, so that adding cannot
 * fail. */
typedef struct mcr_kept {
    void (*release)(void *user);
    void *user;
} mcr_kept;
mcr_status mcr_keep_reserve(mcr *ctx);
void mcr_keep(mcr *ctx, void (*release)(void *user), void *user);

/* Memory. Blocks are aligned to 64 bytes and know their size. All return NULL, with a message, if
 * memory is exhausted or count * size overflows; a count of 0 gives a valid block. Counts have 64
 * bits on every machine, so that rows times columns does not overflow before the check. */
void *mcr_alloc(mcr *ctx, uint64_t count, size_t size);      /* not cleared */
void *mcr_alloc_zero(mcr *ctx, uint64_t count, size_t size); /* cleared */
/* On failure the block is unchanged. */
void *mcr_resize(mcr *ctx, void *block, uint64_t count, size_t size);
void mcr_free(mcr *ctx, void *block); /* NULL allowed */
/* Several arrays of `count` doubles: mcr_alloc_doubles(ctx, count, &a, &b). false: out of memory;
 * arrays that could not be allocated are NULL. */
#define mcr_alloc_doubles(ctx, count, ...)                                                         \
    mcr_alloc_list(ctx, count, mcr_alloc, (double **const[]){__VA_ARGS__},                         \
                   sizeof((double **const[]){__VA_ARGS__}) / sizeof(double **))
#define mcr_zero_doubles(ctx, count, ...)                                                          \
    mcr_alloc_list(ctx, count, mcr_alloc_zero, (double **const[]){__VA_ARGS__},                    \
                   sizeof((double **const[]){__VA_ARGS__}) / sizeof(double **))
bool mcr_alloc_list(mcr *ctx, uint64_t count, void *(*alloc)(mcr *, uint64_t, size_t),
                    double **const *array, size_t arrays);
/* Several arrays in one block, which the caller frees: mcr_alloc_arrays(ctx, MCR_ARRAY(a, n),
 * MCR_CLEARED(b, m)). NULL if there is no memory; the arrays are then NULL as well. */
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
/* Frees several blocks, in this order. */
#define mcr_free_all(ctx, ...)                                                                     \
    mcr_free_list(ctx, (void *const[]){__VA_ARGS__},                                               \
                  sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void mcr_free_list(mcr *ctx, void *const *block, size_t count);
/* Frees the blocks of a list (T **) and the list; NULL allowed. */
void mcr_free_each(mcr *ctx, void *list, int64_t count);
char *mcr_copy_text(mcr *ctx, const char *text, size_t length);
/* Copies of texts, as an array for mcr_free_each. */
char **mcr_copy_texts(mcr *ctx, const char *const *text, int64_t count);
/* Resizes *block, which is unchanged on failure. */
mcr_status mcr_resize_at(mcr *ctx, void *block /* T ** */, uint64_t count, size_t size);
/* Grows *block (by doubling) to hold at least `need` elements; *space is its capacity in
 * elements. */
mcr_status mcr_reserve(mcr *ctx, void *block /* T ** */, int64_t *capacity, int64_t need,
                       size_t size);

/* The default of config.realloc. */
void *mcr_default_realloc(void *user, void *block, size_t old_bytes, size_t new_bytes);

/* a * b and a + b; false on overflow. */
bool mcr_size_mul(size_t a, size_t b, size_t *out);
bool mcr_size_add(size_t a, size_t b, size_t *out);

/* The memory budget (kernel storage: rows, packed copies, caches). take fails with MCR_OVER_BUDGET
 * and a message with the bytes needed and available. */
mcr_status mcr_budget_take(mcr *ctx, size_t bytes, const char *what);
void mcr_budget_give(mcr *ctx, size_t bytes);
size_t mcr_budget_left(mcr *ctx);

/* The one of `names` (NULL-terminated) closest to `word` by edit distance; NULL if none is
 * close. */
const char *mcr_nearest(const char *word, const char *const *names);

#endif

/* status.h: how every call that can fail reports it, and how training ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MERCER_STATUS_H
#define MERCER_STATUS_H

#if defined(__GNUC__)
#define MCR_API __attribute__((visibility("default")))
#else
#define MCR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* MCR_OK is zero. On any other value the out parameters are NULL or unchanged, nothing leaks, and
 * mcr_message() gives one line that says what is wrong and where. */
typedef enum mcr_status {
    MCR_OK = 0,
    MCR_NO_MEMORY,   /* an allocation failed */
    MCR_BAD_CALL,    /* an argument, option or kernel expression is wrong */
    MCR_BAD_DATA,    /* the data cannot be used: malformed, NaN, one class only, ... */
    MCR_IO,          /* a file cannot be read or written */
    MCR_OVER_BUDGET, /* the memory budget or the limit for work is too small */
    MCR_NUMERIC,     /* the problem has no solution: singular, not separable, ... */
    MCR_STOPPED      /* cancelled before there was a result */
} mcr_status;

/* Why training ended. None of these is an error: the model is the best so far. "Optimal" means that
 * the certificate proves a global optimum within the tolerance. */
typedef enum mcr_stop {
    MCR_STOP_OPTIMAL = 0,
    MCR_STOP_STEPS,
    MCR_STOP_TIME,
    MCR_STOP_INTERRUPTED,
    MCR_STOP_STUCK, /* rounding or a kernel that is not PSD allows no more progress */
    MCR_STOP_LOCAL  /* within the tolerance, but a better optimum elsewhere is not excluded */
} mcr_stop;

/* A short fixed name ("bad data"); never NULL. */
MCR_API const char *mcr_status_name(mcr_status status);

#ifdef __cplusplus
}
#endif
#endif

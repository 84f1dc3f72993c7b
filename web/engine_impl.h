/* engine_impl.h: what the files of the engine share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WEB_ENGINE_IMPL_H
#define WEB_ENGINE_IMPL_H

#include <stdatomic.h>

#include "../cli/json.h"
#include "engine.h"
#include "request.h"

struct studio {
    studio_config config;
    mcr *ctx;
    studio_request request;
    const studio_value *call; /* the request as an object */
    cli_json j;               /* the answer that is being written */
    char *answer;
    size_t answer_bytes;
    mcr_data *data; /* of the last request that brought some */
    char *data_text;
    size_t data_count;
    const char *data_name; /* "points.csv": for messages */
    mcr_model *model;      /* of the last fit */
    mcr_model *shown;      /* of the last request that brought a model file */
    char *shown_text;
    size_t shown_count;
    double deadline;
    atomic_int cancelled;
};

/* Most objects whose numbers are sent, whose kernel matrix is shown, and points of a plane. */
enum { STUDIO_SHOWN = 4000, STUDIO_GRAM = 500, STUDIO_GRID = 512 };

typedef mcr_status studio_handler(studio *s);
studio_handler studio_fit, studio_show, studio_cv, studio_model, studio_figure; /* machines.c */
studio_handler studio_gram, studio_check, studio_pair;                          /* views.c */
studio_handler studio_steps;                                                    /* steps.c */

/* The message of a failure, and the status back. */
mcr_status studio_refuse(studio *s, mcr_status status, const char *line);
/* The data that the request brings, those of the last one that did (data absent), or what the
 * program was called with. Borrowed. */
mcr_status studio_data(studio *s, const mcr_data **out);
/* A file within a request: its text or base64; NULL with a message: it has none. */
const studio_value *studio_file(studio *s, const studio_value *from);
/* The bytes that `v` of `from` stands for; *plain is to be freed. */
mcr_status studio_file_bytes(studio *s, const studio_value *from, const studio_value *v,
                             const char **bytes, size_t *count, unsigned char **plain);

/* model_file.c: the model file that the request brings, or that of the program's call; NULL with
 * MCR_OK: neither. Borrowed. */
mcr_status studio_model_file(studio *s, const mcr_model **out);
/* Its support vectors, as data. */
mcr_status studio_model_objects(studio *s, const mcr_data **out);
/* Describes the model that `from` is; *found 0: it is none. */
mcr_status studio_load_model(studio *s, const studio_value *from, int *found);
/* Describes the model of the program's call. */
mcr_status studio_given_model(studio *s);

/* Name, count and fields of data; values of two columns, of the objects that are shown. */
void studio_fields_json(studio *s, const mcr_data *data, const char *name);
mcr_status studio_points_json(studio *s, const mcr_data *data);

/* The kernel of the request; *out NULL with MCR_OK: it names none. To be freed. */
mcr_status studio_kernel(studio *s, mcr_kernel **out);
/* Learner and options of the request. To be closed. */
mcr_status studio_options(studio *s, mcr_options **out);

/* Numbers as base64 of their bytes (little-endian): as floats, and as bytes. */
mcr_status studio_put_floats(studio *s, const char *key, const double *value, int64_t count);
mcr_status studio_put_bytes(studio *s, const char *key, const void *bytes, size_t count);

/* Which objects are shown where there are more than `most`: evenly chosen. Returns how many; object
 * r is studio_shown_object(r, ...). */
int64_t studio_shown(int64_t n, int64_t most);
int64_t studio_shown_object(int64_t r, int64_t shown, int64_t n);

/* Points of the plane (or line) that the request asks for, as objects like those of `data`:
 * columns[0] and columns[1] vary, others are at their median. *out NULL with MCR_OK: no plane is
 * asked for. */
typedef struct studio_plane {
    int64_t nx, ny; /* ny 1: a line */
} studio_plane;
mcr_status studio_plane_data(studio *s, const mcr_data *data, studio_plane *plane, mcr_data **out);

#endif

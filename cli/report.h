/* report.h: how a model was trained, for people and for programs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <mercer/mercer.h>

#include "json.h"

/* Lines of a summary: learner, kernel, data, support vectors, objective, certificate, why training
 * ended, score on the training data. */
void cli_report_say(const mcr_report_fit *report);
/* Formats into text (32 bytes) only the digits that the error leaves: a nonnegative number with at
 * most three digits, or a bound if no digit is known; an objective with at most nine. */
const char *cli_short_text(char *text, double value, double error);
const char *cli_known_text(char *text, double value, double error);
/* The summary as keys of an object. */
void cli_report_json(cli_json *j, const mcr_model *model);
void cli_metrics_json(cli_json *j, const mcr_metrics *metrics);

#endif

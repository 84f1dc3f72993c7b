/* help.c: help texts generated from tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "help.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learner.h"
#include "text.h"

enum { OPTION_WIDTH = 24, LINE_WIDTH = 100, HELP_BYTES = 400 };

/* ---- verbs ------------------------------------------------------------------------------------*/

static const char tagline[] = "Kernel machines: any kernel, any learner, any kind of object.";
static const char first_steps[] = "mercer sample moons -o moons.csv\n"
                                  "mercer info moons.csv\n"
                                  "mercer fit svm moons.csv -k 'rbf(gamma=2)' -o moons.mercer\n"
                                  "mercer predict moons.mercer moons.csv -o labels.txt\n"
                                  "mercer check 'rbf(gamma=2) + 1' moons.csv\n"
                                  "mercer gram moons.csv -k 'rbf(gamma=2)' -o gram.npy";

static void put_heading(FILE *to, const char *text)
{
    fprintf(to, "\n%s%s:%s\n", cli_style_code(to, CLI_BOLD), text, cli_style_code(to, CLI_PLAIN));
}

static void put_indented(FILE *to, const char *lines)
{
    while (*lines) {
        int length = (int)strcspn(lines, "\n");
        fprintf(to, "  %.*s\n", length, lines);
        lines += length + (lines[length] == '\n');
    }
}

static void put_lines_json(cli_json *j, const char *key, const char *lines)
{
    char line[512];
    cli_json_list(j, key);
    while (*lines) {
        int length = (int)strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", length, lines);
        cli_json_text(j, NULL, line);
        lines += length + (lines[length] == '\n');
    }
    cli_json_end(j);
}

static int overview_json(void)
{
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_list(&j, "verbs");
    for (int i = 0; cli_verbs[i]; i++) {
        cli_json_object(&j, NULL);
        cli_json_text(&j, "name", cli_verbs[i]->name);
        cli_json_text(&j, "summary", cli_verbs[i]->summary);
        cli_json_end(&j);
    }
    cli_json_end(&j);
    cli_json_end(&j);
    return 0;
}

int cli_help_overview(cli *c, FILE *to)
{
    if (c->json_asked)
        return overview_json();
    fprintf(to, "usage: mercer VERB [WORDS] [OPTIONS]\n\n%s\n", tagline);
    put_heading(to, "Verbs");
    for (int i = 0; cli_verbs[i]; i++)
        fprintf(to, "  %-10s %s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
    put_heading(to, "Examples");
    put_indented(to, first_steps);
    fprintf(to, "\nmercer help VERB explains one of them.\n");
    return 0;
}

/* The help of an option with the words that it accepts. */
static void help_text(char *text, size_t capacity, const cli_option *o)
{
    size_t length = 0;
    text[0] = '\0';
    const char *word = o->words ? o->words(0) : NULL;
    for (int64_t i = 0; word && length < capacity; i++) {
        const char *next = o->words(i + 1);
        length += (size_t)snprintf(text + length, capacity - length, "%s%s", word,
                                   next ? ", " : "");
        word = next;
    }
    if (length < capacity)
        snprintf(text + length, capacity - length, "%s", o->help);
}

/* After the name of an option, with line breaks: a list of words can be long. */
static void put_wrapped(const char *text)
{
    size_t column = OPTION_WIDTH + 2;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column + 1 + length > LINE_WIDTH)
            column = (size_t)printf("\n  %*s", OPTION_WIDTH, "") - 1;
        column += (size_t)printf(" %.*s", (int)length, text);
        text += length + (text[length] == ' ');
    }
}

static void put_option(const cli_option *o)
{
    char help[HELP_BYTES];
    char left[64];
    int length = !o->letter   ? snprintf(left, sizeof left, "    --%s", o->name)
                 : o->name[1] ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                              : snprintf(left, sizeof left, "-%c", o->letter);
    if (o->type != CLI_FLAG && length < (int)sizeof left)
        snprintf(left + length, sizeof left - (size_t)length, " %s", o->argument);
    if (strlen(left) > OPTION_WIDTH)
        printf("  %s\n  %*s", left, OPTION_WIDTH, "");
    else
        printf("  %-*s", OPTION_WIDTH, left);
    help_text(help, sizeof help, o);
    if (o->words)
        put_wrapped(help);
    else
        printf(" %s", help);
    if (o->standard)
        printf(" (default: %s)", o->standard);
    putchar('\n');
}

static void option_json(cli_json *j, const cli_option *o)
{
    const char letter[2] = {o->letter, '\0'};
    char help[HELP_BYTES];
    help_text(help, sizeof help, o);
    cli_json_object(j, NULL);
    cli_json_text(j, "name", o->name);
    cli_json_text(j, "letter", o->letter ? letter : NULL);
    cli_json_text(j, "argument", o->argument);
    cli_json_text(j, "default", o->standard);
    cli_json_flag(j, "required", o->required);
    cli_json_flag(j, "repeats", o->type == CLI_LIST);
    cli_json_text(j, "help", help);
    cli_json_end(j);
}

/* `mercer fit svr --help` describes svr. */
static const char *usage_of(const cli *c, const cli_verb *verb, char *text, size_t capacity)
{
    static const char word[] = "LEARNER";
    const char *learner = c->learning.learner, *at = strstr(verb->usage, word);
    if (!learner || !at)
        return verb->usage;
    snprintf(text, capacity, "%.*s%s%s", (int)(at - verb->usage), verb->usage, learner,
             at + strlen(word));
    return text;
}

static const char *examples_of(const cli *c, const cli_verb *verb)
{
    const char *own = c->learning.learner ? cli_learner_examples(c->learning.learner) : NULL;
    return own ? own : verb->examples;
}

static int verb_json(cli *c, const cli_verb *verb)
{
    char usage[256];
    cli_group groups[CLI_GROUPS];
    int count = cli_verb_groups(verb, c, NULL, groups);
    cli_json j;
    cli_json_begin(&j, stdout);
    cli_json_text(&j, "name", verb->name);
    cli_json_text(&j, "summary", verb->summary);
    cli_json_text(&j, "usage", usage_of(c, verb, usage, sizeof usage));
    cli_json_text(&j, "about", verb->about);
    cli_json_list(&j, "options");
    for (int i = 0; i < count; i++)
        for (const cli_option *o = groups[i].options; o->name; o++)
            if (o->help) /* else a former name */
                option_json(&j, o);
    cli_json_end(&j);
    put_lines_json(&j, "examples", examples_of(c, verb));
    cli_json_end(&j);
    return 0;
}

int cli_help_verb(cli *c, const cli_verb *verb)
{
    char usage[256];
    cli_group groups[CLI_GROUPS];
    int count = cli_verb_groups(verb, c, NULL, groups);
    if (c->json_asked)
        return verb_json(c, verb);
    printf("usage: mercer %s%s%s [options]\n\n%s\n", verb->name, *verb->usage ? " " : "",
           usage_of(c, verb, usage, sizeof usage), verb->about);
    for (int i = 0; i < count; i++) {
        put_heading(stdout, groups[i].title);
        for (const cli_option *o = groups[i].options; o->name; o++)
            if (o->help)
                put_option(o);
    }
    put_heading(stdout, "Examples");
    put_indented(stdout, examples_of(c, verb));
    return 0;
}

int cli_help_version(cli *c)
{
    if (c->json_asked) {
        cli_json j;
        cli_json_begin(&j, stdout);
        cli_json_text(&j, "version", mcr_version());
        cli_json_end(&j);
    } else {
        printf("mercer %s\n", mcr_version());
    }
    return 0;
}

/* ---- parameters -------------------------------------------------------------------------------*/

/* "integer from 1 to 5", "number > 0", "presence|count". */
static void describe_values(char *text, size_t capacity, const mcr_param *p)
{
    const char *noun = p->type == MCR_INT ? "integer" : p->type == MCR_REAL ? "number" : "numbers";
    int low = isfinite(p->min), high = isfinite(p->max);
    const char *above = p->flags & MCR_MIN_OPEN ? ">" : ">=";
    const char *below = p->flags & MCR_MAX_OPEN ? "<" : "<=";
    if (p->type == MCR_FLAG)
        snprintf(text, capacity, "yes|no");
    else if (p->type == MCR_CHOICE)
        snprintf(text, capacity, "%s", p->choices);
    else if (p->type == MCR_TEXT)
        snprintf(text, capacity, "text");
    else if (low && high)
        snprintf(text, capacity, "%s %s %.6g, %s %.6g", noun, above, p->min, below, p->max);
    else if (low || high)
        snprintf(text, capacity, "%s %s %.6g", noun, low ? above : below, low ? p->min : p->max);
    else
        snprintf(text, capacity, "%s", noun);
}

void cli_help_params(const mcr_param *params)
{
    static const char *const head[] = {"parameter", "values", "default"};
    char values[128];
    int name = (int)strlen(head[0]), value = (int)strlen(head[1]), standard = (int)strlen(head[2]);
    for (const mcr_param *p = params; p && p->name; p++) {
        if (p->flags & MCR_OLD_NAME)
            continue;
        describe_values(values, sizeof values, p);
        int n = (int)strlen(p->name), v = (int)strlen(values);
        int s = p->standard ? (int)strlen(p->standard) : 1;
        name = n > name ? n : name;
        value = v > value ? v : value;
        standard = s > standard ? s : standard;
    }
    printf("%s%-*s  %-*s  %-*s  meaning%s\n", cli_style_code(stdout, CLI_BOLD), name, head[0],
           value, head[1], standard, head[2], cli_style_code(stdout, CLI_PLAIN));
    for (const mcr_param *p = params; p && p->name; p++) {
        if (p->flags & MCR_OLD_NAME)
            continue;
        describe_values(values, sizeof values, p);
        printf("%-*s  %-*s  %-*s  %s\n", name, p->name, value, values, standard,
               p->standard ? p->standard : "-", p->help ? p->help : "");
    }
}

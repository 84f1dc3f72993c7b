/* options.c: the parser of options and words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "suggest.h"

/* An option as written in the call: "--threads" or "-k", for messages. */
typedef struct given {
    const cli_option *option;
    const cli_group *group;
    char name[64];
    const char *value;
} given;

static void *place(const cli_group *group, const cli_option *option)
{
    return (char *)group->values + option->offset;
}

/* ---- values -----------------------------------------------------------------------------------*/

/* The program never calls setlocale, so strtod expects a decimal point. */
static int read_number(const char *text, double *value, const char **rest)
{
    char *end;
    if (isspace((unsigned char)text[0]))
        return 0;
    *value = strtod(text, &end);
    *rest = end;
    return end != text && !isnan(*value);
}

static int out_of_limits(cli *c, const given *g, double value)
{
    const cli_option *o = g->option;
    if (o->min == 0 && o->max == 0)
        return 0;
    if (value < o->min)
        return cli_refuse(c, "%s: %s is too small (at least %.15g)", g->name, g->value, o->min);
    if (value > o->max)
        return cli_refuse(c, "%s: %s is too large (at most %.15g)", g->name, g->value, o->max);
    return 0;
}

static int set_integer(cli *c, const given *g, int64_t *to)
{
    char *end;
    errno = 0;
    long long value = strtoll(g->value, &end, 10);
    if (end == g->value || *end || isspace((unsigned char)g->value[0])) {
        /* 1e4 is an integer, too. */
        const char *rest;
        double real;
        if (!read_number(g->value, &real, &rest) || *rest || real != floor(real) ||
            fabs(real) > 9e15)
            return cli_refuse(c, "%s: \"%s\" is not a whole number", g->name, g->value);
        value = (long long)real;
    } else if (errno == ERANGE) {
        return cli_refuse(c, "%s: %s does not fit in 64 bits", g->name, g->value);
    }
    int bad = out_of_limits(c, g, (double)value);
    if (bad)
        return bad;
    *to = value;
    return 0;
}

static int set_real(cli *c, const given *g, double *to)
{
    const char *rest;
    double value;
    if (!read_number(g->value, &value, &rest) || *rest)
        return cli_refuse(c, "%s: \"%s\" is not a number", g->name, g->value);
    int bad = out_of_limits(c, g, value);
    if (bad)
        return bad;
    *to = value;
    return 0;
}

static int set_bytes(cli *c, const given *g, size_t *to)
{
    static const char units[] = "KMGT";
    const char *rest = NULL;
    double value = 0;
    int good = read_number(g->value, &value, &rest) && isfinite(value);
    const char *unit = good && *rest ? strchr(units, toupper((unsigned char)*rest)) : NULL;
    if (unit) {
        value = ldexp(value, 10 * (int)(unit - units + 1));
        rest++;
    }
    if (good && (strcmp(rest, "B") == 0 || (unit && strcmp(rest, "iB") == 0)))
        rest += strlen(rest);
    if (!good || *rest)
        return cli_refuse(c, "%s: \"%s\" is not a size (write 500K, 64M or 2G)", g->name, g->value);
    if (value < 1)
        return cli_refuse(c, "%s: %s is too small", g->name, g->value);
    if (value >= (double)SIZE_MAX)
        return cli_refuse(c, "%s: %s is more than this computer can address", g->name, g->value);
    *to = (size_t)value;
    return 0;
}

static int set_seed(cli *c, const given *g, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(g->value, &end, 10);
    if (!isdigit((unsigned char)g->value[0]) || *end || errno == ERANGE || value == 0)
        return cli_refuse(c, "%s: \"%s\" is not a seed (a whole number from 1 to 2^64 - 1)",
                          g->name, g->value);
    *to = value;
    return 0;
}

/* The words of "a|b|c", one by one: *next is NULL after the last. */
static const char *next_choice(const char **next, char *word, size_t capacity)
{
    const char *from = *next;
    size_t length = strcspn(from, "|");
    *next = from[length] ? from + length + 1 : NULL;
    if (length >= capacity)
        length = capacity - 1;
    memcpy(word, from, length);
    word[length] = '\0';
    return word;
}

static int set_choice(cli *c, const given *g, int *to)
{
    char words[16][32];
    cli_suggestion near = {g->value, NULL, 0};
    int count = 0;
    for (const char *next = g->option->choices; next && count < 16; count++) {
        if (strcmp(next_choice(&next, words[count], sizeof words[count]), g->value) == 0) {
            *to = count;
            return 0;
        }
        cli_suggest(&near, words[count]);
    }
    if (near.nearest)
        return cli_refuse(c, "%s: unknown value \"%s\" (did you mean \"%s\"? one of %s)", g->name,
                          g->value, near.nearest, g->option->choices);
    return cli_refuse(c, "%s: unknown value \"%s\" (one of %s)", g->name, g->value,
                      g->option->choices);
}

void cli_list_add(cli_list *list, const char *item)
{
    const char **grown = cli_alloc((size_t)list->count + 2, sizeof *grown);
    if (list->count)
        memcpy(grown, list->item, (size_t)list->count * sizeof *grown);
    grown[list->count] = item;
    free(list->item);
    list->item = grown;
    list->count++;
}

static int set_value(cli *c, const given *g)
{
    void *to = place(g->group, g->option);
    switch (g->option->type) {
    case CLI_FLAG: *(int *)to = 1; return 0;
    case CLI_SWITCH:
    case CLI_TEXT: *(const char **)to = g->value; return 0;
    case CLI_LIST: cli_list_add(to, g->value); return 0;
    case CLI_INT: return set_integer(c, g, to);
    case CLI_REAL: return set_real(c, g, to);
    case CLI_BYTES: return set_bytes(c, g, to);
    case CLI_SEED: return set_seed(c, g, to);
    case CLI_CHOICE: return set_choice(c, g, to);
    }
    return 0;
}

static void set_absent(const cli_group *group, const cli_option *option)
{
    void *to = place(group, option);
    switch (option->type) {
    case CLI_FLAG: *(int *)to = 0; break;
    case CLI_SWITCH:
    case CLI_TEXT: *(const char **)to = NULL; break;
    case CLI_LIST: *(cli_list *)to = (cli_list){0}; break;
    case CLI_INT: *(int64_t *)to = INT64_MIN; break;
    case CLI_REAL: *(double *)to = NAN; break;
    case CLI_BYTES: *(size_t *)to = 0; break;
    case CLI_SEED: *(uint64_t *)to = 0; break;
    case CLI_CHOICE: *(int *)to = -1; break;
    }
}

/* ---- names ------------------------------------------------------------------------------------*/

int cli_option_is(const char *arg)
{
    return arg[0] == '-' && arg[1] && !isdigit((unsigned char)arg[1]) && arg[1] != '.';
}

const cli_option *cli_option_find(const cli_option *table, const char *arg)
{
    if (arg[0] != '-' || !arg[1])
        return NULL;
    size_t length = strcspn(arg, "=");
    for (const cli_option *o = table; o && o->name; o++) {
        if (arg[1] != '-' && o->letter == arg[1])
            return o;
        if (arg[1] == '-' && strlen(o->name) == length - 2 &&
            strncmp(arg + 2, o->name, length - 2) == 0)
            return o;
    }
    return NULL;
}

int cli_option_takes_next(const cli_option *option, const char *arg)
{
    if (option->type == CLI_FLAG)
        return 0;
    return arg[1] == '-' ? strchr(arg, '=') == NULL : arg[2] == '\0';
}

/* Options that users know from other programs, and the equivalents here, around the value. */
typedef struct habit {
    const char *name, *before, *after, *example;
} habit;

static const habit habits[] = {
    {"-c", "-C ", "", "10"},
    {"-g", "-k 'rbf(gamma=", ")'", "0.5"},
    {"--gamma", "-k 'rbf(gamma=", ")'", "0.5"},
    {"-d", "-k 'poly(degree=", ")'", "3"},
    {"--degree", "-k 'poly(degree=", ")'", "3"},
};

static const habit *find_habit(const char *arg)
{
    int is_long = arg[1] == '-';
    size_t length = is_long ? strcspn(arg, "=") : 2;
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (strlen(habits[i].name) == length && strncmp(habits[i].name, arg, length) == 0)
            return &habits[i];
    return NULL;
}

/* next: the following argument, which may be the value; NULL: none. */
static int refuse_habit(cli *c, const habit *h, const char *arg, const char *next)
{
    const char *text = arg + strlen(h->name), *rest;
    double value;
    text = *text == '=' ? text + 1 : *text ? text : next;
    if (!text || !read_number(text, &value, &rest) || (*rest && *rest != ':'))
        text = h->example;
    return cli_refuse(c, "unknown option \"%s\" (did you mean %s%s%s?)", h->name, h->before, text,
                      h->after);
}

static int refuse_unknown(cli *c, const cli_group *groups, int count, const char *arg,
                          const char *next)
{
    char word[64], wanted[64];
    const habit *h = c->verb->traits & CLI_LEARNS ? find_habit(arg) : NULL;
    if (h)
        return refuse_habit(c, h, arg, next);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(arg, "="), arg);
    cli_suggestion near = {word + strspn(word, "-"), NULL, 0};
    for (int i = 0; i < count; i++)
        for (const cli_option *o = groups[i].options; o && o->name; o++)
            cli_suggest(&near, o->name);
    if (word[1] != '-')
        word[2] = '\0';
    if (!near.nearest || (word[1] != '-' && strlen(arg) == 2))
        return cli_refuse(c, "unknown option \"%s\" (see mercer help %s)", word, c->verb->name);
    snprintf(wanted, sizeof wanted, "--%s", near.nearest);
    return cli_refuse(c, "unknown option \"%.*s\" (did you mean \"%s\"?)", (int)strcspn(arg, "="),
                      arg, wanted);
}

/* ---- the call ---------------------------------------------------------------------------------*/

static given find_option(const cli_group *groups, int count, const char *arg)
{
    given g = {0};
    for (int i = 0; i < count && !g.option; i++) {
        g.option = cli_option_find(groups[i].options, arg);
        g.group = &groups[i];
    }
    return g;
}

static int is_yes_or_no(const char *arg)
{
    return strcmp(arg, "yes") == 0 || strcmp(arg, "no") == 0;
}

/* Parses the option at argv[*at] with its value, and moves *at to the last argument used. */
static int take_option(cli *c, const cli_group *groups, int count, int argc, char **argv, int *at)
{
    const char *arg = argv[*at];
    given g = find_option(groups, count, arg);
    if (!g.option)
        return refuse_unknown(c, groups, count, arg, *at + 1 < argc ? argv[*at + 1] : NULL);
    int is_long = arg[1] == '-';
    snprintf(g.name, sizeof g.name, "%.*s", is_long ? (int)strcspn(arg, "=") : 2, arg);
    if (g.option->type == CLI_FLAG) {
        if (arg[strlen(g.name)])
            return cli_refuse(c, "%s takes no value", g.name);
        return set_value(c, &g);
    }
    if (!cli_option_takes_next(g.option, arg))
        g.value = is_long ? strchr(arg, '=') + 1 : arg + 2;
    else if (g.option->type == CLI_SWITCH)
        g.value = *at + 1 < argc && is_yes_or_no(argv[*at + 1]) ? argv[++*at] : "yes";
    else if (*at + 1 < argc && !find_option(groups, count, argv[*at + 1]).option)
        g.value = argv[++*at];
    else
        return cli_refuse(c, "%s needs a value: %s %s", g.name, g.name, g.option->argument);
    if (!g.value[0])
        return cli_refuse(c, "%s: the value is empty", g.name);
    return set_value(c, &g);
}

static int set_defaults(cli *c, const cli_group *groups, int count)
{
    for (int i = 0; i < count; i++)
        for (const cli_option *o = groups[i].options; o && o->name; o++) {
            given g = {.option = o, .group = &groups[i], .value = o->standard};
            set_absent(&groups[i], o);
            snprintf(g.name, sizeof g.name, "--%s", o->name);
            int bad = o->standard ? set_value(c, &g) : 0;
            if (bad)
                return bad;
        }
    return 0;
}

static int is_absent(const cli_group *group, const cli_option *o)
{
    return o->type == CLI_TEXT && !*(const char **)place(group, o);
}

static int check_required(cli *c, const cli_group *groups, int count)
{
    for (int i = 0; i < count; i++)
        for (const cli_option *o = groups[i].options; o && o->name; o++)
            if (o->required && is_absent(&groups[i], o))
                return o->letter ? cli_refuse(c, "-%c %s is missing (%s)", o->letter, o->argument,
                                              o->help)
                                 : cli_refuse(c, "--%s %s is missing (%s)", o->name, o->argument,
                                              o->help);
    return 0;
}

static int check_words(cli *c, const cli_words *words)
{
    int most = 0;
    while (c->verb->words && c->verb->words[most])
        most++;
    int any_number = most > 0 && strstr(c->verb->words[most - 1], "...") != NULL;
    if (words->count > most && !any_number)
        return cli_refuse(c, "unexpected word \"%s\" (usage: mercer %s%s%s)", words->word[most],
                          c->verb->name, *c->verb->usage ? " " : "", c->verb->usage);
    if (words->count < c->verb->min_words)
        return cli_refuse(c, "%s is missing (usage: mercer %s%s%s)", c->verb->words[words->count],
                          c->verb->name, *c->verb->usage ? " " : "", c->verb->usage);
    return 0;
}

int cli_options_parse(cli *c, const cli_group *groups, int count, int argc, char **argv,
                      cli_words *words)
{
    words->word = cli_alloc((size_t)argc + 1, sizeof *words->word);
    words->count = 0;
    int bad = set_defaults(c, groups, count);
    int only_words = 0;
    for (int i = 0; !bad && i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0)
            only_words = 1;
        else if (!only_words && cli_option_is(argv[i]))
            bad = take_option(c, groups, count, argc, argv, &i);
        else
            words->word[words->count++] = argv[i];
    }
    if (!bad)
        bad = check_words(c, words);
    if (!bad)
        bad = check_required(c, groups, count);
    return bad;
}

void cli_options_free(const cli_group *groups, int count, cli_words *words)
{
    for (int i = 0; i < count; i++)
        for (const cli_option *o = groups[i].options; o && o->name; o++)
            if (o->type == CLI_LIST)
                free(((cli_list *)place(&groups[i], o))->item);
    free(words->word);
    *words = (cli_words){0};
}

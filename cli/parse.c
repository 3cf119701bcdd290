/* The command line: options and words become the operation's arguments. */
#include "cli/session.h"

#include "base/memory.h"
#include "base/nearest.h"

#include <stdlib.h>

typedef struct global_option {
    const char *name, *value;
} global_option;

static const global_option globals[] = {{"store", "DIR"},
                                        {"namespace", "NAME"},
                                        {"format", "FORMAT"},
                                        {"wait", "SECONDS"},
                                        {"help", NULL}};

gf_status gf_session_add(gf_session *s, const char *name, const char *value, gf_error *err)
{
    if (s->n_arguments == s->argument_capacity) {
        size_t capacity = s->argument_capacity ? s->argument_capacity * 2 : 16;
        gf_argument *grown = gf_realloc(s->arguments, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "arguments");
        s->arguments = grown;
        s->argument_capacity = capacity;
    }
    s->arguments[s->n_arguments++] = (gf_argument){gf_slice_str(name), gf_slice_str(value)};
    return GF_OK;
}

static gf_status keep_word(gf_session *s, const char *word, gf_error *err)
{
    if (s->n_words == s->word_capacity) {
        size_t capacity = s->word_capacity ? s->word_capacity * 2 : 16;
        const char **grown = gf_realloc(s->words, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "arguments");
        s->words = grown;
        s->word_capacity = capacity;
    }
    s->words[s->n_words++] = word;
    return GF_OK;
}

/* ---- options ----------------------------------------------------------------------------------
 */

static bool is_positional(const gf_command *c, const char *argument)
{
    for (size_t i = 0; i < c->n_positionals; i++)
        if (c->positionals[i].argument && strcmp(c->positionals[i].argument, argument) == 0)
            return true;
    return false;
}

/* Whether the option is known, and whether it takes a value. */
static bool look_up(const gf_session *s, gf_slice name, bool *takes_value, const char **stored)
{
    const gf_command *c = s->command;
    for (size_t i = 0; i < GF_COUNT(globals); i++)
        if (gf_slice_equal(name, gf_slice_str(globals[i].name))) {
            *takes_value = globals[i].value != NULL;
            *stored = globals[i].name;
            return true;
        }
    for (size_t i = 0; i < c->n_options; i++)
        if (gf_slice_equal(name, gf_slice_str(c->options[i].name))) {
            *takes_value = c->options[i].value != NULL;
            *stored = c->options[i].name;
            return true;
        }
    for (size_t i = 0; i < s->operation->n_parameters; i++) {
        const gf_parameter *p = &s->operation->parameters[i];
        if (is_positional(c, p->name) || !gf_slice_equal(name, gf_slice_str(p->name))) continue;
        *takes_value = p->kind != GF_FLAG;
        *stored = p->name;
        return true;
    }
    return false;
}

static gf_status unknown_option(const gf_session *s, gf_slice name, gf_error *err)
{
    enum { MOST = 48 };
    const char *names[MOST];
    size_t n = 0;
    for (size_t i = 0; i < GF_COUNT(globals); i++)
        names[n++] = globals[i].name;
    for (size_t i = 0; i < s->command->n_options && n < MOST; i++)
        names[n++] = s->command->options[i].name;
    for (size_t i = 0; i < s->operation->n_parameters && n < MOST; i++)
        if (!is_positional(s->command, s->operation->parameters[i].name))
            names[n++] = s->operation->parameters[i].name;
    const char *nearest = gf_nearest(name, names, n);
    return gf_fail(err, GF_EINVAL, "there is no option --%.*s%s%s%s", GF_SLICE_ARG(name),
                   nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "");
}

static gf_status take_wait(gf_session *s, const char *value, gf_error *err)
{
    char *end;
    s->wait_seconds = strtod(value, &end);
    if (*end || end == value || !(s->wait_seconds >= 0) || s->wait_seconds > 86400)
        return gf_fail(err, GF_EINVAL, "--wait: \"%s\" is not a number of seconds", value);
    return GF_OK;
}

static bool is_own(const gf_command *c, const char *name)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (strcmp(c->options[i].name, name) == 0) return true;
    return false;
}

static gf_status take_option(gf_session *s, const char *name, const char *value, gf_error *err)
{
    struct {
        const char *name, **place;
    } texts[] = {{"store", &s->store_path}, {"namespace", &s->name_space},
                 {"format", &s->format},    {"progress", &s->progress},
                 {"o", &s->out_path},       {"rejects", &s->rejects},
                 {"ids", &s->file},         {"labels", &s->file}};
    for (size_t i = 0; i < GF_COUNT(texts); i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].place = value;
            return GF_OK;
        }
    if (strcmp(name, "wait") == 0) return take_wait(s, value, err);
    if (strcmp(name, "help") == 0) {
        s->help = true;
        return GF_OK;
    }
    if (strcmp(name, "force") == 0 && is_own(s->command, name)) {
        s->force_output = true;
        return GF_OK;
    }
    return gf_session_add(s, name, value, err);
}

/* "--name=value", "--name value", "-o value"; *used words are taken. */
static gf_status parse_option(gf_session *s, int n_words, char **words, int *used, gf_error *err)
{
    const char *word = words[0] + (words[0][1] == '-' ? 2 : 1);
    const char *equals = strchr(word, '=');
    gf_slice name = gf_slice_of(word, equals ? (size_t)(equals - word) : strlen(word));
    bool takes_value;
    const char *stored, *value = "true";
    *used = 1;
    if (!look_up(s, name, &takes_value, &stored)) return unknown_option(s, name, err);
    if (!takes_value && equals) return gf_fail(err, GF_EINVAL, "--%s takes no value", stored);
    if (takes_value) {
        if (!equals && n_words < 2) return gf_fail(err, GF_EINVAL, "--%s needs a value", stored);
        value = equals ? equals + 1 : words[1];
        *used = equals ? 1 : 2;
    }
    return take_option(s, stored, value, err);
}

/* ---- words ------------------------------------------------------------------------------------
 */

static bool repeats(const gf_positional *p)
{
    size_t n = strlen(p->name);
    return n > 3 && strcmp(p->name + n - 3, "...") == 0;
}

static gf_status take_word(gf_session *s, const char *word, size_t *at, gf_error *err)
{
    const gf_command *c = s->command;
    if (*at >= c->n_positionals) return gf_fail(err, GF_EINVAL, "one word too many: \"%s\"", word);
    const gf_positional *p = &c->positionals[*at];
    if (!repeats(p)) ++*at;
    return p->argument ? gf_session_add(s, p->argument, word, err) : keep_word(s, word, err);
}

static gf_status check_words(const gf_session *s, size_t at, size_t n_words, gf_error *err)
{
    for (size_t i = at; i < s->command->n_positionals; i++) {
        const gf_positional *p = &s->command->positionals[i];
        if (p->optional || (repeats(p) && n_words > i)) continue;
        return gf_fail(err, GF_EINVAL, "%s is missing", p->name);
    }
    return GF_OK;
}

gf_status gf_session_parse(gf_session *s, int n_words, char **words, gf_error *err)
{
    size_t at = 0, n = 0;
    bool only_words = false;
    gf_status st = GF_OK;
    for (int i = 0; i < n_words && st == GF_OK;) {
        int used = 1;
        if (!only_words && strcmp(words[i], "--") == 0)
            only_words = true;
        else if (!only_words && words[i][0] == '-' && words[i][1])
            st = parse_option(s, n_words - i, words + i, &used, err);
        else {
            st = take_word(s, words[i], &at, err);
            n++;
        }
        i += used;
    }
    if (st == GF_OK && !s->help) st = check_words(s, at, n, err);
    return st;
}

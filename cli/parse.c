/* The command line: options and words become the operation's arguments. */
#include "cli/session.h"

#include "base/memory.h"
#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

typedef struct option {
    const char *name;
    bool takes_value;
} option;

static const option globals[] = {{"store", true},     {"server", true}, {"token-file", true},
                                 {"namespace", true}, {"format", true}, {"wait", true},
                                 {"help", false}};

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

/* ---- options --------------------------------------------------------------------------------- */

/* The i-th option: of every command, of this one, and of its operation but for what words give. */
static bool option_at(const gf_session *s, size_t i, option *o)
{
    const gf_command *c = s->command;
    if (i < GF_COUNT(globals)) {
        *o = globals[i];
        return true;
    }
    i -= GF_COUNT(globals);
    if (i < c->n_options) {
        *o = (option){c->options[i].name, c->options[i].value != NULL};
        return true;
    }
    i -= c->n_options;
    for (size_t p = 0; p < s->operation->n_parameters; p++) {
        const gf_parameter *parameter = &s->operation->parameters[p];
        if (gf_command_has_word(c, parameter->name) || i-- > 0) continue;
        *o = (option){parameter->name, parameter->kind != GF_FLAG};
        return true;
    }
    return false;
}

static bool find_option(const gf_session *s, gf_slice name, option *o)
{
    for (size_t i = 0; option_at(s, i, o); i++)
        if (gf_slice_equal(name, gf_slice_str(o->name))) return true;
    return false;
}

static gf_status unknown_option(const gf_session *s, const char *dashes, gf_slice name,
                                gf_error *err)
{
    enum { MOST = 48 };
    const char *names[MOST];
    size_t n = 0;
    option o;
    while (n < MOST && option_at(s, n, &o))
        names[n++] = o.name;
    const char *nearest = gf_nearest(name, names, n);
    if (!nearest && s->command->n_positionals)
        return gf_fail(err, GF_EINVAL,
                       "there is no option %s%.*s; a word that begins with - goes behind --",
                       dashes, GF_SLICE_ARG(name));
    return gf_fail(err, GF_EINVAL, "there is no option %s%.*s%s%s%s", dashes, GF_SLICE_ARG(name),
                   nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "");
}

static gf_status take_wait(gf_session *s, const char *value, gf_error *err)
{
    char *end;
    s->wait_seconds = strtod(value, &end);
    if (*end || end == value || !(s->wait_seconds >= 0) || s->wait_seconds > 86400)
        return gf_fail(err, GF_EINVAL, "--wait: \"%s\" is not a number of seconds", value);
    s->wait_given = true;
    return GF_OK;
}

static gf_status take_option(gf_session *s, const char *name, const char *value, gf_error *err)
{
    struct {
        const char *name, **place;
    } texts[] = {{"store", &s->store_option},
                 {"namespace", &s->namespace_option},
                 {"server", &s->server_option},
                 {"token-file", &s->token_option},
                 {"format", &s->format},
                 {"progress", &s->progress_option},
                 {"o", &s->out_path},
                 {"rejects", &s->rejects},
                 {"ids", &s->file},
                 {"labels", &s->file},
                 {"matrix", &s->file},
                 {"schema", &s->file}};
    for (size_t i = 0; i < GF_COUNT(texts); i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].place = strcmp(name, "o") == 0 && strcmp(value, "-") == 0 ? NULL : value;
            /* The command names a file; to the operation it is bytes that come or go. */
            return strcmp(name, "matrix") == 0 ? gf_session_add(s, name, "true", err) : GF_OK;
        }
    if (strcmp(name, "wait") == 0) return take_wait(s, value, err);
    if (strcmp(name, "help") == 0) {
        s->help = true;
        return GF_OK;
    }
    if (strcmp(name, "text") == 0 && gf_command_has_option(s->command, name)) {
        s->file = value;
        return GF_OK;
    }
    if (strcmp(name, "force") == 0 && gf_command_has_option(s->command, name)) {
        s->force = true;
        return GF_OK;
    }
    return gf_session_add(s, name, value, err);
}

/* "--name=value", "--name value", "-o value"; *used words are taken. */
static gf_status parse_option(gf_session *s, int n_words, char **words, int *used, gf_error *err)
{
    bool two = words[0][1] == '-';
    const char *word = words[0] + (two ? 2 : 1), *equals = strchr(word, '='), *value = "true";
    gf_slice name = gf_slice_of(word, equals ? (size_t)(equals - word) : strlen(word));
    option o;
    *used = 1;
    if (!two && gf_slice_equal(name, GF_SLICE("h")))
        name = GF_SLICE("help");
    else if (!two && name.len != 1)
        return unknown_option(s, "-", name, err);
    if (!find_option(s, name, &o)) return unknown_option(s, two ? "--" : "-", name, err);
    const char *dashes = strlen(o.name) == 1 ? "-" : "--";
    if (!o.takes_value && equals)
        return gf_fail(err, GF_EINVAL, "%s%s takes no value", dashes, o.name);
    if (o.takes_value) {
        if (!equals && n_words < 2)
            return gf_fail(err, GF_EINVAL, "%s%s needs a value", dashes, o.name);
        value = equals ? equals + 1 : words[1];
        *used = equals ? 1 : 2;
    }
    return take_option(s, o.name, value, err);
}

/* ---- words ----------------------------------------------------------------------------------- */

static gf_status take_word(gf_session *s, const char *word, size_t *at, gf_error *err)
{
    const gf_command *c = s->command;
    if (*at >= c->n_positionals) return gf_fail(err, GF_EINVAL, "one word too many: \"%s\"", word);
    const gf_positional *p = &c->positionals[*at];
    if (!p->repeats) ++*at;
    return p->argument ? gf_session_add(s, p->argument, word, err) : keep_word(s, word, err);
}

/*
 * "--all" stands in for COLLECTION, wherever it comes among the words; so the first word is then
 * that of the next place.
 */
static bool has_all(const gf_session *s, int n_words, char **words)
{
    const gf_command *c = s->command;
    option o;
    if (!c->n_positionals || c->positionals[0].optional || !c->positionals[0].argument ||
        strcmp(c->positionals[0].argument, "collection") != 0 ||
        !find_option(s, GF_SLICE("all"), &o))
        return false;
    for (int i = 0; i < n_words && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--all") == 0) return true;
    return false;
}

static gf_status check_words(const gf_session *s, size_t at, size_t n_words, gf_error *err)
{
    for (size_t i = at; i < s->command->n_positionals; i++) {
        const gf_positional *p = &s->command->positionals[i];
        if (p->optional || (p->repeats && n_words > i)) continue;
        return gf_fail(err, GF_EINVAL, "%s is missing", p->name);
    }
    return GF_OK;
}

gf_status gf_session_parse(gf_session *s, int n_words, char **words, gf_error *err)
{
    size_t at = has_all(s, n_words, words) ? 1 : 0, n = at;
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

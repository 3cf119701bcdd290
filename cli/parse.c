/* The command line: options and words become the operation's arguments. */
#include "cli/session.h"

#include "base/grow.h"
#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

static gf_status keep_word(gf_session *s, const char *word, gf_error *err)
{
    if (!gf_grow(&s->words, &s->word_capacity, s->n_words + 1, sizeof *s->words))
        return gf_fail_memory(err, "arguments");
    s->words[s->n_words++] = word;
    return GF_OK;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool find_option(const gf_session *s, gf_slice name, gf_option *o)
{
    for (size_t i = 0; gf_command_option(s->command, i, o); i++)
        if (gf_slice_equal(name, gf_slice_str(o->name))) return true;
    return false;
}

/*
 * k=20 and --k 20 are no words and options of any command: "k" is a key of a configuration, which
 * `config set` sets, and `rebuild --set` for once. GF_OK where `name` is no such key.
 */
static gf_status refuse_setting(const gf_session *s, const char *word, gf_slice name,
                                const char *value, gf_error *err)
{
    size_t n;
    const gf_setting *settings = gf_settings(&n);
    gf_slice collection = gf_session_argument(s, "collection");
    gf_option set;
    bool once = find_option(s, GF_SLICE("set"), &set);
    if (collection.len == 0) collection = GF_SLICE("COLLECTION");
    for (size_t i = 0; i < n; i++) {
        const char *key = settings[i].name;
        if (!gf_slice_equal(name, gf_slice_str(key))) continue;
        return once ? gf_fail(err, GF_EINVAL,
                              "%s: a configuration has that key; for this time alone: --set %s=%s; "
                              "to stay: grouperfish config set %.*s %s=%s",
                              word, key, value, GF_SLICE_ARG(collection), key, value)
                    : gf_fail(err, GF_EINVAL,
                              "%s: a configuration has that key; set it with: grouperfish config "
                              "set %.*s %s=%s",
                              word, GF_SLICE_ARG(collection), key, value);
    }
    return GF_OK;
}

/* word: the name as it was written, with the dashes before it. */
static gf_status unknown_option(const gf_session *s, const char *dashes, const char *word,
                                const char *value, gf_slice name, gf_error *err)
{
    enum { MOST = 48 };
    gf_status st = refuse_setting(s, word, name, value ? value : "VALUE", err);
    if (st != GF_OK) return st;
    const char *names[MOST];
    size_t n = 0;
    gf_option o;
    while (n < MOST && gf_command_option(s->command, n, &o))
        names[n++] = o.name;
    const char *nearest = gf_nearest(name, names, n);
    if (!nearest && s->command->n_positionals && *dashes)
        return gf_fail(err, GF_EINVAL,
                       "there is no option %s%.*s; a word that begins with - goes behind --",
                       dashes, GF_SLICE_ARG(name));
    return gf_fail(err, GF_EINVAL, "there is no option %s%.*s%s%s%s%s", dashes, GF_SLICE_ARG(name),
                   nearest ? "; did you mean " : "", nearest ? (*dashes ? "--" : "") : "",
                   nearest ? nearest : "", nearest ? "?" : "");
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

static gf_status take_global_option(gf_session *s, const char *name, const char *value,
                                    gf_error *err)
{
    const struct {
        const char *name, **place;
    } texts[] = {{"store", &s->store_option},
                 {"namespace", &s->namespace_option},
                 {"server", &s->server_option},
                 {"token-file", &s->token_option},
                 {"format", &s->format}};
    for (size_t i = 0; i < GF_COUNT(texts); i++)
        if (strcmp(name, texts[i].name) == 0) {
            *texts[i].place = value;
            return GF_OK;
        }
    if (strcmp(name, "wait") == 0) return take_wait(s, value, err);
    if (strcmp(name, "read-only") == 0)
        s->read_only = true;
    else if (strcmp(name, "bom") == 0)
        s->bom = true;
    else if (strcmp(name, "no-defuse") == 0)
        s->no_defuse = true;
    else
        s->help = true;
    return GF_OK;
}

/* The command uses a file; to the operation it is bytes, and a flag says that they are wanted. */
static gf_status take_file(gf_session *s, const char *name, const char *value, gf_error *err)
{
    s->file = value;
    for (size_t i = 0; i < s->operation->n_parameters; i++) {
        const gf_parameter *p = &s->operation->parameters[i];
        if (p->kind == GF_PARAMETER_FLAG && strcmp(p->name, name) == 0)
            return gf_session_add(s, name, "true", err);
    }
    return GF_OK;
}

static gf_status keep_option(gf_session *s, const char *name, const char *value, gf_error *err)
{
    if (!gf_grow(&s->kept_options, &s->kept_capacity, s->n_kept + 1, sizeof *s->kept_options))
        return gf_fail_memory(err, "options");
    s->kept_options[s->n_kept++] = (gf_kept_option){name, value ? value : ""};
    return GF_OK;
}

static gf_status take_option(gf_session *s, const gf_option *o, const char *value, gf_error *err)
{
    if (!o->own) return gf_session_add(s, o->name, value, err);
    switch (o->own->use) {
    case GF_OPTION_GLOBAL:
        return take_global_option(s, o->name, value, err);
    case GF_OPTION_OUT:
        s->out_path = strcmp(value, "-") == 0 ? NULL : value;
        break;
    case GF_OPTION_FORCE:
        s->force = true;
        break;
    case GF_OPTION_REJECTS:
        s->rejects = value;
        break;
    case GF_OPTION_PROGRESS:
        s->progress_option = value;
        break;
    case GF_OPTION_LINKS:
        s->follow_links = true;
        break;
    case GF_OPTION_FILE:
        return take_file(s, o->name, value, err);
    case GF_OPTION_KEPT:
        return keep_option(s, o->name, value, err);
    }
    return GF_OK;
}

gf_status gf_session_take_option(gf_session *s, const char *name, const char *value, gf_error *err)
{
    gf_option o;
    if (!find_option(s, gf_slice_str(name), &o))
        return unknown_option(s, "", name, value, gf_slice_str(name), err);
    if (o.value) return take_option(s, &o, value, err);
    if (strcmp(value, "false") == 0) return GF_OK;
    if (strcmp(value, "true") == 0) return take_option(s, &o, value, err);
    return gf_fail(err, GF_EINVAL, "%s is either true or false", name);
}

/* "--name=value", "--name value", "-o value"; *used is the number of words. */
static gf_status parse_option(gf_session *s, int n_words, char **words, int *used, gf_error *err)
{
    bool two = words[0][1] == '-';
    const char *word = words[0] + (two ? 2 : 1), *equals = strchr(word, '='), *value = "true";
    gf_slice name = gf_slice_of(word, equals ? (size_t)(equals - word) : strlen(word));
    gf_option o;
    const char *next = equals ? equals + 1 : n_words > 1 && words[1][0] != '-' ? words[1] : NULL;
    *used = 1;
    if (!two && gf_slice_equal(name, GF_SLICE("h")))
        name = GF_SLICE("help");
    else if (!two && name.len != 1)
        return unknown_option(s, "-", words[0], next, name, err);
    if (!find_option(s, name, &o))
        return unknown_option(s, two ? "--" : "-", words[0], next, name, err);
    const char *dashes = strlen(o.name) == 1 ? "-" : "--";
    if (!o.value && equals) return gf_fail(err, GF_EINVAL, "%s%s takes no value", dashes, o.name);
    if (o.value) {
        if (!equals && n_words < 2)
            return gf_fail(err, GF_EINVAL, "%s%s needs a value", dashes, o.name);
        value = equals ? equals + 1 : words[1];
        *used = equals ? 1 : 2;
    }
    return take_option(s, &o, value, err);
}

/* ---- words ----------------------------------------------------------------------------------- */

static gf_status take_word(gf_session *s, const char *word, size_t *at, gf_error *err)
{
    const gf_command *c = s->command;
    if (*at >= c->n_positionals) {
        const char *equals = strchr(word, '=');
        gf_slice name = gf_slice_of(word, equals ? (size_t)(equals - word) : 0);
        gf_status st = refuse_setting(s, word, name, equals ? equals + 1 : "", err);
        return st != GF_OK ? st : gf_fail(err, GF_EINVAL, "one word too many: \"%s\"", word);
    }
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
    gf_option o;
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

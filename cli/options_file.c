#include "cli/options_file.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usual_path[] = "/etc/grouperfish.conf";

typedef struct reading {
    gf_session *session;
    const char *path;
    unsigned line;
    const char *section; /* "" before the first: of every command */
    /* From the command line: */
    size_t n_given; /* arguments */
    bool format_given, wait_given;
} reading;

static gf_status refuse(const reading *r, const char *what, const char *name, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "%s:%u: %s \"%s\"", r->path, r->line, what, name);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The text without blanks at its ends; it is cut in place. */
static char *trim(char *text)
{
    size_t n = strlen(text);
    while (n && is_blank(text[n - 1]))
        text[--n] = 0;
    while (is_blank(*text))
        text++;
    return text;
}

static bool is_command(const char *name)
{
    gf_command_cursor cursor = {0, 0};
    const gf_command *c;
    const char *heading;
    while ((c = gf_command_next(&cursor, &heading)))
        if (strcmp(c->name, name) == 0) return true;
    return false;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Keep a value of an option of every command where the command line has none. */
static gf_status take_global(reading *r, const char *key, const char *value, gf_error *err)
{
    gf_session *s = r->session;
    const struct {
        const char *name, **place;
    } kept[] = {{"store", &s->kept.store},
                {"namespace", &s->kept.name_space},
                {"server", &s->kept.server},
                {"token-file", &s->kept.token}};
    for (size_t i = 0; i < GF_COUNT(kept); i++)
        if (strcmp(key, kept[i].name) == 0) {
            *kept[i].place = value;
            return GF_OK;
        }
    bool given = strcmp(key, "format") == 0 ? r->format_given : r->wait_given;
    return given ? GF_OK : gf_session_take_option(s, key, value, err);
}

static bool is_global(const char *key)
{
    for (int i = 0; i < GF_COMMAND_GLOBAL_OPTIONS; i++) {
        const gf_own_option *o = &gf_command_global_options[i];
        if (o->value && strcmp(o->name, key) == 0) return true;
    }
    return false;
}

static bool is_given(const reading *r, const char *key)
{
    const gf_session *s = r->session;
    for (size_t i = 0; i < r->n_given; i++)
        if (gf_slice_equal(s->arguments[i].name, gf_slice_str(key))) return true;
    return (strcmp(key, "progress") == 0 && s->progress_option) ||
           (strcmp(key, "rejects") == 0 && s->rejects) || (strcmp(key, "force") == 0 && s->force);
}

static gf_status take_value(reading *r, const char *key, const char *value, gf_error *err)
{
    bool own = r->section[0] != 0, applies = strcmp(r->section, r->session->command->name) == 0;
    gf_error why = {GF_OK, ""};
    gf_status st = GF_OK;
    if (!own && !is_global(key))
        return gf_fail(err, GF_EINVAL,
                       "%s:%u: \"%s\" is no option of every command: write the line below the name "
                       "of its command, as [serve]",
                       r->path, r->line, key);
    if (own && !applies) return GF_OK;
    if (is_global(key))
        st = take_global(r, key, value, &why);
    else if (strlen(key) == 1) /* -o */
        st = gf_fail(&why, GF_EINVAL, "-%s belongs on the command line", key);
    else if (!is_given(r, key))
        st = gf_session_take_option(r->session, key, value, &why);
    return st == GF_OK ? st : gf_fail(err, st, "%s:%u: %s", r->path, r->line, why.message);
}

static gf_status take_line(reading *r, char *line, gf_error *err)
{
    line = trim(line);
    size_t n = strlen(line);
    if (n == 0 || line[0] == '#' || line[0] == ';') return GF_OK;
    if (line[0] == '[') {
        if (line[n - 1] != ']') return refuse(r, "there is no ] behind", line, err);
        line[n - 1] = 0;
        r->section = trim(line + 1);
        return is_command(r->section) ? GF_OK : refuse(r, "there is no command", r->section, err);
    }
    char *equals = strchr(line, '=');
    if (!equals) return refuse(r, "this is not \"option = value\":", line, err);
    *equals = 0;
    const char *key = trim(line), *value = trim(equals + 1);
    if (!*key) return refuse(r, "there is no option before =", value, err);
    return take_value(r, key, value, err);
}

gf_status gf_options_file_read(gf_session *s, gf_error *err)
{
    const char *named = getenv("GROUPERFISH_OPTIONS");
    reading r = {.session = s, .path = named ? named : usual_path, .section = ""};
    if (named ? !*named : access(usual_path, F_OK) != 0) return GF_OK;
    gf_status st = gf_file_read(r.path, &s->options_text, err);
    if (st != GF_OK) return st;
    if (s->options_text.len && memchr(s->options_text.ptr, 0, s->options_text.len))
        return gf_fail(err, GF_EINVAL, "%s is no text", r.path);
    gf_buffer_byte(&s->options_text, 0);
    if ((st = gf_buffer_check(&s->options_text, err)) != GF_OK) return st;
    r.n_given = s->n_arguments;
    r.format_given = s->format;
    r.wait_given = s->wait_given;
    for (char *line = s->options_text.ptr, *next; line && st == GF_OK; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        r.line++;
        st = take_line(&r, line, err);
    }
    return st;
}

#include "cli/session.h"

#include <errno.h>
#include <string.h>

enum { MOST_TEXT = 16 << 20 /* bytes */ };

static gf_status read_all(FILE *in, const char *name, gf_buffer *out, gf_error *err)
{
    enum { STEP = 1 << 16 };
    size_t n = 1;
    while (n > 0 && out->len <= MOST_TEXT) {
        char *to = gf_buffer_reserve(out, STEP);
        if (!to) return gf_buffer_check(out, err);
        n = fread(to, 1, STEP, in);
        out->len += n;
    }
    if (ferror(in)) return gf_fail(err, GF_EIO, "%s: %s", name, strerror(errno));
    if (out->len > MOST_TEXT) return gf_fail(err, GF_EINVAL, "%s: more than 16 MB of text", name);
    if (out->len == 0) return gf_fail(err, GF_EINVAL, "%s: there is no text in it", name);
    if (memchr(out->ptr, 0, out->len))
        return gf_fail(err, GF_EINVAL, "%s: a text has no NUL in it", name);
    return GF_OK;
}

/* The text of --text, which the operation takes as it is. */
static gf_status prepare(gf_session *s, gf_error *err)
{
    if (!s->file) return GF_OK;
    bool standard = strcmp(s->file, "-") == 0;
    FILE *in = standard ? stdin : fopen(s->file, "rb");
    if (!in) {
        gf_status why = errno == ENOENT ? GF_ENOTFOUND : GF_EIO;
        return gf_fail(err, why, "%s: %s", s->file, strerror(errno));
    }
    gf_status st = read_all(in, standard ? "standard input" : s->file, &s->text, err);
    if (!standard) fclose(in);
    return st == GF_OK ? gf_session_add(s, "text", gf_buffer_cstr(&s->text), err) : st;
}

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"},
                                      {.name = "ID", .argument = "id", .optional = true}};
static const gf_own_option options[] = {
    {"text", "FILE", "instead the text in a file that is not stored; - reads it"}};
static const gf_show_column columns[] = {
    {"id", "id", GF_COLUMN_TEXT},         {"score", "score", GF_COLUMN_SCORE},
    {"cluster", "cluster", GF_COLUMN_ID}, {"label", "label", GF_COLUMN_TEXT},
    {"provisional", NULL, GF_COLUMN_RAW}, {"time", "time", GF_COLUMN_RAW},
    {"snippet", "text", GF_COLUMN_TEXT}};

const gf_command gf_command_similar = {
    .name = "similar",
    .examples = "    grouperfish similar feedback 1042\n"
                "    grouperfish similar feedback --text mail.txt --limit 3\n",
    .notes =
        "The score is the cosine of the documents' weighted terms, 0 to 1, in the space of the\n"
        "served build of the configuration default. Documents put since are compared too.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {GF_COLUMNS(columns), .nothing = "nothing similar"},
    .prepare = prepare,
};

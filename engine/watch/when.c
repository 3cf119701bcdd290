/* One recursive descent that reads a rule and works out what it is for one subject. */
#include "engine/watch/when.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>

enum { DEEPEST = 32 };

typedef struct reading {
    gf_slice text;
    size_t at;
    const gf_watch_subject *subject;
    /* Without a subject a test holds that may hold for one like this. */
    bool of_new;      /* a group, else a cluster */
    bool any_id;      /* with the id of each test at once */
    double id;        /* else with this one; 0: one that the rule does not name */
    double higher_id; /* the lowest above it in the rule; INFINITY: none */
    unsigned depth;
} reading;

static void skip_space(reading *r)
{
    while (r->at < r->text.len && (r->text.ptr[r->at] == ' ' || r->text.ptr[r->at] == '\t'))
        r->at++;
}

static gf_status fail_here(reading *r, const char *wanted, gf_error *err)
{
    skip_space(r);
    gf_slice rest = gf_slice_skip(r->text, r->at);
    if (rest.len == 0)
        return gf_fail(err, GF_EINVAL, "when: column %zu: it ends where %s is wanted", r->at + 1,
                       wanted);
    return gf_fail(err, GF_EINVAL, "when: column %zu: \"%.*s\" is not %s", r->at + 1,
                   (int)(rest.len < 20 ? rest.len : 20), rest.ptr, wanted);
}

static bool take_word(reading *r, const char *word)
{
    skip_space(r);
    gf_slice rest = gf_slice_skip(r->text, r->at), w = gf_slice_str(word);
    if (rest.len < w.len || memcmp(rest.ptr, w.ptr, w.len) != 0) return false;
    bool letters = isalpha((unsigned char)w.ptr[0]);
    if (letters && rest.len > w.len && isalnum((unsigned char)rest.ptr[w.len])) return false;
    r->at += w.len;
    return true;
}

static gf_status take_number(reading *r, bool whole, double *value, gf_error *err)
{
    size_t n = 0;
    skip_space(r);
    gf_slice rest = gf_slice_skip(r->text, r->at);
    while (n < rest.len && (isdigit((unsigned char)rest.ptr[n]) || (!whole && rest.ptr[n] == '.')))
        n++;
    bool read = n && n <= 15 && gf_number_read_decimal(gf_slice_of(rest.ptr, n), value);
    if (!read || (n < rest.len && isalnum((unsigned char)rest.ptr[n])))
        return fail_here(r, whole ? "a whole number" : "a number", err);
    r->at += n;
    return GF_OK;
}

static gf_status take_least(reading *r, bool whole, double value, bool *holds, gf_error *err)
{
    double least = 0;
    bool with = take_word(r, ">=");
    if (!with && !take_word(r, ">")) return fail_here(r, "\">=\" or \">\"", err);
    gf_status st = take_number(r, whole, &least, err);
    if (st == GF_OK) *holds = with ? value >= least : value > least;
    return st;
}

static gf_status take_rule(reading *r, bool *holds, gf_error *err);

static gf_status take_group(reading *r, bool *holds, gf_error *err)
{
    if (r->depth == DEEPEST)
        return gf_fail(err, GF_EINVAL, "when: column %zu: more than %d parentheses in one another",
                       r->at, DEEPEST);
    r->depth++;
    gf_status st = take_rule(r, holds, err);
    if (st == GF_OK && !take_word(r, ")")) st = fail_here(r, "\")\", \"and\" or \"or\"", err);
    r->depth--;
    return st;
}

static gf_status take_test(reading *r, bool *holds, gf_error *err)
{
    const gf_watch_subject *s = r->subject;
    bool is_new = s ? s->is_new : r->of_new, at_least = false, kind = true;
    double id = 0;
    gf_status st;
    if (take_word(r, "(")) return take_group(r, holds, err);
    if (take_word(r, "new")) {
        kind = is_new;
        st = take_least(r, true, s ? (double)s->size : 0, &at_least, err);
    } else if (take_word(r, "rising")) {
        kind = !is_new;
        if (!take_word(r, "z")) return fail_here(r, "\"z\"", err);
        st = take_least(r, false, s ? s->z : 0, &at_least, err);
        if (s && s->z <= 0) at_least = false;
    } else if (take_word(r, "size")) {
        st = take_least(r, true, s ? (double)s->size : 0, &at_least, err);
    } else if (take_word(r, "cluster")) {
        if (!take_word(r, "=")) return fail_here(r, "\"=\"", err);
        st = take_number(r, true, &id, err);
        at_least = s ? (double)s->cluster == id : r->any_id || r->id == id;
        kind = s || at_least;
        if (id > r->id && id < r->higher_id) r->higher_id = id;
    } else {
        return fail_here(r, "new, rising z, size or cluster", err);
    }
    *holds = kind && (!s || at_least);
    return st;
}

static gf_status take_all(reading *r, bool *holds, gf_error *err)
{
    gf_status st = take_test(r, holds, err);
    while (st == GF_OK && take_word(r, "and")) {
        bool next = false;
        st = take_test(r, &next, err);
        *holds = *holds && next;
    }
    return st;
}

static gf_status take_rule(reading *r, bool *holds, gf_error *err)
{
    gf_status st = take_all(r, holds, err);
    while (st == GF_OK && take_word(r, "or")) {
        bool next = false;
        st = take_all(r, &next, err);
        *holds = *holds || next;
    }
    return st;
}

static gf_status read_rule(reading *r, bool *holds, gf_error *err)
{
    bool result = false;
    gf_status st = take_rule(r, &result, err);
    skip_space(r);
    if (st == GF_OK && r->at < r->text.len) st = fail_here(r, "\"and\" or \"or\"", err);
    if (st == GF_OK) *holds = result;
    return st;
}

gf_status gf_watch_when_holds(gf_slice when, const gf_watch_subject *subject, bool *holds,
                              gf_error *err)
{
    reading r = {.text = when, .subject = subject};
    return read_rule(&r, holds, err);
}

/* Whether there may be a subject for which it holds; *but_for_ids: were it not for tests of its id. */
static gf_status may_hold(gf_slice when, bool of_new, bool *but_for_ids, bool *holds, gf_error *err)
{
    reading r = {.text = when, .of_new = of_new, .any_id = true};
    *holds = false;
    gf_status st = read_rule(&r, but_for_ids, err);
    for (double id = 0; st == GF_OK && !*holds && id < INFINITY; id = r.higher_id) {
        r = (reading){.text = when, .of_new = of_new, .id = id, .higher_id = INFINITY};
        st = read_rule(&r, holds, err);
    }
    return st;
}

gf_status gf_watch_when_check(gf_slice when, bool *rising, gf_error *err)
{
    bool of_new = false, of_clusters = false, new_but = false, clusters_but = false;
    gf_status st = may_hold(when, true, &new_but, &of_new, err);
    if (st == GF_OK) st = may_hold(when, false, &clusters_but, &of_clusters, err);
    if (st == GF_OK && !of_new && !of_clusters)
        st = gf_fail(err, GF_EINVAL, "when: it never holds: %s",
                     new_but || clusters_but ? "a cluster has one id; say \"or\" between several"
                                             : "what is new is in no cluster yet that could rise");
    if (st == GF_OK && rising) *rising = of_clusters;
    return st;
}

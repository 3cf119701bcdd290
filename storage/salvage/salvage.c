/*
 * A folder's files, surveyed and merged.
 *
 *     survey  each table is read once: its lowest key, its newest entry, its first damage
 *     merge   again, all at once, by rising keys; a table is open from its lowest key to its last
 *
 * Memory: the logs, a key for each table, a block or two for each that is open.
 */
#include "storage/salvage/salvage.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct source {
    uint64_t number;
    const char *name, *path; /* in the arena */
    bool is_log, is_wanted;  /* wanted: by the MANIFEST */
    bool was_read;           /* a table; the fields below are of it then */
    bool has_entries;
    gf_slice lowest;
    uint64_t newest;
    const char *damage; /* NULL: none */
} source;

typedef struct salvage {
    const char *folder;
    const gf_salvage_calls *calls;
    const gf_cancel *cancel;
    gf_arena memory;
    source *sources; /* n of capacity, by number */
    size_t n, capacity;
    bool trusts;       /* the MANIFEST: its files and no others */
    uint64_t sequence; /* its last; 0: not known */
    gf_salvage_logs logs;
} salvage;

/* ---- the files ------------------------------------------------------------------------------- */

static gf_status add_source(salvage *s, const char *name, gf_check_kind kind, uint64_t number,
                            gf_error *err)
{
    gf_buffer path = {0};
    if (!gf_grow(&s->sources, &s->capacity, s->n + 1, sizeof *s->sources))
        return gf_fail_memory(err, "a list of files");
    gf_buffer_format(&path, "%s/%s", s->folder, name);
    gf_status st = gf_buffer_check(&path, err);
    gf_slice copies[2] = {{0}};
    if (st == GF_OK) {
        copies[0] = gf_arena_copy(&s->memory, gf_slice_str(name));
        copies[1] = gf_arena_copy(&s->memory, gf_buffer_view(&path));
        if (!copies[0].ptr || !copies[1].ptr) st = gf_fail_memory(err, "a list of files");
    }
    gf_buffer_release(&path);
    if (st != GF_OK) return st;
    s->sources[s->n++] = (source){.number = number,
                                  .name = copies[0].ptr,
                                  .path = copies[1].ptr,
                                  .is_log = kind == GF_CHECK_LOG};
    return GF_OK;
}

static int by_number(const void *a, const void *b)
{
    const source *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static gf_status list_files(salvage *s, gf_error *err)
{
    DIR *dir = opendir(s->folder);
    gf_status st = GF_OK;
    if (!dir) return gf_fail_errno(err, "cannot open folder %s", s->folder);
    while (st == GF_OK) {
        uint64_t number;
        errno = 0;
        struct dirent *e = readdir(dir);
        if (!e && errno) st = gf_fail_errno(err, "cannot list %s", s->folder);
        if (!e) break;
        gf_check_kind kind = gf_check_kind_of(e->d_name, &number);
        if (kind == GF_CHECK_TABLE || kind == GF_CHECK_LOG)
            st = add_source(s, e->d_name, kind, number, err);
    }
    closedir(dir);
    if (s->n) qsort(s->sources, s->n, sizeof *s->sources, by_number);
    return st;
}

/* ---- the MANIFEST ---------------------------------------------------------------------------- */

/* A table, or of size 0 the log from which on all are wanted. What is missing ends the trust. */
static gf_status want_file(void *context, uint64_t number, uint64_t size, gf_error *err)
{
    salvage *s = context;
    bool found = false;
    (void)err;
    for (size_t i = 0; i < s->n; i++) {
        source *f = &s->sources[i];
        if (f->is_log != (size == 0)) continue;
        found |= f->number == number;
        f->is_wanted |= f->number == number || (f->is_log && f->number > number);
    }
    s->trusts = s->trusts && found;
    return GF_OK;
}

/* GF_ENOTFOUND, GF_ECORRUPT where there is none that can be followed. */
static gf_status read_manifest(salvage *s, gf_buffer *content, gf_error *err)
{
    gf_buffer path = {0}, name = {0};
    uint64_t number;
    gf_buffer_format(&path, "%s/CURRENT", s->folder);
    gf_status st = gf_buffer_check(&path, err);
    if (st == GF_OK) st = gf_file_read(gf_buffer_cstr(&path), &name, err);
    bool ends = st == GF_OK && name.len && name.ptr[name.len - 1] == '\n';
    if (ends) name.len--;
    gf_buffer_cstr(&name);
    if (st == GF_OK) st = gf_buffer_check(&name, err);
    if (st == GF_OK && (!ends || memchr(name.ptr, '\0', name.len) ||
                        gf_check_kind_of(gf_buffer_cstr(&name), &number) != GF_CHECK_MANIFEST))
        st = GF_ECORRUPT;
    gf_buffer_reset(&path);
    gf_buffer_format(&path, "%s/%s", s->folder, gf_buffer_cstr(&name));
    if (st == GF_OK) st = gf_buffer_check(&path, err);
    if (st == GF_OK) st = gf_file_read(gf_buffer_cstr(&path), content, err);
    gf_buffer_release(&path);
    gf_buffer_release(&name);
    return st;
}

static gf_status follow_manifest(salvage *s, gf_error *err)
{
    gf_buffer content = {0};
    s->trusts = true;
    gf_status st = read_manifest(s, &content, err);
    if (st == GF_OK) st = gf_check_manifest(gf_buffer_view(&content), want_file, s, NULL, err);
    if (st == GF_OK) st = gf_check_manifest_sequence(gf_buffer_view(&content), &s->sequence, err);
    gf_buffer_release(&content);
    if (st != GF_ENOTFOUND && st != GF_ECORRUPT) return st;
    s->trusts = false;
    s->sequence = 0;
    return GF_OK;
}

/* ---- the survey ------------------------------------------------------------------------------ */

static gf_status survey_table(salvage *s, source *f, gf_error *err)
{
    gf_salvage_table t;
    gf_status st = gf_cancel_check(s->cancel, err);
    if (st != GF_OK || f->was_read) return st;
    st = gf_salvage_table_open(&t, f->path, err);
    if (st != GF_OK) return st;
    f->was_read = true;
    while ((st = gf_salvage_table_next(&t, err)) == GF_OK) {
        uint64_t sequence = gf_salvage_sequence(t.item.tag);
        if (!f->has_entries) f->lowest = gf_arena_copy(&s->memory, t.item.key);
        if (!f->lowest.ptr) st = gf_fail_memory(err, "a survey");
        f->has_entries = true;
        if (sequence > f->newest) f->newest = sequence;
        if (st != GF_OK) break;
    }
    if (st == GF_ENOTFOUND) st = GF_OK;
    if (st == GF_OK && t.damage[0]) {
        f->damage = gf_arena_copy(&s->memory, gf_slice_str(t.damage)).ptr;
        if (!f->damage) st = gf_fail_memory(err, "a survey");
    }
    gf_salvage_table_close(&t);
    return st;
}

static bool is_used(const salvage *s, const source *f)
{
    return f->is_wanted || !s->trusts;
}

/* A table that the MANIFEST does not name, and that is newer than all that it does. */
static gf_status look_for_newer(salvage *s, gf_error *err)
{
    gf_status st = GF_OK;
    uint64_t newest = s->logs.newest;
    for (size_t i = 0; i < s->n; i++)
        if (s->sources[i].is_wanted && s->sources[i].newest > newest) newest = s->sources[i].newest;
    for (size_t i = 0; i < s->n && st == GF_OK; i++) {
        source *f = &s->sources[i];
        if (f->is_log || f->is_wanted) continue;
        st = survey_table(s, f, err);
        if (st != GF_OK || !f->has_entries || f->newest <= newest) continue;
        s->calls->odd(s->calls->context, f->name,
                      "the MANIFEST does not name it, and it is newer than what it names");
        s->trusts = false;
    }
    return st;
}

static gf_status survey_tables(salvage *s, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < s->n && st == GF_OK; i++)
        if (!s->sources[i].is_log && is_used(s, &s->sources[i]))
            st = survey_table(s, &s->sources[i], err);
    return st;
}

static gf_status read_logs(salvage *s, const gf_salvage_calls *calls, gf_error *err)
{
    gf_status st = GF_OK;
    gf_salvage_logs_release(&s->logs);
    for (size_t i = 0; i < s->n; i++)
        if (is_used(s, &s->sources[i]) && s->sources[i].newest > s->logs.oldest)
            s->logs.oldest = s->sources[i].newest;
    for (size_t i = 0; i < s->n && st == GF_OK; i++) {
        source *f = &s->sources[i];
        if (!f->is_log || !is_used(s, f)) continue;
        st = gf_cancel_check(s->cancel, err);
        if (st == GF_OK) st = gf_salvage_logs_add(&s->logs, f->path, f->name, calls, err);
    }
    return st;
}

static void tell_nobody(void *context, const char *file, const char *what)
{
    (void)context, (void)file, (void)what;
}

/*
 * The first record of the first log is at most one behind what the MANIFEST says was the last; more
 * means that a log between them is lost, or that this one is another store's.
 */
static void check_first(const salvage *s)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < s->logs.n; i++) {
        uint64_t sequence = gf_salvage_sequence(s->logs.items[i].tag);
        if (sequence < first) first = sequence;
    }
    for (size_t i = 0; i < s->n && s->trusts && s->sequence && s->logs.n; i++) {
        if (!s->sources[i].is_log || !s->sources[i].is_wanted) continue;
        if (first > s->sequence + 1)
            s->calls->odd(s->calls->context, s->sources[i].name,
                          "its changes do not follow on those before it: some are missing, or it "
                          "is another store's");
        return;
    }
}

static gf_status survey(salvage *s, gf_error *err)
{
    const gf_salvage_calls quiet = {tell_nobody, tell_nobody, NULL, NULL};
    gf_status st = list_files(s, err);
    if (st == GF_OK) st = follow_manifest(s, err);
    if (st == GF_OK) st = survey_tables(s, err);
    if (st == GF_OK && s->trusts) {
        st = read_logs(s, &quiet, err);
        if (st == GF_OK) st = look_for_newer(s, err);
    }
    if (st == GF_OK && !s->trusts) st = survey_tables(s, err);
    if (st == GF_OK) st = read_logs(s, s->calls, err);
    if (st != GF_OK) return st;
    check_first(s);
    for (size_t i = 0; i < s->n; i++)
        if (is_used(s, &s->sources[i]) && s->sources[i].damage)
            s->calls->damage(s->calls->context, s->sources[i].name, s->sources[i].damage);
    gf_salvage_logs_sort(&s->logs);
    return GF_OK;
}

/* ---- the merge ------------------------------------------------------------------------------- */

/* The tables that are open: open[i]->item is the next entry of each, in a heap with the lowest first. */
typedef struct merge {
    salvage *s;
    source **waiting; /* n_waiting tables by their lowest keys, from next on */
    size_t n_waiting, next;
    gf_salvage_table **open; /* n_open of capacity */
    size_t n_open, capacity;
    size_t at;       /* in the logs' items */
    gf_buffer given; /* the key that was given or passed over last */
    bool any;        /* there is one */
} merge;

static int by_lowest(const void *a, const void *b)
{
    source *const *x = a, *const *y = b;
    return gf_slice_compare((*x)->lowest, (*y)->lowest);
}

static bool is_before(const merge *m, size_t a, size_t b)
{
    return gf_salvage_compare(&m->open[a]->item, &m->open[b]->item) < 0;
}

static void swap_open(merge *m, size_t a, size_t b)
{
    gf_salvage_table *t = m->open[a];
    m->open[a] = m->open[b];
    m->open[b] = t;
}

static void sift_up(merge *m, size_t i)
{
    for (; i && is_before(m, i, (i - 1) / 2); i = (i - 1) / 2)
        swap_open(m, i, (i - 1) / 2);
}

static void sift_down(merge *m)
{
    for (size_t i = 0, child; (child = 2 * i + 1) < m->n_open; i = child) {
        if (child + 1 < m->n_open && is_before(m, child + 1, child)) child++;
        if (!is_before(m, child, i)) return;
        swap_open(m, i, child);
    }
}

static gf_status open_table(merge *m, const source *f, gf_error *err)
{
    if (!gf_grow(&m->open, &m->capacity, m->n_open + 1, sizeof *m->open))
        return gf_fail_memory(err, "a merge");
    gf_salvage_table *t = gf_malloc(sizeof *t);
    if (!t) return gf_fail_memory(err, "a merge");
    gf_status st = gf_salvage_table_open(t, f->path, err);
    if (st == GF_OK) st = gf_salvage_table_next(t, err);
    if (st == GF_ENOTFOUND) st = gf_fail(err, GF_EIO, "%s changes while it is read", f->path);
    if (st != GF_OK) {
        gf_salvage_table_close(t);
        gf_free(t);
        return st;
    }
    m->open[m->n_open++] = t;
    sift_up(m, m->n_open - 1);
    return GF_OK;
}

static gf_status advance_table(merge *m, gf_error *err)
{
    gf_salvage_table *t = m->open[0];
    gf_status st = gf_salvage_table_next(t, err);
    if (st == GF_ENOTFOUND) {
        gf_salvage_table_close(t);
        gf_free(t);
        m->open[0] = m->open[--m->n_open];
        st = GF_OK;
    }
    sift_down(m);
    return st;
}

/* The lowest entry that is left, of the tables or the logs; false: none. */
static bool find_lowest(const merge *m, bool *of_log, gf_salvage_item *item)
{
    const gf_salvage_logs *l = &m->s->logs;
    bool table = m->n_open > 0, log = m->at < l->n;
    if (!table && !log) return false;
    *of_log = !table || (log && gf_salvage_compare(&l->items[m->at], &m->open[0]->item) <= 0);
    *item = *of_log ? l->items[m->at] : m->open[0]->item;
    return true;
}

static bool is_due(const merge *m, const source *f)
{
    bool of_log;
    gf_salvage_item item;
    return !find_lowest(m, &of_log, &item) || gf_slice_compare(f->lowest, item.key) <= 0;
}

static gf_status give_item(merge *m, const gf_salvage_item *item, gf_error *err)
{
    if (m->any && gf_slice_equal(item->key, gf_buffer_view(&m->given))) return GF_OK;
    m->any = true;
    gf_buffer_reset(&m->given);
    gf_buffer_slice(&m->given, item->key);
    gf_status st = gf_buffer_check(&m->given, err);
    if (st != GF_OK || (item->tag & 1) == 0) return st;
    return m->s->calls->entry(m->s->calls->context, item->key, item->value,
                              gf_salvage_sequence(item->tag), err);
}

static gf_status merge_all(merge *m, gf_error *err)
{
    gf_status st = GF_OK;
    while (st == GF_OK) {
        bool of_log;
        gf_salvage_item item;
        while (st == GF_OK && m->next < m->n_waiting && is_due(m, m->waiting[m->next]))
            st = open_table(m, m->waiting[m->next++], err);
        if (st != GF_OK || !find_lowest(m, &of_log, &item)) break;
        st = give_item(m, &item, err);
        if (st == GF_OK && of_log) m->at++;
        if (st == GF_OK && !of_log) st = advance_table(m, err);
    }
    return st;
}

static gf_status give_all(salvage *s, gf_error *err)
{
    merge m = {.s = s, .waiting = gf_array(s->n + 1, sizeof *m.waiting)};
    if (!m.waiting) return gf_fail_memory(err, "a merge");
    for (size_t i = 0; i < s->n; i++)
        if (is_used(s, &s->sources[i]) && s->sources[i].has_entries)
            m.waiting[m.n_waiting++] = &s->sources[i];
    if (m.n_waiting) qsort(m.waiting, m.n_waiting, sizeof *m.waiting, by_lowest);
    gf_status st = merge_all(&m, err);
    for (size_t i = 0; i < m.n_open; i++) {
        gf_salvage_table_close(m.open[i]);
        gf_free(m.open[i]);
    }
    gf_free(m.open);
    gf_free(m.waiting);
    gf_buffer_release(&m.given);
    return st;
}

gf_status gf_salvage(const char *folder, const gf_salvage_calls *calls, const gf_cancel *cancel,
                     gf_error *err)
{
    gf_error own;
    salvage s = {.folder = folder, .calls = calls, .cancel = cancel};
    if (!err) err = &own;
    gf_status st = survey(&s, err);
    if (st == GF_OK) st = give_all(&s, err);
    gf_salvage_logs_release(&s.logs);
    gf_arena_release(&s.memory);
    gf_free(s.sources);
    return st;
}

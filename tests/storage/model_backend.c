#include "storage/model_backend.h"

#include "base/clock.h"
#include "base/memory.h"
#include "storage/run.h"
#include "storage/schema.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A version of a packed row (cell is empty) or of a wide cell (one column without a name). */
typedef struct item {
    unsigned table, family;
    gf_slice key, cell;
    int64_t timestamp;
    const gf_column *columns; /* n, never changed */
    size_t n;
} item;

typedef struct state {
    item *items; /* n, sorted */
    size_t n;
} state;

enum { MODEL_TABLES = 64 };

/* What is put as of a time that is not later than that of a deletion stays away. */
typedef struct tombstone {
    item of; /* without columns; its timestamp */
    uint64_t step;
} tombstone;

/* Rows that somebody holds; equal keys are kept out. */
struct gf_backend_hold {
    gf_backend_hold *next;
    const struct process *by;
    unsigned table;
    gf_slice *keys; /* n */
    size_t n;
};

typedef struct model {
    pthread_mutex_t lock;
    pthread_cond_t let_go;
    unsigned n_processes; /* that have it open */
    gf_arena bytes;       /* all that was ever written */
    state now;
    const gf_schema *schemas[MODEL_TABLES];
    unsigned n_tables;
    gf_backend_hold *holds;
    tombstone *tombstones; /* n_tombstones; where rows are written one by one */
    size_t n_tombstones;
    uint64_t steps;
} model;

/* One of the processes that have the model open. */
typedef struct process {
    gf_backend base;
    gf_backend_operations operations;
    model *m;
    _Atomic uint64_t writes, last_write; /* so many it made; with that one it ended; 0: never */
    _Atomic uint64_t unanswered;         /* that one's answer is lost; 0: none's */
    _Atomic unsigned cut_then, cut;      /* calls that fail behind it; that fail from now on */
    void (*before_step)(void *context);
    void *context;
} process;

/* The time that a cell's puts without one have in this write. */
typedef struct untimed {
    const gf_change *change;
    gf_slice cell;
    int64_t timestamp;
} untimed;

/* A write at work: a copy of the state, taken over in the end. */
typedef struct work {
    model *m;
    bool by_rows; /* one row, in which what is newer stays */
    state s;
    int64_t now;
    untimed *untimed;
    size_t n_untimed;
} work;

static void *must(void *p)
{
    if (!p) abort();
    return p;
}

static process *process_of(gf_backend *b)
{
    return (process *)b;
}

static model *model_of(gf_backend *b)
{
    return process_of(b)->m;
}

static bool has_ended(const process *p)
{
    return p->last_write && p->writes >= p->last_write;
}

static gf_status check_alive(gf_backend *b, gf_error *err)
{
    process *p = process_of(b);
    if (has_ended(p)) return gf_fail(err, GF_EIO, "the process has ended");
    if (!p->cut) return GF_OK;
    p->cut--;
    return gf_fail(err, GF_EIO, "the link is cut");
}

/* Of a write that was made. */
static gf_status answer_write(process *p, gf_error *err)
{
    if (++p->writes != p->unanswered) return GF_OK;
    p->cut = p->cut_then;
    return gf_fail(err, GF_EUNKNOWN, "whether it was written is not known: the answer is lost");
}

/* Without batches each row is a step, times count, and holds keep out this process' threads alone. */
static bool writes_rows(const process *p)
{
    return !(p->operations.capabilities & GF_BACKEND_BATCH);
}

static bool holds_any(const process *p)
{
    const gf_backend_hold *h = p->m->holds;
    while (h && h->by != p)
        h = h->next;
    return h != NULL;
}

/* With nothing locked: what others do just before a step of this process, if it keeps none out. */
static gf_status begin_step(gf_backend *b, gf_error *err)
{
    process *p = process_of(b);
    pthread_mutex_lock(&p->m->lock);
    bool keeps_out = holds_any(p);
    pthread_mutex_unlock(&p->m->lock);
    if (p->before_step && !has_ended(p) && (!keeps_out || writes_rows(p)))
        p->before_step(p->context);
    return check_alive(b, err);
}

static gf_slice keep(model *m, gf_slice s)
{
    gf_slice copy = gf_arena_copy(&m->bytes, s);
    must((void *)copy.ptr);
    return copy;
}

static const gf_family *family_of(const model *m, unsigned table, unsigned family)
{
    return &m->schemas[table]->families[family];
}

/* ---- the state ------------------------------------------------------------------------------- */

static int compare_cells(const item *a, const item *b)
{
    if (a->table != b->table) return a->table < b->table ? -1 : 1;
    if (a->family != b->family) return a->family < b->family ? -1 : 1;
    int order = gf_slice_compare(a->key, b->key);
    return order ? order : gf_slice_compare(a->cell, b->cell);
}

static int compare_items(const item *a, const item *b)
{
    int order = compare_cells(a, b);
    if (order) return order;
    return a->timestamp > b->timestamp ? -1 : a->timestamp < b->timestamp;
}

static state copy_state(const state *s)
{
    state copy = {must(gf_malloc((s->n + 1) * sizeof *s->items)), s->n};
    if (s->n) memcpy(copy.items, s->items, s->n * sizeof *s->items);
    return copy;
}

static void remove_item(state *s, size_t i)
{
    memmove(s->items + i, s->items + i + 1, (--s->n - i) * sizeof *s->items);
}

static void add_item(state *s, item added)
{
    size_t i = 0;
    while (i < s->n && compare_items(&s->items[i], &added) < 0)
        i++;
    s->items = must(gf_realloc(s->items, s->n + 1, sizeof *s->items));
    memmove(s->items + i + 1, s->items + i, (s->n++ - i) * sizeof *s->items);
    s->items[i] = added;
}

static bool is_expired(const model *m, const item *it, int64_t now)
{
    uint64_t ttl = family_of(m, it->table, it->family)->ttl_seconds;
    return ttl && it->timestamp / 1000 < now / 1000 - (int64_t)ttl;
}

/* The index of the cell's first version that is not newer than `timestamp`, or -1. */
static ptrdiff_t find(const state *s, const item *cell, int64_t timestamp)
{
    for (size_t i = 0; i < s->n; i++)
        if (compare_cells(&s->items[i], cell) == 0 && s->items[i].timestamp <= timestamp)
            return (ptrdiff_t)i;
    return -1;
}

/* ---- columns --------------------------------------------------------------------------------- */

static size_t without(const gf_column *from, size_t n, gf_slice name, gf_column *to)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!gf_slice_equal(from[i].name, name)) to[kept++] = from[i];
    return kept;
}

static void set_column(model *m, item *it, gf_slice name, gf_slice value)
{
    gf_column *columns = must(gf_arena_alloc(&m->bytes, (it->n + 1) * sizeof *columns));
    it->n = without(it->columns, it->n, name, columns);
    columns[it->n++] = (gf_column){keep(m, name), keep(m, value)};
    it->columns = columns;
}

static int rank(const gf_family *f, gf_slice name)
{
    int number = gf_schema_column(f, name, 0);
    return number < 0 ? INT32_MAX : number;
}

/* Known columns as the schema has them, then the others by name. */
static bool comes_before(const gf_family *f, const gf_column *a, const gf_column *b)
{
    int x = rank(f, a->name), y = rank(f, b->name);
    return x != y ? x < y : gf_slice_compare(a->name, b->name) < 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static item cell_of(const work *w, const gf_change *c)
{
    bool wide = family_of(w->m, c->table, c->family)->layout == GF_LAYOUT_WIDE;
    return (item){.table = c->table,
                  .family = c->family,
                  .key = c->key,
                  .cell = wide ? c->qualifier : GF_SLICE("")};
}

static void remove_cell(work *w, const item *cell, bool only_expired)
{
    for (size_t i = w->s.n; i-- > 0;)
        if (compare_cells(&w->s.items[i], cell) == 0 &&
            (!only_expired || is_expired(w->m, &w->s.items[i], w->now)))
            remove_item(&w->s, i);
}

/* ---- rows that are written one by one -------------------------------------------------------- */

static tombstone *find_tombstone(const work *w, const item *cell)
{
    for (size_t i = 0; i < w->m->n_tombstones; i++)
        if (compare_cells(&w->m->tombstones[i].of, cell) == 0) return &w->m->tombstones[i];
    return NULL;
}

static void bury(work *w, const item *it)
{
    tombstone *t = find_tombstone(w, it);
    if (!t) {
        size_t n = w->m->n_tombstones + 1;
        w->m->tombstones = must(gf_realloc(w->m->tombstones, n, sizeof *w->m->tombstones));
        t = &w->m->tombstones[w->m->n_tombstones++];
        *t = (tombstone){.of = *it};
    }
    if (it->timestamp > t->of.timestamp) t->of.timestamp = it->timestamp;
    t->step = w->m->steps;
}

/* Is there something newer, or a deletion by an earlier write that hides the put? */
static bool comes_late(const work *w, const item *cell, int64_t timestamp)
{
    ptrdiff_t newest = find(&w->s, cell, INT64_MAX);
    const tombstone *t = find_tombstone(w, cell);
    if (newest >= 0 && w->s.items[newest].timestamp > timestamp) return true;
    return t && t->step != w->m->steps && t->of.timestamp >= timestamp;
}

/* A deletion as of a time (0: of whatever is there) leaves what is newer. */
static bool is_buried(work *w, const gf_change *c, const item *it)
{
    if (!w->by_rows) return true;
    if (c->timestamp && it->timestamp > c->timestamp) return false;
    bury(w, it);
    return true;
}

static int64_t time_of(work *w, const gf_change *c, const item *cell)
{
    const gf_family *f = family_of(w->m, c->table, c->family);
    if (c->timestamp) return c->timestamp;
    if (w->by_rows) {
        ptrdiff_t there = find(&w->s, cell, INT64_MAX);
        const tombstone *t = find_tombstone(w, cell);
        int64_t last = there < 0 ? 0 : w->s.items[there].timestamp;
        if (t && t->of.timestamp > last) last = t->of.timestamp;
        return w->now > last ? w->now : last + 1; /* the server's clock, which is one */
    }
    if (f->versions <= 1) return f->ttl_seconds ? w->now : 0;
    ptrdiff_t newest = find(&w->s, cell, INT64_MAX);
    int64_t last = newest < 0 ? INT64_MIN : w->s.items[newest].timestamp;
    untimed *known = NULL;
    for (size_t i = 0; i < w->n_untimed; i++) {
        item other = cell_of(w, w->untimed[i].change);
        if (compare_cells(&other, cell) == 0) known = &w->untimed[i];
    }
    if (known && last == known->timestamp) return last;
    if (!known) known = &w->untimed[w->n_untimed++];
    int64_t next = last == INT64_MAX ? last : last + 1;
    *known = (untimed){c, cell->cell, w->now > next ? w->now : next};
    return known->timestamp;
}

static void prune(work *w, const item *cell)
{
    uint32_t versions = family_of(w->m, cell->table, cell->family)->versions, seen = 0;
    for (size_t i = 0; i < w->s.n;) {
        if (compare_cells(&w->s.items[i], cell) == 0 && ++seen > (versions ? versions : 1))
            remove_item(&w->s, i);
        else
            i++;
    }
}

static void put(work *w, const gf_change *c)
{
    item cell = cell_of(w, c), changed;
    const gf_family *f = family_of(w->m, c->table, c->family);
    remove_cell(w, &cell, true);
    int64_t timestamp = time_of(w, c, &cell);
    if (w->by_rows && comes_late(w, &cell, timestamp)) return;
    ptrdiff_t base = find(&w->s, &cell, f->versions > 1 ? timestamp : INT64_MAX);
    changed = cell;
    changed.key = keep(w->m, cell.key);
    changed.cell = keep(w->m, cell.cell);
    changed.timestamp = timestamp;
    if (base >= 0) {
        changed.columns = w->s.items[base].columns;
        changed.n = w->s.items[base].n;
        if (f->versions <= 1 || w->s.items[base].timestamp == timestamp)
            remove_item(&w->s, (size_t)base);
    }
    if (c->kind == GF_CHANGE_PUT)
        set_column(w->m, &changed, f->layout == GF_LAYOUT_WIDE ? GF_SLICE("") : c->qualifier,
                   c->value);
    else
        changed.n = 0;
    for (size_t i = 0; i < c->n_columns; i++)
        set_column(w->m, &changed, c->columns[i].name, c->columns[i].value);
    add_item(&w->s, changed);
    prune(w, &cell);
}

static void delete_column(work *w, const gf_change *c)
{
    item cell = cell_of(w, c);
    gf_slice name = family_of(w->m, c->table, c->family)->layout == GF_LAYOUT_WIDE ? GF_SLICE("")
                                                                                   : c->qualifier;
    remove_cell(w, &cell, true);
    ptrdiff_t newest = find(&w->s, &cell, INT64_MAX);
    for (size_t i = w->s.n; i-- > 0;) {
        item *it = &w->s.items[i];
        if (compare_cells(it, &cell) != 0) continue;
        if (w->by_rows && c->timestamp && it->timestamp > c->timestamp) continue;
        gf_column *columns = must(gf_arena_alloc(&w->m->bytes, (it->n + 1) * sizeof *columns));
        it->n = without(it->columns, it->n, name, columns);
        it->columns = columns;
        if (it->n) continue;
        if (w->by_rows) bury(w, it);
        if ((ptrdiff_t)i == newest) {
            remove_cell(w, &cell, false);
            return;
        }
        remove_item(&w->s, i);
    }
}

static void delete_row(work *w, const gf_change *c)
{
    for (size_t i = w->s.n; i-- > 0;) {
        const item *it = &w->s.items[i];
        if (it->table == c->table && (c->families >> it->family & 1) &&
            gf_slice_equal(it->key, c->key) && is_buried(w, c, it))
            remove_item(&w->s, i);
    }
}

/* A block's entries are put one by one. */
static void put_block(work *w, const gf_change *c)
{
    const gf_schema *s = w->m->schemas[c->table];
    const gf_family *f = &s->families[c->family];
    gf_run_reader r = {0};
    assert(c->form == GF_VALUE_GIVEN);
    gf_status st = gf_run_reader_open(&r, c->key, 0, c->value, NULL);
    if (st == GF_OK) st = gf_run_reader_first(&r, NULL);
    for (; st == GF_OK; st = gf_run_reader_next(&r, NULL)) {
        gf_slice key = gf_run_reader_key(&r), value;
        if (gf_run_reader_value(&r, &value, NULL) != GF_OK) abort();
        size_t length = gf_schema_row_length(s, key);
        gf_buffer qualifier = {0};
        gf_change one = {.kind = GF_CHANGE_PUT,
                         .table = c->table,
                         .family = c->family,
                         .key = gf_slice_of(key.ptr, length),
                         .value = value};
        if (f->layout == GF_LAYOUT_WIDE) {
            gf_slice rest = gf_slice_skip(key, length);
            gf_key_take_string(&rest, &qualifier);
            one.qualifier = gf_buffer_view(&qualifier);
            put(w, &one);
        } else {
            gf_packed_reader columns = {.family = f, .rest = value};
            gf_column column;
            while (gf_packed_next(&columns, &column, NULL) == GF_OK) {
                one.qualifier = column.name;
                one.value = column.value;
                put(w, &one);
            }
        }
        gf_buffer_release(&qualifier);
    }
    if (st != GF_ENOTFOUND) abort();
    gf_run_reader_release(&r);
}

static void apply(work *w, const gf_change *c)
{
    gf_change all = *c;
    all.families = UINT32_C(1) << c->family;
    if (c->kind == GF_CHANGE_PUT_BLOCK)
        put_block(w, c);
    else if (c->kind == GF_CHANGE_DELETE_ROW)
        delete_row(w, c);
    else if (c->kind == GF_CHANGE_DELETE_CELL)
        delete_column(w, c);
    else if (c->kind == GF_CHANGE_REPLACE && c->n_columns == 0)
        delete_row(w, &all);
    else
        put(w, c);
}

/* The newest value of a cell that lives; NULL where there is none. */
static const gf_slice *value_of(const model *m, const gf_change *c)
{
    work w = {.m = (model *)(uintptr_t)m, .now = gf_clock_ms()};
    item cell = cell_of(&w, c);
    ptrdiff_t i = find(&m->now, &cell, INT64_MAX);
    if (i < 0 || is_expired(m, &m->now.items[i], w.now)) return NULL;
    const item *it = &m->now.items[i];
    bool wide = family_of(m, c->table, c->family)->layout == GF_LAYOUT_WIDE;
    for (size_t k = 0; k < it->n; k++)
        if (wide || gf_slice_equal(it->columns[k].name, c->qualifier)) return &it->columns[k].value;
    return NULL;
}

static void write_changes(model *m, bool by_rows, const gf_change *changes, size_t n)
{
    m->steps++;
    work w = {.m = m, .by_rows = by_rows, .s = copy_state(&m->now), .now = gf_clock_ms()};
    w.untimed = must(gf_array(n + 1, sizeof *w.untimed));
    for (size_t i = 0; i < n; i++)
        apply(&w, &changes[i]);
    gf_free(w.untimed);
    gf_free(m->now.items);
    m->now = w.s;
}

static bool is_met(const model *m, const gf_expectation *condition)
{
    if (!condition) return true;
    gf_change c = {.table = condition->table,
                   .family = condition->family,
                   .key = condition->key,
                   .qualifier = condition->qualifier};
    const gf_slice *value = value_of(m, &c);
    return value ? condition->expected && gf_slice_equal(*value, *condition->expected)
                 : !condition->expected;
}

static gf_status write_step(gf_backend *b, const gf_change *changes, size_t n,
                            const gf_expectation *condition, gf_error *err)
{
    model *m = model_of(b);
    gf_status st = begin_step(b, err);
    if (st != GF_OK) return st;
    pthread_mutex_lock(&m->lock);
    bool holds = is_met(m, condition);
    if (holds) write_changes(m, writes_rows(process_of(b)), changes, n);
    pthread_mutex_unlock(&m->lock);
    return holds ? answer_write(process_of(b), err)
                 : gf_fail(err, GF_ECONFLICT, "another value is there");
}

static bool is_same_row(const gf_change *a, const gf_change *b)
{
    return a->kind != GF_CHANGE_PUT_BLOCK && b->kind != GF_CHANGE_PUT_BLOCK &&
           a->table == b->table && gf_slice_equal(a->key, b->key);
}

/* A condition is of the only row. */
static gf_status write_rows(gf_backend *b, const gf_change *changes, size_t n,
                            const gf_expectation *condition, gf_error *err)
{
    gf_status st = GF_OK;
    size_t end;
    for (size_t i = 0; i < n && st == GF_OK; i = end) {
        for (end = i + 1; end < n && is_same_row(&changes[i], &changes[end]); end++)
            ;
        if (condition && (end < n || changes[i].table != condition->table ||
                          !gf_slice_equal(changes[i].key, condition->key)))
            abort();
        st = write_step(b, changes + i, end - i, condition, err);
    }
    return st;
}

static gf_status write_model(gf_backend *b, const gf_change *changes, size_t n,
                             const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                             gf_error *err)
{
    (void)sync, (void)hold;
    if (n && writes_rows(process_of(b))) return write_rows(b, changes, n, condition, err);
    return write_step(b, changes, n, condition, err);
}

/* Digits of a number of 64 bits, perhaps behind a minus sign. */
static bool is_integer(gf_slice s, int64_t *v)
{
    char text[64];
    if (s.len == 0 || s.len >= sizeof text) return false;
    snprintf(text, sizeof text, "%.*s", GF_SLICE_ARG(s));
    size_t sign = text[0] == '-', digits = strspn(text + sign, "0123456789");
    errno = 0;
    *v = strtoll(text, NULL, 10);
    return digits > 0 && sign + digits == s.len && errno == 0;
}

static gf_status increment(gf_backend *b, const gf_change *c, int64_t delta, gf_sync sync,
                           int64_t *result, gf_error *err)
{
    model *m = model_of(b);
    char text[32];
    int64_t old = 0, sum;
    (void)sync;
    gf_status st = begin_step(b, err);
    if (st != GF_OK) return st;
    pthread_mutex_lock(&m->lock);
    const gf_slice *value = value_of(m, c);
    if (value && !is_integer(*value, &old)) st = gf_fail(err, GF_EINVAL, "no integer");
    if (st == GF_OK && __builtin_add_overflow(old, delta, &sum))
        st = gf_fail(err, GF_ELIMIT, "too large");
    if (st == GF_OK) {
        gf_change put_it = *c;
        snprintf(text, sizeof text, "%" PRId64, sum);
        put_it.value = gf_slice_str(text);
        write_changes(m, writes_rows(process_of(b)), &put_it, 1);
        *result = sum;
    }
    pthread_mutex_unlock(&m->lock);
    return st == GF_OK ? answer_write(process_of(b), err) : st;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void add_cell(gf_row *row, const item *it, gf_slice qualifier, gf_slice value)
{
    gf_cell cell = {it->family, gf_row_keep(row, qualifier), gf_row_keep(row, value),
                    it->timestamp};
    if (gf_row_add(row, &cell, NULL) != GF_OK) abort();
}

/* The version's cells; of a packed row in stored order. */
static void add_item_cells(const model *m, gf_row *row, const item *it, const gf_slice *only)
{
    const gf_family *f = family_of(m, it->table, it->family);
    if (f->layout == GF_LAYOUT_WIDE) {
        add_cell(row, it, it->cell, it->columns[0].value);
        return;
    }
    const gf_column *last = NULL;
    for (size_t left = it->n; left > 0; left--) {
        const gf_column *next = NULL;
        for (size_t i = 0; i < it->n; i++) {
            const gf_column *c = &it->columns[i];
            if ((!last || comes_before(f, last, c)) && (!next || comes_before(f, c, next)))
                next = c;
        }
        last = next;
        if (!only || gf_slice_equal(next->name, *only)) add_cell(row, it, next->name, next->value);
    }
}

static gf_status get(gf_backend *b, const void *snapshot, unsigned table, gf_slice key,
                     const gf_selection *what, gf_row *row, gf_error *err)
{
    model *m = model_of(b);
    int64_t now = gf_clock_ms();
    uint32_t seen = 0;
    gf_status st = check_alive(b, err);
    if (st != GF_OK) return st;
    pthread_mutex_lock(&m->lock);
    const state *s = snapshot ? snapshot : &m->now;
    for (size_t i = 0; i < s->n; i++) {
        const item *it = &s->items[i];
        seen = i && compare_cells(it, it - 1) == 0 ? seen + 1 : 0;
        if (it->table != table || !(what->families >> it->family & 1)) continue;
        if (!gf_slice_equal(it->key, key) || seen >= what->versions) continue;
        bool wide = family_of(m, table, it->family)->layout == GF_LAYOUT_WIDE;
        if (what->one_cell && wide && !gf_slice_equal(it->cell, what->qualifier)) continue;
        if (is_expired(m, it, now)) continue;
        add_item_cells(m, row, it, what->one_cell && !wide ? &what->qualifier : NULL);
    }
    pthread_mutex_unlock(&m->lock);
    return GF_OK;
}

struct gf_backend_scan {
    model *m;
    gf_scan_options options;
    item *items; /* n; the next one is at `at` */
    size_t n, at;
};

static bool in_scan(const gf_scan_options *o, unsigned table, const item *it)
{
    if (it->table != table || it->family != o->family) return false;
    if (!gf_slice_starts(it->key, o->prefix)) return false;
    if (gf_slice_compare(it->key, o->start) < 0) return false;
    if (o->end.len && gf_slice_compare(it->key, o->end) >= 0) return false;
    if (!gf_slice_starts(it->cell, o->qualifier_prefix)) return false;
    if (!o->after_qualifier.ptr) return true;
    int order = gf_slice_compare(it->cell, o->after_qualifier);
    return o->reverse ? order < 0 : order > 0;
}

static gf_status scan_open(gf_backend *b, const void *snapshot, unsigned table,
                           const gf_scan_options *options, gf_backend_scan **scan, gf_error *err)
{
    model *m = model_of(b);
    int64_t now = gf_clock_ms();
    gf_status st = check_alive(b, err);
    if (st != GF_OK) return st;
    gf_backend_scan *s = must(gf_calloc(1, sizeof *s));
    pthread_mutex_lock(&m->lock);
    const state *from = snapshot ? snapshot : &m->now;
    s->m = m;
    s->options = *options;
    s->items = must(gf_array(from->n + 1, sizeof *s->items));
    for (size_t i = 0; i < from->n; i++) {
        const item *it = &from->items[i];
        bool newest = i == 0 || compare_cells(it, it - 1) != 0;
        if (newest && in_scan(options, table, it) && !is_expired(m, it, now))
            s->items[s->n++] = *it;
    }
    pthread_mutex_unlock(&m->lock);
    for (size_t i = 0; options->reverse && i < s->n / 2; i++) {
        item swapped = s->items[i];
        s->items[i] = s->items[s->n - 1 - i];
        s->items[s->n - 1 - i] = swapped;
    }
    *scan = s;
    return GF_OK;
}

static gf_status scan_next(gf_backend_scan *s, gf_row *row, gf_error *err)
{
    if (s->at == s->n) return GF_ENOTFOUND;
    const item *it = &s->items[s->at++];
    gf_status st = gf_row_set_key(row, it->key, err);
    if (st != GF_OK) return st;
    if (!s->options.keys_only)
        add_item_cells(s->m, row, it, NULL);
    else if (family_of(s->m, it->table, it->family)->layout == GF_LAYOUT_WIDE)
        add_cell(row, it, it->cell, (gf_slice){0});
    return GF_OK;
}

static void scan_close(gf_backend_scan *s)
{
    gf_free(s->items);
    gf_free(s);
}

/* ---- the backend ----------------------------------------------------------------------------- */

static const gf_schema *schema_of(gf_backend *b, unsigned number)
{
    model *m = model_of(b);
    pthread_mutex_lock(&m->lock);
    const gf_schema *s = number < m->n_tables ? m->schemas[number] : NULL;
    pthread_mutex_unlock(&m->lock);
    return s;
}

/* The schema as bytes, read again: a deep copy. */
static const gf_schema *copy_schema(model *m, const gf_schema *from)
{
    gf_buffer bytes = {0};
    gf_schema *copy = must(gf_arena_alloc(&m->bytes, sizeof *copy));
    gf_schema_write(from, &bytes);
    if (gf_schema_read(gf_buffer_view(&bytes), &m->bytes, copy, NULL) != GF_OK) abort();
    gf_buffer_release(&bytes);
    return copy;
}

static gf_status open_table(gf_backend *b, const gf_schema *schema, unsigned *number,
                            const gf_schema **stored, gf_error *err)
{
    model *m = model_of(b);
    gf_joined_schema joined;
    unsigned n = 0;
    gf_status st = GF_OK;
    pthread_mutex_lock(&m->lock);
    while (n < m->n_tables && strcmp(m->schemas[n]->name, schema->name) != 0)
        n++;
    if (n < m->n_tables) {
        st = gf_schema_join(m->schemas[n], schema, &joined, err);
        if (st == GF_OK && joined.is_more) m->schemas[n] = copy_schema(m, &joined.schema);
    } else {
        if (n == MODEL_TABLES) abort();
        m->schemas[m->n_tables++] = copy_schema(m, schema);
    }
    if (st == GF_OK) {
        *number = n;
        *stored = m->schemas[n];
    }
    pthread_mutex_unlock(&m->lock);
    return st;
}

static gf_status snapshot_create(gf_backend *b, const void **snapshot, gf_error *err)
{
    model *m = model_of(b);
    gf_status st = check_alive(b, err);
    if (st != GF_OK) return st;
    state *copy = must(gf_malloc(sizeof *copy));
    pthread_mutex_lock(&m->lock);
    *copy = copy_state(&m->now);
    pthread_mutex_unlock(&m->lock);
    *snapshot = copy;
    return GF_OK;
}

static void snapshot_free(gf_backend *b, const void *snapshot)
{
    state *s = (state *)snapshot;
    (void)b;
    gf_free(s->items);
    gf_free(s);
}

static gf_status compact(gf_backend *b, unsigned milliseconds, const gf_cancel *cancel,
                         gf_error *err)
{
    (void)b, (void)milliseconds, (void)cancel, (void)err;
    return GF_OK;
}

/* ---- holds ----------------------------------------------------------------------------------- */

static bool is_held(const process *p, unsigned table, gf_slice key)
{
    for (const gf_backend_hold *h = p->m->holds; h; h = h->next)
        for (size_t i = 0; i < h->n && h->table == table; i++)
            if (gf_slice_equal(h->keys[i], key) && (h->by == p || !writes_rows(p))) return true;
    return false;
}

static gf_status take_hold(gf_backend *b, unsigned table, const gf_slice *keys, size_t n,
                           gf_backend_hold **hold, gf_error *err)
{
    model *m = model_of(b);
    gf_status st = begin_step(b, err);
    if (st != GF_OK) return st;
    gf_backend_hold *h = must(gf_calloc(1, sizeof *h));
    pthread_mutex_lock(&m->lock);
    *h = (gf_backend_hold){.by = process_of(b), .table = table, .n = n};
    h->keys = must(gf_array(n + 1, sizeof *h->keys));
    for (size_t i = 0; i < n; i++) {
        assert(i == 0 || gf_slice_compare(keys[i - 1], keys[i]) < 0);
        h->keys[i] = keep(m, keys[i]);
    }
    for (size_t i = 0; i < n; i++)
        while (is_held(process_of(b), table, h->keys[i])) {
            pthread_cond_wait(&m->let_go, &m->lock);
            i = 0;
        }
    h->next = m->holds;
    m->holds = h;
    pthread_mutex_unlock(&m->lock);
    *hold = h;
    return GF_OK;
}

static void let_go(gf_backend *b, gf_backend_hold *hold)
{
    model *m = model_of(b);
    gf_backend_hold **at = &m->holds;
    pthread_mutex_lock(&m->lock);
    while (*at != hold)
        at = &(*at)->next;
    *at = hold->next;
    pthread_cond_broadcast(&m->let_go);
    pthread_mutex_unlock(&m->lock);
    gf_free(hold->keys);
    gf_free(hold);
}

/* ---- processes ------------------------------------------------------------------------------- */

static bool has_failed(gf_backend *b)
{
    return has_ended(process_of(b));
}

static void close_model(gf_backend *b)
{
    model *m = model_of(b);
    gf_free(b);
    pthread_mutex_lock(&m->lock);
    bool last = --m->n_processes == 0;
    pthread_mutex_unlock(&m->lock);
    if (!last) return;
    gf_free(m->now.items);
    gf_free(m->tombstones);
    gf_arena_release(&m->bytes);
    pthread_mutex_destroy(&m->lock);
    pthread_cond_destroy(&m->let_go);
    gf_free(m);
}

static gf_backend *open_process(model *m, unsigned capabilities)
{
    process *p = must(gf_calloc(1, sizeof *p));
    p->operations = (gf_backend_operations){
        .capabilities = capabilities,
        .open_table = open_table,
        .schema_of = schema_of,
        .get = get,
        .scan_open = scan_open,
        .scan_next = scan_next,
        .scan_close = scan_close,
        .write = write_model,
        .hold = take_hold,
        .let_go = let_go,
        .increment = increment,
        .snapshot_create = snapshot_create,
        .snapshot_free = snapshot_free,
        .compact = compact,
        .has_failed = has_failed,
        .close = close_model,
    };
    p->base.operations = &p->operations;
    p->m = m;
    pthread_mutex_lock(&m->lock);
    m->n_processes++;
    pthread_mutex_unlock(&m->lock);
    return &p->base;
}

static model *create_model(void)
{
    model *m = must(gf_calloc(1, sizeof *m));
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->let_go, NULL);
    return m;
}

gf_backend *gf_model_create(void)
{
    return open_process(create_model(), GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT);
}

gf_backend *gf_model_share_as(gf_backend *first, unsigned capabilities)
{
    return open_process(first ? model_of(first) : create_model(), capabilities);
}

gf_backend *gf_model_share(gf_backend *first)
{
    return gf_model_share_as(first, GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT | GF_BACKEND_SHARED);
}

void gf_model_end_after(gf_backend *b, uint64_t writes)
{
    process_of(b)->last_write = writes;
}

uint64_t gf_model_writes(gf_backend *b)
{
    return process_of(b)->writes;
}

void gf_model_lose_answer(gf_backend *b, uint64_t writes, unsigned calls)
{
    process *p = process_of(b);
    p->cut_then = calls;
    p->unanswered = p->writes + writes;
}

void gf_model_watch(gf_backend *b, void (*before_step)(void *context), void *context)
{
    process_of(b)->before_step = before_step;
    process_of(b)->context = context;
}

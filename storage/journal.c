#include "storage/journal.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "storage/schema.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OWNER GF_SLICE("owner")
#define BATCH GF_SLICE("batch")
#define CLOCK GF_SLICE("clock")

enum { OWNER_BYTES = 20 + 1 + 16 + 1 };

/* <stamp> <name> of the holder, or <stamp> where nobody holds the row; ends with a NUL. */
typedef struct owner_cell {
    char bytes[OWNER_BYTES];
} owner_cell;

struct gf_held_row {
    gf_database *db;
    gf_buffer key;
    owner_cell owner; /* as this one has written it */
    uint64_t stamp;
    bool is_done_with; /* lost, or a write failed in the middle: nothing more is written */
};

/* ---- the cells ------------------------------------------------------------------------------- */

static gf_slice name_of(const gf_held_row *h)
{
    return gf_buffer_view(&h->key);
}

static gf_change cell_change(const gf_held_row *h, gf_change_kind kind, unsigned family,
                             gf_slice qualifier, gf_slice value)
{
    return (gf_change){.kind = kind,
                       .table = gf_table_number(h->db->holds.table),
                       .family = family,
                       .key = name_of(h),
                       .qualifier = qualifier,
                       .value = value};
}

/* A cell of the row that is held; NULL where it is not there. */
static gf_status read_cell(const gf_held_row *h, unsigned family, const char *qualifier,
                           gf_row *row, const gf_cell **cell, gf_error *err)
{
    gf_status st = gf_table_get(h->db->holds.table, NULL, name_of(h), 1u << family, row, err);
    *cell = st == GF_OK ? gf_row_find(row, family, qualifier) : NULL;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Whether what is written under this hold has the database's times (gf_database_hold_by_time). */
static bool holds_by_time(const gf_held_row *h)
{
    return h->db->holds.by_time.len && gf_slice_equal(name_of(h), h->db->holds.by_time);
}

static bool is_by_clock(const gf_held_row *h, const gf_change *c)
{
    uint32_t families = c->kind == GF_CHANGE_DELETE_ROW ? c->families : UINT32_C(1) << c->family;
    return families & h->db->holds.by_clock;
}

/*
 * Changes of the held row alone, where the owner is `owner` (NULL: nobody ever was), as of the stamp,
 * which is no lower than that of any change before; but for those by the database's clock.
 */
static gf_status change_held(const gf_held_row *h, const gf_slice *owner, gf_change *changes,
                             size_t n, uint64_t stamp, gf_error *err)
{
    gf_backend *b = h->db->backend;
    gf_expectation is = {gf_table_number(h->db->holds.table), h->db->holds.owner, name_of(h), OWNER,
                         owner};
    for (size_t i = 0; i < n; i++)
        changes[i].timestamp = is_by_clock(h, &changes[i]) ? 0 : (int64_t)stamp;
    return b->operations->write(b, changes, n, &is, gf_hold_of_thread(h->db), GF_SYNC_ON, err);
}

static gf_status change_own(const gf_held_row *h, gf_change *changes, size_t n, uint64_t stamp,
                            gf_error *err)
{
    gf_slice owner = gf_slice_str(h->owner.bytes);
    return change_held(h, &owner, changes, n, stamp, err);
}

/* False where it is no owner. The name is empty where nobody holds the row. */
static bool read_owner(gf_slice value, uint64_t *stamp, gf_slice *name)
{
    if (!gf_number_take(&value, 20, stamp)) return false;
    bool held = value.len > 0;
    *name = gf_slice_skip(value, held);
    return !held || (value.ptr[0] == ' ' && value.len > 1);
}

static owner_cell owner_of(const gf_held_row *h, uint64_t stamp, bool held)
{
    owner_cell owner;
    int n = snprintf(owner.bytes, sizeof owner.bytes, "%" PRIu64, stamp);
    if (held)
        snprintf(owner.bytes + n, sizeof owner.bytes - (size_t)n, " %016" PRIx64,
                 h->db->holds.token);
    return owner;
}

/* ---- the journal ----------------------------------------------------------------------------- */

static bool is_of_held(const gf_held_row *h, const gf_change *c)
{
    return c->table == gf_table_number(h->db->holds.table) && gf_slice_equal(c->key, name_of(h));
}

/* Beside the kinds of changes: what a table is, and what is added to a kind whose change has a time. */
enum { A_TABLE = GF_CHANGE_PUT_BLOCK + 1, TIMED = 16 };

/*
 * The first change of a table comes behind its number and its schema, since of tables that were opened
 * after holds began other processes have other numbers, or have not even heard.
 */
static gf_status write_table(const gf_held_row *h, unsigned number, gf_buffer *to, gf_error *err)
{
    gf_buffer schema = {0};
    if (number <= h->db->holds.last_fixed && !holds_by_time(h)) return GF_OK;
    gf_schema_write(gf_table_schema(gf_database_table(h->db, number)), &schema);
    gf_status st = gf_buffer_check(&schema, err);
    gf_buffer_varint(to, A_TABLE);
    gf_buffer_varint(to, number);
    gf_buffer_string(to, gf_buffer_view(&schema));
    gf_buffer_release(&schema);
    return st;
}

static void write_change(gf_buffer *to, const gf_change *c)
{
    const uint64_t numbers[] = {c->timestamp ? (uint64_t)c->kind + TIMED : (uint64_t)c->kind,
                                (uint64_t)c->form,
                                c->table,
                                c->family,
                                c->families,
                                c->n_columns};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        gf_buffer_varint(to, numbers[i]);
    if (c->timestamp) gf_buffer_varint(to, (uint64_t)c->timestamp);
    gf_buffer_string(to, c->key);
    gf_buffer_string(to, c->qualifier);
    gf_buffer_string(to, c->value);
    for (size_t i = 0; i < c->n_columns; i++) {
        gf_buffer_string(to, c->columns[i].name);
        gf_buffer_string(to, c->columns[i].value);
    }
}

static gf_status write_journal(const gf_held_row *h, const gf_change *changes, size_t n,
                               uint64_t stamp, gf_buffer *to, gf_error *err)
{
    bool told[GF_MAX_TABLES] = {false};
    gf_status st = GF_OK;
    gf_buffer_varint(to, stamp);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        bool *known = &told[changes[i].table];
        if (!*known) st = write_table(h, changes[i].table, to, err);
        *known = true;
        write_change(to, &changes[i]);
    }
    return st == GF_OK ? gf_buffer_check(to, err) : st;
}

/* Slices of it are borrowed from the journal. */
static gf_status read_change(gf_slice *from, uint32_t kind, gf_arena *memory, gf_change *c,
                             bool *good, gf_error *err)
{
    uint32_t form = 0, n = 0;
    uint64_t time = 0;
    bool timed = kind >= TIMED;
    if (timed) kind -= TIMED;
    *good = kind <= GF_CHANGE_PUT_BLOCK && gf_slice_take_varint32(from, &form) &&
            form <= GF_VALUE_SMALLER && gf_slice_take_varint32(from, &c->table) &&
            gf_slice_take_varint32(from, &c->family) &&
            gf_slice_take_varint32(from, &c->families) && gf_slice_take_varint32(from, &n) &&
            (!timed || gf_slice_take_varint(from, &time)) && time <= INT64_MAX &&
            gf_slice_take_string(from, &c->key) && gf_slice_take_string(from, &c->qualifier) &&
            gf_slice_take_string(from, &c->value) && n <= from->len;
    if (!*good) return GF_OK;
    gf_column *columns = n ? gf_arena_alloc(memory, n * sizeof *columns) : NULL;
    if (n && !columns) return gf_fail_memory(err, "a journal");
    for (uint32_t i = 0; i < n && *good; i++)
        *good = gf_slice_take_string(from, &columns[i].name) &&
                gf_slice_take_string(from, &columns[i].value);
    c->kind = (gf_change_kind)kind;
    c->timestamp = (int64_t)time;
    c->form = (gf_value_form)form;
    c->columns = columns;
    c->n_columns = n;
    return GF_OK;
}

/* ---- a batch --------------------------------------------------------------------------------- */

/*
 * By key, those of one row in their order, which is that of the array; tables from the last one on, so
 * that what tells of changes (the table changes) is there before what has changed.
 */
static int by_row(const void *a, const void *b)
{
    const gf_change *x = *(const gf_change *const *)a, *y = *(const gf_change *const *)b;
    if (x->table != y->table) return x->table > y->table ? -1 : 1;
    int order = gf_slice_compare(x->key, y->key);
    return order ? order : (x > y) - (x < y);
}

/* The changes in the order in which they are written, those of one row beside each other; to be freed. */
static gf_status sort_changes(const gf_change *changes, size_t n, gf_change **sorted, gf_error *err)
{
    const gf_change **order = gf_array(n + 1, sizeof *order);
    gf_change *copies = gf_array(n + 1, sizeof *copies);
    gf_status st = order && copies ? GF_OK : gf_fail_memory(err, "a batch");
    for (size_t i = 0; i < n && st == GF_OK; i++)
        order[i] = &changes[i];
    if (n && st == GF_OK) qsort(order, n, sizeof *order, by_row);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        copies[i] = *order[i];
    gf_free(order);
    if (st == GF_OK)
        *sorted = copies;
    else
        gf_free(copies);
    return st;
}

/* Changes of rows that are not held. */
static gf_status write_others(const gf_held_row *h, const gf_change *changes, size_t n,
                              uint64_t stamp, gf_error *err)
{
    gf_backend *b = h->db->backend;
    gf_change *others;
    size_t n_others = 0;
    gf_status st = sort_changes(changes, n, &others, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n; i++) {
        if (is_of_held(h, &others[i])) continue;
        others[n_others] = others[i];
        if (!others[n_others].timestamp) others[n_others].timestamp = (int64_t)stamp;
        n_others++;
    }
    if (n_others)
        st = b->operations->write(b, others, n_others, NULL, gf_hold_of_thread(h->db), GF_SYNC_ON,
                                  err);
    gf_free(others);
    return st;
}

/* The held row's own, and one more. What is deleted of it is never the hold itself. */
static gf_status write_held(const gf_held_row *h, const gf_change *changes, size_t n,
                            const gf_change *more, uint64_t stamp, gf_error *err)
{
    uint32_t kept = 1u << h->db->holds.owner | 1u << h->db->holds.journal;
    uint32_t by_clock = h->db->holds.by_clock;
    gf_change *own = gf_array(2 * n + 1, sizeof *own);
    size_t n_own = 0;
    if (!own) return gf_fail_memory(err, "a batch");
    for (size_t i = 0; i < n; i++) {
        const gf_change *c = &changes[i];
        if (!is_of_held(h, c)) continue;
        own[n_own] = *c;
        own[n_own++].families &= ~kept;
        if (c->kind != GF_CHANGE_DELETE_ROW || !(c->families & by_clock)) continue;
        own[n_own - 1].families &= ~by_clock; /* what is by the clock goes by itself */
        own[n_own] = *c;
        own[n_own++].families = c->families & by_clock;
    }
    own[n_own++] = *more;
    gf_status st = change_own(h, own, n_own, stamp, err);
    gf_free(own);
    return st;
}

static gf_status make_changes(const gf_held_row *h, const gf_change *changes, size_t n,
                              uint64_t stamp, gf_error *err)
{
    gf_change journal =
        cell_change(h, GF_CHANGE_DELETE_CELL, h->db->holds.journal, BATCH, (gf_slice){0});
    gf_status st = write_others(h, changes, n, stamp, err);
    return st == GF_OK ? write_held(h, changes, n, &journal, h->stamp, err) : st;
}

/* A table as a journal numbers it. */
typedef struct numbered {
    uint32_t number;
    gf_table *table; /* NULL: gone */
} numbered;

typedef struct replaying {
    const gf_held_row *h;
    gf_arena memory;
    gf_change *changes; /* n of capacity */
    size_t n, capacity;
    numbered *tables; /* n_tables of table_capacity */
    size_t n_tables, table_capacity;
} replaying;

/* The table here, opened if need be. Those of users are found by their names; *table NULL: gone. */
static gf_status find_table(const gf_held_row *h, const gf_schema *schema, gf_table **table,
                            gf_error *err)
{
    const gf_row_holds *holds = &h->db->holds;
    *table = NULL;
    if (!holds_by_time(h) || !holds->find) return gf_table_open(h->db, schema, table, err);
    return holds->find(holds->find_context, schema->name, table, err);
}

static gf_status read_table(replaying *r, gf_slice *journal, bool *good, gf_error *err)
{
    gf_slice bytes;
    gf_schema schema;
    numbered t = {0};
    *good = gf_slice_take_varint32(journal, &t.number) && gf_slice_take_string(journal, &bytes);
    if (!*good) return GF_OK;
    if (!gf_grow(&r->tables, &r->table_capacity, r->n_tables + 1, sizeof *r->tables))
        return gf_fail_memory(err, "a journal");
    gf_status st = gf_schema_read(bytes, &r->memory, &schema, err);
    if (st == GF_OK) st = find_table(r->h, &schema, &t.table, err);
    if (st == GF_OK) r->tables[r->n_tables++] = t;
    return st;
}

/* Whether the table can have the change: its family, its row; of a block the row that it begins with. */
static bool fits(const gf_table *t, const gf_change *c)
{
    const gf_schema *s = gf_table_schema(t);
    gf_slice key = c->key;
    if (c->family >= s->n_families) return false; /* 0 where a row goes */
    if (c->kind == GF_CHANGE_PUT_BLOCK) {
        if (!s->families[c->family].run) return false;
        key.len = gf_schema_row_length(s, key);
    }
    return gf_table_check_key(t, key, NULL) == GF_OK;
}

/*
 * Give the change its table's number here: the journal has told of the table, or all processes have
 * it by that number. *there is false where the table is gone, or (of users') another one of that name.
 */
static void find_place(const replaying *r, gf_change *c, bool *there, bool *good)
{
    gf_table *table = NULL;
    bool told = false;
    for (size_t i = 0; i < r->n_tables && !told; i++) {
        told = r->tables[i].number == c->table;
        table = r->tables[i].table;
    }
    if (!told && c->table <= r->h->db->holds.last_fixed)
        table = gf_database_table(r->h->db, c->table);
    bool able = table && fits(table, c);
    *good = able || (told && (!table || holds_by_time(r->h)));
    *there = able;
    if (able) c->table = gf_table_number(table);
}

static gf_status read_next(replaying *r, gf_slice *journal, bool *good, gf_error *err)
{
    uint32_t kind;
    gf_change c = {0};
    bool there = false;
    *good = gf_slice_take_varint32(journal, &kind);
    if (!*good) return GF_OK;
    if (kind == A_TABLE) return read_table(r, journal, good, err);
    gf_status st = read_change(journal, kind, &r->memory, &c, good, err);
    if (st == GF_OK && *good) find_place(r, &c, &there, good);
    if (st != GF_OK || !there) return st;
    if (!gf_grow(&r->changes, &r->capacity, r->n + 1, sizeof *r->changes))
        return gf_fail_memory(err, "a journal");
    r->changes[r->n++] = c;
    return GF_OK;
}

static gf_status replay(const gf_held_row *h, gf_slice journal, gf_error *err)
{
    replaying r = {.h = h};
    uint64_t stamp = 0;
    bool good = gf_slice_take_varint(&journal, &stamp) && stamp && stamp <= h->stamp;
    gf_status st = GF_OK;
    while (good && journal.len && st == GF_OK)
        st = read_next(&r, &journal, &good, err);
    if (!good) st = gf_fail(err, GF_ECORRUPT, "the journal of a row that is held is damaged");
    if (st == GF_OK) st = make_changes(h, r.changes, r.n, stamp, err);
    gf_free(r.changes);
    gf_free(r.tables);
    gf_arena_release(&r.memory);
    return st;
}

/* Finish what the last holder has left. */
static gf_status finish_last(const gf_held_row *h, gf_error *err)
{
    gf_row row = {0};
    const gf_cell *cell;
    gf_status st = read_cell(h, h->db->holds.journal, "batch", &row, &cell, err);
    if (st == GF_OK && cell) st = replay(h, cell->value, err);
    gf_row_release(&row);
    return st;
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* How another's hold is seen to stay as it is. */
typedef struct watching {
    gf_buffer seen;
    double since;
    unsigned times;
} watching;

/* True once it has been unchanged for the time of a hold. */
static bool has_ended(const gf_database *db, watching *w, gf_slice owner)
{
    double now = gf_clock_seconds();
    if (!w->times || !gf_slice_equal(gf_buffer_view(&w->seen), owner)) {
        gf_buffer_reset(&w->seen);
        gf_buffer_slice(&w->seen, owner);
        w->since = now;
    }
    w->times++;
    return now - w->since >= db->holds.patience;
}

static void wait_a_moment(const watching *w)
{
    enum { SHORTEST = 1000000, TIMES = 20 };
    long times = w->times < TIMES ? (long)w->times + 1 : TIMES;
    nanosleep(&(struct timespec){.tv_nsec = SHORTEST * times}, NULL);
}

/* One try; *taken: the row is this one's. */
static gf_status try_to_take(gf_held_row *h, watching *w, bool *taken, gf_error *err)
{
    gf_row row = {0};
    const gf_cell *cell;
    gf_slice name = {0}, was = {0};
    gf_error why = {GF_OK, ""};
    uint64_t last = 0, now = holds_by_time(h) ? 0 : (uint64_t)gf_clock_ms();
    gf_status st = read_cell(h, h->db->holds.owner, "owner", &row, &cell, err);
    if (st == GF_OK && cell) was = cell->value;
    if (st == GF_OK && cell && !read_owner(was, &last, &name))
        st = gf_fail(err, GF_ECORRUPT, "the owner of a row that is held is damaged");
    if (st != GF_OK || (name.len && !has_ended(h->db, w, was))) goto done;
    h->stamp = last < now ? now : last + 1;
    h->owner = owner_of(h, h->stamp, true);
    gf_change put =
        cell_change(h, GF_CHANGE_PUT, h->db->holds.owner, OWNER, gf_slice_str(h->owner.bytes));
    st = change_held(h, cell ? &was : NULL, &put, 1, h->stamp, &why);
    *taken = st == GF_OK;
    if (st == GF_ECONFLICT) st = GF_OK; /* another was first */
    if (st != GF_OK && err) *err = why;
done:
    gf_row_release(&row);
    return st;
}

static void free_row(gf_held_row *h)
{
    gf_buffer_release(&h->key);
    gf_free(h);
}

gf_status gf_held_row_take(gf_database *db, gf_slice key, gf_held_row **row, gf_error *err)
{
    watching w = {0};
    bool taken = false;
    gf_held_row *h = gf_calloc(1, sizeof *h);
    if (!h) return gf_fail_memory(err, "a hold");
    h->db = db;
    gf_buffer_slice(&h->key, key);
    gf_status st = gf_buffer_check(&h->key, err);
    while (st == GF_OK && !taken) {
        st = try_to_take(h, &w, &taken, err);
        if (st == GF_OK && !taken) wait_a_moment(&w);
    }
    if (st == GF_OK) st = finish_last(h, err);
    gf_buffer_release(&w.seen);
    if (st == GF_OK) {
        *row = h;
        return GF_OK;
    }
    if (taken)
        gf_held_row_let_go(h);
    else
        free_row(h);
    return st;
}

void gf_held_row_let_go(gf_held_row *h)
{
    if (!h) return;
    owner_cell none = owner_of(h, h->stamp, false);
    gf_change put =
        cell_change(h, GF_CHANGE_PUT, h->db->holds.owner, OWNER, gf_slice_str(none.bytes));
    (void)change_own(h, &put, 1, h->stamp, NULL); /* else it is another's, or ends by itself */
    free_row(h);
}

uint64_t gf_held_row_stamp(const gf_held_row *h)
{
    return h->stamp;
}

/* ---- writing --------------------------------------------------------------------------------- */

static gf_status check_condition(gf_database *db, const gf_expectation *c, gf_error *err)
{
    gf_row row = {0};
    gf_selection what = {UINT32_C(1) << c->family, true, c->qualifier, 1};
    gf_backend *b = db->backend;
    gf_status st = gf_row_begin(&row, err);
    if (st == GF_OK) st = b->operations->get(b, NULL, c->table, c->key, &what, &row, err);
    bool there = row.n_cells > 0;
    bool holds = c->expected ? there && gf_slice_equal(row.cells[0].value, *c->expected) : !there;
    gf_row_release(&row);
    if (st != GF_OK || holds) return st;
    return gf_fail(err, GF_ECONFLICT, "another value is there");
}

static bool is_of_row(const gf_change *c, const gf_change *of)
{
    return c->table == of->table && gf_slice_equal(c->key, of->key);
}

/* Changes of a journal must be such that the database can have them. */
static gf_status check_rows(const gf_held_row *h, const gf_change *changes, size_t n, gf_error *err)
{
    gf_backend *b = h->db->backend;
    gf_change *sorted;
    if (!b->operations->check_row) return GF_OK;
    gf_status st = sort_changes(changes, n, &sorted, err);
    if (st != GF_OK) return st;
    for (size_t i = 0, end; i < n && st == GF_OK; i = end) {
        for (end = i + 1; end < n && is_of_row(&sorted[end], &sorted[i]); end++)
            ;
        st = b->operations->check_row(b, sorted + i, end - i, err);
    }
    gf_free(sorted);
    return st;
}

/* Whether the row has that owner. Nobody else writes it: of its holder's names each has a stamp of its own. */
static bool has_owner(const gf_held_row *h, const owner_cell *owner)
{
    gf_row row = {0};
    const gf_cell *cell;
    bool has = read_cell(h, h->db->holds.owner, "owner", &row, &cell, NULL) == GF_OK && cell &&
               gf_slice_equal(cell->value, gf_slice_str(owner->bytes));
    gf_row_release(&row);
    return has;
}

/* Step 1, or the only one; the owner is then the one with the new stamp. */
static gf_status begin_write(gf_held_row *h, const gf_change *changes, size_t n, bool alone,
                             gf_error *err)
{
    gf_buffer journal = {0};
    owner_cell owner = owner_of(h, h->stamp + 1, true);
    gf_status st = alone ? GF_OK : write_journal(h, changes, n, h->stamp + 1, &journal, err);
    if (st != GF_OK) goto done;
    gf_change puts[] = {
        cell_change(h, GF_CHANGE_PUT, h->db->holds.owner, OWNER, gf_slice_str(owner.bytes)),
        cell_change(h, GF_CHANGE_PUT, h->db->holds.journal, BATCH, gf_buffer_view(&journal))};
    st = alone ? write_held(h, changes, n, &puts[0], h->stamp + 1, err)
               : change_own(h, puts, 2, h->stamp + 1, err);
    if (st == GF_EUNKNOWN && has_owner(h, &owner)) st = GF_OK; /* only the answer was lost */
    if (st == GF_OK) {
        h->owner = owner;
        h->stamp++;
    }
done:
    gf_buffer_release(&journal);
    return st;
}

/* Another has taken the row, and makes the changes; when it can be taken again, they are there. */
static gf_status wait_until_made(const gf_held_row *h, gf_error *err)
{
    gf_held_row *again;
    gf_status st = gf_held_row_take(h->db, name_of(h), &again, err);
    if (st == GF_OK) gf_held_row_let_go(again);
    return st;
}

/* Behind step 1: whoever takes the row next makes the changes, whatever has failed here. */
static gf_status fail_amid(const gf_error *why, gf_error *err)
{
    if (why->status != GF_EUNKNOWN)
        return gf_fail(err, GF_EUNKNOWN, "whether it was written is not known: %s", why->message);
    if (err) *err = *why;
    return GF_EUNKNOWN;
}

static gf_status fail_lost(gf_status st, gf_error *err)
{
    if (st != GF_ECONFLICT) return st;
    return gf_fail(err, st, "another process has taken over what was being written");
}

/* ---- times of the database ------------------------------------------------------------------- */

static bool deletes(const gf_change *c)
{
    return c->kind == GF_CHANGE_DELETE_CELL || c->kind == GF_CHANGE_DELETE_ROW;
}

static uint32_t families_of(const gf_change *c)
{
    return c->kind == GF_CHANGE_DELETE_ROW ? c->families : UINT32_C(1) << c->family;
}

static bool is_of_cell(const gf_change *c)
{
    return c->kind == GF_CHANGE_PUT || c->kind == GF_CHANGE_DELETE_CELL;
}

/* Whether a change is of what another one deletes, both of one row. */
static bool covers(const gf_change *deletion, const gf_change *c)
{
    if (!deletes(deletion) || !(families_of(deletion) & families_of(c))) return false;
    return deletion->kind == GF_CHANGE_DELETE_ROW || !is_of_cell(c) ||
           gf_slice_equal(deletion->qualifier, c->qualifier);
}

/* The time of the newest cell that the change is of. */
static int64_t newest_time(const gf_row *row, const gf_change *c)
{
    int64_t newest = 0;
    for (size_t i = 0; i < row->n_cells; i++) {
        const gf_cell *cell = &row->cells[i];
        bool of = families_of(c) >> cell->family & 1 &&
                  (!is_of_cell(c) || gf_slice_equal(cell->qualifier, c->qualifier));
        if (of && cell->timestamp > newest) newest = cell->timestamp;
    }
    return newest;
}

/*
 * Of the row of changes[at], none of which has a time: what deletes is as of the newest cell that it
 * deletes, and so is what puts a cell that is deleted as well.
 */
static gf_status raise_times(const gf_held_row *h, gf_change *changes, size_t n, size_t at,
                             gf_error *err)
{
    gf_row row = {0};
    gf_backend *b = h->db->backend;
    const gf_change first = changes[at];
    gf_selection what = {.versions = 1};
    for (size_t i = at; i < n; i++)
        if (is_of_row(&changes[i], &first)) what.families |= families_of(&changes[i]);
    gf_status st = gf_row_begin(&row, err);
    if (st == GF_OK) st = b->operations->get(b, NULL, first.table, first.key, &what, &row, err);
    for (size_t i = at; i < n && st == GF_OK; i++) {
        bool raised = deletes(&changes[i]);
        if (!is_of_row(&changes[i], &first)) continue;
        for (size_t j = at; j < n && !raised; j++)
            raised = is_of_row(&changes[j], &first) && covers(&changes[j], &changes[i]);
        if (raised) changes[i].timestamp = newest_time(&row, &changes[i]);
        if (!changes[i].timestamp) changes[i].timestamp = 1; /* looked at */
    }
    gf_row_release(&row);
    return st;
}

/* The database's time, by a cell that is put without one, becomes that of the next stamp. */
static gf_status learn_time(gf_held_row *h, gf_error *err)
{
    gf_row row = {0};
    const gf_cell *cell;
    gf_backend *b = h->db->backend;
    gf_slice owner = gf_slice_str(h->owner.bytes);
    gf_change put = cell_change(h, GF_CHANGE_PUT, h->db->holds.owner, CLOCK, GF_SLICE("-"));
    gf_expectation mine = {gf_table_number(h->db->holds.table), h->db->holds.owner, name_of(h),
                           OWNER, &owner};
    gf_status st =
        b->operations->write(b, &put, 1, &mine, gf_hold_of_thread(h->db), GF_SYNC_OFF, err);
    if (st == GF_OK) st = read_cell(h, h->db->holds.owner, "clock", &row, &cell, err);
    if (st == GF_OK && cell && cell->timestamp > (int64_t)h->stamp)
        h->stamp = (uint64_t)cell->timestamp - 1;
    gf_row_release(&row);
    return st;
}

/* Before step 1: changes have a time only where it is later than the next stamp. */
static gf_status choose_times(gf_held_row *h, gf_change *changes, size_t n, bool deletes_later,
                              gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < n; i++)
        changes[i].timestamp = 0;
    if (!holds_by_time(h)) return GF_OK;
    for (size_t i = 0; i < n && st == GF_OK && deletes_later; i++)
        if (deletes(&changes[i]) && !changes[i].timestamp) st = raise_times(h, changes, n, i, err);
    if (st == GF_OK) st = learn_time(h, err);
    for (size_t i = 0; i < n; i++)
        if (changes[i].timestamp <= (int64_t)h->stamp + 1) changes[i].timestamp = 0;
    return st;
}

gf_status gf_held_row_write(gf_held_row *h, gf_change *changes, size_t n, bool deletes_later,
                            const gf_expectation *condition, gf_error *err)
{
    size_t n_own = 0;
    gf_error why = {GF_OK, ""};
    gf_status st = h->is_done_with ? GF_ECONFLICT : GF_OK;
    if (st != GF_OK) return fail_lost(st, err);
    if (condition) st = check_condition(h->db, condition, err);
    if (st != GF_OK || n == 0) return st;
    for (size_t i = 0; i < n; i++)
        n_own += is_of_held(h, &changes[i]);
    st = check_rows(h, changes, n, err);
    if (st == GF_OK) st = choose_times(h, changes, n, deletes_later, err);
    if (st != GF_OK) return fail_lost(st, err);
    st = begin_write(h, changes, n, n_own == n, err);
    h->is_done_with = st != GF_OK;
    if (st != GF_OK || n_own == n) return fail_lost(st, err);
    st = make_changes(h, changes, n, h->stamp, &why);
    h->is_done_with = st != GF_OK;
    if (st == GF_ECONFLICT) st = wait_until_made(h, &why);
    return st == GF_OK ? st : fail_amid(&why, err);
}

gf_status gf_journal_write_free(gf_database *db, gf_change *changes, size_t n,
                                const gf_expectation *condition, uint64_t stamp, gf_sync sync,
                                gf_error *err)
{
    gf_backend *b = db->backend;
    bool one = true;
    for (size_t i = 0; i < n && condition && one; i++)
        one =
            changes[i].table == condition->table && gf_slice_equal(changes[i].key, condition->key);
    gf_status st = condition && !one ? check_condition(db, condition, err) : GF_OK;
    if (st != GF_OK || n == 0) return st;
    for (size_t i = 0; i < n && stamp; i++)
        changes[i].timestamp = (int64_t)stamp;
    return b->operations->write(b, changes, n, one ? condition : NULL, NULL, sync, err);
}

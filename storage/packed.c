#include "storage/packed.h"

#include "storage/schema.h"

#include <assert.h>
#include <stdlib.h>

enum { FIRST_COLUMNS = 16, NEAR_END = 64 };

/* Known columns by number, others behind them by name. */
static int compare_columns(const gf_packed_column *a, const gf_packed_column *b)
{
    if (a->number >= 0 && b->number >= 0) return a->number - b->number;
    if (a->number >= 0 || b->number >= 0) return a->number >= 0 ? -1 : 1;
    return gf_slice_compare(a->name, b->name);
}

/* The index of the column, or the one where it belongs; *there is whether it is there. Most columns
 * come in order, so the end is tried first. */
static size_t find_column(const gf_packed *p, const gf_packed_column *column, bool *there)
{
    size_t low = 0, high = p->n;
    *there = false;
    if (p->n && compare_columns(&p->columns[p->n - 1], column) < 0) return p->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_columns(&p->columns[middle], column);
        if (order == 0) *there = true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static gf_packed_column numbered_column(const gf_packed *p, gf_slice name, gf_slice value)
{
    int last = p->n ? p->columns[p->n - 1].number : -1;
    return (gf_packed_column){name, value, gf_schema_column(p->family, name, last + 1), 0};
}

static gf_status grow_columns(gf_packed *p, gf_error *err)
{
    size_t capacity = p->capacity ? p->capacity * 2 : FIRST_COLUMNS;
    gf_packed_column *columns = gf_arena_alloc(p->arena, capacity * sizeof *columns);
    if (!columns) return gf_fail_memory(err, "the columns of a row");
    if (p->n) memcpy(columns, p->columns, p->n * sizeof *columns);
    p->columns = columns;
    p->capacity = capacity;
    return GF_OK;
}

gf_status gf_packed_set(gf_packed *p, gf_slice name, gf_slice value, gf_error *err)
{
    bool there = false, settled = p->n == p->n_sorted;
    gf_packed_column column = numbered_column(p, name, value);
    size_t at = settled ? find_column(p, &column, &there) : p->n;
    if (there) {
        p->columns[at] = column;
        return GF_OK;
    }
    gf_status st = p->n == p->capacity ? grow_columns(p, err) : GF_OK;
    if (st != GF_OK) return st;
    if (settled && p->n - at <= NEAR_END) {
        memmove(p->columns + at + 1, p->columns + at, (p->n - at) * sizeof column);
        p->n_sorted++;
    } else { /* far from the end: a row of n columns in any order would cost n * n moves */
        if (p->n - p->n_sorted >= UINT32_MAX)
            return gf_fail(err, GF_ELIMIT, "a row has too many columns");
        column.order = (uint32_t)(p->n - p->n_sorted) + 1;
        at = p->n;
    }
    p->columns[at] = column;
    p->n++;
    return GF_OK;
}

static int compare_by_order(const void *a, const void *b)
{
    const gf_packed_column *x = a, *y = b;
    int order = compare_columns(x, y);
    return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

/* Put the columns that wait where they belong, one by one. */
static void insert_few(gf_packed *p)
{
    size_t n = p->n;
    p->n = p->n_sorted;
    for (size_t i = p->n_sorted; i < n; i++) {
        bool there;
        gf_packed_column column = p->columns[i];
        size_t at = find_column(p, &column, &there);
        column.order = 0;
        if (!there) memmove(p->columns + at + 1, p->columns + at, (p->n++ - at) * sizeof column);
        p->columns[at] = column;
    }
    p->n_sorted = p->n;
}

static void sort_all(gf_packed *p)
{
    size_t kept = 0;
    qsort(p->columns, p->n, sizeof *p->columns, compare_by_order);
    for (size_t i = 0; i < p->n; i++) {
        bool later = i + 1 < p->n && compare_columns(&p->columns[i], &p->columns[i + 1]) == 0;
        if (later) continue;
        p->columns[kept] = p->columns[i];
        p->columns[kept++].order = 0;
    }
    p->n = p->n_sorted = kept;
}

void gf_packed_settle(gf_packed *p)
{
    enum { FEW = 8 };
    if (p->n - p->n_sorted <= FEW)
        insert_few(p);
    else
        sort_all(p);
}

bool gf_packed_remove(gf_packed *p, gf_slice name)
{
    bool there;
    gf_packed_settle(p);
    gf_packed_column column = numbered_column(p, name, (gf_slice){0});
    size_t at = find_column(p, &column, &there);
    if (!there) return false;
    p->n_sorted--;
    memmove(p->columns + at, p->columns + at + 1, (--p->n - at) * sizeof column);
    return true;
}

static char *write_varint(char *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (char)(v | 0x80);
    *to++ = (char)v;
    return to;
}

static char *write_string(char *to, gf_slice s)
{
    to = write_varint(to, s.len);
    if (s.len) memcpy(to, s.ptr, s.len);
    return to + s.len;
}

void gf_packed_write(gf_packed *p, gf_buffer *out)
{
    enum { NUMBERS = 3 * 10 }; /* bytes of a column's varints at most */
    size_t most = 0;
    gf_packed_settle(p);
    for (size_t i = 1; i < p->n; i++)
        assert(compare_columns(&p->columns[i - 1], &p->columns[i]) < 0);
    for (size_t i = 0; i < p->n; i++)
        most += NUMBERS + p->columns[i].name.len + p->columns[i].value.len;
    char *to = gf_buffer_reserve(out, most);
    if (!to) return;
    for (size_t i = 0; i < p->n; i++) {
        const gf_packed_column *c = &p->columns[i];
        to = write_varint(to, (uint64_t)(c->number + 1));
        if (c->number < 0) to = write_string(to, c->name);
        to = write_string(to, c->value);
    }
    assert((size_t)(to - out->ptr) <= out->len + most);
    out->len = (size_t)(to - out->ptr);
}

/* gf_slice_take_string, quick where the length is one byte, as most are. */
static bool take_string(gf_slice *s, gf_slice *v)
{
    if (s->len == 0 || (unsigned char)s->ptr[0] >= 0x80) return gf_slice_take_string(s, v);
    size_t n = (unsigned char)s->ptr[0];
    if (n > s->len - 1) return false;
    *v = gf_slice_of(s->ptr + 1, n);
    *s = gf_slice_skip(*s, n + 1);
    return true;
}

/* The name of a known column: looks for the list's end, which a damaged number may lie behind. */
static bool column_name(gf_packed_reader *r, uint32_t number, gf_slice *name)
{
    const char *const *columns = r->family->columns;
    while (columns && r->known <= number && columns[r->known])
        r->known++;
    if (number >= r->known) return false;
    *name = gf_slice_str(columns[number]);
    return true;
}

gf_status gf_packed_next(gf_packed_reader *r, gf_column *column, gf_error *err)
{
    uint32_t tag;
    if (r->rest.len == 0) return GF_ENOTFOUND;
    bool good = gf_slice_take_varint32(&r->rest, &tag);
    if (good)
        good = tag ? column_name(r, tag - 1, &column->name) : take_string(&r->rest, &column->name);
    if (!good || !take_string(&r->rest, &column->value))
        return gf_fail(err, GF_ECORRUPT, "the columns of family %s are damaged", r->family->name);
    return GF_OK;
}

/* Filling blocks of runs (storage/run.h). */
#include "storage/run.h"

#include "base/grow.h"
#include "base/memory.h"
#include "storage/schema.h"

#include <assert.h>

enum { ENDING = 2 };      /* bytes of the end of a key that is a string */
enum { SOME_LACK = 128 }; /* of a column's form */
enum { CELLS = 1, ROWS = 2, ENDED = 4 };
enum { BEYOND = 15 }; /* of a nibble: a varint follows */

/* A column of a block in the making. */
typedef struct gf_run_values {
    gf_buffer name;
    int order; /* number of a known column; -1 */
    gf_run_form form;
    uint32_t *numbers; /* n of capacity; of bytes, where those of each entry end */
    bool *there;       /* n of there_capacity */
    size_t capacity, there_capacity;
    gf_buffer bytes;
} gf_run_values;

/* ---- the block ------------------------------------------------------------------------------- */

static gf_status add_column(gf_run_block *b, gf_slice name, gf_run_form form, gf_error *err)
{
    int number = -1;
    gf_status st = gf_table_check_column(b->table, b->family, name, &number, err);
    if (st != GF_OK) return st;
    if (b->n_columns == b->n_made) {
        if (!gf_grow(&b->columns, &b->column_capacity, b->n_made + 1, sizeof *b->columns))
            return gf_fail_memory(err, "a block");
        b->columns[b->n_made++] = (gf_run_values){.numbers = NULL};
    }
    gf_run_values *c = &b->columns[b->n_columns];
    gf_buffer_reset(&c->name);
    gf_buffer_reset(&c->bytes);
    gf_buffer_slice(&c->name, name);
    c->order = number;
    c->form = form;
    if (b->n && (!gf_grow(&c->numbers, &c->capacity, b->n, sizeof *c->numbers) ||
                 !gf_grow(&c->there, &c->there_capacity, b->n, sizeof *c->there)))
        return gf_fail_memory(err, "a block");
    for (size_t i = 0; i < b->n; i++) {
        c->numbers[i] = 0;
        c->there[i] = false;
    }
    st = gf_buffer_check(&c->name, err);
    if (st == GF_OK) b->n_columns++;
    return st;
}

gf_status gf_run_block_begin(gf_run_block *b, gf_table *table, unsigned family,
                             const gf_run_column *columns, size_t n, gf_error *err)
{
    const gf_schema *s = gf_table_schema(table);
    const gf_family *f = &s->families[family];
    assert(f->run && (f->layout == GF_LAYOUT_PACKED || n <= 1));
    b->table = table;
    b->family = family;
    b->is_ended = f->layout == GF_LAYOUT_WIDE || s->parts[s->n_parts - 1].kind == GF_PART_STRING;
    gf_buffer_reset(&b->keys);
    b->n = b->granule = b->size = b->n_columns = 0;
    b->stored = (gf_compressed){0};
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = add_column(b, gf_slice_str(columns[i].name), columns[i].form, err);
    return st;
}

void gf_run_block_release(gf_run_block *b)
{
    for (size_t i = 0; i < b->n_made; i++) {
        gf_buffer_release(&b->columns[i].name);
        gf_buffer_release(&b->columns[i].bytes);
        gf_free(b->columns[i].numbers);
        gf_free(b->columns[i].there);
    }
    gf_free(b->columns);
    gf_free(b->key_end);
    gf_buffer_release(&b->keys);
    gf_buffer_release(&b->bytes);
    gf_buffer_release(&b->memory);
    *b = (gf_run_block){0};
}

static gf_slice entry_key(const gf_run_block *b, size_t i)
{
    size_t from = i ? b->key_end[i - 1] : 0;
    return gf_slice_of(b->keys.ptr + from, b->key_end[i] - from);
}

/* The key as it lies in the block, but for the bytes that all share. */
static gf_slice bare_key(const gf_run_block *b, size_t i)
{
    gf_slice key = entry_key(b, i);
    if (b->is_ended) key.len -= ENDING;
    return key;
}

static size_t count_shared(gf_slice a, gf_slice b)
{
    size_t n = 0, most = a.len < b.len ? a.len : b.len;
    while (n < most && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

/* ---- an entry -------------------------------------------------------------------------------- */

size_t gf_run_block_granule(const gf_schema *s, unsigned family, gf_slice key)
{
    if (s->families[family].layout == GF_LAYOUT_WIDE) return key.len;
    gf_schema less = *s;
    less.n_parts--;
    return less.n_parts ? gf_schema_row_length(&less, key) : 0;
}

/* A row key has a last part behind the block's granule, or of a wide family nothing. */
static bool ends_well(const gf_run_block *b, gf_slice key)
{
    const gf_schema *s = gf_table_schema(b->table);
    gf_slice last = gf_slice_skip(key, b->granule);
    const gf_key_part *part = &s->parts[s->n_parts - 1];
    if (s->families[b->family].layout == GF_LAYOUT_WIDE) return last.len == 0;
    if (part->kind == GF_PART_STRING) return last.len && gf_key_string_length(last) == last.len;
    return last.len == (part->kind == GF_PART_U64 ? 8 : part->width);
}

bool gf_run_block_takes(const gf_run_block *b, gf_slice key)
{
    return gf_slice_starts(key, gf_slice_of(b->keys.ptr, b->granule)) && ends_well(b, key);
}

/* The row key is one, and of the block's granule. */
static gf_status check_key(gf_run_block *b, gf_slice key, gf_error *err)
{
    const gf_schema *s = gf_table_schema(b->table);
    if (b->n && key.len <= GF_MAX_KEY && gf_run_block_takes(b, key)) return GF_OK;
    gf_status st = gf_table_check_key(b->table, key, err);
    if (st != GF_OK) return st;
    if (b->n) return gf_fail(err, GF_EINVAL, "table %s: a block must keep to its granule", s->name);
    b->granule = gf_run_block_granule(s, b->family, key);
    return GF_OK;
}

/* Append the entry's key, which is behind the one before. */
static gf_status add_key(gf_run_block *b, gf_slice key, gf_slice qualifier, gf_error *err)
{
    const gf_schema *s = gf_table_schema(b->table);
    size_t from = b->keys.len, shared = 0;
    gf_buffer_slice(&b->keys, key);
    if (s->families[b->family].layout == GF_LAYOUT_WIDE) gf_key_string(&b->keys, qualifier);
    gf_status st = gf_buffer_check(&b->keys, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&b->key_end, &b->key_capacity, b->n + 1, sizeof *b->key_end))
        return gf_fail_memory(err, "a block");
    b->key_end[b->n] = b->keys.len;
    gf_slice further =
        gf_slice_of(b->keys.ptr + from + b->granule, b->keys.len - from - b->granule);
    if (b->n) {
        gf_slice before = gf_slice_skip(entry_key(b, b->n - 1), b->granule);
        shared = count_shared(before, further);
        if (gf_slice_compare(gf_slice_skip(before, shared), gf_slice_skip(further, shared)) >= 0)
            return gf_fail(err, GF_EINVAL, "table %s: a block's keys must rise", s->name);
    }
    b->size += 1 + further.len - shared;
    return GF_OK;
}

/* The value of the entry that is being added. */
static gf_status set_value(gf_run_block *b, gf_run_values *c, const gf_run_value *v, gf_error *err)
{
    enum { NUMBER = 3 }; /* bytes of a packed one, about */
    if (!gf_grow(&c->numbers, &c->capacity, b->n + 1, sizeof *c->numbers) ||
        !gf_grow(&c->there, &c->there_capacity, b->n + 1, sizeof *c->there))
        return gf_fail_memory(err, "a block");
    c->there[b->n] = v->there;
    c->numbers[b->n] = v->there ? v->number : 0;
    if (c->form != GF_RUN_AS_BYTES) {
        b->size += v->there ? NUMBER : 0;
        return GF_OK;
    }
    if (v->bytes.len > GF_MAX_VALUE - c->bytes.len)
        return gf_fail(err, GF_ELIMIT, "table %s: a block of more than %d bytes",
                       gf_table_schema(b->table)->name, GF_MAX_VALUE);
    if (v->there) {
        gf_buffer_slice(&c->bytes, v->bytes);
        b->size += 1 + v->bytes.len;
    }
    c->numbers[b->n] = (uint32_t)c->bytes.len;
    return gf_buffer_check(&c->bytes, err);
}

/* After a failed addition the block is as it was before it. */
static gf_status end_addition(gf_run_block *b, gf_status st, size_t size, gf_error *err)
{
    if (st == GF_OK && b->size > GF_MAX_VALUE)
        st = gf_fail(err, GF_ELIMIT, "table %s: a block of more than %d bytes",
                     gf_table_schema(b->table)->name, GF_MAX_VALUE);
    if (st == GF_OK) {
        b->n++;
        return GF_OK;
    }
    b->size = size;
    gf_buffer_reset(&b->keys);
    b->keys.len = b->n ? b->key_end[b->n - 1] : 0;
    for (size_t i = 0; i < b->n_columns; i++) {
        gf_run_values *c = &b->columns[i];
        gf_buffer_reset(&c->bytes);
        if (c->form == GF_RUN_AS_BYTES) c->bytes.len = b->n ? c->numbers[b->n - 1] : 0;
    }
    return st;
}

gf_status gf_run_block_add(gf_run_block *b, gf_slice key, gf_slice qualifier,
                           const gf_run_value *values, gf_error *err)
{
    size_t size = b->size, there = 0;
    gf_status st = check_key(b, key, err);
    if (st == GF_OK && qualifier.len > GF_MAX_KEY)
        st = gf_fail(err, GF_ELIMIT, "table %s: a qualifier of more than %d bytes",
                     gf_table_schema(b->table)->name, GF_MAX_KEY);
    if (st == GF_OK) st = add_key(b, key, qualifier, err);
    for (size_t i = 0; i < b->n_columns && st == GF_OK; i++) {
        there += values[i].there;
        st = set_value(b, &b->columns[i], &values[i], err);
    }
    if (st == GF_OK && there == 0) st = gf_fail(err, GF_EINVAL, "a row without columns");
    return end_addition(b, st, size, err);
}

/* The column of that name, of bytes; made where there is none. */
static gf_status need_column(gf_run_block *b, gf_slice name, size_t *at, gf_error *err)
{
    for (*at = 0; *at < b->n_columns; ++*at)
        if (gf_slice_equal(gf_buffer_view(&b->columns[*at].name), name)) return GF_OK;
    return add_column(b, name, GF_RUN_AS_BYTES, err);
}

gf_status gf_run_block_add_cell(gf_run_block *b, gf_slice key, gf_slice qualifier, gf_slice value,
                                gf_error *err)
{
    size_t at;
    gf_run_value v = {.there = true, .bytes = value};
    gf_status st = need_column(b, GF_SLICE(""), &at, err);
    assert(gf_table_schema(b->table)->families[b->family].layout == GF_LAYOUT_WIDE);
    return st == GF_OK ? gf_run_block_add(b, key, qualifier, &v, err) : st;
}

gf_status gf_run_block_add_row(gf_run_block *b, gf_slice key, const gf_column *columns,
                               size_t n_columns, gf_error *err)
{
    gf_run_value *values = NULL;
    gf_status st = GF_OK;
    size_t at;
    assert(gf_table_schema(b->table)->families[b->family].layout == GF_LAYOUT_PACKED);
    for (size_t i = 0; i < n_columns && st == GF_OK; i++)
        st = need_column(b, columns[i].name, &at, err);
    if (st != GF_OK) return st;
    values = gf_calloc(b->n_columns + 1, sizeof *values);
    if (!values) return gf_fail_memory(err, "a block");
    for (size_t i = 0; i < n_columns; i++) {
        need_column(b, columns[i].name, &at, NULL);
        assert(b->columns[at].form == GF_RUN_AS_BYTES);
        values[at] = (gf_run_value){.there = true, .bytes = columns[i].value};
    }
    st = gf_run_block_add(b, key, (gf_slice){0}, values, err);
    gf_free(values);
    return st;
}

bool gf_run_block_is_full(const gf_run_block *b)
{
    return b->size >= GF_RUN_BYTES || b->n >= GF_RUN_ENTRIES;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The groups' bytes, and their lengths; all keys share their first bytes. */
static gf_status write_groups(const gf_run_block *b, size_t shared, gf_buffer *groups,
                              gf_buffer *lengths, gf_error *err)
{
    enum { SIZES = 1 + 2 * 10 };
    size_t begun = 0;
    gf_slice before = {0};
    for (size_t i = 0; i < b->n; i++) {
        gf_slice key = gf_slice_skip(bare_key(b, i), shared);
        if (i % GF_RUN_GROUP == 0) {
            if (i) gf_buffer_varint(lengths, groups->len - begun);
            begun = groups->len;
            before = (gf_slice){0};
        }
        size_t same = count_shared(before, key), further = key.len - same;
        if (!gf_buffer_reserve(groups, SIZES + further)) break;
        gf_buffer_byte(groups, (char)((same < BEYOND ? same : BEYOND) << 4 |
                                      (further < BEYOND ? further : BEYOND)));
        if (same >= BEYOND) gf_buffer_varint(groups, same - BEYOND);
        if (further >= BEYOND) gf_buffer_varint(groups, further - BEYOND);
        gf_buffer_slice(groups, gf_slice_skip(key, same));
        before = key;
    }
    gf_buffer_varint(lengths, groups->len - begun);
    gf_status st = gf_buffer_check(groups, err);
    return st == GF_OK ? gf_buffer_check(lengths, err) : st;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* A column's numbers as they are stored. */
typedef struct packing {
    const gf_run_values *of;
    uint32_t base;
    unsigned width;
    size_t n_there;
} packing;

static unsigned count_bits(uint32_t v)
{
    unsigned n = 0;
    for (; v; v >>= 1)
        n++;
    return n;
}

static packing measure_column(const gf_run_values *c, size_t n)
{
    packing p = {.of = c, .base = UINT32_MAX};
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        p.n_there += c->there[i];
        if (!c->there[i] && c->form != GF_RUN_AS_BYTES) continue;
        if (c->numbers[i] < p.base) p.base = c->numbers[i];
        if (c->numbers[i] > most) most = c->numbers[i];
    }
    if (c->form == GF_RUN_AS_BYTES) p.base = 0;
    p.width = p.n_there ? count_bits(most - p.base) : 0;
    return p;
}

static void write_column_head(const packing *p, size_t n, bool rows, gf_buffer *out)
{
    const gf_run_values *c = p->of;
    if (rows) {
        gf_buffer_varint(out, (uint64_t)(c->order + 1));
        if (c->order < 0) gf_buffer_string(out, gf_buffer_view(&c->name));
    }
    gf_buffer_byte(out, (char)((unsigned)c->form | (p->n_there < n ? SOME_LACK : 0U)));
    gf_buffer_varint(out, c->form == GF_RUN_AS_BYTES ? c->bytes.len : p->base);
    gf_buffer_byte(out, (char)p->width);
}

static void write_there(const packing *p, size_t n, gf_buffer *out)
{
    size_t bytes = (n + 7) / 8;
    char *to = gf_buffer_reserve(out, bytes);
    if (!to) return;
    memset(to, 0, bytes);
    for (size_t i = 0; i < n; i++)
        if (p->of->there[i]) to[i / 8] = (char)(to[i / 8] | 1 << i % 8);
    out->len += bytes;
}

static void write_numbers(const packing *p, size_t n, gf_buffer *out)
{
    size_t bytes = (n * p->width + 7) / 8, at = 0;
    char *to = gf_buffer_reserve(out, bytes + 1);
    uint64_t bits = 0;
    unsigned held = 0;
    if (!to) return;
    bool all = p->of->form == GF_RUN_AS_BYTES;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = all || p->of->there[i] ? p->of->numbers[i] - p->base : 0;
        bits |= v << held;
        for (held += p->width; held >= 8; held -= 8, bits >>= 8)
            to[at++] = (char)bits;
    }
    if (held) to[at++] = (char)bits;
    assert(at == bytes);
    out->len += bytes;
}

/* Known columns by number, the others behind them by name. */
static bool comes_before(const gf_run_values *a, const gf_run_values *b)
{
    if (a->order >= 0 || b->order >= 0)
        return a->order >= 0 && (b->order < 0 || a->order < b->order);
    return gf_slice_compare(gf_buffer_view(&a->name), gf_buffer_view(&b->name)) < 0;
}

/* The columns that have values, in stored order; *n of them. */
static packing *order_columns(const gf_run_block *b, size_t *n)
{
    packing *all = gf_array(b->n_columns, sizeof *all);
    *n = 0;
    for (size_t i = 0; all && i < b->n_columns; i++) {
        packing p = measure_column(&b->columns[i], b->n);
        size_t at = *n;
        if (p.n_there == 0) continue;
        for (; at > 0 && comes_before(p.of, all[at - 1].of); at--)
            all[at] = all[at - 1];
        all[at] = p;
        ++*n;
    }
    return all;
}

/* ---- the bytes ------------------------------------------------------------------------------- */

static void write_block(gf_run_block *b, const packing *columns, size_t n_columns, size_t shared,
                        const gf_buffer *lengths, const gf_buffer *groups)
{
    gf_buffer *out = &b->bytes;
    bool rows = gf_table_schema(b->table)->families[b->family].layout == GF_LAYOUT_PACKED;
    gf_buffer_reset(out);
    gf_buffer_byte(out, (char)((rows ? ROWS : CELLS) | (b->is_ended ? ENDED : 0)));
    gf_buffer_varint(out, shared);
    gf_buffer_varint(out, b->n);
    gf_buffer_varint(out, n_columns);
    for (size_t i = 0; i < n_columns; i++)
        write_column_head(&columns[i], b->n, rows, out);
    gf_buffer_slice(out, gf_buffer_view(lengths));
    gf_buffer_slice(out, gf_buffer_view(groups));
    for (size_t i = 0; i < n_columns; i++) {
        if (columns[i].n_there < b->n) write_there(&columns[i], b->n, out);
        write_numbers(&columns[i], b->n, out);
        if (columns[i].of->form == GF_RUN_AS_BYTES)
            gf_buffer_slice(out, gf_buffer_view(&columns[i].of->bytes));
    }
}

gf_status gf_run_block_finish(gf_run_block *b, gf_error *err)
{
    enum { WORTH = 8 }; /* less than a part of so many is not worth what each reader spends */
    assert(b->n);
    gf_buffer groups = {0}, lengths = {0};
    size_t n_columns, shared = count_shared(bare_key(b, 0), bare_key(b, b->n - 1));
    packing *columns = order_columns(b, &n_columns);
    gf_status st = columns ? GF_OK : gf_fail_memory(err, "a block");
    if (st == GF_OK) st = write_groups(b, shared, &groups, &lengths, err);
    if (st == GF_OK) {
        write_block(b, columns, n_columns, shared, &lengths, &groups);
        st = gf_buffer_check(&b->bytes, err);
    }
    gf_slice bytes = gf_buffer_view(&b->bytes);
    if (st == GF_OK) st = gf_value_compress(bytes, &b->memory, &b->stored, err);
    if (st == GF_OK && b->stored.smaller && b->stored.bytes.len > bytes.len - bytes.len / WORTH)
        b->stored = (gf_compressed){bytes, false};
    gf_free(columns);
    gf_buffer_release(&groups);
    gf_buffer_release(&lengths);
    return st;
}

size_t gf_run_block_bytes(const gf_run_block *b)
{
    return gf_run_block_key(b).len + b->stored.bytes.len;
}

gf_slice gf_run_block_key(const gf_run_block *b)
{
    return entry_key(b, b->n - 1);
}

/*
 * The entries of logs.
 *
 *     record  sequence number of its first entry (u64 LE) | number of entries (u32 LE) | entries
 *     entry   1: key and value | 0: key, deleted     (u8, then strings of a varint length)
 *
 * Each entry has the sequence number behind that of the one before it, across records and logs.
 */
#include "storage/salvage/salvage.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD = 12 };

typedef struct log_walk {
    gf_salvage_logs *logs;
    gf_buffer *records; /* records one behind the other; items have offsets until the log's end */
    uint64_t older;     /* entries that were left out */
    uint64_t missing;   /* entries that lie between records */
    bool torn;          /* a record's content is damaged */
} log_walk;

static uint64_t read_le(const char *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

static bool take_entry(gf_slice *s, gf_salvage_item *item)
{
    gf_slice kind;
    item->value = (gf_slice){0};
    if (!gf_slice_take_bytes(s, 1, &kind) || (unsigned char)kind.ptr[0] > 1) return false;
    item->tag = (unsigned char)kind.ptr[0];
    return gf_slice_take_string(s, &item->key) &&
           (item->tag == 0 || gf_slice_take_string(s, &item->value));
}

/* A record is taken whole or not at all. */
static bool is_whole(gf_slice entries, uint64_t n)
{
    gf_salvage_item item;
    while (n && entries.len && take_entry(&entries, &item))
        n--;
    return n == 0 && entries.len == 0;
}

static gf_status add_items(log_walk *w, gf_slice entries, uint64_t sequence, uint64_t n,
                           gf_error *err)
{
    gf_salvage_logs *l = w->logs;
    if (!gf_grow(&l->items, &l->capacity, l->n + (size_t)n, sizeof *l->items))
        return gf_fail_memory(err, "a log");
    for (uint64_t i = 0; i < n; i++) {
        gf_salvage_item *item = &l->items[l->n++];
        take_entry(&entries, item);
        item->tag |= (sequence + i) << 8;
    }
    if (n) l->newest = sequence + n - 1;
    return GF_OK;
}

static gf_status take_record(void *context, gf_slice record, gf_error *err)
{
    log_walk *w = context;
    gf_salvage_logs *l = w->logs;
    if (record.len < HEAD) {
        w->torn = true;
        return GF_OK;
    }
    uint64_t sequence = read_le(record.ptr, 8), n = read_le(record.ptr + 8, 4);
    if (!is_whole(gf_slice_skip(record, HEAD), n) || sequence >> 56) {
        w->torn = true;
        return GF_OK;
    }
    if (n && (sequence <= l->oldest || sequence < l->next)) {
        w->older += n;
        return GF_OK;
    }
    if (l->next && sequence > l->next) w->missing += sequence - l->next;
    l->next = sequence + n;
    /* Copied whole first: items then borrow from where it stays. */
    size_t at = w->records->len;
    gf_buffer_slice(w->records, record);
    gf_status st = gf_buffer_check(w->records, err);
    if (st != GF_OK) return st;
    return add_items(w, gf_slice_skip(gf_slice_of(w->records->ptr + at, record.len), HEAD),
                     sequence, n, err);
}

static void tell(const gf_salvage_calls *calls, const char *name, const char *format, uint64_t n)
{
    char what[160];
    snprintf(what, sizeof what, format, n);
    calls->odd(calls->context, name, what);
}

gf_status gf_salvage_logs_add(gf_salvage_logs *l, const char *path, const char *name,
                              const gf_salvage_calls *calls, gf_error *err)
{
    gf_buffer content = {0};
    gf_error damage;
    if (!gf_grow(&l->records, &l->record_capacity, l->n_records + 1, sizeof *l->records))
        return gf_fail_memory(err, "a log");
    gf_status st = gf_file_read(path, &content, err);
    log_walk w = {.logs = l, .records = &l->records[l->n_records]};
    *w.records = (gf_buffer){0};
    l->n_records++;
    /* Room for all, so that records do not move. */
    if (st == GF_OK && !gf_buffer_reserve(w.records, content.len + 1))
        st = gf_fail_memory(err, "a log");
    if (st == GF_OK)
        st = gf_check_log_sound(gf_buffer_view(&content), take_record, &w, &damage, err);
    gf_buffer_release(&content);
    if (st == GF_ENOTFOUND) st = GF_EIO; /* it was there a moment ago */
    if (st != GF_OK) return st;
    if (damage.status != GF_OK) calls->damage(calls->context, name, damage.message);
    if (w.torn) calls->damage(calls->context, name, "a record's entries are damaged");
    if (w.older)
        tell(calls, name,
             "%" PRIu64 " of its changes are older than what is in the tables or logs before it, "
             "as in a log of another time: they are left out",
             w.older);
    if (w.missing)
        tell(calls, name, "%" PRIu64 " changes are missing before or between its records",
             w.missing);
    return GF_OK;
}

static int by_key(const void *a, const void *b)
{
    return gf_salvage_compare(a, b);
}

void gf_salvage_logs_sort(gf_salvage_logs *l)
{
    if (l->n) qsort(l->items, l->n, sizeof *l->items, by_key);
}

void gf_salvage_logs_release(gf_salvage_logs *l)
{
    for (size_t i = 0; i < l->n_records; i++)
        gf_buffer_release(&l->records[i]);
    gf_free(l->records);
    gf_free(l->items);
    *l = (gf_salvage_logs){0};
}

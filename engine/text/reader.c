#include "engine/text/reader.h"

#include "base/memory.h"
#include "engine/rows/filter.h"
#include "engine/rows/scan.h"
#include "engine/store/store_internal.h"
#include "storage/tables.h"

enum {
    LEAST_LANES = 4, /* of several threads: some parts are longer than others */
    MOST_LANES = 32,
    PART_BYTES = 1 << 20 /* on disk, where texts are compressed */
};

/* Reads one part after the other. */
typedef struct lane {
    const struct gf_text_reader *reader;
    gf_scan *scan; /* of its part; NULL: it has none */
    bool more;     /* of the part */
    bool ready;    /* the group was read, and is in no batch yet */
    gf_text_group groups[2];
    unsigned filling;      /* which of the groups is read next, or was; the other may be lent */
    gf_text_counts counts; /* of what is in that group */
    gf_filter filter;
    gf_row row;
    gf_buffer id;
} lane;

struct gf_text_reader {
    gf_text_reader_options options;
    bool filters;     /* the settings leave anything out */
    gf_buffer prefix; /* of the collection's rows */
    gf_buffer start;  /* key of the first row of no lane's part yet; empty: of the first row */
    bool left;        /* there may be such rows */
    unsigned n_lanes;
    unsigned first;      /* the lane whose part comes first; the others follow in turn */
    lane *lanes;         /* n_lanes */
    lane **reading;      /* n_lanes: those that the tasks are of */
    gf_text_group batch; /* lent by the lanes */
    gf_text_counts counts;
};

unsigned gf_text_reader_lanes(unsigned threads)
{
    if (threads <= 1) return 1;
    return threads < LEAST_LANES ? LEAST_LANES : threads > MOST_LANES ? MOST_LANES : threads;
}

/* ---- a lane ---------------------------------------------------------------------------------- */

/* Without a snapshot a document may have changed since, and then counts as put after the build. */
static bool is_of_seq(const gf_text_reader_options *o, const gf_row *row)
{
    uint64_t seq = 0;
    if (!o->seq) return true;
    gf_rows_cell_number(gf_row_find(row, GF_DOCUMENTS_MAIN, "seq"), &seq);
    return seq <= o->seq;
}

static gf_status open_filter(lane *l, const gf_text_reader_options *o, gf_error *err)
{
    const gf_resolved *settings = o->settings;
    gf_filter_init(&l->filter);
    l->filter.within = o->within;
    l->filter.documents = o->store->tables.documents;
    if (!settings) return GF_OK;
    l->filter.since = settings->since;
    l->filter.until = settings->until;
    return settings->filter.len ? gf_filter_add_list(&l->filter, settings->filter, err) : GF_OK;
}

static void release_lane(lane *l)
{
    gf_scan_close(l->scan);
    gf_text_group_release(&l->groups[0]);
    gf_text_group_release(&l->groups[1]);
    gf_filter_release(&l->filter);
    gf_row_release(&l->row);
    gf_buffer_release(&l->id);
}

static void count_text(gf_text_counts *c, size_t length)
{
    c->text_bytes += length;
    for (unsigned i = 0; i < GF_TEXT_CUTS; i++) {
        size_t most = (size_t)GF_LEAST_CUT << i;
        c->cut_text[i] += length < most ? length : most;
    }
}

static gf_status add_text(lane *l, gf_text_group *to, gf_error *err)
{
    const gf_text_reader_options *o = &l->reader->options;
    gf_buffer_reset(&l->id);
    gf_status st = gf_tables_key_last_string(o->store->tables.documents, l->row.key, &l->id, err);
    return st == GF_OK ? gf_text_group_add(to, gf_buffer_view(&l->id), &l->row, err) : st;
}

/* Before anything of the row is copied. With `every` there is one lane, so it counts them all. */
static gf_status add_meant(lane *l, gf_text_group *to, gf_error *err)
{
    const gf_text_reader *r = l->reader;
    bool meant = true;
    gf_status st = r->filters ? gf_filter_test(&l->filter, &l->row, &meant, err) : GF_OK;
    if (st != GF_OK || !meant) return st;
    const gf_cell *text = gf_row_find(&l->row, GF_DOCUMENTS_MAIN, "text");
    uint64_t number = r->counts.meant + l->counts.meant++;
    if (text) count_text(&l->counts, text->value.len);
    l->counts.id_bytes += l->row.key.len;
    return number % r->options.every == r->options.offset ? add_text(l, to, err) : GF_OK;
}

/* A task: read until the group is full, or the part has no more. */
static gf_status fill(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    const gf_text_reader *r = context;
    lane *l = r->reading[i];
    gf_text_group *to = &l->groups[l->filling];
    size_t most = r->options.small ? GF_SMALL_GROUP_BYTES : GF_GROUP_BYTES;
    gf_status st = GF_OK;
    gf_text_group_reset(to);
    l->counts = (gf_text_counts){0};
    while (st == GF_OK && l->more && !gf_text_group_is_full(to, most)) {
        st = gf_scan_step(l->scan, &l->row, &l->more, err);
        if (st == GF_OK && l->more && is_of_seq(&r->options, &l->row)) st = add_meant(l, to, err);
    }
    l->ready = true;
    return st;
}

/* ---- the reader ------------------------------------------------------------------------------ */

gf_status gf_text_reader_open(const gf_text_reader_options *options, gf_text_reader **reader,
                              gf_error *err)
{
    gf_text_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "documents");
    bool alone = options->small || options->every > 1;
    r->options = *options;
    r->left = true;
    if (r->options.every == 0) r->options.every = 1;
    r->n_lanes = alone ? 1 : gf_text_reader_lanes(options->threads);
    gf_tables_collection_key(&r->prefix, options->where.name_space, options->where.collection);
    gf_status st = gf_buffer_check(&r->prefix, err);
    r->lanes = gf_calloc(r->n_lanes, sizeof *r->lanes);
    r->reading = gf_calloc(r->n_lanes, sizeof *r->reading);
    if (st == GF_OK && (!r->lanes || !r->reading)) st = gf_fail_memory(err, "documents");
    for (unsigned i = 0; i < r->n_lanes && st == GF_OK; i++) {
        r->lanes[i].reader = r;
        st = open_filter(&r->lanes[i], options, err);
    }
    if (st != GF_OK) {
        gf_text_reader_close(r);
        return st;
    }
    r->filters = !gf_filter_is_empty(&r->lanes[0].filter);
    *reader = r;
    return GF_OK;
}

void gf_text_reader_close(gf_text_reader *r)
{
    if (!r) return;
    for (unsigned i = 0; r->lanes && i < r->n_lanes; i++)
        release_lane(&r->lanes[i]);
    gf_text_group_release(&r->batch);
    gf_buffer_release(&r->prefix);
    gf_buffer_release(&r->start);
    gf_free(r->lanes);
    gf_free(r->reading);
    gf_free(r);
}

/* Give the lane the first part of the rows that no lane has. */
static gf_status give_part(gf_text_reader *r, lane *l, gf_error *err)
{
    gf_table *documents = r->options.store->tables.documents;
    gf_buffer end = {0};
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = r->options.snapshot, .family = GF_DOCUMENTS_MAIN,
                        .prefix = gf_buffer_view(&r->prefix), .start = gf_buffer_view(&r->start));
    gf_status st =
        r->n_lanes > 1 ? gf_scan_cut(documents, &o, PART_BYTES, &end, err) : GF_ENOTFOUND;
    r->left = st == GF_OK;
    o.end = gf_buffer_view(&end);
    if (st == GF_OK || st == GF_ENOTFOUND) st = gf_scan_open(documents, &o, &l->scan, err);
    l->more = st == GF_OK;
    gf_buffer_release(&r->start);
    r->start = end;
    return st;
}

/* Collect what the lanes have read, up to the first that has not read all of its part. */
static gf_status join_groups(gf_text_reader *r, gf_error *err)
{
    gf_status st = GF_OK;
    bool follows = true;
    gf_text_group_reset(&r->batch);
    for (unsigned i = 0; i < r->n_lanes && follows && st == GF_OK; i++) {
        lane *l = &r->lanes[(r->first + i) % r->n_lanes];
        follows = !l->more;
        if (!l->ready) continue;
        st = gf_text_group_borrow(&r->batch, &l->groups[l->filling], err);
        gf_text_counts_add(&r->counts, &l->counts);
        l->ready = false;
        l->filling = !l->filling;
    }
    return st;
}

/* Lanes that are through, the first ones, get the parts behind those of the others. */
static gf_status move_on(gf_text_reader *r, gf_error *err)
{
    gf_status st = GF_OK;
    for (unsigned i = 0; i < r->n_lanes && st == GF_OK; i++) {
        lane *l = &r->lanes[r->first];
        if (l->more || l->ready || !r->left) break;
        gf_scan_close(l->scan);
        l->scan = NULL;
        st = give_part(r, l, err);
        r->first = (r->first + 1) % r->n_lanes;
    }
    return st;
}

gf_status gf_text_reader_take(gf_text_reader *r, const gf_text_group **batch, gf_pool_tasks *tasks,
                              gf_error *err)
{
    *tasks = (gf_pool_tasks){0, fill, r};
    gf_status st = join_groups(r, err);
    if (st == GF_OK) st = move_on(r, err);
    if (st != GF_OK) return st;
    for (unsigned i = 0; i < r->n_lanes; i++) {
        lane *l = &r->lanes[(r->first + i) % r->n_lanes];
        if (l->more && !l->ready) r->reading[tasks->n++] = l;
    }
    *batch = &r->batch;
    return GF_OK;
}

bool gf_text_reader_filters(const gf_text_reader *r)
{
    return r->filters;
}

const gf_text_counts *gf_text_reader_counts(const gf_text_reader *r)
{
    return &r->counts;
}

gf_arena gf_text_reader_keep(gf_text_reader *r)
{
    gf_arena kept = r->lanes[0].groups[0].arena;
    r->lanes[0].groups[0].arena = (gf_arena){0};
    return kept;
}

gf_status gf_text_reader_each(const gf_text_reader_options *options, const gf_cancel *cancel,
                              gf_each_group *each, void *context, gf_error *err)
{
    gf_text_reader *r;
    const gf_text_group *batch;
    gf_pool_tasks tasks = {.n = 1};
    gf_status st = gf_text_reader_open(options, &r, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && tasks.n) {
        st = gf_text_reader_take(r, &batch, &tasks, err);
        if (st == GF_OK && batch->n) st = each(context, batch, err);
        if (st == GF_OK) st = gf_pool_run(NULL, tasks.n, tasks.task, tasks.context, cancel, err);
    }
    gf_text_reader_close(r);
    return st;
}

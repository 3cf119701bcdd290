/* Documents of an Arrow stream are put, batch by batch. */
#include "engine/arrow/reader.h"

enum { ROWS_BETWEEN_LOOKS = 4096 };

typedef struct putting {
    gf_arrow_reader reader;
    gf_put *put;
    gf_slice collection;
} putting;

static const char *reason_of(const gf_document *d, gf_status st)
{
    if (st == GF_ELIMIT) return "too_long";
    return d->id.len == 0 || d->id.len > GF_MAX_ID ? "no_id" : "bad_value";
}

static gf_status put_row(putting *p, int64_t i, gf_error *err)
{
    gf_document d;
    const char *reason;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_arrow_reader_row(&p->reader, i, &d, &reason, &why, err);
    if (st != GF_OK) return st;
    if (reason) return gf_arrow_reader_refuse(&p->reader, i, reason, why.message, err);
    st = gf_put_document(p->put, p->collection, &d, &why);
    if (st == GF_OK) return GF_OK;
    if ((st == GF_EINVAL || st == GF_ELIMIT) && gf_put_is_good(p->put))
        return gf_arrow_reader_refuse(&p->reader, i, reason_of(&d, st), why.message, err);
    if (err) *err = why;
    return st;
}

static gf_status put_batch(putting *p, int64_t rows, gf_error *err)
{
    gf_status st = GF_OK;
    for (int64_t i = 0; i < rows && st == GF_OK; i++) {
        if (i % ROWS_BETWEEN_LOOKS == 0) st = gf_cancel_check(p->reader.options->cancel, err);
        if (st == GF_OK) st = put_row(p, i, err);
        if (st == GF_OK) p->reader.counts.rows++;
    }
    return st;
}

static gf_status put_stream(putting *p, gf_error *err)
{
    int64_t rows;
    gf_status st;
    while ((st = gf_arrow_reader_next(&p->reader, &rows, err)) == GF_OK) {
        st = put_batch(p, rows, err);
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? gf_put_flush(p->put, err) : st;
}

static gf_status make_collection(gf_store *store, gf_place where, gf_error *err)
{
    gf_status st = gf_collection_create(store, where, err);
    return st == GF_EEXISTS ? GF_OK : st;
}

gf_status gf_arrow_put(gf_store *store, gf_place where, struct ArrowArrayStream *stream,
                       const gf_arrow_options *options, gf_arrow_counts *counts, gf_error *err)
{
    putting p = {.collection = where.collection};
    gf_put_options o = GF_PUT_OPTIONS(.name_space = where.name_space);
    if (counts) *counts = (gf_arrow_counts){0};
    gf_status st = gf_arrow_reader_open(&p.reader, stream, options, GF_ARROW_NEED_ALL, err);
    if (st == GF_OK) st = make_collection(store, where, err);
    if (st == GF_OK) st = gf_put_open(store, &o, &p.put, err);
    if (st == GF_OK) st = put_stream(&p, err);
    if (p.put) p.reader.counts.put = gf_put_counted(p.put);
    if (counts) *counts = p.reader.counts;
    gf_put_close(p.put);
    gf_arrow_reader_release(&p.reader);
    return st;
}

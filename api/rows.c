/* Rows: JSON objects that handlers write and hand on one by one. */
#include "api/call.h"

#include "base/clock.h"
#include "base/hex.h"
#include "base/number.h"

#include <math.h>

gf_json_writer *gf_row_writer_begin_of(gf_row_writer *row, gf_slice collection)
{
    gf_buffer_reset(&row->buffer);
    row->json = gf_json_writer_to(&row->buffer);
    gf_json_begin(&row->json, '{');
    if (collection.len) gf_json_put_string(&row->json, "collection", collection);
    return &row->json;
}

gf_json_writer *gf_row_writer_begin(gf_row_writer *row)
{
    return gf_row_writer_begin_of(row, row->call->row_collection);
}

static gf_status end(gf_row_writer *row, gf_error *err)
{
    gf_json_end(&row->json, '}');
    return gf_buffer_check(&row->buffer, err);
}

gf_status gf_row_writer_emit(gf_row_writer *row, gf_error *err)
{
    gf_status st = end(row, err);
    return st == GF_OK ? gf_call_emit(row->call, gf_buffer_view(&row->buffer), err) : st;
}

gf_status gf_row_writer_keep(gf_row_writer *row, gf_arena *memory, gf_slice *kept, gf_error *err)
{
    gf_status st = end(row, err);
    if (st != GF_OK) return st;
    *kept = gf_arena_copy(memory, gf_buffer_view(&row->buffer));
    return kept->ptr ? GF_OK : gf_fail_memory(err, "rows");
}

void gf_row_writer_release(gf_row_writer *row)
{
    gf_buffer_release(&row->buffer);
}

gf_status gf_row_writer_emit_only(gf_row_writer *row, gf_error *err)
{
    gf_status st = gf_row_writer_emit(row, err);
    gf_row_writer_release(row);
    return st;
}

/* ---- cells of a table ------------------------------------------------------------------------ */

static void put_hex(gf_json_writer *w, gf_slice bytes)
{
    gf_buffer text = {0};
    gf_hex_append(&text, bytes);
    gf_json_put_string(w, "hex", gf_buffer_view(&text));
    if (text.state != GF_OK) w->out->state = text.state;
    gf_buffer_release(&text);
}

/* Cells of the family `processing` are bytes (vectors, dictionary, index); all others are text. */
static gf_status emit_column(gf_row_writer *row, const char *family, gf_slice column,
                             gf_slice value, size_t most, gf_error *err)
{
    gf_status st = gf_cancel_check(row->call->cancel, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(row);
    bool bytes = strcmp(family, "processing") == 0 && !gf_slice_equal(column, GF_SLICE("id"));
    gf_json_put_str(w, "family", family);
    gf_json_put_string(w, "column", column);
    if (bytes && value.len > most)
        gf_json_put_uint(w, "not_shown", value.len);
    else if (bytes)
        put_hex(w, value);
    else
        gf_json_put_string(w, "value", value);
    return gf_row_writer_emit(row, err);
}

gf_status gf_row_writer_emit_column(void *row_writer, const char *family, gf_slice column,
                                    gf_slice value, gf_error *err)
{
    return emit_column(row_writer, family, column, value, SIZE_MAX, err);
}

gf_status gf_row_writer_emit_short_column(void *row_writer, const char *family, gf_slice column,
                                          gf_slice value, gf_error *err)
{
    enum { SHOWN = 1024 };
    return emit_column(row_writer, family, column, value, SHOWN, err);
}

/* ---- members that several operations share --------------------------------------------------- */

/* "007", "+7" and "-0" are not how numbers are written: as numbers they would be other ids. */
static bool is_number(gf_slice id)
{
    int64_t v;
    gf_slice digits = id.len && id.ptr[0] == '-' ? gf_slice_skip(id, 1) : id;
    if (digits.len == 0 || digits.len > 19 || (digits.ptr[0] == '0' && id.len > 1)) return false;
    return gf_number_read_signed(id, &v);
}

static void put_id(gf_row_writer *row, const char *name, gf_slice id)
{
    if (!row->ids_are_known) {
        row->ids_are_known = true;
        row->numeric_ids = gf_slice_equal(gf_call_text(row->call, "id-type"), GF_SLICE("number"));
    }
    gf_json_key(&row->json, name);
    if (row->numeric_ids && is_number(id))
        gf_json_raw(&row->json, id);
    else
        gf_json_string(&row->json, id);
}

void gf_row_put_id(gf_row_writer *row, gf_slice id)
{
    put_id(row, "id", id);
}

void gf_row_put_time(gf_json_writer *w, const char *name, int64_t ms)
{
    gf_buffer text = {0};
    if (ms == 0) return;
    gf_clock_write_iso(&text, ms);
    gf_json_put_string(w, name, gf_buffer_view(&text));
    if (text.state != GF_OK) w->out->state = text.state;
    gf_buffer_release(&text);
}

void gf_row_put_notice(gf_json_writer *w, const gf_notice *n)
{
    gf_json_begin(w, '{');
    gf_json_put_str(w, "reason", n->reason);
    gf_json_put_string(w, "source", n->source);
    if (n->line) gf_json_put_uint(w, "line", n->line);
    gf_json_put_str(w, "message", n->message);
    gf_json_end(w, '}');
}

void gf_row_put_fields(gf_json_writer *w, const gf_document *d)
{
    if (d->time.len) {
        gf_json_key(w, "time");
        gf_json_raw(w, d->time);
    }
    if (d->language.len) gf_json_put_string(w, "lang", d->language);
    if (d->n_fields == 0) return;
    gf_json_key(w, "fields");
    gf_json_begin(w, '{');
    for (size_t i = 0; i < d->n_fields; i++) {
        gf_json_key_slice(w, d->fields[i].name);
        gf_json_raw(w, d->fields[i].json);
    }
    gf_json_end(w, '}');
}

void gf_row_put_build(gf_json_writer *w, const gf_build_info *b)
{
    gf_json_put_uint(w, "build", (uint64_t)b->build);
    gf_row_put_time(w, "time", b->build);
    gf_json_put_bool(w, "served", b->served);
    gf_json_put_uint(w, "documents", b->documents);
    gf_json_put_uint(w, "without_terms", b->without_terms);
    if (b->unplaced) gf_json_put_uint(w, "unplaced", b->unplaced);
    gf_json_put_uint(w, "distinct", b->distinct);
    gf_json_put_uint(w, "terms", b->terms);
    gf_json_put_uint(w, "k", b->k);
    gf_json_put_double(w, "objective", b->objective);
    gf_json_put_double(w, "seconds", b->seconds);
    if (b->settings.len) {
        gf_json_key(w, "settings");
        gf_json_raw(w, b->settings);
    }
    if (b->versions.len) gf_json_put_string(w, "versions", b->versions);
    if (b->rows != GF_ROWS_OF_TEXTS)
        gf_json_put_str(w, "matrix",
                        b->rows == GF_ROWS_DENSE    ? "dense"
                        : b->rows == GF_ROWS_SPARSE ? "sparse"
                                                    : "words");
    if (b->edits) gf_json_put_uint(w, "edits", b->edits);
}

void gf_row_put_state(gf_json_writer *w, const gf_cluster_state *s)
{
    if (!s) return;
    if (s->status.len) gf_json_put_string(w, "status", s->status);
    if (s->owner.len) gf_json_put_string(w, "owner", s->owner);
    if (s->link.len) gf_json_put_string(w, "link", s->link);
    if (s->note.len) gf_json_put_string(w, "note", s->note);
}

void gf_row_put_share(gf_json_writer *w, uint64_t size, uint64_t documents)
{
    gf_json_put_double(w, "share", documents ? (double)size / (double)documents : 0);
}

void gf_row_put_cluster(gf_json_writer *w, const gf_cluster_info *info)
{
    gf_json_put_uint(w, "cluster", info->id);
    gf_json_put_string(w, "label", info->label);
    gf_json_put_uint(w, "size", info->size);
}

void gf_row_put_marks(gf_json_writer *w, const gf_cluster_info *info)
{
    if (info->is_new) gf_json_put_bool(w, "candidate", true);
    if (info->hidden) gf_json_put_bool(w, "hidden", true);
    if (info->locked) gf_json_put_bool(w, "locked", true);
    gf_row_put_state(w, info->state);
}

void gf_row_put_terms(gf_json_writer *w, const gf_cluster_info *info, uint64_t most)
{
    gf_json_key(w, "terms");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < info->n_terms && i < most; i++) {
        gf_json_begin(w, '{');
        gf_json_put_string(w, "term", info->terms[i].surface);
        gf_json_put_float(w, "weight", info->terms[i].weight);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
}

/* A share of a count; null where there is nothing to share. */
static void put_ratio(gf_json_writer *w, const char *name, uint64_t part, uint64_t whole)
{
    gf_json_put_double(w, name, whole ? (double)part / (double)whole : NAN);
}

void gf_row_put_figures(gf_json_writer *w, const gf_cluster_figures *f)
{
    if (!f) return;
    gf_json_put_str(w, "clarity", gf_cluster_figures_word(f->clarity));
    gf_json_put_double(w, "mean_score", f->score);
    gf_json_put_double(w, "mean_margin", f->margin);
    put_ratio(w, "weak", f->weak, f->documents);
    put_ratio(w, "label_recall", f->hits, f->has_label ? f->documents : 0);
    put_ratio(w, "label_precision", f->hits, f->found);
    put_ratio(w, "label_f1", 2 * f->hits, f->has_label ? f->documents + f->found : 0);
    gf_json_put_double(w, "npmi", f->npmi);
    put_ratio(w, "own_terms", f->own_terms, f->terms);
    if (!f->nearest) return;
    gf_json_put_uint(w, "nearest", f->nearest);
    gf_json_put_string(w, "nearest_label", f->nearest_label);
    gf_json_put_double(w, "similarity", f->similarity);
}

void gf_row_put_sentence(gf_row_writer *row, const gf_cluster_info *info)
{
    if (info->sentence.len == 0) return;
    gf_json_put_string(&row->json, "sentence", info->sentence);
    put_id(row, "sentence_of", info->sentence_of);
}

void gf_row_put_title(gf_json_writer *w, const gf_cluster_info *info)
{
    if (info->title.len == 0) return;
    gf_json_put_string(w, "title", info->title);
    gf_json_put_string(w, "title_model", info->title_model);
}

void gf_row_put_membership(gf_json_writer *w, const gf_membership *m)
{
    gf_json_key(w, "cluster");
    if (m->cluster)
        gf_json_uint(w, m->cluster);
    else
        gf_json_null(w);
    gf_json_put_string(w, "label", m->label);
    gf_json_put_float(w, "score", m->score);
    if (m->runner_up) {
        gf_json_put_uint(w, "runner_up", m->runner_up);
        gf_json_put_string(w, "runner_up_label", m->runner_up_label);
        gf_json_put_float(w, "runner_up_score", m->second);
        gf_json_put_float(w, "margin", m->score - m->second);
    }
    if (m->replaced) gf_json_put_bool(w, "replaced", true);
    if (m->before) gf_json_put_uint(w, "cluster_before", m->before);
    if (m->provisional) gf_json_put_bool(w, "provisional", true);
    if (m->is_new) gf_json_put_bool(w, "candidate", true);
}

/*
 * A name of the text field that is wrong would refuse every record of the input, one by one. So
 * records are held back until one has a text field, or it is clear that none will:
 *
 *     a record with a text field comes     the held records are given out, all later ones pass; but where
 *                                          it lacks an id that was asked for the import ends: a wrong
 *                                          name would make every record a new document
 *     MOST_RECORDS records without         the import ends; no held record was delivered
 *     the input ends                       likewise, where there were any
 *
 * Broken records and skipped files in between count for neither side, but wait in their order.
 * Over MOST_BYTES or MOST_HELD the held records are given out early, so that memory stays bounded;
 * the counting goes on.
 */
#include "formats/held_records_internal.h"

#include "base/grow.h"
#include "base/memory.h"

enum {
    MOST_RECORDS = 100,
    MOST_HELD = 1000,
    MOST_BYTES = 4 << 20,
    MOST_NAMES = 200,
    LONGEST_NAME = 100
};

void gf_held_records_release(gf_held_records *h)
{
    gf_free(h->held);
    gf_arena_release(&h->copies);
    gf_strings_release(&h->found);
    gf_buffer_release(&h->source);
    *h = (gf_held_records){0};
}

bool gf_held_records_next(gf_held_records *h, gf_record *record)
{
    if (!h->is_releasing || h->at == h->n) return false;
    *record = h->held[h->at++];
    return true;
}

/* ---- the error ------------------------------------------------------------------------------- */

static void list_names(gf_buffer *b, const gf_slice *names, size_t n, const char *between,
                       size_t most)
{
    for (size_t i = 0; i < n; i++) {
        if (b->len + names[i].len > most) {
            gf_buffer_str(b, i ? ", ..." : "...");
            return;
        }
        if (i) gf_buffer_str(b, between);
        gf_buffer_slice(b, names[i]);
    }
}

static gf_status no_named_field(const gf_held_records *h, const gf_field_mapping *m, gf_error *err)
{
    gf_buffer wanted = {0}, found = {0};
    bool is_id = m->lacks_id && h->has_text;
    list_names(&wanted, is_id ? &m->id : m->text, is_id ? 1 : m->n_text, "\" or \"", 150);
    list_names(&found, h->found.entries, h->found.n, ", ", 200);
    if (h->found.n == 0) gf_buffer_str(&found, "none");
    gf_status st = gf_buffer_check(&wanted, err);
    if (st == GF_OK) st = gf_buffer_check(&found, err);
    if (st == GF_OK)
        st = gf_fail(err, GF_EINVAL, "no field \"%.*s\" in %.*s; fields found: %.*s%s%s",
                     GF_SLICE_ARG(gf_buffer_view(&wanted)),
                     GF_SLICE_ARG(gf_buffer_view(&h->source)), GF_SLICE_ARG(gf_buffer_view(&found)),
                     is_id              ? "; choose with --id"
                     : m->text_is_fixed ? ""
                                        : "; choose with --text",
                     h->has_header ? "; is there a header?" : "");
    gf_buffer_release(&wanted);
    gf_buffer_release(&found);
    return st;
}

gf_status gf_held_records_end(gf_held_records *h, const gf_field_mapping *m, gf_error *err)
{
    if (!h->is_decided && h->n_without) return no_named_field(h, m, err);
    h->is_releasing = true;
    return GF_OK;
}

/* ---- holding --------------------------------------------------------------------------------- */

static gf_status note_fields(gf_held_records *h, const gf_record *record,
                             const gf_parsed_record *parsed, gf_error *err)
{
    if (h->n_without++ == 0) {
        gf_buffer_slice(&h->source, record->source);
        h->has_header = parsed->has_header;
    }
    gf_status st = gf_buffer_check(&h->source, err);
    for (size_t i = 0; st == GF_OK && i < parsed->n_members && h->found.n < MOST_NAMES; i++) {
        gf_slice name = parsed->members[i].name;
        uint32_t id;
        if (name.len <= LONGEST_NAME) st = gf_strings_add(&h->found, name, &id, NULL, err);
    }
    return st;
}

static gf_status copy_record(gf_held_records *h, const gf_record *record, gf_error *err)
{
    if (!gf_grow(&h->held, &h->capacity, h->n + 1, sizeof *h->held))
        return gf_fail_memory(err, "records held back");
    gf_record copy = *record;
    gf_slice message = gf_arena_copy(&h->copies, gf_slice_str(record->message));
    copy.source = gf_arena_copy(&h->copies, record->source);
    copy.raw = gf_arena_copy(&h->copies, record->raw);
    copy.renamed = gf_arena_copy(&h->copies, record->renamed);
    copy.message = message.ptr;
    copy.document = (gf_document){0};
    if (!message.ptr || !copy.source.ptr || !copy.raw.ptr || !copy.renamed.ptr)
        return gf_fail_memory(err, "records held back");
    h->held[h->n++] = copy;
    h->bytes += copy.raw.len + copy.source.len + message.len + sizeof copy;
    if (h->bytes > MOST_BYTES || h->n == MOST_HELD) h->is_releasing = true;
    return GF_OK;
}

gf_status gf_held_records_pass(gf_held_records *h, const gf_record *record,
                               const gf_parsed_record *parsed, bool has_text,
                               const gf_field_mapping *m, bool *later, gf_error *err)
{
    *later = false;
    if (h->is_decided) return GF_OK;
    if (parsed && has_text && !m->lacks_id) {
        h->is_decided = h->is_releasing = true;
        return GF_OK;
    }
    if (parsed) {
        h->has_text = has_text;
        gf_status st = note_fields(h, record, parsed, err);
        if (st != GF_OK) return st;
        if (has_text || h->n_without == MOST_RECORDS) return no_named_field(h, m, err);
    }
    if (h->is_releasing || h->n_without == 0) return GF_OK;
    *later = true;
    return copy_record(h, record, err);
}

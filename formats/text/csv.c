#include "formats/text/csv.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "formats/bytes/content.h"
#include "formats/bytes/unpacked.h"
#include "formats/text/csv_rows_internal.h"

struct gf_csv_reader {
    gf_unpacked *stream;
    gf_decoding *decoding;
    gf_csv_rows rows;
    gf_record_bounds bounds;
    bool is_open; /* a stream is */
    uint64_t number;
    gf_csv_cell *cells; /* capacity */
    size_t capacity;
};

gf_status gf_csv_reader_open(const gf_input *input, size_t most_bytes, size_t most_cells,
                             const gf_decoding_options *decoding, gf_csv_reader **reader,
                             gf_error *err)
{
    gf_csv_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a reader");
    r->bounds = (gf_record_bounds){most_bytes, 0};
    gf_status st = gf_csv_rows_init(&r->rows, err);
    r->rows.most_cells = most_cells;
    gf_csv_rows_set_dialect(&r->rows, ',', GF_CSV_ANY, true);
    if (st == GF_OK) st = gf_decoding_create(decoding, &r->decoding, err);
    if (st == GF_OK) st = gf_unpacked_open(input, &r->stream, err);
    if (st != GF_OK) {
        gf_csv_reader_close(r);
        return st;
    }
    *reader = r;
    return GF_OK;
}

void gf_csv_reader_close(gf_csv_reader *r)
{
    if (!r) return;
    gf_csv_rows_release(&r->rows);
    gf_decoding_free(r->decoding);
    gf_unpacked_close(r->stream);
    gf_free(r->cells);
    gf_free(r);
}

static gf_status open_next_stream(gf_csv_reader *r, gf_error *err)
{
    gf_status st = gf_unpacked_next(r->stream, err);
    if (st != GF_OK) return st;
    r->number = 0;
    st = gf_content_check(gf_read_buffer_unread(gf_unpacked_buffer(r->stream)),
                          gf_unpacked_name(r->stream), err);
    if (st != GF_OK) return st;
    st = gf_decoding_begin(r->decoding, gf_unpacked_buffer(r->stream), gf_unpacked_name(r->stream),
                           err);
    if (st != GF_OK) return st;
    r->is_open = true;
    gf_csv_rows_begin(&r->rows, gf_unpacked_buffer(r->stream), r->bounds);
    return gf_read_buffer_skip_mark(gf_unpacked_buffer(r->stream), err);
}

gf_status gf_csv_reader_next(gf_csv_reader *r, gf_csv_row *row, gf_error *err)
{
    gf_csv_span read;
    gf_status st;
    do {
        st = r->is_open ? GF_OK : open_next_stream(r, err);
        if (st != GF_OK) return st;
        st = gf_csv_rows_next(&r->rows, &read, err);
        r->is_open = st == GF_OK;
    } while (st == GF_ENOTFOUND);
    if (st != GF_OK) return st;
    gf_slice source = gf_unpacked_name(r->stream);
    const gf_text_cells *cells = &r->rows.cells;
    if (read.too_long)
        return gf_fail(err, GF_ELIMIT, "%.*s: row %llu has more than %zu bytes",
                       GF_SLICE_ARG(source), (unsigned long long)r->number + 1, r->bounds.most);
    if (read.has_too_many)
        return gf_fail(err, GF_ELIMIT, "%.*s: a row of more than %zu columns", GF_SLICE_ARG(source),
                       r->rows.most_cells);
    if (read.is_open)
        return gf_fail(err, GF_EINVAL, "%.*s: it ends within quotes", GF_SLICE_ARG(source));
    if (!gf_grow(&r->cells, &r->capacity, cells->n, sizeof *r->cells))
        return gf_fail_memory(err, "a row");
    for (size_t i = 0; i < cells->n; i++)
        r->cells[i] = (gf_csv_cell){gf_text_cells_at(cells, i), r->rows.is_absent[i]};
    *row = (gf_csv_row){source, ++r->number, r->cells, cells->n};
    return GF_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool gf_csv_is_formula(gf_slice text)
{
    double number;
    if (text.len && strchr("\t\r\n", text.ptr[0]) && text.ptr[0]) return true;
    while (text.len && is_blank(text.ptr[0]))
        text = gf_slice_skip(text, 1);
    if (text.len == 0 || text.ptr[0] == '\0' || !strchr("=+-@", text.ptr[0])) return false;
    return !gf_number_read_decimal(text, &number);
}

void gf_csv_write_cell(gf_buffer *out, gf_slice text, unsigned style)
{
    bool defused = (style & GF_CSV_SPREADSHEET) && gf_csv_is_formula(text);
    bool quoted = (style & GF_CSV_QUOTED) || defused ||
                  (text.len && (is_blank(text.ptr[0]) || is_blank(text.ptr[text.len - 1])));
    for (size_t i = 0; i < text.len && !quoted; i++)
        quoted =
            text.ptr[i] == ',' || text.ptr[i] == '"' || text.ptr[i] == '\r' || text.ptr[i] == '\n';
    if (quoted) gf_buffer_byte(out, '"');
    if (defused) gf_buffer_byte(out, '\'');
    while (quoted && text.len) {
        const char *quote = memchr(text.ptr, '"', text.len);
        size_t n = quote ? (size_t)(quote - text.ptr) + 1 : text.len;
        gf_buffer_append(out, text.ptr, n);
        if (quote) gf_buffer_byte(out, '"');
        text = gf_slice_skip(text, n);
    }
    gf_buffer_slice(out, text);
    if (quoted) gf_buffer_byte(out, '"');
}

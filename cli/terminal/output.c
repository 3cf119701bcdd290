#include "cli/terminal/output.h"

#include "cli/terminal/member.h"
#include "cli/terminal/text.h"
#include "formats/text/csv.h"

#include <errno.h>
#include <string.h>

bool gf_output_format_named(const char *name, gf_output_format *format)
{
    static const char *const names[] = {"table", "plain", "csv",    "spreadsheet",
                                        "json",  "jsonl", "geojson"};
    for (size_t i = 0; i < GF_COUNT(names); i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *format = (gf_output_format)i;
        return true;
    }
    return false;
}

static bool is_spread(const gf_output *o)
{
    return o->format == GF_OUTPUT_CSV && o->display->spread;
}

gf_status gf_output_init(gf_output *o, gf_output_format format, const gf_display *display,
                         gf_session *session, FILE *out, gf_error *err)
{
    *o = (gf_output){.format = format, .display = display, .session = session, .out = out};
    if (format == GF_OUTPUT_SPREADSHEET) {
        o->format = GF_OUTPUT_CSV;
        o->csv_style = GF_CSV_SPREADSHEET;
        o->csv_mark = true;
    }
    o->width = gf_text_terminal_width(out);
    gf_text_table_init(&o->table, display, out, o->width);
    gf_status st = gf_json_parser_create(&o->parser, err);
    if (st != GF_OK || !is_spread(o)) return st;
    st = gf_spread_init(&o->spread, display->inner, err);
    for (size_t c = 0; c < display->n_columns && st == GF_OK; c++)
        if (!display->inner || strcmp(display->columns[c].key, display->inner) != 0)
            st = gf_spread_column(&o->spread, gf_slice_str(display->columns[c].key), err);
    if (st != GF_OK) gf_output_release(o);
    return st;
}

void gf_output_release(gf_output *o)
{
    gf_json_parser_free(o->parser);
    gf_buffer_release(&o->cell);
    gf_buffer_release(&o->csv);
    gf_spread_release(&o->spread);
    gf_text_table_release(&o->table);
    *o = (gf_output){0};
}

/* ---- csv and plain --------------------------------------------------------------------------- */

static void csv_cell(void *context, gf_slice text)
{
    gf_output *o = context;
    gf_buffer_reset(&o->csv);
    gf_csv_write_cell(&o->csv, text, o->csv_style);
    fwrite(o->csv.ptr ? o->csv.ptr : "", 1, o->csv.len, o->out);
}

static void csv_mark(gf_output *o)
{
    if (o->csv_mark) fputs(GF_CSV_MARK, o->out);
}

static void csv_header(gf_output *o)
{
    csv_mark(o);
    for (size_t c = 0; c < o->display->n_columns; c++) {
        if (c) fputc(',', o->out);
        csv_cell(o, gf_slice_str(o->display->columns[c].key));
    }
    fputs("\r\n", o->out);
}

/* Columns that the item lacks are taken from the row. */
static void flat_row(gf_output *o, gf_json_value item, gf_json_value row)
{
    bool csv = o->format == GF_OUTPUT_CSV;
    for (size_t c = 0; c < o->display->n_columns; c++) {
        const gf_display_column *column = &o->display->columns[c];
        gf_buffer_reset(&o->cell);
        gf_member_write(&o->cell, item, column, false);
        if (o->cell.len == 0) gf_member_write(&o->cell, row, column, false);
        if (c) fputc(csv ? ',' : '\t', o->out);
        if (csv)
            csv_cell(o, gf_buffer_view(&o->cell));
        else
            gf_text_print(o->out, gf_buffer_view(&o->cell), 0);
    }
    fputs(csv ? "\r\n" : "\n", o->out);
}

static void flat_rows(gf_output *o, gf_json_value row)
{
    gf_json_value list, item;
    gf_slice name;
    if (!o->display->each) {
        flat_row(o, row, row);
    } else if (gf_json_member(row, o->display->each, &list)) {
        gf_json_iterator it = gf_json_items(list);
        while (gf_json_next(&it, &name, &item))
            flat_row(o, item, row);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status check_written(gf_output *o, gf_error *err)
{
    if (!ferror(o->out)) return GF_OK;
    if (errno == EPIPE) return gf_fail(err, GF_ECANCELLED, "nobody reads any more");
    return gf_fail_errno(err, "cannot write the output");
}

static const char features_begin[] = "{\"type\":\"FeatureCollection\",\"features\":";

static void json_row(gf_output *o, gf_slice row)
{
    bool features = o->format == GF_OUTPUT_GEOJSON;
    bool array = features || (o->format == GF_OUTPUT_JSON && !o->display->single);
    if (features && o->n_rows == 0) fputs(features_begin, o->out);
    if (array) fputs(o->n_rows ? ",\n " : "[", o->out);
    fwrite(row.ptr, 1, row.len, o->out);
    if (!array) fputc('\n', o->out);
}

static gf_status parsed_row(gf_output *o, gf_slice text, gf_error *err)
{
    gf_json_value row;
    gf_status st = gf_json_parse_copy(o->parser, text, &row, err);
    if (st != GF_OK) return st;
    if (o->display->page) {
        gf_slice page = gf_member_text(row, o->display->page);
        fwrite(page.ptr ? page.ptr : "", 1, page.len, o->out);
        return GF_OK;
    }
    if (o->format == GF_OUTPUT_TABLE && !o->display->show)
        return gf_text_table_row(&o->table, row, err);
    if (o->format == GF_OUTPUT_TABLE) {
        o->display->show(o->session, row);
        return GF_OK;
    }
    if (is_spread(o)) return gf_spread_add(&o->spread, text, row, err);
    if (o->format == GF_OUTPUT_CSV && o->n_rows == 0) csv_header(o);
    flat_rows(o, row);
    gf_status written = gf_buffer_check(&o->csv, err);
    return written == GF_OK ? gf_buffer_check(&o->cell, err) : written;
}

bool gf_output_is_file(const gf_display *display, gf_output_format format)
{
    if (display->prints_lines) return true;
    return display->prints_file && format != GF_OUTPUT_JSON && format != GF_OUTPUT_JSONL;
}

gf_status gf_output_bytes(gf_output *o, gf_slice bytes, gf_error *err)
{
    fwrite(bytes.ptr ? bytes.ptr : "", 1, bytes.len, o->out);
    return check_written(o, err);
}

gf_status gf_output_row(gf_output *o, gf_slice row, gf_error *err)
{
    gf_status st = GF_OK;
    if (gf_output_is_file(o->display, o->format)) return GF_OK;
    if (o->format == GF_OUTPUT_JSON || o->format == GF_OUTPUT_JSONL ||
        o->format == GF_OUTPUT_GEOJSON)
        json_row(o, row);
    else
        st = parsed_row(o, row, err);
    o->n_rows++;
    return st == GF_OK ? check_written(o, err) : st;
}

gf_status gf_output_end(gf_output *o, gf_error *err)
{
    bool table = o->format == GF_OUTPUT_TABLE;
    if (o->format == GF_OUTPUT_JSON && !o->display->single && !o->display->prints_lines)
        fputs(o->n_rows ? "]\n" : "[]\n", o->out);
    if (o->format == GF_OUTPUT_GEOJSON && o->n_rows == 0) fputs(features_begin, o->out);
    if (o->format == GF_OUTPUT_GEOJSON) fputs(o->n_rows ? "]}\n" : "[]}\n", o->out);
    if (is_spread(o)) {
        csv_mark(o);
        gf_status st = gf_spread_write(&o->spread, o->parser, csv_cell, o, o->out, err);
        if (st == GF_OK) st = gf_buffer_check(&o->csv, err);
        if (st != GF_OK) return st;
    } else if (o->format == GF_OUTPUT_CSV && o->n_rows == 0 && !o->display->page &&
               !gf_output_is_file(o->display, o->format)) {
        csv_header(o);
    }
    if (table && !o->display->show) gf_text_table_end(&o->table);
    if (table && o->display->end && o->n_rows) o->display->end(o->session);
    if (fflush(o->out) != 0 && errno != EPIPE) return gf_fail_errno(err, "cannot write the output");
    return check_written(o, err);
}

#include "formats/bytes/listing.h"

#include "base/arena.h"
#include "base/hex.h"
#include "base/memory.h"
#include "base/number.h"
#include "formats/text/lines.h"

#include <stdio.h>

enum {
    MOST_LINE = 256 << 20,
    MOST_ROW = 64 << 20,
    MOST_CELLS = 100000,
    MOST_VERSIONS = 2 * MOST_CELLS
};

/* A line's parts, not yet unescaped. */
typedef struct line_parts {
    gf_slice row, family, qualifier, value;
    int64_t timestamp;
    gf_wide_kind kind;
} line_parts;

/* A row whose lines are being read; its bytes are in its arena. */
typedef struct row_lines {
    gf_arena memory;
    gf_wide_row row;
    gf_buffer source, raw;
    uint64_t line; /* its first; 0: there is no row yet */
} row_lines;

struct gf_listing {
    gf_listing_kind kind;
    gf_lines *lines;
    gf_listing_has_family *has_family;
    void *context;
    row_lines rows[2]; /* the one that grows, and the one that was given last */
    unsigned growing;
    gf_buffer text; /* unescaped */
    size_t column;  /* where the second column of a broken listing begins; 0: lines are whole */
    gf_buffer broken_key, broken_cell,
        broken_source; /* a cell whose lines are being put together */
    uint64_t broken_line;
    gf_text_line ahead; /* a line that was read, and belongs to the next cell */
    bool is_ahead;
    gf_status ended; /* how the lines ended; GF_OK: not yet */
    gf_error why;
};

gf_status gf_listing_open(const gf_input *input, gf_listing_kind kind, gf_listing **listing,
                          gf_error *err)
{
    gf_listing *l = gf_calloc(1, sizeof *l);
    if (!l) return gf_fail_memory(err, "a reader");
    l->kind = kind;
    gf_arena_init(&l->rows[0].memory);
    gf_arena_init(&l->rows[1].memory);
    gf_status st = gf_lines_open(input, MOST_LINE, NULL, &l->lines, err);
    if (st == GF_OK)
        *listing = l;
    else
        gf_listing_close(l);
    return st;
}

void gf_listing_close(gf_listing *l)
{
    if (!l) return;
    for (int i = 0; i < 2; i++) {
        gf_arena_release(&l->rows[i].memory);
        gf_wide_row_release(&l->rows[i].row);
        gf_buffer_release(&l->rows[i].source);
        gf_buffer_release(&l->rows[i].raw);
    }
    gf_lines_close(l->lines);
    gf_buffer_release(&l->text);
    gf_buffer_release(&l->broken_key);
    gf_buffer_release(&l->broken_cell);
    gf_buffer_release(&l->broken_source);
    gf_free(l);
}

void gf_listing_know_families(gf_listing *l, gf_listing_has_family *has, void *context)
{
    l->has_family = has;
    l->context = context;
}

/* ---- parts of text --------------------------------------------------------------------------- */

static bool take_until(gf_slice *from, gf_slice mark, gf_slice *before)
{
    const char *at = from->len ? memmem(from->ptr, from->len, mark.ptr, mark.len) : NULL;
    if (!at) return false;
    *before = gf_slice_of(from->ptr, (size_t)(at - from->ptr));
    *from = gf_slice_skip(*from, before->len + mark.len);
    return true;
}

static gf_slice without_blanks_behind(gf_slice s)
{
    while (s.len && s.ptr[s.len - 1] == ' ')
        s.len--;
    return s;
}

/* "\x00a" -> two bytes. Any other backslash stands for itself, and so does what follows it. */
static void unescape(gf_listing_kind kind, gf_slice s, gf_buffer *out)
{
    gf_buffer_reset(out);
    while (s.len) {
        const char *slash = memchr(s.ptr, '\\', s.len);
        size_t n = slash ? (size_t)(slash - s.ptr) : s.len, used = 1;
        gf_buffer_append(out, s.ptr, n);
        s = gf_slice_skip(s, n);
        if (!s.len) break;
        int high = s.len >= 4 && s.ptr[1] == 'x' ? gf_hex_digit(s.ptr[2]) : -1;
        int low = high >= 0 ? gf_hex_digit(s.ptr[3]) : -1;
        if (low >= 0) {
            gf_buffer_byte(out, (char)(high * 16 + low));
            used = 4;
        } else {
            gf_buffer_byte(out, '\\');
            if (kind == GF_LISTING_ACCUMULO && s.len >= 2 && s.ptr[1] == '\\') used = 2;
        }
        s = gf_slice_skip(s, used);
    }
}

/* ---- a line of HBase ------------------------------------------------------------------------- */

static bool read_time(gf_slice s, int64_t *ms)
{
    char whole[40];
    if (gf_number_read_signed(s, ms)) return true;
    if (s.len < 16 || s.len + 4 > sizeof whole || s.ptr[10] != 'T') return false;
    /* Java leaves the seconds of a time on the minute out. */
    int n = snprintf(whole, sizeof whole, "%.*s%s", (int)s.len, s.ptr, s.len == 16 ? ":00Z" : "Z");
    return gf_written_time_read(gf_slice_of(whole, (size_t)n), GF_DATE_ORDER_UNKNOWN, ms) ==
           GF_WRITTEN_TIME_MOMENT;
}

static bool read_marker(gf_slice name, gf_wide_kind *kind)
{
    static const struct {
        gf_slice name;
        gf_wide_kind kind;
    } markers[] = {{{"Delete", 6}, GF_WIDE_DELETE_VERSION},
                   {{"DeleteColumn", 12}, GF_WIDE_DELETE_CELL},
                   {{"DeleteFamily", 12}, GF_WIDE_DELETE_FAMILY},
                   {{"DeleteFamilyVersion", 19}, GF_WIDE_DELETE_FAMILY_VERSION}};
    for (size_t i = 0; i < sizeof markers / sizeof *markers; i++)
        if (gf_slice_equal(name, markers[i].name)) {
            *kind = markers[i].kind;
            return true;
        }
    return false;
}

/* "info:name, timestamp=1000, value=Ann", behind "column=". */
static bool read_hbase_cell(gf_slice cell, line_parts *p)
{
    gf_slice column, time, rest = cell;
    if (!take_until(&rest, GF_SLICE(", timestamp="), &column)) return false;
    gf_slice after_time = rest;
    if (take_until(&rest, GF_SLICE(", value="), &time) && read_time(time, &p->timestamp)) {
        p->kind = GF_WIDE_PUT;
        p->value = rest;
    } else if (take_until(&after_time, GF_SLICE(", type="), &time) &&
               read_time(time, &p->timestamp)) {
        p->value = (gf_slice){"", 0};
        if (!read_marker(without_blanks_behind(after_time), &p->kind)) return false;
    } else {
        return false;
    }
    p->qualifier = column;
    return take_until(&p->qualifier, GF_SLICE(":"), &p->family);
}

static bool read_hbase_line(gf_slice line, line_parts *p)
{
    if (line.len == 0 || *line.ptr != ' ') return false;
    line = gf_slice_skip(line, 1);
    return take_until(&line, GF_SLICE(" column="), &p->row) && read_hbase_cell(line, p);
}

static bool is_number_of_rows(gf_slice line)
{
    size_t n = 0;
    while (n < line.len && line.ptr[n] >= '0' && line.ptr[n] <= '9')
        n++;
    return n > 0 && gf_slice_starts(gf_slice_skip(line, n), GF_SLICE(" row(s)"));
}

static bool is_header(gf_slice line, size_t *column)
{
    gf_slice rest = line, before;
    if (!gf_slice_starts(line, GF_SLICE("ROW ")) ||
        !take_until(&rest, GF_SLICE("COLUMN+CELL"), &before))
        return false;
    *column = before.len > 5 ? before.len : 0;
    return true;
}

static bool is_about_hbase(gf_listing *l, gf_slice line)
{
    return is_header(line, &l->column) || is_number_of_rows(line) ||
           gf_slice_starts(line, GF_SLICE("Took ")) || gf_slice_starts(line, GF_SLICE("hbase:")) ||
           gf_slice_starts(line, GF_SLICE("hbase("));
}

/* ---- a line of Accumulo ---------------------------------------------------------------------- */

/* A time, and then a value or nothing, may follow the visibility. */
static bool read_behind(gf_slice rest, line_parts *p)
{
    gf_slice wide = GF_SLICE("    "); /* of versions before 1.8 */
    p->value = (gf_slice){"", 0};
    if (rest.len > 1 && *rest.ptr == ' ' && rest.ptr[1] != ' ') {
        size_t n = 1;
        while (n < rest.len && rest.ptr[n] != '\t' && rest.ptr[n] != ' ')
            n++;
        if (!gf_number_read_signed(gf_slice_of(rest.ptr + 1, n - 1), &p->timestamp)) return false;
        rest = gf_slice_skip(rest, n);
    }
    if (rest.len == 0) return true;
    if (*rest.ptr == '\t')
        p->value = gf_slice_skip(rest, 1);
    else if (gf_slice_starts(rest, wide))
        p->value = gf_slice_skip(rest, wide.len);
    else
        return false;
    return true;
}

/* Divide "u1 info:age": a family has no blank in front of its colon. */
static unsigned divide_key(const gf_listing *l, gf_slice key, line_parts *p)
{
    unsigned found = 0;
    for (size_t i = 0; i < key.len; i++) {
        size_t end = i + 1;
        if (key.ptr[i] != ' ') continue;
        while (end < key.len && key.ptr[end] != ':' && key.ptr[end] != ' ')
            end++;
        gf_slice family = gf_slice_of(key.ptr + i + 1, end - i - 1);
        if (end == key.len || key.ptr[end] != ':' ||
            (l->has_family && !l->has_family(l->context, family)))
            continue;
        if (found++) continue;
        p->row = gf_slice_of(key.ptr, i);
        p->family = family;
        p->qualifier = gf_slice_skip(key, end + 1);
    }
    return found;
}

/* How many ways there are to read the line: of a cell just one. */
static unsigned read_accumulo_line(const gf_listing *l, gf_slice line, line_parts *p)
{
    const char *tab = line.len ? memchr(line.ptr, '\t', line.len) : NULL;
    size_t most = tab ? (size_t)(tab - line.ptr) : line.len;
    p->kind = GF_WIDE_PUT;
    for (size_t i = 0; i + 1 < most; i++) {
        if (line.ptr[i] != ' ' || line.ptr[i + 1] != '[') continue;
        size_t end = i + 2;
        /* No visibility has another one in it; so no byte is looked at twice. */
        while (end < most && line.ptr[end] != ']' && line.ptr[end] != '[')
            end++;
        p->timestamp = INT64_MAX;
        if (end == most || line.ptr[end] == '[' || !read_behind(gf_slice_skip(line, end + 1), p))
            continue;
        return divide_key(l, gf_slice_of(line.ptr, i), p);
    }
    return 0;
}

/* "root@instance> ", "root@instance table> " */
static bool is_about_accumulo(gf_slice line)
{
    gf_slice rest = line, before;
    return take_until(&rest, GF_SLICE("> "), &before) && memchr(before.ptr, '@', before.len) &&
           !memchr(before.ptr, '[', before.len) && !memchr(before.ptr, ':', before.len);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status keep(gf_listing *l, row_lines *to, gf_slice escaped, gf_slice *kept, gf_error *err)
{
    unescape(l->kind, escaped, &l->text);
    gf_status st = gf_buffer_check(&l->text, err);
    if (st != GF_OK) return st;
    *kept = gf_arena_copy(&to->memory, gf_buffer_view(&l->text));
    return kept->ptr ? GF_OK : gf_fail_memory(err, "a row");
}

static gf_status add_cell(gf_listing *l, row_lines *to, const line_parts *p, gf_slice line,
                          gf_error *err)
{
    gf_wide_cell cell = {.timestamp = p->timestamp, .kind = p->kind};
    gf_status st = keep(l, to, p->family, &cell.family, err);
    if (st == GF_OK) st = keep(l, to, p->qualifier, &cell.qualifier, err);
    if (st == GF_OK) st = keep(l, to, p->value, &cell.value, err);
    if (st == GF_OK) st = gf_wide_row_add(&to->row, &cell, err);
    gf_buffer_slice(&to->raw, line);
    gf_buffer_byte(&to->raw, '\n');
    return st == GF_OK ? gf_buffer_check(&to->raw, err) : st;
}

static gf_status begin_row(gf_listing *l, row_lines *to, const line_parts *p, gf_slice source,
                           uint64_t number, gf_error *err)
{
    gf_arena_reset(&to->memory);
    gf_buffer_reset(&to->source);
    gf_buffer_reset(&to->raw);
    to->row.n = 0;
    to->line = number;
    gf_buffer_slice(&to->source, source);
    gf_status st = keep(l, to, p->row, &to->row.key, err);
    return st == GF_OK ? gf_buffer_check(&to->source, err) : st;
}

/* Whether the cell goes with the row that grows. Versions of a cell stay together in any case. */
static gf_status belongs(gf_listing *l, const line_parts *p, gf_slice source, bool *does,
                         gf_error *err)
{
    const row_lines *to = &l->rows[l->growing];
    *does = false;
    if (!to->line || !gf_slice_equal(gf_buffer_view(&to->source), source)) return GF_OK;
    unescape(l->kind, p->row, &l->text);
    *does = gf_slice_equal(gf_buffer_view(&l->text), to->row.key);
    if (!*does || (to->row.n < MOST_CELLS && to->raw.len < MOST_ROW))
        return gf_buffer_check(&l->text, err);
    *does = to->row.n < MOST_VERSIONS && to->raw.len < 2 * (size_t)MOST_ROW;
    if (!*does) return gf_buffer_check(&l->text, err);
    unescape(l->kind, p->qualifier, &l->text);
    *does = gf_slice_equal(gf_buffer_view(&l->text), to->row.cells[to->row.n - 1].qualifier);
    return gf_buffer_check(&l->text, err);
}

static void give_row(row_lines *given, gf_record *record, gf_wide_row *row)
{
    *row = given->row;
    *record = (gf_record){.source = gf_buffer_view(&given->source),
                          .line = given->line,
                          .raw = gf_buffer_view(&given->raw)};
    given->line = 0;
}

/* Take a cell in; *given: the row before it is complete, and is given. */
static gf_status take_cell(gf_listing *l, const line_parts *p, const gf_text_line *line,
                           gf_record *record, gf_wide_row *row, bool *given, gf_error *err)
{
    row_lines *to = &l->rows[l->growing];
    bool does;
    gf_status st = belongs(l, p, line->source, &does, err);
    *given = st == GF_OK && to->line && !does;
    if (*given) {
        give_row(to, record, row);
        l->growing = !l->growing;
        to = &l->rows[l->growing];
        to->line = 0;
    }
    if (st == GF_OK && !to->line) st = begin_row(l, to, p, line->source, line->number, err);
    return st == GF_OK ? add_cell(l, to, p, line->text, err) : st;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static gf_status next_line(gf_listing *l, gf_text_line *line, gf_error *err)
{
    if (l->is_ahead) {
        l->is_ahead = false;
        *line = l->ahead;
        return GF_OK;
    }
    return gf_lines_next(l->lines, line, err);
}

static gf_slice piece_of(gf_slice line, size_t from, size_t to)
{
    if (to > line.len) to = line.len;
    return from < to ? gf_slice_of(line.ptr + from, to - from) : (gf_slice){"", 0};
}

/* A line of which a cell's second column begins. */
static bool begins_cell(const gf_listing *l, gf_slice line)
{
    return line.len > l->column && line.ptr[0] == ' ' &&
           gf_slice_starts(gf_slice_skip(line, l->column), GF_SLICE("column="));
}

/* The line and those that go on with it, put together as one: " row column=...". */
static gf_status join_lines(gf_listing *l, gf_text_line *line, gf_error *err)
{
    gf_text_line next = *line;
    gf_status st = GF_OK;
    gf_buffer_reset(&l->broken_key);
    gf_buffer_reset(&l->broken_cell);
    gf_buffer_reset(&l->broken_source);
    gf_buffer_slice(&l->broken_source, line->source);
    l->broken_line = line->number;
    do {
        gf_buffer_slice(&l->broken_key, piece_of(next.text, 1, l->column - 1));
        gf_buffer_slice(&l->broken_cell, piece_of(next.text, l->column, next.text.len));
        st = gf_buffer_check(&l->broken_key, err);
        if (st == GF_OK) st = gf_buffer_check(&l->broken_cell, err);
        if (st == GF_OK) st = gf_lines_next(l->lines, &next, err);
    } while (st == GF_OK && !next.too_long && next.number > l->broken_line &&
             next.text.len > l->column && next.text.ptr[0] == ' ' && !begins_cell(l, next.text));
    l->is_ahead = st == GF_OK;
    l->ahead = next;
    if (st == GF_ENOTFOUND) st = GF_OK;
    gf_slice key = without_blanks_behind(gf_buffer_view(&l->broken_key));
    gf_slice cell = without_blanks_behind(gf_buffer_view(&l->broken_cell));
    gf_buffer_reset(&l->text);
    gf_buffer_byte(&l->text, ' ');
    gf_buffer_slice(&l->text, key);
    gf_buffer_byte(&l->text, ' ');
    gf_buffer_slice(&l->text, cell);
    if (st == GF_OK) st = gf_buffer_check(&l->text, err);
    gf_buffer_reset(&l->broken_cell);
    gf_buffer_slice(&l->broken_cell, gf_buffer_view(&l->text));
    if (st == GF_OK) st = gf_buffer_check(&l->broken_cell, err);
    if (st == GF_OK) st = gf_buffer_check(&l->broken_source, err);
    *line = (gf_text_line){.source = gf_buffer_view(&l->broken_source),
                           .number = l->broken_line,
                           .text = gf_buffer_view(&l->broken_cell)};
    return st;
}

static void refuse(const gf_text_line *line, const char *reason, const char *message,
                   gf_record *record)
{
    *record = (gf_record){.kind = GF_RECORD_REFUSED,
                          .source = line->source,
                          .line = line->number,
                          .reason = reason,
                          .message = message,
                          .raw = line->text};
}

/* One line: a cell, a line that is refused, or one that is about the listing. */
static gf_status take_line(gf_listing *l, gf_text_line *line, gf_record *record, gf_wide_row *row,
                           bool *given, gf_error *err)
{
    line_parts p;
    gf_status st = GF_OK;
    bool is_hbase = l->kind == GF_LISTING_HBASE;
    *given = true;
    if (line->too_long) {
        refuse(line, "too_long", "a line of more than 256 MiB", record);
        return GF_OK;
    }
    if (is_hbase && l->column && begins_cell(l, line->text)) st = join_lines(l, line, err);
    if (st != GF_OK) return st;
    unsigned ways =
        is_hbase ? read_hbase_line(line->text, &p) : read_accumulo_line(l, line->text, &p);
    if (ways == 1) return take_cell(l, &p, line, record, row, given, err);
    *given =
        ways > 1 || !(is_hbase ? is_about_hbase(l, line->text) : is_about_accumulo(line->text));
    if (ways > 1)
        refuse(line, "ambiguous",
               "several families could be this cell's: the row or the qualifier has "
               "one's name and a colon (--family says which there are)",
               record);
    else if (*given)
        refuse(line, "no_cell",
               is_hbase
                   ? "not \" ROW column=FAMILY:COLUMN, timestamp=T, value=V\""
                   : "not \"ROW FAMILY:COLUMN [VISIBILITY]<TAB>VALUE\" with a family that is known",
               record);
    return GF_OK;
}

gf_status gf_listing_next(gf_listing *l, gf_record *record, gf_wide_row *row, gf_error *err)
{
    gf_text_line line;
    bool given = false;
    while (l->ended == GF_OK) {
        l->why = (gf_error){GF_OK, ""};
        l->ended = next_line(l, &line, &l->why);
        if (l->ended == GF_OK) l->ended = take_line(l, &line, record, row, &given, &l->why);
        if (l->ended == GF_OK && given) return GF_OK;
    }
    row_lines *last = &l->rows[l->growing];
    if (last->line && (l->ended == GF_ENOTFOUND || l->ended == GF_ECORRUPT)) {
        give_row(last, record, row);
        return GF_OK;
    }
    if (err) *err = l->why;
    return l->ended;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void escape(gf_slice bytes, gf_buffer *out)
{
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        if (c >= ' ' && c <= '~' && c != '\\')
            gf_buffer_byte(out, (char)c);
        else
            gf_buffer_format(out, "\\x%02X", c);
    }
}

void gf_listing_write(const gf_wide_row *row, gf_buffer *out)
{
    for (size_t i = 0; i < row->n; i++) {
        const gf_wide_cell *c = &row->cells[i];
        gf_buffer_byte(out, ' ');
        escape(row->key, out);
        gf_buffer_str(out, " column=");
        escape(c->family, out);
        gf_buffer_byte(out, ':');
        escape(c->qualifier, out);
        gf_buffer_format(out, ", timestamp=%lld, ", (long long)c->timestamp);
        if (c->kind == GF_WIDE_PUT) {
            gf_buffer_str(out, "value=");
            escape(c->value, out);
        } else {
            gf_buffer_str(out, c->kind == GF_WIDE_DELETE_VERSION ? "type=Delete"
                               : c->kind == GF_WIDE_DELETE_CELL  ? "type=DeleteColumn"
                               : c->kind == GF_WIDE_DELETE_FAMILY_VERSION
                                   ? "type=DeleteFamilyVersion"
                                   : "type=DeleteFamily");
        }
        gf_buffer_byte(out, '\n');
    }
}

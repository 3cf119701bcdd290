/* The zip of a workbook, and its parts but for the rows of a sheet. */
#include "formats/workbook/workbook_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/utf8.h"
#include "formats/workbook/workbook_cell.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

/* More of these nobody has, and memory holds them. */
enum {
    MOST_SHEETS = 4096,
    MOST_NAME = 1024,
    MOST_STYLES = 1 << 17,
    MOST_CODES = 4096,
    NAMES_SHOWN = 160
};

void gf_workbook_release(gf_workbook *b)
{
    if (b->archive) archive_read_free(b->archive);
    gf_spill_free(b->packed);
    gf_spill_free(b->strings);
    gf_spill_free(b->offsets);
    for (size_t i = 0; i < b->n_sheets; i++) {
        gf_free(b->sheets[i].name);
        gf_free(b->sheets[i].relation);
    }
    for (size_t i = 0; i < b->n_relations; i++) {
        gf_free(b->relations[i].id);
        gf_free(b->relations[i].path);
    }
    gf_free(b->sheets);
    gf_free(b->relations);
    gf_free(b->formats);
    gf_free(b->block);
    *b = (gf_workbook){0};
}

/* ---- the zip --------------------------------------------------------------------------------- */

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

static gf_status keep_bytes(gf_workbook *b, gf_read_buffer *from, gf_error *err)
{
    gf_status st = gf_spill_create(temporary_folder(), &b->packed, err);
    while (st == GF_OK) {
        gf_slice unread = gf_read_buffer_unread(from);
        st = gf_spill_write(b->packed, b->size, unread.ptr, unread.len, err);
        if (st != GF_OK) return st;
        b->size += unread.len;
        gf_read_buffer_consume(from, unread.len);
        if (from->at_end) return GF_OK;
        st = gf_read_buffer_more(from, err);
    }
    return st;
}

static la_ssize_t give_bytes(struct archive *a, void *context, const void **bytes)
{
    gf_workbook *b = context;
    size_t n = GF_XML_STREAM_TAG;
    if (n > b->size - b->at) n = (size_t)(b->size - b->at);
    gf_status st = gf_input_check(b->input, &b->failure);
    if (st == GF_OK) st = gf_spill_read(b->packed, b->at, b->block, n, &b->failure);
    if (st != GF_OK) {
        archive_set_error(a, EIO, "the input failed");
        return -1;
    }
    b->at += n;
    *bytes = b->block;
    return (la_ssize_t)n;
}

static la_int64_t go_to(struct archive *a, void *context, la_int64_t offset, int whence)
{
    gf_workbook *b = context;
    int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? (int64_t)b->at : (int64_t)b->size;
    (void)a;
    if (offset < -from || (uint64_t)(from + offset) > b->size) return ARCHIVE_FATAL;
    b->at = (uint64_t)(from + offset);
    return (la_int64_t)b->at;
}

/* The meaning of libarchive's failure: the input's, missing memory, or damage. */
static gf_status fail_archive(gf_workbook *b, gf_error *err)
{
    if (b->failure.status != GF_OK) {
        if (err) *err = b->failure;
        return b->failure.status;
    }
    if (archive_errno(b->archive) == ENOMEM) return gf_fail_memory(err, "a workbook");
    return gf_fail(err, GF_ECORRUPT, "a workbook that is damaged");
}

static gf_status begin_zip(gf_workbook *b, gf_error *err)
{
    if (b->archive) archive_read_free(b->archive);
    b->at = 0;
    struct archive *a = b->archive = archive_read_new();
    if (!a) return gf_fail_memory(err, "an archive");
    archive_read_support_format_zip_seekable(a);
    archive_read_set_read_callback(a, give_bytes);
    archive_read_set_seek_callback(a, go_to);
    archive_read_set_callback_data(a, b);
    return archive_read_open1(a) == ARCHIVE_OK ? GF_OK : fail_archive(b, err);
}

/* Go to the next part: its path, or NULL behind the last. */
static gf_status next_part(gf_workbook *b, const char **path, gf_error *err)
{
    struct archive_entry *entry;
    do {
        int r = archive_read_next_header(b->archive, &entry);
        *path = NULL;
        if (r == ARCHIVE_EOF) return GF_OK;
        if (r != ARCHIVE_OK && r != ARCHIVE_WARN) return fail_archive(b, err);
        *path = archive_entry_pathname(entry);
    } while (!*path);
    return GF_OK;
}

gf_status gf_workbook_read_part(gf_workbook *b, char *to, size_t n, size_t *got, gf_error *err)
{
    la_ssize_t r;
    gf_status st = gf_input_check(b->input, err);
    if (st != GF_OK) return st;
    do {
        r = archive_read_data(b->archive, to, n);
    } while (r == ARCHIVE_RETRY);
    if (r < 0) return fail_archive(b, err);
    *got = (size_t)r;
    b->out += *got;
    return gf_input_check_unpacked(b->input, b->name, b->size, b->out, err);
}

/* ---- the XML of a part ----------------------------------------------------------------------- */

/* A part that is read, for the events of its elements. */
typedef struct part {
    gf_workbook *book;
    gf_xml_stream xml;
    gf_error failure; /* of an event */
    bool in_cell_styles;
    bool in_item, in_text; /* of a shared text */
    unsigned phonetic;     /* elements that say how it is pronounced */
    gf_buffer text;
    uint64_t starts[512]; /* of texts that are not written to the spill yet: n_starts */
    size_t n_starts;
    uint64_t *codes; /* n_codes: a number's format and what it shows, in turns */
    size_t n_codes, code_capacity;
} part;

static void fail_part(part *p, gf_status st)
{
    p->failure.status = st;
    gf_xml_stream_stop(&p->xml);
}

static void ignore_end(void *context, const char *name, const char *space)
{
    (void)context, (void)name, (void)space;
}

static void ignore_text(void *context, gf_slice text)
{
    (void)context, (void)text;
}

static bool is_named(const char *name, const char *expected)
{
    return strcmp(name, expected) == 0;
}

static bool is_true(gf_slice value)
{
    return gf_slice_equal(value, GF_SLICE("1")) || gf_slice_equal(value, GF_SLICE("true"));
}

static uint64_t number_of(gf_slice value)
{
    uint64_t v = 0;
    return gf_number_read(value, &v) ? v : 0;
}

static char *copy_name(part *p, gf_slice s)
{
    if (s.len > MOST_NAME) {
        fail_part(p,
                  gf_fail(&p->failure, GF_ECORRUPT,
                          "a workbook that is damaged: a name of over %d bytes", (int)MOST_NAME));
        return NULL;
    }
    char *copy = gf_copy_string(s.ptr, s.len);
    if (!copy) fail_part(p, gf_fail_memory(&p->failure, "a workbook"));
    return copy;
}

/* ---- xl/workbook.xml, xl/_rels/workbook.xml.rels --------------------------------------------- */

static void start_in_workbook(void *context, const char *name, const char *space,
                              const gf_xml_attributes *a)
{
    part *p = context;
    gf_workbook *b = p->book;
    (void)space;
    if (is_named(name, "workbookPr"))
        b->from_1904 = is_true(gf_xml_stream_attribute(a, "date1904"));
    if (!is_named(name, "sheet") || p->failure.status != GF_OK) return;
    if (b->n_sheets == MOST_SHEETS) {
        fail_part(p, gf_fail(&p->failure, GF_ECORRUPT, "a workbook of more than %d sheets",
                             (int)MOST_SHEETS));
        return;
    }
    if (!gf_grow(&b->sheets, &b->sheet_capacity, b->n_sheets + 1, sizeof *b->sheets)) {
        fail_part(p, gf_fail_memory(&p->failure, "a workbook"));
        return;
    }
    gf_workbook_sheet *s = &b->sheets[b->n_sheets++];
    gf_slice state = gf_xml_stream_attribute(a, "state");
    s->is_hidden = state.len && !gf_slice_equal(state, GF_SLICE("visible"));
    s->relation = NULL;
    s->name = copy_name(p, gf_xml_stream_attribute(a, "name"));
    /* The last attribute of that local name: r:id; sheetId is another. */
    if (s->name) s->relation = copy_name(p, gf_xml_stream_attribute(a, "id"));
}

static const gf_xml_events workbook_events = {start_in_workbook, ignore_end, ignore_text};

static void start_in_relations(void *context, const char *name, const char *space,
                               const gf_xml_attributes *a)
{
    part *p = context;
    gf_workbook *b = p->book;
    gf_slice type = gf_xml_stream_attribute(a, "Type"),
             target = gf_xml_stream_attribute(a, "Target");
    (void)space;
    if (!is_named(name, "Relationship") || !gf_slice_ends(type, GF_SLICE("/worksheet"))) return;
    if (p->failure.status != GF_OK || b->n_relations == MOST_SHEETS) return;
    gf_buffer path = {0};
    bool from_root = target.len && target.ptr[0] == '/';
    if (!from_root) gf_buffer_str(&path, "xl/");
    gf_buffer_slice(&path, from_root ? gf_slice_skip(target, 1) : target);
    if (gf_buffer_check(&path, &p->failure) != GF_OK ||
        !gf_grow(&b->relations, &b->relation_capacity, b->n_relations + 1, sizeof *b->relations)) {
        gf_buffer_release(&path);
        fail_part(p, gf_fail_memory(&p->failure, "a workbook"));
        return;
    }
    gf_workbook_relation *r = &b->relations[b->n_relations++];
    r->path = NULL;
    r->id = copy_name(p, gf_xml_stream_attribute(a, "Id"));
    if (r->id) r->path = copy_name(p, gf_buffer_view(&path));
    gf_buffer_release(&path);
}

static const gf_xml_events relation_events = {start_in_relations, ignore_end, ignore_text};

/* ---- xl/styles.xml --------------------------------------------------------------------------- */

static void add_code(part *p, const gf_xml_attributes *a)
{
    if (p->n_codes == 2 * MOST_CODES) return;
    if (!gf_grow(&p->codes, &p->code_capacity, p->n_codes + 2, sizeof *p->codes)) {
        fail_part(p, gf_fail_memory(&p->failure, "a workbook"));
        return;
    }
    p->codes[p->n_codes++] = number_of(gf_xml_stream_attribute(a, "numFmtId"));
    p->codes[p->n_codes++] =
        gf_workbook_cell_format_of_code(gf_xml_stream_attribute(a, "formatCode"));
}

static void add_style(part *p, const gf_xml_attributes *a)
{
    gf_workbook *b = p->book;
    if (b->n_formats == MOST_STYLES) return;
    uint64_t id = number_of(gf_xml_stream_attribute(a, "numFmtId"));
    unsigned format = id < 164 ? gf_workbook_cell_format_of_number((unsigned)id) : 0;
    for (size_t i = 0; i < p->n_codes; i += 2)
        if (p->codes[i] == id) format = (unsigned)p->codes[i + 1];
    if (!gf_grow(&b->formats, &b->format_capacity, b->n_formats + 1, 1)) {
        fail_part(p, gf_fail_memory(&p->failure, "a workbook"));
        return;
    }
    b->formats[b->n_formats++] = (uint8_t)format;
}

static void start_in_styles(void *context, const char *name, const char *space,
                            const gf_xml_attributes *a)
{
    part *p = context;
    (void)space;
    if (p->failure.status != GF_OK) return;
    if (is_named(name, "numFmt")) add_code(p, a);
    if (is_named(name, "cellXfs")) p->in_cell_styles = true;
    if (is_named(name, "xf") && p->in_cell_styles) add_style(p, a);
}

static void end_in_styles(void *context, const char *name, const char *space)
{
    part *p = context;
    (void)space;
    if (is_named(name, "cellXfs")) p->in_cell_styles = false;
}

static const gf_xml_events style_events = {start_in_styles, end_in_styles, ignore_text};

/* ---- xl/sharedStrings.xml -------------------------------------------------------------------- */

/* The texts wait in p->text, the place of each in p->starts. */
static void write_strings(part *p)
{
    gf_workbook *b = p->book;
    gf_status st = gf_buffer_check(&p->text, &p->failure);
    if (st == GF_OK)
        st = gf_spill_write(b->strings, b->strings_end, p->text.ptr, p->text.len, &p->failure);
    if (st == GF_OK && p->n_starts)
        st = gf_spill_write(b->offsets, b->n_strings * sizeof *p->starts, p->starts,
                            p->n_starts * sizeof *p->starts, &p->failure);
    if (st != GF_OK) {
        fail_part(p, st);
        return;
    }
    b->strings_end += p->text.len;
    b->n_strings += p->n_starts;
    p->n_starts = 0;
    gf_buffer_reset(&p->text);
}

static void start_in_strings(void *context, const char *name, const char *space,
                             const gf_xml_attributes *a)
{
    part *p = context;
    enum { HELD = 256 << 10 };
    (void)space, (void)a;
    if (p->failure.status != GF_OK) return;
    if (is_named(name, "si")) {
        bool is_full = p->n_starts == sizeof p->starts / sizeof *p->starts;
        if (is_full || p->text.len > HELD) write_strings(p);
        if (p->failure.status != GF_OK) return;
        p->starts[p->n_starts++] = p->book->strings_end + p->text.len;
        p->in_item = true;
        p->phonetic = 0;
    }
    if (is_named(name, "rPh")) p->phonetic++;
    if (is_named(name, "t")) p->in_text = true;
}

static void end_in_strings(void *context, const char *name, const char *space)
{
    part *p = context;
    (void)space;
    if (is_named(name, "si")) p->in_item = false;
    if (is_named(name, "rPh") && p->phonetic) p->phonetic--;
    if (is_named(name, "t")) p->in_text = false;
}

static void add_to_string(void *context, gf_slice text)
{
    part *p = context;
    if (!p->in_item || !p->in_text || p->phonetic || p->failure.status != GF_OK) return;
    uint64_t has = p->book->strings_end + p->text.len - p->starts[p->n_starts - 1];
    if (has > p->book->most) return;
    if (text.len > p->book->most + 1 - has) text.len = (size_t)(p->book->most + 1 - has);
    gf_buffer_slice(&p->text, text);
    if (p->text.state != GF_OK) fail_part(p, gf_buffer_check(&p->text, &p->failure));
}

static const gf_xml_events string_events = {start_in_strings, end_in_strings, add_to_string};

static gf_status make_spills(gf_workbook *b, gf_error *err)
{
    if (b->strings) return gf_fail(err, GF_ECORRUPT, "a workbook with two parts of texts");
    gf_status st = gf_spill_create(temporary_folder(), &b->strings, err);
    return st == GF_OK ? gf_spill_create(temporary_folder(), &b->offsets, err) : st;
}

gf_status gf_workbook_append_string(gf_workbook *b, uint64_t number, gf_buffer *out, gf_error *err)
{
    uint64_t at[2];
    if (number >= b->n_strings)
        return gf_fail(err, GF_ECORRUPT, "a workbook that is damaged: a cell has text %llu of %llu",
                       (unsigned long long)number, (unsigned long long)b->n_strings);
    gf_status st = gf_spill_read(b->offsets, number * sizeof *at, at, sizeof at, err);
    if (st != GF_OK) return st;
    size_t n = (size_t)(at[1] - at[0]);
    char *to = gf_buffer_reserve(out, n);
    if (!to) return gf_buffer_check(out, err);
    st = gf_spill_read(b->strings, at[0], to, n, err);
    if (st != GF_OK) return st;
    out->len += n;
    b->out += n; /* the same text may be in a million cells */
    return gf_input_check_unpacked(b->input, b->name, b->size, b->out, err);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static gf_status parse_part(part *p, const gf_xml_events *events, gf_error *err)
{
    gf_workbook *b = p->book;
    char piece[GF_XML_STREAM_TAG];
    size_t n = 1;
    gf_status st = gf_xml_stream_open(&p->xml, events, p, err);
    bool is_good = true;
    while (st == GF_OK && n && is_good) {
        st = gf_workbook_read_part(b, piece, sizeof piece, &n, err);
        if (st != GF_OK) break;
        is_good =
            n ? gf_xml_stream_feed(&p->xml, gf_slice_of(piece, n)) : gf_xml_stream_end(&p->xml);
    }
    bool no_memory = p->xml.out_of_memory, is_unsafe = p->xml.is_unsafe;
    gf_xml_stream_release(&p->xml);
    if (st != GF_OK) return st;
    if (no_memory) return gf_fail_memory(err, "a workbook");
    if (p->failure.status != GF_OK) {
        if (err) *err = p->failure;
        return p->failure.status;
    }
    if (is_good) return GF_OK;
    return gf_fail(err, GF_ECORRUPT, "a workbook that is damaged%s",
                   is_unsafe ? ", or made to harm: it declares entities" : "");
}

static gf_status read_part(gf_workbook *b, const char *path, gf_error *err)
{
    part p = {.book = b};
    const gf_xml_events *events = NULL;
    gf_status st = GF_OK;
    if (strcasecmp(path, "xl/workbook.xml") == 0) events = &workbook_events;
    if (strcasecmp(path, "xl/_rels/workbook.xml.rels") == 0) events = &relation_events;
    if (strcasecmp(path, "xl/styles.xml") == 0) events = &style_events;
    if (strcasecmp(path, "xl/sharedStrings.xml") == 0) events = &string_events;
    if (!events) return GF_OK;
    if (events == &string_events) st = make_spills(b, err);
    if (st == GF_OK) st = parse_part(&p, events, err);
    if (st == GF_OK && events == &string_events) {
        write_strings(&p);
        st = p.failure.status;
        if (st == GF_OK)
            st = gf_spill_write(b->offsets, b->n_strings * sizeof b->strings_end, &b->strings_end,
                                sizeof b->strings_end, &p.failure);
        if (st != GF_OK && err) *err = p.failure;
    }
    gf_buffer_release(&p.text);
    gf_free(p.codes);
    return st;
}

gf_status gf_workbook_read(gf_workbook *b, gf_read_buffer *from, gf_error *err)
{
    const char *path;
    b->block = gf_malloc(GF_XML_STREAM_TAG);
    gf_status st = b->block ? GF_OK : gf_fail_memory(err, "a workbook");
    if (st == GF_OK) st = keep_bytes(b, from, err);
    if (st == GF_OK) st = begin_zip(b, err);
    while (st == GF_OK && (st = next_part(b, &path, err)) == GF_OK && path)
        st = read_part(b, path, err);
    if (st != GF_OK || b->n_sheets) return st;
    return gf_fail(err, GF_ECORRUPT,
                   "an Excel workbook without sheets that can be read; save it as .xlsx or CSV");
}

/* ---- sheets ---------------------------------------------------------------------------------- */

void gf_workbook_append_names(const gf_workbook *b, gf_buffer *out)
{
    size_t start = out->len;
    for (size_t i = 0; i < b->n_sheets; i++) {
        if (b->sheets[i].is_hidden) continue;
        if (out->len - start > NAMES_SHOWN) {
            gf_buffer_str(out, ", …");
            return;
        }
        if (out->len > start) gf_buffer_str(out, ", ");
        gf_buffer_slice(out, gf_utf8_cut(gf_slice_str(b->sheets[i].name), 64));
    }
}

static const char *sheet_path(const gf_workbook *b, size_t at)
{
    for (size_t i = 0; i < b->n_relations; i++)
        if (strcmp(b->relations[i].id, b->sheets[at].relation) == 0) return b->relations[i].path;
    return NULL;
}

static gf_status choose_sheet(const gf_workbook *b, gf_slice wanted, size_t *at, gf_error *err)
{
    uint64_t number;
    for (size_t i = 0; i < b->n_sheets; i++) {
        *at = i;
        if (wanted.len == 0 ? !b->sheets[i].is_hidden && sheet_path(b, i) /* no chart */
                            : gf_slice_equal(wanted, gf_slice_str(b->sheets[i].name)))
            return GF_OK;
    }
    *at = 0;
    if (wanted.len == 0) return GF_OK;
    if (gf_number_read(wanted, &number) && number >= 1 && number <= b->n_sheets) {
        *at = (size_t)number - 1;
        return GF_OK;
    }
    gf_buffer names = {0};
    gf_workbook_append_names(b, &names);
    gf_status st = gf_buffer_check(&names, err);
    if (st == GF_OK)
        st = gf_fail(err, GF_EINVAL, "%.*s has no sheet \"%.*s\"; its sheets: %.*s",
                     GF_SLICE_ARG(b->name), GF_SLICE_ARG(gf_utf8_cut(wanted, 64)),
                     GF_SLICE_ARG(gf_buffer_view(&names)));
    gf_buffer_release(&names);
    return st;
}

gf_status gf_workbook_open_sheet(gf_workbook *b, gf_slice wanted, size_t *at, gf_error *err)
{
    const char *path;
    gf_status st = choose_sheet(b, wanted, at, err);
    if (st != GF_OK) return st;
    const char *sought = sheet_path(b, *at);
    if (!sought)
        return gf_fail(err, GF_ECORRUPT, "a workbook whose sheet \"%.*s\" has no rows of cells",
                       GF_SLICE_ARG(gf_utf8_cut(gf_slice_str(b->sheets[*at].name), 64)));
    st = begin_zip(b, err);
    while (st == GF_OK && (st = next_part(b, &path, err)) == GF_OK && path)
        if (strcasecmp(path, sought) == 0) return GF_OK;
    return st != GF_OK
               ? st
               : gf_fail(err, GF_ECORRUPT, "a workbook that is damaged: it lacks %.200s", sought);
}

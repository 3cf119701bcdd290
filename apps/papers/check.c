/*
 * Checking tables of papers: a row has what is written together, or none of it, and each cell is of
 * its form.
 *
 *     file:cdx          with f:c, which a crawler writes alone, too
 *     file:meta         with file:size
 *     grobid0:status    with grobid0:status_code; where it is a success with tei_xml, tei_json and
 *                       metadata, else without
 *     match0:minfo, doi with match0:mstatus
 *
 * So has each group (grobid1, match1) of those of its stem; other families hold anything.
 *
 * Repairing them: what derives from file:cdx or grobid0:tei_xml is made anew; of the rest what lost a
 * part goes with what it belongs to, so that an import of the paper brings it back.
 */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/table/table_internal.h"

#include "base/json/json.h"
#include "base/strings.h"
#include "storage/backend.h"

typedef struct papers_check {
    gf_app_check *c;
    gf_papers *papers;
    gf_json_parser *json;
    gf_row row;
    gf_buffer where, text;
    size_t where_paper;       /* bytes of `where` before the name of a group */
    gf_app_repair *out;       /* of a repair; NULL: it is a check */
    gf_papers_import *import; /* of it; NULL until the first paper that has a fault */
    gf_batch *batch;
    gf_tei tei;
} papers_check;

/* ---- a row ----------------------------------------------------------------------------------- */

static gf_slice read_cell(const papers_check *p, unsigned family, const char *column)
{
    const gf_cell *found = gf_row_find(&p->row, gf_papers_family(p->papers, family), column);
    return found ? found->value : (gf_slice){NULL, 0};
}

static gf_status check_number(papers_check *p, unsigned family, const char *column, gf_error *err)
{
    gf_slice value = read_cell(p, family, column);
    if (!value.ptr || value.len == 8) return GF_OK;
    return gf_app_fault(p->c, gf_buffer_cstr(&p->where), err, "%s is not 8 bytes", column);
}

/* *status is the text of member "status", where that is wanted. */
static gf_status check_object(papers_check *p, gf_slice value, const char *column, gf_slice *status,
                              gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_json_value v, member;
    gf_buffer_reset(&p->text);
    gf_buffer_slice(&p->text, value);
    if (!gf_buffer_reserve(&p->text, GF_JSON_PADDING)) return gf_buffer_check(&p->text, err);
    gf_status st = gf_json_parse(p->json, gf_buffer_view(&p->text), &v, &why);
    if (st == GF_EINVAL)
        return gf_app_fault(p->c, gf_buffer_cstr(&p->where), err, "%s is no JSON", column);
    if (st != GF_OK) {
        if (err) *err = why;
        return st;
    }
    if (status && gf_json_kind_of(v) == GF_JSON_OBJECT && gf_json_member(v, "status", &member) &&
        gf_json_kind_of(member) == GF_JSON_STRING)
        *status = gf_json_get_string(member);
    return GF_OK;
}

static gf_status check_json(papers_check *p, unsigned family, const char *column, gf_slice *status,
                            gf_error *err)
{
    gf_slice value = read_cell(p, family, column);
    return value.ptr ? check_object(p, value, column, status, err) : GF_OK;
}

/* Values that are written together are there together. */
static gf_status check_pair(papers_check *p, unsigned family, const char *column, unsigned with,
                            const char *other, gf_error *err)
{
    bool has = read_cell(p, family, column).ptr, has_other = read_cell(p, with, other).ptr;
    if (has == has_other) return GF_OK;
    return gf_app_fault(p->c, gf_buffer_cstr(&p->where), err, "it has %s, and no %s",
                        has ? column : other, has ? other : column);
}

static gf_status check_extraction(papers_check *p, gf_error *err)
{
    static const char *const texts[] = {"tei_xml", "tei_json", "metadata"};
    gf_slice status = {"", 0};
    gf_status st = check_pair(p, GF_PAPERS_GROBID, "status", GF_PAPERS_GROBID, "status_code", err);
    if (st == GF_OK) st = check_number(p, GF_PAPERS_GROBID, "status_code", err);
    if (st == GF_OK) st = check_json(p, GF_PAPERS_GROBID, "status", &status, err);
    bool success = gf_slice_equal(status, GF_SLICE("success"));
    for (size_t i = 0; i < 3 && st == GF_OK; i++) {
        bool has = read_cell(p, GF_PAPERS_GROBID, texts[i]).ptr;
        if (has != success)
            st = gf_app_fault(p->c, gf_buffer_cstr(&p->where), err,
                              success ? "its extraction succeeded, and it has no %s"
                                      : "its extraction did not succeed, and it has %s",
                              texts[i]);
    }
    if (st == GF_OK) st = check_json(p, GF_PAPERS_GROBID, "tei_json", NULL, err);
    return st == GF_OK ? check_json(p, GF_PAPERS_GROBID, "metadata", NULL, err) : st;
}

/* The one is never there without the other, which may stand alone. */
static gf_status check_needed(papers_check *p, unsigned family, const char *column, unsigned with,
                              const char *other, gf_error *err)
{
    if (!read_cell(p, family, column).ptr || read_cell(p, with, other).ptr) return GF_OK;
    return gf_app_fault(p->c, gf_buffer_cstr(&p->where), err, "it has %s, and no %s", column,
                        other);
}

static gf_status check_capture(papers_check *p, gf_error *err)
{
    gf_status st = check_needed(p, GF_PAPERS_FILE, "cdx", GF_PAPERS_F, "c", err);
    if (st == GF_OK) st = check_json(p, GF_PAPERS_F, "c", NULL, err);
    return st == GF_OK ? check_json(p, GF_PAPERS_FILE, "cdx", NULL, err) : st;
}

static gf_status check_file(papers_check *p, gf_error *err)
{
    gf_status st = check_needed(p, GF_PAPERS_FILE, "meta", GF_PAPERS_FILE, "size", err);
    if (st == GF_OK) st = check_json(p, GF_PAPERS_FILE, "meta", NULL, err);
    return st == GF_OK ? check_number(p, GF_PAPERS_FILE, "size", err) : st;
}

static gf_status check_match(papers_check *p, gf_error *err)
{
    gf_status st = check_needed(p, GF_PAPERS_MATCH, "minfo", GF_PAPERS_MATCH, "mstatus", err);
    if (st == GF_OK) st = check_needed(p, GF_PAPERS_MATCH, "doi", GF_PAPERS_MATCH, "mstatus", err);
    return st == GF_OK ? check_json(p, GF_PAPERS_MATCH, "minfo", NULL, err) : st;
}

typedef gf_status check_group(papers_check *p, gf_error *err);
typedef gf_status repair_group(papers_check *p, const gf_sha1 *sha1, gf_error *err);

static gf_status check_captures(papers_check *p, gf_error *err)
{
    unsigned family = gf_papers_family(p->papers, GF_PAPERS_CAPTURES);
    bool any = false;
    gf_status st = GF_OK;
    for (size_t i = 0; i < p->row.n_cells && st == GF_OK; i++) {
        const gf_cell *cell = &p->row.cells[i];
        if (cell->family != family) continue;
        any = true;
        if (cell->value.len) st = check_object(p, cell->value, "a capture", NULL, err);
    }
    if (!any || st != GF_OK || read_cell(p, GF_PAPERS_FILE, "cdx").ptr) return st;
    return gf_app_fault(p->c, gf_buffer_cstr(&p->where), err,
                        "it has further captures, and no cdx");
}

/* By the roles of families. */
static check_group *const checks[] = {check_capture, check_file, check_extraction, check_match,
                                      check_captures};

/* A family stands for its role while it is checked. *role: GF_PAPERS_FAMILIES where it is not. */
static gf_status choose_part(papers_check *p, unsigned family, unsigned *role, gf_error *err)
{
    const char *name = gf_table_schema(gf_papers_table(p->papers))->families[family].name;
    *role = gf_papers_role(p->papers, family);
    if (*role >= sizeof checks / sizeof *checks) {
        *role = GF_PAPERS_FAMILIES;
        return GF_OK;
    }
    gf_papers_choose(p->papers, family);
    p->where.len = p->where_paper;
    if (strcmp(name, gf_papers_schema()->families[*role].name) != 0)
        gf_buffer_format(&p->where, ", %s", name);
    return gf_buffer_check(&p->where, err);
}

static unsigned count_families(const papers_check *p)
{
    return gf_table_schema(gf_papers_table(p->papers))->n_families;
}

static gf_status check_row(papers_check *p, gf_error *err)
{
    gf_status st = GF_OK;
    unsigned role;
    for (unsigned f = 0, n = count_families(p); f < n && st == GF_OK; f++) {
        st = choose_part(p, f, &role, err);
        if (st == GF_OK && role < GF_PAPERS_FAMILIES) st = checks[role](p, err);
    }
    return st;
}

static gf_status fail_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context;
    return where[0] ? gf_fail(err, GF_EINVAL, "%s: %s", where + strlen(", "), what)
                    : gf_fail(err, GF_EINVAL, "%s", what);
}

gf_status gf_papers_check_row(gf_papers *papers, gf_json_parser *json, const gf_row *row,
                              gf_error *err)
{
    unsigned chosen[GF_PAPERS_FAMILIES];
    gf_app_check c = {.visit = fail_fault};
    papers_check p = {.c = &c, .papers = papers, .json = json, .row = *row};
    memcpy(chosen, papers->family, sizeof chosen);
    gf_status st = check_row(&p, err);
    memcpy(papers->family, chosen, sizeof chosen);
    gf_buffer_release(&p.where);
    gf_buffer_release(&p.text);
    return st;
}

/* ---- repairs --------------------------------------------------------------------------------- */

/* The capture that file:cdx tells of; borrowed from the parser. */
static gf_status read_capture(papers_check *p, const gf_sha1 *sha1, gf_cdx *cdx, bool *good,
                              gf_error *err)
{
    gf_json_value v, member;
    gf_slice json = read_cell(p, GF_PAPERS_FILE, "cdx");
    *cdx = (gf_cdx){.mime = gf_cdx_normalise_mime(read_cell(p, GF_PAPERS_FILE, "mime"))};
    memcpy(cdx->sha1, sha1->bytes, GF_SHA1_BYTES);
    const struct {
        const char *name;
        gf_slice *to;
    } members[] = {{"surt", &cdx->surt}, {"url", &cdx->url},       {"dt", &cdx->date},
                   {"warc", &cdx->warc}, {"offset", &cdx->offset}, {"c_size", &cdx->size}};
    gf_buffer_reset(&p->text);
    gf_buffer_slice(&p->text, json);
    if (!gf_buffer_reserve(&p->text, GF_JSON_PADDING)) return gf_buffer_check(&p->text, err);
    gf_status st = gf_json_parse(p->json, gf_buffer_view(&p->text), &v, err);
    *good = st == GF_OK && cdx->mime && gf_json_kind_of(v) == GF_JSON_OBJECT;
    for (size_t i = 0; i < sizeof members / sizeof *members && *good; i++) {
        *good = gf_json_member(v, members[i].name, &member) &&
                gf_json_kind_of(member) == GF_JSON_STRING;
        if (*good) *members[i].to = gf_json_get_string(member);
    }
    *good = *good && cdx->date.len == 14;
    return st == GF_EINVAL ? GF_OK : st;
}

static gf_status tell_remade(papers_check *p, const char *what, gf_error *err)
{
    p->out->remade++;
    return p->out->visit(p->out->context, gf_buffer_cstr(&p->where), what, err);
}

/* Cells that lost a part of them go: columns of a family, or all that it has. */
static gf_status drop_cells(papers_check *p, const gf_sha1 *sha1, unsigned family,
                            const char *const *columns, gf_error *err)
{
    gf_buffer key = {0};
    gf_table *table = gf_papers_table(p->papers);
    family = gf_papers_family(p->papers, family);
    gf_papers_key(p->papers, sha1, &key);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) {
        if (!columns)
            gf_batch_delete_row(p->batch, table, gf_buffer_view(&key), UINT32_C(1) << family);
        for (; columns && *columns; columns++)
            gf_batch_delete_cell(p->batch, table, gf_buffer_view(&key), family,
                                 gf_slice_str(*columns));
        st = gf_batch_write(p->batch, GF_SYNC_ON, err);
    }
    gf_buffer_release(&key);
    return st;
}

static gf_status tell_dropped(papers_check *p, gf_status st, const char *what, gf_error *err)
{
    p->out->rows++;
    return st == GF_OK ? p->out->visit(p->out->context, gf_buffer_cstr(&p->where), what, err) : st;
}

static gf_status repair_capture(papers_check *p, const gf_sha1 *sha1, gf_error *err)
{
    static const char *const cdx_column[] = {"cdx", NULL};
    gf_cdx cdx;
    gf_papers_outcome outcome;
    bool good = false;
    gf_status st =
        read_cell(p, GF_PAPERS_FILE, "cdx").ptr ? read_capture(p, sha1, &cdx, &good, err) : GF_OK;
    if (st != GF_OK) return st;
    if (good) {
        st = gf_papers_import_cdx(p->import, &cdx, &outcome, err);
        return st == GF_OK ? tell_remade(p, "f:c is made anew of file:cdx", err) : st;
    }
    st = drop_cells(p, sha1, GF_PAPERS_F, NULL, err);
    if (st == GF_OK) st = drop_cells(p, sha1, GF_PAPERS_FILE, cdx_column, err);
    return tell_dropped(
        p, st, "its capture lost a part, and goes: import its line of the index again", err);
}

static gf_status repair_file(papers_check *p, const gf_sha1 *sha1, gf_error *err)
{
    static const char *const columns[] = {"size", "meta", NULL};
    gf_status st = drop_cells(p, sha1, GF_PAPERS_FILE, columns, err);
    return tell_dropped(p, st, "what is known of its file lost a part, and goes: extract it again",
                        err);
}

static gf_status repair_extraction(papers_check *p, const gf_sha1 *sha1, gf_error *err)
{
    enum { FOUND = 200 }; /* the status code of every text that GROBID gave */
    gf_papers_outcome outcome;
    gf_slice xml = read_cell(p, GF_PAPERS_GROBID, "tei_xml");
    gf_slice code = read_cell(p, GF_PAPERS_GROBID, "status_code");
    gf_status st = xml.ptr ? gf_tei_read(xml, &p->tei, err) : GF_OK;
    if (st != GF_OK) return st;
    if (!xml.ptr || p->tei.result != GF_TEI_SUCCESS) {
        st = drop_cells(p, sha1, GF_PAPERS_GROBID, NULL, err);
        return tell_dropped(
            p, st, "its extraction lost a part, and goes: extract or import it again", err);
    }
    /* Nothing of it stays: a row without a status code would count as one without all. */
    st = drop_cells(p, sha1, GF_PAPERS_GROBID, NULL, err);
    if (st == GF_OK)
        st = gf_papers_import_tei(p->import, sha1,
                                  code.len == 8 ? (int64_t)gf_read_u64be(code.ptr) : FOUND, xml,
                                  &p->tei, &outcome, err);
    return st == GF_OK ? tell_remade(p, "its extraction is made anew of grobid0:tei_xml", err) : st;
}

static gf_status repair_match(papers_check *p, const gf_sha1 *sha1, gf_error *err)
{
    gf_status st = drop_cells(p, sha1, GF_PAPERS_MATCH, NULL, err);
    return tell_dropped(p, st, "its match lost a part, and goes: match it again", err);
}

static gf_status repair_captures(papers_check *p, const gf_sha1 *sha1, gf_error *err)
{
    gf_status st = drop_cells(p, sha1, GF_PAPERS_CAPTURES, NULL, err);
    return tell_dropped(p, st, "its further captures are damaged, and go: import their lines again",
                        err);
}

static gf_status repair_row(papers_check *p, const gf_sha1 *sha1, gf_error *err)
{
    static repair_group *const repairs[] = {repair_capture, repair_file, repair_extraction,
                                            repair_match, repair_captures};
    gf_status st = GF_OK;
    unsigned role;
    if (!p->import) st = gf_papers_import_open(p->papers, true, &p->import, err);
    for (unsigned f = 0, n = count_families(p); f < n && st == GF_OK; f++) {
        uint64_t before = p->c->faults;
        st = choose_part(p, f, &role, err);
        if (st != GF_OK || role == GF_PAPERS_FAMILIES) continue;
        st = checks[role](p, err);
        if (st == GF_OK && p->c->faults > before) st = repairs[role](p, sha1, err);
    }
    return st;
}

/* ---- a namespace ----------------------------------------------------------------------------- */

static gf_status check_paper(papers_check *p, const char *table, const gf_sha1 *sha1,
                             const gf_snapshot *snapshot, gf_error *err)
{
    p->c->counted++;
    gf_status st = gf_cancel_check(p->c->cancel, err);
    if (st != GF_OK || !p->c->visit) return st;
    gf_buffer_reset(&p->where);
    gf_buffer_format(&p->where, "table %s, paper %s", table, gf_sha1_base32(sha1).text);
    p->where_paper = p->where.len;
    st = gf_buffer_check(&p->where, err);
    if (st == GF_OK) st = gf_papers_get(p->papers, snapshot, sha1, GF_ALL_FAMILIES, &p->row, err);
    uint64_t before = p->c->faults;
    if (st == GF_OK) {
        st = check_row(p, err);
        return st == GF_OK && p->out && p->c->faults > before ? repair_row(p, sha1, err) : st;
    }
    return gf_app_handle(p->c, st, gf_buffer_cstr(&p->where), err);
}

static gf_status check_namespace(papers_check *p, const char *table, gf_slice name_space,
                                 gf_error *err)
{
    gf_papers_scan *walk = NULL;
    gf_sha1 sha1;
    gf_status st = gf_papers_open(p->c->store, name_space,
                                  gf_slice_str(table + strlen(GF_PAPERS_PREFIX)), &p->papers, err);
    if (st == GF_OK) st = gf_papers_scan_open(p->papers, &walk, err);
    while (st == GF_OK && (st = gf_papers_scan_next(walk, &sha1, err)) == GF_OK)
        st = check_paper(p, table, &sha1, gf_papers_scan_snapshot(walk), err);
    gf_papers_scan_close(walk);
    if (st == GF_ENOTFOUND && p->import) {
        st = gf_papers_import_flush(p->import, err);
        if (st == GF_OK) st = GF_ENOTFOUND;
    }
    gf_papers_import_close(p->import);
    p->import = NULL;
    gf_papers_close(p->papers);
    p->papers = NULL;
    return st == GF_ENOTFOUND ? GF_OK : gf_app_handle(p->c, st, table, err);
}

/* ---- namespaces ------------------------------------------------------------------------------ */

/* The first namespace of the family at or behind `start`, which then is behind it. */
static gf_status next_namespace(papers_check *p, gf_table *table, unsigned family, gf_buffer *start,
                                gf_error *err)
{
    gf_scan *scan;
    gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .start = gf_buffer_view(start),
                                        .keys_only = true, .limit = 1);
    gf_status st = gf_scan_open(table, &o, &scan, err);
    if (st != GF_OK) return st;
    st = gf_scan_next(scan, &p->row, err);
    gf_scan_close(scan);
    if (st != GF_OK) return st;
    gf_slice rest = p->row.key;
    gf_buffer_reset(&p->text);
    if (!gf_key_take_string(&rest, &p->text) || rest.len != GF_SHA1_BYTES)
        return gf_fail(err, GF_ECORRUPT, "a key is damaged");
    gf_buffer_byte(&p->text, 0); /* no namespace lies between this and the next */
    gf_buffer_reset(start);
    gf_key_string_start(start, gf_buffer_view(&p->text));
    st = gf_buffer_check(start, err);
    if (st == GF_OK) st = gf_buffer_check(&p->text, err);
    if (st != GF_OK) return st;
    p->text.len--;
    return GF_OK;
}

static gf_status find_namespaces(papers_check *p, gf_table *table, gf_strings *names, gf_error *err)
{
    gf_buffer start = {0};
    gf_status st = GF_OK;
    for (unsigned f = 0; f < gf_table_schema(table)->n_families && st == GF_OK; f++) {
        uint32_t id;
        gf_buffer_reset(&start);
        while (st == GF_OK && (st = next_namespace(p, table, f, &start, err)) == GF_OK)
            st = gf_strings_add(names, gf_buffer_view(&p->text), &id, NULL, err);
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    gf_buffer_release(&start);
    return st;
}

static gf_status check_table(papers_check p, const char *table, gf_error *err)
{
    gf_app_check *c = p.c;
    gf_strings names = {0};
    gf_table *rows;
    gf_status st = gf_json_parser_create(&p.json, err);
    if (st == GF_OK) st = gf_table_find(gf_store_database(c->store), table, &rows, err);
    if (st == GF_OK) st = find_namespaces(&p, rows, &names, err);
    st = gf_app_handle(c, st, table, err);
    for (uint32_t i = 0; i < names.n && st == GF_OK; i++)
        st = check_namespace(&p, table, gf_strings_at(&names, i), err);
    gf_strings_release(&names);
    gf_json_parser_free(p.json);
    gf_row_release(&p.row);
    gf_tei_release(&p.tei);
    gf_buffer_release(&p.where);
    gf_buffer_release(&p.text);
    return st;
}

gf_status gf_papers_check(gf_app_check *c, const char *table, gf_error *err)
{
    if (gf_database_capabilities(gf_store_database(c->store)) & GF_BACKEND_NAMED) {
        c->uncounted = true; /* a seek for each of them would be a call */
        return GF_OK;
    }
    return check_table((papers_check){.c = c}, table, err);
}

static gf_status tell_nobody(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)where, (void)what, (void)err;
    return GF_OK;
}

gf_status gf_papers_repair(gf_app_repair *r, const char *table, gf_error *err)
{
    gf_app_check silent = {.store = r->store, .cancel = r->cancel, .visit = tell_nobody};
    papers_check p = {.c = &silent, .out = r};
    gf_status st = gf_batch_create(gf_store_database(r->store), &p.batch, err);
    if (st == GF_OK) st = check_table(p, table, err);
    gf_batch_free(p.batch);
    return st;
}

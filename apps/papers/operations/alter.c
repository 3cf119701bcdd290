/* papers alter: further families of a table of papers, for steps that this program does not know. */
#include "apps/papers/arguments_internal.h"
#include "apps/papers/operations/schema.h"
#include "base/arena.h"

enum { MOST_FAMILIES = 32, MOST_COLUMNS = 120, MOST_NAME = 64 };

typedef struct altering {
    gf_family families[MOST_FAMILIES]; /* n */
    const char *columns[MOST_FAMILIES][MOST_COLUMNS + 1];
    unsigned n;
    gf_arena memory;
} altering;

/* Letters, digits and _: what stands before a colon, in headers of TSV, in other systems. */
static gf_status check_name(gf_slice name, const char *what, gf_error *err)
{
    bool good = name.len > 0 && name.len <= MOST_NAME;
    for (size_t i = 0; good && i < name.len; i++) {
        char c = name.ptr[i];
        good =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    if (good && !gf_slice_equal(name, GF_SLICE("sha1")) && !gf_slice_equal(name, GF_SLICE("all")))
        return GF_OK;
    return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is no name of letters, digits and _", what,
                   (int)(name.len > 80 ? 80 : name.len), name.ptr ? name.ptr : "");
}

static gf_slice take_until(gf_slice *rest, char end)
{
    const char *at = rest->len ? memchr(rest->ptr, end, rest->len) : NULL;
    gf_slice piece = gf_slice_of(rest->ptr, at ? (size_t)(at - rest->ptr) : rest->len);
    *rest = gf_slice_skip(*rest, at ? piece.len + 1 : piece.len);
    return piece;
}

static gf_status find_family(altering *a, gf_slice name, gf_family **family, gf_error *err)
{
    gf_status st = check_name(name, "--add-family", err);
    if (st != GF_OK) return st;
    for (unsigned i = 0; i < a->n; i++)
        if (gf_slice_equal(gf_slice_str(a->families[i].name), name)) {
            *family = &a->families[i];
            return GF_OK;
        }
    if (a->n == MOST_FAMILIES)
        return gf_fail(err, GF_ELIMIT, "more than %d families", MOST_FAMILIES);
    const char *copy = gf_arena_copy(&a->memory, name).ptr;
    if (!copy) return gf_fail_memory(err, "a schema");
    *family = &a->families[a->n];
    **family = (gf_family){.name = copy, .columns = a->columns[a->n]};
    a->n++;
    return GF_OK;
}

/* "probe0:wide,snappy" */
static gf_status read_family(altering *a, gf_slice argument, gf_error *err)
{
    gf_family *family = NULL;
    gf_slice name = take_until(&argument, ':');
    gf_status st = find_family(a, name, &family, err);
    while (st == GF_OK && argument.len) {
        gf_slice word = take_until(&argument, ',');
        if (gf_slice_equal(word, GF_SLICE("wide")))
            family->layout = GF_LAYOUT_WIDE;
        else if (gf_slice_equal(word, GF_SLICE("snappy")))
            family->compression = GF_COMPRESSION_SNAPPY;
        else if (!gf_slice_equal(word, GF_SLICE("packed")))
            st = gf_fail(err, GF_EINVAL, "--add-family: \"%.*s\" is none of packed, wide, snappy",
                         GF_SLICE_ARG(word));
    }
    return st;
}

/* The layout of a family whose columns alone are given is that which it has. */
static void take_layout(const gf_papers *papers, gf_family *family)
{
    const gf_schema *s = gf_table_schema(gf_papers_table(papers));
    for (unsigned f = 0; f < s->n_families; f++)
        if (strcmp(s->families[f].name, family->name) == 0) {
            family->layout = s->families[f].layout;
            family->compression = s->families[f].compression;
        }
}

/* "probe0:is_pdf" */
static gf_status read_column(altering *a, const gf_papers *papers, gf_slice argument, gf_error *err)
{
    gf_family *family = NULL;
    unsigned before = a->n;
    size_t n = 0;
    gf_slice name = take_until(&argument, ':');
    gf_status st = find_family(a, name, &family, err);
    if (st == GF_OK) st = check_name(argument, "--add-column", err);
    if (st != GF_OK) return st;
    if (a->n > before) take_layout(papers, family);
    const char **columns = a->columns[family - a->families];
    while (columns[n])
        n++;
    if (n == MOST_COLUMNS)
        return gf_fail(err, GF_ELIMIT, "family %s: more than %d columns", family->name,
                       MOST_COLUMNS);
    columns[n] = gf_arena_copy(&a->memory, argument).ptr;
    return columns[n] ? GF_OK : gf_fail_memory(err, "a schema");
}

static gf_status emit_families(gf_call *call, const gf_papers *papers, gf_error *err)
{
    const gf_schema *s = gf_table_schema(gf_papers_table(papers));
    gf_row_writer row = {.call = call};
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_string(w, "table", gf_call_text_or(call, "table", GF_PAPERS_TABLE));
    gf_json_key(w, "families");
    gf_json_begin(w, '[');
    for (unsigned f = 0; f < s->n_families; f++) {
        const gf_family *family = &s->families[f];
        gf_json_begin(w, '{');
        gf_json_put_str(w, "name", family->name);
        gf_json_put_str(w, "layout", family->layout == GF_LAYOUT_WIDE ? "wide" : "packed");
        gf_json_put_str(w, "compression",
                        family->compression == GF_COMPRESSION_SNAPPY ? "snappy" : "none");
        gf_json_key(w, "columns");
        gf_json_begin(w, '[');
        for (size_t c = 0; family->columns && family->columns[c]; c++)
            gf_json_string(w, gf_slice_str(family->columns[c]));
        gf_json_end(w, ']');
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
    return gf_row_writer_emit_only(&row, err);
}

static gf_status run_papers_alter(gf_call *call, gf_error *err)
{
    altering a = {.n = 0};
    gf_papers *papers = NULL;
    bool adds = gf_call_has(call, "add-family") || gf_call_has(call, "add-column") ||
                gf_call_has(call, "group");
    gf_status st = gf_papers_of_call(call, adds, &papers, err);
    for (size_t i = 0; i < gf_call_count(call, "add-family") && st == GF_OK; i++)
        st = read_family(&a, gf_call_nth(call, "add-family", i), err);
    for (size_t i = 0; i < gf_call_count(call, "add-column") && st == GF_OK; i++)
        st = read_column(&a, papers, gf_call_nth(call, "add-column", i), err);
    if (st == GF_OK && a.n > 0) st = gf_papers_alter(papers, a.families, a.n, err);
    if (st == GF_OK) st = emit_families(call, papers, err);
    gf_papers_close(papers);
    gf_arena_release(&a.memory);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter papers_alter_parameters[] = {
    P_SEVERAL("add-family", false, "F[:WORD,...]", "a family: packed (unless said), wide, snappy"),
    P_SEVERAL("add-column", false, "F:C", "a column of a family that was added so"),
    P_LIST("group", "GROUP,...", "groups to add, such as grobid1,match1"), P_PAPERS};

const gf_operation gf_papers_alter_operation = {
    .name = "papers alter",
    .method = "PATCH",
    .path = "/papers",
    .meaning = "Add groups and families to a table of papers",
    GF_PARAMETERS(papers_alter_parameters),
    .members = gf_schema_papers_alter,
    .run = run_papers_alter,
    .makes = true,
};

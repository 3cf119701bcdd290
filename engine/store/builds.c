/* Rows of the table of builds. */
#include "engine/store/builds.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/scan.h"
#include "engine/store/collections.h"

static bool read_number(const gf_row *row, const char *name, uint64_t *v)
{
    return gf_rows_cell_number(gf_row_find(row, GF_BUILDS_MAIN, name), v);
}

static bool read_double(const gf_row *row, const char *name, double *v)
{
    const gf_cell *cell = gf_row_find(row, GF_BUILDS_MAIN, name);
    return cell && gf_number_read_decimal(cell->value, v);
}

const char *gf_build_rows_name(gf_rows_kind kind)
{
    static const char *const names[] = {[GF_ROWS_OF_TEXTS] = "texts",
                                        [GF_ROWS_SPARSE] = "sparse",
                                        [GF_ROWS_DENSE] = "dense",
                                        [GF_ROWS_OF_WORDS] = "words"};
    return names[kind];
}

static bool read_rows(const gf_row *row, gf_rows_kind *kind)
{
    const gf_cell *cell = gf_row_find(row, GF_BUILDS_MAIN, "matrix");
    *kind = GF_ROWS_OF_TEXTS;
    for (int k = GF_ROWS_SPARSE; cell && k <= GF_ROWS_OF_WORDS; k++)
        if (gf_slice_equal(cell->value, gf_slice_str(gf_build_rows_name((gf_rows_kind)k))))
            *kind = (gf_rows_kind)k;
    return !cell || *kind != GF_ROWS_OF_TEXTS;
}

gf_status gf_build_decode(gf_store *s, const gf_row *row, gf_build_info *info, gf_error *err)
{
    gf_build_info b = {0};
    uint64_t build, terms = 0, k = 0;
    gf_status st = gf_tables_key_last_number(s->tables.builds, row->key, &build, err);
    if (st != GF_OK) return st;
    const gf_cell *settings = gf_row_find(row, GF_BUILDS_MAIN, "settings");
    const gf_cell *versions = gf_row_find(row, GF_BUILDS_MAIN, "versions");
    bool good = read_number(row, "documents", &b.documents) &&
                read_number(row, "without_terms", &b.without_terms) &&
                read_number(row, "distinct", &b.distinct) && read_number(row, "terms", &terms) &&
                read_number(row, "k", &k) && read_double(row, "objective", &b.objective) &&
                read_double(row, "seconds", &b.seconds) && read_number(row, "seq", &b.seq) &&
                settings && versions && terms <= UINT32_MAX && k <= UINT32_MAX &&
                read_rows(row, &b.rows);
    if (!good) return gf_fail(err, GF_ECORRUPT, "table builds: a row is damaged");
    read_number(row, "edits", &b.edits); /* absent where there were none */
    read_number(row, "unplaced", &b.unplaced);
    b.build = (int64_t)build;
    b.terms = (uint32_t)terms;
    b.k = (uint32_t)k;
    b.settings = settings->value;
    b.versions = versions->value;
    *info = b;
    return GF_OK;
}

/* Take a build's key apart; the buffers keep what the slices borrow. */
static gf_status split_key(gf_slice key, gf_buffer parts[3], int64_t *build, gf_error *err)
{
    uint64_t number;
    for (int i = 0; i < 3; i++)
        if (!gf_key_take_string(&key, &parts[i]))
            return gf_fail(err, GF_ECORRUPT, "table builds: a key is damaged");
    if (!gf_key_take_u64(&key, &number))
        return gf_fail(err, GF_ECORRUPT, "table builds: a key is damaged");
    *build = (int64_t)number;
    for (int i = 0; i < 3; i++) {
        gf_status st = gf_buffer_check(&parts[i], err);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

gf_status gf_build_is_served(gf_store *s, gf_slice build_key, bool *served, gf_error *err)
{
    gf_buffer parts[3] = {{0}};
    gf_collection_row row = {0};
    int64_t build = 0;
    gf_status st = split_key(build_key, parts, &build, err);
    *served = false;
    if (st == GF_OK) {
        gf_place where = {gf_buffer_view(&parts[0]), gf_buffer_view(&parts[1])};
        st = gf_collection_row_read(s, NULL, where, &row, err);
        if (st == GF_OK)
            *served = gf_collection_row_served(&row, gf_buffer_view(&parts[2])) == build;
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    for (int i = 0; i < 3; i++)
        gf_buffer_release(&parts[i]);
    gf_collection_row_release(&row);
    return st;
}

/* ---- the list -------------------------------------------------------------------------------- */

typedef struct number_list {
    gf_store *store;
    const gf_snapshot *snapshot;
    int64_t *at; /* n of capacity */
    size_t n, capacity;
} number_list;

/* A row with progress belongs to a build under way, or to one being deleted. */
static gf_status add_finished(void *context, const gf_row *row, gf_error *err)
{
    number_list *l = context;
    uint64_t number = 0;
    gf_table *builds = l->store->tables.builds;
    gf_row progress = {0};
    gf_status st =
        gf_table_get(builds, l->snapshot, row->key, 1u << GF_BUILDS_PROGRESS, &progress, err);
    gf_row_release(&progress);
    if (st != GF_ENOTFOUND) return st;
    if (!gf_grow(&l->at, &l->capacity, l->n + 1, sizeof *l->at))
        return gf_fail_memory(err, "builds");
    st = gf_tables_key_last_number(builds, row->key, &number, err);
    if (st == GF_OK) l->at[l->n++] = (int64_t)number;
    return st;
}

gf_status gf_builds_list(gf_store *s, const gf_snapshot *snapshot, gf_slice configuration_key,
                         int64_t **builds, size_t *n, gf_error *err)
{
    number_list l = {.store = s, .snapshot = snapshot};
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = snapshot, .family = GF_BUILDS_MAIN, .prefix = configuration_key,
                        .reverse = true, .keys_only = true);
    gf_status st = gf_scan_each(s->tables.builds, &o, add_finished, &l, err);
    if (st != GF_OK) {
        gf_free(l.at);
        return st;
    }
    *builds = l.at;
    *n = l.n;
    return GF_OK;
}

#include "storage/tables.h"

#include "storage/backend.h"
#include "storage/description.h"

/* ---- schemas --------------------------------------------------------------------------------- */

#define STRING_PART(part_name)                                                                     \
    {                                                                                              \
        .name = (part_name), .kind = GF_PART_STRING                                                \
    }
#define NUMBER_PART(part_name)                                                                     \
    {                                                                                              \
        .name = (part_name), .kind = GF_PART_U64                                                   \
    }

static const gf_key_part build_parts[] = {STRING_PART("namespace"), STRING_PART("collection_key"),
                                          STRING_PART("configuration"), NUMBER_PART("timestamp"),
                                          STRING_PART("last")};
static const gf_key_part document_parts[] = {STRING_PART("namespace"),
                                             STRING_PART("collection_key"), STRING_PART("id")};
static const gf_key_part table_parts[] = {STRING_PART("namespace"), STRING_PART("name")};
static const gf_key_part change_parts[] = {STRING_PART("namespace"), STRING_PART("collection_key"),
                                           NUMBER_PART("seq")};

static const char *const document_columns[] = {"text", "time", "lang", "seq", NULL};
static const char *const cluster_columns[] = {"id",       "size",        "terms", "figures",
                                              "sentence", "sentence_of", NULL};
static const char *const collection_columns[] = {"size",     "modified", "seq",
                                                 "settings", "pins",     NULL};
static const char *const defaults_columns[] = {"defaults", NULL};
static const char *const lease_columns[] = {"collection", NULL};
static const char *const progress_columns[] = {"state", "owner", NULL};
static const char *const build_columns[] = {
    "documents", "without_terms", "distinct", "terms",      "k",      "objective", "next_id", "seq",
    "settings",  "versions",      "seconds",  "chosen_for", "matrix", "edits",     NULL};
static const char *const membership_columns[] = {"cluster", "score",  "runner_up",
                                                 "second",  "vector", NULL};
static const char *const table_columns[] = {"id", "schema", "number", NULL};
static const char *const drop_columns[] = {"dropped", "dropped_number", NULL};
static const char *const counter_columns[] = {"next", NULL};
static const char *const change_columns[] = {"id", "operation", NULL};

static const gf_family document_families[] = {{.name = "main", .columns = document_columns}};
static const gf_family cluster_families[] = {
    {.name = "main", .columns = cluster_columns},
    {.name = "documents", .layout = GF_LAYOUT_WIDE, .run = true},
    {.name = "ranked", .layout = GF_LAYOUT_WIDE, .run = true}};
static const gf_family collection_families[] = {
    {.name = "main", .columns = collection_columns},
    {.name = "progress", .columns = progress_columns},
    {.name = "defaults", .columns = defaults_columns},
    {.name = "edits", .layout = GF_LAYOUT_WIDE},
    {.name = "witnesses", .layout = GF_LAYOUT_WIDE, .compression = GF_COMPRESSION_SNAPPY},
    {.name = "before", .layout = GF_LAYOUT_WIDE, .compression = GF_COMPRESSION_SNAPPY},
    {.name = "watches", .layout = GF_LAYOUT_WIDE},
    {.name = "leases", .columns = lease_columns},
    {.name = "hold", .layout = GF_LAYOUT_WIDE},
    {.name = "journal", .layout = GF_LAYOUT_WIDE}};
enum { OF_HOLDS = 2 }; /* the last ones: where rows hold themselves */
static const gf_family build_families[] = {
    {.name = "main", .columns = build_columns},
    {.name = "model", .layout = GF_LAYOUT_WIDE, .compression = GF_COMPRESSION_SNAPPY},
    {.name = "progress", .columns = progress_columns}};
static const gf_family membership_families[] = {
    {.name = "main", .columns = membership_columns, .run = true}};
static const gf_family change_families[] = {{.name = "main", .columns = change_columns}};
static const gf_family table_families[] = {{.name = "main", .columns = table_columns},
                                           {.name = "progress", .columns = drop_columns},
                                           {.name = "counter", .columns = counter_columns}};

#define COUNT(array) (unsigned)(sizeof(array) / sizeof((array)[0]))
#define SCHEMA(table_name, table_parts, parts_used, table_families)                                \
    {                                                                                              \
        .name = (table_name), .parts = (table_parts), .n_parts = (parts_used),                     \
        .families = (table_families), .n_families = COUNT(table_families)                          \
    }

static const gf_schema documents = SCHEMA("documents", document_parts, 3, document_families);
static const gf_schema clusters = SCHEMA("clusters", build_parts, 5, cluster_families);
static const gf_schema collections = {.name = "collections",
                                      .parts = document_parts,
                                      .n_parts = 2,
                                      .families = collection_families,
                                      .n_families = COUNT(collection_families) - OF_HOLDS};
static const gf_schema held_collections =
    SCHEMA("collections", document_parts, 2, collection_families);
static const gf_schema builds = SCHEMA("builds", build_parts, 4, build_families);
static const gf_schema memberships = SCHEMA("memberships", build_parts, 5, membership_families);
static const gf_schema changes = SCHEMA("changes", change_parts, 3, change_families);
static const gf_schema tables_of_users = SCHEMA("tables", table_parts, 2, table_families);

/* ---- descriptions ---------------------------------------------------------------------------- */

#define NAMESPACE                                                                                  \
    {                                                                                              \
        "namespace", GF_TYPE_TEXT, 0                                                               \
    }
#define COLLECTION                                                                                 \
    {                                                                                              \
        "collection", GF_TYPE_TEXT, 0                                                              \
    }
#define OF_BUILD                                                                                   \
    NAMESPACE, COLLECTION, {"configuration", GF_TYPE_TEXT, 0},                                     \
    {                                                                                              \
        "timestamp", GF_TYPE_UINT64, 0                                                             \
    }
/* A column of a packed family; all other cells of a family. */
#define CELL(family, column, type)                                                                 \
    {                                                                                              \
        (family), (column), GF_TYPE_TEXT, (type)                                                   \
    }
#define CELLS(family, qualifier, type)                                                             \
    {                                                                                              \
        (family), NULL, (qualifier), (type)                                                        \
    }

static const gf_part_description described_document[] = {
    NAMESPACE, COLLECTION, {"id", GF_TYPE_TEXT, 0}};
static const gf_part_description described_cluster[] = {OF_BUILD, {"label", GF_TYPE_TEXT, 0}};
static const gf_part_description described_collection[] = {NAMESPACE, COLLECTION};
static const gf_part_description described_build[] = {OF_BUILD};
static const gf_part_description described_membership[] = {OF_BUILD, {"id", GF_TYPE_TEXT, 0}};
static const gf_part_description described_change[] = {
    NAMESPACE, COLLECTION, {"seq", GF_TYPE_UINT64, 0}};
static const gf_part_description described_table[] = {NAMESPACE, {"name", GF_TYPE_TEXT, 0}};

static const gf_cell_description document_cells[] = {
    CELL("main", "text", GF_TYPE_TEXT), CELL("main", "time", GF_TYPE_JSON),
    CELL("main", "lang", GF_TYPE_TEXT), CELL("main", "seq", GF_TYPE_DECIMAL),
    CELLS("main", GF_TYPE_TEXT, GF_TYPE_JSON)};
static const gf_cell_description cluster_cells[] = {
    CELL("main", "id", GF_TYPE_DECIMAL),        CELL("main", "size", GF_TYPE_DECIMAL),
    CELL("main", "terms", GF_TYPE_JSON),        CELL("main", "figures", GF_TYPE_JSON),
    CELL("main", "sentence", GF_TYPE_TEXT),     CELL("main", "sentence_of", GF_TYPE_TEXT),
    CELL("main", "title", GF_TYPE_TEXT),        CELL("main", "title_model", GF_TYPE_TEXT),
    CELL("main", "title_prompt", GF_TYPE_TEXT), CELLS("documents", GF_TYPE_TEXT, GF_TYPE_NUMBER),
    CELLS("ranked", GF_TYPE_RANK, GF_TYPE_TEXT)};
static const gf_cell_description collection_cells[] = {
    CELL("main", "settings", GF_TYPE_JSON),
    CELL("main", "pins", GF_TYPE_JSON),
    CELLS("main", GF_TYPE_TEXT, GF_TYPE_DECIMAL),
    CELLS("progress", GF_TYPE_TEXT, GF_TYPE_TEXT),
    CELLS("defaults", GF_TYPE_TEXT, GF_TYPE_JSON),
    CELLS("edits", GF_TYPE_ESCAPED, GF_TYPE_JSON),
    CELLS("witnesses", GF_TYPE_ESCAPED, GF_TYPE_BINARY),
    CELLS("before", GF_TYPE_ESCAPED, GF_TYPE_BINARY),
    CELLS("watches", GF_TYPE_ESCAPED, GF_TYPE_ESCAPED),
    CELLS("leases", GF_TYPE_TEXT, GF_TYPE_TEXT)};
static const gf_cell_description build_cells[] = {CELL("main", "objective", GF_TYPE_NUMBER),
                                                  CELL("main", "seconds", GF_TYPE_NUMBER),
                                                  CELL("main", "settings", GF_TYPE_JSON),
                                                  CELL("main", "versions", GF_TYPE_TEXT),
                                                  CELL("main", "matrix", GF_TYPE_TEXT),
                                                  CELLS("main", GF_TYPE_TEXT, GF_TYPE_DECIMAL),
                                                  CELLS("model", GF_TYPE_ESCAPED, GF_TYPE_BINARY),
                                                  CELLS("progress", GF_TYPE_TEXT, GF_TYPE_TEXT)};
static const gf_cell_description membership_cells[] = {
    CELL("main", "cluster", GF_TYPE_VARINT),    CELL("main", "score", GF_TYPE_FLOAT32),
    CELL("main", "runner_up", GF_TYPE_VARINT),  CELL("main", "second", GF_TYPE_FLOAT32),
    CELL("main", "hour", GF_TYPE_SIGNED),       CELL("main", "vector", GF_TYPE_BINARY),
    CELLS("main", GF_TYPE_TEXT, GF_TYPE_BINARY)};
static const gf_cell_description change_cells[] = {CELLS("main", GF_TYPE_TEXT, GF_TYPE_TEXT)};
static const gf_cell_description table_cells[] = {CELL("main", "id", GF_TYPE_TEXT),
                                                  CELL("main", "schema", GF_TYPE_JSON),
                                                  CELL("main", "number", GF_TYPE_DECIMAL),
                                                  CELLS("main", GF_TYPE_TEXT, GF_TYPE_TEXT),
                                                  CELLS("progress", GF_TYPE_TEXT, GF_TYPE_TEXT),
                                                  CELLS("counter", GF_TYPE_TEXT, GF_TYPE_DECIMAL)};

const gf_table_description *gf_tables_descriptions(size_t *n)
{
    static const gf_table_description all[] = {
        {"documents", GF_DESCRIBED_PARTS(described_document), GF_DESCRIBED_CELLS(document_cells)},
        {"clusters", GF_DESCRIBED_PARTS(described_cluster), GF_DESCRIBED_CELLS(cluster_cells)},
        {"collections", GF_DESCRIBED_PARTS(described_collection),
         GF_DESCRIBED_CELLS(collection_cells)},
        {"builds", GF_DESCRIBED_PARTS(described_build), GF_DESCRIBED_CELLS(build_cells)},
        {"memberships", GF_DESCRIBED_PARTS(described_membership),
         GF_DESCRIBED_CELLS(membership_cells)},
        {"changes", GF_DESCRIBED_PARTS(described_change), GF_DESCRIBED_CELLS(change_cells)},
        {"tables", GF_DESCRIBED_PARTS(described_table), GF_DESCRIBED_CELLS(table_cells)}};
    *n = COUNT(all);
    return all;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* ("", "tables"), which is no collection's: no namespace is empty. */
gf_slice gf_tables_batches_key(void)
{
    static const char key[] = "\0\1tables\0\1";
    return gf_slice_of(key, sizeof key - 1);
}

gf_status gf_tables_open(gf_database *db, gf_tables *tables, gf_error *err)
{
    gf_tables t;
    bool by_rows = !(gf_database_capabilities(db) & GF_BACKEND_BATCH);
    /* In this order since the first store: the numbers that they have. */
    const struct {
        const gf_schema *schema;
        gf_table **table;
    } all[] = {{&documents, &t.documents},
               {&clusters, &t.clusters},
               {by_rows ? &held_collections : &collections, &t.collections},
               {&builds, &t.builds},
               {&memberships, &t.memberships},
               {&changes, &t.changes},
               {&tables_of_users, &t.tables}};
    gf_status st = GF_OK;
    for (unsigned i = 0; i < COUNT(all) && st == GF_OK; i++)
        st = gf_table_open_numbered(db, all[i].schema, i + 1, all[i].table, err);
    if (st == GF_OK && by_rows)
        st = gf_database_hold_in_rows(db, t.collections, GF_COLLECTIONS_HOLD,
                                      GF_COLLECTIONS_JOURNAL, err);
    if (st == GF_OK && by_rows) {
        gf_database_leave_to_clock(db, 1u << GF_COLLECTIONS_LEASES);
        gf_database_hold_by_time(db, gf_tables_batches_key());
    }
    if (st == GF_OK) *tables = t;
    return st;
}

/* ---- keys ------------------------------------------------------------------------------------ */

void gf_tables_collection_key(gf_buffer *key, gf_slice name_space, gf_slice collection)
{
    gf_key_string(key, name_space);
    gf_key_string(key, collection);
}

void gf_tables_document_key(gf_buffer *key, gf_slice name_space, gf_slice collection, gf_slice id)
{
    gf_tables_collection_key(key, name_space, collection);
    gf_key_string(key, id);
}

void gf_tables_change_key(gf_buffer *key, gf_slice name_space, gf_slice collection, uint64_t seq)
{
    gf_tables_collection_key(key, name_space, collection);
    gf_key_u64(key, seq);
}

void gf_tables_configuration_key(gf_buffer *key, gf_slice name_space, gf_slice collection,
                                 gf_slice configuration)
{
    gf_tables_collection_key(key, name_space, collection);
    gf_key_string(key, configuration);
}

void gf_tables_build_key(gf_buffer *key, gf_slice name_space, gf_slice collection,
                         gf_slice configuration, int64_t timestamp)
{
    gf_tables_configuration_key(key, name_space, collection, configuration);
    gf_key_u64(key, (uint64_t)timestamp);
}

void gf_tables_cluster_key(gf_buffer *key, gf_slice build_key, gf_slice label)
{
    gf_buffer_slice(key, build_key);
    gf_key_string(key, label);
}

void gf_tables_membership_key(gf_buffer *key, gf_slice build_key, gf_slice document_id)
{
    gf_buffer_slice(key, build_key);
    gf_key_string(key, document_id);
}

/* Skip all parts of the key but the last. */
static bool skip_to_last(const gf_table *table, gf_slice *key)
{
    const gf_schema *s = gf_table_schema(table);
    for (unsigned i = 0; i + 1 < s->n_parts; i++) {
        size_t n = s->parts[i].kind == GF_PART_STRING ? gf_key_string_length(*key) : 8;
        if (n == 0 || n > key->len) return false;
        *key = gf_slice_skip(*key, n);
    }
    return true;
}

static gf_status damaged_key(const gf_table *table, gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "table %s: a key is damaged", gf_table_schema(table)->name);
}

gf_status gf_tables_key_last_string(const gf_table *table, gf_slice key, gf_buffer *out,
                                    gf_error *err)
{
    if (!skip_to_last(table, &key) || !gf_key_take_string(&key, out) || key.len)
        return damaged_key(table, err);
    return gf_buffer_check(out, err);
}

gf_status gf_tables_key_rest_string(const gf_table *table, gf_slice key, size_t before,
                                    gf_buffer *memory, gf_slice *out, gf_error *err)
{
    if (before > key.len) return damaged_key(table, err);
    gf_slice rest = gf_slice_skip(key, before);
    size_t length = gf_key_string_length(rest);
    if (length == 0 || length != rest.len) return damaged_key(table, err);
    length -= 2; /* its end, 00 01 */
    if (!memchr(rest.ptr, 0, length)) {
        *out = gf_slice_of(rest.ptr, length);
        return GF_OK;
    }
    gf_buffer_reset(memory);
    gf_key_take_string(&rest, memory);
    *out = gf_buffer_view(memory);
    return gf_buffer_check(memory, err);
}

gf_status gf_tables_key_last_number(const gf_table *table, gf_slice key, uint64_t *number,
                                    gf_error *err)
{
    if (!skip_to_last(table, &key) || !gf_key_take_u64(&key, number) || key.len)
        return damaged_key(table, err);
    return GF_OK;
}

/* ---- ranks and memberships ------------------------------------------------------------------- */

static uint32_t float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

void gf_tables_rank_write(gf_buffer *out, float score, gf_slice document_id)
{
    gf_buffer_u32be(out, UINT32_MAX - float_bits(score > 0 ? score : 0));
    gf_buffer_slice(out, document_id);
}

bool gf_tables_rank_read(gf_slice qualifier, float *score, gf_slice *document_id)
{
    uint32_t inverted;
    if (!gf_slice_take_u32be(&qualifier, &inverted)) return false;
    *score = bits_float(UINT32_MAX - inverted);
    *document_id = qualifier;
    return true;
}

/* 0, -1, 1, -2, 2, ... as 0, 1, 2, 3, 4, ... */
static uint32_t zigzag(int32_t v)
{
    return v < 0 ? ~((uint32_t)v << 1) : (uint32_t)v << 1;
}

static int32_t zigzag_back(uint32_t v)
{
    return v % 2 ? -(int32_t)(v / 2) - 1 : (int32_t)(v / 2);
}

enum { CLUSTER, SCORE, RUNNER_UP, SECOND, VECTOR, HOUR };

const gf_run_column gf_tables_membership_columns[GF_MEMBERSHIP_COLUMNS] = {
    [CLUSTER] = {"cluster", GF_RUN_AS_VARINT},     [SCORE] = {"score", GF_RUN_AS_FLOAT},
    [RUNNER_UP] = {"runner_up", GF_RUN_AS_VARINT}, [SECOND] = {"second", GF_RUN_AS_FLOAT},
    [VECTOR] = {"vector", GF_RUN_AS_BYTES},        [HOUR] = {"hour", GF_RUN_AS_VARINT}};

const gf_run_column gf_tables_listed_column = {"", GF_RUN_AS_DECIMAL};
const gf_run_column gf_tables_ranked_column = {"", GF_RUN_AS_BYTES};

static gf_run_value number_value(uint32_t number)
{
    return (gf_run_value){.there = true, .number = number};
}

void gf_tables_membership_values(const gf_membership_cells *m,
                                 gf_run_value values[GF_MEMBERSHIP_COLUMNS])
{
    memset(values, 0, GF_MEMBERSHIP_COLUMNS * sizeof *values);
    values[CLUSTER] = number_value(m->cluster);
    values[SCORE] = number_value(float_bits(m->score));
    if (m->runner_up) {
        values[RUNNER_UP] = number_value(m->runner_up);
        values[SECOND] = number_value(float_bits(m->second));
    }
    if (m->dated) values[HOUR] = number_value(zigzag(m->hour));
    if (m->vector.len) values[VECTOR] = (gf_run_value){.there = true, .bytes = m->vector};
}

gf_run_value gf_tables_listed_value(float score)
{
    return number_value(float_bits(score));
}

static bool read_id(const gf_cell *cell, uint32_t *id)
{
    gf_slice rest = cell->value;
    return gf_slice_take_varint32(&rest, id) && rest.len == 0;
}

static bool read_float(const gf_cell *cell, float *v)
{
    if (cell->value.len != 4) return false;
    *v = bits_float(gf_read_u32be(cell->value.ptr));
    return true;
}

static int which_column(gf_slice name)
{
    for (int c = 0; c < GF_MEMBERSHIP_COLUMNS; c++) {
        const char *column = gf_tables_membership_columns[c].name;
        if (name.len && column[0] == name.ptr[0] && gf_slice_equal(gf_slice_str(column), name))
            return c;
    }
    return -1;
}

gf_status gf_tables_membership_read(const gf_row *row, unsigned family, gf_membership_cells *m,
                                    gf_error *err)
{
    const gf_cell *of[GF_MEMBERSHIP_COLUMNS] = {NULL};
    for (size_t i = 0; i < row->n_cells; i++) {
        int column = row->cells[i].family == family ? which_column(row->cells[i].qualifier) : -1;
        if (column >= 0 && !of[column]) of[column] = &row->cells[i];
    }
    const gf_cell *cluster = of[CLUSTER], *score = of[SCORE], *runner_up = of[RUNNER_UP];
    const gf_cell *second = of[SECOND], *vector = of[VECTOR], *hour = of[HOUR];
    gf_membership_cells read = {0};
    uint32_t folded;
    bool good =
        cluster && score && read_id(cluster, &read.cluster) && read_float(score, &read.score);
    if (good && runner_up)
        good = second && read_id(runner_up, &read.runner_up) && read_float(second, &read.second);
    if (good && hour) {
        read.dated = good = read_id(hour, &folded);
        if (good) read.hour = zigzag_back(folded);
    }
    if (!good) return gf_fail(err, GF_ECORRUPT, "table memberships: a row is damaged");
    if (vector) read.vector = vector->value;
    *m = read;
    return GF_OK;
}

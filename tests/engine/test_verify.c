#include "tests/engine/fixture.h"
#include "tests/engine/fixture_runs.h"

#include "engine/rows/copy_list.h"
#include "engine/rows/hours.h"
#include "engine/rows/scan.h"
#include "engine/store/store_internal.h"
#include "storage/run.h"

#include <stdlib.h>

enum { POSTS = 30 };

/* ---- sound stores ---------------------------------------------------------------------------- */

static void sound_stores_are_clean(void **state)
{
    (void)state;
    fixture f;
    gf_verified v;
    char first[512];
    fixture_open(&f);
    assert_int_equal(fixture_verify(&f, first, &v), 0);
    assert_int_equal(v.collections, 0);
    fixture_put_posts(&f, "posts", POSTS);
    fixture_put_subjects(&f, "subjects");
    assert_int_equal(fixture_verify(&f, first, &v), 0);
    assert_int_equal(v.documents, POSTS + 12);
    assert_int_equal(v.builds, 0);
    fixture_rebuild(&f, "posts");
    fixture_rebuild(&f, "posts");
    fixture_rebuild(&f, "subjects");
    fixture_put(&f, "posts", "wordless", "!");
    fixture_put(&f, "posts", "101djc", "put anew");
    fixture_delete(&f, "posts", "102itk");
    assert_int_equal(fixture_verify(&f, first, &v), 0);
    fixture_set(&f, "posts", "fine", "k", "9");
    fixture_rebuild(&f, "posts");
    assert_int_equal(fixture_verify(&f, first, &v), 0);
    assert_int_equal(v.collections, 2);
    assert_int_equal(v.documents, POSTS + 12);
    assert_int_equal(v.builds, 3);
    assert_int_equal(v.memberships, POSTS + POSTS + 12);
    fixture_close(&f);
}

static void what_cannot_be_opened_is_told(void **state)
{
    (void)state;
    gf_error err;
    gf_verified v = {.faults = 7};
    const char *folder = gf_test_folder();
    assert_status(GF_ENOTFOUND, gf_verify(folder, &GF_STORE_OPTIONS(), NULL, NULL, &v, &err));
    assert_int_equal(v.faults, 7);
}

/* ---- rows that do not agree ------------------------------------------------------------------ */

/* A store with two builds of "c", the later one served, for changes to work with. */
typedef struct target {
    fixture f;
    gf_batch *batch;
    int64_t build;
    gf_buffer collection, key; /* keys: of the collection, of the build */
    gf_buffer cluster, label;  /* of the first cluster */
    uint32_t id, other_id;
    uint32_t size;        /* of the first cluster */
    char in[16], out[16]; /* documents that are in the cluster, and in another */
} target;

static gf_status note_first(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    target *t = context;
    if (t->id) return GF_OK;
    t->id = info->id;
    t->size = (uint32_t)info->size;
    gf_buffer_slice(&t->label, info->label);
    return GF_OK;
}

static gf_status note_document(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)err;
    target *t = context;
    snprintf(m->cluster == t->id ? t->in : t->out, sizeof t->in, "%.*s", GF_SLICE_ARG(id));
    if (m->cluster != t->id) t->other_id = m->cluster;
    return GF_OK;
}

static void begin(target *t)
{
    gf_error err;
    gf_view *view;
    *t = (target){.id = 0};
    fixture_open(&t->f);
    fixture_put_posts(&t->f, "c", POSTS);
    fixture_rebuild(&t->f, "c");
    t->build = fixture_rebuild(&t->f, "c").build;
    gf_tables_collection_key(&t->collection, GF_SLICE("test"), GF_SLICE("c"));
    gf_tables_build_key(&t->key, GF_SLICE("test"), GF_SLICE("c"), fixture_default(), t->build);
    assert_ok(gf_view_open(t->f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_clusters(view, note_first, t, &err));
    assert_ok(gf_view_memberships(view, note_document, t, &err));
    assert_true(*t->in && *t->out);
    gf_view_close(view);
    gf_tables_cluster_key(&t->cluster, gf_buffer_view(&t->key), gf_buffer_view(&t->label));
    assert_ok(gf_batch_create(t->f.store->db, &t->batch, &err));
}

static void end(target *t)
{
    fixture_close(&t->f);
    gf_buffer_release(&t->collection);
    gf_buffer_release(&t->key);
    gf_buffer_release(&t->cluster);
    gf_buffer_release(&t->label);
}

static void put_cell(target *t, gf_table *table, gf_slice key, unsigned family, const char *column,
                     const char *value)
{
    gf_batch_put(t->batch, table, key, family, gf_slice_str(column), gf_slice_str(value), 0);
}

static gf_slice document_key(target *t, const char *id)
{
    gf_buffer_reset(&t->label);
    gf_tables_document_key(&t->label, GF_SLICE("test"), GF_SLICE("c"), gf_slice_str(id));
    return gf_buffer_view(&t->label);
}

static gf_slice membership_key(target *t, const char *id)
{
    gf_buffer_reset(&t->label);
    gf_tables_membership_key(&t->label, gf_buffer_view(&t->key), gf_slice_str(id));
    return gf_buffer_view(&t->label);
}

static void put_membership(target *t, const char *id, uint32_t cluster, uint32_t runner_up)
{
    gf_buffer first = {0}, second = {0};
    gf_buffer_varint(&first, cluster);
    gf_buffer_varint(&second, runner_up);
    gf_column columns[] = {{GF_SLICE("cluster"), gf_buffer_view(&first)},
                           {GF_SLICE("score"), GF_SLICE("\x3F\0\0\0")}, /* 0.5 */
                           {GF_SLICE("runner_up"), gf_buffer_view(&second)},
                           {GF_SLICE("second"), GF_SLICE("\0\0\0\0")}};
    gf_batch_replace(t->batch, t->f.store->tables.memberships, membership_key(t, id),
                     GF_MEMBERSHIPS_MAIN, columns, runner_up ? 4 : 2, 0);
    gf_buffer_release(&first);
    gf_buffer_release(&second);
}

#define TABLE(name) (t->f.store->tables.name)

static void wrong_size(target *t)
{
    put_cell(t, TABLE(collections), gf_buffer_view(&t->collection), 0, "size", "31");
}

static void no_number(target *t)
{
    put_cell(t, TABLE(collections), gf_buffer_view(&t->collection), 0, "seq", "many");
}

static void broken_settings(target *t)
{
    put_cell(t, TABLE(collections), gf_buffer_view(&t->collection), 0, "settings", "{\"x\":1}");
}

static void lost_document(target *t)
{
    gf_batch_delete_row(t->batch, TABLE(documents), document_key(t, "101djc"), GF_ALL_FAMILIES);
}

static void lost_text(target *t)
{
    gf_batch_delete_cell(t->batch, TABLE(documents), document_key(t, "101djc"), 0,
                         GF_SLICE("text"));
}

static void document_from_the_future(target *t)
{
    put_cell(t, TABLE(documents), document_key(t, "101djc"), 0, "seq", "31");
}

static void stray_document(target *t)
{
    gf_buffer_reset(&t->label);
    gf_tables_document_key(&t->label, GF_SLICE("test"), GF_SLICE("nowhere"), GF_SLICE("1"));
    put_cell(t, TABLE(documents), gf_buffer_view(&t->label), 0, "text", "a text");
}

static void pointer_into_nothing(target *t)
{
    put_cell(t, TABLE(collections), gf_buffer_view(&t->collection), 0,
             "configuration:default:rebuilt", "12345");
}

static void lost_build(target *t)
{
    gf_batch_delete_row(t->batch, TABLE(builds), gf_buffer_view(&t->key), GF_ALL_FAMILIES);
}

static void broken_build(target *t)
{
    put_cell(t, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MAIN, "objective", "nan");
}

static void stray_build(target *t)
{
    gf_buffer_reset(&t->label);
    gf_tables_build_key(&t->label, GF_SLICE("test"), GF_SLICE("nowhere"), fixture_default(), 5);
    put_cell(t, TABLE(builds), gf_buffer_view(&t->label), GF_BUILDS_MAIN, "documents", "1");
}

static void another_cluster_size(target *t)
{
    put_cell(t, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_MAIN, "size", "1000");
}

static void lost_cluster(target *t)
{
    gf_batch_delete_row(t->batch, TABLE(clusters), gf_buffer_view(&t->cluster), GF_ALL_FAMILIES);
}

static void two_of_one_id(target *t)
{
    char id[16];
    snprintf(id, sizeof id, "%u", t->id);
    gf_buffer_reset(&t->label);
    gf_tables_cluster_key(&t->label, gf_buffer_view(&t->key), GF_SLICE("zzz"));
    put_cell(t, TABLE(clusters), gf_buffer_view(&t->label), GF_CLUSTERS_MAIN, "id", id);
    put_cell(t, TABLE(clusters), gf_buffer_view(&t->label), GF_CLUSTERS_MAIN, "size", "0");
}

static void further_member(target *t)
{
    put_cell(t, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_DOCUMENTS, "x", "1234");
}

static void further_rank(target *t)
{
    gf_buffer_reset(&t->label);
    gf_tables_rank_write(&t->label, 0.5F, GF_SLICE("x"));
    gf_batch_put(t->batch, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_RANKED,
                 gf_buffer_view(&t->label), GF_SLICE(""), 0);
}

/* One member has another rank than its score. */
static void another_rank(target *t)
{
    gf_error err;
    float score;
    gf_slice id;
    gf_scan *scan;
    gf_row row = {0};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_CLUSTERS_RANKED, .limit = 1,
                                        .prefix = gf_buffer_view(&t->cluster), .keys_only = true);
    assert_ok(gf_scan_open(TABLE(clusters), &o, &scan, &err));
    assert_ok(gf_scan_next(scan, &row, &err));
    gf_scan_close(scan);
    assert_true(gf_tables_rank_read(row.cells[0].qualifier, &score, &id));
    gf_buffer_reset(&t->label);
    gf_tables_rank_write(&t->label, score / 2, id);
    gf_batch_delete_cell(t->batch, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_RANKED,
                         row.cells[0].qualifier);
    gf_batch_put(t->batch, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_RANKED,
                 gf_buffer_view(&t->label), GF_SLICE(""), 0);
    gf_row_release(&row);
}

static void lost_membership(target *t)
{
    gf_batch_delete_row(t->batch, TABLE(memberships), membership_key(t, "101djc"), GF_ALL_FAMILIES);
}

static void member_of_nothing(target *t)
{
    put_membership(t, "101djc", 4000, 0);
}

static void runner_up_is_nothing(target *t)
{
    put_membership(t, "101djc", t->id, 4000);
}

static void without_terms(target *t)
{
    put_membership(t, "101djc", 0, 0);
}

static void further_membership(target *t)
{
    put_membership(t, "x", t->id, 0);
}

static void stray_membership(target *t)
{
    gf_buffer_reset(&t->label);
    gf_tables_build_key(&t->label, GF_SLICE("test"), GF_SLICE("c"), fixture_default(), 5);
    gf_buffer key = {0};
    gf_tables_membership_key(&key, gf_buffer_view(&t->label), GF_SLICE("x"));
    put_cell(t, TABLE(memberships), gf_buffer_view(&key), GF_MEMBERSHIPS_MAIN, "score", "1234");
    gf_buffer_release(&key);
}

static void stray_cluster(target *t)
{
    gf_buffer key = {0};
    gf_buffer_reset(&t->label);
    gf_tables_build_key(&t->label, GF_SLICE("test"), GF_SLICE("c"), fixture_default(), 5);
    gf_tables_cluster_key(&key, gf_buffer_view(&t->label), GF_SLICE("label"));
    put_cell(t, TABLE(clusters), gf_buffer_view(&key), GF_CLUSTERS_MAIN, "id", "1");
    gf_buffer_release(&key);
}

/* All counts are as they were. */
static void exchanged_members(target *t)
{
    put_membership(t, t->in, t->other_id, 0);
    put_membership(t, t->out, t->id, 0);
}

static void another_score(target *t)
{
    put_membership(t, t->in, t->id, 0);
}

static void stray_member(target *t)
{
    gf_buffer key = {0};
    gf_tables_cluster_key(&key, gf_buffer_view(&t->key), GF_SLICE("no such label"));
    put_cell(t, TABLE(clusters), gf_buffer_view(&key), GF_CLUSTERS_DOCUMENTS, "x", "0.5");
    gf_buffer_release(&key);
}

static void stray_rank(target *t)
{
    gf_buffer key = {0};
    gf_tables_cluster_key(&key, gf_buffer_view(&t->key), GF_SLICE("no such label"));
    put_cell(t, TABLE(clusters), gf_buffer_view(&key), GF_CLUSTERS_RANKED, "abcdx", "");
    gf_buffer_release(&key);
}

static void delete_model(target *t, const char *qualifier)
{
    gf_batch_delete_cell(t->batch, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MODEL,
                         gf_slice_str(qualifier));
}

static void lost_vocabulary(target *t)
{
    delete_model(t, "vocabulary");
}

static void lost_analysis(target *t)
{
    delete_model(t, "analysis");
}

static void broken_analysis(target *t)
{
    put_cell(t, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MODEL, "analysis", "klingon\n");
}

static void broken_vocabulary(target *t)
{
    put_cell(t, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MODEL, "vocabulary", "\x7F");
}

static void centre_key(target *t)
{
    gf_buffer_reset(&t->label);
    gf_buffer_str(&t->label, "centre");
    gf_buffer_u32be(&t->label, t->id);
}

static void lost_centre(target *t)
{
    centre_key(t);
    gf_batch_delete_cell(t->batch, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MODEL,
                         gf_buffer_view(&t->label));
}

static void broken_centre(target *t)
{
    centre_key(t);
    gf_batch_put(t->batch, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MODEL,
                 gf_buffer_view(&t->label), GF_SLICE("\x02\x01"), 0);
}

static void hours_key(target *t)
{
    gf_buffer_reset(&t->label);
    gf_hours_qualifier(&t->label, t->id);
}

static void lost_hours(target *t)
{
    hours_key(t);
    gf_batch_delete_cell(t->batch, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MODEL,
                         gf_buffer_view(&t->label));
}

static void put_hours(target *t, gf_slice bytes)
{
    hours_key(t);
    gf_batch_put(t->batch, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MODEL,
                 gf_buffer_view(&t->label), bytes, 0);
}

/* Two hours of which one has no document; then as many documents as the cluster, in one hour. */
static void broken_hours(target *t)
{
    put_hours(t, GF_SLICE("\x00\x02\x01\x02"));
}

static void other_hours(target *t)
{
    gf_buffer bytes = {0};
    int32_t hours[POSTS] = {0};
    gf_hours_write(hours, t->size, &bytes);
    put_hours(t, gf_buffer_view(&bytes));
    gf_buffer_release(&bytes);
}

static void put_copies(target *t, uint32_t cluster, gf_slice bytes)
{
    gf_buffer_reset(&t->label);
    gf_copy_list_qualifier(&t->label, cluster);
    gf_batch_put(t->batch, TABLE(builds), gf_buffer_view(&t->key), GF_BUILDS_MODEL,
                 gf_buffer_view(&t->label), bytes, 0);
}

/* The second is a copy of what stands before the first; a copy that is outside of the cluster. */
static void broken_copies(target *t)
{
    put_copies(t, t->id, GF_SLICE("\x01\x02"));
}

static void copies_of_too_many(target *t)
{
    put_copies(t, t->id, GF_SLICE("\x7F\x01"));
}

static void copies_of_nothing(target *t)
{
    put_copies(t, 4000, GF_SLICE("\x01\x01"));
}

static void sentence_of_another(target *t)
{
    put_cell(t, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_MAIN, "sentence", "One.");
    put_cell(t, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_MAIN, "sentence_of",
             t->out);
}

static void sentence_of_nobody(target *t)
{
    put_cell(t, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_MAIN, "sentence", "One.");
    gf_batch_delete_cell(t->batch, TABLE(clusters), gf_buffer_view(&t->cluster), GF_CLUSTERS_MAIN,
                         GF_SLICE("sentence_of"));
}

static const struct {
    const char *name;
    void (*change)(target *t);
    const char *says; /* some of what the first fault says */
} changes[] = {
    {"a collection's size", wrong_size, "30 documents, not 31"},
    {"a number that is none", no_number, "a row is damaged"},
    {"settings that are none", broken_settings, "settings of a collection are damaged"},
    {"a lost document", lost_document, "29 documents, not 30"},
    {"a lost text", lost_text, "lost its text"},
    {"a document of the future", document_from_the_future, "newer than the collection"},
    {"a stray document", stray_document, "31 entries are there, 30"},
    {"a pointer into nothing", pointer_into_nothing, "is served, but is missing"},
    {"a lost build", lost_build, "is served, but is missing"},
    {"a broken build", broken_build, "a row is damaged"},
    {"a stray build", stray_build, "3 entries are there, 2"},
    {"another cluster size", another_cluster_size, "says 1000 documents"},
    {"a lost cluster", lost_cluster, "clusters has"},
    {"two clusters of one id", two_of_one_id, "two clusters have the id"},
    {"a further member", further_member, "its lists have"},
    {"a further rank", further_rank, "its lists have"},
    {"another rank", another_rank, "the ranks of cluster"},
    {"a lost membership", lost_membership, "memberships name it"},
    {"a member of nothing", member_of_nothing, "cluster 4000, which is missing"},
    {"a runner-up that is nothing", runner_up_is_nothing, "runner-up is cluster 4000"},
    {"without terms", without_terms, "memberships name it"},
    {"a further membership", further_membership, "not in the list of cluster"},
    {"a stray membership", stray_membership, "61 entries are there, 60"},
    {"a stray cluster", stray_cluster, "entries are there"},
    {"exchanged members", exchanged_members, "is not in the list of cluster"},
    {"another score", another_score, "two scores"},
    {"a stray member", stray_member, "lists of clusters"},
    {"a stray rank", stray_rank, "ranks of clusters"},
    {"a lost vocabulary", lost_vocabulary, "lost its model"},
    {"a lost analysis", lost_analysis, "lost its model"},
    {"a broken analysis", broken_analysis, ""},
    {"a broken vocabulary", broken_vocabulary, ""},
    {"a lost centre", lost_centre, "lost its centre"},
    {"a broken centre", broken_centre, "vector is damaged"},
    {"lost hours", lost_hours, "documents by hour of"},
    {"broken hours", broken_hours, "documents by hour are damaged"},
    {"other hours", other_hours, "other documents by hour"},
    {"broken copies", broken_copies, "list of copies is damaged"},
    {"copies of too many", copies_of_too_many, "list of copies is damaged"},
    {"copies of nothing", copies_of_nothing, "copies is of cluster 4000"},
    {"a sentence of another cluster", sentence_of_another, "sentence is of no document of it"},
    {"a sentence of nobody", sentence_of_nobody, "sentence is of no document of it"},
};

/* Entries can be changed where each lies by itself; the build is then looked at so, or in blocks. */
static void find_every_disagreement(bool in_blocks)
{
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        target t;
        gf_error err;
        gf_verified v;
        char first[512];
        begin(&t);
        fixture_runs_singly(t.f.store);
        changes[i].change(&t);
        assert_ok(gf_batch_write(t.batch, GF_SYNC_ON, &err));
        gf_batch_free(t.batch);
        if (in_blocks) fixture_runs_in_blocks(t.f.store);
        if (fixture_verify(&t.f, first, &v) == 0) fail_msg("%s is not found", changes[i].name);
        if (!strstr(first, changes[i].says)) fail_msg("%s: %s", changes[i].name, first);
        end(&t);
    }
}

static void every_disagreement_is_found(void **state)
{
    (void)state;
    find_every_disagreement(false);
}

static void every_disagreement_in_blocks_is_found(void **state)
{
    (void)state;
    find_every_disagreement(true);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void builds_lie_in_blocks(void **state)
{
    (void)state;
    target t;
    uint64_t stored, entries;
    begin(&t);
    gf_batch_free(t.batch);
    fixture_runs_count(t.f.store, &stored, &entries);
    assert_int_equal(entries, 2 * 3 * POSTS); /* of two builds: lists, ranks, memberships */
    assert_true(stored < entries / 2);
    fixture_runs_singly(t.f.store);
    fixture_runs_count(t.f.store, &stored, &entries);
    assert_int_equal(entries, 2 * 3 * POSTS);
    assert_int_equal(stored, entries);
    fixture_is_sound(&t.f);
    end(&t);
}

static void lost_block(target *t)
{
    gf_error err;
    gf_scan *scan;
    gf_row row = {0};
    gf_scan_options o =
        GF_SCAN_OPTIONS(.family = GF_MEMBERSHIPS_MAIN, .limit = 1,
                        .prefix = gf_buffer_view(&t->key), .keys_only = true, .as_stored = true);
    assert_ok(gf_scan_open(TABLE(memberships), &o, &scan, &err));
    assert_ok(gf_scan_next(scan, &row, &err));
    gf_scan_close(scan);
    gf_batch_delete_row(t->batch, TABLE(memberships), row.key, 1u << GF_MEMBERSHIPS_MAIN);
    gf_row_release(&row);
}

/* Half of an entry's key is told to be shared; the block is put in place of that of the cluster. */
static void broken_block(target *t)
{
    gf_error err;
    gf_run_block block = {.table = NULL};
    gf_batch_delete_row(t->batch, TABLE(clusters), gf_buffer_view(&t->cluster),
                        1u << GF_CLUSTERS_DOCUMENTS);
    assert_ok(gf_batch_write(t->batch, GF_SYNC_ON, &err));
    assert_ok(gf_run_block_begin(&block, TABLE(clusters), GF_CLUSTERS_DOCUMENTS, NULL, 0, &err));
    assert_ok(gf_run_block_add_cell(&block, gf_buffer_view(&t->cluster), GF_SLICE("101djc"),
                                    GF_SLICE("0.5"), &err));
    assert_ok(gf_run_block_finish(&block, &err));
    block.bytes.ptr[1]--;
    block.stored = (gf_compressed){gf_buffer_view(&block.bytes), false};
    gf_batch_put_block(t->batch, &block);
    gf_run_block_release(&block);
}

static void entry_amid_block(target *t)
{
    put_membership(t, "102itk", t->id, 0);
}

static const struct {
    const char *name;
    void (*change)(target *t);
    const char *says;
    unsigned rows, builds; /* that the repair leaves out */
} changed_blocks[] = {
    {"a lost block", lost_block, "memberships name it", 0, 1},
    {"a broken block", broken_block, "a block of a run is damaged", 1, 1},
    {"an entry amid a block", entry_amid_block, "entries of a run overlap", 1, 0},
};

static gf_status pass_over(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)where, (void)what, (void)err;
    return GF_OK;
}

/* What only blocks can have: told of; a repair leaves out the entry, or the build that it is missing in. */
static void damaged_blocks_are_told_of_and_repaired(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof changed_blocks / sizeof changed_blocks[0]; i++) {
        target t;
        gf_error err;
        gf_verified v;
        gf_repaired repaired;
        char first[512], fixed[512];
        begin(&t);
        changed_blocks[i].change(&t);
        assert_ok(gf_batch_write(t.batch, GF_SYNC_ON, &err));
        gf_batch_free(t.batch);
        if (fixture_verify(&t.f, first, &v) == 0)
            fail_msg("%s is not found", changed_blocks[i].name);
        if (!strstr(first, changed_blocks[i].says))
            fail_msg("%s: %s", changed_blocks[i].name, first);
        gf_store_close(t.f.store);
        snprintf(fixed, sizeof fixed, "%s/repaired", gf_test_folder());
        assert_ok(
            gf_repair(t.f.path, fixed, &GF_STORE_OPTIONS(), pass_over, NULL, &repaired, &err));
        if (repaired.builds != changed_blocks[i].builds || repaired.rows != changed_blocks[i].rows)
            fail_msg("%s: %d rows, %d builds", changed_blocks[i].name, (int)repaired.rows,
                     (int)repaired.builds);
        assert_int_equal(repaired.documents, POSTS);
        assert_ok(gf_store_open(fixed, &GF_STORE_OPTIONS(), &t.f.store, &err));
        uint64_t left = fixture_count_build(&t.f, "c", "default", t.build);
        assert_true((left == 0) == (repaired.builds == 1));
        end(&t);
    }
}

/* ---- what was cut short ---------------------------------------------------------------------- */

/* A lease of a collection is no fault, nor is it left; one that says nothing is, or of nothing. */
static void leases_are_looked_at(void **state)
{
    (void)state;
    target t;
    gf_error err;
    char first[512];
    gf_verified verified;
    gf_buffer key = {0};
    begin(&t);
    gf_table *collections = t.f.store->tables.collections;
    put_cell(&t, collections, gf_buffer_view(&t.collection), GF_COLLECTIONS_LEASES,
             "configuration:default", "3 1 process 7 of there, 12");
    assert_ok(gf_batch_write(t.batch, GF_SYNC_ON, &err));
    gf_batch_free(t.batch);
    fixture_is_sound(&t.f);
    assert_ok(gf_batch_create(t.f.store->db, &t.batch, &err));
    collections = t.f.store->tables.collections;
    put_cell(&t, collections, gf_buffer_view(&t.collection), GF_COLLECTIONS_LEASES, "collection",
             "no lease");
    gf_tables_collection_key(&key, GF_SLICE("test"), GF_SLICE("gone"));
    put_cell(&t, collections, gf_buffer_view(&key), GF_COLLECTIONS_LEASES, "collection",
             "0 0 process 7");
    assert_ok(gf_batch_write(t.batch, GF_SYNC_ON, &err));
    gf_batch_free(t.batch);
    assert_int_equal(fixture_verify(&t.f, first, &verified), 2);
    assert_non_null(strstr(first, "lease"));
    assert_int_equal(fixture_rebuild(&t.f, "c").documents, POSTS);
    fixture_is_sound(&t.f);
    gf_buffer_release(&key);
    t.batch = NULL;
    end(&t);
}

/* Marks as a crash leaves them are no fault: what is below them is cleared away by the next write.
 */
static void unfinished_work_is_no_fault(void **state)
{
    (void)state;
    target t;
    gf_error err;
    gf_store_status status;
    gf_buffer key = {0};
    begin(&t);
    fixture_put_subjects(&t.f, "going");
    gf_tables_build_key(&key, GF_SLICE("test"), GF_SLICE("c"), fixture_default(), t.build + 9);
    put_cell(&t, t.f.store->tables.builds, gf_buffer_view(&key), GF_BUILDS_PROGRESS, "state",
             "building");
    gf_key_string(&key, GF_SLICE("x")); /* now a membership's */
    put_cell(&t, t.f.store->tables.memberships, gf_buffer_view(&key), GF_MEMBERSHIPS_MAIN, "score",
             "1234");
    gf_buffer_reset(&key);
    gf_tables_collection_key(&key, GF_SLICE("test"), GF_SLICE("going"));
    put_cell(&t, t.f.store->tables.collections, gf_buffer_view(&key), GF_COLLECTIONS_PROGRESS,
             "state", "deleting");
    assert_ok(gf_batch_write(t.batch, GF_SYNC_ON, &err));
    gf_batch_free(t.batch);
    fixture_is_sound(&t.f);
    assert_ok(gf_store_read_status(t.f.store, &status, &err));
    assert_int_equal(status.unfinished, 2);
    assert_int_equal(status.collections, 1);
    fixture_put_posts(&t.f, "c", 1);
    assert_ok(gf_store_read_status(t.f.store, &status, &err));
    assert_int_equal(status.unfinished, 0);
    assert_int_equal(status.builds, 2);
    assert_int_equal(fixture_count_build(&t.f, "c", "default", t.build + 9), 0);
    fixture_put_subjects(&t.f, "going");
    assert_int_equal(fixture_read(&t.f, "going").size, 12);
    fixture_is_sound(&t.f);
    gf_buffer_release(&key);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_stores_are_clean),
        cmocka_unit_test(what_cannot_be_opened_is_told),
        cmocka_unit_test(every_disagreement_is_found),
        cmocka_unit_test(every_disagreement_in_blocks_is_found),
        cmocka_unit_test(builds_lie_in_blocks),
        cmocka_unit_test(damaged_blocks_are_told_of_and_repaired),
        cmocka_unit_test(leases_are_looked_at),
        cmocka_unit_test(unfinished_work_is_no_fault),
    };
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}

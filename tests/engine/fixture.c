#include "tests/engine/fixture.h"

#include "base/json/json.h"
#include "cluster/label/labels.h"
#include "engine/rows/scan.h"
#include "engine/store/store_internal.h"

#include <inttypes.h>
#include <stdlib.h>

void fixture_reopen(fixture *f)
{
    gf_error err;
    assert_ok(gf_store_open(f->path, &GF_STORE_OPTIONS(.create = true), &f->store, &err));
}

void fixture_open(fixture *f)
{
    f->path = gf_test_folder();
    fixture_reopen(f);
}

void fixture_close(fixture *f)
{
    gf_store_close(f->store);
    f->store = NULL;
}

gf_place fixture_place(const char *collection)
{
    return (gf_place){GF_SLICE("test"), gf_slice_str(collection)};
}

gf_slice fixture_default(void)
{
    return GF_SLICE("default");
}

/* ---- documents ------------------------------------------------------------------------------- */

static gf_status open_put(gf_store *store, gf_put **put, gf_error *err)
{
    return gf_put_open(store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), put, err);
}

gf_status fixture_try_put(gf_store *store, const char *collection, const gf_document *d,
                          gf_error *err)
{
    gf_put *put;
    gf_status st = open_put(store, &put, err);
    if (st != GF_OK) return st;
    st = gf_put_document(put, gf_slice_str(collection), d, err);
    if (st == GF_OK) st = gf_put_flush(put, err);
    gf_put_close(put);
    return st;
}

gf_status fixture_try_delete(gf_store *store, const char *collection, const char *id, gf_error *err)
{
    gf_put *put;
    gf_status st = open_put(store, &put, err);
    if (st != GF_OK) return st;
    st = gf_put_delete(put, gf_slice_str(collection), gf_slice_str(id), err);
    if (st == GF_OK) st = gf_put_flush(put, err);
    gf_put_close(put);
    return st;
}

void fixture_put(fixture *f, const char *collection, const char *id, const char *text)
{
    gf_error err;
    gf_document d = {.id = gf_slice_str(id), .text = gf_slice_str(text)};
    assert_ok(fixture_try_put(f->store, collection, &d, &err));
}

void fixture_put_field(fixture *f, const char *field, const char *id, const char *text,
                       const char *time, const char *value)
{
    gf_error err;
    gf_field more = {gf_slice_str(field), gf_slice_str(value)};
    gf_document d = {.id = gf_slice_str(id),
                     .text = gf_slice_str(text),
                     .time = gf_slice_str(time),
                     .fields = &more,
                     .n_fields = 1};
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

void fixture_delete(fixture *f, const char *collection, const char *id)
{
    gf_error err;
    assert_ok(fixture_try_delete(f->store, collection, id, &err));
}

void fixture_put_texts(fixture *f, const char *collection, const char *const *texts, size_t n)
{
    gf_error err;
    gf_put *put;
    assert_ok(open_put(f->store, &put, &err));
    for (size_t i = 0; i < n; i++) {
        char id[24];
        gf_slice name = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%03zu", i));
        gf_document d = {.id = name, .text = gf_slice_str(texts[i])};
        assert_ok(gf_put_document(put, gf_slice_str(collection), &d, &err));
    }
    assert_ok(gf_put_flush(put, &err));
    gf_put_close(put);
}

void fixture_put_subjects(fixture *f, const char *collection)
{
    static const char *const texts[12] = {
        "the engine and the brakes of the old car",
        "car engine with worn brakes",
        "brakes squeal while the engine is cold",
        "an old car needs engine oil",
        "bread dough with yeast and flour",
        "flour, yeast and water make dough",
        "the oven bakes bread from sour dough",
        "knead dough, bake bread, use good flour",
        "planets orbit a distant star",
        "a comet passed the star and its planets",
        "the orbit of that comet is long",
        "telescopes show planets, comet and star",
    };
    fixture_put_texts(f, collection, texts, 12);
}

void fixture_open_subjects(fixture *f)
{
    fixture_open(f);
    fixture_put_subjects(f, "c");
    fixture_set(f, "c", "default", "k", "3");
    fixture_rebuild(f, "c");
}

static gf_json_value member_of(gf_json_value record, const char *name)
{
    gf_json_value value = {0};
    if (!gf_json_member(record, name, &value)) fail_msg("a record without %s", name);
    return value;
}

static void put_record(gf_put *put, const char *collection, gf_json_value record)
{
    gf_error err;
    gf_json_value time;
    gf_buffer class = {0}, when = {0};
    assert_ok(gf_json_write(member_of(record, "label"), &class, &err));
    if (gf_json_member(record, "time", &time)) assert_ok(gf_json_write(time, &when, &err));
    gf_field field = {GF_SLICE("label"), gf_buffer_view(&class)};
    gf_document d = {.id = gf_json_get_string(member_of(record, "id")),
                     .text = gf_json_get_string(member_of(record, "text")),
                     .time = gf_buffer_view(&when),
                     .fields = &field,
                     .n_fields = 1};
    assert_ok(gf_put_document(put, gf_slice_str(collection), &d, &err));
    gf_buffer_release(&class);
    gf_buffer_release(&when);
}

void fixture_put_records(fixture *f, const char *collection, gf_slice lines, size_t n)
{
    gf_error err;
    gf_put *put;
    gf_json_parser *parser;
    gf_json_value record;
    gf_slice line;
    assert_ok(gf_json_parser_create(&parser, &err));
    assert_ok(open_put(f->store, &put, &err));
    for (size_t i = 0; i < n; i++) {
        assert_true(gf_test_next_line(&lines, &line));
        assert_ok(gf_json_parse_copy(parser, line, &record, &err));
        put_record(put, collection, record);
    }
    assert_ok(gf_put_flush(put, &err));
    gf_put_close(put);
    gf_json_parser_free(parser);
}

void fixture_put_posts(fixture *f, const char *collection, size_t n)
{
    gf_buffer file = {0};
    assert_true(n <= FIXTURE_POSTS);
    gf_test_read_source("tests/engine/data/posts.jsonl", &file);
    fixture_put_records(f, collection, gf_buffer_view(&file), n);
    gf_buffer_release(&file);
}

/* ---- collections ----------------------------------------------------------------------------- */

static gf_status note_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)err;
    fixture_collection *c = context;
    *c = (fixture_collection){info->size, info->seq, info->modified, 0};
    for (size_t i = 0; i < info->n_configurations; i++)
        if (gf_slice_equal(info->configurations[i].name, fixture_default()))
            c->served = info->configurations[i].rebuilt;
    return GF_OK;
}

fixture_collection fixture_read(fixture *f, const char *collection)
{
    gf_error err;
    fixture_collection c = {0};
    assert_ok(gf_collection_read(f->store, fixture_place(collection), note_collection, &c, &err));
    return c;
}

void fixture_set(fixture *f, const char *collection, const char *configuration, const char *key,
                 const char *value)
{
    gf_error err;
    gf_pair pair = {gf_slice_str(key), gf_slice_str(value)};
    assert_ok(gf_configuration_set(f->store, fixture_place(collection), gf_slice_str(configuration),
                                   &pair, 1, &err));
}

/* ---- builds ---------------------------------------------------------------------------------- */

gf_build_info fixture_rebuild(fixture *f, const char *collection)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    assert_ok(
        gf_rebuild(f->store, fixture_place(collection), fixture_default(), &o, &result, &err));
    assert_int_equal(result.outcome, GF_REBUILD_MADE);
    return result.build;
}

gf_status fixture_try_rebuild(fixture *f, const char *collection, const gf_rebuild_options *o,
                              gf_rebuild_result *result, gf_error *err)
{
    return gf_rebuild(f->store, fixture_place(collection), fixture_default(), o, result, err);
}

gf_rebuild_outcome fixture_outcome(fixture *f, const char *collection, bool force, bool dry_run)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = force, .dry_run = dry_run, .threads = 1);
    assert_ok(fixture_try_rebuild(f, collection, &o, &result, &err));
    return result.outcome;
}

typedef struct build_list {
    int64_t *builds;
    size_t n;
} build_list;

static gf_status note_build(void *context, const gf_build_info *info, gf_error *err)
{
    build_list *l = context;
    if (l->n == 64) return gf_fail(err, GF_ELIMIT, "more than 64 builds");
    l->builds[l->n++] = info->build;
    return GF_OK;
}

size_t fixture_builds(fixture *f, const char *collection, const char *configuration,
                      int64_t builds[64])
{
    gf_error err;
    build_list l = {builds, 0};
    assert_ok(gf_builds_visit(f->store, fixture_place(collection), gf_slice_str(configuration),
                              note_build, &l, &err));
    return l.n;
}

/* ---- what must hold of a build --------------------------------------------------------------- */

enum { MOST_CLUSTERS = 512 };

typedef struct view_check {
    const char *fault;
    gf_view *view;
    uint32_t ids[MOST_CLUSTERS]; /* n */
    uint64_t sizes[MOST_CLUSTERS], found[MOST_CLUSTERS];
    size_t n;
    uint64_t members, without_terms;
    bool mixed; /* the label of the last one says so */
    float last; /* score, of the cluster whose members are walked */
    uint32_t cluster;
} view_check;

static gf_status note_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    view_check *c = context;
    if (c->n == MOST_CLUSTERS) c->fault = "more clusters than the test is made for";
    if (c->fault) return GF_OK;
    if (info->id == 0 || info->label.len == 0) c->fault = "a cluster without id or label";
    bool mixed = gf_label_is_mixed(info->label); /* these come behind the others */
    if (c->n && c->mixed == mixed && info->size > c->sizes[c->n - 1])
        c->fault = "clusters are not by size";
    if (c->mixed && !mixed) c->fault = "a mixed cluster comes before one with a subject";
    c->mixed = mixed;
    c->ids[c->n] = info->id;
    c->sizes[c->n++] = info->size;
    return GF_OK;
}

static size_t find_cluster(const view_check *c, uint32_t id)
{
    size_t i = 0;
    while (i < c->n && c->ids[i] != id)
        i++;
    return i;
}

static gf_status note_membership(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id, (void)err;
    view_check *c = context;
    c->members++;
    if (m->cluster == 0) {
        c->without_terms++;
        return GF_OK;
    }
    size_t at = find_cluster(c, m->cluster);
    if (at == c->n)
        c->fault = "a membership of a cluster that is not there";
    else
        c->found[at]++;
    if (m->runner_up && find_cluster(c, m->runner_up) == c->n)
        c->fault = "a runner-up that is not there";
    if (m->score < m->second) c->fault = "a runner-up is nearer than the cluster";
    return GF_OK;
}

static gf_status note_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id, (void)err;
    view_check *c = context;
    c->members++;
    if (m->cluster != c->cluster) c->fault = "a cluster's list has another's member";
    if (m->score > c->last) c->fault = "members are not ranked";
    c->last = m->score;
    return GF_OK;
}

static gf_status check_lists(view_check *c, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < c->n && st == GF_OK; i++) {
        c->members = 0;
        c->cluster = c->ids[i];
        c->last = 2;
        st = gf_view_members(c->view, c->ids[i], 0, note_member, c, err);
        if (c->members != c->sizes[i] || c->found[i] != c->sizes[i])
            c->fault = "a cluster's size, list and memberships differ";
    }
    return st;
}

const char *fixture_fault_of(gf_view *view, uint64_t *memberships)
{
    static _Thread_local gf_error err;
    view_check *c = calloc(1, sizeof *c);
    if (!c) return "no memory";
    c->view = view;
    gf_status st = gf_view_clusters(view, note_cluster, c, &err);
    if (st == GF_OK) st = gf_view_memberships(view, note_membership, c, &err);
    uint64_t sum = c->without_terms;
    for (size_t i = 0; i < c->n; i++)
        sum += c->sizes[i];
    *memberships = c->members;
    if (sum != c->members) c->fault = "sizes do not add up";
    if (c->n != gf_view_build(view)->k) c->fault = "another number of clusters than the build says";
    if (st == GF_OK) st = check_lists(c, &err);
    const char *fault = st == GF_OK ? c->fault : err.message;
    free(c);
    return fault;
}

int64_t fixture_check_served(fixture *f, const char *collection, uint64_t n)
{
    gf_error err;
    gf_view *view;
    uint64_t memberships;
    assert_ok(gf_view_open(f->store, fixture_place(collection), fixture_default(), 0, &view, &err));
    const char *fault = fixture_fault_of(view, &memberships);
    if (fault) fail_msg("%s: %s", collection, fault);
    assert_int_equal(memberships, n);
    assert_true(gf_view_build(view)->served);
    int64_t build = gf_view_build(view)->build;
    gf_view_close(view);
    return build;
}

/* ---- dumps ----------------------------------------------------------------------------------- */

typedef struct dumping {
    gf_buffer *out;
    size_t skip; /* bytes of each key */
    bool masked; /* without what differs from run to run */
    uint64_t entries;
    gf_slice left_out; /* cells of this column */
} dumping;

static void dump_bytes(gf_slice bytes, gf_buffer *out)
{
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        if (c >= ' ' && c < 0x7F && c != '%')
            gf_buffer_byte(out, (char)c);
        else
            gf_buffer_format(out, "%%%02X", c);
    }
}

static gf_status dump_entry(void *context, const gf_row *row, gf_error *err)
{
    dumping *d = context;
    d->entries++;
    for (size_t i = 0; d->out && i < row->n_cells; i++) {
        const gf_cell *cell = &row->cells[i];
        if (d->masked && gf_slice_equal(cell->qualifier, GF_SLICE("seconds"))) continue;
        if (d->left_out.len && gf_slice_equal(cell->qualifier, d->left_out)) continue;
        dump_bytes(gf_slice_skip(row->key, d->skip), d->out);
        gf_buffer_format(d->out, " %u ", cell->family);
        dump_bytes(cell->qualifier, d->out);
        gf_buffer_str(d->out, " = ");
        dump_bytes(cell->value, d->out);
        gf_buffer_byte(d->out, '\n');
    }
    return d->out ? gf_buffer_check(d->out, err) : GF_OK;
}

static void dump_table(gf_table *table, gf_slice prefix, dumping *d)
{
    gf_error err;
    const gf_schema *schema = gf_table_schema(table);
    if (d->out) gf_buffer_format(d->out, "-- %s\n", schema->name);
    for (unsigned family = 0; family < schema->n_families; family++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .prefix = prefix);
        assert_ok(gf_scan_each(table, &o, dump_entry, d, &err));
    }
}

static uint64_t walk_build(fixture *f, const char *collection, const char *configuration,
                           int64_t build, gf_buffer *out)
{
    const gf_tables *t = &f->store->tables;
    gf_place where = fixture_place(collection);
    gf_buffer key = {0};
    gf_tables_build_key(&key, where.name_space, where.collection, gf_slice_str(configuration),
                        build);
    dumping d = {.out = out, .skip = key.len, .masked = true};
    dump_table(t->builds, gf_buffer_view(&key), &d);
    dump_table(t->clusters, gf_buffer_view(&key), &d);
    dump_table(t->memberships, gf_buffer_view(&key), &d);
    gf_buffer_release(&key);
    return d.entries;
}

void fixture_dump_build(fixture *f, const char *collection, const char *configuration,
                        int64_t build, gf_buffer *out)
{
    if (walk_build(f, collection, configuration, build, out) == 0)
        fail_msg("there is nothing of build %" PRId64, build);
}

uint64_t fixture_count_build(fixture *f, const char *collection, const char *configuration,
                             int64_t build)
{
    return walk_build(f, collection, configuration, build, NULL);
}

void fixture_dump(fixture *f, gf_buffer *out)
{
    fixture_dump_but(f, (gf_slice){0}, out);
}

void fixture_dump_but(fixture *f, gf_slice column, gf_buffer *out)
{
    const gf_tables *t = &f->store->tables;
    gf_table *const tables[] = {t->documents, t->clusters,    t->collections,
                                t->builds,    t->memberships, t->changes};
    dumping d = {.out = out, .left_out = column};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        dump_table(tables[i], (gf_slice){0}, &d);
}

void fixture_same_dump(fixture *f, const gf_buffer *before, const char *when)
{
    gf_buffer after = {0};
    fixture_dump(f, &after);
    if (!gf_slice_equal(gf_buffer_view(before), gf_buffer_view(&after)))
        fail_msg("%s: the store has changed", when);
    gf_buffer_release(&after);
}

/* ---- soundness ------------------------------------------------------------------------------- */

static gf_status note_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)err;
    char *first = context;
    if (!*first) snprintf(first, 512, "%s: %s", where, what);
    return GF_OK;
}

uint64_t fixture_verify(fixture *f, char first[512], gf_verified *verified)
{
    gf_error err;
    *first = '\0';
    fixture_close(f);
    assert_ok(gf_verify(f->path, &GF_STORE_OPTIONS(), note_fault, first, verified, &err));
    fixture_reopen(f);
    return verified->faults;
}

void fixture_is_sound(fixture *f)
{
    gf_verified verified;
    char first[512];
    if (fixture_verify(f, first, &verified)) fail_msg("%s", first);
}

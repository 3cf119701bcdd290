/*
 * Random puts and deletes, in batches of one and of many, against a model: what is there, how it
 * was counted, and how far seq and modified of each collection went.
 */
#include "tests/engine/fixture.h"

#include "base/random.h"

#include <stdlib.h>

/* ---- documents that are told apart by a number ----------------------------------------------- */

enum { IDS = 12, VERSIONS = 5, COLLECTIONS = 2, ABSENT = -1 };

static const char *const collections[COLLECTIONS] = {"a", "b"};

typedef struct versioned {
    char id[16];
    gf_document document;
} versioned;

/* Versions differ in the text, the time, the language, a field's value, or its name. */
static void make_document(versioned *v, int id, int version)
{
    static const gf_field fields[2] = {{{"mood", 4}, {"\"good\"", 6}}, {{"mode", 4}, {"[1,2]", 5}}};
    snprintf(v->id, sizeof v->id, "id-%d", id);
    v->document = (gf_document){.id = gf_slice_str(v->id),
                                .text = version == 0 ? GF_SLICE("same text") : GF_SLICE("text"),
                                .time = version == 1 ? GF_SLICE("12") : GF_SLICE(""),
                                .language = version == 2 ? GF_SLICE("de") : GF_SLICE(""),
                                .fields = &fields[version == 3],
                                .n_fields = version == 4 ? 0 : 1};
}

static bool same_document(const gf_document *a, const gf_document *b)
{
    bool same = gf_slice_equal(a->text, b->text) && gf_slice_equal(a->time, b->time) &&
                gf_slice_equal(a->language, b->language) && a->n_fields == b->n_fields;
    for (size_t i = 0; same && i < a->n_fields; i++)
        same = gf_slice_equal(a->fields[i].name, b->fields[i].name) &&
               gf_slice_equal(a->fields[i].json, b->fields[i].json);
    return same;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* What must be there, kept in the plainest way. */
typedef struct model {
    int version[COLLECTIONS][IDS]; /* ABSENT: not there */
    int base[COLLECTIONS][IDS];    /* that the last of several is a change of, or not */
    bool waits[COLLECTIONS][IDS];  /* a document that counts when it is known to be the last */
    uint64_t seq[COLLECTIONS];
    gf_put_counts counts;
} model;

static void model_put(model *m, int c, int id, int version)
{
    int *now = &m->version[c][id];
    m->counts.created += *now == ABSENT;
    m->counts.unchanged += m->waits[c][id];
    m->waits[c][id] = *now != ABSENT;
    if (*now == ABSENT) m->base[c][id] = version;
    *now = version;
}

static void model_delete(model *m, int c, int id)
{
    *(m->version[c][id] == ABSENT ? &m->counts.absent : &m->counts.deleted) += 1;
    m->counts.unchanged += m->waits[c][id];
    m->waits[c][id] = false;
    m->version[c][id] = ABSENT;
}

/* A flush raises seq once for each document that is not as it was before. */
static void model_flush(model *m, const model *before)
{
    for (int c = 0; c < COLLECTIONS; c++)
        for (int id = 0; id < IDS; id++) {
            bool same = m->version[c][id] == m->base[c][id];
            if (m->waits[c][id]) *(same ? &m->counts.unchanged : &m->counts.changed) += 1;
            m->waits[c][id] = false;
            m->base[c][id] = m->version[c][id];
            m->seq[c] += m->version[c][id] != before->version[c][id];
        }
}

typedef struct comparing {
    const model *m;
    int collection;
    uint64_t n;
} comparing;

static gf_status compare_document(void *context, const gf_document *d, gf_error *err)
{
    comparing *c = context;
    versioned v;
    char id[32];
    snprintf(id, sizeof id, "%.*s", GF_SLICE_ARG(d->id));
    int number = atoi(id + 3);
    if (c->m->version[c->collection][number] == ABSENT)
        return gf_fail(err, GF_EINVAL, "%s is there", id);
    make_document(&v, number, c->m->version[c->collection][number]);
    if (!same_document(d, &v.document)) return gf_fail(err, GF_EINVAL, "%s is another", id);
    c->n++;
    return GF_OK;
}

static void compare_with_model(fixture *f, const model *m, const fixture_collection *before,
                               const model *m_before)
{
    gf_error err;
    for (int c = 0; c < COLLECTIONS; c++) {
        comparing w = {m, c, 0};
        uint64_t there = 0;
        for (int id = 0; id < IDS; id++)
            there += m->version[c][id] != ABSENT;
        assert_ok(gf_documents_visit(f->store, fixture_place(collections[c]), compare_document, &w,
                                     &err));
        assert_int_equal(w.n, there);
        fixture_collection now = fixture_read(f, collections[c]);
        assert_int_equal(now.size, there);
        assert_int_equal(now.seq, m->seq[c]);
        if (m->seq[c] == m_before->seq[c])
            assert_int_equal(now.modified, before[c].modified);
        else
            assert_true(now.modified >= before[c].modified);
    }
}

static void one_operation(gf_put *put, model *m, gf_random *r)
{
    gf_error err;
    versioned v;
    int c = (int)gf_random_below(r, COLLECTIONS), id = (int)gf_random_below(r, IDS);
    int version = (int)gf_random_below(r, VERSIONS);
    make_document(&v, id, version);
    if (gf_random_below(r, 4) == 0) {
        assert_ok(gf_put_delete(put, gf_slice_str(collections[c]), v.document.id, &err));
        model_delete(m, c, id);
    } else {
        assert_ok(gf_put_document(put, gf_slice_str(collections[c]), &v.document, &err));
        model_put(m, c, id, version);
    }
}

/* Batches of one operation and of so many that most ids come several times. */
static void random_batches_equal_a_model(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_put *put;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    model m = {.counts = {0}};
    fixture_open(&f);
    for (int c = 0; c < COLLECTIONS; c++) {
        assert_ok(gf_collection_create(f.store, fixture_place(collections[c]), &err));
        for (int id = 0; id < IDS; id++)
            m.version[c][id] = ABSENT;
    }
    assert_ok(gf_put_open(f.store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err));
    for (int round = 0; round < 300; round++) {
        model before = m;
        fixture_collection rows[COLLECTIONS] = {fixture_read(&f, "a"), fixture_read(&f, "b")};
        uint64_t n = round % 3 ? gf_random_below(&r, 40) : 1;
        for (uint64_t i = 0; i < n; i++)
            one_operation(put, &m, &r);
        gf_put_counts unflushed = gf_put_counted(put);
        assert_memory_equal(&unflushed, &before.counts, sizeof unflushed);
        assert_ok(gf_put_flush(put, &err));
        model_flush(&m, &before);
        gf_put_counts counts = gf_put_counted(put);
        assert_memory_equal(&counts, &m.counts, sizeof counts);
        compare_with_model(&f, &m, rows, &before);
    }
    gf_put_close(put);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_batches_equal_a_model),
    };
    return cmocka_run_group_tests_name("put_model", tests, NULL, NULL);
}

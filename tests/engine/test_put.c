#include "tests/engine/fixture.h"

#include "base/clock.h"
#include "base/random.h"
#include "engine/internal.h"

#include <stdlib.h>

/* ---- documents that are told apart by a number -------------------------------------------------
 */

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

/* ---- the model ---------------------------------------------------------------------------------
 */

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
    assert_ok(gf_put_open(f.store, &(gf_put_options){.name_space = GF_SLICE("test")}, &put, &err));
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

/* ---- by hand -----------------------------------------------------------------------------------
 */

static void the_same_again_changes_nothing(void **state)
{
    (void)state;
    fixture f;
    gf_buffer before = {0}, after = {0};
    fixture_open(&f);
    fixture_put_posts(&f, "posts", 50);
    fixture_dump(&f, &before);
    fixture_put_posts(&f, "posts", 50);
    fixture_dump(&f, &after);
    assert_int_equal(after.len, before.len);
    assert_memory_equal(after.ptr, before.ptr, before.len);
    fixture_collection c = fixture_read(&f, "posts");
    assert_int_equal(c.size, 50);
    assert_int_equal(c.seq, 50);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void modified_is_the_time_of_the_change(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    assert_ok(gf_collection_create(f.store, fixture_place("c"), &err));
    assert_int_equal(fixture_read(&f, "c").modified, 0);
    assert_status(GF_EEXISTS, gf_collection_create(f.store, fixture_place("c"), &err));
    int64_t before = gf_clock_ms();
    fixture_put(&f, "c", "1", "text");
    fixture_collection c = fixture_read(&f, "c");
    assert_true(c.modified >= before && c.modified <= gf_clock_ms());
    while (gf_clock_ms() <= c.modified) {
    }
    fixture_put(&f, "c", "1", "text");
    fixture_delete(&f, "c", "2");
    assert_int_equal(fixture_read(&f, "c").modified, c.modified);
    fixture_delete(&f, "c", "1");
    assert_true(fixture_read(&f, "c").modified > c.modified);
    /* Put and deleted at once: a collection is made in which nothing was ever there. */
    gf_put *put;
    gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("text")};
    assert_ok(gf_put_open(f.store, &(gf_put_options){.name_space = GF_SLICE("test")}, &put, &err));
    assert_ok(gf_put_document(put, GF_SLICE("new"), &d, &err));
    assert_ok(gf_put_delete(put, GF_SLICE("new"), d.id, &err));
    assert_ok(gf_put_flush(put, &err));
    gf_put_close(put);
    c = fixture_read(&f, "new");
    assert_true(c.size == 0 && c.seq == 0 && c.modified == 0);
    fixture_close(&f);
}

/* What is collected is written by the thousand, and forgotten where it was not flushed. */
static void only_what_is_counted_is_there(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_put *put;
    fixture_open(&f);
    assert_ok(gf_put_open(f.store, &(gf_put_options){.name_space = GF_SLICE("test")}, &put, &err));
    for (int i = 0; i < 1500; i++) {
        char id[16];
        gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%d", i)),
                         .text = GF_SLICE("x")};
        assert_ok(gf_put_document(put, GF_SLICE("c"), &d, &err));
    }
    gf_put_counts counts = gf_put_counted(put);
    assert_int_equal(counts.created, 1000);
    assert_int_equal(counts.collections, 1);
    gf_put_close(put);
    assert_int_equal(fixture_read(&f, "c").size, 1000);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- ids that come several times ---------------------------------------------------------------
 */

enum { MANY = 3000, OFTEN = 3 };

/* Documents 0, 1, 2, ... in each of OFTEN versions; not flushed. */
static gf_put *put_often(fixture *f, bool by_version)
{
    gf_error err;
    gf_put *put;
    assert_ok(gf_put_open(f->store, &(gf_put_options){.name_space = GF_SLICE("test")}, &put, &err));
    for (int i = 0; i < MANY * OFTEN; i++) {
        char id[16], text[32];
        int number = by_version ? i % MANY : i / OFTEN;
        int version = by_version ? i / MANY : i % OFTEN;
        gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%d", number))};
        d.text = gf_slice_of(text, (size_t)snprintf(text, sizeof text, "%d.%d", number, version));
        assert_ok(gf_put_document(put, GF_SLICE("c"), &d, &err));
    }
    return put;
}

static void expect_often(fixture *f, bool by_version, uint64_t created, uint64_t changed)
{
    gf_error err;
    gf_put *put = put_often(f, by_version);
    assert_ok(gf_put_flush(put, &err));
    gf_put_counts counts = gf_put_counted(put);
    assert_int_equal(counts.created, created);
    assert_int_equal(counts.changed, changed);
    assert_int_equal(counts.unchanged, MANY * OFTEN - created - changed);
    gf_put_close(put);
}

/*
 * Of several of one id the last counts, whether they come together or thousands apart: put again
 * they change nothing. What was cut short goes on where it is put again.
 */
static void the_last_of_an_id_counts(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    for (int by_version = 0; by_version < 2; by_version++) {
        expect_often(&f, by_version, MANY, MANY);
        fixture_collection before = fixture_read(&f, "c");
        expect_often(&f, by_version, 0, 0);
        expect_often(&f, !by_version, 0, 0);
        fixture_collection after = fixture_read(&f, "c");
        assert_int_equal(after.seq, before.seq);
        assert_int_equal(after.modified, before.modified);
        assert_ok(gf_collection_delete(f.store, fixture_place("c"), &err));
    }
    gf_put_close(put_often(&f, true));
    expect_often(&f, true, 0, MANY);
    expect_often(&f, true, 0, 0);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* Changes of more than are held back: they are written on the way. */
static void many_changes_are_written(void **state)
{
    (void)state;
    enum { LARGE = 4 << 20, N = 20 };
    fixture f;
    gf_error err;
    gf_put *put;
    char *text = malloc(LARGE);
    assert_non_null(text);
    fixture_open(&f);
    for (int round = 0; round < 2; round++) {
        memset(text, 'a' + round, LARGE);
        assert_ok(
            gf_put_open(f.store, &(gf_put_options){.name_space = GF_SLICE("test")}, &put, &err));
        for (int i = 0; i < N; i++) {
            char id[16];
            gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%d", i)),
                             .text = gf_slice_of(text, LARGE)};
            assert_ok(gf_put_document(put, GF_SLICE("c"), &d, &err));
        }
        gf_put_counts counts = gf_put_counted(put);
        if (round) assert_int_equal(counts.changed, 16);
        assert_ok(gf_put_flush(put, &err));
        counts = gf_put_counted(put);
        assert_int_equal(round ? counts.changed : counts.created, N);
        gf_put_close(put);
    }
    free(text);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- names -------------------------------------------------------------------------------------
 */

enum { NAMES = 12 };
static char longest_name[GF_MAX_NAME], longest_id[GF_MAX_ID];

static const gf_slice names[NAMES] = {
    {"a/b", 3},      {"c", 1},
    {"a", 1},        {"b/c", 3},
    {"ck", 2},       {"ck2", 3},
    {"\0", 1},       {"\0\0x\0", 4},
    {"c\0k", 3},     {"\xC3\xA9\xF4\x8F\xBF\xBF", 6},
    {"\x01\x7F", 2}, {longest_name, sizeof longest_name},
};

static gf_slice name_at(uint64_t i, bool id)
{
    if (id && names[i].ptr == longest_name) return gf_slice_of(longest_id, sizeof longest_id);
    return names[i];
}

static gf_status text_is(void *context, const gf_document *d, gf_error *err)
{
    if (gf_slice_equal(d->text, *(const gf_slice *)context)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "another text: %.*s", GF_SLICE_ARG(d->text));
}

static gf_status count_document(void *context, const gf_document *d, gf_error *err)
{
    (void)d, (void)err;
    ++*(int *)context;
    return GF_OK;
}

/* Rows of one collection must lie together: each (namespace, collection) is met in one run. */
typedef struct runs {
    gf_buffer seen, last; /* starts of keys, as strings */
    int n;
} runs;

static gf_status note_run(void *context, const gf_row *row, gf_error *err)
{
    runs *r = context;
    gf_buffer space = {0}, collection = {0}, start = {0};
    gf_slice rest = row->key, seen, one;
    assert_true(gf_key_take_string(&rest, &space) && gf_key_take_string(&rest, &collection));
    gf_collection_key(&start, gf_buffer_view(&space), gf_buffer_view(&collection));
    gf_status st = GF_OK;
    if (!gf_slice_equal(gf_buffer_view(&start), gf_buffer_view(&r->last))) {
        seen = gf_buffer_view(&r->seen);
        while (st == GF_OK && gf_take_string(&seen, &one))
            if (gf_slice_equal(one, gf_buffer_view(&start)))
                st = gf_fail(err, GF_EINVAL, "rows of a collection lie apart");
        gf_buffer_string(&r->seen, gf_buffer_view(&start));
        gf_buffer_reset(&r->last);
        gf_buffer_slice(&r->last, gf_buffer_view(&start));
        r->n++;
    }
    gf_buffer_release(&space);
    gf_buffer_release(&collection);
    gf_buffer_release(&start);
    return st;
}

static void put_everywhere(fixture *f)
{
    gf_error err;
    for (uint64_t s = 0; s < NAMES; s++) {
        gf_put *put;
        assert_ok(gf_put_open(f->store, &(gf_put_options){.name_space = names[s]}, &put, &err));
        for (uint64_t i = 0; i < NAMES * NAMES; i++) {
            char text[32];
            int n = snprintf(text, sizeof text, "%d %d", (int)s, (int)i);
            gf_document d = {.id = name_at(i % NAMES, true), .text = {text, (size_t)n}};
            assert_ok(gf_put_document(put, names[i / NAMES], &d, &err));
        }
        assert_ok(gf_put_flush(put, &err));
        assert_int_equal(gf_put_counted(put).created, NAMES * NAMES);
        gf_put_close(put);
    }
}

/* Check 1 of the core: nothing mixes, nothing is lost, all of a collection is one run. */
static void every_name_round_trips(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    put_everywhere(&f);
    for (uint64_t i = 0; i < NAMES * NAMES * NAMES; i++) {
        uint64_t s = i / (NAMES * NAMES), c = i / NAMES % NAMES;
        gf_place where = {names[s], names[c]};
        char text[32];
        int n = snprintf(text, sizeof text, "%d %d", (int)s, (int)(i % (NAMES * NAMES)));
        gf_slice expected = {text, (size_t)n};
        assert_ok(
            gf_document_read(f.store, where, name_at(i % NAMES, true), text_is, &expected, &err));
        int found = 0;
        if (i % NAMES == 0) {
            assert_ok(gf_documents_visit(f.store, where, count_document, &found, &err));
            assert_int_equal(found, NAMES);
        }
    }
    runs r = {.n = 0};
    gf_scan_options o = {.family = GF_DOCUMENTS_MAIN};
    assert_ok(gf_scan_each(f.store->tables.documents, &o, note_run, &r, &err));
    assert_int_equal(r.n, NAMES * NAMES);
    gf_buffer_release(&r.seen);
    gf_buffer_release(&r.last);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- fields ------------------------------------------------------------------------------------
 */

static const gf_field hostile[] = {
    {{"", 0}, {"null", 4}},
    {{" ", 1}, {"true", 4}},
    {{"a\"\\\n", 4}, {"\"\\u0000\"", 8}},
    {{"collection_key", 14}, {"1", 1}},
    {{"field:", 6}, {"2", 1}},
    {{"field:field:text", 16}, {"3", 1}},
    {{"field:text", 10}, {"4", 1}},
    {{"id", 2}, {"5", 1}},
    {{"lang", 4}, {"6", 1}},
    {{"member_of", 9}, {"7", 1}},
    {{"namespace", 9}, {"8", 1}},
    {{"seq", 3}, {"18446744073709551615", 20}},
    {{"text", 4}, {"\"another text\"", 14}},
    {{"time", 4}, {"{\"a\":[]}", 8}},
    {{"vector_idf", 10}, {"9", 1}},
    {{"vector_tfidf", 12}, {"10", 2}},
    {{"\xE4\xB8\xAD", 3}, {"\"\xE4\xB8\xAD\"", 5}},
};
enum { HOSTILE = sizeof hostile / sizeof hostile[0] };

static gf_status fields_are(void *context, const gf_document *d, gf_error *err)
{
    (void)context;
    if (!gf_slice_equal(d->text, GF_SLICE("the text")) || d->time.len || d->language.len)
        return gf_fail(err, GF_EINVAL, "a field took the place of the text, time or language");
    if (d->n_fields != HOSTILE) return gf_fail(err, GF_EINVAL, "%zu fields", d->n_fields);
    for (size_t i = 0; i < HOSTILE; i++) {
        bool found = false;
        for (size_t j = 0; j < HOSTILE; j++)
            found = found || (gf_slice_equal(d->fields[j].name, hostile[i].name) &&
                              gf_slice_equal(d->fields[j].json, hostile[i].json));
        if (!found)
            return gf_fail(err, GF_EINVAL, "field %.*s is lost", GF_SLICE_ARG(hostile[i].name));
    }
    return GF_OK;
}

static void fields_may_have_any_name(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_document d = {
        .id = GF_SLICE("x"), .text = GF_SLICE("the text"), .fields = hostile, .n_fields = HOSTILE};
    fixture_open(&f);
    for (int again = 0; again < 2; again++) {
        assert_ok(fixture_try_put(f.store, "c", &d, &err));
        assert_int_equal(fixture_read(&f, "c").seq, 1);
    }
    assert_ok(gf_document_read(f.store, fixture_place("c"), GF_SLICE("x"), fields_are, NULL, &err));
    assert_ok(gf_documents_visit(f.store, fixture_place("c"), fields_are, NULL, &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- limits ------------------------------------------------------------------------------------
 */

static char filler[1 << 16];

static gf_status try(gf_put *put, gf_slice id, gf_slice text, gf_field field, gf_error *err)
{
    gf_document d = {.id = id, .text = text, .fields = &field, .n_fields = 1};
    return gf_put_document(put, GF_SLICE("c"), &d, err);
}

static void try_fields(gf_put *put)
{
    gf_error err;
    static gf_field many[GF_MAX_FIELDS + 1];
    static char number[GF_MAX_FIELDS + 1][8];
    for (int i = 0; i <= GF_MAX_FIELDS; i++) {
        snprintf(number[i], sizeof number[i], "f%d", i);
        many[i] = (gf_field){gf_slice_str(number[i]), GF_SLICE("0")};
    }
    gf_document d = {.id = GF_SLICE("many"), .fields = many, .n_fields = GF_MAX_FIELDS + 1};
    assert_status(GF_ELIMIT, gf_put_document(put, GF_SLICE("c"), &d, &err));
    d.n_fields = GF_MAX_FIELDS;
    assert_ok(gf_put_document(put, GF_SLICE("c"), &d, &err));
    many[7] = many[900];
    assert_status(GF_EINVAL, gf_put_document(put, GF_SLICE("c"), &d, &err));
    assert_string_equal(err.message, "field \"f900\" is there twice");
}

/* What is refused is refused with a reason, and the put goes on. */
static void one_bad_document_is_left_out(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_put *put;
    gf_put_options o = {.name_space = GF_SLICE("test"), .max_document = 40000};
    const gf_field plain = {GF_SLICE("n"), GF_SLICE("1")};
    const gf_slice id = GF_SLICE("x"), bad = GF_SLICE("\xC3("), text = GF_SLICE("text");
    memset(filler, 'x', sizeof filler);
    fixture_open(&f);
    assert_ok(gf_put_open(f.store, &o, &put, &err));
    assert_status(GF_EINVAL, try(put, GF_SLICE(""), text, plain, &err));
    assert_status(GF_EINVAL, try(put, gf_slice_of(filler, GF_MAX_ID + 1), text, plain, &err));
    assert_status(GF_EINVAL, try(put, bad, text, plain, &err));
    assert_status(GF_EINVAL, try(put, id, bad, plain, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){bad, plain.json}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, bad}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, GF_SLICE("{")}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, GF_SLICE("1 2")}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, GF_SLICE("")}, &err));
    assert_status(GF_EINVAL, try(put, id, text, (gf_field){id, GF_SLICE("\"\\x\"")}, &err));
    gf_slice name = gf_slice_of(filler, GF_MAX_FIELD_NAME + 1);
    assert_status(GF_ELIMIT, try(put, id, text, (gf_field){name, plain.json}, &err));
    assert_status(GF_ELIMIT, try(put, id, gf_slice_of(filler, 39999), plain, &err));
    try_fields(put);
    assert_ok(try(put, id, gf_slice_of(filler, 39998), plain, &err));
    name.len--;
    assert_ok(try(put, gf_slice_of(filler, GF_MAX_ID), text, (gf_field){name, plain.json}, &err));
    assert_true(gf_put_is_good(put));
    assert_ok(gf_put_flush(put, &err));
    assert_int_equal(gf_put_counted(put).created, 3);
    gf_put_close(put);
    assert_status(GF_EINVAL, gf_collection_create(f.store, (gf_place){bad, GF_SLICE("c")}, &err));
    gf_place too_long = {GF_SLICE("test"), gf_slice_of(filler, GF_MAX_NAME + 1)};
    assert_status(GF_EINVAL, gf_collection_create(f.store, too_long, &err));
    assert_status(GF_EINVAL, gf_collection_create(f.store, fixture_place(""), &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void collections_are_not_made_without_end(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_put *put;
    gf_put_options o = {.name_space = GF_SLICE("test"), .max_collections = 2};
    gf_document d = {.id = GF_SLICE("1"), .text = GF_SLICE("text")};
    fixture_open(&f);
    assert_ok(gf_put_open(f.store, &o, &put, &err));
    assert_ok(gf_put_document(put, GF_SLICE("one"), &d, &err));
    assert_ok(gf_put_document(put, GF_SLICE("two"), &d, &err));
    assert_ok(gf_put_flush(put, &err));
    assert_ok(gf_put_document(put, GF_SLICE("two"), &d, &err));
    assert_ok(gf_put_document(put, GF_SLICE("three"), &d, &err));
    assert_status(GF_ELIMIT, gf_put_flush(put, &err));
    assert_false(gf_put_is_good(put));
    assert_status(GF_ELIMIT, gf_put_document(put, GF_SLICE("one"), &d, &err));
    gf_put_close(put);
    assert_ok(gf_put_open(f.store, &o, &put, &err));
    assert_ok(gf_put_delete(put, GF_SLICE("three"), GF_SLICE("1"), &err));
    assert_status(GF_ENOTFOUND, gf_put_flush(put, &err));
    gf_put_close(put);
    fixture_close(&f);
}

int main(void)
{
    memset(longest_name, 'n', sizeof longest_name);
    memset(longest_id, 'i', sizeof longest_id);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_batches_equal_a_model),
        cmocka_unit_test(the_same_again_changes_nothing),
        cmocka_unit_test(modified_is_the_time_of_the_change),
        cmocka_unit_test(only_what_is_counted_is_there),
        cmocka_unit_test(the_last_of_an_id_counts),
        cmocka_unit_test(many_changes_are_written),
        cmocka_unit_test(every_name_round_trips),
        cmocka_unit_test(fields_may_have_any_name),
        cmocka_unit_test(one_bad_document_is_left_out),
        cmocka_unit_test(collections_are_not_made_without_end),
    };
    return cmocka_run_group_tests_name("put", tests, NULL, NULL);
}

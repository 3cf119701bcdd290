/* Topics: described by words, examples or a field, grown by rebuilds, in random histories. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is asked of the engine ------------------------------------------------------------- */

static gf_status try_add(fixture *f, const gf_topic_request *r, gf_error *err)
{
    return gf_topic_add(f->store, fixture_place("c"), fixture_default(), r, NULL, NULL, err);
}

static gf_status add_words(fixture *f, const char *name, const char *words, gf_error *err)
{
    return try_add(f, &GF_TOPIC_REQUEST(.name = gf_slice_str(name), .words = gf_slice_str(words)),
                   err);
}

static gf_status try_delete(fixture *f, const char *name, gf_error *err)
{
    return gf_topic_delete(f->store, fixture_place("c"), fixture_default(), gf_slice_str(name),
                           GF_SLICE(""), GF_SLICE(""), NULL, NULL, err);
}

enum { MOST = 16 };

typedef struct topic {
    char name[32], lost[96];
    uint32_t cluster;
    uint64_t documents;
    float threshold;
    bool owed;
} topic;

typedef struct topics {
    topic at[MOST];
    size_t n;
    bool owed;
} topics;

static gf_status note_topic(void *context, const gf_topic_info *t, gf_error *err)
{
    topics *l = context;
    (void)err;
    assert_true(l->n < MOST);
    topic *at = &l->at[l->n++];
    *at = (topic){.cluster = t->cluster,
                  .documents = t->documents,
                  .threshold = t->threshold,
                  .owed = t->owed};
    snprintf(at->name, sizeof at->name, "%.*s", GF_SLICE_ARG(t->name));
    snprintf(at->lost, sizeof at->lost, "%.*s", GF_SLICE_ARG(t->lost));
    return GF_OK;
}

static topics list(fixture *f)
{
    gf_error err;
    topics l = {.n = 0};
    assert_ok(gf_topics_visit(f->store, fixture_place("c"), fixture_default(), &l.owed, note_topic,
                              &l, &err));
    return l;
}

static const topic *find(const topics *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->at[i].name, name) == 0) return &l->at[i];
    fail_msg("there is no topic \"%s\"", name);
    return NULL;
}

static gf_rebuild_outcome rebuild(fixture *f, unsigned threads, gf_start start)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = threads, .start = start);
    assert_ok(fixture_try_rebuild(f, "c", &o, &result, &err));
    fixture_is_sound(f);
    return result.outcome;
}

/* The label of the cluster that a document is in, and its id. */
static uint32_t place(fixture *f, const char *id, char label[64])
{
    gf_view *v;
    gf_error err;
    gf_membership m;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_membership(v, gf_slice_str(id), &m, &err));
    if (label) snprintf(label, 64, "%.*s", GF_SLICE_ARG(m.label));
    gf_view_close(v);
    return m.cluster;
}

static void assert_place(fixture *f, const char *id, const char *expected)
{
    char label[64];
    place(f, id, label);
    if (strcmp(label, expected) != 0)
        fail_msg("document %s is in \"%s\", not in \"%s\"", id, label, expected);
}

/* ---- by words -------------------------------------------------------------------------------- */

static void a_topic_takes_its_documents_and_keeps_its_id(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    fixture_rebuild(&f, "c");
    assert_ok(add_words(&f, "Cars", "engine brakes", &err));
    topics l = list(&f);
    assert_int_equal(l.n, 1);
    assert_true(l.owed && l.at[0].owed);
    assert_int_equal(l.at[0].cluster, 0);
    assert_int_equal(rebuild(&f, 1, GF_START_SERVED), GF_REBUILD_MADE);
    l = list(&f);
    assert_false(l.owed || l.at[0].owed);
    assert_true(l.at[0].documents >= 3);
    assert_true(l.at[0].threshold > 0);
    uint32_t id = l.at[0].cluster;
    assert_true(id > 2); /* those of the first build were others' */
    for (int i = 0; i < 3; i++) {
        char document[8];
        snprintf(document, sizeof document, "%03d", i);
        assert_place(&f, document, "Cars");
    }
    assert_int_equal(rebuild(&f, 1, GF_START_SERVED), GF_REBUILD_UNMODIFIED);

    fixture_put(&f, "c", "012", "cars have engines, brakes and oil");
    assert_int_equal(rebuild(&f, 1, GF_START_FRESH), GF_REBUILD_MADE);
    assert_int_equal(place(&f, "012", NULL), id);
    assert_place(&f, "012", "Cars");

    /* Deleted it ends with the next rebuild; taken back it has its id again. */
    assert_ok(try_delete(&f, "cars", &err));
    assert_int_equal(list(&f).n, 0);
    assert_place(&f, "000", "Cars");
    assert_int_equal(rebuild(&f, 1, GF_START_FRESH), GF_REBUILD_MADE);
    assert_ok(
        gf_edit_undo(f.store, fixture_place("c"), fixture_default(), 0, NULL, NULL, NULL, &err));
    assert_int_equal(rebuild(&f, 1, GF_START_SERVED), GF_REBUILD_MADE);
    assert_int_equal(place(&f, "000", NULL), id);
    assert_place(&f, "000", "Cars");
    fixture_close(&f);
}

/* Documents that all have a lang: a word is stemmed as theirs are, though no text is long enough to tell. */
static void words_are_in_the_language_of_the_documents(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *view;
    gf_membership m;
    fixture_open(&f);
    for (int i = 0; i < 12; i++) {
        char id[8], text[64];
        snprintf(id, sizeof id, "%03d", i);
        snprintf(text, sizeof text, i % 2 ? "companies %d" : "elections %d", i);
        gf_document d = {
            .id = gf_slice_str(id), .text = gf_slice_str(text), .language = GF_SLICE("en")};
        assert_ok(fixture_try_put(f.store, "c", &d, &err));
    }
    fixture_set(&f, "c", "default", "k", "2");
    fixture_rebuild(&f, "c");
    assert_ok(add_words(&f, "Firms", "company", &err));
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_assign(view, GF_SLICE(""), GF_SLICE("Company"), &m, &err));
    assert_true(m.cluster > 0);
    assert_true(m.score > .5F);
    gf_view_close(view);
    fixture_close(&f);
}

static void topics_alone_leave_the_rest_unplaced(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *v;
    gf_membership m;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_put(&f, "c", "012", "...");
    fixture_set(&f, "c", "default", "topics", "only");
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    assert_status(GF_EINVAL, fixture_try_rebuild(&f, "c", &o, &result, &err));
    assert_non_null(strstr(err.message, "no topic has a document"));
    assert_ok(add_words(&f, "cars", "engine brakes", &err)); /* before the first build */
    assert_ok(add_words(&f, "baking", "bread dough", &err));
    rebuild(&f, 1, GF_START_FRESH);
    assert_place(&f, "001", "cars");
    assert_place(&f, "004", "baking");
    assert_place(&f, "009", "no topic");
    assert_place(&f, "012", "without terms");
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    const gf_build_info *b = gf_view_build(v);
    assert_int_equal(b->k, 2);
    topics l = list(&f);
    assert_int_equal(b->unplaced, 12 - l.at[0].documents - l.at[1].documents);
    assert_int_equal(b->without_terms, 1);
    assert_ok(gf_view_assign(v, GF_SLICE(""), GF_SLICE("a comet, planets, a star"), &m, &err));
    assert_int_equal(m.cluster, 0);
    assert_slice(m.label, "no topic");
    assert_ok(gf_view_assign(v, GF_SLICE(""), GF_SLICE("a car engine with brakes"), &m, &err));
    assert_slice(m.label, "cars");
    gf_view_close(v);

    fixture_set(&f, "c", "default", "topics", "all");
    rebuild(&f, 1, GF_START_SERVED);
    assert_true(place(&f, "009", NULL) > 0);
    fixture_close(&f);
}

/* ---- by examples and by a field -------------------------------------------------------------- */

static void examples_are_in_their_topic(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "topics", "only");
    gf_slice like[] = {GF_SLICE("000"),
                       GF_SLICE("004")}; /* of two subjects: a person's word counts */
    assert_ok(
        try_add(&f, &GF_TOPIC_REQUEST(.name = GF_SLICE("mine"), .like = like, .n_like = 2), &err));
    assert_ok(add_words(&f, "sky", "planets star comet", &err));
    rebuild(&f, 1, GF_START_FRESH);
    assert_place(&f, "000", "mine");
    assert_place(&f, "004", "mine");
    assert_place(&f, "011", "sky");
    /* A document that is moved into a topic is an example of it from then on. */
    uint32_t mine = place(&f, "000", NULL);
    assert_ok(gf_edit_make(
        f.store, fixture_place("c"), fixture_default(),
        &GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = mine, .document = GF_SLICE("011")), NULL,
        NULL, &err));
    fixture_put(&f, "c", "013", "another comet passed the long orbit");
    rebuild(&f, 1, GF_START_FRESH);
    assert_place(&f, "011", "mine");
    fixture_close(&f);
}

static void move(fixture *f, const char *id, uint32_t cluster)
{
    gf_error err;
    assert_ok(gf_edit_make(
        f->store, fixture_place("c"), fixture_default(),
        &GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = cluster, .document = gf_slice_str(id)),
        NULL, NULL, &err));
}

/* A document is an example of the topic that it was moved into last, or whose cluster that one went into. */
static void the_last_move_says_what_is_an_example(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_slice like = GF_SLICE("000");
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    assert_ok(
        try_add(&f, &GF_TOPIC_REQUEST(.name = GF_SLICE("mine"), .like = &like, .n_like = 1), &err));
    rebuild(&f, 1, GF_START_FRESH);
    uint32_t mine = place(&f, "000", NULL), other = place(&f, "008", NULL);
    assert_true(mine != other && place(&f, "004", NULL) != mine);
    move(&f, "009", mine);
    move(&f, "009", other);
    fixture_delete(&f, "c", "000");
    rebuild(&f, 1, GF_START_FRESH);
    assert_non_null(strstr(list(&f).at[0].lost, "is an example of it"));
    /* The other one goes into the topic, and the document with it. */
    fixture_put(&f, "c", "000", "an engine of a car");
    rebuild(&f, 1, GF_START_FRESH);
    assert_string_equal(list(&f).at[0].lost, "");
    other = place(&f, "009", NULL);
    gf_edit_request merge =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = mine, .others = &other, .n_others = 1);
    assert_ok(
        gf_edit_make(f.store, fixture_place("c"), fixture_default(), &merge, NULL, NULL, &err));
    fixture_delete(&f, "c", "000");
    rebuild(&f, 1, GF_START_FRESH);
    assert_string_equal(list(&f).at[0].lost, "");
    assert_int_equal(place(&f, "009", NULL), mine);
    fixture_close(&f);
}

static void values_of_a_field_are_topics(void **state)
{
    (void)state;
    static const struct {
        const char *id, *text, *value;
    } documents[] = {{"a", "the engine and the brakes of a car", "\"Cars\""},
                     {"b", "car engine with worn brakes", "\"cars\""},
                     {"c", "bread dough with yeast and flour", "\"baking\""},
                     {"d", "flour and yeast make bread dough", "null"},
                     {"e", "brakes of an old car engine", "null"},
                     {"f", "planets orbit a star", "7"}};
    fixture f;
    gf_error err;
    fixture_open(&f);
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++)
        fixture_put_field(&f, "area", documents[i].id, documents[i].text, "1000",
                          documents[i].value);
    fixture_set(&f, "c", "default", "topics", "all");
    assert_ok(try_add(&f, &GF_TOPIC_REQUEST(.field = GF_SLICE("area")), &err));
    topics l = list(&f);
    assert_int_equal(l.n, 3); /* Cars and cars are one */
    assert_status(GF_EEXISTS, try_add(&f, &GF_TOPIC_REQUEST(.field = GF_SLICE("area")), &err));
    rebuild(&f, 1, GF_START_FRESH);
    assert_place(&f, "b", "Cars");
    assert_place(&f, "d", "baking");
    assert_place(&f, "e", "Cars");
    assert_place(&f, "f", "7");
    /* A value that comes later is a topic once the field is given again. */
    fixture_put_field(&f, "area", "g", "a guitar with six strings", "1000", "\"music\"");
    assert_ok(try_add(&f, &GF_TOPIC_REQUEST(.field = GF_SLICE("area")), &err));
    assert_int_equal(list(&f).n, 4);
    assert_status(GF_ENOTFOUND, try_add(&f, &GF_TOPIC_REQUEST(.field = GF_SLICE("areas")), &err));
    assert_status(
        GF_ENOTFOUND,
        try_add(&f, &GF_TOPIC_REQUEST(.name = GF_SLICE("x"), .field = GF_SLICE("area")), &err));
    fixture_close(&f);
}

/* A part's label may be the word that the topic is called by, whose name the first part keeps. */
static void parts_of_a_topic_are_not_called_as_it_is(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    char id[8];
    fixture_open(&f);
    for (int i = 0; i < 20; i++) {
        snprintf(id, sizeof id, "%03d", i);
        fixture_put_field(&f, "area", id, i < 12 ? "invoice, printer" : "invoice, billing", "1000",
                          "\"billing\"");
    }
    fixture_set(&f, "c", "default", "topics", "all");
    assert_ok(try_add(&f, &GF_TOPIC_REQUEST(.field = GF_SLICE("area")), &err));
    rebuild(&f, 1, GF_START_FRESH);
    uint32_t id_of_topic = place(&f, "000", NULL);
    gf_edit_request split =
        GF_EDIT_REQUEST(.kind = GF_EDIT_SPLIT, .cluster = id_of_topic, .parts = 2);
    assert_ok(
        gf_edit_make(f.store, fixture_place("c"), fixture_default(), &split, NULL, NULL, &err));
    assert_place(&f, "000", "billing");
    assert_true(place(&f, "000", NULL) != place(&f, "019", NULL));
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_slice nobody = GF_SLICE("nobody");
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    fixture_rebuild(&f, "c");
    assert_status(GF_EINVAL, add_words(&f, "", "engine", &err));
    assert_status(GF_EINVAL, add_words(&f, "cars", "", &err));
    assert_status(GF_EINVAL, add_words(&f, "No Topic", "engine", &err));
    assert_status(GF_EINVAL, add_words(&f, "music", "guitar", &err));
    assert_non_null(strstr(err.message, "no document has any of the words"));
    assert_status(GF_ENOTFOUND,
                  try_add(&f,
                          &GF_TOPIC_REQUEST(.name = GF_SLICE("cars"), .like = &nobody, .n_like = 1),
                          &err));
    assert_ok(
        gf_pin_label(f.store, fixture_place("c"), fixture_default(), 1, GF_SLICE("Sky"), &err));
    assert_status(GF_EEXISTS, add_words(&f, "sky", "planets", &err));
    assert_ok(add_words(&f, "cars", "engine brakes", &err));
    assert_status(GF_EEXISTS, add_words(&f, "CARS", "oil", &err));
    assert_status(GF_EEXISTS, gf_pin_label(f.store, fixture_place("c"), fixture_default(), 2,
                                           GF_SLICE("Cars"), &err));
    assert_status(GF_ENOTFOUND, try_delete(&f, "bikes", &err));
    /* Undoing a deletion needs the name. */
    assert_ok(try_delete(&f, "cars", &err));
    assert_ok(add_words(&f, "cars", "oil", &err));
    assert_status(GF_ECONFLICT, gf_edit_undo(f.store, fixture_place("c"), fixture_default(), 3,
                                             NULL, NULL, NULL, &err));
    rebuild(&f, 1, GF_START_FRESH);
    uint32_t cars = list(&f).at[0].cluster, other = place(&f, "008", NULL);
    gf_edit_request merge =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = other, .others = &cars, .n_others = 1);
    assert_status(GF_EINVAL, gf_edit_make(f.store, fixture_place("c"), fixture_default(), &merge,
                                          NULL, NULL, &err));
    assert_non_null(strstr(err.message, "is the topic"));
    fixture_close(&f);
}

/* Two deletions of a name undone in any order leave one topic of it, the later one. */
static void undone_deletions_leave_one_topic_of_a_name(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (int i = 0; i < 2; i++) {
        assert_ok(add_words(&f, "cars", i ? "oil" : "engine brakes", &err));
        assert_ok(try_delete(&f, "Cars", &err));
    }
    for (uint64_t number = 2; number <= 4; number += 2)
        assert_ok(gf_edit_undo(f.store, fixture_place("c"), fixture_default(), number, NULL, NULL,
                               NULL, &err));
    assert_int_equal(list(&f).n, 1);
    rebuild(&f, 1, GF_START_FRESH);
    assert_ok(
        gf_edit_undo(f.store, fixture_place("c"), fixture_default(), 3, NULL, NULL, NULL, &err));
    assert_int_equal(list(&f).n, 1);
    rebuild(&f, 1, GF_START_FRESH);
    fixture_close(&f);
}

static gf_status try_undo(fixture *f, uint64_t number, gf_error *err)
{
    return gf_edit_undo(f->store, fixture_place("c"), fixture_default(), number, NULL, NULL, NULL,
                        err);
}

/* A topic that comes back needs its name, and its cluster. */
static void a_deletion_is_undone_only_while_nobody_took_what_the_topic_had(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    assert_ok(add_words(&f, "Cars", "engine brakes car", &err));
    rebuild(&f, 1, GF_START_FRESH);
    uint32_t cars = list(&f).at[0].cluster, other = place(&f, "008", NULL);
    assert_ok(try_delete(&f, "Cars", &err));
    gf_edit_request merge =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = other, .others = &cars, .n_others = 1);
    assert_ok(
        gf_edit_make(f.store, fixture_place("c"), fixture_default(), &merge, NULL, NULL, &err));
    assert_status(GF_ECONFLICT, try_undo(&f, 2, &err));
    assert_non_null(strstr(err.message, "undo 3 first"));
    assert_ok(try_undo(&f, 3, &err));
    fixture_set(&f, "c", "default", "k", "3");
    rebuild(&f, 1, GF_START_FRESH);
    assert_ok(gf_pin_label(f.store, fixture_place("c"), fixture_default(), place(&f, "008", NULL),
                           GF_SLICE("cars"), &err));
    assert_status(GF_ECONFLICT, try_undo(&f, 2, &err));
    assert_non_null(strstr(err.message, "\"cars\""));
    assert_ok(try_undo(&f, 0, &err));
    assert_ok(try_undo(&f, 2, &err));
    rebuild(&f, 1, GF_START_FRESH);
    assert_int_equal(place(&f, "000", NULL), cars);
    assert_place(&f, "000", "Cars");
    /* A cluster that is gone cannot be renamed: what called it so can be undone. */
    uint32_t bread = place(&f, "004", NULL);
    other = place(&f, "008", NULL);
    assert_ok(
        gf_pin_label(f.store, fixture_place("c"), fixture_default(), other, GF_SLICE("Sky"), &err));
    merge =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = bread, .others = &other, .n_others = 1);
    assert_ok(
        gf_edit_make(f.store, fixture_place("c"), fixture_default(), &merge, NULL, NULL, &err));
    assert_status(GF_EEXISTS, add_words(&f, "sky", "planets", &err));
    assert_non_null(strstr(err.message, "undo 8 first"));
    assert_ok(try_undo(&f, 8, &err));
    assert_ok(add_words(&f, "sky", "planets", &err));
    fixture_close(&f);
}

/* What is merged into a topic goes there again; a topic that is cut is cut again. */
static void edits_of_a_topic_are_obeyed(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    assert_ok(add_words(&f, "cars", "engine brakes", &err));
    rebuild(&f, 1, GF_START_FRESH);
    uint32_t cars = place(&f, "000", NULL), other = place(&f, "008", NULL);
    gf_edit_request merge =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = cars, .others = &other, .n_others = 1);
    assert_ok(
        gf_edit_make(f.store, fixture_place("c"), fixture_default(), &merge, NULL, NULL, &err));
    fixture_put(&f, "c", "012", "an engine");
    rebuild(&f, 1, GF_START_FRESH);
    assert_int_equal(place(&f, "000", NULL), cars);
    assert_int_equal(place(&f, "008", NULL), cars);
    assert_true(place(&f, "004", NULL) != cars);
    assert_place(&f, "008", "cars");
    fixture_close(&f);
}

/* Most of its documents of before are elsewhere when a merge into it is taken back. */
static void a_topic_keeps_its_id_when_a_merge_into_it_is_undone(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    char id[8];
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "3");
    assert_ok(add_words(&f, "cars", "engine brakes", &err));
    rebuild(&f, 1, GF_START_FRESH);
    uint32_t cars = place(&f, "000", NULL), other = place(&f, "008", NULL);
    gf_edit_request merge =
        GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = cars, .others = &other, .n_others = 1);
    assert_ok(
        gf_edit_make(f.store, fixture_place("c"), fixture_default(), &merge, NULL, NULL, &err));
    rebuild(&f, 1, GF_START_SERVED);
    fixture_put(&f, "c", "012", "engine and brakes");
    for (int d = 0; d < 3; d++) {
        snprintf(id, sizeof id, "%03d", d);
        fixture_put(&f, "c", id, "bread dough with flour and yeast");
    }
    rebuild(&f, 1, GF_START_SERVED);
    assert_int_equal(place(&f, "012", NULL), cars);
    assert_ok(try_undo(&f, 2, &err));
    rebuild(&f, 1, GF_START_SERVED);
    assert_int_equal(place(&f, "012", NULL), cars);
    assert_place(&f, "012", "cars");
    assert_true(place(&f, "004", NULL) != cars);
    fixture_close(&f);
}

/* Its cluster has the topic's name until the rebuild that another topic of that name waits for. */
static void a_rename_is_undone_though_the_topic_was_added_again(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "2");
    assert_ok(add_words(&f, "cars", "engine brakes", &err));
    rebuild(&f, 1, GF_START_FRESH);
    uint32_t cars = place(&f, "000", NULL);
    assert_ok(try_delete(&f, "cars", &err));
    assert_ok(add_words(&f, "cars", "oil", &err));
    assert_ok(gf_pin_label(f.store, fixture_place("c"), fixture_default(), cars, GF_SLICE("autos"),
                           &err));
    assert_place(&f, "000", "autos");
    assert_ok(try_undo(&f, 0, &err));
    assert_place(&f, "000", "cars");
    assert_status(GF_EEXISTS, gf_pin_label(f.store, fixture_place("c"), fixture_default(),
                                           place(&f, "008", NULL), GF_SLICE("Cars"), &err));
    rebuild(&f, 1, GF_START_SERVED);
    assert_place(&f, "003", "cars");
    fixture_close(&f);
}

/* ---- random histories ------------------------------------------------------------------------ */

static const char *const names[] = {"cars", "baking", "sky", "Fruit", "Sea"};
static const char *const words[] = {"engine brakes car", "bread dough flour", "planets comet star",
                                    "apple pear plum", "boat sail harbour"};
enum { TOPICS = 5, STEPS = 40 };

typedef struct history {
    fixture f;
    gf_random random;
    uint32_t id[TOPICS]; /* of each topic while it holds; 0: no build had it */
    bool there[TOPICS];
    unsigned documents;
} history;

static uint32_t below(history *h, uint32_t bound)
{
    return (uint32_t)gf_random_below(&h->random, bound);
}

static void put_some(history *h)
{
    for (int i = 0; i < 6; i++) {
        char id[16], text[128];
        const char *of = words[below(h, TOPICS)];
        const char *also = words[below(h, TOPICS)];
        snprintf(id, sizeof id, "d%u", h->documents++);
        snprintf(text, sizeof text, "%s %.*s", of, (int)below(h, 12), also);
        fixture_put(&h->f, "c", id, text);
    }
}

static void change_topic(history *h)
{
    gf_error err;
    uint32_t t = below(h, TOPICS);
    if (h->there[t]) {
        assert_ok(try_delete(&h->f, names[t], &err));
        h->there[t] = false;
        if (below(h, 3) == 0) {
            assert_ok(gf_edit_undo(h->f.store, fixture_place("c"), fixture_default(), 0, NULL, NULL,
                                   NULL, &err));
            h->there[t] = true;
        }
        return;
    }
    gf_status st = add_words(&h->f, names[t], words[t], &err);
    if (st == GF_EINVAL) return; /* no document has the words */
    assert_ok(st);
    h->there[t] = true;
    h->id[t] = 0;
}

static gf_status look_at_cluster(void *context, const gf_cluster_info *c, gf_error *err)
{
    history *h = context;
    (void)err;
    for (int t = 0; t < TOPICS; t++) {
        bool called = gf_slice_equal(c->label, gf_slice_str(names[t]));
        if (h->there[t] && (called != (c->id == h->id[t])))
            fail_msg("cluster %u is called \"%.*s\", the topic \"%s\" has %u", c->id,
                     GF_SLICE_ARG(c->label), names[t], h->id[t]);
    }
    return GF_OK;
}

static void rebuild_and_look(history *h, bool only)
{
    gf_error err;
    gf_view *v;
    gf_rebuild_result result;
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.threads = 1 + below(h, 3), .force = true,
                           .start = below(h, 2) ? GF_START_FRESH : GF_START_SERVED);
    fixture_set(&h->f, "c", "default", "topics", only ? "only" : "auto");
    gf_status st = fixture_try_rebuild(&h->f, "c", &o, &result, &err);
    if (only && st == GF_EINVAL) return; /* there is no topic, or none that a document is near to */
    assert_ok(st);
    fixture_is_sound(&h->f);
    topics l = list(&h->f);
    assert_false(l.owed);
    size_t n = 0;
    for (int t = 0; t < TOPICS; t++) {
        if (!h->there[t]) continue;
        const topic *at = find(&l, names[t]);
        assert_true(at->lost[0] || at->documents);
        if (h->id[t]) assert_int_equal(at->cluster, h->id[t]);
        h->id[t] = at->cluster;
        n += !at->lost[0];
    }
    assert_ok(gf_view_open(h->f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_clusters(v, look_at_cluster, h, &err));
    if (only) assert_int_equal(gf_view_build(v)->k, n);
    gf_view_close(v);
}

static void topics_last_over_random_histories(void **state)
{
    (void)state;
    uint64_t seed = gf_test_seed();
    for (int round = 0; round < 4; round++) {
        history h = {.documents = 0};
        h.random = gf_random_seed(seed + (uint64_t)round, 1);
        fixture_open(&h.f);
        put_some(&h);
        fixture_set(&h.f, "c", "default", "k", "3");
        for (int s = 0; s < STEPS; s++) {
            uint32_t what = below(&h, 10);
            char id[16];
            if (what < 2) put_some(&h);
            if (what == 2) {
                snprintf(id, sizeof id, "d%u", below(&h, h.documents));
                fixture_delete(&h.f, "c", id);
            }
            if (what > 2 && what < 7) change_topic(&h);
            if (what >= 7) rebuild_and_look(&h, what == 9);
        }
        fixture_close(&h.f);
    }
}

static void threads_make_no_difference(void **state)
{
    (void)state;
    gf_buffer dump[2] = {{0}, {0}};
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    assert_ok(add_words(&f, "honey", "hive honey queen", &err));
    assert_ok(try_add(&f, &GF_TOPIC_REQUEST(.field = GF_SLICE("label")), &err));
    for (unsigned i = 0; i < 2; i++) {
        gf_rebuild_result result;
        int64_t builds[64];
        gf_rebuild_options o =
            GF_REBUILD_OPTIONS(.threads = 1 + 3 * i, .force = true, .start = GF_START_FRESH);
        if (i == 0) rebuild(&f, 1, GF_START_FRESH); /* ids are given */
        assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
        assert_true(fixture_builds(&f, "c", "default", builds) > 0);
        fixture_dump_build(&f, "c", "default", builds[0], &dump[i]);
    }
    assert_string_equal(gf_buffer_cstr(&dump[0]), gf_buffer_cstr(&dump[1]));
    gf_buffer_release(&dump[0]);
    gf_buffer_release(&dump[1]);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_topic_takes_its_documents_and_keeps_its_id),
        cmocka_unit_test(words_are_in_the_language_of_the_documents),
        cmocka_unit_test(topics_alone_leave_the_rest_unplaced),
        cmocka_unit_test(examples_are_in_their_topic),
        cmocka_unit_test(the_last_move_says_what_is_an_example),
        cmocka_unit_test(values_of_a_field_are_topics),
        cmocka_unit_test(parts_of_a_topic_are_not_called_as_it_is),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(undone_deletions_leave_one_topic_of_a_name),
        cmocka_unit_test(a_deletion_is_undone_only_while_nobody_took_what_the_topic_had),
        cmocka_unit_test(edits_of_a_topic_are_obeyed),
        cmocka_unit_test(a_topic_keeps_its_id_when_a_merge_into_it_is_undone),
        cmocka_unit_test(a_rename_is_undone_though_the_topic_was_added_again),
        cmocka_unit_test(topics_last_over_random_histories),
        cmocka_unit_test(threads_make_no_difference),
    };
    return cmocka_run_group_tests_name("topics", tests, NULL, NULL);
}

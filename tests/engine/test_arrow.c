/* Arrow's C data interface: documents in, results out, and arrays that are not as they say. */
#include "tests/engine/arrow_fixture.h"

#include "base/memory.h"
#include "grouperfish/matrix.h"

#include <inttypes.h>
#include <math.h>

static const char *const six[] = {"red apple", "red apple pie", "apple pie red",
                                  "blue sea",  "sea so blue",   "blue sea wave"};

typedef struct table {
    arrow_given given;
    arrow_texts text, id, who;
    int64_t number[16];
    double weight[16];
    unsigned char flag[4];
    int64_t time[16];
} table;

/* Six rows: id (int64), text, when (milliseconds), who, weight, good. */
static arrow_given *fill_table(table *t)
{
    static const char *const who[] = {"ann", NULL, "bo", "cy", "di", "ed"};
    *t = (table){.flag = {0x15}, .weight = {1.5, NAN, 3, 4, 5, 6}};
    for (int64_t i = 0; i < 6; i++) {
        t->number[i] = 100 + i;
        t->time[i] = 1700000000000 + i * 1000;
    }
    t->given = (arrow_given){.n_columns = 6, .rows = 6, .batches = 1};
    arrow_column *c = t->given.columns;
    c[0] =
        (arrow_column){.format = "l", .name = "id", .n_buffers = 2, .buffers = {NULL, t->number}};
    c[1] = arrow_texts_column(&t->text, "text", six, 6);
    c[2] = (arrow_column){
        .format = "tsm:", .name = "when", .n_buffers = 2, .buffers = {NULL, t->time}};
    c[3] = arrow_texts_column(&t->who, "who", who, 6);
    c[4] = (arrow_column){
        .format = "g", .name = "weight", .n_buffers = 2, .buffers = {NULL, t->weight}};
    c[5] =
        (arrow_column){.format = "b", .name = "good", .n_buffers = 2, .buffers = {NULL, t->flag}};
    arrow_given_open(&t->given);
    return &t->given;
}

static const gf_arrow_options by_id = {
    .version = GF_ARROW_OPTIONS_VERSION, .id = "id", .time = "when"};

static gf_status put_given(fixture *f, arrow_given *g, const gf_arrow_options *o,
                           gf_arrow_counts *counts, gf_error *err)
{
    gf_status st = gf_arrow_put(f->store, fixture_place("c"), &g->stream, o, counts, err);
    arrow_given_check(g);
    return st;
}

static gf_status note_document(void *context, const gf_document *d, gf_error *err)
{
    gf_buffer *b = context;
    gf_buffer_format(b, "%.*s|%.*s|%.*s", GF_SLICE_ARG(d->id), GF_SLICE_ARG(d->text),
                     GF_SLICE_ARG(d->time));
    for (size_t i = 0; i < d->n_fields; i++)
        gf_buffer_format(b, "|%.*s=%.*s", GF_SLICE_ARG(d->fields[i].name),
                         GF_SLICE_ARG(d->fields[i].json));
    gf_buffer_byte(b, '\n');
    return gf_buffer_check(b, err);
}

static void assert_documents(fixture *f, const char *expected)
{
    gf_error err;
    gf_buffer found = {0};
    assert_ok(gf_documents_visit(f->store, fixture_place("c"), note_document, &found, &err));
    assert_string_equal(gf_buffer_cstr(&found), expected);
    gf_buffer_release(&found);
}

static void types_of_columns(void **state)
{
    (void)state;
    fixture f;
    table t;
    gf_error err;
    gf_arrow_counts counts;
    fixture_open(&f);
    assert_ok(put_given(&f, fill_table(&t), &by_id, &counts, &err));
    assert_int_equal(counts.rows, 6);
    assert_int_equal(counts.put.created, 6);
    assert_documents(&f,
                     "100|red apple|\"2023-11-14T22:13:20Z\"|good=true|weight=1.5|who=\"ann\"\n"
                     "101|red apple pie|\"2023-11-14T22:13:21Z\"|good=false\n"
                     "102|apple pie red|\"2023-11-14T22:13:22Z\"|good=true|weight=3|who=\"bo\"\n"
                     "103|blue sea|\"2023-11-14T22:13:23Z\"|good=false|weight=4|who=\"cy\"\n"
                     "104|sea so blue|\"2023-11-14T22:13:24Z\"|good=true|weight=5|who=\"di\"\n"
                     "105|blue sea wave|\"2023-11-14T22:13:25Z\"|good=false|weight=6|who=\"ed\"\n");
    assert_ok(put_given(&f, fill_table(&t), &by_id, &counts, &err));
    assert_int_equal(counts.put.unchanged, 6);
    fixture_close(&f);
}

static void offsets_and_several_batches(void **state)
{
    (void)state;
    fixture f;
    table t;
    gf_error err;
    gf_arrow_counts counts;
    gf_arrow_options o = GF_ARROW_OPTIONS(.first_id = 7, .no_fields = true);
    fixture_open(&f);
    arrow_given *g = fill_table(&t);
    g->columns[1].offset = 2;
    g->rows = 3;
    g->batches = 2;
    arrow_given_open(g);
    assert_ok(put_given(&f, g, &o, &counts, &err));
    assert_int_equal(counts.put.created, 6);
    assert_documents(&f,
                     "0000000007|apple pie red|\n0000000008|blue sea|\n0000000009|sea so blue|\n"
                     "0000000010|apple pie red|\n0000000011|blue sea|\n0000000012|sea so blue|\n");
    fixture_close(&f);
}

/* A dictionary, views (short, long and null), a list, a date, unsigned and small integers. */
static void nested_and_encoded_columns(void **state)
{
    (void)state;
    static const char *const words[] = {"red apple", "blue sea"};
    static const char far[] = "a text of more than twelve bytes";
    fixture f;
    arrow_texts dictionary;
    gf_error err;
    gf_arrow_counts counts;
    const int8_t index[] = {1, 0, 1};
    const int32_t days[] = {0, 19000, -1}, list_at[] = {0, 2, 2, 3};
    const uint64_t large[] = {UINT64_MAX, 1, 2};
    const float items[] = {0.5f, 1, 2};
    const int64_t lengths[] = {sizeof far - 1};
    char views[48] = {0};
    int32_t head[4] = {sizeof far - 1, 0, 0, 0};
    const unsigned char valid[] = {0x03};
    memcpy(head + 1, far, 4);
    memcpy(views, head, sizeof head);
    views[16] = 5;
    memcpy(views + 20, "short", 5);
    fixture_open(&f);
    arrow_column dictionary_column = arrow_texts_column(&dictionary, "", words, 2);
    arrow_column item_column = {
        .format = "f", .name = "item", .n_buffers = 2, .buffers = {NULL, items}, .length = 3};
    arrow_given g = {
        .n_columns = 5,
        .rows = 3,
        .batches = 1,
        .columns = {{.format = "c",
                     .name = "text",
                     .n_buffers = 2,
                     .buffers = {NULL, index},
                     .dictionary = &dictionary_column},
                    {.format = "vu",
                     .name = "view",
                     .null_count = 1,
                     .n_buffers = 4,
                     .buffers = {valid, views, far, lengths}},
                    {.format = "tdD", .name = "day", .n_buffers = 2, .buffers = {NULL, days}},
                    {.format = "L", .name = "large", .n_buffers = 2, .buffers = {NULL, large}},
                    {.format = "+l",
                     .name = "vector",
                     .n_buffers = 2,
                     .buffers = {NULL, list_at},
                     .child = &item_column}}};
    arrow_given_open(&g);
    assert_ok(put_given(&f, &g, &GF_ARROW_OPTIONS(.time = "day"), &counts, &err));
    assert_documents(&f,
                     "0000000000|blue sea|\"1970-01-01\"|large=18446744073709551615|vector=[0.5,1]"
                     "|view=\"a text of more than twelve bytes\"\n"
                     "0000000001|red apple|\"2022-01-08\"|large=1|vector=[]|view=\"short\"\n"
                     "0000000002|blue sea|\"1969-12-31\"|large=2|vector=[2]\n");
    fixture_close(&f);
}

/* ---- what is refused ------------------------------------------------------------------------- */

typedef struct refusals {
    gf_buffer text;
    bool stops;
} refusals;

static gf_status note_refused(void *context, uint64_t row, const char *reason, const char *message,
                              gf_error *err)
{
    refusals *r = context;
    gf_buffer_format(&r->text, "%" PRIu64 " %s: %s\n", row, reason, message);
    return r->stops ? gf_fail(err, GF_EINVAL, "that is enough") : gf_buffer_check(&r->text, err);
}

static arrow_given *fill_bad_rows(table *t)
{
    static const char *const texts[] = {"good", NULL, "bad \xFF", "good too"};
    static const char *const ids[] = {"a", "b", "c", NULL};
    *t = (table){.given = {.n_columns = 2, .rows = 4, .batches = 1}};
    t->given.columns[0] = arrow_texts_column(&t->id, "id", ids, 4);
    t->given.columns[1] = arrow_texts_column(&t->text, "text", texts, 4);
    arrow_given_open(&t->given);
    return &t->given;
}

static void rows_that_are_no_documents(void **state)
{
    (void)state;
    fixture f;
    table t;
    gf_error err;
    gf_arrow_counts counts;
    refusals r = {.stops = false};
    gf_arrow_options o = GF_ARROW_OPTIONS(.id = "id", .refused = note_refused, .context = &r);
    fixture_open(&f);
    assert_ok(put_given(&f, fill_bad_rows(&t), &o, &counts, &err));
    assert_int_equal(counts.rows, 4);
    assert_int_equal(counts.refused, 3);
    assert_int_equal(counts.put.created, 1);
    assert_non_null(strstr(gf_buffer_cstr(&r.text), "1 no_text: column \"text\" is null\n"));
    assert_non_null(strstr(gf_buffer_cstr(&r.text), "2 bad_value: "));
    assert_non_null(strstr(gf_buffer_cstr(&r.text), "3 no_id: column \"id\" is null\n"));
    r.stops = true;
    assert_status(GF_EINVAL, put_given(&f, fill_bad_rows(&t), &o, &counts, &err));
    assert_string_equal(err.message, "that is enough");
    o.refused = NULL;
    assert_status(GF_EINVAL, put_given(&f, fill_bad_rows(&t), &o, &counts, &err));
    assert_string_equal(err.message, "row 1: column \"text\" is null");
    gf_buffer_release(&r.text);
    fixture_close(&f);
}

/* A call that fails with these words, after which all was released. */
static void assert_fails(fixture *f, arrow_given *g, gf_arrow_options o, const char *words)
{
    gf_error err = {GF_OK, ""};
    arrow_given_open(g);
    gf_status st = put_given(f, g, &o, NULL, &err);
    if (st != GF_EINVAL || !strstr(err.message, words))
        fail_msg("%s: %s, not %s", gf_status_name(st), err.message, words);
}

static void columns_that_do_not_do(void **state)
{
    (void)state;
    fixture f;
    table t;
    fixture_open(&f);
    arrow_given *g = fill_table(&t);
    assert_fails(&f, g, GF_ARROW_OPTIONS(.id = "ticket"),
                 "there is no column \"ticket\"; columns found: id, text, when, who, weight, good");
    assert_fails(&f, g, GF_ARROW_OPTIONS(.text = "weight"),
                 "has the type double: texts are strings");
    assert_fails(&f, g, GF_ARROW_OPTIONS(.id = "weight"), "ids are strings or whole numbers");
    assert_fails(&f, g, GF_ARROW_OPTIONS(.time = "good"), "times are timestamps");
    assert_fails(&f, g, GF_ARROW_OPTIONS(.language = "id"), "languages are strings");
    g->columns[5].name = "who";
    assert_fails(&f, g, by_id, "two columns are called \"who\"");
    g->columns[5].name = "";
    assert_fails(&f, g, by_id, "a column has no name");
    g->columns[5] = (arrow_column){.format = "d:10,2", .name = "price", .n_buffers = 2};
    assert_fails(&f, g, by_id, "Arrow's \"d:10,2\"");
    gf_arrow_options none = by_id;
    none.version = 0;
    assert_fails(&f, g, none, "version");
    assert_int_equal(gf_collection_read(f.store, fixture_place("c"), NULL, NULL, NULL),
                     GF_ENOTFOUND);
    fixture_close(&f);
}

/* Arrays whose numbers cannot be: nothing is read beyond what is there. */
static void arrays_that_are_not_sound(void **state)
{
    (void)state;
    fixture f;
    table t;
    fixture_open(&f);
    arrow_given *g = fill_table(&t);
    g->wrong_children = -1;
    assert_fails(&f, g, by_id, "not as its schema says");
    g->wrong_children = 0;
    g->columns[1].n_buffers = 2;
    assert_fails(&f, g, by_id, "its number of buffers");
    g->columns[1].n_buffers = 3;
    g->columns[1].buffers[1] = NULL;
    assert_fails(&f, g, by_id, "it has no offsets");
    g->columns[1].buffers[1] = t.text.offsets;
    t.text.offsets[3] = -5;
    assert_fails(&f, g, by_id, "its offsets fall");
    g = fill_table(&t);
    g->columns[1].buffers[2] = NULL;
    assert_fails(&f, g, by_id, "offsets and no bytes");
    g = fill_table(&t);
    g->columns[0].offset = -1;
    assert_fails(&f, g, by_id, "its length or offset");
    g->columns[0].offset = INT64_MAX;
    assert_fails(&f, g, by_id, "its length or offset");
    g->columns[0].offset = 0;
    g->columns[0].buffers[1] = NULL;
    assert_fails(&f, g, by_id, "it has no values");
    g = fill_table(&t);
    t.time[2] = INT64_MAX;
    assert_fails(&f, g, by_id, "row 2: column \"when\" is not of the years 1 to 9999");
    const int64_t wrong[] = {0, 1, 2, 0, 1, 9};
    g = fill_table(&t);
    arrow_column dictionary = arrow_texts_column(&t.id, "", six, 3);
    g->columns[3] = (arrow_column){.format = "l",
                                   .name = "who",
                                   .n_buffers = 2,
                                   .buffers = {NULL, wrong},
                                   .dictionary = &dictionary};
    assert_fails(&f, g, by_id, "an index is beyond its dictionary");
    char views[6 * 16] = {0};
    const int32_t outside[4] = {100, 0, 0, 50};
    const int64_t lengths[] = {4};
    memcpy(views + 32, outside, sizeof outside);
    g->columns[3] = (arrow_column){
        .format = "vu", .name = "who", .n_buffers = 4, .buffers = {NULL, views, "abcd", lengths}};
    assert_fails(&f, g, by_id, "a string lies outside of its buffers");
    arrow_column item = {
        .format = "l", .name = "item", .n_buffers = 2, .buffers = {NULL, wrong}, .length = 6};
    g->columns[3] = (arrow_column){.format = "+w:2", .name = "who", .n_buffers = 1, .child = &item};
    assert_fails(&f, g, by_id, "its length or offset");
    fixture_close(&f);
}

static void streams_that_fail(void **state)
{
    (void)state;
    fixture f;
    table t;
    gf_error err;
    gf_cancel cancel = {1};
    gf_arrow_options o = by_id;
    fixture_open(&f);
    arrow_given *g = fill_table(&t);
    g->fails_at = 2;
    assert_status(GF_EIO, put_given(&f, g, &by_id, NULL, &err));
    assert_string_equal(err.message, "the Arrow stream: the cable is cut");
    assert_status(GF_EINVAL, gf_arrow_put(f.store, fixture_place("c"), &g->stream, &o, NULL, &err));
    g->fails_at = 0;
    o.cancel = &cancel;
    arrow_given_open(g);
    assert_status(GF_ECANCELLED, put_given(&f, g, &o, NULL, &err));
    fixture_close(&f);
}

/* ---- results --------------------------------------------------------------------------------- */

typedef struct taken {
    struct ArrowSchema schema;
    struct ArrowArray array;
} taken;

static taken take_all(struct ArrowArrayStream *s)
{
    taken t;
    struct ArrowArray end;
    assert_int_equal(s->get_schema(s, &t.schema), 0);
    assert_int_equal(s->get_next(s, &t.array), 0);
    assert_int_equal(s->get_next(s, &end), 0);
    assert_null(end.release);
    s->release(s);
    assert_null(s->release);
    return t;
}

static void release_taken(taken *t)
{
    t->schema.release(&t->schema);
    t->array.release(&t->array);
}

static void build_six(fixture *f)
{
    table t;
    gf_error err;
    assert_ok(put_given(f, fill_table(&t), &by_id, NULL, &err));
    fixture_put(f, "c", "106", "");
    fixture_set(f, "c", "default", "k", "2");
    fixture_rebuild(f, "c");
}

static void memberships_are_those_of_the_view(void **state)
{
    (void)state;
    static const char *const names[] = {"id",        "cluster",         "label",   "score",
                                        "runner_up", "runner_up_score", "replaced"};
    static const char *const formats[] = {"U", "I", "i", "f", "I", "f", "b"};
    fixture f;
    gf_view *view;
    gf_error err;
    struct ArrowArrayStream out;
    fixture_open(&f);
    build_six(&f);
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_arrow_memberships(view, NULL, &out, &err));
    taken t = take_all(&out);
    assert_int_equal(t.array.length, 7);
    assert_int_equal(t.array.n_children, 7);
    for (int i = 0; i < 7; i++) {
        assert_string_equal(t.schema.children[i]->name, names[i]);
        assert_string_equal(t.schema.children[i]->format, formats[i]);
        assert_int_equal(t.array.children[i]->length, 7);
    }
    const int64_t *id_at = t.array.children[0]->buffers[1];
    const char *ids = t.array.children[0]->buffers[2];
    const uint32_t *cluster = t.array.children[1]->buffers[1];
    const float *score = t.array.children[3]->buffers[1];
    const int32_t *label = t.array.children[2]->buffers[1];
    const struct ArrowArray *labels = t.array.children[2]->dictionary;
    assert_string_equal(t.schema.children[2]->dictionary->format, "U");
    for (int i = 0; i < 7; i++) {
        gf_membership m;
        gf_slice id = gf_slice_of(ids + id_at[i], (size_t)(id_at[i + 1] - id_at[i]));
        assert_ok(gf_view_membership(view, id, &m, &err));
        assert_int_equal(cluster[i], m.cluster);
        assert_true(score[i] == m.score);
        if (!m.cluster) continue;
        const int64_t *at = labels->buffers[1];
        gf_slice name = gf_slice_of((const char *)labels->buffers[2] + at[label[i]],
                                    (size_t)(at[label[i] + 1] - at[label[i]]));
        assert_true(gf_slice_equal(name, m.label));
    }
    assert_int_equal(cluster[6], 0);
    assert_int_equal(t.array.children[1]->null_count, 1);
    assert_int_equal(((const unsigned char *)t.array.children[1]->buffers[0])[0] & 0x7F, 0x3F);
    gf_view_close(view);
    /* A column that was moved out lasts beyond the others. */
    struct ArrowArray moved = *t.array.children[1];
    t.array.children[1]->release = NULL;
    release_taken(&t);
    assert_int_equal(((const uint32_t *)moved.buffers[1])[6], 0);
    moved.release(&moved);
    fixture_close(&f);
}

static void texts_are_assigned(void **state)
{
    (void)state;
    static const char *const texts[] = {"an apple", NULL, "zebra", "the sea"};
    fixture f;
    gf_view *view;
    gf_error err;
    arrow_texts t;
    refusals r = {.stops = false};
    struct ArrowArrayStream out;
    gf_arrow_options o = GF_ARROW_OPTIONS(.refused = note_refused, .context = &r);
    arrow_given g = {.n_columns = 1, .rows = 4, .batches = 2};
    fixture_open(&f);
    build_six(&f);
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    g.columns[0] = arrow_texts_column(&t, NULL, texts, 4); /* a plain column of strings */
    arrow_given_open(&g);
    assert_ok(gf_arrow_assign(view, &g.stream, &o, 1, &out, &err));
    arrow_given_check(&g);
    assert_string_equal(gf_buffer_cstr(&r.text),
                        "1 no_text: the text is null\n5 no_text: the text is null\n");
    taken found = take_all(&out);
    assert_int_equal(found.array.length, 8);
    const uint32_t *cluster = found.array.children[0]->buffers[1];
    const float *score = found.array.children[2]->buffers[1];
    for (int i = 0; i < 4; i++) {
        gf_membership m = {0};
        if (texts[i])
            assert_ok(gf_view_assign(view, (gf_slice){0}, gf_slice_str(texts[i]), &m, &err));
        assert_int_equal(cluster[i], m.cluster);
        assert_int_equal(cluster[4 + i], m.cluster);
        assert_true(score[i] == (m.cluster ? m.score : 0));
    }
    assert_int_equal(cluster[2], 0);
    assert_int_equal(found.array.n_children, 10);
    const uint64_t *size = found.array.children[5]->buffers[1];
    assert_string_equal(found.schema.children[5]->name, "size");
    assert_int_equal(size[0], gf_view_cluster_size(view, cluster[0]));
    assert_int_equal(size[2], 0);
    assert_int_equal(found.array.children[6]->null_count, 8); /* nobody has set a status */
    release_taken(&found);

    arrow_given_open(&g);
    assert_ok(gf_arrow_similarities(view, &g.stream, &o, 1, &out, &err));
    arrow_given_check(&g);
    taken similar = take_all(&out);
    assert_string_equal(similar.schema.children[0]->format, "+w:2");
    assert_int_equal(similar.array.children[0]->children[0]->length, 16);
    const float *value = similar.array.children[0]->children[0]->buffers[1];
    for (int i = 0; i < 4; i++) {
        gf_membership m = {0};
        if (!texts[i]) continue;
        assert_ok(gf_view_assign(view, (gf_slice){0}, gf_slice_str(texts[i]), &m, &err));
        float best = value[2 * i] > value[2 * i + 1] ? value[2 * i] : value[2 * i + 1];
        assert_near(best, m.cluster ? m.score : 0, 1e-6);
    }
    release_taken(&similar);
    g.columns[0].format = "g";
    g.columns[0].n_buffers = 2;
    arrow_given_open(&g);
    assert_status(GF_EINVAL, gf_arrow_assign(view, &g.stream, &o, 1, &out, &err));
    arrow_given_check(&g);
    gf_view_close(view);
    gf_buffer_release(&r.text);
    fixture_close(&f);
}

static void centres_are_those_of_the_matrix(void **state)
{
    (void)state;
    fixture f;
    gf_view *view;
    gf_error err;
    gf_build_matrix whole, centres;
    fixture_open(&f);
    build_six(&f);
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_read_matrix(view, NULL, &whole, &err));
    assert_ok(gf_view_read_centres(view, &centres, &err));
    assert_int_equal(centres.rows.n_rows, 0);
    assert_int_equal(centres.n_clusters, whole.n_clusters);
    assert_int_equal(centres.centroids.n_cols, whole.centroids.n_cols);
    uint64_t n = gf_csr_nnz(&whole.centroids);
    assert_int_equal(gf_csr_nnz(&centres.centroids), n);
    assert_memory_equal(centres.centroids.val, whole.centroids.val, n * sizeof(float));
    assert_memory_equal(centres.centroids.col, whole.centroids.col, n * sizeof(uint32_t));
    gf_build_matrix_release(&whole);
    gf_build_matrix_release(&centres);
    gf_view_close(view);
    fixture_close(&f);
}

/* ---- every n-th allocation fails ------------------------------------------------------------- */

typedef struct sweeping {
    fixture f;
    gf_view *view;
    bool similar;
} sweeping;

static gf_status sweep_put(void *context, gf_error *err)
{
    sweeping *s = context;
    table t;
    gf_arrow_counts counts;
    return put_given(&s->f, fill_table(&t), &by_id, &counts, err);
}

static gf_status sweep_memberships(void *context, gf_error *err)
{
    sweeping *s = context;
    struct ArrowArrayStream out;
    gf_status st = gf_arrow_memberships(s->view, NULL, &out, err);
    if (st == GF_OK) out.release(&out);
    return st;
}

static gf_status sweep_assign(void *context, gf_error *err)
{
    sweeping *s = context;
    arrow_texts t;
    struct ArrowArrayStream out;
    gf_arrow_options o = GF_ARROW_OPTIONS(.text = "text");
    arrow_given g = {.n_columns = 1, .rows = 6, .batches = 1};
    g.columns[0] = arrow_texts_column(&t, "text", six, 6);
    arrow_given_open(&g);
    gf_status st = s->similar ? gf_arrow_similarities(s->view, &g.stream, &o, 1, &out, err)
                              : gf_arrow_assign(s->view, &g.stream, &o, 1, &out, err);
    arrow_given_check(&g);
    if (st == GF_OK) out.release(&out);
    return st;
}

static void allocations_that_fail(void **state)
{
    (void)state;
    sweeping s = {.similar = false};
    gf_error err;
    fixture_open(&s.f);
    build_six(&s.f);
    gf_test_sweep(sweep_put, NULL, &s);
    assert_ok(gf_view_open(s.f.store, fixture_place("c"), fixture_default(), 0, &s.view, &err));
    gf_test_sweep(sweep_memberships, NULL, &s);
    gf_test_sweep(sweep_assign, NULL, &s);
    s.similar = true;
    gf_test_sweep(sweep_assign, NULL, &s);
    gf_view_close(s.view);
    fixture_close(&s.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(types_of_columns),
                                       cmocka_unit_test(offsets_and_several_batches),
                                       cmocka_unit_test(nested_and_encoded_columns),
                                       cmocka_unit_test(rows_that_are_no_documents),
                                       cmocka_unit_test(columns_that_do_not_do),
                                       cmocka_unit_test(arrays_that_are_not_sound),
                                       cmocka_unit_test(streams_that_fail),
                                       cmocka_unit_test(memberships_are_those_of_the_view),
                                       cmocka_unit_test(texts_are_assigned),
                                       cmocka_unit_test(centres_are_those_of_the_matrix),
                                       cmocka_unit_test(allocations_that_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

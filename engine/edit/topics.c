/* Topics added, deleted and listed: facts beside the collection, which the next rebuild obeys. */
#include "engine/edit/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "engine/config/settings.h"
#include "engine/rows/document_row.h"
#include "engine/rows/scan.h"
#include "engine/store/collections.h"
#include "engine/store/hold.h"
#include "grouperfish/state.h"
#include "grouperfish/topics.h"
#include "vectorize/rows/vectorizer.h"
#include "vectorize/text/detect.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    MOST_VALUES = 200,
    MOST_LIKE = GF_EDIT_WITNESSES,
    SAMPLE = 100, /* documents whose language is looked at */
    SAMPLE_BYTES = 1000
};

/* ---- values of a field ----------------------------------------------------------------------- */

typedef struct value_walk {
    gf_slice field;
    gf_json_parser *parser;
    gf_strings values;
} value_walk;

static gf_status take_value(void *context, const gf_document *d, gf_error *err)
{
    value_walk *w = context;
    gf_slice value;
    uint32_t number;
    gf_status st = gf_document_row_value(d, w->field, w->parser, &value, err);
    if (st == GF_OK && value.len) st = gf_strings_add(&w->values, value, &number, NULL, err);
    if (st == GF_OK && w->values.n > MOST_VALUES)
        st = gf_fail(err, GF_ELIMIT,
                     "the field \"%.*s\" has more than %d values: name the one that is a topic",
                     GF_SLICE_ARG(w->field), MOST_VALUES);
    return st;
}

static int by_bytes(const void *a, const void *b)
{
    return gf_slice_compare(*(const gf_slice *)a, *(const gf_slice *)b);
}

static bool is_listed(const gf_slice *names, size_t n, gf_slice name)
{
    bool any = false;
    for (size_t i = 0; i < n; i++)
        any = any || gf_utf8_same_letters(names[i], name);
    return any;
}

/* The names of the topics that a field makes, each once in whatever case, in the arena. */
static gf_status list_values(gf_store *store, gf_place where, const gf_topic_request *r,
                             gf_arena *memory, gf_slice **names, size_t *n, gf_error *err)
{
    value_walk w = {.field = r->field};
    gf_status st = gf_json_parser_create(&w.parser, err);
    gf_strings_init(&w.values);
    if (st == GF_OK) st = gf_documents_visit(store, where, take_value, &w, err);
    if (st == GF_OK && w.values.n == 0)
        st = gf_fail(err, GF_ENOTFOUND, "no document has a field \"%.*s\"", GF_SLICE_ARG(r->field));
    gf_slice *list = gf_arena_alloc(memory, (w.values.n + 1) * sizeof *list);
    if (st == GF_OK && !list) st = gf_fail_memory(err, "topics");
    *n = 0;
    for (uint32_t i = 0; i < w.values.n && st == GF_OK; i++) {
        list[i] = gf_arena_copy(memory, gf_strings_at(&w.values, i));
        if (!list[i].ptr) st = gf_fail_memory(err, "topics");
    }
    if (st == GF_OK) qsort(list, w.values.n, sizeof *list, by_bytes);
    for (uint32_t i = 0; i < w.values.n && st == GF_OK; i++)
        if (!is_listed(list, *n, list[i])) list[(*n)++] = list[i];
    if (st == GF_OK && r->name.len && !is_listed(list, *n, r->name))
        st = gf_fail(err, GF_ENOTFOUND, "no document has \"%.*s\" in its field \"%.*s\"",
                     GF_SLICE_ARG(r->name), GF_SLICE_ARG(r->field));
    if (st == GF_OK && r->name.len) {
        list[0] = r->name;
        *n = 1;
    }
    *names = list;
    gf_strings_release(&w.values);
    gf_json_parser_free(w.parser);
    return st;
}

/* ---- what a topic may be --------------------------------------------------------------------- */

static gf_status check_request(const gf_topic_request *r, gf_error *err)
{
    gf_status st = gf_options_check(r->version, GF_TOPIC_REQUEST_VERSION, "gf_topic_request", err);
    if (st == GF_OK && !r->name.len && !r->field.len)
        st = gf_fail(err, GF_EINVAL, "a topic has a name");
    if (st == GF_OK && !r->words.len && !r->n_like && !r->field.len)
        st = gf_fail(err, GF_EINVAL,
                     "nothing describes the topic \"%.*s\": give words, ids of documents that are "
                     "like it, or a field",
                     GF_SLICE_ARG(r->name));
    if (st == GF_OK && !r->name.len && (r->words.len || r->n_like))
        st = gf_fail(err, GF_EINVAL, "words and examples are of one topic: give its name");
    if (st == GF_OK && r->n_like > MOST_LIKE)
        st = gf_fail(err, GF_ELIMIT, "a topic has at most %d examples by id: give a field instead",
                     MOST_LIKE);
    if (st == GF_OK) st = gf_edit_check_text(r->words, "topic's words", GF_EDIT_MOST_TEXT, err);
    if (st == GF_OK) st = gf_edit_check_text(r->by, "name", GF_EDIT_MOST_LABEL, err);
    return st == GF_OK ? gf_edit_check_text(r->reason, "reason", GF_EDIT_MOST_TEXT, err) : st;
}

static gf_status check_name(const gf_editing *e, gf_slice name, gf_error *err)
{
    gf_status st = gf_edit_check_text(name, "topic's name", GF_EDIT_MOST_LABEL, err);
    if (st == GF_OK) st = gf_edit_check_label(name, err);
    if (st == GF_OK && gf_edits_find_topic(&e->edits, name) < e->edits.n)
        st = gf_fail(err, GF_EEXISTS, "there is a topic \"%.*s\" already", GF_SLICE_ARG(name));
    return st == GF_OK ? gf_edit_check_pinned(e, name, 0, GF_EEXISTS, err) : st;
}

static gf_status check_like(const gf_editing *e, gf_slice id, gf_error *err)
{
    gf_buffer key = {0};
    bool there = false;
    gf_tables_document_key(&key, e->where.name_space, e->where.collection, id);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_scan_finds(e->store->tables.documents, NULL, GF_DOCUMENTS_MAIN,
                           gf_buffer_view(&key), &there, err);
    gf_buffer_release(&key);
    if (st == GF_OK && !there)
        st = gf_fail(err, GF_ENOTFOUND, "there is no document \"%.*s\"", GF_SLICE_ARG(id));
    return st;
}

typedef struct text_sample {
    gf_arena memory;
    gf_slice text[SAMPLE]; /* n: beginnings */
    size_t n;
} text_sample;

static gf_status take_text(void *context, const gf_document *d, gf_error *err)
{
    text_sample *s = context;
    gf_slice text = d->text;
    if (s->n == SAMPLE) return gf_fail(NULL, GF_ELIMIT, "enough");
    if (text.len > SAMPLE_BYTES) text.len = SAMPLE_BYTES;
    s->text[s->n] = gf_arena_copy(&s->memory, text);
    return s->text[s->n++].ptr ? GF_OK : gf_fail_memory(err, "documents");
}

/* The language that most documents are in, else that of the words themselves; NULL: none is told. */
static gf_status guess_language(const gf_editing *e, gf_slice words, const gf_language **language,
                                gf_error *err)
{
    text_sample *s = gf_calloc(1, sizeof *s);
    gf_dominance most = {.language = NULL};
    gf_detection own = {.language = NULL};
    if (!s) return gf_fail_memory(err, "documents");
    gf_status st = gf_documents_visit(e->store, e->where, take_text, s, err);
    if (st == GF_ELIMIT) st = GF_OK;
    if (st == GF_OK) st = gf_dominant_language(s->text, s->n, NULL, &most, NULL, err);
    if (st == GF_OK && !most.language) st = gf_language_detect(words, &own, err);
    *language = most.language ? most.language : own.language;
    gf_arena_release(&s->memory);
    gf_free(s);
    return st;
}

/* Whether a text has a term, of however many documents, by the settings of the next rebuild. */
static gf_status has_terms(const gf_editing *e, gf_slice words, bool *has, gf_error *err)
{
    gf_settings_map map = {0};
    gf_resolved r;
    gf_vectorizer *vectorizer = NULL;
    gf_vectors rows = {0};
    gf_text texts[] = {{.text = words},
                       {.text = GF_SLICE("zyzzyva")}}; /* what all have is no term */
    gf_status st =
        gf_configuration_load(e->store, NULL, e->where, &e->row, e->configuration, &map, err);
    if (st == GF_OK) st = gf_settings_resolve(&map, e->configuration, &r, err);
    if (st == GF_OK) {
        r.vectorizer.min_df = (gf_df_limit){.kind = GF_DF_COUNT, .count = 1};
        r.vectorizer.max_df = (gf_df_limit){.kind = GF_DF_SHARE, .share = 1};
        r.vectorizer.max_terms = 0;
        texts[0].language = r.vectorizer.analysis.language;
        if (r.detect) st = guess_language(e, words, &texts[0].language, err);
    }
    if (st == GF_OK) st = gf_vectorizer_create(&r.vectorizer, NULL, &vectorizer, err);
    if (st == GF_OK) st = gf_vectorizer_add(vectorizer, texts, 2, NULL, err);
    if (st == GF_OK) st = gf_vectorizer_finish(vectorizer, &rows, NULL, err);
    *has = st == GF_OK && rows.kind[0] == GF_ROW_PLAIN;
    gf_vectorizer_free(vectorizer);
    gf_vectors_release(&rows);
    gf_settings_map_release(&map);
    return st;
}

/*
 * Words that are all stop words, and words that no document has, describe nothing. Of the latter only the rebuild can
 * tell where documents came since the build, or there is none.
 */
static gf_status check_words(gf_editing *e, gf_slice words, gf_error *err)
{
    gf_row_view row;
    bool of_texts = e->view && e->view->info.rows == GF_ROWS_OF_TEXTS, has = true;
    if (!words.len) return GF_OK;
    gf_status known = has_terms(e, words, &has, err);
    if (known == GF_OK && !has)
        known = gf_fail(err, GF_EINVAL,
                        "\"%.*s\" describes nothing: these are all words that every text has; give "
                        "some that are the topic's own",
                        GF_SLICE_ARG(words));
    if (known != GF_OK) return known;
    if (!of_texts || e->view->info.seq != e->row.seq) return GF_OK;
    gf_document d = {.text = words};
    gf_status st = gf_view_row_of(e->view, &d, &row, err);
    if (st == GF_OK && row.n == 0)
        st = gf_fail(err, GF_EINVAL, "no document has any of the words \"%.*s\"",
                     GF_SLICE_ARG(words));
    return st;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* The fact, with its examples; the batch is written by whoever asks. */
static gf_status put_topic(gf_editing *e, const gf_edit *edit, const gf_slice *like, size_t n,
                           gf_error *err)
{
    gf_kept_edit kept = {.edit = *edit};
    gf_buffer ids = {0};
    for (size_t i = 0; i < n; i++)
        gf_buffer_string(&ids, like[i]);
    gf_status st = gf_buffer_check(&ids, err);
    if (st == GF_OK)
        st = gf_edits_put_side(e->store, e->where, e->configuration, edit->number, 0,
                               gf_buffer_view(&ids), e->batch, err);
    gf_buffer_release(&ids);
    return st == GF_OK ? gf_edits_put(e->store, e->where, e->configuration, &kept, e->batch, err)
                       : st;
}

static gf_status begin(gf_editing *e, gf_error *err)
{
    gf_status st = gf_edit_begin(e, err);
    if (st == GF_OK && gf_collection_row_served(&e->row, e->configuration))
        st = gf_edit_open_view(e, err);
    return st;
}

/* Write what is in the batch, and tell of the edits. */
static gf_status end(gf_editing *e, const gf_edit *edits, size_t n, gf_visit_edit *visit,
                     void *context, gf_error *err)
{
    gf_status st = gf_edit_put_pins(e, err);
    if (st == GF_OK) st = gf_batch_write(e->batch, GF_SYNC_ON, err);
    for (size_t i = 0; i < n && st == GF_OK && visit; i++)
        st = visit(context, &edits[i], err);
    return st;
}

static gf_status add_all(gf_editing *e, const gf_topic_request *r, const gf_slice *names, size_t n,
                         gf_visit_edit *visit, void *context, gf_error *err)
{
    gf_status st = begin(e, err);
    gf_edit *made = gf_arena_alloc(&e->memory, (n + 1) * sizeof *made);
    size_t n_made = 0;
    if (st == GF_OK && !made) st = gf_fail_memory(err, "topics");
    for (size_t i = 0; i < r->n_like && st == GF_OK; i++)
        st = check_like(e, r->like[i], err);
    if (st == GF_OK) st = check_words(e, r->words, err);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        size_t topic = gf_edits_find_topic(&e->edits, names[i]);
        bool again = topic < e->edits.n && !r->name.len &&
                     gf_slice_equal(e->edits.at[topic].edit.field, r->field);
        if (again) continue;
        st = check_name(e, names[i], err);
        if (st != GF_OK) break;
        made[n_made] = (gf_edit){.number = ++e->pins.edited,
                                 .kind = GF_EDIT_TOPIC,
                                 .text = names[i],
                                 .words = r->words,
                                 .field = r->field,
                                 .like = r->n_like,
                                 .by = r->by,
                                 .reason = r->reason,
                                 .when = gf_clock_ms(),
                                 .build = e->view ? e->view->info.build : 0};
        st = put_topic(e, &made[n_made++], r->like, r->n_like, err);
    }
    if (st == GF_OK && n_made == 0)
        st = gf_fail(err, GF_EEXISTS, "all values of the field \"%.*s\" are topics already",
                     GF_SLICE_ARG(r->field));
    return st == GF_OK ? end(e, made, n_made, visit, context, err) : st;
}

gf_status gf_topic_add(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_topic_request *request, gf_visit_edit *visit, void *context,
                       gf_error *err)
{
    gf_editing e = {.store = store, .where = where, .configuration = configuration};
    gf_arena memory = {0};
    gf_slice name = request->name, *names = &name;
    size_t n = 1;
    gf_hold hold;
    gf_status st = check_request(request, err);
    if (st != GF_OK) return st;
    if (request->field.len) st = list_values(store, where, request, &memory, &names, &n, err);
    if (st == GF_OK) {
        st = gf_hold_collection(store, where, &hold, err);
        if (st == GF_OK) st = add_all(&e, request, names, n, visit, context, err);
        gf_hold_let_go(&hold);
    }
    gf_edit_release(&e);
    gf_arena_release(&memory);
    return st;
}

/* ---- deleting -------------------------------------------------------------------------------- */

static gf_status delete_one(gf_editing *e, gf_slice name, gf_slice by, gf_slice reason,
                            gf_visit_edit *visit, void *context, gf_error *err)
{
    gf_status st = begin(e, err);
    if (st != GF_OK) return st;
    size_t at = gf_edits_find_topic(&e->edits, name);
    if (at == e->edits.n)
        return gf_fail(err, GF_ENOTFOUND, "there is no topic \"%.*s\"", GF_SLICE_ARG(name));
    const gf_edit *topic = &e->edits.at[at].edit;
    gf_edit edit = {.number = ++e->pins.edited,
                    .kind = GF_EDIT_TOPIC,
                    .off = true,
                    .cluster = topic->cluster,
                    .text = topic->text,
                    .by = by,
                    .reason = reason,
                    .when = gf_clock_ms(),
                    .build = e->view ? e->view->info.build : 0};
    st = put_topic(e, &edit, NULL, 0, err);
    return st == GF_OK ? end(e, &edit, 1, visit, context, err) : st;
}

gf_status gf_topic_delete(gf_store *store, gf_place where, gf_slice configuration, gf_slice name,
                          gf_slice by, gf_slice reason, gf_visit_edit *visit, void *context,
                          gf_error *err)
{
    gf_editing e = {.store = store, .where = where, .configuration = configuration};
    gf_hold hold;
    gf_status st = gf_edit_check_text(by, "name", GF_EDIT_MOST_LABEL, err);
    if (st == GF_OK) st = gf_edit_check_text(reason, "reason", GF_EDIT_MOST_TEXT, err);
    if (st != GF_OK) return st;
    st = gf_hold_collection(store, where, &hold, err);
    if (st == GF_OK) st = delete_one(&e, name, by, reason, visit, context, err);
    gf_hold_let_go(&hold);
    gf_edit_release(&e);
    return st;
}

/* ---- the list -------------------------------------------------------------------------------- */

typedef struct topic_list {
    gf_view *view; /* NULL: nothing is served */
    gf_kept_edits edits;
    gf_buffer grown; /* numbers of topics that the served build was made with, between commas */
} topic_list;

static gf_status take_score(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    float *score = context;
    (void)id, (void)err;
    *score = m->score;
    return GF_OK;
}

static gf_status read_grown(topic_list *l, gf_error *err)
{
    gf_row row = {0};
    gf_view *v = l->view;
    gf_status st = gf_table_get(v->store->tables.builds, v->snapshot, gf_buffer_view(&v->key),
                                1u << GF_BUILDS_MAIN, &row, err);
    const gf_cell *cell = st == GF_OK ? gf_row_find(&row, GF_BUILDS_MAIN, "topics") : NULL;
    if (cell) gf_buffer_slice(&l->grown, cell->value);
    gf_row_release(&row);
    return st == GF_OK ? gf_buffer_check(&l->grown, err) : st;
}

/* Whether a number is in a list of such. */
static bool has_number(gf_slice list, uint64_t number)
{
    uint64_t at = 0;
    bool any = false;
    for (size_t i = 0; i <= list.len; i++) {
        if (i < list.len && list.ptr[i] != ',') {
            at = at * 10 + (uint64_t)(list.ptr[i] - '0');
            continue;
        }
        any = any || (list.len && at == number);
        at = 0;
    }
    return any;
}

static gf_status visit_one(topic_list *l, size_t at, gf_visit_topic *visit, void *context,
                           gf_error *err)
{
    const gf_edit *e = &l->edits.at[at].edit;
    gf_topic_info info = {.number = e->number,
                          .name = e->text,
                          .cluster = e->cluster,
                          .words = e->words,
                          .field = e->field,
                          .like = e->like,
                          .owed = !has_number(gf_buffer_view(&l->grown), e->number),
                          .lost = e->lost,
                          .by = e->by,
                          .reason = e->reason,
                          .when = e->when};
    const gf_listed_cluster *c = l->view ? gf_view_find_cluster(l->view, e->cluster) : NULL;
    gf_status st = GF_OK;
    if (c && e->cluster) {
        info.documents = c->size;
        st = gf_view_weakest(l->view, e->cluster, 1, take_score, &info.threshold, err);
    }
    return st == GF_OK ? visit(context, &info, err) : st;
}

gf_status gf_topics_visit(gf_store *store, gf_place where, gf_slice configuration, bool *owed,
                          gf_visit_topic *visit, void *context, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    topic_list l = {.view = NULL};
    gf_buffer now = {0};
    gf_status st = gf_collection_row_read(store, NULL, where, &row, err);
    if (st == GF_OK) st = gf_configuration_load(store, NULL, where, &row, configuration, &map, err);
    if (st == GF_OK && gf_collection_row_served(&row, configuration)) {
        st = gf_view_open(store, where, configuration, 0, &l.view, err);
        if (st == GF_OK) st = gf_view_load_clusters(l.view, err);
        if (st == GF_OK) st = read_grown(&l, err);
    }
    if (st == GF_OK) st = gf_edits_read(store, NULL, where, configuration, &l.edits, err);
    if (st == GF_OK) st = gf_edits_list_topics(&l.edits, &now, err);
    if (st == GF_OK && owed)
        *owed = !gf_slice_equal(gf_buffer_view(&now), gf_buffer_view(&l.grown));
    for (size_t i = 0; i < l.edits.n && st == GF_OK; i++)
        if (gf_edits_topic_holds(&l.edits, i)) st = visit_one(&l, i, visit, context, err);
    gf_view_close(l.view);
    gf_edits_release(&l.edits);
    gf_buffer_release(&l.grown);
    gf_buffer_release(&now);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

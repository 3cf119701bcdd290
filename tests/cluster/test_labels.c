#include "cluster/texts.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "cluster/label/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLUSTERS = 8 };

/* Labels of clusters, one behind the other with a | behind each. */
static void check_labels(const gf_label_cluster *clusters, uint32_t k, const char *taken,
                         const char *expected)
{
    gf_error err;
    gf_arena memory = {0};
    gf_slice labels[MOST_CLUSTERS], not = taken ? gf_slice_str(taken) : (gf_slice){0};
    gf_buffer all = {0};
    assert_ok(
        gf_labels_choose(NULL, clusters, k, &not, taken != NULL, NULL, &memory, labels, &err));
    for (uint32_t j = 0; j < k; j++)
        gf_buffer_format(&all, "%.*s|", GF_SLICE_ARG(labels[j]));
    assert_string_equal(gf_buffer_cstr(&all), expected);
    gf_buffer_release(&all);
    gf_arena_release(&memory);
}

/* ---- examples -------------------------------------------------------------------------------- */

/*
 * "search engine" is in 4 of 4 documents and in none of the others: 1.25 ln(1 / 0.125); its words
 * say no more than it does, and "battery drains" likewise.
 */
static void labels_two_clusters(void **state)
{
    (void)state;
    texts t = {0};
    const char *search[] = {"Search engine crashed", "search engine froze",
                            "the search engines died", "Search engine!"};
    const char *battery[] = {"battery drains fast", "battery drains at night", "Battery drains"};
    gf_label_cluster c[] = {texts_cluster(&t, search, 4, 4), texts_cluster(&t, battery, 3, 3)};
    check_labels(c, 2, NULL, "Search engine|battery drains|");
    check_labels(c, 2, "SEARCH engine", "Search|battery drains|");
    check_labels(c, 1, NULL, "Search engine|");
    texts_release(&t);
}

/* n lines of each text, one text after the other. */
static gf_label_cluster repeated(texts *t, const char *const *lines, const uint32_t *n,
                                 uint32_t n_lines)
{
    const char *all[64];
    uint32_t total = 0;
    for (uint32_t i = 0; i < n_lines; i++)
        for (uint32_t r = 0; r < n[i]; r++)
            all[total++] = lines[i];
    return texts_cluster(t, all, total, total);
}

/* 8 of 11 documents are more than 70 %, 7 of 11 fewer. */
static void a_phrase_gives_way_to_a_complete_one(void **state)
{
    (void)state;
    texts t = {0};
    const char *lines[] = {"New York City", "New York"};
    const uint32_t often[] = {8, 3}, seldom[] = {7, 4};
    gf_label_cluster complete = repeated(&t, lines, often, 2);
    gf_label_cluster incomplete = repeated(&t, lines, seldom, 2);
    check_labels(&complete, 1, NULL, "New York City|");
    check_labels(&incomplete, 1, NULL, "New York|");
    texts_release(&t);
}

/* "state of the art" counts 1.25 * 0.85^2 = 0.903: less than "art" alone where that is in more. */
static void stop_words_inside_count_less(void **state)
{
    (void)state;
    texts t = {0};
    const char *lines[] = {"state of the art", "art"};
    const uint32_t often[] = {10, 0}, seldom[] = {8, 12};
    gf_label_cluster a = repeated(&t, lines, often, 2), b = repeated(&t, lines, seldom, 2);
    check_labels(&a, 1, NULL, "state of the art|");
    check_labels(&b, 1, NULL, "art|");
    texts_release(&t);
}

/* A phrase that begins with a digit counts half: less than a word nearly as frequent. */
static void a_digit_in_front_counts_half(void **state)
{
    (void)state;
    texts t = {0};
    const char *lines[] = {"4k", "screen"};
    const uint32_t alike[] = {10, 8}, apart[] = {16, 2};
    gf_label_cluster a = repeated(&t, lines, alike, 2), b = repeated(&t, lines, apart, 2);
    check_labels(&a, 1, NULL, "screen|");
    check_labels(&b, 1, NULL, "4k|");
    texts_release(&t);
}

static void clusters_without_phrases_are_named_too(void **state)
{
    (void)state;
    texts t = {0};
    const char *none[] = {"the of 12", "is a http_link", ""};
    gf_label_cluster c[4];
    for (int j = 0; j < 4; j++)
        c[j] = texts_cluster(&t, none, j == 3 ? 0 : 3, 3);
    check_labels(c, 4, NULL, "cluster 1|cluster 2|cluster 3|cluster 4|");
    check_labels(c, 2, "Cluster 2", "cluster 1|cluster 4|");
    c[0].otherwise = c[2].otherwise = gf_slice_str("Odds and ends");
    check_labels(c, 3, NULL, "Odds and ends|cluster 2|cluster 3|");
    check_labels(c, 1, "odds and ends", "cluster 1|");
    check_labels(c, 0, NULL, "");
    texts_release(&t);
}

/* ---- the formula, worked out phrase by phrase ------------------------------------------------ */

enum { MOST_PHRASES = 4096, MOST_WORDS = 4 };

typedef struct phrase {
    char key[MOST_WORDS * 8];
    uint32_t length, n_words, n_inner;
    uint32_t count[MOST_CLUSTERS];
    uint32_t last; /* document of the current cluster that was counted, plus 1 */
} phrase;

typedef struct reference {
    phrase *all;
    uint32_t n;
} reference;

static phrase *find_phrase(const reference *r, const char *key, uint32_t length)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (r->all[i].length == length && memcmp(r->all[i].key, key, length) == 0)
            return &r->all[i];
    return NULL;
}

/* Words first..first+n-1 as a phrase, if they are one: ends that may be ends, and no break. */
static bool make_phrase(const gf_label_document *d, uint32_t first, uint32_t n, phrase *p)
{
    const gf_label_word *w = d->words + first;
    *p = (phrase){.n_words = n};
    if (w[0].flags & GF_LABEL_NUMBER) return false;
    if ((w[0].flags | w[n - 1].flags) & GF_LABEL_INNER) return false;
    for (uint32_t i = 0; i < n; i++) {
        if (i && w[i].flags & GF_LABEL_BREAK) return false;
        if (w[i].flags & GF_LABEL_NEVER) return false;
        p->n_inner += (w[i].flags & GF_LABEL_INNER) != 0;
        const char key[] = {'t', 0, 0, 0, (char)w[i].term};
        memcpy(p->key + p->length, key, sizeof key);
        p->length += sizeof key;
    }
    return true;
}

static void count_cluster(reference *r, const gf_label_cluster *c, uint32_t j)
{
    for (uint32_t i = 0; i < r->n; i++)
        r->all[i].last = 0;
    for (uint32_t i = 0; i < c->n_documents; i++)
        for (uint32_t first = 0; first < c->documents[i].n_words; first++)
            for (uint32_t n = 1; n <= MOST_WORDS && first + n <= c->documents[i].n_words; n++) {
                phrase made;
                if (!make_phrase(&c->documents[i], first, n, &made)) continue;
                phrase *p = find_phrase(r, made.key, made.length);
                if (!p) {
                    assert_true(r->n < MOST_PHRASES);
                    p = &r->all[r->n++];
                    *p = made;
                }
                p->count[j] += p->last != i + 1;
                p->last = i + 1;
            }
}

static bool is_candidate(const phrase *p, const gf_label_cluster *c, uint32_t j)
{
    uint32_t least = c->n_documents < 4 ? 1 : 2;
    return p->count[j] >= least && p->count[j] >= 0.05 * c->n_documents;
}

/* True if a longer candidate holds p and is nearly as frequent. */
static bool is_hidden(const reference *r, const phrase *p, const gf_label_cluster *c, uint32_t j)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const phrase *longer = &r->all[i];
        if (longer->length <= p->length || !is_candidate(longer, &c[j], j)) continue;
        for (uint32_t at = 0; at + p->length <= longer->length; at += 5)
            if (memcmp(longer->key + at, p->key, p->length) == 0 &&
                longer->count[j] >= 0.7 * p->count[j])
                return true;
    }
    return false;
}

typedef struct rank {
    bool hidden, good;
    double score;
} rank;

/* f ln(f / g) * factor, with half a document more in g. */
static rank rank_phrase(const reference *r, const phrase *p, const gf_label_cluster *c, uint32_t k,
                        uint32_t j)
{
    static const double factor[] = {0, 1, 1.25, 1.2, 1};
    double f = (double)p->count[j] / c[j].n_documents, have = 0, others = 0, seen = 1;
    for (uint32_t i = 0; i < k; i++) {
        if (i == j) continue;
        have += (double)c[i].size * p->count[i] / c[i].n_documents;
        others += (double)c[i].size;
        seen += c[i].n_documents;
    }
    double g = k > 1 ? have / others + 0.5 / seen : 0.5 / (1 + (double)c[j].size);
    double score = f * log(f / g) * factor[p->n_words - p->n_inner];
    for (uint32_t i = 0; i < p->n_inner; i++)
        score *= 0.85;
    return (rank){is_hidden(r, p, c, j), f >= 0.10 && f >= 3 * g, score};
}

/* Below 0 where a comes first, above where b does, 0 where the scores are too near to tell. */
static int compare_ranks(rank a, rank b)
{
    if (a.hidden != b.hidden) return a.hidden ? 1 : -1;
    if (a.good != b.good) return a.good ? -1 : 1;
    if (fabs(a.score - b.score) < 1e-9) return 0;
    return a.score > b.score ? -1 : 1;
}

/* True if a label was taken from the texts; else it is a number. */
static bool is_phrase(gf_slice label)
{
    return !gf_slice_starts(label, GF_SLICE("cluster "));
}

/* The phrase of a label, read back through its document's words. */
static const phrase *phrase_of(const reference *r, texts *t, gf_slice label)
{
    phrase p;
    gf_label_document d = texts_document(t, label.ptr);
    assert_true(make_phrase(&d, 0, d.n_words, &p));
    const phrase *found = find_phrase(r, p.key, p.length);
    assert_non_null(found);
    return found;
}

/* No phrase that no larger cluster took would have been a better label of cluster j. */
static void check_choice(const reference *r, texts *t, const gf_label_cluster *c, uint32_t k,
                         const gf_slice *labels, uint32_t j)
{
    const phrase *chosen = phrase_of(r, t, labels[j]), *before[MOST_CLUSTERS];
    assert_true(is_candidate(chosen, &c[j], j));
    rank best = rank_phrase(r, chosen, c, k, j);
    for (uint32_t i = 0; i < j; i++) {
        before[i] = is_phrase(labels[i]) ? phrase_of(r, t, labels[i]) : NULL;
        assert_ptr_not_equal(before[i], chosen);
    }
    for (uint32_t p = 0; p < r->n; p++) {
        bool free = is_candidate(&r->all[p], &c[j], j);
        for (uint32_t i = 0; i < j; i++)
            free = free && before[i] != &r->all[p];
        if (free) assert_true(compare_ranks(best, rank_phrase(r, &r->all[p], c, k, j)) <= 0);
    }
}

/* Words of cluster j, most often, and of all; stop words, numbers and commas among them. */
static const char *random_text(texts *t, uint32_t j, gf_random *random)
{
    static const char *const common[] = {"the", "of", "7", "house", "tree", "road"};
    char text[200] = "";
    uint32_t n = 3 + (uint32_t)gf_random_below(random, 8);
    for (uint32_t i = 0; i < n; i++) {
        char own[8] = {'w', (char)('a' + j), (char)('a' + gf_random_below(random, 4)), 0};
        bool shared = gf_random_below(random, 3) == 0;
        strcat(text, shared ? common[gf_random_below(random, 6)] : own);
        strcat(text, gf_random_below(random, 6) ? " " : ", ");
    }
    gf_slice copy = gf_arena_copy(&t->memory, gf_slice_str(text));
    assert_non_null(copy.ptr);
    return copy.ptr;
}

static uint32_t random_clusters(texts *t, gf_random *random, gf_label_cluster *c)
{
    uint32_t k = 1 + (uint32_t)gf_random_below(random, MOST_CLUSTERS);
    for (uint32_t j = 0; j < k; j++) {
        const char *lines[30];
        uint32_t n = 1 + (uint32_t)gf_random_below(random, 30);
        for (uint32_t i = 0; i < n; i++)
            lines[i] = random_text(t, gf_random_below(random, 4) ? j : 0, random);
        c[j] = texts_cluster(t, lines, n, 500 - 50 * j);
    }
    return k;
}

static void labels_are_the_best_phrases(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    reference r = {.all = gf_array(MOST_PHRASES, sizeof *r.all)};
    assert_non_null(r.all);
    for (int i = 0; i < 25; i++) {
        texts t = {0};
        gf_arena memory = {0};
        gf_label_cluster c[MOST_CLUSTERS];
        gf_slice labels[MOST_CLUSTERS];
        uint32_t k = random_clusters(&t, &random, c);
        assert_ok(gf_labels_choose(NULL, c, k, NULL, 0, NULL, &memory, labels, &err));
        r.n = 0;
        for (uint32_t j = 0; j < k; j++)
            count_cluster(&r, &c[j], j);
        for (uint32_t j = 0; j < k; j++)
            if (is_phrase(labels[j])) check_choice(&r, &t, c, k, labels, j);
        gf_arena_release(&memory);
        texts_release(&t);
    }
    gf_free(r.all);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    gf_error err;
    gf_random random = gf_random_seed(gf_test_seed(), 1);
    gf_pool *pool;
    assert_ok(gf_pool_create(3, &pool, &err));
    for (int i = 0; i < 10; i++) {
        texts t = {0};
        gf_arena memory = {0};
        gf_label_cluster c[MOST_CLUSTERS];
        gf_slice alone[MOST_CLUSTERS], together[MOST_CLUSTERS];
        uint32_t k = random_clusters(&t, &random, c);
        assert_ok(gf_labels_choose(NULL, c, k, NULL, 0, NULL, &memory, alone, &err));
        assert_ok(gf_labels_choose(pool, c, k, NULL, 0, NULL, &memory, together, &err));
        for (uint32_t j = 0; j < k; j++) {
            assert_true(alone[j].len > 0 && gf_slice_equal(alone[j], together[j]));
            for (uint32_t other = 0; other < j; other++)
                assert_false(gf_slice_equal(alone[j], alone[other]));
        }
        gf_arena_release(&memory);
        texts_release(&t);
    }
    gf_pool_free(pool);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void stops_on_request(void **state)
{
    (void)state;
    texts t = {0};
    gf_arena memory = {0};
    gf_cancel cancel = {0};
    gf_slice label;
    const char *line = "one document";
    gf_label_cluster c = texts_cluster(&t, &line, 1, 1);
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED,
                  gf_labels_choose(NULL, &c, 1, NULL, 0, &cancel, &memory, &label, NULL));
    gf_arena_release(&memory);
    texts_release(&t);
}

typedef struct sweep {
    gf_label_cluster c[MOST_CLUSTERS];
    uint32_t k;
} sweep;

static gf_status choose_swept(void *context, gf_error *err)
{
    sweep *s = context;
    gf_arena memory = {0};
    gf_slice labels[MOST_CLUSTERS], taken = gf_slice_str("cluster 1");
    gf_status st = gf_labels_choose(NULL, s->c, s->k, &taken, 1, NULL, &memory, labels, err);
    gf_arena_release(&memory);
    return st;
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(3, 0);
    texts t = {0};
    sweep s;
    s.k = random_clusters(&t, &random, s.c);
    s.c[0] = texts_cluster(&t, NULL, 0, 600);
    gf_test_sweep(choose_swept, NULL, &s);
    texts_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_two_clusters),
        cmocka_unit_test(a_phrase_gives_way_to_a_complete_one),
        cmocka_unit_test(stop_words_inside_count_less),
        cmocka_unit_test(a_digit_in_front_counts_half),
        cmocka_unit_test(clusters_without_phrases_are_named_too),
        cmocka_unit_test(labels_are_the_best_phrases),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(stops_on_request),
        cmocka_unit_test(a_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}

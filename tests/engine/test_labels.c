/* Labels of builds: those that stay, and what words of texts are worth. */
#include "tests/engine/fixture.h"

#include <string.h>

enum { MOST = 64 };

/* The clusters of a view in their order. */
typedef struct listed {
    uint32_t id[MOST];
    char label[MOST][200];
    size_t n;
} listed;

static gf_status note(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    listed *l = context;
    assert_true(l->n < MOST && info->label.len < sizeof l->label[0]);
    l->id[l->n] = info->id;
    memcpy(l->label[l->n], info->label.ptr, info->label.len);
    l->label[l->n++][info->label.len] = 0;
    return GF_OK;
}

static listed list(fixture *f)
{
    gf_error err;
    gf_view *view;
    listed l = {.n = 0};
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_clusters(view, note, &l, &err));
    gf_view_close(view);
    return l;
}

/* Labels of clusters that went on under their id: how many differ; *kept: how many went on. */
static size_t renamed(const listed *before, const listed *after, size_t *kept)
{
    size_t n = 0;
    *kept = 0;
    for (size_t a = 0; a < after->n; a++)
        for (size_t b = 0; b < before->n; b++) {
            if (before->id[b] != after->id[a]) continue;
            ++*kept;
            n += strcmp(before->label[b], after->label[a]) != 0;
        }
    return n;
}

static bool has_label(const listed *l, const char *label)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->label[i], label) == 0) return true;
    return false;
}

/* No part of a label is that word, alone. */
static bool names(const listed *l, const char *word)
{
    for (size_t i = 0; i < l->n; i++) {
        const char *at = strstr(l->label[i], word);
        size_t n = strlen(word);
        if (!at || gf_slice_starts(gf_slice_str(l->label[i]), GF_SLICE("mixed: "))) continue;
        bool begins = at == l->label[i] || at[-1] == ' ';
        if (begins && (at[n] == 0 || strncmp(at + n, " /", 2) == 0)) return true;
    }
    return false;
}

/* ---- labels that stay ------------------------------------------------------------------------ */

static void rebuilds_rename_nothing(void **state)
{
    (void)state;
    fixture f;
    size_t kept;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_set(&f, "c", "default", "k", "10");
    fixture_rebuild(&f, "c");
    listed before = list(&f);
    assert_int_equal(before.n, 10);
    for (int i = 0; i < 4; i++) {
        fixture_rebuild(&f, "c");
        listed after = list(&f);
        assert_int_equal(renamed(&before, &after, &kept), 0);
        assert_true(kept >= 8);
        before = after;
    }
    fixture_close(&f);
}

static void few_documents_rename_little(void **state)
{
    (void)state;
    static const char *const more[] = {"guitar lessons for the left hand",
                                       "a lock with seven pins and no key",
                                       "learning French by radio",
                                       "my fish tank feeds the lettuce now",
                                       "League match of the night",
                                       "guitar strings for beginners",
                                       "how to pick a padlock",
                                       "German grammar in a week",
                                       "aquaponics without a pump",
                                       "the best champion for beginners",
                                       "which guitar amp at home",
                                       "spool pins in a lock",
                                       "Spanish films with subtitles",
                                       "tilapia or trout",
                                       "a new patch for the game"};
    fixture f;
    size_t kept, differ = 0;
    fixture_open(&f);
    fixture_put_posts(&f, "c", FIXTURE_POSTS);
    fixture_set(&f, "c", "default", "k", "10");
    fixture_rebuild(&f, "c");
    listed before = list(&f);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char id[8];
        snprintf(id, sizeof id, "zz%zu", i);
        fixture_put(&f, "c", id, more[i]);
    }
    fixture_rebuild(&f, "c");
    listed after = list(&f);
    differ = renamed(&before, &after, &kept);
    assert_true(differ <= 1);
    assert_true(kept >= 8);
    fixture_close(&f);
}

/* A label that somebody wrote stays by its pin; without it, the cluster is named anew. */
static void pinned_labels_are_not_kept_for_ever(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open_subjects(&f);
    listed first = list(&f);
    gf_place c = fixture_place("c");
    assert_ok(gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE("Mine"), &err));
    fixture_rebuild(&f, "c");
    listed pinned = list(&f);
    assert_true(has_label(&pinned, "Mine"));
    assert_ok(gf_pin_label(f.store, c, fixture_default(), 1, GF_SLICE(""), &err));
    fixture_rebuild(&f, "c");
    listed last = list(&f);
    assert_false(has_label(&last, "Mine"));
    assert_true(has_label(&last, first.label[0]));
    fixture_close(&f);
}

/* ---- what words are worth -------------------------------------------------------------------- */

static listed labels_of(fixture *f, const char *const *texts, size_t n, const char *k,
                        const char *language)
{
    fixture_open(f);
    fixture_put_texts(f, "c", texts, n);
    fixture_set(f, "c", "default", "k", k);
    fixture_set(f, "c", "default", "language", language);
    fixture_rebuild(f, "c");
    listed l = list(f);
    fixture_close(f);
    return l;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* "like" holds nothing together that has a subject; such a cluster is the last, though the largest. */
static void mixed_clusters_come_last(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "I really like it", "they would like that",   "like this one",      "do you like me",
        "we like them all", "he would like these",    "I like what he did", "like it or not",
        "engine oil leaks", "the engine stalls",      "oil for my engine",  "engine and oil",
        "bread with yeast", "yeast makes bread rise", "bread, no yeast"};
    fixture f;
    listed l = labels_of(&f, texts, COUNT(texts), "3", "english");
    assert_int_equal(l.n, 3);
    assert_true(gf_slice_starts(gf_slice_str(l.label[2]), GF_SLICE("mixed: like")));
    assert_true(has_label(&l, "bread") || has_label(&l, "yeast"));
    assert_int_equal(l.id[2], 1); /* the ids are still by size */
}

static void reporting_words_name_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Analysts said profits rose", "the bank said profits fell", "profits, analysts said",
        "analysts said profits",      "the team said it won",       "the coach of the team said so",
        "the team wins, he said",     "a team of nine, he said"};
    fixture f;
    listed l = labels_of(&f, texts, COUNT(texts), "2", "english");
    assert_false(names(&l, "said"));
    assert_false(names(&l, "analysts said"));
    assert_true(names(&l, "team"));
}

static void numbers_belong_to_words(void **state)
{
    (void)state;
    static const char *const texts[] = {"Ein 32-Jähriger fuhr gegen den Baum",
                                        "Die Polizei sucht einen 45-Jährigen mit Hut",
                                        "Ein 19-Jähriger floh vor der Polizei",
                                        "Polizei findet 81-Jährigen im Wald",
                                        "Die Polizei hielt einen 27-Jährigen an",
                                        "Das Brot braucht Hefe und viel Zeit",
                                        "Hefe macht das Brot locker",
                                        "Ein Brot mit wenig Hefe",
                                        "Das Brot aus dem Ofen, ohne Hefe",
                                        "Brot und Hefe von the baker of the town"};
    fixture f;
    listed l = labels_of(&f, texts, COUNT(texts), "2", "german");
    assert_false(names(&l, "Jährigen"));
    assert_false(names(&l, "Jähriger"));
    assert_false(names(&l, "the") || names(&l, "of"));
    assert_true(names(&l, "Polizei"));
}

/* Nobody has a list of these function words: ng and sa are in all, mga in most. */
static void languages_without_a_list_get_one(void **state)
{
    (void)state;
    char lines[60][80];
    const char *texts[60];
    static const char *const subjects[] = {"kabayo", "barko", "tinapay"};
    for (int i = 0; i < 60; i++) {
        snprintf(lines[i], sizeof lines[i], "ang %s ng mga %s%d sa %s", subjects[i % 3],
                 i % 2 ? "bata" : "tao", i % 5, subjects[i % 3]);
        texts[i] = lines[i];
    }
    fixture f;
    fixture_open(&f);
    fixture_put_texts(&f, "c", texts, 60);
    fixture_set(&f, "c", "default", "k", "3");
    fixture_set(&f, "c", "default", "language", "none");
    fixture_rebuild(&f, "c");
    listed l = list(&f);
    for (int i = 0; i < 3; i++)
        assert_true(names(&l, subjects[i]));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rebuilds_rename_nothing),
        cmocka_unit_test(few_documents_rename_little),
        cmocka_unit_test(pinned_labels_are_not_kept_for_ever),
        cmocka_unit_test(mixed_clusters_come_last),
        cmocka_unit_test(reporting_words_name_nothing),
        cmocka_unit_test(numbers_belong_to_words),
        cmocka_unit_test(languages_without_a_list_get_one),
    };
    return cmocka_run_group_tests_name("labels", tests, NULL, NULL);
}

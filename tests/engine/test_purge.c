/*
 * Purging: what was deleted or put anew is looked for in the raw bytes of the store's files. The
 * words looked for are random, of letters that no text of these tests has four of in a row, and no four
 * come twice in a word: Snappy, whose copies are four bytes long or more, finds none for them, so they stand
 * in compressed blocks as they are, which each test shows before it purges.
 */
#include "tests/engine/fixture_edits.h"

#include "base/memory.h"
#include "base/random.h"
#include "storage/backend.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { WORD = 24 };

static void make_of(const char *letters, char word[WORD + 1], uint64_t seed)
{
    gf_random r = gf_random_seed(seed, 1);
    memset(word, 0, WORD + 1);
    for (int i = 0; i < WORD;) {
        word[i] = letters[gf_random_below(&r, (uint32_t)strlen(letters))];
        bool twice = i > 3 && memmem(word, (size_t)i, word + i - 3, 4);
        if (!twice) i++;
    }
    word[WORD] = '\0';
}

static void make_word(char word[WORD + 1], uint64_t seed)
{
    make_of("jkqvwxz", word, seed);
}

/* An id has none of the letters of a word. */
static void make_id(char id[WORD + 1], uint64_t seed)
{
    make_of("JKQVWXZ", id, seed);
}

/* ---- the files ------------------------------------------------------------------------------- */

static bool file_has(const char *path, const char *word)
{
    FILE *file = fopen(path, "rb");
    gf_buffer bytes = {0};
    size_t n;
    assert_non_null(file);
    while ((n = fread(gf_buffer_reserve(&bytes, 1 << 16), 1, 1 << 16, file)) > 0)
        bytes.len += n;
    fclose(file);
    bool has = bytes.len && memmem(bytes.ptr, bytes.len, word, strlen(word));
    gf_buffer_release(&bytes);
    return has;
}

/* The files of a folder, and of those in it, that have the word: their names one after the other.
 */
static void find_word(const char *folder, const char *word, gf_buffer *found)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        char path[4096];
        struct stat s;
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        assert_int_equal(stat(path, &s), 0);
        if (S_ISDIR(s.st_mode))
            find_word(path, word, found);
        else if (file_has(path, word))
            gf_buffer_format(found, "%s ", e->d_name);
    }
    closedir(dir);
}

static bool store_has(fixture *f, const char *word)
{
    gf_buffer found = {0};
    find_word(f->path, word, &found);
    bool has = found.len > 0;
    gf_buffer_release(&found);
    return has;
}

static void expect_gone(fixture *f, const char *word)
{
    gf_buffer found = {0};
    find_word(f->path, word, &found);
    if (found.len) fail_msg("%s is in %s", word, gf_buffer_cstr(&found));
}

/* The names of LevelDB's tables, each between spaces. */
static void list_tables(fixture *f, gf_buffer *names)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/db", f->path);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    gf_buffer_byte(names, ' ');
    for (struct dirent *e; (e = readdir(dir));)
        if (strstr(e->d_name, ".ldb")) gf_buffer_format(names, "%s ", e->d_name);
    closedir(dir);
}

static bool share_a_table(gf_buffer *a, gf_buffer *b)
{
    char *rest = NULL, *copy = strdup(gf_buffer_cstr(a));
    bool any = false;
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        char between[64];
        snprintf(between, sizeof between, " %s ", name);
        any |= strstr(gf_buffer_cstr(b), between) != NULL;
    }
    free(copy);
    return any;
}

/* ---- the store ------------------------------------------------------------------------------- */

static gf_purged purge(fixture *f, const char *collection)
{
    gf_error err;
    gf_purged purged = {0};
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    assert_ok(gf_purge_collection(f->store, fixture_place(collection), &o, &purged, &err));
    return purged;
}

static void put_word(fixture *f, const char *id, const char *word)
{
    char text[256];
    snprintf(text, sizeof text, "the word %s is %s here", word, word);
    fixture_put(f, "c", id, text);
}

/* In tables, in a log, in kept builds: after the purge nowhere, also in no name of a row. */
static void deleted_documents(void **state)
{
    (void)state;
    for (int compacted = 0; compacted < 2; compacted++) {
        fixture f;
        gf_error err;
        char word[WORD + 1], id[WORD + 1];
        gf_buffer before = {0}, after = {0};
        uint64_t seed = gf_test_seed();
        make_word(word, seed);
        make_id(id, seed + 1);
        fixture_open(&f);
        fixture_put_subjects(&f, "c");
        put_word(&f, id, word);
        fixture_rebuild(&f, "c");
        fixture_rebuild(&f, "c");
        if (compacted) assert_ok(gf_database_compact(gf_store_database(f.store), &err));
        fixture_delete(&f, "c", id);
        assert_true(store_has(&f, word) && store_has(&f, id));
        list_tables(&f, &before);
        if (compacted) assert_true(before.len > 1);
        gf_purged purged = purge(&f, "c");
        assert_int_equal(purged.rebuilt, 1);
        assert_int_equal(purged.dropped, 1); /* publishing has dropped the older one */
        list_tables(&f, &after);
        assert_false(share_a_table(&before, &after));
        fixture_close(&f);
        fixture_reopen(&f);
        expect_gone(&f, word);
        expect_gone(&f, id);
        fixture_check_served(&f, "c", 12);
        fixture_is_sound(&f);
        gf_buffer_release(&before);
        gf_buffer_release(&after);
        fixture_close(&f);
    }
}

/*
 * Edits keep ids and sentences of their build, also once the next one is served, which was made without
 * the document and so is not made anew.
 */
static void witnesses_of_edits(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    char word[WORD + 1], id[WORD + 1];
    uint64_t seed = gf_test_seed();
    make_word(word, seed);
    make_id(id, seed + 1);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    put_word(&f, id, word);
    fixture_set(&f, "c", "default", "k", "4");
    fixture_rebuild(&f, "c");
    for (uint32_t i = 2; i <= 4; i++)
        assert_ok(gf_edit_make(
            f.store, fixture_place("c"), fixture_default(),
            &GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = 1, .others = &i, .n_others = 1),
            NULL, NULL, &err));
    fixture_delete(&f, "c", id);
    fixture_rebuild(&f, "c");
    assert_true(store_has(&f, id));
    purge(&f, "c");
    fixture_close(&f);
    fixture_reopen(&f);
    expect_gone(&f, word);
    expect_gone(&f, id);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* Of a group of more documents than witnesses are kept of some stand for all, also where a purge forgot one. */
static void a_group_is_its_cluster_though_a_witness_was_purged(void **state)
{
    (void)state;
    enum { EACH = 3400 /* less than three tenths of them are witnesses */ };
    static const char *const subjects[] = {"engine brakes", "bread dough", "planets comet"};
    static const char *texts[3 * EACH];
    fixture f;
    gf_error err;
    fixture_open(&f);
    for (size_t i = 0; i < 3 * EACH; i++)
        texts[i] = subjects[i / EACH];
    fixture_put_texts(&f, "c", texts, 3 * EACH);
    fixture_set(&f, "c", "default", "k", "3");
    fixture_rebuild(&f, "c");
    uint32_t a = fixture_place_of(&f, "000"), b = fixture_place_of(&f, "3400");
    assert_ok(fixture_try_merge(&f, a, b, &err));
    fixture_delete(&f, "c", "000");
    fixture_delete(&f, "c", "3400");
    purge(&f, "c");
    fixture_rebuild_from(&f, GF_START_FRESH);
    for (int i = 1; i < 5; i++) {
        char first[8], second[8];
        snprintf(first, sizeof first, "%03d", i);
        snprintf(second, sizeof second, "%d", EACH + i);
        assert_int_equal(fixture_place_of(&f, first), a);
        assert_int_equal(fixture_place_of(&f, second), a);
    }
    fixture_close(&f);
}

/* A text that was replaced goes too; texts that nobody deleted stay. */
static void replaced_documents(void **state)
{
    (void)state;
    fixture f;
    char old[WORD + 1], stays[WORD + 1];
    uint64_t seed = gf_test_seed();
    make_word(old, seed);
    make_id(stays, seed + 1);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    put_word(&f, "x", old);
    put_word(&f, "y", stays);
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "x", "something else");
    assert_true(store_has(&f, old));
    purge(&f, "c");
    fixture_close(&f);
    fixture_reopen(&f);
    expect_gone(&f, old);
    assert_true(store_has(&f, stays));
    fixture_is_sound(&f);
    fixture_close(&f);
}

static gf_status note_sentence(void *context, const gf_cluster_info *info, gf_error *err)
{
    gf_buffer_slice(context, info->sentence);
    return gf_buffer_check(context, err);
}

static bool a_sentence_has(fixture *f, const char *word)
{
    gf_error err;
    gf_view *view;
    gf_buffer text = {0};
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_clusters(view, note_sentence, &text, &err));
    bool has = strstr(gf_buffer_cstr(&text), word) != NULL;
    gf_view_close(view);
    gf_buffer_release(&text);
    return has;
}

/*
 * A cluster's sentence is text of a document: it is not shown once that was deleted or put anew,
 * and after a purge it is nowhere.
 */
static void sentences(void **state)
{
    (void)state;
    for (int anew = 0; anew < 2; anew++) {
        fixture f;
        char word[WORD + 1], text[256];
        make_word(word, gf_test_seed());
        fixture_open(&f);
        snprintf(text, sizeof text, "The whole harbour was closed by fog when %s came to us.",
                 word);
        fixture_put(&f, "c", "1", text);
        fixture_put(&f, "c", "2", "fog harbour");
        fixture_put(&f, "c", "3", "harbour closed");
        fixture_set(&f, "c", "default", "k", "1");
        fixture_set(&f, "c", "default", "min_df", "1");
        fixture_rebuild(&f, "c");
        assert_true(a_sentence_has(&f, word));
        if (anew)
            fixture_put(&f, "c", "1", "harbour");
        else
            fixture_delete(&f, "c", "1");
        assert_false(a_sentence_has(&f, word));
        assert_true(store_has(&f, word));
        assert_int_equal(purge(&f, "c").rebuilt, 1);
        fixture_close(&f);
        fixture_reopen(&f);
        assert_false(a_sentence_has(&f, word));
        expect_gone(&f, word);
        fixture_is_sound(&f);
        fixture_close(&f);
    }
}

static gf_status count_hit(void *context, const gf_hit *hit, gf_error *err)
{
    (void)hit, (void)err;
    ++*(size_t *)context;
    return GF_OK;
}

/* The index for search has them, though the build leaves them out. */
static void documents_that_a_filter_left_out(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    char word[WORD + 1];
    size_t n = 0;
    gf_search_options all = GF_SEARCH_OPTIONS(.limit = 0);
    make_word(word, gf_test_seed());
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    put_word(&f, "x", word);
    fixture_set(&f, "c", "default", "filter", "kind=none");
    fixture_rebuild(&f, "c");
    assert_ok(
        gf_search(f.store, fixture_place("c"), gf_slice_str(word), &all, count_hit, &n, &err));
    assert_int_equal(n, 1);
    fixture_delete(&f, "c", "x");
    assert_int_equal(purge(&f, "c").rebuilt, 1);
    fixture_close(&f);
    fixture_reopen(&f);
    expect_gone(&f, word);
    n = 0;
    assert_ok(gf_search(f.store, fixture_place("c"), GF_SLICE("the"), &all, count_hit, &n, &err));
    assert_true(n > 0);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* A build that never had the document is kept, and a purge of nothing changes no build. */
static void nothing_to_purge(void **state)
{
    (void)state;
    fixture f;
    int64_t builds[64];
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    gf_build_info first = fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "late", "came and went");
    fixture_delete(&f, "c", "late");
    gf_purged purged = purge(&f, "c");
    assert_int_equal(purged.rebuilt + purged.dropped, 0);
    assert_int_equal(fixture_builds(&f, "c", "default", builds), 1);
    assert_int_equal(builds[0], first.build);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void deleted_collection(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    char word[WORD + 1];
    make_word(word, gf_test_seed());
    fixture_open(&f);
    put_word(&f, "1", word);
    fixture_rebuild(&f, "c");
    assert_ok(gf_collection_delete(f.store, fixture_place("c"), &err));
    assert_true(store_has(&f, word));
    gf_cancel cancel = {0};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_purge_store(f.store, &cancel, &err));
    assert_non_null(strstr(err.message, "purge again"));
    fixture_is_sound(&f);
    assert_ok(gf_purge_store(f.store, NULL, &err));
    fixture_close(&f);
    fixture_reopen(&f);
    expect_gone(&f, word);
    fixture_close(&f);
}

/* ---- failures -------------------------------------------------------------------------------- */

/*
 * Wherever memory ends, the next purge makes up for it. That dropping old builds is put off, as
 * after any rebuild, is no failure.
 */
static void memory_ends(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    char word[WORD + 1];
    make_word(word, gf_test_seed());
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
    fixture_open(&f);
    int failed = 1;
    for (int64_t n = 0; failed; n += 1 + n / 40) {
        gf_purged purged;
        fixture_put(&f, "c", "1", "one fox");
        put_word(&f, "2", word);
        fixture_rebuild(&f, "c");
        fixture_delete(&f, "c", "2");
        gf_memory_fail_at(n);
        gf_status st = gf_purge_collection(f.store, fixture_place("c"), &o, &purged, &err);
        failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_true(st == GF_OK || (failed && st == GF_ENOMEM));
        if (st != GF_OK) purge(&f, "c");
        expect_gone(&f, word);
    }
    fixture_check_served(&f, "c", 1);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(witnesses_of_edits),
        cmocka_unit_test(a_group_is_its_cluster_though_a_witness_was_purged),
        cmocka_unit_test(deleted_documents),
        cmocka_unit_test(replaced_documents),
        cmocka_unit_test(sentences),
        cmocka_unit_test(documents_that_a_filter_left_out),
        cmocka_unit_test(nothing_to_purge),
        cmocka_unit_test(deleted_collection),
        cmocka_unit_test(memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

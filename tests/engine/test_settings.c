#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "engine/settings.h"

#include <stdlib.h>

/* What each key takes and refuses, separated by '|'. */
typedef struct examples {
    const char *name, *good, *bad;
} examples;

static const examples table[] = {
    {"k", "auto|1|2|1000000", "0|1000001|-1|+1|1.0|1e3| 1|Auto|18446744073709551617"},
    {"max_k", "auto|1|7|1000000", "0|1000001|none"},
    {"seed", "0|1|42|18446744073709551615", "auto|-1|18446744073709551616|0x10"},
    {"start", "served|fresh", "old|on|1"},
    {"lsa", "0|1|100|1000", "-1|1001|auto|on|1.5"},
    {"restarts", "auto|1|3|100", "0|101|on"},
    {"max_passes", "1|100|10000", "0|10001|auto"},
    {"tolerance", "0|0.001|0.5|1e-3", "0.51|-0.1|nan|inf|1|0,1|auto|.|1e400"},
    {"polish", "on|off", "true|1|ON|o"},
    {"effort", "full|quick", "on|fast|Quick|1"},
    {"language", "auto|none|english|German|de|eng|fr|russian", "englisch|xx|all|d e"},
    {"stop_words", "on|off", "english|none"},
    {"more_stop_words", "word|several words|\xC3\xBC\xC3\x9F \"|=", "\n|a\tb|\x01|\xFF"},
    {"stem", "on|off", "yes"},
    {"ngrams", "1|2|3|1-1|1-2|1-3|2-3|3-3", "0|4|2-1|1-4|1,2|1-|-2|12|1 2"},
    {"min_df", "auto|0|1|2|1000|0.01|1%|0.5|100%|1.0", "-1|1.5|101%|half|%|1e99"},
    {"max_df", "auto|1|1000|0.5|50%|1.0|100%", "-1|0|0.0|0%|1.01|200%|x"},
    {"max_terms", "0|1|100000|4294967295", "-1|4294967296|auto"},
    {"tf", "log|raw|binary|relative", "ln|Log|0"},
    {"idf", "log|log_plus_one|smooth|none", "off|log+1"},
    {"min_length", "1|2|64", "0|1025|auto|-1"},
    {"max_length", "2|64|1024", "0|1025|none"},
    {"urls", "skip|split|keep", "word|on"},
    {"mentions", "word|skip|keep", "split"},
    {"hashtags", "word|skip|keep", "split|#"},
    {"numbers", "on|off", "keep"},
    {"cjk", "words|bigrams", "word|trigrams"},
    {"entities", "on|off", "skip"},
    {"keep", "1|2|1000", "0|1001|auto|all"},
    {"rebuild", "on|off", "no|auto"},
    {"store_vectors", "on|off", "auto"},
    {"store_index", "auto|on|off", "true"},
    {"filter", "type=praise|a!=b,c<5|stars>=4.5|a=|lang=en|a=x\\,y", "type|=x|a!b|a=b,|,|id=1"},
    {"since", "2026-01-01|2026-01-01T10:00:00Z|30d|12h|4w|1277293943",
     "x|d|30m|1.5d|-3d|2026-13-01"},
    {"until", "2026-01-01|0d|52w", "tomorrow|1y|9999999d"},
};
enum { KEYS = sizeof table / sizeof table[0] };

static bool next_value(gf_slice *rest, gf_slice *value)
{
    if (!rest->ptr) return false;
    const char *end = memchr(rest->ptr, '|', rest->len);
    *value = gf_slice_of(rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len);
    *rest = end ? gf_slice_skip(*rest, value->len + 1) : (gf_slice){0};
    return true;
}

static gf_status set_one(fixture *f, const char *key, gf_slice value, gf_error *err)
{
    gf_pair pair = {gf_slice_str(key), value};
    return gf_configuration_set(f->store, fixture_place("c"), fixture_default(), &pair, 1, err);
}

/* ---- reading back ------------------------------------------------------------------------------
 */

typedef struct looking {
    const char *key;
    char value[128];
    gf_origin origin;
    size_t n;
} looking;

static gf_status note_setting(void *context, const gf_setting *setting, gf_slice value,
                              gf_origin origin, gf_error *err)
{
    (void)err;
    looking *l = context;
    l->n++;
    if (strcmp(setting->name, l->key) != 0) return GF_OK;
    snprintf(l->value, sizeof l->value, "%.*s", GF_SLICE_ARG(value));
    l->origin = origin;
    return GF_OK;
}

static looking look(fixture *f, const char *key)
{
    gf_error err;
    looking l = {.key = key};
    assert_ok(gf_configuration_read(f->store, fixture_place("c"), fixture_default(), note_setting,
                                    &l, &err));
    assert_int_equal(l.n, KEYS);
    return l;
}

/* ---- values ------------------------------------------------------------------------------------
 */

static void the_table_has_every_key(void **state)
{
    (void)state;
    size_t n;
    const gf_setting *all = gf_settings(&n);
    assert_int_equal(n, KEYS);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(all[i].name, table[i].name);
}

/* Where the values are words, such as "skip, split, keep", each of them is among the examples. */
static void documented_words_are_examples(void **state)
{
    (void)state;
    size_t n;
    const gf_setting *all = gf_settings(&n);
    for (size_t i = 0; i < n; i++) {
        char words[256], *rest = words;
        snprintf(words, sizeof words, "%s", all[i].values);
        for (char *word = strtok_r(words, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
            bool is_choice = !strpbrk(all[i].values, "0123456789'");
            if (!is_choice || strstr(all[i].values, "separated")) continue;
            gf_slice good = gf_slice_str(table[i].good), value;
            bool found = false;
            while (next_value(&good, &value))
                found = found || gf_slice_equal(value, gf_slice_str(word));
            if (!found) fail_msg("%s: \"%s\" is not tried", all[i].name, word);
        }
    }
}

static void good_values_are_kept_and_go_again(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    size_t n;
    const gf_setting *all = gf_settings(&n);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (size_t i = 0; i < n; i++) {
        gf_slice good = gf_slice_str(table[i].good), value;
        while (next_value(&good, &value)) {
            assert_ok(set_one(&f, all[i].name, value, &err));
            looking l = look(&f, all[i].name);
            assert_slice(value, l.value);
            assert_int_equal(l.origin, GF_FROM_COLLECTION);
        }
        assert_ok(set_one(&f, all[i].name, GF_SLICE(""), &err));
        looking l = look(&f, all[i].name);
        assert_string_equal(l.value, all[i].initial);
        assert_int_equal(l.origin, GF_FROM_PROGRAM);
    }
    gf_build_info b = fixture_rebuild(&f, "c");
    assert_int_equal(b.documents, 12);
    fixture_close(&f);
}

/* The default itself may be set, whatever is documented. */
static void defaults_are_values(void **state)
{
    (void)state;
    size_t n;
    gf_error err;
    const gf_setting *all = gf_settings(&n);
    for (size_t i = 0; i < n; i++)
        if (*all[i].initial) assert_ok(gf_setting_check(i, gf_slice_str(all[i].initial), &err));
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer before = {0}, after = {0};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "k", "7");
    fixture_dump(&f, &before);
    for (size_t i = 0; i < KEYS; i++) {
        gf_slice bad = gf_slice_str(table[i].bad), value;
        while (next_value(&bad, &value)) {
            gf_pair pairs[2] = {{GF_SLICE("seed"), GF_SLICE("5")},
                                {gf_slice_str(table[i].name), value}};
            gf_status st = gf_configuration_set(f.store, fixture_place("c"), fixture_default(),
                                                pairs, 2, &err);
            if (st != GF_EINVAL)
                fail_msg("%s=%.*s: %s", table[i].name, GF_SLICE_ARG(value), gf_status_name(st));
        }
    }
    fixture_dump(&f, &after);
    assert_true(gf_slice_equal(gf_buffer_view(&before), gf_buffer_view(&after)));
    gf_buffer_release(&before);
    gf_buffer_release(&after);
    fixture_close(&f);
}

static void messages_say_what_to_do(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_status(GF_EINVAL, set_one(&f, "ngram", GF_SLICE("2"), &err));
    assert_string_equal(err.message, "there is no setting \"ngram\"; did you mean \"ngrams\"?");
    assert_status(GF_EINVAL, set_one(&f, "stopwords", GF_SLICE("on"), &err));
    assert_non_null(strstr(err.message, "stop_words"));
    assert_status(GF_EINVAL, set_one(&f, "", GF_SLICE("on"), &err));
    assert_status(GF_EINVAL, set_one(&f, "k", GF_SLICE("many"), &err));
    assert_string_equal(err.message, "k: \"many\" is not one of: auto, or 1 to 1000000");
    assert_status(GF_EINVAL, set_one(&f, "language", GF_SLICE("englsh"), &err));
    assert_non_null(strstr(err.message, "did you mean \"english\""));
    /* Each is a value, the two together are none. */
    gf_pair pairs[2] = {{GF_SLICE("min_length"), GF_SLICE("9")},
                        {GF_SLICE("max_length"), GF_SLICE("8")}};
    assert_status(GF_EINVAL, gf_configuration_set(f.store, fixture_place("c"), fixture_default(),
                                                  pairs, 2, &err));
    assert_status(GF_ENOTFOUND, gf_configuration_set(f.store, fixture_place("d"), fixture_default(),
                                                     pairs, 1, &err));
    assert_status(GF_EINVAL,
                  gf_configuration_set(f.store, fixture_place("c"), GF_SLICE(""), pairs, 1, &err));
    fixture_close(&f);
}

/* Whatever is accepted can be built with, and what it says of a build holds. */
static void every_good_value_builds(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (size_t i = 0; i < KEYS; i++) {
        gf_slice good = gf_slice_str(table[i].good), value;
        while (next_value(&good, &value)) {
            char text[64];
            snprintf(text, sizeof text, "%.*s", GF_SLICE_ARG(value));
            fixture_set(&f, "c", "default", table[i].name, text);
            gf_build_info b = fixture_rebuild(&f, "c");
            bool is_part = strstr("filter since until", table[i].name) != NULL;
            fixture_check_served(&f, "c", is_part ? b.documents : 12);
            bool is_k = strcmp(table[i].name, "k") == 0 || strcmp(table[i].name, "max_k") == 0;
            if (is_k && atoi(text) && b.k > (uint32_t)atoi(text)) fail_msg("%s: %u", text, b.k);
            assert_int_equal(b.without_terms, 0);
        }
        fixture_set(&f, "c", "default", table[i].name, "");
    }
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- a namespace's defaults --------------------------------------------------------------------
 */

static void set_default(fixture *f, const char *configuration, const char *key, const char *value)
{
    gf_error err;
    gf_pair pair = {gf_slice_str(key), gf_slice_str(value)};
    assert_ok(gf_configuration_set(f->store, fixture_place(""), gf_slice_str(configuration), &pair,
                                   1, &err));
}

static void expect_setting(fixture *f, const char *key, const char *value, gf_origin origin)
{
    looking l = look(f, key);
    assert_string_equal(l.value, value);
    assert_int_equal(l.origin, origin);
}

static gf_rebuild_outcome plain_rebuild(fixture *f)
{
    gf_error err;
    gf_rebuild_options o = {.threads = 1};
    gf_rebuild_result r;
    assert_ok(gf_rebuild(f->store, fixture_place("c"), fixture_default(), &o, &r, &err));
    return r.outcome;
}

/* Program, namespace, collection: the last that says something counts, and builds follow. */
static void defaults_are_inherited(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    expect_setting(&f, "k", "auto", GF_FROM_PROGRAM);
    assert_int_equal(plain_rebuild(&f), GF_REBUILT);
    set_default(&f, "default", "k", "2");
    expect_setting(&f, "k", "2", GF_FROM_NAMESPACE);
    assert_int_equal(plain_rebuild(&f), GF_REBUILT);
    assert_int_equal(plain_rebuild(&f), GF_UNMODIFIED);
    fixture_set(&f, "c", "default", "k", "auto"); /* the program's own, said here */
    expect_setting(&f, "k", "auto", GF_FROM_COLLECTION);
    assert_int_equal(plain_rebuild(&f), GF_REBUILT);
    set_default(&f, "default", "k", "5");
    assert_int_equal(plain_rebuild(&f), GF_UNMODIFIED);
    fixture_set(&f, "c", "default", "k", "");
    expect_setting(&f, "k", "5", GF_FROM_NAMESPACE);
    fixture_set(&f, "c", "default", "k", "5"); /* the same, and so nothing new to build by */
    expect_setting(&f, "k", "5", GF_FROM_COLLECTION);
    assert_int_equal(plain_rebuild(&f), GF_REBUILT);
    fixture_set(&f, "c", "default", "k", "");
    assert_int_equal(plain_rebuild(&f), GF_UNMODIFIED);
    set_default(&f, "default", "k", "");
    expect_setting(&f, "k", "auto", GF_FROM_PROGRAM);
    fixture_is_sound(&f);
    fixture_close(&f);
}

static gf_status note_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)err;
    if (info->name.len == 0) fail_msg("defaults are listed as a collection");
    ++*(size_t *)context;
    return GF_OK;
}

/* They are no collection, and other namespaces have their own. */
static void defaults_are_nothing_else(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    size_t n = 0;
    gf_store_status status;
    gf_pair pair = {GF_SLICE("min_length"), GF_SLICE("9")};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    set_default(&f, "fine", "k", "7");
    set_default(&f, "default", "seed", "3");
    assert_ok(
        gf_collections_visit(f.store, GF_SLICE("test"), GF_SLICE(""), note_collection, &n, &err));
    assert_int_equal(n, 1);
    assert_ok(gf_store_read_status(f.store, &status, &err));
    assert_int_equal(status.collections, 1);
    fixture_set(&f, "c", "fine", "seed", "1");
    looking l = {.key = "k"};
    assert_ok(gf_configuration_read(f.store, fixture_place("c"), GF_SLICE("fine"), note_setting, &l,
                                    &err));
    assert_string_equal(l.value, "7");
    assert_ok(gf_configuration_delete(f.store, fixture_place(""), GF_SLICE("fine"), &err));
    assert_status(GF_ENOTFOUND,
                  gf_configuration_delete(f.store, fixture_place(""), GF_SLICE("fine"), &err));
    l = (looking){.key = "k"};
    assert_ok(gf_configuration_read(f.store, fixture_place("c"), GF_SLICE("fine"), note_setting, &l,
                                    &err));
    assert_int_equal(l.origin, GF_FROM_PROGRAM);
    /* Each alone is a value, the two together are none. */
    set_default(&f, "default", "max_length", "8");
    assert_status(GF_EINVAL, gf_configuration_set(f.store, fixture_place("c"), fixture_default(),
                                                  &pair, 1, &err));
    gf_place other = {GF_SLICE("other"), {0}};
    l = (looking){.key = "seed"};
    assert_ok(gf_configuration_read(f.store, other, fixture_default(), note_setting, &l, &err));
    assert_string_equal(l.value, "1");
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- a namespace's configurations --------------------------------------------------------------
 */

static gf_status note_info(void *context, const gf_configuration_info *info, gf_error *err)
{
    static const char origins[] = {'p', 'n', 'c'};
    gf_buffer *out = context;
    gf_buffer_slice(out, info->name);
    gf_buffer_byte(out, ':');
    gf_buffer_byte(out, origins[info->origin]);
    gf_buffer_str(out, info->rebuilt ? " " : "- ");
    return gf_buffer_check(out, err);
}

/* What a collection has, by name: (p)rogram, (n)amespace or (c)ollection; "-": rebuild=off. */
static void expect_configurations(fixture *f, const char *collection, const char *expected)
{
    gf_error err;
    gf_buffer list = {0};
    assert_ok(gf_configurations_visit(f->store, fixture_place(collection), note_info, &list, &err));
    assert_string_equal(gf_buffer_cstr(&list), expected);
    gf_buffer_release(&list);
}

static gf_status visit_rebuilt(void *context, gf_place where, gf_slice configuration,
                               gf_status status, const char *message,
                               const gf_rebuild_result *result, gf_error *err)
{
    gf_buffer *out = context;
    assert_int_equal(status, GF_OK);
    (void)message;
    if (result->outcome != GF_REBUILT) return GF_OK;
    gf_buffer_slice(out, where.collection);
    gf_buffer_byte(out, '/');
    gf_buffer_slice(out, configuration);
    gf_buffer_byte(out, ' ');
    return gf_buffer_check(out, err);
}

static void expect_rebuilt(fixture *f, const char *expected)
{
    gf_error err;
    gf_buffer list = {0};
    gf_rebuild_options o = {.threads = 1};
    assert_ok(gf_rebuild_all(f->store, GF_SLICE("test"), GF_SLICE(""), GF_SLICE(""), &o,
                             visit_rebuilt, &list, &err));
    assert_string_equal(list.len ? gf_buffer_cstr(&list) : "", expected);
    gf_buffer_release(&list);
}

static gf_status delete_in(fixture *f, const char *collection, const char *configuration,
                           gf_error *err)
{
    return gf_configuration_delete(f->store, fixture_place(collection), gf_slice_str(configuration),
                                   err);
}

static uint64_t builds_of_store(fixture *f)
{
    gf_error err;
    gf_store_status status;
    assert_ok(gf_store_read_status(f->store, &status, &err));
    return status.builds;
}

/* All collections have it, also those that are made later, and one can override it or not take it.
 */
static void a_namespace_has_configurations(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_view *view;
    fixture_open(&f);
    fixture_put_subjects(&f, "a");
    fixture_put_subjects(&f, "b");
    set_default(&f, "fine", "k", "2");
    fixture_put_subjects(&f, "c");
    expect_configurations(&f, "a", "default:p fine:n ");
    expect_configurations(&f, "", "default:p fine:n ");
    fixture_set(&f, "b", "fine", "k", "3");
    expect_configurations(&f, "b", "default:p fine:c ");
    fixture_set(&f, "c", "fine", "rebuild", "off");
    expect_configurations(&f, "c", "default:p fine:c- ");
    expect_rebuilt(&f, "a/default a/fine b/default b/fine c/default ");
    expect_rebuilt(&f, "");
    assert_ok(gf_view_open(f.store, fixture_place("a"), GF_SLICE("fine"), 0, &view, &err));
    assert_int_equal(gf_view_build(view)->k, 2);
    gf_view_close(view);
    assert_ok(gf_view_open(f.store, fixture_place("b"), GF_SLICE("fine"), 0, &view, &err));
    assert_int_equal(gf_view_build(view)->k, 3);
    gf_view_close(view);
    assert_status(GF_ENOTFOUND,
                  gf_view_open(f.store, fixture_place("c"), GF_SLICE("fine"), 0, &view, &err));
    set_default(&f, "fine", "k", "4");
    expect_rebuilt(&f, "a/fine ");
    set_default(&f, "fine", "rebuild", "off"); /* all leave it out, but who says otherwise */
    expect_configurations(&f, "a", "default:p fine:n- ");
    fixture_set(&f, "c", "fine", "rebuild", "on");
    expect_rebuilt(&f, "c/fine ");
    fixture_is_sound(&f);
    fixture_close(&f);
}

static void inherited_ones_are_deleted(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    fixture_put_subjects(&f, "a");
    fixture_put_subjects(&f, "b");
    fixture_put_subjects(&f, "c");
    set_default(&f, "fine", "k", "2");
    fixture_set(&f, "b", "fine", "k", "3");
    expect_rebuilt(&f, "a/default a/fine b/default b/fine c/default c/fine ");
    assert_int_equal(builds_of_store(&f), 6);
    /* One that a collection only inherits stays, until it is left out. */
    assert_status(GF_EINVAL, delete_in(&f, "c", "fine", &err));
    assert_non_null(strstr(err.message, "comes from the defaults of its namespace"));
    fixture_set(&f, "c", "fine", "rebuild", "off");
    assert_ok(delete_in(&f, "c", "fine", &err));
    expect_configurations(&f, "c", "default:p fine:c- ");
    assert_int_equal(builds_of_store(&f), 5);
    expect_rebuilt(&f, "");
    /* What overrides it goes, and it is as inherited again. */
    assert_ok(delete_in(&f, "b", "fine", &err));
    expect_configurations(&f, "b", "default:p fine:n ");
    assert_int_equal(builds_of_store(&f), 4);
    expect_rebuilt(&f, "b/fine ");
    /* With the namespace's go the builds of those that have it from there alone. */
    fixture_set(&f, "b", "fine", "seed", "7");
    assert_ok(delete_in(&f, "", "fine", &err));
    expect_configurations(&f, "a", "default:p ");
    expect_configurations(&f, "b", "default:p fine:c ");
    assert_int_equal(builds_of_store(&f), 4);
    assert_status(GF_ENOTFOUND, delete_in(&f, "", "fine", &err));
    assert_status(GF_ENOTFOUND, delete_in(&f, "a", "fine", &err));
    set_default(&f, "default", "seed", "5");
    assert_ok(delete_in(&f, "a", "default", &err));
    assert_ok(delete_in(&f, "", "default", &err)); /* the builds of "default" are theirs */
    assert_int_equal(builds_of_store(&f), 3);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- configurations ----------------------------------------------------------------------------
 */

static gf_status note_name(void *context, const gf_configuration_info *info, gf_error *err)
{
    gf_buffer_string(context, info->name);
    return gf_buffer_check(context, err);
}

static void names_are_listed_in_order(void **state)
{
    (void)state;
    static const gf_slice names[] = {
        {"\0", 1},        {"a", 1},       {"a b", 3}, {"a\"b\\", 4},
        {"a:rebuilt", 9}, {"default", 7}, {"z", 1},   {"\xCE\xA9", 2},
    };
    enum { N = sizeof names / sizeof names[0] };
    fixture f;
    gf_error err;
    gf_buffer list = {0};
    gf_rebuild_result results[N];
    gf_rebuild_options o = {.threads = 1};
    gf_pair pair = {GF_SLICE("seed"), GF_SLICE("2")};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (size_t i = N; i-- > 0;) { /* "default" is made last, by nobody */
        if (i != 5)
            assert_ok(gf_configuration_set(f.store, fixture_place("c"), names[i], &pair, 1, &err));
        assert_ok(gf_rebuild(f.store, fixture_place("c"), names[i], &o, &results[i], &err));
    }
    assert_ok(gf_configurations_visit(f.store, fixture_place("c"), note_name, &list, &err));
    gf_slice rest = gf_buffer_view(&list), name;
    for (size_t i = 0; i < N; i++) {
        gf_view *view;
        assert_true(gf_take_string(&rest, &name) && gf_slice_equal(name, names[i]));
        assert_ok(gf_view_open(f.store, fixture_place("c"), names[i], 0, &view, &err));
        assert_int_equal(gf_view_build(view)->build, results[i].build.build);
        gf_view_close(view);
    }
    assert_int_equal(rest.len, 0);
    gf_buffer_release(&list);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* A column of settings that is damaged is told, not taken for the defaults. */
static void damaged_settings_are_told(void **state)
{
    (void)state;
    static const char *const damaged[] = {"{",
                                          "[]x",
                                          "{\"default\":{\"k\":1}}",
                                          "{\"default\":{\"no such\":\"1\"}}",
                                          "{\"default\":{\"k\":\"none\"}}",
                                          "{\"default\":[]}",
                                          "[\"default\"]",
                                          "7",
                                          "{\"default\":7}"};
    gf_error err;
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        gf_settings_map map = {0};
        gf_resolved resolved;
        gf_status st =
            gf_settings_map_read(gf_slice_str(damaged[i]), fixture_default(), &map, &err);
        if (st == GF_OK) st = gf_settings_resolve(&map, fixture_default(), &resolved, &err);
        if (st == GF_OK) fail_msg("%s is taken for settings", damaged[i]);
        gf_settings_map_release(&map);
    }
}

/* ---- the documentation -------------------------------------------------------------------------
 */

static void the_page_has_the_same_table(void **state)
{
    (void)state;
    size_t n, at = 0;
    const gf_setting *all = gf_settings(&n);
    gf_buffer page = {0}, row = {0};
    gf_test_read_source("docs/configuration.md", &page);
    gf_slice rest = gf_buffer_view(&page), line;
    while (gf_test_next_line(&rest, &line)) {
        if (!gf_slice_starts(line, GF_SLICE("| `"))) continue;
        assert_true(at < n);
        const char *quote = *all[at].initial ? "`" : "";
        gf_buffer_reset(&row);
        gf_buffer_format(&row, "| `%s` | %s | %s | %s%s%s%s|", all[at].name, all[at].meaning,
                         all[at].values, quote, all[at].initial, quote,
                         *all[at].initial ? " " : "");
        assert_slice(line, gf_buffer_cstr(&row));
        at++;
    }
    assert_int_equal(at, n);
    gf_buffer_release(&page);
    gf_buffer_release(&row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_inherited),
        cmocka_unit_test(defaults_are_nothing_else),
        cmocka_unit_test(a_namespace_has_configurations),
        cmocka_unit_test(inherited_ones_are_deleted),
        cmocka_unit_test(the_table_has_every_key),
        cmocka_unit_test(documented_words_are_examples),
        cmocka_unit_test(good_values_are_kept_and_go_again),
        cmocka_unit_test(defaults_are_values),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(messages_say_what_to_do),
        cmocka_unit_test(every_good_value_builds),
        cmocka_unit_test(names_are_listed_in_order),
        cmocka_unit_test(damaged_settings_are_told),
        cmocka_unit_test(the_page_has_the_same_table),
    };
    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}

#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "engine/titles/answer.h"

#include <string.h>

/* ---- answers --------------------------------------------------------------------------------- */

/* The reason why an answer is no title of the first of two clusters; NULL where it is one. */
static const char *fault_of(const char *answer, const char *language, const char *documents)
{
    static gf_buffer text, why;
    gf_error err;
    gf_titled_cluster at[2] = {{.id = 1, .label = GF_SLICE("locks")},
                               {.id = 2, .label = GF_SLICE("Games"), .title = GF_SLICE("Chess")}};
    gf_titled_clusters list = {.at = at, .n = 2};
    gf_prompt p = {.language = language ? gf_language_find(gf_slice_str(language)) : NULL};
    gf_buffer_str(&p.sample, documents);
    gf_buffer_reset(&text);
    gf_buffer_str(&text, answer);
    assert_ok(gf_titles_check_answer(&text, &p, &list, &at[0], &why, &err));
    gf_prompt_release(&p);
    const char *words = why.len ? gf_buffer_cstr(&why) : NULL;
    return words;
}

static void short_titles_are_of_their_language(void **state)
{
    (void)state;
    static const char *const english[] = {"Login fails after the update",
                                          "Crash on start",
                                          "Battery drain on Android",
                                          "Bike commuting in winter",
                                          "Learning Spanish and French",
                                          "Refund not received",
                                          "Payment declined",
                                          "Dark mode request",
                                          "Aquaponics fish tanks",
                                          "Riot Games PBE bugs",
                                          "iOS 17 keyboard lag",
                                          "Video player crashes",
                                          "Slow sync",
                                          "Export to CSV",
                                          "Locks",
                                          "Picking locks as a hobby",
                                          "C# compiler errors",
                                          "Café and restaurant tips",
                                          "Billing: double charges and refunds",
                                          "Push notifications don't arrive"};
    static const char *const german[] = {"Anmeldung schlägt nach dem Update fehl",
                                         "Absturz beim Start",
                                         "Dunkler Modus gewünscht",
                                         "Rechnung doppelt abgebucht",
                                         "Akku schnell leer",
                                         "Fehler in der Suche"};
    for (size_t i = 0; i < sizeof english / sizeof *english; i++) {
        const char *fault = fault_of(english[i], "english", "plain text of documents");
        if (fault) fail_msg("\"%s\": %s", english[i], fault);
    }
    for (size_t i = 0; i < sizeof german / sizeof *german; i++) {
        const char *fault = fault_of(german[i], "german", "Texte der Dokumente");
        if (fault) fail_msg("\"%s\": %s", german[i], fault);
        if (i % 2 == 0 && i != 2 && i != 4)
            assert_non_null(fault_of(german[i], "english", "plain text"));
    }
    assert_string_equal(fault_of("Проблемы со входом", NULL, "plain text"),
                        "it is not in the language of the documents");
    assert_null(fault_of("Проблемы со входом", "russian", "не входит"));
    assert_null(fault_of("登入問題", NULL, "ログインできない"));
    assert_null(fault_of("Login", NULL, ""));
}

static void twins_are_found_in_labels_and_titles(void **state)
{
    (void)state;
    assert_string_equal(fault_of("chess", "english", ""), "cluster 2 is called so already");
    assert_string_equal(fault_of("GAMES.", "english", ""), "cluster 2 is called so already");
    assert_null(fault_of("Locks", "english", "")); /* its own label */
}

typedef struct answering {
    gf_json_parser *parser;
    gf_slice body;
} answering;

static gf_status read_and_check(void *context, gf_error *err)
{
    answering *a = context;
    gf_buffer text = {0}, why = {0};
    gf_titled_cluster at[1] = {{.id = 1, .label = GF_SLICE("locks")}};
    gf_titled_clusters list = {.at = at, .n = 1};
    gf_prompt p = {.language = gf_language_find(GF_SLICE("english"))};
    gf_status st = gf_titles_read_answer(a->parser, a->body, &text, &why, err);
    if (st == GF_OK) st = gf_titles_check_answer(&text, &p, &list, &at[0], &why, err);
    if (st == GF_OK)
        assert_true(gf_slice_equal(gf_buffer_view(&text), GF_SLICE("Locks and picks")));
    gf_buffer_release(&text);
    gf_buffer_release(&why);
    return st;
}

static void cut_and_damaged_bodies_have_no_text(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer text = {0}, why = {0};
    answering a = {.body = GF_SLICE("{\"choices\":[{\"message\":{\"content\":\"\\u201cLocks and "
                                    "picks\\u201d.\"},\"finish_reason\":\"stop\"}]}")};
    assert_ok(gf_json_parser_create(&a.parser, &err));
    for (size_t n = 0; n < a.body.len; n++) {
        assert_ok(gf_titles_read_answer(a.parser, gf_slice_of(a.body.ptr, n), &text, &why, &err));
        assert_true(why.len > 0 && text.len == 0);
    }
    gf_test_sweep(read_and_check, NULL, &a);
    gf_buffer_release(&text);
    gf_buffer_release(&why);
    gf_json_parser_free(a.parser);
}

/* ---- prompts --------------------------------------------------------------------------------- */

typedef struct showing {
    fixture *f;
    gf_buffer prompts;
    uint64_t n;
} showing;

static gf_status keep_prompt(void *context, const gf_title_info *info, gf_error *err)
{
    showing *s = context;
    (void)err;
    assert_int_equal(info->outcome, GF_TITLE_SHOWN);
    gf_buffer_slice(&s->prompts, info->prompt);
    s->n++;
    return GF_OK;
}

static gf_status show_prompts(void *context, gf_error *err)
{
    showing *s = context;
    gf_titles_options o = GF_TITLES_OPTIONS(.model = "m", .show = true);
    gf_buffer_reset(&s->prompts);
    s->n = 0;
    gf_status st =
        gf_titles_make(s->f->store, fixture_place("c"), fixture_default(), &o, keep_prompt, s, err);
    return st == GF_OK ? gf_buffer_check(&s->prompts, err) : st;
}

static void prompts_are_the_same_each_time(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    showing s = {.f = &f};
    gf_buffer first = {0};
    fixture_open_subjects(&f);
    assert_ok(show_prompts(&s, &err));
    assert_int_equal(s.n, 3);
    gf_buffer_slice(&first, gf_buffer_view(&s.prompts));
    fixture_rebuild(&f, "c");
    assert_ok(show_prompts(&s, &err));
    assert_true(gf_slice_equal(gf_buffer_view(&first), gf_buffer_view(&s.prompts)));
    gf_test_sweep(show_prompts, NULL, &s);
    fixture_is_sound(&f);
    gf_buffer_release(&first);
    gf_buffer_release(&s.prompts);
    fixture_close(&f);
}

static void a_cluster_without_documents_is_not_asked_about(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    showing s = {.f = &f};
    fixture_open_subjects(&f);
    for (int i = 0; i < 4; i++) {
        char id[8];
        snprintf(id, sizeof id, "%03d", i);
        fixture_delete(&f, "c", id);
    }
    assert_ok(show_prompts(&s, &err));
    assert_int_equal(s.n, 2);
    gf_buffer_release(&s.prompts);
    fixture_close(&f);
}

static void options_are_checked(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    showing s = {.f = &f};
    const gf_titles_options bad[] = {
        {.model = "m", .show = true},
        GF_TITLES_OPTIONS(.show = true),
        GF_TITLES_OPTIONS(.model = "m"),
        GF_TITLES_OPTIONS(.model = "m", .url = "localhost"),
        GF_TITLES_OPTIONS(.model = "m", .url = "http://u:p@localhost"),
        GF_TITLES_OPTIONS(.model = "m", .url = "http://localhost", .key = GF_SLICE("a\r\nb: c")),
        GF_TITLES_OPTIONS(.model = "m", .show = true, .language = GF_SLICE("klingon"))};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(gf_titles_make(f.store, fixture_place("c"), fixture_default(), &bad[i],
                                        keep_prompt, &s, &err),
                         GF_EINVAL);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_titles_are_of_their_language),
        cmocka_unit_test(twins_are_found_in_labels_and_titles),
        cmocka_unit_test(cut_and_damaged_bodies_have_no_text),
        cmocka_unit_test(prompts_are_the_same_each_time),
        cmocka_unit_test(a_cluster_without_documents_is_not_asked_about),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests_name("titles", tests, NULL, NULL);
}

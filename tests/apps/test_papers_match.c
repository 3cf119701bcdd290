/* Titles that are alike, and papers matched against a catalogue. */
#include "apps/papers/title.h"
#include "tests/apps/papers.h"

static void check_slug(const char *title, const char *expected)
{
    gf_error err;
    gf_buffer slug = {0};
    assert_ok(gf_title_slug(gf_slice_str(title), &slug, &err));
    assert_slice(gf_buffer_view(&slug), expected);
    gf_buffer_release(&slug);
}

static int score(const char *a, const char *b)
{
    gf_error err;
    int result = -1, back = -1;
    assert_ok(gf_title_score(gf_slice_str(a), gf_slice_str(b), &result, &err));
    assert_ok(gf_title_score(gf_slice_str(b), gf_slice_str(a), &back, &err));
    assert_int_equal(result, back);
    return result;
}

static void test_papers__check_7(void **state)
{
    (void)state;
    check_slug("HELLO!:the:re", "hellothere");
    check_slug("short", "");
    check_slug("seven77", "");
    check_slug("eight 888", "eight888");
    check_slug("\xC3\x89tudes fran\xC3\xA7"
               "aises \xE2\x80\x93 n\xC2\xB0 \xEF\xAC\x81n",
               "etudesfrancaisesnfin");
    check_slug("e\xCC\x81tudes franc\xCC\xA7"
               "aises",
               "etudesfrancaises");
    check_slug("", "");
    assert_int_equal(score("sturgeon", "urgently"), 250);
    assert_int_equal(score("Same  Title ", "same title"), 1000);
    assert_int_equal(score("", ""), 0);
    assert_int_equal(score("abc", ""), 0);
    assert_int_equal(score("kitten", "sitting"), 571);
}

#define AUTHOR(surname) "<author><persName><surname>" surname "</surname></persName></author>"
#define PAPER                                                                                      \
    "<TEI><teiHeader><fileDesc><titleStmt><title>How bees dance</title></titleStmt><sourceDesc>"   \
    "<biblStruct><analytic>" AUTHOR("Frisch") AUTHOR(                                              \
        "M\xC3\xBCller") "</analytic></biblStruct></sourceDesc></fileDesc></teiHeader></TEI>"

static void check_match(transport *t, const char *works, const char *mstatus, const char *doi)
{
    transport_input(t, "works.jsonl", gf_slice_str(works));
    assert_run(t, "papers match");
    assert_int_equal(t->n_rows, 1);
    assert_slice(transport_text(t, 0, "mstatus"), mstatus);
    assert_int_equal(transport_has(t, 0, "doi"), doi != NULL);
    if (doi) assert_slice(transport_text(t, 0, "doi"), doi);
}

static void matches(void **state)
{
    (void)state;
    transport t;
    gf_buffer value = {0};
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_match(&t, "{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\"}\n", "match", "10/a");
    check_match(&t,
                "{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\"}\n"
                "{\"id\":2,\"title\":\"HOW BEES DANCE\",\"doi\":\"10/b\"}\n",
                "ambiguous", NULL);
    check_match(
        &t,
        "{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\",\"authors\":[\"K. Lorenz\"]}"
        "\n{\"id\":2,\"title\":\"How bees dance!\",\"doi\":\"10/b\",\"authors\":[\"Muller, "
        "A.\",{\"family\":\"Frisch\"}]}\n",
        "match", "10/b");
    check_match(&t, "{\"id\":1,\"title\":\"H-o-w-b-e-e-s-d-a-n-c-e\",\"doi\":\"10/a\"}\n",
                "no-match", NULL); /* the same slug, but 500 of 1000 */
    assert_false(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_MATCH, "doi", &value));
    check_match(&t, "{\"id\":1,\"title\":\"How bees sing\",\"doi\":\"10/a\"}\n", "no-match", NULL);
    gf_buffer_release(&value);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_papers__check_7),
                                       cmocka_unit_test(matches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

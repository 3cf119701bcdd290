/* Titles that are alike, and papers matched against a catalogue. */
#include "apps/papers/matching/doi.h"
#include "apps/papers/matching/markup.h"
#include "apps/papers/matching/surnames.h"
#include "apps/papers/matching/title.h"
#include "apps/papers/matching/works.h"
#include "base/memory.h"
#include "base/random.h"
#include "tests/apps/papers.h"

#include <time.h>

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
    int result = gf_title_score(gf_slice_str(a), gf_slice_str(b));
    assert_int_equal(result, gf_title_score(gf_slice_str(b), gf_slice_str(a)));
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

/* One letter may be two in upper case, and some have a stroke that no decomposition takes off. */
static void folds_case_fully(void **state)
{
    (void)state;
    check_slug("Stra\xC3\x9F"
               "enverkehr",
               "strassenverkehr");
    check_slug("STRASSENVERKEHR", "strassenverkehr");
    check_slug("STRA\xE1\xBA\x9E"
               "ENVERKEHR",
               "strassenverkehr");
    check_slug("\xC3\x98l \xC5\x81\xC3\xB3"
               "d\xC5\xBA \xC3\x86ra \xC5\x93uvre \xC4\x90ur\xC4\x91 \xC4\xB1i\xC4\xB0",
               "ollodzaeraoeuvredurdiii");
    check_slug("\xCE\x91\xCE\xA3\xCE\xA3\xCE\x9F\xCE\xA3 123",
               "\xCE\xB1\xCF\x83\xCF\x83\xCE\xBF\xCF\x83"
               "123");
    check_slug("\xF0\x90\x90\x80\xF0\x90\x90\xA8 deseret", /* beyond 16 bits */
               "\xF0\x90\x90\xA8\xF0\x90\x90\xA8"
               "deseret");
    assert_int_equal(score("Wei\xC3\x9F", "WEISS"), 1000);
    assert_int_equal(score("Stra\xC3\x9F"
                           "enverkehr",
                           "STRASSENVERKEHR"),
                     1000);
}

#define AUTHOR(surname) "<author><persName><surname>" surname "</surname></persName></author>"
#define PAPER                                                                                      \
    "<TEI><teiHeader><fileDesc><titleStmt><title>How bees dance</title></titleStmt><sourceDesc>"   \
    "<biblStruct><analytic>" AUTHOR("Frisch") AUTHOR(                                              \
        "M\xC3\xBCller") "</analytic></biblStruct></sourceDesc></fileDesc></teiHeader></TEI>"

static void check_papers(transport *t, const char *mstatus, const char *doi)
{
    assert_int_equal(t->n_rows, 1);
    assert_slice(transport_text(t, 0, "mstatus"), mstatus);
    assert_int_equal(transport_has(t, 0, "doi"), doi != NULL);
    if (doi) assert_slice(transport_text(t, 0, "doi"), doi);
}

/* One part of a catalogue, joined with what was there. */
static void check_part(transport *t, const char *works, const char *mstatus, const char *doi)
{
    transport_input(t, "works.jsonl", gf_slice_str(works));
    assert_run(t, "papers match");
    check_papers(t, mstatus, doi);
}

/* A catalogue alone. */
static void check_match(transport *t, const char *works, const char *mstatus, const char *doi)
{
    transport_input(t, "works.jsonl", gf_slice_str(works));
    assert_run(t, "papers match", "replace", "true");
    check_papers(t, mstatus, doi);
}

#define BY_FRISCH "\",\"authors\":[\"K. Frisch\"]}\n"
#define WORK(id, title, doi_text)                                                                  \
    "{\"id\":\"" id "\",\"title\":\"" title "\",\"doi\":\"" doi_text BY_FRISCH

static void matches(void **state)
{
    (void)state;
    transport t;
    gf_buffer value = {0};
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_match(&t, WORK("1", "How bees dance", "10/a"), "match", "10/a");
    check_match(&t, WORK("1", "How bees dance", "10/a") WORK("2", "HOW BEES DANCE", "10/b"),
                "ambiguous", NULL);
    check_match(&t, WORK("1", "How bees dance", "10/a") WORK("2", "How bees dance", ""), "match",
                "10/a");
    check_match(
        &t,
        "{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\",\"authors\":[\"K. Lorenz\"]}"
        "\n{\"id\":2,\"title\":\"How bees dance!\",\"doi\":\"10/b\",\"authors\":[\"Muller, "
        "A.\",{\"family\":\"Frisch\"}]}\n",
        "match", "10/b");
    check_match(&t, WORK("1", "H-o-w-b-e-e-s-d-a-n-c-e", "10/a"), "no-match",
                NULL); /* the same slug, but 500 of 1000 */
    assert_false(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_MATCH, "doi", &value));
    check_match(&t, WORK("1", "How bees sing", "10/a"), "no-match", NULL);
    gf_buffer_release(&value);
    transport_close(&t);
}

static void matches_letters_of_two(void **state)
{
    (void)state;
    transport t;
    gf_slice paper = GF_SLICE(
        "<TEI><teiHeader><fileDesc><titleStmt><title>Stra\xC3\x9F"
        "enverkehr</title></titleStmt><sourceDesc><biblStruct><analytic>" AUTHOR("Wei\xC3\x9F")
            AUTHOR("S\xC3\xB8rensen") "</analytic></biblStruct></sourceDesc></fileDesc>"
                                      "</teiHeader></TEI>");
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, paper);
    check_match(&t,
                "{\"id\":1,\"title\":\"STRASSENVERKEHR\",\"doi\":\"10.1/a\",\"authors\":["
                "\"WEISS, A.\",\"SORENSEN, B.\"]}\n",
                "match", "10.1/a");
    transport_close(&t);
}

/* ---- parts of a catalogue -------------------------------------------------------------------- */

static void a_part_undoes_nothing(void **state)
{
    (void)state;
    transport t;
    gf_buffer value = {0};
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_part(&t, WORK("1", "How bees dance", "10/a"), "match", "10/a");
    check_part(&t, WORK("2", "How bees sing", "10/b"), "match", "10/a");
    check_part(&t, WORK("3", "How bees: dance", "10/c"), "match", "10/a"); /* scores less */
    check_part(&t, WORK("1", "How bees dance", "10/A"), "match", "10/a");  /* the same again */
    check_part(&t, WORK("0", "How bees dance", "https://doi.org/10/a"), "match", "10/a");
    assert_slice(transport_text(&t, 0, "record"), "0");
    check_part(&t, WORK("4", "How bees dance", "10/d"), "ambiguous", NULL);
    check_part(&t, WORK("1", "How bees dance", "10/a"), "ambiguous", NULL);
    assert_slice(transport_text(&t, 0, "also"), "10/d");
    assert_false(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_MATCH, "doi", &value));
    check_match(&t, WORK("2", "How bees sing", "10/b"), "no-match", NULL);
    transport_input(&t, "works.jsonl", GF_SLICE(WORK("4", "How bees dance", "10/d")));
    assert_run(&t, "papers match", "dry-run", "true");
    check_papers(&t, "match", "10/d");
    assert_true(papers_cell(&t, PAPERS_HELLO, GF_PAPERS_MATCH, "mstatus", &value));
    assert_slice(gf_buffer_view(&value), "no-match");
    gf_buffer_release(&value);
    transport_close(&t);
}

/* Rows as they were stored before minfo had a DOI. */
static void joins_what_an_earlier_version_stored(void **state)
{
    (void)state;
    static const struct {
        const char *mstatus, *doi, *minfo, *part, *becomes, *its_doi;
    } cases[] = {{"match", "10/A", "{\"record\":\"w\",\"score\":1000}",
                  WORK("2", "How bees sing", "10/b"), "match", "10/a"},
                 {"match", "10/A", "{\"record\":\"w\",\"score\":1000}",
                  WORK("2", "How bees dance", "10/a"), "match", "10/a"},
                 {"match", "10/A", "{\"record\":\"w\",\"score\":1000}",
                  WORK("2", "How bees dance", "10/b"), "ambiguous", NULL},
                 {"match", "10/A", "{\"record\":\"w\",\"score\":928}",
                  WORK("2", "How bees dance", "10/b"), "match", "10/b"},
                 {"ambiguous", "", "{\"record\":\"w\",\"score\":1000}",
                  WORK("2", "How bees dance", "10/b"), "ambiguous", NULL},
                 {"ambiguous", "", "{\"record\":\"w\",\"score\":928}",
                  WORK("2", "How bees dance", "10/b"), "match", "10/b"},
                 {"no-match", "", "{\"record\":\"w\",\"score\":500}",
                  WORK("2", "How bees dance", "10/b"), "match", "10/b"},
                 {"no-match", "", "{}", WORK("2", "How bees sing", "10/b"), "no-match", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        transport t;
        gf_error err;
        gf_papers *papers;
        gf_papers_import *import;
        gf_sha1 sha1 = papers_digest(PAPERS_HELLO);
        gf_papers_match stored = {cases[i].mstatus, gf_slice_str(cases[i].doi),
                                  gf_slice_str(cases[i].minfo)};
        transport_open(&t);
        papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
        assert_ok(
            gf_papers_open(t.store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err));
        assert_ok(gf_papers_import_open(papers, true, &import, &err));
        assert_ok(gf_papers_import_match(import, &sha1, &stored, &err));
        assert_ok(gf_papers_import_flush(import, &err));
        gf_papers_import_close(import);
        gf_papers_close(papers);
        check_part(&t, cases[i].part, cases[i].becomes, cases[i].its_doi);
        check_part(&t, cases[i].part, cases[i].becomes, cases[i].its_doi);
        transport_close(&t);
    }
}

/* Matches of a few values each, joined in any order and grouping. */
static gf_works_match make_match(gf_random *random)
{
    static const gf_slice dois[] = {{"", 0}, {"10/a", 4}, {"10/b", 4}, {"10/c", 4}};
    static const gf_slice ids[] = {{"x", 1}, {"y", 1}};
    return (gf_works_match){.kind = (gf_match_kind)gf_random_below(random, 4),
                            .score = 998 + (int)gf_random_below(random, 3),
                            .id = ids[gf_random_below(random, 2)],
                            .doi = dois[gf_random_below(random, 4)],
                            .also = {"", 0}};
}

static void any_order_and_cut(void **state)
{
    (void)state;
    enum { MATCHES = 8 };
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 20000; i++) {
        gf_works_match all[MATCHES], in_order = {.id = {"", 0}}, in_parts[3];
        for (int k = 0; k < 3; k++)
            in_parts[k] = in_order;
        for (int k = 0; k < MATCHES; k++) {
            all[k] = make_match(&random);
            in_order = gf_works_match_join(&in_order, &all[k]);
        }
        for (int k = 4 * MATCHES; k > 0; k--) { /* each some times, in any order, and at last all */
            size_t at = k <= MATCHES ? (size_t)k - 1 : gf_random_below(&random, MATCHES);
            gf_works_match *part = &in_parts[gf_random_below(&random, 3)];
            *part = gf_works_match_join(part, &all[at]);
        }
        gf_works_match joined = gf_works_match_join(&in_parts[1], &in_parts[2]);
        joined = gf_works_match_join(&joined, &in_parts[0]);
        assert_true(gf_works_match_equal(&in_order, &joined));
    }
}

/* ---- records of catalogues ------------------------------------------------------------------- */

static void reads_crossref(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_match(&t,
                "{\"DOI\":\"10.1/BEES\",\"title\":[\"How <i>bees<\\/i> dance\"],\"author\":[{"
                "\"given\":\"Karl\",\"family\":\"Frisch\",\"sequence\":\"first\"}]}\n",
                "match", "10.1/bees");
    assert_slice(transport_text(&t, 0, "record"), "10.1/bees");
    check_match(&t,
                "{\"DOI\":\"10.1/BEES\",\"title\":[\"How bees dance\"],\"author\":[{"
                "\"family\":\"Lorenz\"}]}\n",
                "no-match", NULL);
    check_match(&t,
                "{\"DOI\":\"10.1/b\",\"title\":[\"How\"],\"subtitle\":[\"bees dance\"],\"author\":["
                "{\"name\":\"Bee Collaboration\"},{\"family\":\"Frisch\"}]}\n",
                "match", "10.1/b"); /* "How: bees dance" */
    check_match(&t,
                "{\"DOI\":\"10.1/b\",\"title\":[\"How bees dance\"],\"subtitle\":[\"A review\"],"
                "\"author\":[{\"family\":\"Frisch\"}]}\n",
                "ambiguous", NULL);
    check_match(&t,
                "{\"DOI\":\"10.1/b\",\"title\":[\"How bees dance\"],\"subtitle\":[\"Dance\"],"
                "\"author\":[{\"family\":\"Frisch\"}]}\n",
                "match", "10.1/b"); /* which the title has */
    check_match(&t,
                "{\"status\":\"ok\",\"message-type\":\"work\",\"message\":{\"DOI\":\"10.1/b\","
                "\"title\":[\"How bees dance\"],\"author\":[{\"family\":\"Frisch\"}]}}\n",
                "match", "10.1/b");
    check_match(&t,
                "{\"status\":\"ok\",\"message-type\":\"work-list\",\"message\":{\"facets\":{},"
                "\"items\":[{\"DOI\":\"10.1/c\",\"title\":[]},{\"DOI\":\"10.1/b\",\"title\":["
                "\"How bees dance\"],\"author\":[{\"family\":\"Frisch\"}]}],\"query\":{}}}\n",
                "match", "10.1/b");
    check_match(&t,
                "{\"DOI\":\"10.1/b\",\"title\":[\"How bees dance\"],\"author\":[{\"name\":"
                "\"Institute of Frisch\"}]}\n",
                "ambiguous", NULL);
    assert_slice(transport_text(&t, 0, "by"), "title");
    transport_close(&t);
}

static void reads_fatcat(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_match(&t,
                "{\"ident\":\"aa\",\"title\":\"How bees dance\",\"ext_ids\":{\"doi\":\"10.1/b\"},"
                "\"contribs\":[{\"raw_name\":\"Karl Frisch\",\"surname\":\"Frisch\",\"role\":"
                "\"author\"},{\"raw_name\":\"E. Ditor\",\"role\":\"editor\"}]}\n",
                "match", "10.1/b");
    assert_slice(transport_text(&t, 0, "record"), "aa");
    check_match(&t,
                "{\"ident\":\"aa\",\"title\":\"How bees dance\",\"doi\":\"10.1/old\",\"contribs\":["
                "{\"creator\":{\"surname\":\"Frisch\"}},{\"raw_name\":\"M\xC3\xBCller, A.\"}]}\n",
                "match", "10.1/old");
    check_match(&t,
                "{\"ident\":\"aa\",\"title\":\"How bees dance\",\"doi\":\"10.1/b\",\"contribs\":["
                "{\"surname\":\"Lorenz\"}]}\n",
                "no-match", NULL);
    check_match(&t, "{\"ident\":\"aa\",\"title\":\"How bees dance\",\"contribs\":[]}\n",
                "ambiguous", NULL);
    transport_close(&t);
}

static void reads_named_fields(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    transport_input(&t, "works.jsonl",
                    GF_SLICE("{\"key\":7,\"bib\":{\"name\":\"How bees dance\",\"by\":\"K. Frisch; "
                             "Adam M\xC3\xBCller\"},\"x.doi\":\"doi:10.1/B\"}\n"));
    assert_run(&t, "papers match", "id", "key", "title", "bib.name", "authors", "bib.by", "doi",
               "x.doi");
    check_papers(&t, "match", "10.1/b");
    assert_slice(transport_text(&t, 0, "record"), "7");
    transport_input(&t, "works.csv",
                    GF_SLICE("id,title,doi,authors\n1,How bees dance,10.1/b,\"Frisch, Karl\"\n"));
    assert_run(&t, "papers match", "replace", "true");
    check_papers(&t, "match", "10.1/b");
    transport_input(&t, "works.jsonl", GF_SLICE("{\"DOI\":\"10.1/b\",\"title\":[\"A title\"]}\n"));
    assert_refused(GF_EINVAL, "no record has a title in the field \"titel\"", &t, "papers match",
                   "title", "titel");
    transport_close(&t);
}

static void tells_of_missing_authors(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_match(&t, "{\"id\":1,\"title\":\"How bees dance\",\"doi\":\"10/a\"}\n", "ambiguous",
                NULL);
    assert_int_equal(t.n_notices, 1);
    assert_string_equal(t.notices[0].reason, "without_authors");
    assert_non_null(strstr(t.notices[0].message, "no record has authors (--authors FIELD"));
    check_match(&t,
                "{\"id\":1,\"title\":\"On ants\"}\n{\"id\":2,\"title\":\"On wasps\"}\n"
                "{\"id\":3,\"title\":\"On flies\"}\n" WORK("4", "On bees", "10/a"),
                "no-match", NULL);
    assert_int_equal(t.n_notices, 1);
    assert_non_null(strstr(t.notices[0].message, "3 of 4 records have no authors"));
    check_match(&t, WORK("4", "On bees", "10/a") "{\"id\":5,\"title\":null}\n", "no-match", NULL);
    assert_int_equal(t.n_notices, 0);
    transport_close(&t);
}

static void check_doi(const char *doi, const char *expected)
{
    gf_buffer text = {0};
    gf_doi_append(gf_slice_str(doi), &text);
    assert_slice(gf_buffer_view(&text), expected);
    gf_buffer_reset(&text);
    gf_buffer_str(&text, "before ");
    gf_doi_append(gf_slice_str(doi), &text);
    assert_slice(gf_slice_skip(gf_buffer_view(&text), 7), expected);
    gf_buffer_release(&text);
}

static void reads_dois(void **state)
{
    (void)state;
    static const char *const same[] = {"10.1000/ABC",
                                       " 10.1000/abc\xC2\xA0",
                                       "\xE2\x80\x89 doi: 10.1000/abc\n",
                                       "https://doi.org/10.1000/ABC",
                                       "HTTP://DX.DOI.ORG/10.1000/abc",
                                       "http://www.doi.org/10.1000/abc",
                                       "doi.org/10.1000/abc",
                                       "dx.doi.org/10.1000/abc",
                                       "info:doi/10.1000/abc",
                                       "DOI:doi:10.1000/abc",
                                       "doi:https://doi.org/10.1000/abc",
                                       "https://doi.org/doi:10.1000/abc",
                                       "https://doi.org/https://doi.org/10.1000/abc",
                                       "https://doi.org/10.1000%2FABC",
                                       "https://doi.org/10.1000/%61%62%43%20"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        check_doi(same[i], "10.1000/abc");
    check_doi("https://doi.org/10.1002/%28SICI%291099(199601)1:1%3C1::AID-1%3E3.0.CO;2-%23",
              "10.1002/(sici)1099(199601)1:1<1::aid-1>3.0.co;2-#");
    check_doi("10.1000/a%2Fb", "10.1000/a%2fb"); /* no address */
    check_doi("https://doi.org/10.1/%C3%A9", "10.1/\xC3\xA9");
    check_doi("https://doi.org/10.1/%E9%00", "10.1/%e9%00"); /* Latin 1 */
    check_doi("https://doi.org/10.1/a%2", "10.1/a%2");
    check_doi("https://doi.org/10.1/a%00%7F", "10.1/a%00%7f");
    check_doi("10/abcd", "10/abcd");
    static const char *const none[] = {"",
                                       "N/A",
                                       "n/a",
                                       "none",
                                       "doi:",
                                       "10.",
                                       "10.1000",
                                       "10.1000/",
                                       "1000/10",
                                       "-",
                                       "https://doi.org/",
                                       "https://example.org/10.1000/abc",
                                       "\xC2\xA0"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        check_doi(none[i], "");
}

static void takes_no_doi_for_none(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_match(&t, WORK("1", "How bees dance", "10.1/a") WORK("2", "How bees dance", "N/A"),
                "match", "10.1/a");
    check_match(&t,
                WORK("1", "How bees dance", "https://doi.org/10.1%2FA")
                    WORK("2", "How bees dance", "doi: info:doi/10.1/a"),
                "match", "10.1/a");
    check_match(&t, WORK("1", "How bees dance", "N/A"), "match", NULL);
    transport_close(&t);
}

static void check_title(const char *title, const char *expected)
{
    gf_error err;
    gf_buffer text = {0};
    assert_ok(gf_markup_strip(gf_slice_str(title), &text, &err));
    assert_slice(gf_buffer_view(&text), expected);
    gf_buffer_release(&text);
}

static void reads_html_of_titles(void **state)
{
    (void)state;
    check_title("Plain", "Plain");
    check_title("<i>Drosophila</i> &amp; H<sub>2</sub>O", "Drosophila & H2O");
    check_title("&lt;i&gt;Apis&lt;/i&gt; &amp;amp; others", "Apis & others");
    check_title("p < 0.05 and q > 0.1", "p < 0.05 and q > 0.1");
    check_title("a <b and c> d", "a <b and c> d");
    check_title("<mml:math xmlns:mml=\"http://www.w3.org/1998/Math/MathML\"><mml:mi>x</mml:mi>"
                "</mml:math>-rays &eacute; &#233; &unknown;",
                "x-rays \xC3\xA9 \xC3\xA9 &unknown;");
    check_title("<", "<");
    check_title("<i></i>", "");
}

static void reads_markup_of_titles(void **state)
{
    (void)state;
    check_title("A<a title=\"b > c\" href='x>y'>B</a>C", "ABC");
    check_title("A<span class = \"i<b>\">B</span>", "AB");
    check_title("How<br>bees<br/>dance<BR />now</br> <jats:break/>here", "How bees dance now here");
    check_title("How <!-- <i>not</i> > this -->bees<!--> dance<!--->!", "How bees dance!");
    check_title("<![CDATA[p < 0.05 & q]]> of <![CDATA[]]>bees", "p < 0.05 & q of bees");
    check_title("<![CDATA[How <i>bees</i> &amp; wasps]]>", "How bees & wasps");
    check_title("a <!-- b", "a <!-- b");
    check_title("a <![CDATA[ b ]]", "a <![CDATA[ b ]]");
    check_title("a <b c=\"d", "a <b c=\"d");
    check_title("a <b c=\"d> e", "a e"); /* the quote has no end */
    check_title("x <i and y=\"1\" <b>z</b>", "x <i and y=\"1\" z");
}

/* Beginnings without an end cost no search of the rest each. */
static void reads_hostile_titles(void **state)
{
    (void)state;
    static const char *const starts[] = {"<!--", "<![CDATA[", "<b ", "<a \"=\""};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        gf_error err;
        gf_buffer title = {0}, text = {0};
        while (title.len < 400000)
            gf_buffer_str(&title, starts[i]);
        clock_t start = clock();
        assert_ok(gf_markup_strip(gf_buffer_view(&title), &text, &err));
        assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
        assert_true(text.len > 390000);
        gf_buffer_release(&title);
        gf_buffer_release(&text);
    }
}

/* A record is read, added and found: the n-th allocation fails. */
static gf_status read_and_find(void *context, gf_error *err)
{
    const gf_field fields[] = {
        {GF_SLICE("DOI"), GF_SLICE("\"10.1/A\"")},
        {GF_SLICE("title"), GF_SLICE("[\"How <i>bees</i> &amp; wasps\",\"More\"]")},
        {GF_SLICE("subtitle"), GF_SLICE("[\"A dance\"]")},
        {GF_SLICE("author"), GF_SLICE("[{\"family\":\"Frisch\"},{\"name\":\"A Group\"}]")}};
    const gf_record record = {.hashed_id = true,
                              .document = {.id = {"hash", 4}, .fields = fields, .n_fields = 4}};
    static const gf_catalogue_fields none = {{"", 0}, {"", 0}, {"", 0}, {"", 0}};
    gf_catalogue *c = NULL;
    gf_works *w = NULL;
    gf_json_parser *json = NULL;
    gf_json_value authors;
    gf_work work;
    gf_works_match *match = context;
    gf_slice title = GF_SLICE("How bees & wasps: a dance");
    gf_status st = gf_catalogue_create(&none, &c, err);
    if (st == GF_OK) st = gf_works_create(&w, err);
    if (st == GF_OK) st = gf_json_parser_create(&json, err);
    if (st == GF_OK) st = gf_works_want(w, title, err);
    if (st == GF_OK) st = gf_catalogue_read(c, &record, &work, err);
    if (st == GF_OK) st = gf_works_add(w, &work, err);
    if (st == GF_OK)
        st = gf_json_parse_copy(json, GF_SLICE("[{\"surname\":\"Frisch\"}]"), &authors, err);
    if (st == GF_OK) st = gf_works_find(w, title, authors, NULL, match, err);
    gf_catalogue_free(c);
    gf_works_free(w);
    gf_json_parser_free(json);
    return st;
}

static void no_memory(void **state)
{
    (void)state;
    gf_works_match match = {.kind = GF_MATCH_NONE};
    gf_test_sweep(read_and_find, NULL, &match);
    assert_int_equal(match.kind, GF_MATCH_AGREES);
    assert_int_equal(match.score, 1000);
}

static void check_surname(const char *name, const char *expected)
{
    gf_error err;
    gf_json_parser *parser;
    gf_json_value authors;
    gf_buffer json = {0}, surnames = {0};
    gf_buffer_format(&json, "[\"%s\"]", name);
    assert_ok(gf_json_parser_create(&parser, &err));
    assert_ok(gf_json_parse_copy(parser, gf_buffer_view(&json), &authors, &err));
    assert_ok(gf_surnames_append(authors, false, &surnames, &err));
    assert_string_equal(surnames.len ? surnames.ptr : "", expected);
    gf_json_parser_free(parser);
    gf_buffer_release(&json);
    gf_buffer_release(&surnames);
}

static void reads_surnames(void **state)
{
    (void)state;
    static const char *const frisch[] = {"Karl Frisch",
                                         "Frisch, Karl",
                                         "Karl\xC2\xA0"
                                         "Frisch",
                                         "Karl\xE2\x80\xAF"
                                         "Frisch\xC2\xA0",
                                         "Frisch K",
                                         "Frisch K.",
                                         "Frisch K.H.",
                                         "Frisch K. H.",
                                         "Frisch K.-H.",
                                         "Frisch \xC3\x89.",
                                         "Frisch E\xCC\x81",
                                         "K. Frisch",
                                         "Karl Frisch Jr",
                                         "Karl Frisch jr.",
                                         "Karl Frisch, Jr.",
                                         "Frisch, Jr., K.",
                                         "Frisch Jr., Karl",
                                         "Frisch, Karl, Sr",
                                         "Karl Frisch III",
                                         "Karl Frisch, II",
                                         "Karl\xC2\xA0"
                                         "Frisch\xC2\xA0IV.",
                                         "Frisch K Jr",
                                         "Frisch Jr K.",
                                         "Karl Frisch,",
                                         "Karl H. Frisch"};
    for (size_t i = 0; i < sizeof frisch / sizeof *frisch; i++)
        check_surname(frisch[i], "frisch");
    check_surname("von der Tann, Adam", "vondertann");
    check_surname("Wei Li", "li");
    check_surname("Wei LI", "li");
    check_surname("\xE7\x8E\x8B \xE4\xBC\x9F", "\xE4\xBC\x9F"); /* ideographs */
    check_surname("X. Y.", "y");
    check_surname("X", "x");
    check_surname("Jr.", "jr");
    check_surname("III", "iii");
    check_surname("Jr, Karl", "jr");
    check_surname("", "");
    check_surname(",", "");
    check_surname(" , Jr", "");
    check_surname("Karl Frisch et al.", "");
    check_surname("The\xC2\xA0"
                  "Bee\xC2\xA0"
                  "Consortium\xC2\xA0(Vienna)",
                  "");
}

/* Members that are surnames may have a suffix, too. */
static void reads_surnames_of_objects(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_match(&t,
                "{\"DOI\":\"10.1/b\",\"title\":\"How bees dance\",\"author\":[{\"family\":"
                "\"Frisch Jr.\"}]}\n",
                "match", "10.1/b");
    check_match(
        &t,
        "{\"ident\":\"a\",\"doi\":\"10.1/b\",\"title\":\"How bees dance\",\"contribs\":["
        "{\"creator\":{\"surname\":\"Frisch III\"}},{\"raw_name\":\"M\xC3\xBCller A.\"}]}\n",
        "match", "10.1/b");
    transport_close(&t);
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* Works of a long title that are compared with another of its slug; some records come again. */
typedef struct compared {
    gf_works *works;
    gf_json_parser *json;
    gf_json_value authors;
    gf_buffer title, other;
    gf_work work;
} compared;

static void compared_open(compared *c)
{
    gf_error err;
    *c = (compared){.work = {.id = GF_SLICE("w"), .doi = GF_SLICE("10.1/a"), .n_titles = 1}};
    for (int i = 0; i < 500; i++) {
        gf_buffer_str(&c->title, "ab");
        gf_buffer_str(&c->other, i % 2 ? "a-b" : "b.a"); /* as long, and all else */
    }
    c->work.titles[0] = gf_buffer_view(&c->title);
    c->work.surnames = gf_slice_of("frisch", sizeof "frisch");
    assert_ok(gf_works_create(&c->works, &err));
    assert_ok(gf_json_parser_create(&c->json, &err));
    assert_ok(gf_works_want(c->works, gf_buffer_view(&c->title), &err));
    assert_ok(
        gf_json_parse_copy(c->json, GF_SLICE("[{\"surname\":\"Frisch\"}]"), &c->authors, &err));
}

static void compared_close(compared *c)
{
    gf_works_free(c->works);
    gf_json_parser_free(c->json);
    gf_buffer_release(&c->title);
    gf_buffer_release(&c->other);
}

static void compares_without_memory(void **state)
{
    (void)state;
    gf_error err;
    compared c;
    gf_works_match match;
    compared_open(&c);
    assert_ok(gf_works_add(c.works, &c.work, &err));
    for (int again = 0; again < 2; again++) { /* the first makes room for slug and surnames */
        if (again) gf_memory_fail_at(0);
        gf_status st = gf_works_find(c.works, c.work.titles[0], c.authors, NULL, &match, &err);
        int asked = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_ok(st);
        assert_false(asked);
        assert_int_equal(match.kind, GF_MATCH_AGREES);
    }
    compared_close(&c);
}

static void keeps_a_record_once(void **state)
{
    (void)state;
    gf_error err;
    compared c;
    gf_works_match match;
    compared_open(&c);
    assert_ok(gf_works_add(c.works, &c.work, &err));
    gf_memory_fail_at(0);
    gf_status st = GF_OK;
    for (int i = 0; i < 10000 && st == GF_OK; i++)
        st = gf_works_add(c.works, &c.work, &err);
    int asked = gf_memory_failed();
    gf_memory_fail_at(-1);
    assert_ok(st);
    assert_false(asked);
    c.work.doi = GF_SLICE("10.1/b"); /* another record: one member differs */
    assert_ok(gf_works_add(c.works, &c.work, &err));
    assert_ok(gf_works_find(c.works, c.work.titles[0], c.authors, NULL, &match, &err));
    assert_slice(match.also, "10.1/b");
    c.work.doi = GF_SLICE("10.1/a");
    c.work.id = GF_SLICE("v");
    assert_ok(gf_works_add(c.works, &c.work, &err));
    assert_ok(gf_works_find(c.works, c.work.titles[0], c.authors, NULL, &match, &err));
    assert_slice(match.id, "v");
    compared_close(&c);
}

static clock_t time_of_scores(gf_slice a, gf_slice b, int expected)
{
    int got = 0;
    clock_t start = clock();
    for (int i = 0; i < 40; i++)
        got = gf_title_score(a, b);
    if (expected >= 0) assert_int_equal(got, expected);
    return clock() - start;
}

/* Titles that are the same but for a few characters are compared there alone. */
static void compares_what_differs(void **state)
{
    (void)state;
    compared c;
    compared_open(&c);
    gf_slice same = c.work.titles[0], other = gf_slice_of(c.other.ptr, 1000);
    clock_t slow = time_of_scores(same, other, -1);
    assert_true(time_of_scores(same, same, 1000) < slow / 8);
    gf_buffer_reset(&c.other);
    gf_buffer_slice(&c.other, same);
    c.other.ptr[500] = 'x';
    assert_true(time_of_scores(same, gf_buffer_view(&c.other), 999) < slow / 8);
    compared_close(&c);
    assert_int_equal(score("abab", "ab"), 500); /* begin and end of the shorter overlap */
    assert_int_equal(score("ab", "axb"), 666);
    assert_int_equal(score("aa", "aaa"), 666);
}

/* Names alone are persons' in "authors", and organisations' in Crossref's "author". */
static void tells_persons_from_organisations(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO, GF_SLICE(PAPER));
    check_match(&t,
                "{\"DOI\":\"10.1/b\",\"title\":\"How bees dance\",\"authors\":[{\"name\":\"Karl "
                "Frisch\"}]}\n",
                "match", "10.1/b");
    check_match(&t,
                "{\"id\":1,\"doi\":\"10.1/b\",\"title\":\"How bees dance\",\"author\":[{\"name\":"
                "\"Frisch, Karl\"},{\"name\":\"The Bee Consortium\"}]}\n",
                "match", "10.1/b");
    check_match(&t,
                "{\"ident\":\"a\",\"doi\":\"10.1/b\",\"title\":\"How bees dance\",\"contribs\":[],"
                "\"contrib_names\":[\"Karl Frisch\",\"et al.\"]}\n",
                "match", "10.1/b");
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_papers__check_7),
                                       cmocka_unit_test(folds_case_fully),
                                       cmocka_unit_test(matches),
                                       cmocka_unit_test(matches_letters_of_two),
                                       cmocka_unit_test(a_part_undoes_nothing),
                                       cmocka_unit_test(joins_what_an_earlier_version_stored),
                                       cmocka_unit_test(any_order_and_cut),
                                       cmocka_unit_test(reads_crossref),
                                       cmocka_unit_test(reads_fatcat),
                                       cmocka_unit_test(reads_named_fields),
                                       cmocka_unit_test(tells_of_missing_authors),
                                       cmocka_unit_test(reads_dois),
                                       cmocka_unit_test(takes_no_doi_for_none),
                                       cmocka_unit_test(reads_html_of_titles),
                                       cmocka_unit_test(reads_markup_of_titles),
                                       cmocka_unit_test(reads_hostile_titles),
                                       cmocka_unit_test(tells_persons_from_organisations),
                                       cmocka_unit_test(reads_surnames),
                                       cmocka_unit_test(reads_surnames_of_objects),
                                       cmocka_unit_test(compares_without_memory),
                                       cmocka_unit_test(keeps_a_record_once),
                                       cmocka_unit_test(compares_what_differs),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

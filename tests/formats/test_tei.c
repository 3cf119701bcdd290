/* TEI: what is read of it, what is none, what is refused; failing allocations. */
#include "base/clock.h"
#include "base/json/json.h"
#include "formats/documents/tei.h"
#include "support/test.h"

static void check_read(const char *xml, gf_tei_result result, const char *metadata,
                       const char *quality)
{
    gf_error err;
    gf_tei tei = {.result = GF_TEI_SUCCESS};
    assert_ok(gf_tei_read(gf_slice_str(xml), &tei, &err));
    if (tei.result != result) fail_msg("%s: %d: %s", xml, tei.result, tei.reason);
    if (metadata) assert_slice(gf_buffer_view(&tei.metadata), metadata);
    if (quality) assert_string_equal(tei.quality, quality);
    if (result != GF_TEI_SUCCESS) assert_int_equal(tei.json.len, 0);
    if (result == GF_TEI_FAIL) assert_true(tei.reason[0]);
    gf_tei_release(&tei);
}

#define EMPTY "{\"title\":\"\",\"authors\":[],\"journal\":{},\"citations\":[],\"abstract\":\"\"}"

static void results(void **state)
{
    (void)state;
    check_read("<TEI/>", GF_TEI_SUCCESS, EMPTY, "bad");
    check_read("<TEI><text><body>  </body></text></TEI>", GF_TEI_SUCCESS, EMPTY, "bad");
    check_read("<TEI><text><body>x</body></text></TEI>", GF_TEI_SUCCESS, EMPTY, "marginal");
    check_read("", GF_TEI_FAIL, NULL, NULL);
    check_read("this is not XML", GF_TEI_FAIL, NULL, NULL);
    check_read("<TEI>", GF_TEI_FAIL, NULL, NULL);
    check_read("<html/>", GF_TEI_FAIL, NULL, NULL);
    check_read("<tei/>", GF_TEI_FAIL, NULL, NULL);
    check_read("<TEI>&undeclared;</TEI>", GF_TEI_FAIL, NULL, NULL);
}

static void unsafe(void **state)
{
    (void)state;
    check_read("<!DOCTYPE TEI [<!ENTITY a \"b\">]><TEI>&a;</TEI>", GF_TEI_UNSAFE, NULL, NULL);
    check_read("<!DOCTYPE TEI [<!ENTITY % a SYSTEM \"file:///etc/passwd\"> %a;]><TEI/>",
               GF_TEI_UNSAFE, NULL, NULL);
    check_read("<!DOCTYPE TEI SYSTEM \"a.dtd\"><TEI/>", GF_TEI_UNSAFE, NULL, NULL);
    check_read("<!DOCTYPE TEI PUBLIC \"x\" \"http://example.org/a.dtd\"><TEI/>", GF_TEI_UNSAFE,
               NULL, NULL);
    check_read("<!DOCTYPE TEI><TEI/>", GF_TEI_SUCCESS, EMPTY, NULL);
    check_read("<TEI xmlns:xi=\"http://www.w3.org/2001/XInclude\"><teiHeader><fileDesc><titleStmt>"
               "<title><xi:include href=\"/etc/passwd\" parse=\"text\"/></title></titleStmt>"
               "</fileDesc></teiHeader></TEI>",
               GF_TEI_SUCCESS, EMPTY, NULL);
}

/* Elements whose tags would take minutes: attributes, and namespaces, are compared with each other. */
static void check_endless(const char *reason, bool is_unsafe, gf_buffer *xml)
{
    gf_error err;
    gf_tei tei = {.result = GF_TEI_SUCCESS};
    double begun = gf_clock_seconds();
    assert_in_range(xml->len, 1, GF_TEI_MOST);
    assert_ok(gf_tei_read(gf_buffer_view(xml), &tei, &err));
    if (is_unsafe) assert_non_null(strstr(tei.reason, reason));
    assert_int_equal(tei.result, is_unsafe ? GF_TEI_UNSAFE : GF_TEI_SUCCESS);
    if (gf_clock_seconds() - begun > 40) fail_msg("%s: too slow", reason);
    gf_tei_release(&tei);
    gf_buffer_reset(xml);
}

static void attributes(gf_buffer *xml, const char *format, int n)
{
    gf_buffer_str(xml, "<TEI><p");
    for (int i = 0; i < n; i++)
        gf_buffer_format(xml, format, i, i);
    gf_buffer_str(xml, ">x</p></TEI>");
}

static void endless_tags(void **state)
{
    (void)state;
    gf_buffer xml = {0};
    attributes(&xml, " a%d=\"\"", 280000);
    check_endless("a tag has more than 32 KiB", true, &xml);
    attributes(&xml, " a%d=\">\"", 250000);
    check_endless("a tag has more than 32 KiB", true, &xml);
    attributes(&xml, " xmlns:a%d=\"u%d\"", 150000);
    check_endless("a tag has more than 32 KiB", true, &xml);
    attributes(&xml, " a%d=\"\"", 1001);
    check_endless("more than 1,000 attributes", true, &xml);
    attributes(&xml, " xmlns:a%d=\"u%d\"", 1001);
    check_endless("more than 1,000 namespaces", true, &xml);
    attributes(&xml, " a%d=\"\"", 1000);
    check_endless("", false, &xml);
    gf_buffer_str(&xml, "<TEI>");
    for (int k = 0; k < 200; k++) {
        gf_buffer_str(&xml, "<p");
        for (int i = 0; i < 900; i++)
            gf_buffer_format(&xml, " xmlns:a%d=\"%d\"", i, k);
        gf_buffer_str(&xml, ">");
    }
    check_endless("more than 1,000 namespaces", true, &xml);
    gf_buffer_str(&xml, "<TEI>"); /* side by side, they are not around each other */
    for (int k = 0; k < 2000; k++)
        gf_buffer_format(&xml, "<a:p xmlns:a=\"u%d\"/>", k);
    gf_buffer_str(&xml, "</TEI>");
    check_endless("", false, &xml);
    gf_buffer_str(&xml, "<TEI><text><body><!--"); /* only tags are bounded so */
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&xml, " comment");
    gf_buffer_str(&xml, "--><p><![CDATA[");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&xml, "cdata< ");
    gf_buffer_str(&xml, "]]></p><p>");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&xml, "text > ");
    gf_buffer_str(&xml, "</p></body></text></TEI>");
    check_endless("", false, &xml);
    gf_buffer_release(&xml);
}

/* UTF-16 has no bytes that a tag could be told by: what is bounded is what the parser holds. */
static void endless_tags_in_utf16(void **state)
{
    (void)state;
    gf_buffer xml = {0}, wide = {0};
    attributes(&xml, " a%d=\"\"", 100000);
    gf_buffer_append(&wide, "\xFF\xFE", 2);
    for (size_t i = 0; i < xml.len; i++) {
        gf_buffer_byte(&wide, xml.ptr[i]);
        gf_buffer_byte(&wide, 0);
    }
    check_endless("a tag has more than 32 KiB", true, &wide);
    gf_buffer_release(&xml);
    gf_buffer_release(&wide);
}

static void cancels(void **state)
{
    (void)state;
    gf_error err;
    gf_cancel cancel = {0};
    gf_tei tei = {.cancel = &cancel};
    assert_ok(gf_tei_read(GF_SLICE("<TEI/>"), &tei, &err));
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_tei_read(GF_SLICE("<TEI/>"), &tei, &err));
    gf_tei_release(&tei);
}

static void deep_nesting(void **state)
{
    (void)state;
    gf_buffer xml = {0};
    gf_buffer_str(&xml, "<TEI>");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&xml, "<p>");
    check_read(gf_buffer_cstr(&xml), GF_TEI_FAIL, NULL, NULL);
    gf_buffer_release(&xml);
}

#define TITLED(title)                                                                              \
    "<TEI xmlns:x=\"x\"><teiHeader><fileDesc><titleStmt>" title                                    \
    "</titleStmt></fileDesc></teiHeader></TEI>"
#define TITLE(title)                                                                               \
    "{\"title\":\"" title "\",\"authors\":[],\"journal\":{},\"citations\":[],\"abstract\":\"\"}"

/* Texts in pieces, names with prefixes, attributes with entities; one parser for all of them. */
static void pieces(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {TITLED("<title>a<!-- x -->b <?y?> <![CDATA[ <c>]]>&#65;&amp;</title>"), TITLE("ab <c>A&")},
        {TITLED("<title> \n</title>"), TITLE("")},
        {TITLED("<x:title>good</x:title>"), TITLE("good")},
        {TITLED("<y:title>none is declared</y:title>"), TITLE("")},
        {TITLED("<title><p>one</p> <p>two</p></title>"), TITLE("one\\ntwo")},
        {"<TEI><teiHeader><encodingDesc><appInfo><application version=\"&lt;1&#38;2&quot;\" "
         "when=\"\"/></appInfo></encodingDesc></teiHeader></TEI>",
         "{\"grobid_version\":\"<1&2\\\"\",\"title\":\"\",\"authors\":[],\"journal\":{},"
         "\"citations\":[],\"abstract\":\"\"}"}};
    gf_error err;
    gf_tei tei = {.result = GF_TEI_SUCCESS};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_read(cases[i][0], GF_TEI_SUCCESS, cases[i][1], NULL);
        assert_ok(gf_tei_read(GF_SLICE("<TEI><p>broken"), &tei, &err));
        assert_int_equal(tei.result, GF_TEI_FAIL);
        assert_ok(gf_tei_read(gf_slice_str(cases[i][0]), &tei, &err));
        assert_int_equal(tei.result, GF_TEI_SUCCESS);
        assert_slice(gf_buffer_view(&tei.metadata), cases[i][1]);
    }
    gf_tei_release(&tei);
}

static const char paper[] =
    "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader><fileDesc><titleStmt><title>A  "
    "&amp;\n B</title></titleStmt><sourceDesc><biblStruct><analytic><author><persName><forename>"
    "Ada</forename><forename>B.</forename><surname>Love</surname></persName></author><author/>"
    "</analytic><monogr><title level=\"j\">Notes</title><imprint><biblScope unit=\"volume\">3"
    "</biblScope><date type=\"published\" when=\"1843-09\"/></imprint></monogr>"
    "<idno type=\"DOI\">10.1/x</idno></biblStruct></sourceDesc></fileDesc></teiHeader><text><body>"
    "<div><head>One</head><p>Text <ref>[1]</ref>.</p></div></body><back><div type=\"annex\"><p>End"
    "</p></div><div type=\"references\"><listBibl><biblStruct xml:id=\"b0\"><monogr><title>Book"
    "</title><imprint><biblScope unit=\"page\" from=\"1\" to=\"9\"/></imprint></monogr>"
    "</biblStruct></listBibl></div></back></text></TEI>";

static gf_status read_paper(void *context, gf_error *err)
{
    gf_tei *tei = context;
    return gf_tei_read(gf_slice_str(paper), tei, err);
}

static void members(void **state)
{
    (void)state;
    gf_tei tei = {.result = GF_TEI_SUCCESS};
    gf_test_sweep(read_paper, NULL, &tei);
    assert_slice(
        gf_buffer_view(&tei.json),
        "{\"title\":\"A & B\",\"authors\":[{\"name\":\"Ada B. Love\",\"given_name\":\"Ada "
        "B.\",\"surname\":\"Love\"}],\"journal\":{\"name\":\"Notes\",\"volume\":\"3\"},"
        "\"date\":\"1843-09\",\"doi\":\"10.1/x\",\"citations\":[{\"index\":0,\"id\":\"b0\","
        "\"title\":\"Book\",\"authors\":[],\"page\":\"1-9\"}],\"abstract\":\"\","
        "\"body\":\"One\\nText [1].\",\"annex\":\"End\"}");
    assert_string_equal(tei.quality, "good");
    gf_tei_release(&tei);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results),      cmocka_unit_test(unsafe),
        cmocka_unit_test(endless_tags), cmocka_unit_test(endless_tags_in_utf16),
        cmocka_unit_test(cancels),      cmocka_unit_test(deep_nesting),
        cmocka_unit_test(pieces),       cmocka_unit_test(members)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* report: the page holds what the other operations give, and hostile text stays text. */
#include "support/test.h"
#include "tests/api/transport.h"

#include "base/json/writer.h"
#include "base/utf8.h"

#include <string.h>

enum { SUBJECTS = 3, EACH = 6 };

/* Documents of three subjects, with the same word before each word and the same ids' ending. */
static void put_subjects(transport *t, const char *collection, const char *mark, const char *days)
{
    static const char *const words[SUBJECTS] = {"apple", "brake", "river"};
    gf_buffer lines = {0};
    for (int i = 0; i < SUBJECTS * EACH; i++) {
        gf_buffer id = {0}, text = {0};
        gf_buffer_format(&id, "%02d%s", i, mark);
        gf_buffer_format(&text, "%s %s %s %s", mark, words[i / EACH], mark, words[i / EACH]);
        gf_buffer_str(&lines, "{\"id\":");
        gf_json_append_string(&lines, gf_buffer_view(&id));
        gf_buffer_str(&lines, ",\"text\":");
        gf_json_append_string(&lines, gf_buffer_view(&text));
        gf_buffer_format(&lines, ",\"time\":\"2026-%02d-01\"}\n", days[i / EACH] - '0' + i % 2);
        gf_buffer_release(&id);
        gf_buffer_release(&text);
    }
    transport_put(t, collection, gf_buffer_cstr(&lines));
    gf_buffer_release(&lines);
}

static void rebuild(transport *t, const char *collection)
{
    assert_run(t, "config set", "collection", collection, "set", "k=3", "set", "min_df=1", "set",
               "max_df=1.0", "set", "language=none");
    assert_run(t, "rebuild", "collection", collection, "force", "true");
}

static gf_slice page_of(transport *t, const char *collection)
{
    t->takes_file = true;
    assert_run(t, "report", "collection", collection);
    assert_int_equal(t->n_rows, 1);
    assert_false(transport_has(t, 0, "html"));
    gf_buffer file = {0};
    gf_buffer_slice(&file, gf_buffer_view(&t->written));
    t->takes_file = false;
    assert_run(t, "report", "collection", collection);
    assert_int_equal(t->n_rows, 1);
    assert_true(gf_slice_equal(gf_buffer_view(&file), transport_text(t, 0, "html")));
    gf_buffer_release(&file);
    return transport_text(t, 0, "html");
}

static bool has(gf_slice page, const char *text)
{
    return memmem(page.ptr, page.len, text, strlen(text)) != NULL;
}

static void shows_what_is_there(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    t.takes_file = false;
    put_subjects(&t, "c", "x", "123");
    rebuild(&t, "c");
    gf_slice page = page_of(&t, "c");
    assert_string_equal(transport_members(&t, 0),
                        "collection configuration build time documents k html");
    assert_true(gf_slice_starts(page, GF_SLICE("<!doctype html>\n")));
    assert_true(gf_slice_ends(page, GF_SLICE("</html>\n")));
    assert_true(has(page, "default-src 'none'"));
    assert_true(has(page, "<dt>documents</dt><dd>18</dd>"));
    assert_true(has(page, "Rising and falling"));
    assert_true(has(page, "2026-W01: 3\n2026-W02: 0\n2026-W03: 0\n2026-W04: 0\n2026-W05: 3\n"));
    /* of the first subject; four months are weeks */
    assert_true(has(page, ">apple<"));
    assert_true(has(page, "6 documents, 33.3 %"));
    assert_true(has(page, "<footer><bdi>00x</bdi>, score 1.000, and 5 like it</footer>"));
    assert_true(has(page, "<p class=\"sentence\" dir=\"auto\">x apple x apple</p>"));
    assert_true(has(page, "The tree"));
    assert_false(has(page, "What changed"));
    assert_false(has(page, "<script"));
    assert_false(has(page, "http://") || has(page, "https://"));
    rebuild(&t, "c");
    page = page_of(&t, "c");
    assert_true(has(page, "What changed"));
    assert_true(has(page, "3 clusters are as they were."));
    transport_put(&t, "c", "{\"id\":\"new\",\"text\":\"x river x river\"}\n");
    rebuild(&t, "c");
    page = page_of(&t, "c");
    assert_true(has(page, "18 documents then, 19 now; 3 clusters then, 3 now."));
    assert_true(has(page, "</a></td><td class=\"n\">6</td><td class=\"n\">7</td>"
                          "<td class=\"n\">1</td><td class=\"n\">0</td>"));
    assert_true(has(page, "Documents without a time: 1."));
    transport_close(&t);
}

/* Nine days: of the first subject in the first days, of the last one in the last two. */
static void put_nine_days(transport *t, const char *collection)
{
    gf_buffer lines = {0};
    for (int i = 0; i < 90; i++) {
        static const char *const words[] = {"apple apple", "brake brake", "river river"};
        int day = i / 10, subject = i % 3 == 1 ? 1 : day < 7 ? 0 : 2;
        gf_buffer_format(&lines,
                         "{\"id\":\"%02d\",\"text\":\"%s\",\"time\":\"2015-02-%02dT%02d:00Z\"}\n",
                         i, words[subject], 16 + day, i % 10 + 8);
    }
    transport_put(t, collection, gf_buffer_cstr(&lines));
    gf_buffer_release(&lines);
}

static void says_the_same_as_clusters(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    t.takes_file = false;
    put_nine_days(&t, "c");
    rebuild(&t, "c");
    gf_buffer page = {0}, words = {0};
    gf_buffer_slice(&page, page_of(&t, "c"));
    assert_true(has(gf_buffer_view(&page), "the last 2 of 9 days, 2015-02-16 to 2015-02-24"));
    assert_run(&t, "clusters", "collection", "c", "by", "auto");
    assert_int_equal(t.n_rows, 3);
    for (uint64_t i = 0; i < t.n_rows; i++) {
        gf_slice word = transport_text(&t, i, "trend");
        double z = transport_number(&t, i, "z");
        assert_true(gf_slice_equal(transport_text(&t, i, "unit"), GF_SLICE("day")));
        assert_int_equal(transport_length(&t, i, "periods"), 9);
        assert_int_equal(transport_number(&t, i, "recent_periods"), 2);
        gf_buffer_slice(&words, word);
        gf_buffer_byte(&words, ' ');
        gf_buffer row = {0};
        gf_buffer_format(&row, "%.*s</span></td><td class=\"n m\">%+.1f</td>", GF_SLICE_ARG(word),
                         z);
        assert_true(has(gf_buffer_view(&page), gf_buffer_cstr(&row)) ==
                    !gf_slice_equal(word, GF_SLICE("steady")));
        gf_buffer_release(&row);
    }
    assert_true(has(gf_buffer_view(&words), "rising") && has(gf_buffer_view(&words), "falling") &&
                has(gf_buffer_view(&words), "steady"));
    gf_buffer_release(&page);
    gf_buffer_release(&words);
    transport_close(&t);
}

static void shows_what_became_of_clusters(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    t.takes_file = false;
    put_subjects(&t, "c", "x", "123");
    rebuild(&t, "c");
    assert_run(&t, "config set", "collection", "c", "set", "k=2");
    assert_run(&t, "rebuild", "collection", "c", "start", "fresh", "threads", "1");
    gf_slice page = page_of(&t, "c");
    assert_true(has(page, "3 clusters then, 2 now."));
    assert_true(has(page, "<br><span class=\"quiet\">merged: of 6 <bdi>"));
    assert_true(has(page, "</td><td class=\"n\">gone</td><td class=\"n\">0</td>"
                          "<td class=\"n\">6</td>"));
    assert_true(has(page, "</td><td class=\"n\">6</td><td class=\"n\">12</td>"
                          "<td class=\"n\">6</td><td class=\"n\">0</td>"));
    assert_true(has(page, "1 cluster is as it was."));
    assert_run(&t, "config set", "collection", "c", "set", "k=3");
    assert_run(&t, "rebuild", "collection", "c", "start", "fresh", "threads", "1");
    page = page_of(&t, "c");
    assert_true(has(page, "split: now 6 <bdi>"));
    assert_true(has(page, "</td><td class=\"n\">new</td><td class=\"n\">6</td>"));
    transport_close(&t);
}

static void of_nothing(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    t.takes_file = false;
    transport_put(&t, "c", "{\"id\":\"1\",\"text\":\"...\"}\n");
    assert_run(&t, "rebuild", "collection", "c");
    gf_slice page = page_of(&t, "c");
    assert_true(gf_slice_ends(page, GF_SLICE("</html>\n")));
    assert_true(has(page, "<dt>clusters</dt><dd>0</dd>"));
    assert_refused(GF_ENOTFOUND, "no-such", &t, "report", "collection", "no-such");
    assert_refused(GF_EINVAL, "docs", &t, "report", "collection", "c", "docs", "many");
    transport_close(&t);
}

/* The tags of a page, one behind the other, digits as one 0: what is markup in it. */
static void write_tags(gf_slice page, gf_buffer *out)
{
    bool inside = false;
    for (size_t i = 0; i < page.len; i++) {
        char c = page.ptr[i];
        inside = inside || c == '<';
        bool digit = c >= '0' && c <= '9', after = out->len && out->ptr[out->len - 1] == '0';
        if (inside && !(digit && after)) gf_buffer_byte(out, digit ? '0' : c);
        if (c == '>') inside = false;
    }
    /* A sentence that has markup is not shown. */
    static const char sentence[] = "<p class=\"sentence\" dir=\"auto\"></p>";
    for (char *at; (at = strstr((char *)gf_buffer_cstr(out), sentence));) {
        size_t n = sizeof sentence - 1;
        memmove(at, at + n, out->len - (size_t)(at - out->ptr) - n);
        out->len -= n;
    }
}

static void hostile(const char *mark)
{
    transport t;
    gf_buffer plain = {0}, tags = {0}, name = {0};
    transport_open(&t);
    t.takes_file = false;
    put_subjects(&t, "c", "x", "123");
    rebuild(&t, "c");
    write_tags(page_of(&t, "c"), &plain);
    gf_buffer_format(&name, "n%s", mark);
    const char *collection = gf_buffer_cstr(&name);
    put_subjects(&t, collection, mark, "123");
    rebuild(&t, collection);
    gf_slice page = page_of(&t, collection);
    write_tags(page, &tags);
    if (!gf_slice_equal(gf_buffer_view(&plain), gf_buffer_view(&tags)))
        fail_msg("%s changed the markup:\n%s\n%s", mark, gf_buffer_cstr(&plain),
                 gf_buffer_cstr(&tags));
    assert_int_equal(gf_utf8_valid_length(page), page.len);
    for (size_t i = 0; i < page.len; i++)
        assert_true((unsigned char)page.ptr[i] >= 0x20 || page.ptr[i] == '\n' ||
                    page.ptr[i] == '\t');
    assert_false(has(page, "\xE2\x80\xAE") || has(page, "\xE2\x81\xA6"));
    gf_buffer_release(&plain);
    gf_buffer_release(&tags);
    gf_buffer_release(&name);
    transport_close(&t);
}

static void hostile_text_stays_text(void **state)
{
    (void)state;
    hostile("<script>alert(1)</script>");
    hostile("\"><img src=x onerror=alert(1)>");
    hostile("' onmouseover='alert(1)");
    hostile("</title></style></svg><!-- ]]> &lt;b&gt; &#60;b&#62;");
    hostile("\xE2\x80\xAE"
            "desrever\xE2\x81\xA6");
    hostile("\x1B[31m\x07\x7F");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_what_is_there), cmocka_unit_test(says_the_same_as_clusters),
        cmocka_unit_test(shows_what_became_of_clusters), cmocka_unit_test(of_nothing),
        cmocka_unit_test(hostile_text_stays_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

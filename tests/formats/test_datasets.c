/* The real data sets, read from their files as they are distributed. */
#include "support/test.h"

#include "base/file.h"
#include "base/json/json.h"
#include "base/json/writer.h"
#include "formats/bytes/files.h"
#include "formats/pattern.h"
#include "formats/reader.h"

typedef struct counts {
    uint64_t documents, refused, skipped, replaced, hashed, text, fields, timed, languages;
} counts;

typedef void visitor(const gf_record *record, void *context);

static counts read_data(const char *name, const gf_reader_options *options, visitor *visit,
                        void *context)
{
    gf_error err;
    const char *path = gf_test_data_path(name);
    counts c = {0};
    gf_files *files;
    gf_reader *reader;
    gf_record record;
    gf_status st;
    assert_ok(gf_files_open(&path, 1, &files, &err));
    gf_input input = gf_files_input(files);
    assert_ok(gf_reader_open(&input, options, &reader, &err));
    while ((st = gf_reader_next(reader, &record, &err)) == GF_OK) {
        const gf_document *d = &record.document;
        c.documents += record.kind == GF_RECORD_DOCUMENT;
        c.refused += record.kind == GF_RECORD_REFUSED;
        c.skipped += record.kind == GF_RECORD_SKIPPED;
        c.replaced += record.replaced;
        c.hashed += record.hashed_id;
        c.text += d->text.len;
        c.fields += d->n_fields;
        c.timed += d->time.len > 0;
        c.languages += d->language.len > 0;
        if (visit) visit(&record, context);
    }
    if (st != GF_ENOTFOUND) fail_msg("%s: %s", name, err.message);
    gf_reader_close(reader);
    gf_files_close(files);
    return c;
}

/* Beside base's parser on the whole line: the same id and text, the same number of other fields. */
typedef struct side_by_side {
    gf_buffer bytes;
    gf_slice rest;
    gf_json_parser *parser;
    const char *id;
} side_by_side;

static void compare_record(const gf_record *record, void *context)
{
    side_by_side *s = context;
    gf_error err;
    gf_slice line;
    gf_json_value root, value;
    assert_int_equal(record->kind, GF_RECORD_DOCUMENT);
    assert_true(gf_test_next_line(&s->rest, &line));
    assert_true(gf_slice_equal(record->raw, line));
    assert_ok(gf_json_parse_copy(s->parser, line, &root, &err));
    assert_true(gf_json_member(root, s->id, &value));
    assert_true(gf_slice_equal(gf_json_get_string(value), record->document.id));
    assert_true(gf_json_member(root, "text", &value));
    assert_true(gf_slice_equal(gf_json_get_string(value), record->document.text));
    gf_json_iterator it = gf_json_items(root);
    gf_slice name;
    size_t n = 0;
    while (gf_json_next(&it, &name, &value)) {
        if (gf_slice_equal(name, gf_slice_str(s->id)) || gf_slice_equal(name, GF_SLICE("text")) ||
            gf_slice_equal(name, GF_SLICE("time")))
            continue;
        if (gf_slice_equal(name, GF_SLICE("lang")) && gf_json_kind_of(value) == GF_JSON_STRING) {
            assert_true(gf_slice_equal(gf_json_get_string(value), record->document.language));
            continue;
        }
        const gf_field *field = &record->document.fields[n++];
        assert_true(gf_slice_equal(field->name, name));
        if (gf_json_kind_of(value) == GF_JSON_STRING) {
            gf_buffer json = {0};
            gf_json_append_string(&json, gf_json_get_string(value));
            assert_true(gf_slice_equal(gf_buffer_view(&json), field->json));
            gf_buffer_release(&json);
        }
    }
    assert_int_equal(n, record->document.n_fields);
}

static counts compare_data(const char *name, const gf_reader_options *options, const char *id)
{
    gf_error err;
    side_by_side s = {.id = id};
    gf_test_read_data(name, &s.bytes);
    s.rest = gf_buffer_view(&s.bytes);
    assert_ok(gf_json_parser_create(&s.parser, &err));
    counts c = read_data(name, options, compare_record, &s);
    assert_int_equal(s.rest.len, 0);
    gf_json_parser_free(s.parser);
    gf_buffer_release(&s.bytes);
    return c;
}

static void reads_firefox_input(void **state)
{
    (void)state;
    counts c = compare_data("firefox-input/firefox-input.jsonl.gz", NULL, "id");
    assert_int_equal(c.documents, 500);
    assert_int_equal(c.timed, 500);
    assert_int_equal(c.languages, 500);
    assert_int_equal(c.fields, 500 * 5); /* label, product, version, platform, locale */
}

static void reads_tweets(void **state)
{
    (void)state;
    gf_reader_options options = {.id = GF_SLICE("id_str")};
    counts c = compare_data("tweets/tweets-v1.1.jsonl.gz", &options, "id_str");
    assert_int_equal(c.documents, 1014);
    assert_int_equal(c.languages, 1014);
    assert_int_equal(c.timed, 0);
    c = compare_data("tweets/tweets-geo-trimmed.jsonl.gz", &options, "id_str");
    assert_int_equal(c.documents, 4322);
    assert_int_equal(c.languages, 0);
}

static void reads_reddit_posts(void **state)
{
    (void)state;
    counts c = compare_data("reddit-posts/reddit-posts.jsonl.zst", NULL, "id");
    assert_int_equal(c.documents, 282676);
    assert_int_equal(c.timed, 282676);
    assert_int_equal(c.fields, 282676);
    assert_int_equal(c.replaced, 0);
    assert_int_equal(c.text, 115121009);
}

static void check_paper(const gf_record *record, void *context)
{
    uint64_t *n = context;
    (*n)++;
    assert_true(gf_slice_starts(record->document.id, GF_SLICE("tei/")) ||
                gf_slice_starts(record->document.id, GF_SLICE("edge-cases/")));
    assert_true(gf_slice_ends(record->document.id, GF_SLICE(".xml")));
    assert_true(gf_slice_ends(record->source, record->document.id));
    assert_true(record->document.text.ptr[0] == '<');
}

static void reads_an_archive_of_papers(void **state)
{
    (void)state;
    uint64_t n = 0;
    counts c = read_data("papers-tei/papers-tei.tar.gz", NULL, check_paper, &n);
    assert_int_equal(c.documents, 32);
    assert_int_equal(n, 32);
    assert_int_equal(c.replaced, 0);
}

static void reads_places(void **state)
{
    (void)state;
    const gf_slice name = GF_SLICE("name");
    gf_reader_options options = {.id = GF_SLICE("code"), .text = &name, .n_text = 1};
    counts c = read_data("locations-china/streets.csv.gz", &options, NULL, NULL);
    assert_int_equal(c.documents, 41352);
    assert_int_equal(c.fields, 41352 * 3);
    assert_int_equal(c.refused + c.hashed + c.replaced, 0);
    c = read_data("locations-china/streets.csv.gz",
                  &(gf_reader_options){.text = &name, .n_text = 1}, NULL, NULL);
    assert_int_equal(c.hashed, 41352);
}

/* Every collection of the data sets, as the command reads it without options. */
static void reads_every_collection(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t documents;
    } sets[] = {
        {"20newsgroups/20newsgroups.jsonl.gz", 18846},
        {"ag-news-test/ag-news-test.jsonl.gz", 7600},
        {"search-snippets/search-snippets.jsonl.gz", 12340},
        {"event-tweets/event-tweets.jsonl.gz", 30322},
        {"zh-shopping-reviews/zh-shopping-reviews.jsonl.gz", 62774},
        {"udhr-articles/udhr-articles.jsonl.gz", 5940},
        {"bug-report-titles/bug-report-titles.jsonl.gz", 45494},
        {"sms-spam/sms-spam.jsonl.gz", 5574},
        {"papers-tei/papers-tei.jsonl.gz", 29},
    };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        counts c = read_data(sets[i].name, NULL, NULL, NULL);
        assert_int_equal(c.documents, sets[i].documents);
        assert_int_equal(c.refused + c.skipped + c.hashed + c.replaced, 0);
    }
}

static void says_which_field_a_tweet_lacks(void **state)
{
    (void)state;
    gf_error err;
    const char *path = gf_test_data_path("tweets/tweets-geo-trimmed.jsonl.gz");
    const gf_slice text = GF_SLICE("full_text");
    gf_reader_options options = {.text = &text, .n_text = 1};
    gf_files *files;
    gf_reader *reader;
    gf_record record;
    assert_ok(gf_files_open(&path, 1, &files, &err));
    gf_input input = gf_files_input(files);
    assert_ok(gf_reader_open(&input, &options, &reader, &err));
    assert_status(GF_EINVAL, gf_reader_next(reader, &record, &err));
    assert_non_null(strstr(err.message, "no field \"full_text\" in "));
    assert_non_null(strstr(err.message,
                           "; fields found: id_str, created_at, text, user, coordinates; "
                           "choose with --text"));
    gf_reader_close(reader);
    gf_files_close(files);
}

/* ---- Firefox Input, in the form in which it was first imported ------------------------------- */

static void escaped(gf_buffer *out, gf_slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (strchr("\\\t\n", s.ptr[i]) && s.ptr[i]) gf_buffer_byte(out, '\\');
        gf_buffer_byte(out, s.ptr[i]);
    }
}

static gf_slice value_of(const gf_record *record, const char *name)
{
    for (size_t i = 0; i < record->document.n_fields; i++) {
        const gf_field *f = &record->document.fields[i];
        if (gf_slice_equal(f->name, gf_slice_str(name)))
            return gf_slice_of(f->json.ptr + 1, f->json.len - 2);
    }
    return GF_SLICE("");
}

static void write_row(const gf_record *record, void *context)
{
    gf_buffer *out = context;
    const gf_document *d = &record->document;
    static const char *const names[] = {"label", "product", "version", "platform", "locale"};
    escaped(out, d->id);
    gf_buffer_format(out, "\t%.*s", GF_SLICE_ARG(d->time));
    for (size_t i = 0; i < 5; i++) {
        gf_buffer_byte(out, '\t');
        escaped(out, value_of(record, names[i]));
    }
    gf_buffer_str(out, "\t\t\t\t");
    escaped(out, d->text);
    gf_buffer_byte(out, '\n');
}

typedef struct patterns {
    gf_pattern *by_version, *by_product;
    uint64_t issues_of_4_0b1, praise;
} patterns;

static void count_collections(const gf_record *record, void *context)
{
    patterns *p = context;
    gf_error err;
    gf_buffer name = {0};
    assert_ok(gf_pattern_expand(p->by_version, &record->document, &name, &err));
    p->issues_of_4_0b1 += gf_slice_equal(gf_buffer_view(&name), GF_SLICE("issue-firefox-4.0b1"));
    gf_buffer_reset(&name);
    assert_ok(gf_pattern_expand(p->by_product, &record->document, &name, &err));
    p->praise += gf_slice_equal(gf_buffer_view(&name), GF_SLICE("praise-firefox"));
    gf_buffer_release(&name);
}

/* Reads the file as Firefox Input; gives the documents and the bytes of their texts. */
static counts read_rows(const char *path, patterns *p)
{
    gf_error err;
    gf_reader_options options = {.format = GF_FORMAT_INPUT_TSV};
    gf_files *files;
    gf_reader *reader;
    gf_record record;
    gf_status st;
    counts c = {0};
    assert_ok(gf_files_open(&path, 1, &files, &err));
    gf_input input = gf_files_input(files);
    assert_ok(gf_reader_open(&input, &options, &reader, &err));
    while ((st = gf_reader_next(reader, &record, &err)) == GF_OK) {
        c.documents++;
        c.text += record.document.text.len;
        count_collections(&record, p);
    }
    assert_int_equal(st, GF_ENOTFOUND);
    gf_reader_close(reader);
    gf_files_close(files);
    return c;
}

static void reads_firefox_input_as_tsv(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer rows = {0}, path = {0};
    counts json = read_data("firefox-input/firefox-input.jsonl.gz", NULL, write_row, &rows);
    gf_buffer_format(&path, "%s/opinions", gf_test_folder());
    assert_ok(gf_file_write(gf_buffer_cstr(&path), gf_buffer_view(&rows), &err));
    patterns p = {0};
    assert_ok(gf_pattern_create(GF_SLICE("{type}-{product}-{version}"), &p.by_version, &err));
    assert_ok(gf_pattern_create(GF_SLICE("{type}-{product}"), &p.by_product, &err));
    counts c = read_rows(gf_buffer_cstr(&path), &p);
    assert_int_equal(c.documents, 500);
    assert_int_equal(c.text, json.text);
    assert_int_equal(p.praise, 234);
    assert_true(p.issues_of_4_0b1 > 0 && p.issues_of_4_0b1 <= 266);
    gf_pattern_free(p.by_version);
    gf_pattern_free(p.by_product);
    gf_buffer_release(&path);
    gf_buffer_release(&rows);
}

int main(void)
{
    if (!gf_test_has_data()) return gf_test_skipped("reading the data sets");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_firefox_input),
        cmocka_unit_test(reads_tweets),
        cmocka_unit_test(reads_reddit_posts),
        cmocka_unit_test(reads_an_archive_of_papers),
        cmocka_unit_test(reads_places),
        cmocka_unit_test(reads_every_collection),
        cmocka_unit_test(says_which_field_a_tweet_lacks),
        cmocka_unit_test(reads_firefox_input_as_tsv),
    };
    return cmocka_run_group_tests_name("datasets", tests, NULL, NULL);
}

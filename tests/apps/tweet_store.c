#include "tests/apps/tweet_store.h"

#include "base/json/json.h"
#include "base/utf8.h"

void tweet_store_open(tweet_store *s)
{
    gf_error err;
    gf_store_options o = GF_STORE_OPTIONS(.create = true, .purpose = "test");
    *s = (tweet_store){.folder = gf_test_folder()};
    assert_ok(gf_store_open(s->folder, &o, &s->store, &err));
    assert_ok(gf_tweets_open(s->store, GF_SLICE("default"), &s->tweets, &err));
}

void tweet_store_close(tweet_store *s)
{
    gf_tweets_close(s->tweets);
    gf_store_close(s->store);
    gf_buffer_release(&s->dump);
    gf_test_remove(s->folder);
}

void tweet_store_make_old(tweet_store *s, gf_tweets_hash hash)
{
    gf_error err;
    gf_batch *batch;
    const gf_column columns[] = {{GF_SLICE("hash"), gf_slice_str(gf_tweets_hash_name(hash))},
                                 {GF_SLICE("version"), GF_SLICE("7")},
                                 {GF_SLICE("tweets"), GF_SLICE("0")},
                                 {GF_SLICE("with_place"), GF_SLICE("0")}};
    assert_ok(gf_batch_create(gf_store_database(s->store), &batch, &err));
    gf_batch_replace(batch, s->tweets->settings, gf_tweets_prefix(s->tweets),
                     GF_TWEETS_SETTINGS_MAIN, columns, 4, 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
}

static void write_text(gf_buffer *b, int i)
{
    int kind = i % 5;
    gf_buffer_format(b, "\"text\":\"tweet %d is cut of #k%d\"", i, kind);
    if (kind == 1)
        gf_buffer_format(b,
                         ",\"extended_tweet\":{\"full_text\":\"tweet %d is, is whole of #k%d and "
                         "#more%d\"}",
                         i, kind, i % 11);
    if (kind == 2)
        gf_buffer_format(b,
                         ",\"retweeted_status\":{\"text\":\"told by another %d times\",\"user\":"
                         "{\"screen_name\":\"other%d\"}}",
                         i, i % 7);
    if (kind == 3) gf_buffer_format(b, ",\"note_tweet\":{\"text\":\"tweet %d is a note\"}", i);
}

void tweet_store_write_lines(gf_buffer *b, int from, int to)
{
    static const char *const languages[] = {"en", "de", "fr"};
    for (int i = from; i < to; i++) {
        gf_buffer_format(b, "{\"created_at\":\"Thu May 05 %02d:%02d:%02d +0000 2016\",\"id\":%d,",
                         i % 3, i % 17, i % 60, i);
        write_text(b, i);
        if (i % 4 == 0)
            gf_buffer_format(b, ",\"coordinates\":{\"coordinates\":[%d.5,%d.25]}", i % 180, i % 90);
        gf_buffer_format(b, ",\"lang\":\"%s\",\"user\":{\"screen_name\":\"u%d\"}}\n",
                         languages[i * 7 % 3], i % 50);
    }
}

/* A line is copied, so that the parser has its padding. */
static void add_line(gf_tweets_import *import, gf_tweets_parser *parser, gf_slice line)
{
    gf_error err;
    gf_tweet tweet;
    assert_ok(gf_tweets_parse_stored(parser, line, &tweet, &err));
    assert_ok(gf_tweets_import_add(import, line, &tweet, &err));
}

gf_tweets_counts tweet_store_import(tweet_store *s, gf_tweets_hash hash, gf_slice lines)
{
    gf_error err;
    gf_slice line;
    gf_tweets_import *import;
    gf_tweets_parser *parser;
    gf_tweets_import_options o = {.hash_given = true, .hash = hash};
    assert_ok(gf_tweets_import_open(s->tweets, &o, &import, &err));
    assert_ok(gf_tweets_parser_create(&parser, &err));
    while (gf_test_next_line(&lines, &line))
        if (line.len) add_line(import, parser, line);
    assert_ok(gf_tweets_import_flush(import, &err));
    gf_tweets_counts counts = gf_tweets_import_counted(import);
    gf_tweets_import_close(import);
    gf_tweets_parser_free(parser);
    return counts;
}

static void write_bytes(gf_buffer *out, gf_slice bytes)
{
    bool text = gf_utf8_valid_length(bytes) == bytes.len;
    for (size_t i = 0; i < bytes.len; i++)
        text = text && (unsigned char)bytes.ptr[i] >= ' ';
    gf_buffer_byte(out, '\t');
    for (size_t i = 0; !text && i < bytes.len; i++)
        gf_buffer_format(out, "%02x", (unsigned char)bytes.ptr[i]);
    if (text) gf_buffer_slice(out, bytes);
}

static void dump_row(tweet_store *s, gf_table *table, const gf_row *row)
{
    const gf_schema *schema = gf_table_schema(table);
    gf_slice part = gf_slice_skip(row->key, s->tweets->name_space.len);
    gf_buffer term = {0};
    if (schema->parts[1].kind == GF_PART_STRING) {
        assert_true(gf_key_take_string(&part, &term) && part.len == 0);
        part = gf_buffer_view(&term);
    }
    gf_buffer_str(&s->dump, schema->name);
    write_bytes(&s->dump, part);
    gf_buffer_format(&s->dump, "\t%s", schema->families[row->cells[0].family].name);
    write_bytes(&s->dump, row->cells[0].qualifier);
    write_bytes(&s->dump, row->cells[0].value);
    gf_buffer_byte(&s->dump, '\n');
    gf_buffer_release(&term);
}

static void dump_table(tweet_store *s, gf_table *table)
{
    gf_error err;
    for (unsigned f = 0; f < gf_table_schema(table)->n_families; f++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = f, .prefix = gf_tweets_prefix(s->tweets));
        gf_scan *scan;
        gf_row row = {0};
        gf_status st;
        assert_ok(gf_scan_open(table, &o, &scan, &err));
        while ((st = gf_scan_next(scan, &row, &err)) == GF_OK)
            dump_row(s, table, &row);
        assert_status(GF_ENOTFOUND, st);
        gf_scan_close(scan);
        gf_row_release(&row);
    }
}

const char *tweet_store_dump(tweet_store *s)
{
    gf_buffer_reset(&s->dump);
    dump_table(s, s->tweets->raw);
    dump_table(s, s->tweets->terms);
    dump_table(s, s->tweets->frequency);
    dump_table(s, s->tweets->geo);
    return gf_buffer_cstr(&s->dump);
}

gf_slice tweet_store_dump_of(tweet_store *s, const char *table)
{
    tweet_store_dump(s);
    gf_slice rest = gf_buffer_view(&s->dump), line, found = {rest.ptr, 0};
    while (gf_test_next_line(&rest, &line)) {
        if (!gf_slice_starts(line, gf_slice_str(table))) continue;
        if (found.len == 0) found.ptr = line.ptr;
        found.len = (size_t)(line.ptr + line.len + 1 - found.ptr);
    }
    return found;
}

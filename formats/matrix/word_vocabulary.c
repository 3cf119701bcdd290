/* The vocabulary of a table of word vectors: which word each row is of. */
#include "formats/matrix/word_vectors_internal.h"

#include "base/grow.h"
#include "base/json/json.h"
#include "base/memory.h"
#include "grouperfish/buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a vocabulary: a million words in twenty scripts are some 30 MB. */
enum { MOST_BYTES = 1 << 28, STEP = 1 << 16 };

#define PIECE      "##"           /* begins what goes on a word, in WordPiece */
#define UNIGRAM    "\xE2\x96\x81" /* U+2581 begins a word in SentencePiece */
#define BYTE_LEVEL "\xC4\xA0"     /* U+0120 stands for the blank before a word in byte-level BPE */

void gf_word_vocabulary_release(gf_word_vocabulary *v)
{
    gf_strings_release(&v->words);
    gf_free(v->row);
    *v = (gf_word_vocabulary){0};
}

/* The first row of a word counts; marks of a word's beginning are left out. */
static gf_status add_word(gf_word_vocabulary *v, gf_slice word, uint64_t row, gf_error *err)
{
    uint32_t id;
    bool added = false;
    if (row >= UINT32_MAX) return gf_fail(err, GF_EINVAL, "row %" PRIu64 " is too large", row);
    if (gf_slice_starts(word, GF_SLICE(UNIGRAM))) word = gf_slice_skip(word, strlen(UNIGRAM));
    if (gf_slice_starts(word, GF_SLICE(BYTE_LEVEL))) word = gf_slice_skip(word, strlen(BYTE_LEVEL));
    if (word.len == 0) return GF_OK;
    if (gf_slice_starts(word, GF_SLICE(PIECE)) && word.len > 2) v->has_pieces = true;
    gf_status st = gf_strings_add(&v->words, word, &id, &added, err);
    if (st != GF_OK || !added) return st;
    if (!gf_grow(&v->row, &v->capacity, v->words.n, sizeof *v->row))
        return gf_fail_memory(err, "a vocabulary");
    v->row[id] = (uint32_t)row;
    return GF_OK;
}

static gf_status take_lines(gf_slice bytes, gf_word_vocabulary *v, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint64_t row = 0; bytes.len && st == GF_OK; row++) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t n = end ? (size_t)(end - bytes.ptr) : bytes.len;
        gf_slice word = gf_slice_of(bytes.ptr, n);
        if (word.len && word.ptr[word.len - 1] == '\r') word.len--;
        st = add_word(v, word, row, err);
        bytes = gf_slice_skip(bytes, end ? n + 1 : n);
    }
    return st;
}

/* {"the": 0, ...} */
static gf_status take_object(gf_json_value vocabulary, gf_word_vocabulary *v, gf_error *err)
{
    gf_json_iterator it = gf_json_items(vocabulary);
    gf_json_value row;
    gf_slice word;
    gf_status st = GF_OK;
    while (st == GF_OK && gf_json_next(&it, &word, &row)) {
        bool good = gf_json_kind_of(row) == GF_JSON_INT && gf_json_get_int(row) >= 0;
        st = good ? add_word(v, word, (uint64_t)gf_json_get_int(row), err)
                  : gf_fail(err, GF_EINVAL, "the row of \"%.*s\" is no number", GF_SLICE_ARG(word));
    }
    return st;
}

/* [["the", -1.5], ...] */
static gf_status take_array(gf_json_value vocabulary, gf_word_vocabulary *v, gf_error *err)
{
    gf_json_iterator it = gf_json_items(vocabulary), pair;
    gf_json_value item, word;
    gf_status st = GF_OK;
    for (uint64_t row = 0; st == GF_OK && gf_json_next(&it, NULL, &item); row++) {
        bool good = gf_json_kind_of(item) == GF_JSON_ARRAY;
        if (good) pair = gf_json_items(item);
        good = good && gf_json_next(&pair, NULL, &word) && gf_json_kind_of(word) == GF_JSON_STRING;
        st = good ? add_word(v, gf_json_get_string(word), row, err)
                  : gf_fail(err, GF_EINVAL, "word %" PRIu64 " is no string", row);
    }
    return st;
}

static gf_status take_tokenizer(gf_slice bytes, gf_word_vocabulary *v, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root, model, vocabulary;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = gf_json_parse_copy(parser, bytes, &root, err);
    if (st == GF_OK) {
        bool there =
            gf_json_kind_of(root) == GF_JSON_OBJECT && gf_json_member(root, "model", &model) &&
            gf_json_kind_of(model) == GF_JSON_OBJECT && gf_json_member(model, "vocab", &vocabulary);
        gf_json_kind kind = there ? gf_json_kind_of(vocabulary) : GF_JSON_NULL;
        st = kind == GF_JSON_OBJECT  ? take_object(vocabulary, v, err)
             : kind == GF_JSON_ARRAY ? take_array(vocabulary, v, err)
                                     : gf_fail(err, GF_EINVAL,
                                               "there is no \"vocab\" in its "
                                               "\"model\"");
    }
    gf_json_parser_free(parser);
    return st;
}

/* ---- files ----------------------------------------------------------------------------------- */

static gf_status read_file(FILE *in, gf_buffer *out, gf_error *err)
{
    size_t n = 1;
    while (n > 0) {
        char *to = gf_buffer_reserve(out, STEP);
        if (!to) return gf_buffer_check(out, err);
        n = fread(to, 1, STEP, in);
        out->len += n;
        if (out->len > MOST_BYTES) return gf_fail(err, GF_ELIMIT, "it has more than 256 MiB");
    }
    return ferror(in) ? gf_fail(err, GF_EIO, "%s", strerror(errno)) : GF_OK;
}

gf_status gf_word_vocabulary_read(const char *path, XXH3_state_t *hash, gf_word_vocabulary *v,
                                  gf_error *err)
{
    static const char *const names[] = {"words.txt", "vocab.txt", "tokenizer.json"};
    const char *slash = strrchr(path, '/');
    gf_buffer name = {0}, bytes = {0};
    FILE *in = NULL;
    gf_status st = GF_OK;
    size_t i = 0;
    for (; i < 3 && !in && st == GF_OK; i++) {
        gf_buffer_reset(&name);
        gf_buffer_append(&name, path, slash ? (size_t)(slash - path) + 1 : 0);
        gf_buffer_str(&name, names[i]);
        st = gf_buffer_check(&name, err);
        if (st == GF_OK) in = fopen(gf_buffer_cstr(&name), "rb");
    }
    if (st == GF_OK && !in)
        st = gf_fail(err, GF_EINVAL,
                     "there is no vocabulary beside it: words.txt, vocab.txt or tokenizer.json");
    if (st == GF_OK) {
        st = read_file(in, &bytes, err);
        if (st == GF_OK) XXH3_64bits_update(hash, bytes.ptr ? bytes.ptr : "", bytes.len);
        if (st == GF_OK)
            st = i == 3 ? take_tokenizer(gf_buffer_view(&bytes), v, err)
                        : take_lines(gf_buffer_view(&bytes), v, err);
        if (st == GF_OK && v->words.n == 0) st = gf_fail(err, GF_EINVAL, "there is no word in it");
        if (st != GF_OK && st != GF_ENOMEM) gf_error_prefix(err, "%s", names[i - 1]);
    }
    if (in) fclose(in);
    gf_buffer_release(&name);
    gf_buffer_release(&bytes);
    return st;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The longest piece that a word begins with, or goes on with where at > 0; 0 for none. */
static size_t longest_piece(const gf_word_vocabulary *v, gf_slice word, size_t at, uint32_t *row)
{
    char text[256] = PIECE;
    for (size_t n = word.len - at; n > 0; n--) {
        bool inside = at + n < word.len && ((unsigned char)word.ptr[at + n] & 0xC0) == 0x80;
        if (inside || n + 2 > sizeof text) continue;
        memcpy(text + 2, word.ptr + at, n);
        gf_slice piece = at ? gf_slice_of(text, n + 2) : gf_slice_of(text + 2, n);
        uint32_t id = gf_strings_find(&v->words, piece);
        if (id == GF_STRING_NONE) continue;
        *row = v->row[id];
        return n;
    }
    return 0;
}

uint32_t gf_word_vocabulary_find(const gf_word_vocabulary *v, gf_slice word,
                                 uint32_t rows[GF_MOST_PIECES])
{
    uint32_t id = gf_strings_find(&v->words, word), n = 0;
    if (id != GF_STRING_NONE) {
        rows[0] = v->row[id];
        return 1;
    }
    if (!v->has_pieces || memchr(word.ptr, ' ', word.len)) return 0;
    for (size_t at = 0; at < word.len; n++) {
        size_t taken = n < GF_MOST_PIECES ? longest_piece(v, word, at, &rows[n]) : 0;
        if (taken == 0) return 0;
        at += taken;
    }
    return n;
}

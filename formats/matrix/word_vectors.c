/* Tables of word vectors: words asked for, tables of text. */
#include "formats/matrix/word_vectors_internal.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/utf8.h"
#include "formats/bytes/files.h"
#include "formats/text/lines.h"
#include "grouperfish/buffer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A line: a word, and GF_MOST_WORD_COLUMNS numbers of some twenty bytes. */
enum { MOST_LINE = 1 << 19 };

void gf_word_vectors_release(gf_word_vectors *v)
{
    gf_free(v->row);
    gf_free(v->known);
    *v = (gf_word_vectors){0};
}

gf_status gf_word_search_begin(gf_word_search *s, uint64_t d, gf_error *err)
{
    if (d == 0 || d > GF_MOST_WORD_COLUMNS)
        return gf_fail(err, GF_ELIMIT, "%" PRIu64 " columns: it must be 1 to %d", d,
                       (int)GF_MOST_WORD_COLUMNS);
    s->d = (uint32_t)d;
    s->row = gf_calloc(s->spellings.n, (size_t)s->d * sizeof *s->row);
    return s->row ? GF_OK : gf_fail_memory(err, "word vectors");
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static gf_slice trim(gf_slice s)
{
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Take the last word off the end of a line. */
static gf_slice take_last(gf_slice *line)
{
    gf_slice s = trim(*line);
    size_t n = 0;
    while (n < s.len && !is_blank(s.ptr[s.len - 1 - n]))
        n++;
    *line = gf_slice_of(s.ptr, s.len - n);
    return gf_slice_of(s.ptr + s.len - n, n);
}

static uint64_t count_tokens(gf_slice line)
{
    uint64_t n = 0;
    for (size_t i = 0; i < line.len; i++)
        n += !is_blank(line.ptr[i]) && (i == 0 || is_blank(line.ptr[i - 1]));
    return n;
}

/* "400000 300" */
static bool read_header(gf_slice line, uint64_t *d)
{
    uint64_t words;
    gf_slice rest = line;
    gf_slice last = take_last(&rest), first = take_last(&rest);
    return trim(rest).len == 0 && gf_number_read(first, &words) && gf_number_read(last, d);
}

/* The numbers of a line, from its end on; what is left is the word. */
static gf_status read_numbers(const gf_word_search *s, gf_slice *line, float *to, gf_error *err)
{
    for (uint32_t c = s->d; c-- > 0;) {
        double v;
        gf_slice number = take_last(line);
        float narrow = gf_number_read_decimal(number, &v) ? (float)v : HUGE_VALF;
        if (!(narrow < HUGE_VALF && narrow > -HUGE_VALF))
            return gf_fail(err, GF_EINVAL, "\"%.*s\" is no finite number",
                           (int)(number.len < 40 ? number.len : 40), number.ptr);
        to[c] = narrow;
    }
    return GF_OK;
}

/* The word of a line that has more tokens than a word and its numbers: some have blanks. */
static gf_slice word_of(const gf_word_search *s, gf_slice line, uint64_t tokens)
{
    if (tokens == (uint64_t)s->d + 1) {
        size_t from = 0, to;
        while (is_blank(line.ptr[from]))
            from++;
        for (to = from; to < line.len && !is_blank(line.ptr[to]);)
            to++;
        return gf_slice_of(line.ptr + from, to - from);
    }
    for (uint32_t c = 0; c < s->d; c++)
        take_last(&line);
    return trim(line);
}

static gf_status take_line(gf_word_search *s, const gf_text_line *line, float *numbers,
                           gf_error *err)
{
    uint64_t tokens = count_tokens(line->text), d;
    if (line->too_long) return gf_fail(err, GF_ELIMIT, "it has more than %d bytes", (int)MOST_LINE);
    if (s->d == 0) {
        bool header = tokens == 2 && read_header(line->text, &d);
        gf_status st = gf_word_search_begin(s, header ? d : tokens - 1, err);
        if (st != GF_OK || header) return st;
    }
    if (tokens < (uint64_t)s->d + 1)
        return gf_fail(err, GF_EINVAL, "it has a word and %" PRIu64 " numbers, not %" PRIu32,
                       tokens - 1, s->d);
    s->words++;
    uint32_t at = gf_strings_find(&s->spellings, word_of(s, line->text, tokens));
    if (at == GF_STRING_NONE || s->parts[at]) return GF_OK; /* the first of a word counts */
    gf_slice rest = line->text;
    gf_status st = read_numbers(s, &rest, numbers, err);
    if (st != GF_OK) return st;
    memcpy(s->row + (size_t)at * s->d, numbers, s->d * sizeof *numbers);
    s->parts[at] = 1;
    return GF_OK;
}

static gf_status read_lines(gf_lines *lines, gf_word_search *s, gf_error *err)
{
    gf_text_line line;
    gf_status st;
    float *numbers = gf_array(GF_MOST_WORD_COLUMNS, sizeof *numbers);
    if (!numbers) return gf_fail_memory(err, "word vectors");
    while ((st = gf_lines_next(lines, &line, err)) == GF_OK) {
        XXH3_64bits_update(s->hash, line.text.ptr, line.text.len);
        XXH3_64bits_update(s->hash, "\n", 1);
        st = gf_cancel_check(s->cancel, err);
        if (st == GF_OK) {
            st = take_line(s, &line, numbers, err);
            if (st == GF_EINVAL || st == GF_ELIMIT)
                gf_error_prefix(err, "line %" PRIu64, line.number);
        }
        if (st != GF_OK) break;
    }
    gf_free(numbers);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status read_text(const char *path, gf_word_search *s, gf_error *err)
{
    gf_files *files = NULL;
    gf_lines *lines = NULL;
    gf_input_bounds bounds = {.cancel = s->cancel};
    gf_status st = gf_files_open(&path, 1, &files, err);
    if (st != GF_OK) return st;
    gf_input input = gf_files_input(files);
    input.bounds = &bounds;
    st = gf_lines_open(&input, MOST_LINE, NULL, &lines, err);
    if (st == GF_OK) st = read_lines(lines, s, err);
    if (st == GF_OK && s->words == 0) st = gf_fail(err, GF_EINVAL, "there is no word in it");
    gf_lines_close(lines);
    gf_files_close(files);
    return st;
}

/* ---- either ---------------------------------------------------------------------------------- */

/* A length of eight bytes, and the brace that a header begins with. */
static gf_status looks_like_safetensors(const char *path, bool *is, gf_error *err)
{
    unsigned char head[9];
    FILE *in = fopen(path, "rb");
    if (!in) {
        gf_status st = errno == ENOENT ? GF_ENOTFOUND : GF_EIO;
        return gf_fail(err, st, "%s", strerror(errno));
    }
    size_t n = fread(head, 1, sizeof head, in);
    fclose(in);
    *is = n == sizeof head && head[8] == '{' && head[4] == 0 && head[5] == 0;
    return GF_OK;
}

/* spelling: 2 * n, of each word as it is and in lower case. */
static gf_status list_spellings(gf_word_search *s, const gf_slice *words, uint32_t n,
                                uint32_t *spelling, gf_error *err)
{
    gf_buffer lower = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        st = gf_strings_add(&s->spellings, words[i], &spelling[2 * (size_t)i], NULL, err);
        gf_buffer_reset(&lower);
        gf_utf8_fold(words[i], &lower);
        if (st == GF_OK) st = gf_buffer_check(&lower, err);
        if (st == GF_OK)
            st = gf_strings_add(&s->spellings, gf_buffer_view(&lower), &spelling[2 * (size_t)i + 1],
                                NULL, err);
    }
    gf_buffer_release(&lower);
    if (st != GF_OK) return st;
    s->parts = gf_calloc(s->spellings.n, sizeof *s->parts);
    return s->parts ? GF_OK : gf_fail_memory(err, "word vectors");
}

static gf_status take_found(const gf_word_search *s, const uint32_t *spelling, uint32_t n,
                            gf_word_vectors *out, gf_error *err)
{
    gf_word_vectors v = {.n = n, .d = s->d, .words = s->words};
    v.row = gf_calloc(n, (size_t)s->d * sizeof *v.row);
    v.known = gf_calloc(n, sizeof *v.known);
    if (!v.row || !v.known) {
        gf_word_vectors_release(&v);
        return gf_fail_memory(err, "word vectors");
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = spelling[2 * (size_t)i];
        if (s->parts[at] == 0) at = spelling[2 * (size_t)i + 1];
        if (s->parts[at] == 0) continue;
        v.known[i] = true;
        for (uint32_t c = 0; c < s->d; c++)
            v.row[(size_t)i * s->d + c] = s->row[(size_t)at * s->d + c] / (float)s->parts[at];
    }
    v.hash = XXH3_64bits_digest(s->hash);
    *out = v;
    return GF_OK;
}

/* No folder, and nothing that might never end. A file that is not there is told of by its reader. */
static gf_status is_regular_file(const char *path, gf_error *err)
{
    struct stat file;
    if (stat(path, &file) != 0 || S_ISREG(file.st_mode)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "it is no file");
}

gf_status gf_word_vectors_read(const char *path, const gf_slice *words, uint32_t n,
                               const gf_cancel *cancel, gf_word_vectors *out, gf_error *err)
{
    gf_word_search s = {.cancel = cancel, .hash = XXH3_createState()};
    uint32_t *spelling = gf_array(2 * (size_t)n, sizeof *spelling);
    bool tensors = false;
    gf_status st = s.hash && spelling ? GF_OK : gf_fail_memory(err, "word vectors");
    if (st == GF_OK) XXH3_64bits_reset(s.hash);
    if (st == GF_OK) st = list_spellings(&s, words, n, spelling, err);
    if (st == GF_OK) {
        st = is_regular_file(path, err);
        if (st == GF_OK) st = looks_like_safetensors(path, &tensors, err);
        if (st == GF_OK)
            st = tensors ? gf_word_safetensors_read(path, &s, err) : read_text(path, &s, err);
        bool of_the_file = st != GF_OK && st != GF_ENOMEM && st != GF_ECANCELLED;
        if (of_the_file) gf_error_prefix(err, "the word vectors of %s", path);
    }
    if (st == GF_OK) st = take_found(&s, spelling, n, out, err);
    gf_strings_release(&s.spellings);
    gf_free(s.row);
    gf_free(s.parts);
    gf_free(spelling);
    XXH3_freeState(s.hash);
    return st;
}

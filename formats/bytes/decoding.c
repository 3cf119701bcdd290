/*
 * Bytes on their way, and where they may stop:
 *
 *     pass      UTF-8 goes straight to where it is asked for. A line that holds more than ASCII waits
 *               for its end, so that the start of another encoding has not gone out as UTF-8.
 *     judge     at the first sequence that is no UTF-8, a window from the first byte of its line that
 *               is not ASCII is filled, and judged:
 *                 mostly UTF-8, or a few bad bytes where the stream was     it passes; parsers replace
 *                                                                           what is bad, and count it
 *                 recognised (encoding.h)                                   it is converted
 *                 of 1,000 characters one is bad at most                    it passes
 *                 else                                                      GF_EINVAL: it is not clear
 *     convert   the windows that follow, too, until one is UTF-8 beyond doubt, as where two files
 *               were joined
 *
 * Windows begin and end at the same bytes however the stream is cut into reads. A byte order mark, an
 * encoding that the caller says, or one that HTML or XML declares, is converted from the first byte.
 */
#include "formats/bytes/decoding.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "formats/bytes/encoding.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>
#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>
#include <unicode/ucnv_err.h>

enum {
    WINDOW = GF_DECODING_WINDOW,
    READ = 64 << 10,    /* bytes that are read at a time where they cannot go straight through */
    BEFORE = 256,       /* bytes before a window that help to recognise it */
    DECLARED_IN = 1024, /* bytes in which HTML and XML declare an encoding */
    MOSTLY = 4,         /* of so many well-formed wide characters one may be bad */
    ONE_IN = 1000,      /* characters, of which one may be bad */
    MIXED = 8,          /* bad sequences for each well-formed one, in a single-byte encoding */
    BEYOND_DOUBT = 8,   /* wide characters, or bad sequences, of one kind alone */
    SOME = 100,         /* characters that were replaced, before their share counts */
    PIVOT = 1024
};

typedef enum decoding_state { AS_IT_IS, UTF8, CONVERTED } decoding_state;

struct gf_decoding {
    gf_decoding_options options;
    gf_encoding said; /* name empty: none was */
    gf_slice name;
    gf_read_buffer_source *read; /* of the stream */
    void *context;
    char *bytes; /* capacity; start..end wait */
    size_t start, end, capacity;
    size_t judged; /* of these: they may go out */
    bool is_fresh; /* they were not looked at yet */
    bool at_end;   /* of the stream */
    decoding_state state;
    bool is_judged_whole; /* a fixed encoding: no window is looked at again */
    gf_error unclear;     /* why, without the name */
    uint64_t gone;        /* bytes of the stream that went out */
    uint64_t wide, bad;   /* characters that went out as UTF-8; sequences */
    char before[BEFORE];  /* n_before: the last bytes that went out */
    size_t n_before;
    gf_encoding encoding; /* CONVERTED */
    UConverter *from, *utf8;
    UChar pivot[PIVOT];
    UChar *pivot_from, *pivot_to;
    bool is_full, is_flushed;           /* the converter has more to give; it has given all */
    uint64_t replaced, replaced_in_all; /* not taken yet; of the stream */
};

/* ---- create and free ------------------------------------------------------------------------- */

gf_status gf_decoding_create(const gf_decoding_options *options, gf_decoding **decoding,
                             gf_error *err)
{
    gf_decoding_options o = options ? *options : (gf_decoding_options){.as_it_is = false};
    gf_encoding said = {""};
    if (o.encoding.len && !gf_encoding_named(o.encoding, &said))
        return gf_fail(err, GF_EINVAL,
                       "encoding: \"%.*s\" is not known; names are utf-8, windows-1252, "
                       "iso-8859-2, utf-16, shift_jis, gb18030, koi8-r and many more",
                       GF_SLICE_ARG(o.encoding));
    gf_decoding *d = gf_calloc(1, sizeof *d);
    if (!d) return gf_fail_memory(err, "a reader");
    d->options = o;
    d->said = said;
    *decoding = d;
    return GF_OK;
}

static void close_converter(gf_decoding *d)
{
    ucnv_close(d->from);
    d->from = NULL;
}

void gf_decoding_free(gf_decoding *d)
{
    if (!d) return;
    close_converter(d);
    ucnv_close(d->utf8);
    gf_free(d->bytes);
    gf_free(d);
}

const char *gf_decoding_unclear(const gf_decoding *d)
{
    return d->unclear.status == GF_OK ? NULL : d->unclear.message;
}

uint64_t gf_decoding_take_replaced(gf_decoding *d)
{
    uint64_t n = d->replaced;
    d->replaced = 0;
    return n;
}

/* ---- bytes that wait ------------------------------------------------------------------------- */

static gf_status make_room(gf_decoding *d, size_t more, gf_error *err)
{
    if (d->start) memmove(d->bytes, d->bytes + d->start, d->end - d->start);
    d->end -= d->start;
    d->start = 0;
    if (d->capacity - d->end >= more) return GF_OK;
    size_t capacity = d->end + more;
    char *grown = gf_realloc(d->bytes, capacity, 1);
    if (!grown) return gf_fail_memory(err, "an input buffer");
    d->bytes = grown;
    d->capacity = capacity;
    return GF_OK;
}

static gf_slice waiting(const gf_decoding *d)
{
    if (!d->bytes) return (gf_slice){"", 0};
    return gf_slice_of(d->bytes + d->start, d->end - d->start);
}

static gf_status read_more(gf_decoding *d, gf_error *err)
{
    size_t got = 0;
    gf_status st = make_room(d, READ, err);
    if (st == GF_OK) st = d->read(d->context, d->bytes + d->end, READ, &got, err);
    if (st != GF_OK) return st;
    d->end += got;
    d->at_end = got == 0;
    return GF_OK;
}

static gf_status wait_for(gf_decoding *d, size_t n, gf_error *err)
{
    gf_status st = GF_OK;
    while (st == GF_OK && waiting(d).len < n && !d->at_end)
        st = read_more(d, err);
    return st;
}

static void keep_before(gf_decoding *d, gf_slice out)
{
    d->gone += out.len;
    if (out.len >= BEFORE) {
        memcpy(d->before, out.ptr + out.len - BEFORE, BEFORE);
        d->n_before = BEFORE;
        return;
    }
    size_t kept = d->n_before + out.len > BEFORE ? BEFORE - out.len : d->n_before;
    memmove(d->before, d->before + d->n_before - kept, kept);
    if (out.len) memcpy(d->before + kept, out.ptr, out.len);
    d->n_before = kept + out.len;
}

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

static size_t ascii_length(gf_slice s)
{
    size_t i = 0;
    for (uint64_t words[8]; s.len - i >= sizeof words; i += sizeof words) {
        memcpy(words, s.ptr + i, sizeof words);
        if ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] |
             words[7]) &
            0x8080808080808080u)
            break;
    }
    while (i < s.len && (unsigned char)s.ptr[i] < 0x80)
        i++;
    return i;
}

/* The number of bytes at the end that may be the start of a character. */
static size_t open_length(gf_slice s)
{
    for (size_t n = 1; n <= 3 && n <= s.len; n++) {
        unsigned char c = (unsigned char)s.ptr[s.len - n];
        if (c < 0x80) return 0;
        if (c < 0xC0) continue;
        size_t whole = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
        return n < whole && gf_utf8_bad_length(gf_slice_skip(s, s.len - n)) == n ? n : 0;
    }
    return 0;
}

static size_t line_start(gf_slice s, size_t at)
{
    const char *lf = at ? memrchr(s.ptr, '\n', at) : NULL;
    return lf ? (size_t)(lf - s.ptr) + 1 : 0;
}

static uint64_t count_wide(gf_slice s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += (unsigned char)s.ptr[i] >= 0xC0u;
    return n;
}

/*
 * The number of bytes that may pass; *is_bad: what follows is no UTF-8, from its line's first byte
 * that is not ASCII.
 */
static size_t passing_length(gf_decoding *d, gf_slice s, bool *is_bad)
{
    *is_bad = false;
    size_t ascii = ascii_length(s);
    if (ascii == s.len) return s.len;
    size_t end = d->at_end ? s.len : s.len - open_length(s);
    size_t good = ascii + gf_utf8_valid_length(gf_slice_of(s.ptr + ascii, end - ascii));
    *is_bad = good < end;
    size_t line = line_start(s, good);
    size_t pass = line + ascii_length(gf_slice_of(s.ptr + line, s.len - line));
    bool ends = d->at_end || s.len - line >= WINDOW;
    if (!*is_bad && ends) pass = good;
    d->wide += count_wide(gf_slice_of(s.ptr, pass));
    return pass;
}

/* ---- judging --------------------------------------------------------------------------------- */

static gf_status fail_named(const gf_decoding *d, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "%.*s: %s", GF_SLICE_ARG(d->name), d->unclear.message);
}

static gf_status fail_unclear(gf_decoding *d, const gf_encoding *guess, gf_error *err)
{
    char at[64] = "", maybe[128] = "";
    if (d->gone > BEFORE) snprintf(at, sizeof at, " from byte %" PRIu64 " on", d->gone + 1);
    if (guess->name[0]) snprintf(maybe, sizeof maybe, ", perhaps %s", guess->name);
    gf_fail(&d->unclear, GF_EINVAL,
            "not UTF-8%s, and its encoding is not clear%s; say it with --encoding (utf-8 replaces "
            "what is bad)",
            at, maybe);
    return fail_named(d, err);
}

static bool is_single_byte(const gf_encoding *e)
{
    UErrorCode code = U_ZERO_ERROR;
    UConverter *c = ucnv_open(e->name, &code);
    bool single = U_SUCCESS(code) && ucnv_getMaxCharSize(c) == 1;
    ucnv_close(c);
    return single;
}

/* The callback of ICU for bytes that are no character. */
static void count_replaced(const void *context, UConverterToUnicodeArgs *args, const char *bytes,
                           int32_t length, UConverterCallbackReason reason, UErrorCode *code)
{
    gf_decoding *d = (gf_decoding *)(uintptr_t)context;
    if (reason <= UCNV_IRREGULAR) {
        d->replaced++;
        d->replaced_in_all++;
    }
    UCNV_TO_U_CALLBACK_SUBSTITUTE(NULL, args, bytes, length, reason, code);
}

static gf_status open_converter(gf_decoding *d, const gf_encoding *e, bool was_said, gf_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    bool is_new = !d->from || strcmp(d->encoding.name, e->name) != 0;
    if (is_new) {
        close_converter(d);
        d->from = ucnv_open(e->name, &code);
        if (U_SUCCESS(code)) ucnv_setToUCallBack(d->from, count_replaced, d, NULL, NULL, &code);
        if (U_SUCCESS(code) && !d->utf8) d->utf8 = ucnv_open("UTF-8", &code);
        if (U_FAILURE(code)) return gf_fail_memory(err, "a converter");
        d->encoding = *e;
        d->pivot_from = d->pivot_to = d->pivot;
        ucnv_reset(d->utf8);
        d->is_full = d->is_flushed = false;
        if (d->options.converted)
            d->options.converted(d->options.context, d->name, e->name, was_said);
    }
    d->state = CONVERTED;
    return GF_OK;
}

/* The bytes before the window, and the window: a sample in one piece. */
static gf_status recognise_window(gf_decoding *d, gf_slice window, gf_encoding *e, bool *clear,
                                  gf_error *err)
{
    char *sample = gf_malloc(d->n_before + window.len);
    if (!sample) return gf_fail_memory(err, "a text to be recognised");
    memcpy(sample, d->before, d->n_before);
    if (window.len) memcpy(sample + d->n_before, window.ptr, window.len);
    gf_status st = gf_encoding_recognise(gf_slice_of(sample, d->n_before + window.len),
                                         d->gone == 0, e, clear, err);
    gf_free(sample);
    return st;
}

static void pass_window(gf_decoding *d, gf_slice window, const gf_encoding_counts *c)
{
    d->state = UTF8;
    close_converter(d);
    d->judged = window.len;
    d->is_fresh = window.len < waiting(d).len;
    d->wide += c->wide;
    d->bad += c->bad;
}

static bool is_mostly_utf8(const gf_encoding_counts *c)
{
    return c->wide >= c->bad * MOSTLY;
}

/* One of 1,000 characters of what was read so far, which is UTF-8 for the rest. */
static bool is_few_of_all(const gf_decoding *d, const gf_encoding_counts *c)
{
    uint64_t bad = d->bad + c->bad;
    return bad * ONE_IN <= d->gone + c->characters && d->wide + c->wide >= bad * MOSTLY;
}

/* A window ends at a line end, unless it is a piece of a longer line. */
static gf_status take_window(gf_decoding *d, gf_slice *window, gf_error *err)
{
    gf_status st = wait_for(d, WINDOW, err);
    gf_slice s = waiting(d);
    if (s.len > WINDOW || (s.len == WINDOW && !d->at_end)) {
        s.len = WINDOW;
        size_t end = line_start(s, s.len);
        s.len = end ? end : s.len - open_length(s);
    }
    *window = s;
    return st;
}

static gf_status judge_window(gf_decoding *d, gf_error *err)
{
    gf_slice window;
    gf_encoding_counts c;
    gf_encoding e = {""};
    bool clear = false;
    gf_status st = take_window(d, &window, err);
    if (st != GF_OK) return st;
    gf_encoding_count(window, &c);
    bool few = is_few_of_all(d, &c);
    if (is_mostly_utf8(&c) || (few && c.bad < BEYOND_DOUBT)) {
        pass_window(d, window, &c);
        return GF_OK;
    }
    st = recognise_window(d, window, &e, &clear, err);
    if (st != GF_OK) return st;
    if (clear && c.wide * MIXED > c.bad && is_single_byte(&e)) clear = false;
    if (clear) {
        d->judged = window.len;
        return open_converter(d, &e, false, err);
    }
    if (!few && c.bad * ONE_IN > c.characters) return fail_unclear(d, &e, err);
    pass_window(d, window, &c);
    return GF_OK;
}

/* Further windows of what was recognised. */
static gf_status judge_converted(gf_decoding *d, gf_error *err)
{
    gf_slice window;
    gf_encoding_counts c;
    gf_status st = take_window(d, &window, err);
    if (st != GF_OK) return st;
    gf_encoding_count(window, &c);
    if (c.wide >= BEYOND_DOUBT && c.wide >= c.bad * MOSTLY)
        pass_window(d, window, &c);
    else
        d->judged = window.len;
    return GF_OK;
}

/* ---- giving bytes ---------------------------------------------------------------------------- */

static void give_judged(gf_decoding *d, char *to, size_t n, size_t *got)
{
    size_t give = d->judged < n ? d->judged : n;
    if (give) memcpy(to, d->bytes + d->start, give);
    keep_before(d, gf_slice_of(to, give));
    d->start += give;
    d->judged -= give;
    *got = give;
}

static gf_status convert_judged(gf_decoding *d, char *to, size_t n, size_t *got, gf_error *err)
{
    UErrorCode code = U_ZERO_ERROR;
    char *out = to;
    const char *from = d->bytes + d->start, *end = from + d->judged;
    bool is_last = d->at_end && d->judged == waiting(d).len;
    ucnv_convertEx(d->utf8, d->from, &out, to + n, &from, end, d->pivot, &d->pivot_from,
                   &d->pivot_to, d->pivot + PIVOT, false, is_last, &code);
    size_t used = (size_t)(from - (d->bytes + d->start));
    keep_before(d, gf_slice_of(d->bytes + d->start, used));
    d->start += used;
    d->judged -= used;
    *got = (size_t)(out - to);
    d->is_full = code == U_BUFFER_OVERFLOW_ERROR;
    if (U_FAILURE(code) && !d->is_full) return gf_fail_memory(err, "a converter");
    d->is_flushed = is_last && !d->is_full;
    if (d->replaced_in_all > SOME && d->replaced_in_all * ONE_IN > d->gone)
        return fail_unclear(d, &d->encoding, err);
    return GF_OK;
}

/*
 * Bytes of a line that holds more than ASCII. What follows is judged before anything goes out: where it
 * is not clear, nothing of what was read with it is stored.
 */
static gf_status pass_waiting(gf_decoding *d, char *to, size_t n, size_t *got, gf_error *err)
{
    bool is_bad;
    gf_status st = d->at_end || d->is_fresh ? GF_OK : read_more(d, err);
    if (st != GF_OK) return st;
    d->is_fresh = false;
    d->judged = passing_length(d, waiting(d), &is_bad);
    if (!is_bad || d->judged > n) return GF_OK;
    give_judged(d, to, n, got);
    return judge_window(d, err);
}

static gf_status pass_straight(gf_decoding *d, char *to, size_t n, size_t *got, gf_error *err)
{
    bool is_bad;
    size_t read = 0;
    gf_status st = d->read(d->context, to, n, &read, err);
    if (st != GF_OK) return st;
    d->at_end = read == 0;
    size_t pass = passing_length(d, gf_slice_of(to, read), &is_bad);
    if (pass < read) {
        st = make_room(d, read - pass, err);
        if (st != GF_OK) return st;
        memcpy(d->bytes + d->end, to + pass, read - pass);
        d->end += read - pass;
    }
    keep_before(d, gf_slice_of(to, pass));
    *got = pass;
    return is_bad ? judge_window(d, err) : GF_OK;
}

/* The source of the parser's buffer. */
static gf_status read_decoded(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_decoding *d = context;
    gf_status st = GF_OK;
    *got = 0;
    while (st == GF_OK && *got == 0) {
        bool is_empty = waiting(d).len == 0;
        bool is_last = is_empty && d->at_end && !d->is_flushed;
        if (d->state == CONVERTED && (d->judged || d->is_full || is_last)) {
            st = convert_judged(d, to, n, got, err);
        } else if (d->judged) {
            give_judged(d, to, n, got);
        } else if (is_empty && d->at_end) {
            break;
        } else if (d->state == CONVERTED && d->is_judged_whole) {
            if (is_empty) st = read_more(d, err);
            d->judged = waiting(d).len;
        } else if (d->state == CONVERTED) {
            st = judge_converted(d, err);
        } else if (is_empty) {
            if (d->state == AS_IT_IS) {
                st = d->read(d->context, to, n, got, err);
                d->at_end = *got == 0;
            } else {
                st = pass_straight(d, to, n, got, err);
            }
        } else if (d->state == AS_IT_IS) {
            d->judged = waiting(d).len;
        } else {
            st = pass_waiting(d, to, n, got, err);
        }
    }
    return st;
}

/* ---- the start of a stream ------------------------------------------------------------------- */

/* The value of charset= or encoding= in the markup at the start, if it begins with one. */
static gf_slice declared_encoding(gf_slice start)
{
    if (start.len == 0 || *start.ptr != '<') return (gf_slice){"", 0};
    for (size_t i = 0; i + 9 < start.len; i++) {
        size_t n = strncasecmp(start.ptr + i, "charset=", 8) == 0    ? 8
                   : strncasecmp(start.ptr + i, "encoding=", 9) == 0 ? 9
                                                                     : 0;
        if (n == 0) continue;
        i += n;
        while (i < start.len && strchr("\"' ", start.ptr[i]))
            i++;
        size_t from = i;
        while (i < start.len && !strchr("\"' />;?\n", start.ptr[i]))
            i++;
        return gf_slice_of(start.ptr + from, i - from);
    }
    return (gf_slice){"", 0};
}

/* Convert the whole stream. Of an encoding that cannot be wrong for these bytes none is looked at. */
static gf_status convert_whole(gf_decoding *d, const gf_encoding *e, bool was_said, gf_error *err)
{
    gf_slice window;
    bool fits = true;
    gf_status st = GF_OK;
    if (!is_single_byte(e)) {
        st = take_window(d, &window, err);
        if (st == GF_OK) st = gf_encoding_fits(e, window, &fits, err);
    }
    if (st != GF_OK) return st;
    if (!fits) {
        gf_fail(&d->unclear, GF_EINVAL, "not %s: more than one character in %d is none", e->name,
                ONE_IN);
        return fail_named(d, err);
    }
    d->is_judged_whole = true;
    return open_converter(d, e, was_said, err);
}

static gf_status begin_utf8(gf_decoding *d, gf_error *err)
{
    gf_encoding e;
    gf_slice start = waiting(d);
    bool clear = false;
    bool is_markup = start.len && *start.ptr == '<';
    gf_status st = wait_for(d, is_markup ? DECLARED_IN : 4, err);
    if (st != GF_OK) return st;
    start = waiting(d);
    if (gf_encoding_of_mark(start, &e)) return convert_whole(d, &e, true, err);
    if (start.len && memchr(start.ptr, '\0', start.len < 4 ? start.len : 4)) {
        if ((st = take_window(d, &start, err)) != GF_OK) return st;
        st = gf_encoding_recognise(start, true, &e, &clear, err);
        if (st == GF_OK && clear && strncmp(e.name, "UTF-16", 6) == 0)
            st = convert_whole(d, &e, false, err);
        return st;
    }
    if (d->options.as_it_is) {
        d->state = AS_IT_IS;
        return GF_OK;
    }
    if (gf_slice_starts(start, GF_SLICE("\xEF\xBB\xBF"))) d->wide += BEYOND_DOUBT * MOSTLY;
    if (start.len > DECLARED_IN) start.len = DECLARED_IN;
    gf_slice declared = declared_encoding(start);
    if (gf_encoding_named(declared, &e) && !gf_encoding_is_utf8(&e) &&
        strncmp(e.name, "UTF-", 4) != 0)
        return convert_whole(d, &e, true, err);
    return GF_OK;
}

gf_status gf_decoding_begin(gf_decoding *d, gf_read_buffer *w, gf_slice name, gf_error *err)
{
    gf_slice read = gf_read_buffer_unread(w);
    close_converter(d);
    d->name = name;
    d->read = w->read;
    d->context = w->context;
    d->start = d->end = d->judged = 0;
    d->at_end = w->at_end;
    d->state = UTF8;
    d->is_judged_whole = d->is_full = d->is_flushed = false;
    d->gone = d->wide = d->bad = d->replaced_in_all = 0;
    d->n_before = 0;
    d->unclear.status = GF_OK;
    gf_status st = make_room(d, read.len, err);
    if (st != GF_OK) return st;
    if (read.len) memcpy(d->bytes, read.ptr, read.len);
    d->end = read.len;
    d->is_fresh = true;
    gf_read_buffer_consume(w, read.len);
    w->at_end = false;
    w->read = read_decoded;
    w->context = d;
    if (gf_encoding_is_utf8(&d->said)) {
        d->state = AS_IT_IS;
        return GF_OK;
    }
    return d->said.name[0] ? convert_whole(d, &d->said, true, err) : begin_utf8(d, err);
}

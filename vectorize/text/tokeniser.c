#include "vectorize/text/tokeniser.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "vectorize/text/ascii_window_internal.h"
#include "vectorize/text/char_class_internal.h"
#include "vectorize/text/links_internal.h"
#include "vectorize/text/word_breaker_internal.h"

#include <pthread.h>

/* Classes of a byte, as bits; 0 is white space and controls. */
enum {
    LETTER = 1,
    DIGIT = 2,
    UNDERSCORE = 4,
    WORD = LETTER | DIGIT | UNDERSCORE,
    HIGH = 8,     /* part of a character beyond ASCII */
    NEWLINE = 16, /* \n */
    JOIN = 32,    /* / ' & and the hyphen, which is looked at more closely */
    BREAK = 64,   /* the rest; @ and # may begin a token */
    LINK = 128    /* : . @ may make the word before them a link; they are BREAK as well */
};

static uint8_t byte_class[256];
static const uint8_t *char_class; /* gf_char_classes() */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned class_of_byte(unsigned c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return LETTER;
    if (c >= '0' && c <= '9') return DIGIT;
    if (c == '_') return UNDERSCORE;
    if (c >= 0x80) return HIGH;
    if (c == '\n') return NEWLINE;
    if (c <= ' ' || c == 0x7F) return 0;
    if (c == '/' || c == '\'' || c == '&' || c == '-') return JOIN;
    if (c == ':' || c == '.' || c == '@') return BREAK | LINK;
    return BREAK;
}

static void fill_tables(void)
{
    for (unsigned c = 0; c < 256; c++)
        byte_class[c] = (uint8_t)class_of_byte(c);
    char_class = gf_char_classes();
}

void gf_tokeniser_init(gf_tokeniser *t, gf_token_options options)
{
    pthread_once(&once, fill_tables);
    *t = (gf_tokeniser){.options = options};
}

void gf_tokeniser_release(gf_tokeniser *t)
{
    gf_free(t->tokens);
    gf_word_breaker_free(t->breaker);
    *t = (gf_tokeniser){.options = t->options};
}

/* The state of one walk over a text. */
typedef struct scanner {
    gf_tokeniser *to;
    gf_slice text;
    const uint8_t *p; /* text's bytes */
    size_t floor;     /* end of the last link */
    size_t sign_end;  /* words before here belong to the last mention or hashtag */
    gf_token_kind sign_kind;
    uint8_t flags; /* of the next token */
#ifdef GF_HAS_ASCII_WINDOW
    gf_ascii_window window; /* what was looked at last, */
    size_t window_start;    /* from here on; behind the text: none yet */
#endif
} scanner;

/* The class of the character at *at, which is beyond ASCII; moves *at behind it. */
static gf_char_class wide_class(gf_slice text, size_t *at)
{
    const uint8_t *p = (const uint8_t *)text.ptr + *at;
    size_t left = text.len - *at;
    if (p[0] >= 0xC2 && p[0] < 0xE0 && left >= 2 && (p[1] & 0xC0) == 0x80) {
        *at += 2;
        return (gf_char_class)char_class[(p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu)];
    }
    if (p[0] > 0xE0 && p[0] < 0xED && left >= 3 && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
        *at += 3;
        return (
            gf_char_class)char_class[(p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu)];
    }
    uint32_t c = gf_utf8_next(text, at); /* U+FFFD, of a bad byte, is a symbol and so a break */
    return c < GF_CHAR_TABLE ? (gf_char_class)char_class[c] : gf_char_class_of(c);
}

static gf_char_class class_at(const scanner *s, size_t *at)
{
    unsigned c = byte_class[s->p[*at]];
    if (c & HIGH) return wide_class(s->text, at);
    ++*at;
    if (c & DIGIT) return GF_CHAR_DIGIT;
    if (c & WORD) return GF_CHAR_LETTER;
    return c & BREAK ? GF_CHAR_BREAK : c & JOIN ? GF_CHAR_JOIN : GF_CHAR_SPACE;
}

static bool starts_word(gf_char_class k)
{
    return k == GF_CHAR_LETTER || k == GF_CHAR_DIGIT || k == GF_CHAR_CJK || k == GF_CHAR_COMPLEX;
}

static bool word_starts_at(const scanner *s, size_t at)
{
    return at < s->text.len && starts_word(class_at(s, &at));
}

/* ---- the gaps between words ------------------------------------------------------------------ */

/*
 * The end of a name or tag that starts at `at`: any word characters, those without spaces included.
 * *only_digits tells whether it holds nothing else.
 */
static size_t name_end(const scanner *s, size_t at, bool *only_digits)
{
    size_t end = at;
    *only_digits = true;
    while (at < s->text.len) {
        gf_char_class k = class_at(s, &at);
        if (k == GF_CHAR_JOINER) continue;
        if (!starts_word(k) && k != GF_CHAR_MARK) break;
        if (k != GF_CHAR_DIGIT) *only_digits = false;
        end = at;
    }
    return end;
}

/* True if a @ or # begins a mention or a hashtag, which is noted. */
static bool take_sign(scanner *s, size_t sign, size_t gap_start)
{
    if ((sign == gap_start && sign > 0) || !word_starts_at(s, sign + 1)) return false;
    bool only_digits;
    size_t end = name_end(s, sign + 1, &only_digits);
    bool tag = s->p[sign] == '#';
    if (tag && only_digits) return false;
    s->sign_kind = tag ? GF_TOKEN_HASHTAG : GF_TOKEN_MENTION;
    s->sign_end = end;
    return true;
}

/* A hyphen joins where it stands between two words and nothing else does. */
static bool is_dash(const scanner *s, size_t at, size_t gap_start)
{
    return s->p[at] == '-' && (at != gap_start || at == 0 || !word_starts_at(s, at + 1));
}

/*
 * Skips what is no word from `at` on: the start of the next word or run, or the text's end. Sets
 * the break flag by what it skips.
 */
static size_t skip_gap(scanner *s, size_t at)
{
    const size_t n = s->text.len, gap_start = at;
    bool line_ended = false;
    if (n - at >= 2 && s->p[at] == ' ' && byte_class[s->p[at + 1]] & WORD) return at + 1;
    while (at < n) {
        unsigned c = byte_class[s->p[at]];
        if (c & WORD) return at;
        if (c == 0) {
            at++;
            continue;
        }
        gf_char_class k;
        size_t next = at, end;
        if (c & NEWLINE) {
            if (line_ended) s->flags |= GF_TOKEN_BREAK;
            line_ended = true;
            at++;
            continue;
        }
        if (s->p[at] == '&' && s->to->options.references &&
            (end = gf_links_reference_end(s->text, at, &k)) > 0) {
            next = end;
        } else if ((s->p[at] == '@' || s->p[at] == '#') && take_sign(s, at, gap_start)) {
            return at + 1;
        } else {
            k = class_at(s, &next);
            if (starts_word(k)) return at;
            if (k == GF_CHAR_JOIN && is_dash(s, at, gap_start)) k = GF_CHAR_BREAK;
        }
        if (k == GF_CHAR_BREAK) s->flags |= GF_TOKEN_BREAK;
        if (k != GF_CHAR_SPACE) line_ended = false;
        at = next;
    }
    return at;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool is_long(const scanner *s, size_t start, size_t end, gf_token_kind kind)
{
    if (kind == GF_TOKEN_URL || kind == GF_TOKEN_ADDRESS) return end - start > GF_LONGEST_LINK;
    return end - start > s->to->options.max_length &&
           gf_utf8_count(gf_slice_of(s->text.ptr + start, end - start)) > s->to->options.max_length;
}

static inline gf_status push(scanner *s, size_t start, size_t end, gf_token_kind kind,
                             unsigned flags, gf_error *err)
{
    gf_tokeniser *t = s->to;
    if (t->n == t->capacity && !gf_grow(&t->tokens, &t->capacity, t->n + 1, sizeof *t->tokens))
        return gf_fail_memory(err, "tokens");
    if (end - start > t->options.max_length && is_long(s, start, end, kind)) flags |= GF_TOKEN_LONG;
    t->tokens[t->n++] = (gf_token){(uint32_t)start, (uint32_t)(end - start), (uint8_t)kind,
                                   (uint8_t)(s->flags | flags)};
    s->flags = 0;
    return GF_OK;
}

static gf_status push_piece(scanner *s, size_t start, size_t end, gf_error *err)
{
    gf_token_kind kind = start < s->sign_end ? s->sign_kind : GF_TOKEN_CJK;
    return push(s, start, end, kind, GF_TOKEN_PIECE, err);
}

/* The link that the word before `end` belongs to, if it does: *at then moves behind the link. */
static gf_status take_link(scanner *s, size_t start, size_t end, size_t *at, bool *taken,
                           gf_error *err)
{
    gf_tokeniser *t = s->to;
    gf_token_kind kind = GF_TOKEN_URL;
    size_t first, link_end;
    *taken = false;
    if (s->p[end] != '@') {
        link_end = gf_links_url_end(s->text, start, end);
        if (link_end == 0) return GF_OK;
    } else {
        if (!gf_links_address_at(s->text, s->floor, end, &first, &link_end) || first > start)
            return GF_OK;
        kind = GF_TOKEN_ADDRESS;
        /* The words before are the start of the address. */
        while (t->n && t->tokens[t->n - 1].start >= first) {
            t->n--;
            start = t->tokens[t->n].start;
            s->flags = t->tokens[t->n].flags & GF_TOKEN_BREAK;
        }
    }
    *taken = true;
    *at = s->floor = link_end;
    return push(s, start, link_end, kind, 0, err);
}

/* The end of a word that goes on at `at` with a byte beyond ASCII; joiners stand only inside it. */
static size_t wide_word_end(const scanner *s, size_t at, unsigned *bits)
{
    const size_t n = s->text.len;
    size_t end = at;
    while (at < n) {
        unsigned c = byte_class[s->p[at]];
        if (c & WORD) {
            *bits |= c;
            end = ++at;
            continue;
        }
        gf_char_class k = c & HIGH ? wide_class(s->text, &at) : GF_CHAR_BREAK;
        if (k == GF_CHAR_LETTER) *bits |= LETTER;
        if (k == GF_CHAR_DIGIT) *bits |= DIGIT;
        if (k == GF_CHAR_LETTER || k == GF_CHAR_DIGIT || k == GF_CHAR_MARK)
            end = at;
        else if (k != GF_CHAR_JOINER)
            break;
    }
    return end;
}

/* ASCII word bytes at the start of n; *bits gets what they are. */
static inline size_t ascii_word(const uint8_t *p, size_t n, unsigned *bits)
{
    size_t i = 0;
    for (; i < n && byte_class[p[i]] & WORD; i++)
        *bits |= byte_class[p[i]];
    return i;
}

/* A word from `start` on, which does not start a run without spaces; returns where to go on. */
static gf_status take_word(scanner *s, size_t start, size_t *at, gf_error *err)
{
    const size_t n = s->text.len;
    unsigned bits = 0;
    size_t end = start + ascii_word(s->p + start, n - start, &bits);
    if (end < n && byte_class[s->p[end]] & HIGH) end = wide_word_end(s, end, &bits);
    *at = end;
    bool in_sign = start < s->sign_end;
    if (end < n && byte_class[s->p[end]] & LINK && s->to->options.links && !in_sign) {
        bool taken;
        gf_status st = take_link(s, start, end, at, &taken, err);
        if (taken || st != GF_OK) return st;
    }
    if (in_sign) return push(s, start, end, s->sign_kind, 0, err);
    if (bits & UNDERSCORE) {
        while (start < end && s->p[start] == '_')
            start++;
        while (start < end && s->p[end - 1] == '_')
            end--;
        if (!(bits & (LETTER | DIGIT))) return GF_OK;
    }
    gf_token_kind kind = bits & LETTER ? GF_TOKEN_WORD : GF_TOKEN_NUMBER;
    return push(s, start, end, kind, 0, err);
}

/* ---- runs without spaces --------------------------------------------------------------------- */

/* The end of the run of characters of that class, with the marks and joiners inside it. */
static size_t run_end(const scanner *s, size_t at, gf_char_class run)
{
    size_t end = at;
    while (at < s->text.len) {
        gf_char_class k = class_at(s, &at);
        if (k == run || (k == GF_CHAR_MARK && end > 0))
            end = at;
        else if (k != GF_CHAR_JOINER)
            break;
    }
    return end;
}

static gf_status take_words_of_run(scanner *s, size_t start, size_t end, gf_error *err)
{
    gf_tokeniser *t = s->to;
    gf_status st = t->breaker ? GF_OK : gf_word_breaker_create(&t->breaker, err);
    while (st == GF_OK && start < end) {
        const uint32_t *ends;
        size_t n, from = start;
        st = gf_word_break(t->breaker, gf_slice_of(s->text.ptr + start, end - start), &ends, &n,
                           err);
        for (size_t i = 0; i < n && st == GF_OK; i++) {
            st = push_piece(s, from, start + ends[i], err);
            from = start + ends[i];
        }
        start = from;
    }
    return st;
}

/* The end of the character at `at` with the marks and joiners behind it. */
static size_t character_end(const scanner *s, size_t at, size_t end)
{
    class_at(s, &at);
    while (at < end) {
        size_t next = at;
        gf_char_class k = class_at(s, &next);
        if (k != GF_CHAR_MARK && k != GF_CHAR_JOINER) break;
        at = next;
    }
    return at;
}

static gf_status take_pairs_of_run(scanner *s, size_t start, size_t end, gf_error *err)
{
    gf_status st = GF_OK;
    size_t middle = character_end(s, start, end);
    if (middle == end) return push_piece(s, start, end, err);
    while (middle < end && st == GF_OK) {
        size_t second_end = character_end(s, middle, end);
        st = push_piece(s, start, second_end, err);
        start = middle;
        middle = second_end;
    }
    return st;
}

static gf_status take_run(scanner *s, size_t start, gf_char_class run, size_t *at, gf_error *err)
{
    size_t end = *at = run_end(s, start, run), first = character_end(s, start, end);
    if (first == end) return push_piece(s, start, end, err);
    if (run == GF_CHAR_CJK && s->to->options.bigrams) return take_pairs_of_run(s, start, end, err);
    return take_words_of_run(s, start, end, err);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* The token or tokens that start at *at, where a word or a run does. */
static gf_status take(scanner *s, size_t *at, gf_error *err)
{
    size_t start = *at, next = start;
    const gf_token_options *o = &s->to->options;
    if (start > 0 && start < s->sign_end && (s->p[start - 1] == '@' || s->p[start - 1] == '#') &&
        (s->sign_kind == GF_TOKEN_MENTION ? o->mention_signs : o->hashtag_signs)) {
        *at = s->sign_end;
        return push(s, start - 1, s->sign_end, s->sign_kind, GF_TOKEN_SIGN, err);
    }
    if (byte_class[s->p[start]] & HIGH) {
        gf_char_class k = wide_class(s->text, &next);
        if (k == GF_CHAR_CJK || k == GF_CHAR_COMPLEX) return take_run(s, start, k, at, err);
    }
    return take_word(s, start, at, err);
}

#ifdef GF_HAS_ASCII_WINDOW
/* "www." and "http", in any case: what may begin a URL. */
static inline bool may_begin_url(const scanner *s, size_t at)
{
    uint32_t first, www, http; /* four bytes as one number, in whatever order */
    if (s->text.len - at < sizeof first) return false;
    memcpy(&first, s->p + at, sizeof first);
    memcpy(&www, "www.", sizeof www);
    memcpy(&http, "http", sizeof http);
    first |= 0x20202020;
    return (first == www) | (first == http);
}

/* Looks at the bytes from `at` on, or again at those of the last window: bit 0 is `at`. */
static inline gf_ascii_window look(scanner *s, size_t at)
{
    size_t left = s->text.len - at, shift = at - s->window_start;
    if (shift >= GF_ASCII_WINDOW / 2) {
        s->window_start = at;
        gf_ascii_window_load(&s->window, s->p + at, left);
        return s->window;
    }
    gf_ascii_window w = s->window;
    w.word >>= shift;
    w.digit >>= shift;
    w.breaks >>= shift;
    w.special >>= shift;
    /* The text behind the window is not read yet, unless it ends there. */
    if (shift && left + shift >= GF_ASCII_WINDOW) w.special |= 1ull << (GF_ASCII_WINDOW - shift);
    return w;
}

/*
 * Takes words from *at on, where one starts, as long as they and the gaps behind them are plain:
 * within a window, and nothing special in or next to them. All is read off the window's bits, and
 * the number of words is the only branch that nothing can foresee. *at moves to the next word.
 */
static gf_status take_plain(scanner *s, size_t *at, gf_error *err)
{
    gf_tokeniser *t = s->to;
    const gf_ascii_window w = look(s, *at);
    const size_t base = *at, longest = t->options.max_length;
    const uint64_t inside = w.word << 1, plain = (w.special & -w.special) - 1; /* all, without */
    uint64_t starts = w.word & ~inside, ends = inside & ~w.word & plain, end = 0;
    size_t to = 0;
    if (t->capacity - t->n < GF_ASCII_WINDOW / 2 &&
        !gf_grow(&t->tokens, &t->capacity, t->n + GF_ASCII_WINDOW / 2, sizeof *t->tokens))
        return gf_fail_memory(err, "tokens");
    for (; ends; ends &= ends - 1, starts &= starts - 1) {
        uint64_t start = starts & -starts, word;
        size_t from = (size_t)__builtin_ctzll(starts);
        if (end && w.breaks & (start - end)) s->flags = GF_TOKEN_BREAK;
        *at = base + from;
        if (t->options.links && may_begin_url(s, *at)) return GF_OK;
        to = (size_t)__builtin_ctzll(ends);
        end = ends & -ends;
        word = end - start;
        t->tokens[t->n++] =
            (gf_token){(uint32_t)*at, (uint32_t)(to - from),
                       (w.digit & word) == word ? GF_TOKEN_NUMBER : GF_TOKEN_WORD,
                       (uint8_t)(s->flags | (to - from > longest ? GF_TOKEN_LONG : 0))};
        s->flags = 0;
    }
    if (end == 0) return GF_OK;
    starts &= plain << 1 | 1;
    if (starts) {
        if (w.breaks & ((starts & -starts) - end)) s->flags = GF_TOKEN_BREAK;
        *at = base + (size_t)__builtin_ctzll(starts);
    } else {
        *at = skip_gap(s, base + to);
    }
    return GF_OK;
}

/* True if take_plain may read the text from `at` on. */
static inline bool may_be_plain(const scanner *s, size_t at)
{
    return byte_class[s->p[at]] & (LETTER | DIGIT) && at >= s->sign_end && !s->to->options.portable;
}
#endif

gf_status gf_tokenise(gf_tokeniser *t, gf_slice text, gf_error *err)
{
    t->n = 0;
    if (text.len > UINT32_MAX)
        return gf_fail(err, GF_ELIMIT, "a text of %zu bytes is too long", text.len);
    scanner s = {.to = t, .text = text, .p = (const uint8_t *)text.ptr};
    gf_status st = GF_OK;
    size_t at = skip_gap(&s, 0);
#ifdef GF_HAS_ASCII_WINDOW
    s.window_start = text.len + 1;
#endif
    while (at < text.len && st == GF_OK) {
#ifdef GF_HAS_ASCII_WINDOW
        size_t from = at;
        if (may_be_plain(&s, at)) st = take_plain(&s, &at, err);
        if (at != from || st != GF_OK) continue;
#endif
        st = take(&s, &at, err);
        at = skip_gap(&s, at);
    }
    if (st != GF_OK) t->n = 0;
    return st;
}

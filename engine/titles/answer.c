#include "engine/titles/answer.h"

#include "base/strings.h"
#include "base/utf8.h"
#include "vectorize/text/detect.h"
#include "vectorize/text/stop_words.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

enum { MOST_TOLD = 200 /* bytes of what a server says */ };

/* ---- the body -------------------------------------------------------------------------------- */

static bool text_at(gf_json_value object, const char *name, gf_slice *text)
{
    gf_json_value v;
    if (gf_json_kind_of(object) != GF_JSON_OBJECT || !gf_json_member(object, name, &v) ||
        gf_json_kind_of(v) != GF_JSON_STRING)
        return false;
    *text = gf_json_get_string(v);
    return true;
}

/* {"error": {"message": "..."}}, or {"error": "..."} */
static bool find_error(gf_json_value root, gf_slice *text)
{
    gf_json_value v;
    if (text_at(root, "error", text)) return true;
    return gf_json_kind_of(root) == GF_JSON_OBJECT && gf_json_member(root, "error", &v) &&
           text_at(v, "message", text);
}

static const char *find_content(gf_json_value root, gf_slice *content)
{
    gf_json_value v, choice, message;
    gf_json_iterator it;
    gf_slice reason;
    if (gf_json_kind_of(root) != GF_JSON_OBJECT || !gf_json_member(root, "choices", &v) ||
        gf_json_kind_of(v) != GF_JSON_ARRAY)
        return "it has no array \"choices\"";
    it = gf_json_items(v);
    if (!gf_json_next(&it, NULL, &choice)) return "its array \"choices\" is empty";
    if (text_at(choice, "finish_reason", &reason) && gf_slice_equal(reason, GF_SLICE("length")))
        return "it was cut";
    if (gf_json_kind_of(choice) != GF_JSON_OBJECT || !gf_json_member(choice, "message", &message) ||
        !text_at(message, "content", content))
        return "its first choice has no text";
    return NULL;
}

/* In one line, without control characters. */
static void tell(gf_buffer *why, gf_slice text)
{
    gf_slice cut = gf_utf8_cut(text, MOST_TOLD);
    for (size_t i = 0; i < cut.len; i++)
        gf_buffer_byte(why,
                       (unsigned char)cut.ptr[i] < ' ' || cut.ptr[i] == 0x7f ? ' ' : cut.ptr[i]);
}

gf_status gf_titles_read_answer(gf_json_parser *parser, gf_slice body, gf_buffer *text,
                                gf_buffer *why, gf_error *err)
{
    gf_json_value root;
    gf_slice content = {0};
    gf_error bad = {GF_OK, ""};
    gf_buffer_reset(text);
    gf_buffer_reset(why);
    gf_status st = gf_json_parse_copy(parser, body, &root, &bad);
    if (st == GF_ENOMEM) return gf_fail_memory(err, "an answer");
    if (st != GF_OK) {
        gf_buffer_format(why, "the answer is no JSON: %s", bad.message);
        return gf_buffer_check(why, err);
    }
    const char *wrong = find_content(root, &content);
    gf_slice error = {0};
    if (find_error(root, &error))
        tell(why, error);
    else if (wrong)
        gf_buffer_format(why, "the answer is no completion: %s", wrong);
    else
        gf_buffer_slice(text, content);
    st = gf_buffer_check(why, err);
    return st == GF_OK ? gf_buffer_check(text, err) : st;
}

/* ---- trimming -------------------------------------------------------------------------------- */

static gf_slice trim_space(gf_slice s)
{
    while (s.len && (unsigned char)s.ptr[0] <= ' ')
        s = gf_slice_skip(s, 1);
    while (s.len && (unsigned char)s.ptr[s.len - 1] <= ' ')
        s.len--;
    return s;
}

static bool ends_with(gf_slice s, gf_slice end)
{
    return s.len >= end.len && memcmp(s.ptr + s.len - end.len, end.ptr, end.len) == 0;
}

static bool trim_marks(gf_slice *s)
{
    static const char *const marks[][2] = {{"\"", "\""},
                                           {"'", "'"},
                                           {"\xe2\x80\x9c", "\xe2\x80\x9d"},
                                           {"\xe2\x80\x9e", "\xe2\x80\x9c"},
                                           {"\xe2\x80\x98", "\xe2\x80\x99"},
                                           {"\xc2\xab", "\xc2\xbb"},
                                           {"**", "**"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        gf_slice a = gf_slice_str(marks[i][0]), b = gf_slice_str(marks[i][1]);
        if (s->len <= a.len + b.len || !gf_slice_starts(*s, a) || !ends_with(*s, b)) continue;
        *s = trim_space(gf_slice_of(s->ptr + a.len, s->len - a.len - b.len));
        return true;
    }
    return false;
}

/* <think>...</think> before the answer: models that reason aloud write it into their text. */
static gf_slice skip_thought(gf_slice s)
{
    static const char end[] = "</think>";
    if (!gf_slice_starts(s, GF_SLICE("<think>"))) return s;
    const char *at = memmem(s.ptr, s.len, end, sizeof end - 1);
    return at ? trim_space(gf_slice_skip(s, (size_t)(at - s.ptr) + sizeof end - 1)) : s;
}

static gf_slice trim_answer(gf_slice s)
{
    s = skip_thought(trim_space(s));
    while (trim_marks(&s)) {
    }
    if (s.len > 1 && s.ptr[s.len - 1] == '.' && s.ptr[s.len - 2] != '.') s.len--;
    while (trim_marks(&s)) {
    }
    return s;
}

/* ---- form ------------------------------------------------------------------------------------ */

static const char *fault_of_form(gf_slice s)
{
    bool letter = false;
    if (s.len == 0) return "it is empty";
    if (s.ptr[0] == '#') return "it has markup";
    if (gf_utf8_valid_length(s) != s.len) return "it is not valid UTF-8";
    for (size_t at = 0; at < s.len;) {
        uint32_t c = gf_utf8_next(s, &at);
        int8_t kind = u_charType((UChar32)c);
        if (c == '\n' || c == '\r' || kind == U_LINE_SEPARATOR || kind == U_PARAGRAPH_SEPARATOR)
            return "it has more than one line";
        /* Format characters turn the direction of what stands behind them, or hide it. */
        if (kind == U_CONTROL_CHAR || kind == U_FORMAT_CHAR) return "it has control characters";
        if (c < 0x80 && strchr("<>`*[]{}|\\", (int)c)) return "it has markup";
        letter |= u_isalpha((UChar32)c);
    }
    if (!letter) return "it has no letter";
    if (gf_utf8_count(s) > GF_TITLE_CHARACTERS) return "it is longer than 80 characters";
    if (memmem(s.ptr, s.len, "://", 3) || memmem(s.ptr, s.len, "www.", 4))
        return "it has an address";
    return NULL;
}

/* ---- language -------------------------------------------------------------------------------- */

/* The script of most letters; what Chinese and Japanese share is one. */
static int script_of(gf_slice s)
{
    uint32_t count[USCRIPT_CODE_LIMIT] = {0};
    int best = USCRIPT_COMMON;
    for (size_t at = 0; at < s.len;) {
        UErrorCode failed = U_ZERO_ERROR;
        UChar32 c = (UChar32)gf_utf8_next(s, &at);
        int script = u_isalpha(c) ? (int)uscript_getScript(c, &failed) : USCRIPT_COMMON;
        if (script == USCRIPT_HIRAGANA || script == USCRIPT_KATAKANA) script = USCRIPT_HAN;
        if (script <= USCRIPT_INHERITED || script >= USCRIPT_CODE_LIMIT) continue;
        if (++count[script] > count[best] || best == USCRIPT_COMMON) best = script;
    }
    return best;
}

/* How many of the title's words are function words of a language, and not of `but`. */
static gf_status count_function_words(const gf_strings *words, const gf_language *language,
                                      const gf_strings *but, size_t *n, gf_strings *list,
                                      gf_error *err)
{
    gf_status st = gf_stop_words_add(list, language, err);
    *n = 0;
    for (uint32_t i = 0; i < words->n && st == GF_OK; i++) {
        gf_slice word = gf_strings_at(words, i);
        *n += gf_strings_find(list, word) != GF_STRING_NONE &&
              (!but || gf_strings_find(but, word) == GF_STRING_NONE);
    }
    return st;
}

/*
 * One line tells little of its language, so only what is plain counts: another script than the
 * documents', two function words more of another language, or CLD2 where it is sure.
 */
static gf_status check_language(gf_slice title, const gf_prompt *p, bool *is_other, gf_error *err)
{
    gf_detection found;
    gf_strings words = {0}, own = {0};
    size_t n_own = 0;
    int script = script_of(gf_buffer_view(&p->sample));
    *is_other = script != USCRIPT_COMMON && script_of(title) != script;
    if (!p->language) return GF_OK;
    gf_status st = gf_language_detect(title, &found, err);
    if (st == GF_OK && found.reliable && found.code[0]) *is_other |= found.language != p->language;
    if (st == GF_OK) st = gf_stop_words_add_text(&words, title, p->language, err);
    if (st == GF_OK) st = count_function_words(&words, p->language, NULL, &n_own, &own, err);
    for (size_t i = 0; i < GF_LANGUAGES && st == GF_OK && !*is_other; i++) {
        gf_strings other = {0};
        size_t n = 0;
        if (gf_language_at(i) == p->language) continue;
        st = count_function_words(&words, gf_language_at(i), &own, &n, &other, err);
        *is_other = n >= n_own + 2;
        gf_strings_release(&other);
    }
    gf_strings_release(&words);
    gf_strings_release(&own);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const gf_titled_cluster *find_twin(gf_slice title, const gf_titled_clusters *list,
                                          const gf_titled_cluster *of)
{
    for (size_t i = 0; i < list->n; i++) {
        const gf_titled_cluster *c = &list->at[i];
        if (c != of &&
            (gf_utf8_same_letters(c->label, title) || gf_utf8_same_letters(c->title, title)))
            return c;
    }
    return NULL;
}

gf_status gf_titles_check_answer(gf_buffer *text, const gf_prompt *p,
                                 const gf_titled_clusters *list, const gf_titled_cluster *of,
                                 gf_buffer *why, gf_error *err)
{
    bool is_other = false;
    gf_slice title = trim_answer(gf_buffer_view(text));
    const char *fault = fault_of_form(title);
    gf_buffer_reset(why);
    gf_status st = fault ? GF_OK : check_language(title, p, &is_other, err);
    if (st != GF_OK) return st;
    const gf_titled_cluster *twin = fault ? NULL : find_twin(title, list, of);
    if (fault)
        gf_buffer_str(why, fault);
    else if (twin)
        gf_buffer_format(why, "cluster %u is called so already", twin->id);
    else if (is_other && p->language)
        gf_buffer_format(why, "it is not in %c%s", p->language->name[0] - 'a' + 'A',
                         p->language->name + 1);
    else if (is_other)
        gf_buffer_str(why, "it is not in the language of the documents");
    if (title.len) memmove(text->ptr, title.ptr, title.len);
    text->len = title.len;
    return gf_buffer_check(why, err);
}

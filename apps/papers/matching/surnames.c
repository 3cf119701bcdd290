#include "apps/papers/matching/surnames.h"

#include "apps/papers/matching/title.h"
#include "apps/papers/matching/trim.h"
#include "base/utf8.h"

#include <string.h>
#include <strings.h>
#include <unicode/uchar.h>

enum { MOST_SURNAMES = 10000 };

static gf_slice member_string(gf_json_value v, const char *name)
{
    gf_json_value member;
    if (!gf_json_member(v, name, &member) || gf_json_kind_of(member) != GF_JSON_STRING)
        return (gf_slice){"", 0};
    return gf_json_get_string(member);
}

/* The last word behind white space; it is all of the name where there is none. */
static gf_slice last_word(gf_slice name)
{
    size_t from = name.len;
    while (from > 0) {
        size_t before = gf_utf8_cut(name, from - 1).len, at = before;
        if (u_isUWhiteSpace((UChar32)gf_utf8_next(name, &at))) break;
        from = before;
    }
    return gf_slice_skip(name, from);
}

/* The name without its last word; empty where it is the only one. */
static gf_slice without_last(gf_slice name)
{
    return gf_trim(gf_slice_of(name.ptr, name.len - last_word(name).len));
}

/* "Jr." or "III" */
static bool is_suffix(gf_slice word)
{
    if (word.len && word.ptr[word.len - 1] == '.') word.len--;
    if (word.len == 2 &&
        (strncasecmp(word.ptr, "jr", 2) == 0 || strncasecmp(word.ptr, "sr", 2) == 0))
        return true;
    return gf_slice_equal(word, GF_SLICE("II")) || gf_slice_equal(word, GF_SLICE("III")) ||
           gf_slice_equal(word, GF_SLICE("IV"));
}

/* "K", "K." or "K.-H.": letters that have a case, each alone. So "Li" is none, nor an ideograph. */
static bool is_initials(gf_slice word)
{
    bool has_letter = false, is_behind_letter = false;
    for (size_t at = 0; at < word.len;) {
        UChar32 c = (UChar32)gf_utf8_next(word, &at);
        if (u_charType(c) == U_NON_SPACING_MARK) continue;
        bool is_cased = u_isUUppercase(c) || u_isULowercase(c);
        if (is_cased ? is_behind_letter : c != '.' && c != '-' && c != 0x2010) return false;
        is_behind_letter = is_cased;
        has_letter = has_letter || is_cased;
    }
    return has_letter;
}

static gf_slice without_suffixes(gf_slice name)
{
    gf_slice rest;
    name = gf_trim(name);
    while (is_suffix(last_word(name)) && (rest = without_last(name)).len)
        name = rest;
    return name;
}

/*
 * The surname: in "Lovelace, Ada" the text before the comma, in "Ada Lovelace" and "Lovelace A." the
 * last word that is more than initials. "Ada Lovelace, Jr." is no name with its parts turned round.
 */
static gf_slice surname_of(gf_slice name)
{
    gf_slice rest;
    name = gf_trim(name);
    for (const char *comma; name.len && (comma = memrchr(name.ptr, ',', name.len));) {
        size_t n = (size_t)(comma - name.ptr);
        gf_slice behind = gf_trim(gf_slice_skip(name, n + 1));
        if (behind.len && !is_suffix(behind)) break;
        name = gf_trim(gf_slice_of(name.ptr, n));
    }
    const char *comma = name.len ? memchr(name.ptr, ',', name.len) : NULL;
    if (comma) return without_suffixes(gf_slice_of(name.ptr, (size_t)(comma - name.ptr)));
    name = without_suffixes(name);
    gf_slice surname = last_word(name);
    while (is_initials(last_word(name)) && (rest = without_last(name)).len)
        name = without_suffixes(rest);
    return is_initials(last_word(name)) ? surname : last_word(name);
}

/* Bytes before white space or one of ,;() */
static size_t word_length(gf_slice s)
{
    for (size_t at = 0, before = 0; at < s.len; before = at) {
        uint32_t c = gf_utf8_next(s, &at);
        if (c == ',' || c == ';' || c == '(' || c == ')' || u_isUWhiteSpace((UChar32)c))
            return before;
    }
    return s.len;
}

/* Has a name a word that persons' names have not? */
static bool is_organisation(gf_slice name)
{
    static const char *const words[] = {
        "collaboration", "consortium", "group",      "team",       "committee",     "organization",
        "organisation",  "university", "institute",  "institut",   "society",       "association",
        "network",       "ministry",   "department", "foundation", "investigators", "initiative",
        "project",       "agency",     "council",    "centre",     "center",        "laboratory",
        "company",       "commission", "authority",  "federation", "universität",   "universidad"};
    while (name.len) {
        size_t n = word_length(name), behind = n;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (n == strlen(words[i]) && strncasecmp(name.ptr, words[i], n) == 0) return true;
        if (behind < name.len) gf_utf8_next(name, &behind);
        name = gf_slice_skip(name, behind);
    }
    return false;
}

static gf_slice person(gf_slice name)
{
    return is_organisation(name) ? (gf_slice){"", 0} : surname_of(name);
}

/*
 * The surname of an author's object, by the first of its members that has one. A name alone is an
 * organisation's in Crossref, whose persons have a family; it says nothing of a paper's authors.
 */
static gf_slice surname_of_object(gf_json_value author, bool of_crossref)
{
    static const char *const surnames[] = {"surname", "family", "last_name", "family_name"};
    static const char *const whole[] = {"raw_name", "name", "display_name", "literal"};
    gf_json_value creator;
    gf_slice role = member_string(author, "role"), s;
    if (role.len && !gf_slice_equal(role, GF_SLICE("author"))) return (gf_slice){"", 0};
    for (size_t i = 0; i < sizeof surnames / sizeof *surnames; i++)
        if ((s = without_suffixes(member_string(author, surnames[i]))).len) return s;
    if (gf_json_member(author, "creator", &creator) && gf_json_kind_of(creator) == GF_JSON_OBJECT) {
        if ((s = without_suffixes(member_string(creator, "surname"))).len) return s;
        if ((s = member_string(creator, "display_name")).len) return person(s);
    }
    if (of_crossref) return gf_trim(member_string(author, "given"));
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if ((s = gf_trim(member_string(author, whole[i]))).len) return person(s);
    return gf_trim(member_string(author, "given"));
}

static gf_status add_surname(gf_slice surname, gf_buffer *out, gf_error *err)
{
    size_t start = out->len;
    gf_status st = gf_title_fold(surname, out, err);
    if (st != GF_OK) return st;
    gf_slice folded = gf_slice_skip(out->ptr ? gf_buffer_view(out) : GF_SLICE(""), start);
    if (gf_slice_equal(folded, GF_SLICE("etal")) || gf_slice_equal(folded, GF_SLICE("al")))
        out->len = start; /* and others */
    if (out->len > start) gf_buffer_byte(out, '\0');
    return gf_buffer_check(out, err);
}

/* "Ada Lovelace; Charles Babbage" */
static gf_status add_names(gf_slice names, gf_buffer *out, gf_error *err)
{
    gf_status st = GF_OK;
    while (names.len && st == GF_OK) {
        const char *end = memchr(names.ptr, ';', names.len);
        size_t n = end ? (size_t)(end - names.ptr) : names.len;
        st = add_surname(person(gf_slice_of(names.ptr, n)), out, err);
        names = gf_slice_skip(names, end ? n + 1 : n);
    }
    return st;
}

gf_status gf_surnames_append(gf_json_value authors, bool of_crossref, gf_buffer *out, gf_error *err)
{
    gf_json_value author;
    gf_status st = GF_OK;
    if (gf_json_kind_of(authors) == GF_JSON_STRING)
        return add_names(gf_json_get_string(authors), out, err);
    if (gf_json_kind_of(authors) != GF_JSON_ARRAY) return GF_OK;
    gf_json_iterator it = gf_json_items(authors);
    for (int n = 0; n < MOST_SURNAMES && st == GF_OK && gf_json_next(&it, NULL, &author); n++) {
        gf_json_kind kind = gf_json_kind_of(author);
        if (kind == GF_JSON_STRING) st = add_surname(person(gf_json_get_string(author)), out, err);
        if (kind == GF_JSON_OBJECT)
            st = add_surname(surname_of_object(author, of_crossref), out, err);
    }
    return st;
}

#include "vectorize/text/language.h"

#include "base/nearest.h"

/*
 * "porter" is the English stemmer of 1980; it has a name and no code, so that "en" means the newer
 * one. Serbian's stemmer reads both scripts, hence the code of Serbo-Croatian. Chinese covers
 * Mandarin (cmn) as well as the macrolanguage.
 */
static const gf_language languages[GF_LANGUAGES] = {
    {"arabic", "ar", "ara", "ara", "arb", true},
    {"armenian", "hy", "arm", "hye", "", true},
    {"basque", "eu", "baq", "eus", "", true},
    {"catalan", "ca", "cat", "cat", "", true},
    {"chinese", "zh", "chi", "zho", "cmn", false},
    {"danish", "da", "dan", "dan", "", true},
    {"dutch", "nl", "dut", "nld", "", true},
    {"english", "en", "eng", "eng", "", true},
    {"finnish", "fi", "fin", "fin", "", true},
    {"french", "fr", "fre", "fra", "", true},
    {"german", "de", "ger", "deu", "", true},
    {"greek", "el", "gre", "ell", "", true},
    {"hindi", "hi", "hin", "hin", "", true},
    {"hungarian", "hu", "hun", "hun", "", true},
    {"indonesian", "id", "ind", "ind", "in", true},
    {"irish", "ga", "gle", "gle", "", true},
    {"italian", "it", "ita", "ita", "", true},
    {"japanese", "ja", "jpn", "jpn", "", false},
    {"korean", "ko", "kor", "kor", "", false},
    {"lithuanian", "lt", "lit", "lit", "", true},
    {"nepali", "ne", "nep", "nep", "npi", true},
    {"norwegian", "no", "nor", "nor", "nb nn nob nno", true},
    {"porter", "", "", "", "", true},
    {"portuguese", "pt", "por", "por", "", true},
    {"romanian", "ro", "rum", "ron", "mo mol", true},
    {"russian", "ru", "rus", "rus", "", true},
    {"serbian", "sr", "scc", "srp", "hbs sh", true},
    {"spanish", "es", "spa", "spa", "", true},
    {"swedish", "sv", "swe", "swe", "", true},
    {"tamil", "ta", "tam", "tam", "", true},
    {"thai", "th", "tha", "tha", "", false},
    {"turkish", "tr", "tur", "tur", "", true},
    {"yiddish", "yi", "yid", "yid", "ji ydd", true},
};

static bool same_letters(const char *known, size_t n, gf_slice given)
{
    if (n == 0 || n != given.len) return false;
    for (size_t i = 0; i < n; i++) {
        char c = given.ptr[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 'a' - 'A');
        if (c != known[i]) return false;
    }
    return true;
}

static bool one_of(const char *codes, gf_slice given)
{
    while (*codes) {
        size_t n = strcspn(codes, " ");
        if (same_letters(codes, n, given)) return true;
        codes += n + (codes[n] == ' ');
    }
    return false;
}

static bool is_called(const gf_language *l, gf_slice given)
{
    return same_letters(l->name, strlen(l->name), given) ||
           same_letters(l->iso1, strlen(l->iso1), given) ||
           same_letters(l->iso3, strlen(l->iso3), given) ||
           same_letters(l->iso2b, strlen(l->iso2b), given) || one_of(l->codes, given);
}

const gf_language *gf_language_find(gf_slice name)
{
    size_t n = 0;
    while (n < name.len && name.ptr[n] != '-' && name.ptr[n] != '_')
        n++;
    for (size_t i = 0; i < GF_LANGUAGES; i++)
        if (is_called(&languages[i], gf_slice_of(name.ptr, n))) return &languages[i];
    return NULL;
}

const gf_language *gf_language_at(size_t i)
{
    return &languages[i];
}

size_t gf_language_index(const gf_language *language)
{
    return (size_t)(language - languages);
}

const char *gf_language_nearest(gf_slice name)
{
    const char *names[GF_LANGUAGES];
    for (size_t i = 0; i < GF_LANGUAGES; i++)
        names[i] = languages[i].name;
    return gf_nearest(name, names, GF_LANGUAGES);
}

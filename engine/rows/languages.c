#include "engine/rows/languages.h"

#include "vectorize/text/detect.h"

gf_status gf_languages_of_document(const gf_fallback *fallback, gf_slice lang, gf_slice text,
                                   const gf_language **language, gf_error *err)
{
    *language = lang.len ? gf_language_find(lang) : NULL;
    if (*language || lang.len) return GF_OK;
    if (fallback->kind == GF_FALLBACK_FIXED) {
        *language = fallback->language;
        return GF_OK;
    }
    gf_detection found;
    gf_status st = gf_language_detect(text, &found, err);
    if (st == GF_OK && found.reliable) *language = found.language;
    return st;
}

void gf_languages_fallback_write(const gf_fallback *f, gf_buffer *out)
{
    if (f->kind == GF_FALLBACK_DETECT)
        gf_buffer_str(out, "auto");
    else
        gf_buffer_str(out, f->language ? f->language->name : "none");
}

gf_status gf_languages_fallback_read(gf_slice text, gf_fallback *f, gf_error *err)
{
    gf_fallback read = {GF_FALLBACK_FIXED, NULL};
    if (gf_slice_equal(text, GF_SLICE("auto"))) {
        read.kind = GF_FALLBACK_DETECT;
    } else if (!gf_slice_equal(text, GF_SLICE("none"))) {
        read.language = gf_language_find(text);
        if (!read.language)
            return gf_fail(err, GF_ECORRUPT, "a model names a language that is not known: %.*s",
                           GF_SLICE_ARG(text));
    }
    *f = read;
    return GF_OK;
}

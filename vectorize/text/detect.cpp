/* The C face of CLD2: no exception leaves this file. */
#include <cstdio> /* compact_lang_det.h wants it */
#include <cstring>
#include <new>

#include <cld2/public/compact_lang_det.h>

extern "C" { /* our headers are C's: what they declare has C's linkage */
#include "base/utf8.h"
#include "vectorize/text/detect.h"
}

namespace
{

gf_status detect_valid(gf_slice text, gf_detection *detection, gf_error *err) noexcept
{
    try {
        bool reliable = false;
        CLD2::Language language =
            CLD2::DetectLanguage(text.ptr, static_cast<int>(text.len), true, &reliable);
        gf_detection found = {};
        if (language != CLD2::UNKNOWN_LANGUAGE) {
            std::snprintf(found.code, sizeof found.code, "%s", CLD2::LanguageCode(language));
            found.language = gf_language_find(gf_slice_str(found.code));
            found.reliable = reliable;
        }
        *detection = found;
        return GF_OK;
    } catch (const std::bad_alloc &) {
        return gf_fail_memory(err, "language detection");
    } catch (...) {
        return gf_fail(err, GF_EIO, "language detection failed");
    }
}

} // namespace

extern "C" gf_status gf_language_detect(gf_slice text, gf_detection *detection, gf_error *err)
{
    /* A cut may fall into a character; the repair makes U+FFFD of what is left of it. */
    const size_t most = GF_DETECT_BYTES;
    gf_slice start = gf_slice_of(text.ptr, text.len < most ? text.len : most);
    if (start.len == 0) {
        *detection = gf_detection{};
        return GF_OK;
    }
    if (gf_utf8_valid_length(start) == start.len) return detect_valid(start, detection, err);
    gf_buffer repaired = {};
    gf_utf8_repair(start, &repaired);
    gf_status st = gf_buffer_check(&repaired, err);
    if (st == GF_OK) st = detect_valid(gf_buffer_view(&repaired), detection, err);
    gf_buffer_release(&repaired);
    return st;
}

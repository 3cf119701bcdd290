/** The kind of a stream by its first bytes: what is no text, and texts that are packed in something. */
#ifndef GF_FORMATS_BYTES_CONTENT_H
#define GF_FORMATS_BYTES_CONTENT_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdbool.h>

typedef enum gf_content {
    GF_CONTENT_PLAIN, /* a text or records, as far as can be seen */
    GF_CONTENT_NONE,  /* no text: the advice says what it is, and what to do */
    GF_CONTENT_HTML,
    GF_CONTENT_DOCX,
    GF_CONTENT_ODT,
    GF_CONTENT_XLSX,
    GF_CONTENT_MAIL /* by its name alone, .eml: any text may begin like a mail */
} gf_content;

/** Bytes of a stream that say most; of office documents up to GF_CONTENT_MOST say more. */
enum { GF_CONTENT_LEAST = 512, GF_CONTENT_MOST = 64 << 10 };

/**
 * @param start        the first bytes
 * @param name         of the stream: only where office documents tell too little of themselves
 * @param[out] advice  of GF_CONTENT_NONE: words that last, such as "an Excel workbook; save it as CSV"
 */
gf_content gf_content_of(gf_slice start, gf_slice name, const char **advice);

/** GF_EINVAL, naming the stream and saying what to do, unless it is plain: of readers of lines and rows. */
gf_status gf_content_check(gf_slice start, gf_slice name, gf_error *err);

/** Whether the bytes begin a zip of an office program: such a zip is no archive of documents. */
bool gf_content_is_office(gf_slice start);

#endif

/** The text of an HTML page. */
#ifndef GF_FORMATS_DOCUMENTS_PAGE_TEXT_H
#define GF_FORMATS_DOCUMENTS_PAGE_TEXT_H

#include "grouperfish/buffer.h"

/**
 * Append the text: the title, then what is shown. Blocks are lines of their own, white space is one
 * blank, scripts and styles are left out.
 *
 * @param html  any bytes; what is not UTF-8 stays as it is
 * @return GF_OK; GF_EIO (libxml2, which knows the named characters, cannot be loaded); GF_ENOMEM
 * Cost: linear, whatever the page holds; no recursion.
 */
gf_status gf_page_text(gf_slice html, gf_buffer *text, gf_error *err);

#endif

/**
 * HTML: text that others wrote becomes text of a page, whatever is in it.
 */
#ifndef GF_API_REPORT_HTML_H
#define GF_API_REPORT_HTML_H

#include "grouperfish/buffer.h"

/**
 * Append text so that it is text, in an element as in a quoted attribute: & < > " ' as references;
 * ill-formed UTF-8, control characters and the marks that turn the direction of what follows
 * (U+202A..202E, U+2066..2069) as U+FFFD; white space as it is, line separators as a space.
 * Failures stay in the buffer.
 */
void gf_html_text(gf_buffer *b, gf_slice text);

/** The same, at most so many characters of it, with an ellipsis where it is cut. */
void gf_html_text_cut(gf_buffer *b, gf_slice text, size_t most);

/** A share as "16.7 %". */
void gf_html_share(gf_buffer *b, double share);

#endif

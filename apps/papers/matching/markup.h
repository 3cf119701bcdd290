/**
 * Titles that are HTML or JATS.
 */
#ifndef GF_APPS_PAPERS_MARKUP_H
#define GF_APPS_PAPERS_MARKUP_H

#include "grouperfish/buffer.h"

/** Append a title without tags of HTML, its references to characters resolved. GF_OK; GF_ENOMEM */
gf_status gf_markup_strip(gf_slice title, gf_buffer *out, gf_error *err);

#endif

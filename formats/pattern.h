/**
 * Names made of a document's fields: the pattern "{type}-{product}" gives "issue-firefox".
 *
 *     {name}    the value of that field; also {id}, {lang} and {time}
 *     {{ }}     literal braces
 *
 * A pattern is for one thread at a time.
 */
#ifndef GF_FORMATS_PATTERN_H
#define GF_FORMATS_PATTERN_H

#include "grouperfish/buffer.h"
#include "grouperfish/document.h"

typedef struct gf_pattern gf_pattern;

/** GF_EINVAL where the text is empty, a brace is not closed or opened, or a name is empty. */
gf_status gf_pattern_create(gf_slice text, gf_pattern **pattern, gf_error *err);
void gf_pattern_free(gf_pattern *pattern);

/** Does it refer to any field? If not, it gives the same name for every document. */
bool gf_pattern_has_fields(const gf_pattern *pattern);

/**
 * Append the name. Strings stand decoded, numbers, true and false as they are written.
 * @return GF_OK; GF_ENOTFOUND naming a field that is absent or null; GF_EINVAL naming one that is
 *         an array or an object; GF_ENOMEM. On failure out keeps its content.
 */
gf_status gf_pattern_expand(gf_pattern *pattern, const gf_document *document, gf_buffer *out,
                            gf_error *err);

#endif

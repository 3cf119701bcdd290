/**
 * The answer of a model, which may be anything: the text of its first choice, and whether that is a
 * title.
 */
#ifndef GF_ENGINE_TITLES_ANSWER_H
#define GF_ENGINE_TITLES_ANSWER_H

#include "base/json/json.h"
#include "engine/titles/prompt.h"

enum { GF_TITLE_CHARACTERS = 80 };

/**
 * Set `text` to choices[0].message.content, or `why` to what is wrong with the body in words, with
 * what it says itself ({"error": {"message": ...}}).
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_titles_read_answer(gf_json_parser *parser, gf_slice body, gf_buffer *text,
                                gf_buffer *why, gf_error *err);

/**
 * Trim the text (white space, quotation marks around it, a full stop, what a model thought aloud
 * before it) and check what is left: one line of 1 to 80 characters with a letter, no markup and no
 * address, in the language of the prompt as far as one line tells, and no other cluster's label or
 * title. `why` says what it is that a title is not; it stays empty for a title.
 * @return GF_OK; GF_ENOMEM
 */
gf_status gf_titles_check_answer(gf_buffer *text, const gf_prompt *prompt,
                                 const gf_titled_clusters *list, const gf_titled_cluster *of,
                                 gf_buffer *why, gf_error *err);

#endif

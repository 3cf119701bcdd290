/**
 * Words of scripts that write no spaces (Han, Kana, Thai, Lao, Khmer, Myanmar), by ICU's dictionary
 * word breaker. Only runs of such letters come here: it does about 15 MB/s.
 *
 * A run is cut every GF_BREAK_UNITS units, so that memory is bounded and time linear whatever the
 * run's length. One breaker per thread; ICU's part is made when it is first needed.
 */
#ifndef GF_VECTORIZE_TEXT_WORD_BREAKER_INTERNAL_H
#define GF_VECTORIZE_TEXT_WORD_BREAKER_INTERNAL_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdint.h>

enum { GF_BREAK_UNITS = 4096 };

typedef struct gf_word_breaker gf_word_breaker;

gf_status gf_word_breaker_create(gf_word_breaker **breaker, gf_error *err);
void gf_word_breaker_free(gf_word_breaker *breaker);

/**
 * Break the first GF_BREAK_UNITS UTF-16 units (or fewer) of a run into words.
 *
 * @param run   valid UTF-8, not empty
 * @param ends  out: the words' ends as byte offsets in run, rising; the last one is where to go on
 *              (run.len where the run is done). Borrowed until the next call.
 * @param n     out: how many, at least 1
 */
gf_status gf_word_break(gf_word_breaker *breaker, gf_slice run, const uint32_t **ends, size_t *n,
                        gf_error *err);

#endif

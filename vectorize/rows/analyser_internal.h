/**
 * The inside of an analyser that the counting of documents and the merging of workers need.
 */
#ifndef GF_VECTORIZE_ROWS_ANALYSER_INTERNAL_H
#define GF_VECTORIZE_ROWS_ANALYSER_INTERNAL_H

#include "vectorize/rows/analyser.h"
#include "vectorize/rows/dictionary_internal.h"

/**
 * An analyser of a dictionary, which is borrowed until free and may be other analysers' at the same
 * time, if it is shared; NULL: it has its own, of one thread.
 *
 * @param counts  how often surfaces are met; settled by gf_analyser_settle
 */
gf_status gf_analyser_create_on(const gf_analysis_options *options, gf_dictionary *dictionary,
                                bool counts, gf_analyser **analyser, gf_error *err);

/** Its dictionary, in which a surface's use is a gf_word_use. Borrowed. */
gf_dictionary *gf_analyser_dictionary(const gf_analyser *analyser);

/** Have all that it counted in the dictionary. */
void gf_analyser_settle(gf_analyser *analyser);

/** Forget all surfaces and terms of its own dictionary; ids start again at 0. GF_ENOMEM. */
gf_status gf_analyser_reset(gf_analyser *analyser, gf_error *err);

#endif

/**
 * The surface form that stands for a term: the one that the documents have most often, the lowest
 * by bytes of several. A form counts over all languages; of a regular term only where
 * it was met as a term, not as a stop word that happens to have the same stem.
 */
#ifndef GF_VECTORIZE_ROWS_SURFACE_FORMS_INTERNAL_H
#define GF_VECTORIZE_ROWS_SURFACE_FORMS_INTERNAL_H

#include "vectorize/rows/number_terms_internal.h"

typedef struct gf_forms {
    gf_slice *form;   /* n_terms, by column */
    gf_arena *arenas; /* n_arenas: the forms' bytes */
    size_t n_arenas;
} gf_forms;

/** dictionary NULL: there is no term. The pool may be NULL. */
gf_status gf_surface_forms_choose(gf_pool *pool, const gf_dictionary *dictionary,
                                  const gf_found_terms *terms, const gf_numbering *numbering,
                                  gf_forms *forms, const gf_cancel *cancel, gf_error *err);
void gf_surface_forms_release(gf_forms *forms);

/**
 * All forms of columns, dealt to n buffers by column modulo n: varint column, times met, the form as a
 * string. Failures stay in the buffers.
 */
void gf_surface_forms_write(const gf_dictionary *dictionary, const gf_numbering *numbering,
                            unsigned n, gf_buffer *to);

#endif

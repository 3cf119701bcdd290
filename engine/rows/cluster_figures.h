/**
 * Figures of a cluster as they are kept: in clusters:main the cell `figures`, a JSON object
 *
 *     documents, score, margin, weak, terms, own_terms    always
 *     found, hits                                         where the label's words are terms
 *     npmi                                                where there are two terms
 *     nearest, similarity                                 where there is another cluster
 *
 * The word (gf_clarity) is not kept: it is worked out from them.
 */
#ifndef GF_ENGINE_ROWS_CLUSTER_FIGURES_H
#define GF_ENGINE_ROWS_CLUSTER_FIGURES_H

#include "base/json/json.h"
#include "grouperfish/buffer.h"
#include "grouperfish/views.h"

/** Append the cell; failures stay in the buffer. */
void gf_cluster_figures_write(const gf_cluster_figures *figures, gf_buffer *out);

/** Read it; GF_ECORRUPT, GF_ENOMEM. What the parser gave before is no longer valid. */
gf_status gf_cluster_figures_read(gf_json_parser *parser, gf_slice json,
                                  gf_cluster_figures *figures, gf_error *err);

/** Set the word from the figures. */
void gf_cluster_figures_judge(gf_cluster_figures *figures);

#endif

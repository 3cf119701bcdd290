/**
 * The periods that documents are counted by.
 */
#ifndef GF_ENGINE_VIEW_TRENDS_H
#define GF_ENGINE_VIEW_TRENDS_H

#include "engine/view/hours.h"
#include "grouperfish/changes.h"

/**
 * Choose the unit, where it is GF_PERIOD_AUTO, and the latest periods, at most so many, none before
 * the first document: sets kind, first, n_periods and n_recent.
 */
void gf_view_choose_periods(const gf_hour_counts *hours, gf_period kind, size_t most,
                            gf_trends *out);

#endif

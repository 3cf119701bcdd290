/**
 * Columns of a display that an argument lists: `papers dump --fields mime,doi` as a table or plain.
 */
#ifndef GF_CLI_LISTED_COLUMNS_H
#define GF_CLI_LISTED_COLUMNS_H

#include "base/arena.h"
#include "cli/session.h"

/** Does the display's argument name all columns, which only the rows tell? */
bool gf_listed_are_all(const gf_session *session, const gf_display *display);

/**
 * Put the display's columns, and those that its argument `listed` names behind them, into `columns`,
 * which the display has from then on. One without such an argument stays as it is.
 *
 * @param memory  holds the names as long as the display is used
 * @return GF_OK; GF_EINVAL (more than fit, or "all", which only the rows tell); GF_ENOMEM
 */
gf_status gf_listed_columns(const gf_session *session, gf_display *display,
                            gf_display_column columns[GF_DISPLAY_MOST_COLUMNS], gf_arena *memory,
                            gf_error *err);

#endif

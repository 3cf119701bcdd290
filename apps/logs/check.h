/** Whether the roll-ups of access logs are those of their lines. */
#ifndef GF_APPS_LOGS_CHECK_H
#define GF_APPS_LOGS_CHECK_H

#include "api/app.h"
#include "apps/logs/rollups.h"

/** True of the table of users' tables: logs are among them. */
bool gf_logs_has_table(const char *table);

/** Tell of each day, of all logs, whose counts are not those of its lines. Counts nothing. */
gf_status gf_logs_check(gf_app_check *check, const char *table, gf_error *err);

/** Make the roll-ups anew that are not those of the lines. */
gf_status gf_logs_repair(gf_app_repair *repair, const char *table, gf_error *err);

#endif

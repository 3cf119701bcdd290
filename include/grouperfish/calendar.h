/**
 * Hours, days, weeks, months, quarters and years of UTC as numbers, so that those next to each other
 * differ by one.
 *
 *     hour     from 1970-01-01T00:00 is 0
 *     day      1970-01-01 is 0
 *     week     from Monday, as in ISO 8601: that of 1969-12-29 is 0
 *     month    January 1970 is 0
 *     quarter  from January 1970 is 0
 *     year     1970 is 0
 */
#ifndef GF_GROUPERFISH_CALENDAR_H
#define GF_GROUPERFISH_CALENDAR_H

#include "grouperfish/buffer.h"
#include "grouperfish/export.h"

#include <stdint.h>

GF_PUBLIC_BEGIN

typedef enum gf_period {
    GF_PERIOD_DAY,
    GF_PERIOD_WEEK,
    GF_PERIOD_MONTH,
    GF_PERIOD_HOUR,
    GF_PERIOD_QUARTER,
    GF_PERIOD_YEAR,
    GF_PERIOD_AUTO /* of gf_view_trends alone: the unit that suits the documents' times */
} gf_period;

/** The period that a time lies in; ms since 1970-01-01T00:00:00Z. */
int64_t gf_calendar_period(gf_period kind, int64_t ms);

/** The first day of a period, in days since 1970-01-01; of an hour the day that it is of. */
int64_t gf_calendar_first_day(gf_period kind, int64_t number);

/** Append its name: 2026-11-20T13, 2026-11-20, 2026-W47, 2026-11, 2026-Q4, 2026. */
void gf_calendar_write(gf_period kind, int64_t number, gf_buffer *b);

GF_PUBLIC_END

#endif

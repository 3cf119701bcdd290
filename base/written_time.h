/**
 * Time as people and spreadsheets write it: dates of digits or with an English month, and maybe a
 * time of day behind them. What gf_clock_parse_iso and gf_clock_parse_words read is not all here.
 *
 *     21.02.2015             day first: points are written so
 *     2/21/2015  21-02-2015  by the order that is given, or where only one reading is a date
 *     2015/02/21  2015-2-21  20150221
 *     2015-W08  2015-W08-6  2015W086     the week of ISO 8601, from its Monday on
 *     Feb 21, 2015  21 February 2015  21-Feb-15  Saturday, Feb. 21st, 2015
 *     ... 13:45  ... 1:45:30.5 PM  ..., 13:45:30 UTC  ...T134530+0100
 *
 * Milliseconds since 1970-01-01T00:00:00Z, as in base/clock.h; without an offset UTC is meant. Years
 * 0001 to 9999; those of two digits are 1970 to 2069, and between slashes need the order.
 */
#ifndef GF_BASE_WRITTEN_TIME_H
#define GF_BASE_WRITTEN_TIME_H

#include "grouperfish/slice.h"

#include <stdint.h>

/** Order of the day and the month in dates such as 3/4/2015. */
typedef enum gf_date_order {
    GF_DATE_ORDER_UNKNOWN,
    GF_DATE_ORDER_MONTH_FIRST,
    GF_DATE_ORDER_DAY_FIRST
} gf_date_order;

typedef enum gf_written_time {
    GF_WRITTEN_TIME_NONE,     /* no time, or not one that is written so */
    GF_WRITTEN_TIME_DATE,     /* a day */
    GF_WRITTEN_TIME_MOMENT,   /* with a time of day */
    GF_WRITTEN_TIME_AMBIGUOUS /* two days, by the order that is not known */
} gf_written_time;

/** Read all of s, blanks around it left out. *ms is set for DATE (its start) and MOMENT. */
gf_written_time gf_written_time_read(gf_slice s, gf_date_order order, int64_t *ms);

#endif

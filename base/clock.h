/**
 * Time: now, and the ways in which programs write it (Unix time, ISO 8601, English words); those of
 * people and spreadsheets: base/written_time.h.
 * Milliseconds since 1970-01-01T00:00:00Z throughout; no time zone but UTC and stated offsets.
 */
#ifndef GF_BASE_CLOCK_H
#define GF_BASE_CLOCK_H

#include "grouperfish/buffer.h"

#include <stdint.h>

/** The first and the last millisecond of the years 0001 to 9999, which ISO 8601 can write. */
#define GF_CLOCK_LEAST (-INT64_C(62135596800000))
#define GF_CLOCK_MOST  INT64_C(253402300799999)

/** The wall clock, in milliseconds. */
int64_t gf_clock_ms(void);

/** A clock that never goes back, in seconds from an arbitrary start. */
double gf_clock_seconds(void);

/**
 * Read ISO 8601: YYYY-MM-DD, or that with T or a space and hh:mm[:ss[.fraction]] and Z or an offset
 * (+hh:mm, +hhmm, +hh); without an offset UTC is meant. Years 0001 to 9999. False where s is not
 * that.
 */
bool gf_clock_parse_iso(gf_slice s, int64_t *ms);

/**
 * Read a time in English words: "Fri Apr 29 09:05:55 +0000 2016", as tweets have it, or "Fri, 29
 * Apr 2016 09:05:55 +0000", as mails do (RFC 5322; the name of the day may be missing, GMT and UT
 * may stand for the offset). False where s is neither.
 */
bool gf_clock_parse_words(gf_slice s, int64_t *ms);

/**
 * Unix time as records give it: seconds, or milliseconds where its size is 10^11 or more; rounded
 * to the millisecond. False beyond some ten thousand years.
 */
bool gf_clock_from_number(double number, int64_t *ms);

/** Whether there is such a day, in the years from 0001 on. */
bool gf_clock_is_date(int64_t year, int64_t month, int64_t day);

/** Days from 1970-01-01 to a date of the proleptic Gregorian calendar, and back. */
int64_t gf_clock_days_from_date(int64_t year, int64_t month, int64_t day);
void gf_clock_date_from_days(int64_t days, int64_t *year, int *month, int *day);

/** Append YYYY-MM-DD. */
void gf_clock_write_date(gf_buffer *b, int64_t ms);

/** Append YYYY-MM-DDThh:mm:ss[.mmm]Z; the fraction only where it is not zero. */
void gf_clock_write_iso(gf_buffer *b, int64_t ms);

#endif

/**
 * The log: one line for each event, on a stream, from any thread.
 *
 *     2026-11-20T16:00:00.123Z info listening address=127.0.0.1 port=61732
 *     {"time":"2026-11-20T16:00:00.123Z","level":"info","event":"listening",...}
 *
 * Text from outside is written as a JSON string, so that it cannot end a line or colour a
 * terminal.
 */
#ifndef GF_SERVER_SERVICE_LOG_H
#define GF_SERVER_SERVICE_LOG_H

#include "grouperfish/slice.h"

#include <stdint.h>
#include <stdio.h>

typedef enum gf_log_level { GF_LOG_ERROR, GF_LOG_WARN, GF_LOG_INFO, GF_LOG_DEBUG } gf_log_level;

typedef struct gf_log {
    FILE *out;
    gf_log_level level; /* and all above it */
    bool json;
} gf_log;

/** A detail of an event: text, or where text.ptr is NULL a number. */
typedef struct gf_log_detail {
    const char *name;
    gf_slice text;
    double number;
} gf_log_detail;

#define GF_LOG_TEXT(name, s)   ((gf_log_detail){(name), (s), 0})
#define GF_LOG_STR(name, s)    ((gf_log_detail){(name), gf_slice_str(s), 0})
#define GF_LOG_NUMBER(name, n) ((gf_log_detail){(name), {NULL, 0}, (double)(n)})

static inline bool gf_log_wants(const gf_log *log, gf_log_level level)
{
    return log && level <= log->level;
}

/** Write an event with n details; what cannot be written is lost. log may be NULL. */
void gf_log_event(const gf_log *log, gf_log_level level, const char *event,
                  const gf_log_detail *details, size_t n);

#define GF_LOG(log, level, event, ...)                                                             \
    do {                                                                                           \
        if (gf_log_wants((log), (level))) {                                                        \
            const gf_log_detail details_[] = {__VA_ARGS__};                                        \
            gf_log_event((log), (level), (event), details_, sizeof details_ / sizeof details_[0]); \
        }                                                                                          \
    } while (0)

/** The level of a name: error, warn, info, debug. */
bool gf_log_level_named(gf_slice name, gf_log_level *level);

#endif

/**
 * Progress of a command on standard error: on a terminal a line that is written over, elsewhere a
 * line every ten seconds; or JSON Lines. Its functions may be called from any thread.
 */
#ifndef GF_CLI_TERMINAL_METER_H
#define GF_CLI_TERMINAL_METER_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum gf_meter_kind { GF_METER_AUTO, GF_METER_NONE, GF_METER_JSONL } gf_meter_kind;

typedef struct gf_meter {
    gf_meter_kind kind;
    bool terminal;
    pthread_mutex_t lock;
    double started, shown;
    bool line; /* one stands on the terminal */
} gf_meter;

void gf_meter_init(gf_meter *p);
void gf_meter_release(gf_meter *p);

/** "auto", "none" or "jsonl"; false for anything else. */
bool gf_meter_named(const char *name, gf_meter_kind *kind);

/** Print progress, unless the last was printed shortly before; total is 0 where it is not known. */
void gf_meter_tell(gf_meter *p, gf_slice what, const char *phase, uint64_t done, uint64_t total);

/** Remove the line from the terminal, so that something else can be written. */
void gf_meter_clear(gf_meter *p);

#endif

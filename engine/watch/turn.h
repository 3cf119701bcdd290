/** Looks and rounds come one at a time in a process; whoever waits for its turn may stop waiting. */
#ifndef GF_ENGINE_WATCH_TURN_H
#define GF_ENGINE_WATCH_TURN_H

#include "grouperfish/cancel.h"

#include <pthread.h>

/** Lock; GF_ECANCELLED, where it is not locked. */
gf_status gf_watch_take_turn(pthread_mutex_t *turn, const gf_cancel *cancel, gf_error *err);

#endif

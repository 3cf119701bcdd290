#include "engine/watch/turn.h"

#include "base/http/client.h"

#define BETWEEN 0.05 /* seconds between two tries */

gf_status gf_watch_take_turn(pthread_mutex_t *turn, const gf_cancel *cancel, gf_error *err)
{
    gf_status st = GF_OK;
    while (st == GF_OK && pthread_mutex_trylock(turn) != 0)
        st = gf_http_sleep(cancel, BETWEEN, err);
    return st;
}

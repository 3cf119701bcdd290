/** Watching: two threads of a server that look at what is new, and send alerts. */
#ifndef GF_SERVER_SERVICE_WATCHING_H
#define GF_SERVER_SERVICE_WATCHING_H

#include "server/service/log.h"
#include "server/service/service.h"

typedef struct gf_watching gf_watching;

/** Begin. The service must outlive it. */
gf_status gf_watching_begin(gf_service *service, const gf_log *log, gf_watching **watching,
                            gf_error *err);

/** Stop at once, also what is being sent, which is then sent again by the next server. NULL is allowed. */
void gf_watching_end(gf_watching *watching);

#endif

/*
 * The pace at which a client takes what is answered.
 *
 * The kernel tells how much it has acknowledged, and whether there is more for it. While there is,
 * each second puts a second on what it owes, and each KiB that it takes pays for one:
 *
 *     owed = max(0, owed + seconds that there was something to take - KiB taken)
 *
 * So a pause does no harm to whoever has kept up, nor does a slow second; somebody who takes less
 * than that for long is found out, however much was taken quickly at first. What waits on our side
 * (an answer that is not worked out yet) is not the client's.
 *
 * The kernel would take megabytes for each connection, and MHD see nothing go out for minutes: so
 * it is given no more than UNSENT_BYTES beyond what is on its way.
 */
#include "server/http/callers.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { LEAST_RATE = 1024, UNSENT_BYTES = 64 << 10 };
static const double patience = 45; /* seconds that may be owed: less than MHD waits */

/* Seconds that count at most between two looks: the server may have looked late. */
static const double longest_look = 1;

void gf_slow_reader_limit(int fd)
{
    int most = UNSENT_BYTES;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &most, sizeof most);
}

bool gf_slow_reader_is_slow(gf_slow_reader *t, int fd, double now)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    int left = 0;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || ioctl(fd, SIOCOUTQ, &left) != 0)
        return false;
    if (t->waits) {
        double passed = now - t->looked, taken = (double)(info.tcpi_bytes_acked - t->taken);
        t->owed += (passed < longest_look ? passed : longest_look) - taken / LEAST_RATE;
        if (t->owed < 0) t->owed = 0;
    }
    t->waits = left > 0;
    t->taken = info.tcpi_bytes_acked;
    t->looked = now;
    return t->owed > patience;
}

#include "server/socket/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

gf_status gf_socket_address(const char *store_path, struct sockaddr_un *a, int *folder,
                            gf_error *err)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    *folder = -1;
    int n = snprintf(a->sun_path, sizeof a->sun_path, "%s/socket", store_path);
    if (n > 0 && (size_t)n < sizeof a->sun_path) return GF_OK;
    *folder = open(store_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0 && errno == ENOENT)
        return gf_fail(err, GF_ENOTFOUND, "there is no folder %s", store_path);
    if (*folder < 0) return gf_fail_errno(err, "cannot open %s", store_path);
    snprintf(a->sun_path, sizeof a->sun_path, "/proc/self/fd/%d/socket", *folder);
    return GF_OK;
}

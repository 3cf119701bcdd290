/*
 * The watch of power_loss.h for a program that is run with it as LD_PRELOAD. POWER_LOSS_STORE is
 * the folder that is watched, POWER_LOSS_IMAGES one in which images are asked for: where it has a
 * file "ask", the next sync, rename or removal leaves an image in N/store, with another tail each
 * time (N counts from 0; its folder is there); then "ask" is called "done".
 */
#include "tests/crash/power_loss.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void at_moment(void *context)
{
    static unsigned n;
    const char *images = context;
    char ask[512], done[512], image[512];
    snprintf(ask, sizeof ask, "%s/ask", images);
    if (access(ask, F_OK) != 0) return;
    snprintf(image, sizeof image, "%s/%u/store", images, n);
    snprintf(done, sizeof done, "%s/done", images);
    if (!power_loss_image(image, (power_loss_tail)(n % POWER_LOSS_TAILS))) abort();
    n++;
    if (renameat(AT_FDCWD, ask, AT_FDCWD, done) != 0) abort();
}

__attribute__((constructor)) static void begin(void)
{
    const char *store = getenv("POWER_LOSS_STORE");
    char *images = getenv("POWER_LOSS_IMAGES");
    if (store && images) power_loss_watch(store, at_moment, images);
}

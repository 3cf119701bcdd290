/**
 * A file for what a computation does not keep in memory. It has no name: nobody else can open it,
 * and the system takes it back when it is freed or the process ends, however that ends.
 *
 * Threads: parts that do not overlap may be read and written at the same time.
 */
#ifndef GF_BASE_SPILL_H
#define GF_BASE_SPILL_H

#include "grouperfish/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct gf_spill gf_spill;

/** An empty file on the disk of that folder. GF_EIO, GF_ENOMEM. */
gf_status gf_spill_create(const char *folder, gf_spill **spill, gf_error *err);
void gf_spill_free(gf_spill *spill);

/** Write n bytes at an offset; GF_EIO (a full disk: the message says so). */
gf_status gf_spill_write(gf_spill *spill, uint64_t offset, const void *bytes, size_t n,
                         gf_error *err);

/** Read n bytes that were written; GF_EIO. */
gf_status gf_spill_read(const gf_spill *spill, uint64_t offset, void *bytes, size_t n,
                        gf_error *err);

#endif

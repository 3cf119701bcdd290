/** Archives: a store as one stream of bytes (docs/storage.md has the format). */
#ifndef GF_GROUPERFISH_ARCHIVE_H
#define GF_GROUPERFISH_ARCHIVE_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

/** Take the next bytes of an archive. */
typedef gf_status gf_archive_take(void *taker, gf_slice bytes, gf_error *err);

/** Hand all bytes of an archive to `take`, in order. */
typedef gf_status gf_archive_give(void *context, gf_archive_take *take, void *taker, gf_error *err);

#endif

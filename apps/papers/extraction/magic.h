/**
 * The kind of a file by its bytes, as libmagic (file(1)) tells it.
 *
 * Threads: any. A handle of libmagic is for one thread, so idle ones wait in a list.
 */
#ifndef GF_APPS_PAPERS_MAGIC_H
#define GF_APPS_PAPERS_MAGIC_H

#include "grouperfish/slice.h"
#include "grouperfish/status.h"

#include <stdbool.h>

typedef struct gf_papers_magic {
    char words[256]; /* "PDF document, version 1.4", in UTF-8 */
    char mime[128];  /* "application/pdf" */
} gf_papers_magic;

/**
 * @return GF_OK; GF_EIO (libmagic or its table of kinds cannot be loaded, or it fails); GF_ENOMEM
 * Cost: the first MiB at most is looked at.
 */
gf_status gf_papers_magic_read(gf_slice bytes, gf_papers_magic *magic, gf_error *err);

/** Is it a PDF: by its first bytes, or because libmagic says so? */
bool gf_papers_magic_is_pdf(gf_slice bytes, const gf_papers_magic *magic);

#endif

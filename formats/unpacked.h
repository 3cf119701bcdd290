/**
 * An input whose streams are those of another one, decompressed, and the members of archives
 * (stream.c): for whoever reads bytes, and neither records nor lines (lines.h).
 */
#ifndef GF_FORMATS_UNPACKED_H
#define GF_FORMATS_UNPACKED_H

#include "formats/input.h"

typedef struct gf_unpacked gf_unpacked;

/**
 * @param packed    copied; its context is borrowed until close
 * @param[out] out  the input; good until close
 */
gf_status gf_unpacked_open(const gf_input *packed, gf_unpacked **unpacked, gf_input *out,
                           gf_error *err);
void gf_unpacked_close(gf_unpacked *unpacked);

#endif

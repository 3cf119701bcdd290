/** The functions of zlib, which is loaded when it is needed: see base/library.h. */
#ifndef GF_FORMATS_BYTES_INFLATE_H
#define GF_FORMATS_BYTES_INFLATE_H

#include "base/library.h"

#include <zlib.h>

/* clang-format off */
#define GF_ZLIB_FUNCTIONS(F) \
    F(inflate) \
    F(inflateEnd) \
    F(inflateInit2_)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_zlib, GF_ZLIB_FUNCTIONS)

#define inflate       gf_zlib_functions.inflate
#define inflateEnd    gf_zlib_functions.inflateEnd
#define inflateInit2_ gf_zlib_functions.inflateInit2_

#endif

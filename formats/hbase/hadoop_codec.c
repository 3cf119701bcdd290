/*
 * Snappy's frames, as Hadoop's BlockCompressorStream writes them; all numbers are big-endian:
 *
 *     | bytes that come out, u32 | bytes packed, u32 | packed ... | bytes packed, u32 | packed ... |
 *     | bytes that come out, u32 | ...
 *
 * The first number is met by one piece or several; 0 is a block of nothing.
 */
#include "formats/hbase/hadoop_codec.h"

#include "formats/bytes/archive.h"
#include "formats/bytes/inflate.h"

#include <errno.h>
#include <limits.h>
#include <snappy-c.h>

GF_LIBRARY_DEFINE(gf_zlib, GF_LIBZ, GF_ZLIB_FUNCTIONS)

enum { PIECE = 64 << 10 };

bool gf_hadoop_codec_named(gf_slice class_name, gf_hadoop_codec *codec)
{
    static const struct {
        gf_slice name;
        gf_hadoop_codec codec;
    } known[] = {{{"DefaultCodec", 12}, GF_HADOOP_ZLIB}, {{"DeflateCodec", 12}, GF_HADOOP_ZLIB},
                 {{"GzipCodec", 9}, GF_HADOOP_ZLIB},     {{"SnappyCodec", 11}, GF_HADOOP_SNAPPY},
                 {{"BZip2Codec", 10}, GF_HADOOP_BZIP2},  {{"ZStandardCodec", 14}, GF_HADOOP_ZSTD}};
    gf_slice package = GF_SLICE("org.apache.hadoop.io.compress.");
    if (!gf_slice_starts(class_name, package)) return false;
    gf_slice name = gf_slice_skip(class_name, package.len);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (gf_slice_equal(name, known[i].name)) {
            *codec = known[i].codec;
            return true;
        }
    return false;
}

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "what is compressed cannot be unpacked");
}

static gf_status too_long(size_t most, gf_error *err)
{
    return gf_fail(err, GF_ELIMIT, "more than %zu bytes come out of one piece", most);
}

/* ---- zlib and gzip --------------------------------------------------------------------------- */

static gf_status unpack_zlib(gf_slice packed, size_t most, gf_buffer *out, gf_error *err)
{
    enum { EITHER = 15 + 32 };
    size_t before = out->len;
    gf_status st = gf_library_load(&gf_zlib, err);
    if (st != GF_OK) return st;
    if (packed.len > UINT_MAX) return too_long(most, err);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)packed.ptr, .avail_in = (uInt)packed.len};
    if (inflateInit2(&z, EITHER) != Z_OK) return gf_fail_memory(err, "a decompression");
    for (int r = Z_OK; st == GF_OK && r != Z_STREAM_END;) {
        char *to = gf_buffer_reserve(out, PIECE);
        if (!to) {
            st = gf_buffer_check(out, err);
            break;
        }
        z.next_out = (Bytef *)to;
        z.avail_out = PIECE;
        r = inflate(&z, Z_NO_FLUSH);
        out->len += PIECE - z.avail_out;
        if (r == Z_MEM_ERROR)
            st = gf_fail_memory(err, "a decompression");
        else if ((r != Z_OK && r != Z_STREAM_END) || (r == Z_OK && !z.avail_in && z.avail_out))
            st = damaged(err);
        else if (out->len - before > most)
            st = too_long(most, err);
    }
    inflateEnd(&z);
    return st;
}

/* ---- Snappy ---------------------------------------------------------------------------------- */

static bool take_u32(gf_slice *from, size_t *n)
{
    if (from->len < 4) return false;
    *n = gf_read_u32be(from->ptr);
    *from = gf_slice_skip(*from, 4);
    return true;
}

static gf_status unpack_snappy(gf_slice packed, size_t most, gf_buffer *out, gf_error *err)
{
    size_t before = out->len, block, piece, n;
    while (packed.len) {
        if (!take_u32(&packed, &block)) return damaged(err);
        while (block > 0) {
            if (!take_u32(&packed, &piece) || piece > packed.len ||
                snappy_uncompressed_length(packed.ptr, piece, &n) != SNAPPY_OK || n > block ||
                n == 0)
                return damaged(err);
            if (n > most - (out->len - before)) return too_long(most, err);
            char *to = gf_buffer_reserve(out, n);
            if (!to) return gf_buffer_check(out, err);
            if (snappy_uncompress(packed.ptr, piece, to, &n) != SNAPPY_OK) return damaged(err);
            out->len += n;
            block -= n;
            packed = gf_slice_skip(packed, piece);
        }
    }
    return GF_OK;
}

/* ---- by libarchive --------------------------------------------------------------------------- */

/* libarchive asks for bytes until there are none. */
static la_ssize_t give_packed(struct archive *a, void *context, const void **bytes)
{
    gf_slice *left = context;
    la_ssize_t n = (la_ssize_t)left->len;
    (void)a;
    *bytes = left->ptr;
    left->len = 0;
    return n;
}

static gf_status archive_failed(struct archive *a, gf_error *err)
{
    return archive_errno(a) == ENOMEM ? gf_fail_memory(err, "a decompression") : damaged(err);
}

static gf_status unpack_archive(int filter, gf_slice packed, size_t most, gf_buffer *out,
                                gf_error *err)
{
    size_t before = out->len;
    struct archive_entry *entry;
    gf_status st = gf_library_load(&gf_archive, err);
    if (st != GF_OK) return st;
    struct archive *a = archive_read_new();
    if (!a) return gf_fail_memory(err, "a decompression");
    if (archive_read_append_filter(a, filter) != ARCHIVE_OK ||
        archive_read_set_format(a, ARCHIVE_FORMAT_RAW) != ARCHIVE_OK)
        st = gf_fail_memory(err, "a decompression");
    else if (archive_read_open(a, &packed, NULL, give_packed, NULL) != ARCHIVE_OK ||
             archive_read_next_header(a, &entry) != ARCHIVE_OK)
        st = archive_failed(a, err);
    for (la_ssize_t n = 1; st == GF_OK && n > 0;) {
        char *to = gf_buffer_reserve(out, PIECE);
        if (!to) {
            st = gf_buffer_check(out, err);
            break;
        }
        n = archive_read_data(a, to, PIECE);
        if (n < 0)
            st = archive_failed(a, err);
        else if ((out->len += (size_t)n) - before > most)
            st = too_long(most, err);
    }
    archive_read_free(a);
    return st;
}

gf_status gf_hadoop_codec_unpack(gf_hadoop_codec codec, gf_slice packed, size_t most,
                                 gf_buffer *out, gf_error *err)
{
    switch (codec) {
    case GF_HADOOP_ZLIB:
        return unpack_zlib(packed, most, out, err);
    case GF_HADOOP_SNAPPY:
        return unpack_snappy(packed, most, out, err);
    case GF_HADOOP_BZIP2:
        return unpack_archive(ARCHIVE_FILTER_BZIP2, packed, most, out, err);
    case GF_HADOOP_ZSTD:
        return unpack_archive(ARCHIVE_FILTER_ZSTD, packed, most, out, err);
    case GF_HADOOP_NONE:
        break;
    }
    if (packed.len > most) return too_long(most, err);
    gf_buffer_slice(out, packed);
    return gf_buffer_check(out, err);
}

/** The compressions of Hadoop's files: whole pieces in memory, out of memory. */
#ifndef GF_FORMATS_HBASE_HADOOP_CODEC_H
#define GF_FORMATS_HBASE_HADOOP_CODEC_H

#include "grouperfish/buffer.h"

#include <stdbool.h>

typedef enum gf_hadoop_codec {
    GF_HADOOP_NONE,
    GF_HADOOP_ZLIB, /* DefaultCodec and DeflateCodec (zlib), GzipCodec (gzip): told by their bytes */
    GF_HADOOP_SNAPPY, /* Snappy in Hadoop's frames */
    GF_HADOOP_BZIP2,
    GF_HADOOP_ZSTD
} gf_hadoop_codec;

/** The names that are understood, for messages. */
#define GF_HADOOP_CODEC_NAMES                                                                      \
    "DefaultCodec, DeflateCodec, GzipCodec, SnappyCodec, BZip2Codec, ZStandardCodec"

/** By the name of its class, "org.apache.hadoop.io.compress.DefaultCodec"; false for another. */
bool gf_hadoop_codec_named(gf_slice class_name, gf_hadoop_codec *codec);

/**
 * Append what was compressed.
 *
 * @param most  of bytes that may come out
 * @return GF_OK; GF_ECORRUPT (not what the codec makes, or cut); GF_ELIMIT (more comes out);
 *         GF_EIO (the library cannot be loaded); GF_ENOMEM. On failure *out has some of it.
 */
gf_status gf_hadoop_codec_unpack(gf_hadoop_codec codec, gf_slice packed, size_t most,
                                 gf_buffer *out, gf_error *err);

#endif

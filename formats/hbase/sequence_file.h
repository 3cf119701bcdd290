/**
 * Hadoop's SequenceFile, version 6: pairs of a key and a value, both any bytes.
 *
 *     "SEQ" 6 | class of keys | class of values | compressed, u8 | in blocks, u8 | class of the codec |
 *     metadata: number of pairs, i32, and these | sync marker, 16 bytes
 *
 * and then records; in front of some of them there is -1 and the marker:
 *
 *     | bytes of key and value, i32 | bytes of the key, i32 | key | value |
 *
 * The codec's class is there where values are compressed, each for itself. In blocks there are, in the
 * place of records, each time
 *
 *     | -1 | marker | number of records, vint | lengths of keys | keys | lengths of values | values |
 *
 * where each of the last four is the number of its bytes, a vint, and these, compressed; lengths are vints.
 * Numbers are big-endian, texts are a vint and their bytes; a vint is one byte from -112 to 127, else a
 * byte that says how many follow.
 *
 * Source: org.apache.hadoop.io.SequenceFile and WritableUtils of Hadoop 3.3.
 *
 * Memory: a record, or a block; GF_SEQUENCE_MOST at most of each part of it.
 * Threads: a reader is for one thread.
 */
#ifndef GF_FORMATS_HBASE_SEQUENCE_FILE_H
#define GF_FORMATS_HBASE_SEQUENCE_FILE_H

#include "formats/bytes/input.h"

/** The bytes that such a file begins with; the next one is its version. */
#define GF_SEQUENCE_MAGIC "SEQ"

/** Bytes of a record, and of each of the four parts of a block, packed and not. */
enum { GF_SEQUENCE_MOST = 256 << 20 };

typedef struct gf_sequence_record {
    gf_slice source;
    uint64_t number; /* in its file, from 1 */
    gf_slice key, value;
} gf_sequence_record;

typedef struct gf_sequence_reader gf_sequence_reader;

/**
 * Read an input's streams, packed and archived ones, too. Passed over are those without any byte, and
 * members of a folder or an archive whose path has a name that begins with an underscore: _SUCCESS, _logs.
 *
 * @param key_class, value_class  that each file must name; they last as long as the reader
 */
gf_status gf_sequence_reader_open(const gf_input *input, const char *key_class,
                                  const char *value_class, gf_sequence_reader **reader,
                                  gf_error *err);

/**
 * @param[out] record  borrowed until the next call
 * @return GF_OK; GF_ENOTFOUND at the end; GF_EINVAL (no such file, another version, class or codec);
 *         GF_ECORRUPT (cut or damaged: the input's); GF_ELIMIT; the input's failure; GF_ENOMEM. After
 *         any of these the same is returned again.
 */
gf_status gf_sequence_reader_next(gf_sequence_reader *reader, gf_sequence_record *record,
                                  gf_error *err);

void gf_sequence_reader_close(gf_sequence_reader *reader);

#endif

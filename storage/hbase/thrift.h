/**
 * Thrift's binary protocol in frames: as much of it as the gateway of HBase speaks.
 *
 *     frame      length of the rest (4 bytes)  message
 *     message    80 01 00 kind  name  number (4 bytes)  struct
 *     struct     field...  00
 *     field      type (1 byte)  id (2 bytes)  value
 *     value      bool, byte: 1 byte; i16, i32, i64, double: 2, 4, 8 and 8 bytes; string: its length
 *                (4 bytes) and bytes; list, set: type, number (4 bytes), values; map: two types,
 *                number, keys and values in turns
 *
 * All integers are big-endian. A message is written into a buffer, which keeps the first failure. A
 * reader borrows the bytes that it reads; where they are not what was asked for it turns bad, and
 * stays so: every further call gives nothing, so one look at the end suffices.
 *
 * Source: Apache Thrift's specification of the binary protocol (thrift-binary-protocol.md).
 */
#ifndef GF_STORAGE_HBASE_THRIFT_H
#define GF_STORAGE_HBASE_THRIFT_H

#include "grouperfish/buffer.h"

typedef enum gf_thrift_type {
    GF_THRIFT_STOP = 0,
    GF_THRIFT_BOOL = 2,
    GF_THRIFT_BYTE = 3,
    GF_THRIFT_DOUBLE = 4,
    GF_THRIFT_I16 = 6,
    GF_THRIFT_I32 = 8,
    GF_THRIFT_I64 = 10,
    GF_THRIFT_STRING = 11,
    GF_THRIFT_STRUCT = 12,
    GF_THRIFT_MAP = 13,
    GF_THRIFT_SET = 14,
    GF_THRIFT_LIST = 15
} gf_thrift_type;

typedef enum gf_thrift_kind {
    GF_THRIFT_CALL = 1,
    GF_THRIFT_REPLY = 2,
    GF_THRIFT_EXCEPTION = 3
} gf_thrift_kind;

/* ---- writing --------------------------------------------------------------------------------- */

/** Empty the buffer and begin a frame with a message in it; its struct of arguments comes next. */
void gf_thrift_begin(gf_buffer *b, gf_thrift_kind kind, const char *name, uint32_t number);
/** End the struct and the frame. GF_ELIMIT for one of more than 2 GiB; what the buffer failed of. */
gf_status gf_thrift_end(gf_buffer *b, gf_error *err);

void gf_thrift_field(gf_buffer *b, gf_thrift_type type, uint16_t id);
void gf_thrift_stop(gf_buffer *b); /* the end of a struct */
void gf_thrift_list(gf_buffer *b, gf_thrift_type type, size_t n);
void gf_thrift_string(gf_buffer *b, gf_slice s);

/* A field with its value. */
void gf_thrift_string_field(gf_buffer *b, uint16_t id, gf_slice s);
void gf_thrift_i32_field(gf_buffer *b, uint16_t id, int32_t v);
void gf_thrift_i64_field(gf_buffer *b, uint16_t id, int64_t v);
void gf_thrift_bool_field(gf_buffer *b, uint16_t id, bool v);

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct gf_thrift_reader {
    gf_slice rest; /* borrowed */
    bool bad;
} gf_thrift_reader;

typedef struct gf_thrift_message {
    gf_thrift_kind kind;
    gf_slice name;
    uint32_t number;
} gf_thrift_message;

/** The header of a message (a frame without its length). */
bool gf_thrift_take_message(gf_thrift_reader *r, gf_thrift_message *message);
/** The next field of a struct; false at its end. */
bool gf_thrift_take_field(gf_thrift_reader *r, gf_thrift_type *type, uint16_t *id);
/**
 * A list's or a set's head: bad where its values are not of that type, or could not have room in
 * what is left. The number of values; 0 where the reader is bad.
 */
uint32_t gf_thrift_take_list(gf_thrift_reader *r, gf_thrift_type type);
/** A map's, with the types of its keys and values. */
uint32_t gf_thrift_take_map(gf_thrift_reader *r, gf_thrift_type key, gf_thrift_type value);
gf_slice gf_thrift_take_string(gf_thrift_reader *r);
bool gf_thrift_take_bool(gf_thrift_reader *r);
int32_t gf_thrift_take_i32(gf_thrift_reader *r);
int64_t gf_thrift_take_i64(gf_thrift_reader *r);
/** Pass over a value of any type, and what is in it; bad where it is nested too deeply. */
void gf_thrift_skip(gf_thrift_reader *r, gf_thrift_type type);
/** The same, and its bytes: they are the value when they are written again. */
gf_slice gf_thrift_take_raw(gf_thrift_reader *r, gf_thrift_type type);

#endif

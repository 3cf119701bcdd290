#include "formats/hbase/sequence_file.h"

#include "base/memory.h"
#include "formats/bytes/unpacked.h"
#include "formats/hbase/hadoop_codec.h"

enum { VERSION = 6, SYNC = 16, MOST_NAME = 1000, MOST_METADATA = 10000 };

/* A part of a block: its bytes as they came out, and what was not used of them. */
typedef struct part {
    gf_buffer bytes;
    gf_slice left;
} part;

struct gf_sequence_reader {
    gf_input input; /* for its bounds */
    gf_unpacked *stream;
    const char *key_class, *value_class;
    bool open; /* a stream is, and its header was read */
    bool compressed, in_blocks;
    gf_hadoop_codec codec;
    char sync[SYNC];
    uint64_t number;
    uint64_t packed, unpacked; /* bytes of the stream that were compressed, and that came out */
    gf_buffer name;            /* of a class */
    gf_buffer value;           /* of a record that is compressed for itself */
    part key_lengths, keys, value_lengths, values;
    uint64_t left;  /* records of the block */
    gf_error ended; /* how, once it has */
};

gf_status gf_sequence_reader_open(const gf_input *input, const char *key_class,
                                  const char *value_class, gf_sequence_reader **reader,
                                  gf_error *err)
{
    gf_sequence_reader *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "a reader");
    r->input = *input;
    r->key_class = key_class;
    r->value_class = value_class;
    gf_status st = gf_unpacked_open(input, &r->stream, err);
    if (st == GF_OK)
        *reader = r;
    else
        gf_sequence_reader_close(r);
    return st;
}

void gf_sequence_reader_close(gf_sequence_reader *r)
{
    if (!r) return;
    gf_unpacked_close(r->stream);
    gf_buffer_release(&r->name);
    gf_buffer_release(&r->value);
    gf_buffer_release(&r->key_lengths.bytes);
    gf_buffer_release(&r->keys.bytes);
    gf_buffer_release(&r->value_lengths.bytes);
    gf_buffer_release(&r->values.bytes);
    gf_free(r);
}

/* ---- numbers and bytes of the stream --------------------------------------------------------- */

static gf_status damaged(gf_sequence_reader *r, const char *how, gf_error *err)
{
    return gf_input_damaged(&r->input, gf_fail(err, GF_ECORRUPT, "%.*s, behind record %llu: %s",
                                               GF_SLICE_ARG(gf_unpacked_name(r->stream)),
                                               (unsigned long long)r->number, how));
}

static gf_status take(gf_sequence_reader *r, size_t n, gf_slice *bytes, gf_error *err)
{
    gf_read_buffer *w = gf_unpacked_buffer(r->stream);
    gf_status st = gf_read_buffer_peek(w, n, bytes, err);
    if (st != GF_OK) return st;
    if (bytes->len < n) return damaged(r, "the file is cut", err);
    bytes->len = n;
    gf_read_buffer_consume(w, n);
    return GF_OK;
}

static gf_status take_i32(gf_sequence_reader *r, int32_t *v, gf_error *err)
{
    gf_slice bytes;
    gf_status st = take(r, 4, &bytes, err);
    if (st == GF_OK) *v = (int32_t)gf_read_u32be(bytes.ptr);
    return st;
}

/* The bytes of a vint behind its first, which tells whether it is negative. */
static size_t vint_rest(signed char first)
{
    return (size_t)(first >= -112 ? 0 : first < -120 ? -120 - first : -112 - first);
}

static int64_t vint_value(signed char first, const char *rest, size_t n)
{
    uint64_t v = 0;
    if (n == 0) return first;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | (unsigned char)rest[i];
    return (int64_t)(first < -120 ? ~v : v);
}

static gf_status take_vint(gf_sequence_reader *r, int64_t *v, gf_error *err)
{
    gf_slice bytes;
    gf_status st = take(r, 1, &bytes, err);
    if (st != GF_OK) return st;
    signed char first = (signed char)*bytes.ptr;
    st = take(r, vint_rest(first), &bytes, err);
    if (st == GF_OK) *v = vint_value(first, bytes.ptr, bytes.len);
    return st;
}

/* A number of bytes as a vint. */
static gf_status take_length(gf_sequence_reader *r, size_t most, size_t *n, gf_error *err)
{
    int64_t v;
    gf_status st = take_vint(r, &v, err);
    if (st != GF_OK) return st;
    if (v < 0) return damaged(r, "a length is negative", err);
    if ((uint64_t)v > most)
        return gf_fail(err, GF_ELIMIT,
                       "%.*s, behind record %llu: a part of %lld bytes, of %zu at most",
                       GF_SLICE_ARG(gf_unpacked_name(r->stream)), (unsigned long long)r->number,
                       (long long)v, most);
    *n = (size_t)v;
    return GF_OK;
}

static gf_status take_sync(gf_sequence_reader *r, gf_error *err)
{
    gf_slice bytes;
    gf_status st = take(r, SYNC, &bytes, err);
    if (st == GF_OK && memcmp(bytes.ptr, r->sync, SYNC) != 0)
        st = damaged(r, "another sync marker than the file's", err);
    return st;
}

/* ---- the header ------------------------------------------------------------------------------ */

static gf_status take_name(gf_sequence_reader *r, gf_error *err)
{
    size_t n;
    gf_slice bytes;
    gf_buffer_reset(&r->name);
    gf_status st = take_length(r, MOST_NAME, &n, err);
    if (st == GF_OK) st = take(r, n, &bytes, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < bytes.len; i++)
        gf_buffer_byte(&r->name, bytes.ptr[i] > ' ' && bytes.ptr[i] < 127 ? bytes.ptr[i] : '?');
    return gf_buffer_check(&r->name, err);
}

static gf_status take_class(gf_sequence_reader *r, const char *what, const char *wanted,
                            gf_error *err)
{
    gf_status st = take_name(r, err);
    if (st == GF_OK && !gf_slice_equal(gf_buffer_view(&r->name), gf_slice_str(wanted)))
        st = gf_fail(err, GF_EINVAL, "%.*s: its %s are of class %s, not %s",
                     GF_SLICE_ARG(gf_unpacked_name(r->stream)), what, gf_buffer_cstr(&r->name),
                     wanted);
    return st;
}

static gf_status take_codec(gf_sequence_reader *r, gf_error *err)
{
    gf_slice flags;
    r->codec = GF_HADOOP_NONE;
    gf_status st = take(r, 2, &flags, err);
    if (st != GF_OK) return st;
    r->compressed = flags.ptr[0] != 0;
    r->in_blocks = flags.ptr[1] != 0;
    if (!r->compressed) return r->in_blocks ? damaged(r, "blocks, and no codec", err) : GF_OK;
    st = take_name(r, err);
    if (st != GF_OK || gf_hadoop_codec_named(gf_buffer_view(&r->name), &r->codec)) return st;
    return gf_fail(err, GF_EINVAL,
                   "%.*s: it is compressed by %s, which is none of %s; export it without "
                   "(-D mapreduce.output.fileoutputformat.compress=false)",
                   GF_SLICE_ARG(gf_unpacked_name(r->stream)), gf_buffer_cstr(&r->name),
                   GF_HADOOP_CODEC_NAMES);
}

static gf_status pass_metadata(gf_sequence_reader *r, gf_error *err)
{
    int32_t pairs;
    size_t n;
    gf_slice bytes;
    gf_status st = take_i32(r, &pairs, err);
    if (st == GF_OK && (pairs < 0 || pairs > MOST_METADATA)) st = damaged(r, "its metadata", err);
    for (int32_t i = 0; st == GF_OK && i < 2 * pairs; i++) {
        st = take_length(r, GF_SEQUENCE_MOST, &n, err);
        if (st == GF_OK) st = take(r, n, &bytes, err);
    }
    return st;
}

static gf_status read_header(gf_sequence_reader *r, gf_error *err)
{
    gf_slice bytes;
    r->number = r->left = r->packed = r->unpacked = 0;
    gf_status st = gf_read_buffer_peek(gf_unpacked_buffer(r->stream), 4, &bytes, err);
    if (st != GF_OK) return st;
    gf_slice name = gf_unpacked_name(r->stream);
    if (!gf_slice_starts(bytes, GF_SLICE(GF_SEQUENCE_MAGIC)) || bytes.len < 4)
        return gf_fail(err, GF_EINVAL,
                       "%.*s is no SequenceFile of Hadoop, as HBase's Export makes them",
                       GF_SLICE_ARG(name));
    if (bytes.ptr[3] != VERSION)
        return gf_fail(err, GF_EINVAL, "%.*s is a SequenceFile of version %d; only %d can be read",
                       GF_SLICE_ARG(name), bytes.ptr[3], VERSION);
    gf_read_buffer_consume(gf_unpacked_buffer(r->stream), 4);
    st = take_class(r, "keys", r->key_class, err);
    if (st == GF_OK) st = take_class(r, "values", r->value_class, err);
    if (st == GF_OK) st = take_codec(r, err);
    if (st == GF_OK) st = pass_metadata(r, err);
    if (st == GF_OK) st = take(r, SYNC, &bytes, err);
    if (st == GF_OK) memcpy(r->sync, bytes.ptr, SYNC);
    return st;
}

/* Names of Hadoop's own, beside those of records. */
static bool is_passed(const gf_sequence_reader *r)
{
    gf_slice path = gf_unpacked_path(r->stream);
    if (!gf_unpacked_is_member(r->stream)) return false;
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '_' && (i == 0 || path.ptr[i - 1] == '/')) return true;
    return false;
}

static gf_status open_stream(gf_sequence_reader *r, gf_error *err)
{
    gf_slice bytes;
    do {
        gf_status st = gf_unpacked_next(r->stream, err);
        if (st == GF_OK) st = gf_read_buffer_peek(gf_unpacked_buffer(r->stream), 1, &bytes, err);
        if (st != GF_OK) return st;
    } while (bytes.len == 0 || is_passed(r));
    r->open = true;
    return read_header(r, err);
}

/* ---- what is compressed ---------------------------------------------------------------------- */

static gf_status unpack(gf_sequence_reader *r, gf_slice packed, gf_buffer *out, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_buffer_reset(out);
    gf_status st = gf_hadoop_codec_unpack(r->codec, packed, GF_SEQUENCE_MOST, out, &why);
    if (st == GF_ECORRUPT) return damaged(r, why.message, err);
    if (st != GF_OK) {
        if (err) *err = why;
        gf_error_prefix(err, "%.*s", GF_SLICE_ARG(gf_unpacked_name(r->stream)));
        return st;
    }
    r->packed += packed.len;
    r->unpacked += out->len;
    return gf_input_check_unpacked(&r->input, gf_unpacked_name(r->stream), r->packed, r->unpacked,
                                   err);
}

static gf_status read_part(gf_sequence_reader *r, part *p, gf_error *err)
{
    size_t n;
    gf_slice packed;
    gf_status st = take_length(r, GF_SEQUENCE_MOST, &n, err);
    if (st == GF_OK) st = take(r, n, &packed, err);
    if (st == GF_OK) st = unpack(r, packed, &p->bytes, err);
    p->left = gf_buffer_view(&p->bytes);
    return st;
}

/* The next of a part's pieces, whose length is the next of `lengths`. */
static gf_status take_piece(gf_sequence_reader *r, part *lengths, part *p, gf_slice *piece,
                            gf_error *err)
{
    gf_slice l = lengths->left;
    if (l.len == 0) return damaged(r, "a block has fewer lengths than records", err);
    signed char first = (signed char)*l.ptr;
    size_t rest = vint_rest(first);
    if (rest > l.len - 1) return damaged(r, "a length is cut", err);
    int64_t n = vint_value(first, l.ptr + 1, rest);
    if (n < 0 || (uint64_t)n > p->left.len)
        return damaged(r, "a length goes beyond its block", err);
    lengths->left = gf_slice_skip(l, rest + 1);
    *piece = gf_slice_of(p->left.ptr, (size_t)n);
    p->left = gf_slice_skip(p->left, (size_t)n);
    return GF_OK;
}

static gf_status read_block(gf_sequence_reader *r, gf_error *err)
{
    int32_t escape;
    int64_t n;
    gf_status st = take_i32(r, &escape, err);
    if (st == GF_OK && escape != -1) st = damaged(r, "no sync marker before a block", err);
    if (st == GF_OK) st = take_sync(r, err);
    if (st == GF_OK) st = take_vint(r, &n, err);
    if (st == GF_OK && n < 0) st = damaged(r, "a negative number of records", err);
    if (st == GF_OK) st = read_part(r, &r->key_lengths, err);
    if (st == GF_OK) st = read_part(r, &r->keys, err);
    if (st == GF_OK) st = read_part(r, &r->value_lengths, err);
    if (st == GF_OK) st = read_part(r, &r->values, err);
    if (st == GF_OK) r->left = (uint64_t)n;
    return st;
}

/* ---- records --------------------------------------------------------------------------------- */

static gf_status next_of_block(gf_sequence_reader *r, gf_sequence_record *record, gf_error *err)
{
    gf_status st = take_piece(r, &r->key_lengths, &r->keys, &record->key, err);
    if (st == GF_OK) st = take_piece(r, &r->value_lengths, &r->values, &record->value, err);
    if (st == GF_OK) r->left--;
    return st;
}

static gf_status next_record(gf_sequence_reader *r, gf_sequence_record *record, gf_error *err)
{
    int32_t n, key;
    gf_slice bytes;
    gf_status st = take_i32(r, &n, err);
    if (st == GF_OK && n == -1) {
        st = take_sync(r, err);
        if (st == GF_OK) st = take_i32(r, &n, err);
    }
    if (st == GF_OK) st = take_i32(r, &key, err);
    if (st != GF_OK) return st;
    if (n < 0 || key < 0 || key > n) return damaged(r, "the length of a record", err);
    if (n > GF_SEQUENCE_MOST)
        return gf_fail(err, GF_ELIMIT,
                       "%.*s, behind record %llu: a record of %d bytes, of %d at most",
                       GF_SLICE_ARG(gf_unpacked_name(r->stream)), (unsigned long long)r->number, n,
                       GF_SEQUENCE_MOST);
    st = take(r, (size_t)n, &bytes, err);
    if (st != GF_OK) return st;
    record->key = gf_slice_of(bytes.ptr, (size_t)key);
    record->value = gf_slice_skip(bytes, (size_t)key);
    if (!r->compressed) return GF_OK;
    st = unpack(r, record->value, &r->value, err);
    record->value = gf_buffer_view(&r->value);
    return st;
}

/* Whether the stream has a byte left. */
static gf_status look_on(gf_sequence_reader *r, bool *more, gf_error *err)
{
    gf_slice bytes;
    gf_status st = gf_read_buffer_peek(gf_unpacked_buffer(r->stream), 1, &bytes, err);
    *more = st == GF_OK && bytes.len > 0;
    return st;
}

static gf_status advance(gf_sequence_reader *r, gf_sequence_record *record, gf_error *err)
{
    bool more;
    gf_status st = GF_OK;
    while (st == GF_OK && r->left == 0) {
        if (!r->open) {
            st = open_stream(r, err);
            continue;
        }
        st = look_on(r, &more, err);
        if (st != GF_OK || (more && !r->in_blocks)) break;
        r->open = more;
        if (more) st = read_block(r, err);
    }
    if (st == GF_OK)
        st = r->in_blocks ? next_of_block(r, record, err) : next_record(r, record, err);
    if (st != GF_OK) return st;
    record->source = gf_unpacked_name(r->stream);
    record->number = ++r->number;
    return GF_OK;
}

gf_status gf_sequence_reader_next(gf_sequence_reader *r, gf_sequence_record *record, gf_error *err)
{
    if (r->ended.status == GF_OK) {
        gf_error why = {GF_OK, ""};
        gf_status st = advance(r, record, &why);
        if (st == GF_OK) return GF_OK;
        r->ended = why;
        r->ended.status = st;
    }
    if (err) *err = r->ended;
    return r->ended.status;
}

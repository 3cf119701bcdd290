#include "formats/matrix/npy.h"

#include "base/number.h"

#include <inttypes.h>
#include <string.h>

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_LENGTH = 6, ALIGNED = 64 };

gf_status gf_npy_header_length(gf_slice start, size_t *length, gf_error *err)
{
    const unsigned char *p = (const unsigned char *)start.ptr;
    if (start.len < MAGIC_LENGTH + 4 || memcmp(p, MAGIC, MAGIC_LENGTH) != 0)
        return gf_fail(err, GF_EINVAL, "it is no .npy array");
    if (p[6] < 1 || p[6] > 3)
        return gf_fail(err, GF_EINVAL, "version %u of .npy is not known", (unsigned)p[6]);
    size_t n = (size_t)p[8] | (size_t)p[9] << 8, before = MAGIC_LENGTH + 4;
    if (p[6] > 1) {
        if (start.len < GF_NPY_PREFIX) return gf_fail(err, GF_EINVAL, "it is no .npy array");
        n |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
        before = GF_NPY_PREFIX;
    }
    if (n > GF_NPY_MOST_HEADER)
        return gf_fail(err, GF_EINVAL, "its header of %zu bytes is too long", n);
    *length = before + n;
    return GF_OK;
}

/* ---- the header's dictionary ----------------------------------------------------------------- */

static void skip_blanks(gf_slice *s)
{
    while (s->len && strchr(" \t\r\n", s->ptr[0]) && s->ptr[0])
        *s = gf_slice_skip(*s, 1);
}

static bool take_text(gf_slice *s, const char *text)
{
    skip_blanks(s);
    if (!gf_slice_starts(*s, gf_slice_str(text))) return false;
    *s = gf_slice_skip(*s, strlen(text));
    return true;
}

/* A string in single or double quotes, without escapes. */
static bool take_quoted(gf_slice *s, gf_slice *text)
{
    skip_blanks(s);
    if (s->len < 2 || (s->ptr[0] != '\'' && s->ptr[0] != '"')) return false;
    const char *end = memchr(s->ptr + 1, s->ptr[0], s->len - 1);
    if (!end) return false;
    *text = gf_slice_of(s->ptr + 1, (size_t)(end - s->ptr) - 1);
    *s = gf_slice_skip(*s, text->len + 2);
    return true;
}

static bool take_number(gf_slice *s, uint64_t *v)
{
    skip_blanks(s);
    if (!gf_number_take(s, 20, v)) return false;
    take_text(s, "L"); /* as Python 2 wrote long integers */
    return true;
}

static gf_status take_shape(gf_slice *s, gf_npy_header *h, gf_error *err)
{
    h->n_dimensions = 0;
    if (!take_text(s, "(")) return gf_fail(err, GF_EINVAL, "its header has no shape");
    while (!take_text(s, ")")) {
        if (h->n_dimensions == GF_NPY_DIMENSIONS)
            return gf_fail(err, GF_EINVAL, "it has more than %d dimensions",
                           (int)GF_NPY_DIMENSIONS);
        if (!take_number(s, &h->shape[h->n_dimensions++]))
            return gf_fail(err, GF_EINVAL, "its shape is not one");
        if (!take_text(s, ",") && !gf_slice_starts(*s, GF_SLICE(")")))
            return gf_fail(err, GF_EINVAL, "its shape is not one");
    }
    return GF_OK;
}

/* "<f4", "|S3": byte order, kind, size. */
static gf_status read_type(gf_slice type, gf_npy_header *h, gf_error *err)
{
    uint64_t size = 0;
    gf_slice rest = gf_slice_skip(type, 2);
    if (type.len >= 2 && type.ptr[1] == 'O')
        return gf_fail(err, GF_EINVAL,
                       "it holds Python objects (a pickle), which are never read: save text as "
                       "numpy.array(list, dtype=str)");
    if (type.len < 3 || !take_number(&rest, &size) || rest.len)
        return gf_fail(err, GF_EINVAL, "its type \"%.*s\" is not known", GF_SLICE_ARG(type));
    if (type.ptr[0] == '>' && size > 1)
        return gf_fail(err, GF_EINVAL,
                       "its numbers are big-endian (\"%.*s\"): save it as \"<%.*s\"",
                       GF_SLICE_ARG(type), (int)type.len - 1, type.ptr + 1);
    h->kind = type.ptr[1];
    if (h->kind == 'U') size = size > GF_NPY_MOST_ITEM ? GF_NPY_MOST_ITEM + 1 : size * 4;
    bool number = size == 1 || size == 2 || size == 4 || size == 8;
    bool known = (h->kind == 'b' && size == 1) || (h->kind == 'f' && (size == 4 || size == 8)) ||
                 ((h->kind == 'i' || h->kind == 'u') && number) || h->kind == 'S' || h->kind == 'U';
    if (!known)
        return gf_fail(err, GF_EINVAL,
                       "its type \"%.*s\" is not read: numbers are whole or of 4 or 8 bytes "
                       "(numpy's float32, float64)",
                       GF_SLICE_ARG(type));
    if (size > GF_NPY_MOST_ITEM)
        return gf_fail(err, GF_EINVAL, "its elements of \"%.*s\" are too long", GF_SLICE_ARG(type));
    h->size = (uint32_t)size;
    return GF_OK;
}

static gf_status count_elements(gf_npy_header *h, gf_error *err)
{
    h->n = 1;
    for (unsigned i = 0; i < h->n_dimensions; i++) {
        if (h->shape[i] && h->n > UINT64_MAX / h->shape[i])
            return gf_fail(err, GF_EINVAL, "its shape has more elements than 64 bits count");
        h->n *= h->shape[i];
    }
    if (h->size && h->n > UINT64_MAX / h->size)
        return gf_fail(err, GF_EINVAL, "its shape has more bytes than 64 bits count");
    return GF_OK;
}

static gf_status take_entry(gf_slice *s, gf_npy_header *h, unsigned *seen, bool *fortran,
                            gf_error *err)
{
    gf_slice key, type;
    if (!take_quoted(s, &key) || !take_text(s, ":"))
        return gf_fail(err, GF_EINVAL, "its header is damaged");
    if (gf_slice_equal(key, GF_SLICE("descr"))) {
        *seen |= 1;
        skip_blanks(s);
        if (gf_slice_starts(*s, GF_SLICE("[")))
            return gf_fail(err, GF_EINVAL,
                           "it holds records of several fields, which are not read");
        if (!take_quoted(s, &type)) return gf_fail(err, GF_EINVAL, "its header has no type");
        return read_type(type, h, err);
    }
    if (gf_slice_equal(key, GF_SLICE("shape"))) {
        *seen |= 2;
        return take_shape(s, h, err);
    }
    if (!gf_slice_equal(key, GF_SLICE("fortran_order")))
        return gf_fail(err, GF_EINVAL, "its header is damaged");
    *seen |= 4;
    *fortran = take_text(s, "True");
    return *fortran || take_text(s, "False") ? GF_OK
                                             : gf_fail(err, GF_EINVAL, "its header is damaged");
}

gf_status gf_npy_header_read(gf_slice bytes, gf_npy_header *header, gf_error *err)
{
    size_t length;
    unsigned seen = 0;
    bool fortran = false;
    gf_npy_header h = {0};
    gf_status st = gf_npy_header_length(bytes, &length, err);
    if (st != GF_OK) return st;
    if (length != bytes.len) return gf_fail(err, GF_EINVAL, "its header is cut");
    gf_slice s = gf_slice_skip(bytes, bytes.ptr[6] > 1 ? GF_NPY_PREFIX : MAGIC_LENGTH + 4);
    if (!take_text(&s, "{")) return gf_fail(err, GF_EINVAL, "its header is damaged");
    while (st == GF_OK && !take_text(&s, "}")) {
        st = take_entry(&s, &h, &seen, &fortran, err);
        if (st == GF_OK && !take_text(&s, ",") && !gf_slice_starts(s, GF_SLICE("}")))
            st = gf_fail(err, GF_EINVAL, "its header is damaged");
    }
    if (st == GF_OK && seen != 7) st = gf_fail(err, GF_EINVAL, "its header lacks a part");
    h.fortran = fortran && h.n_dimensions > 1;
    if (st == GF_OK) st = count_elements(&h, err);
    if (st == GF_OK) *header = h;
    return st;
}

void gf_npy_header_write(const char *type, const uint64_t *shape, unsigned n_dimensions,
                         gf_buffer *out)
{
    gf_buffer text = {0};
    gf_buffer_format(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (unsigned i = 0; i < n_dimensions; i++)
        gf_buffer_format(&text, "%" PRIu64 ",%s", shape[i], i + 1 < n_dimensions ? " " : "");
    gf_buffer_str(&text, "), }");
    while ((MAGIC_LENGTH + 4 + text.len + 1) % ALIGNED && text.state == GF_OK)
        gf_buffer_byte(&text, ' ');
    gf_buffer_byte(&text, '\n');
    gf_buffer_append(out, MAGIC, MAGIC_LENGTH);
    gf_buffer_append(out, "\x01\x00", 2);
    gf_buffer_byte(out, (char)(text.len & 255));
    gf_buffer_byte(out, (char)(text.len >> 8));
    gf_buffer_slice(out, gf_buffer_view(&text));
    if (text.state != GF_OK) out->state = text.state;
    gf_buffer_release(&text);
}

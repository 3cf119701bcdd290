/* .npz files are read: the zip's entries as they come, those arrays that are wanted. */
#include "formats/bytes/archive.h"
#include "formats/matrix/npz_internal.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>

enum { PIECE = 1 << 16 };

static const char *const NAMES[GF_NPZ_PARTS] = {"data",     "indices",    "indptr",  "shape",
                                                "format",   "rows",       "vectors", "ids",
                                                "ids_utf8", "ids_offsets"};

typedef struct reading {
    const gf_input *input;
    const gf_cancel *cancel;
    struct archive *archive;
    uint64_t packed, unpacked; /* bytes so far */
    char piece[PIECE];
    bool begun, bare_array; /* the file is an .npy, not an .npz */
    gf_status failure;      /* of the input */
    gf_error message;
} reading;

static la_ssize_t give_bytes(struct archive *a, void *context, const void **bytes)
{
    reading *r = context;
    size_t got = 0;
    r->failure = gf_cancel_check(r->cancel, &r->message);
    if (r->failure == GF_OK)
        r->failure = gf_input_read(r->input, r->piece, PIECE, &got, &r->message);
    r->packed += got;
    if (r->failure != GF_OK) {
        archive_set_error(a, EIO, "the input failed");
        return -1;
    }
    if (!r->begun) r->bare_array = got >= 6 && memcmp(r->piece, "\x93NUMPY", 6) == 0;
    r->begun = true;
    *bytes = r->piece;
    return (la_ssize_t)got;
}

static gf_status archive_failed(reading *r, gf_status otherwise, gf_error *err)
{
    if (r->failure != GF_OK) {
        if (err) *err = r->message;
        return r->failure;
    }
    if (archive_errno(r->archive) == ENOMEM) return gf_fail_memory(err, "an archive");
    if (r->bare_array)
        return gf_fail(err, GF_EINVAL,
                       "it is a single array (.npy): numpy.savez(file, rows=..., ids=...) saves "
                       "the rows with their ids");
    const char *said = archive_error_string(r->archive);
    if (otherwise == GF_ECORRUPT) gf_input_damaged(r->input, otherwise);
    return gf_fail(err, otherwise, "it cannot be read as an .npz file (a zip of arrays): %s",
                   said ? said : "no reason given");
}

/* ---- one array ------------------------------------------------------------------------------- */

/* Few bytes may be very many: of zeros. */
static gf_status check_piece(reading *r, gf_error *err)
{
    gf_status st = gf_cancel_check(r->cancel, err);
    if (st == GF_OK) st = gf_input_check(r->input, err);
    if (st == GF_OK)
        st = gf_input_check_unpacked(r->input, GF_SLICE("it"), r->packed, r->unpacked, NULL);
    if (st != GF_ELIMIT) return st;
    return gf_fail(err, st,
                   "more comes out of it than 1,000 times its size and 64 MiB; numpy.savez saves "
                   "it uncompressed");
}

/* Append up to n bytes of the entry; fewer only at its end. */
static gf_status read_bytes(reading *r, gf_buffer *out, uint64_t n, gf_error *err)
{
    while (n) {
        size_t room = n < PIECE ? (size_t)n : PIECE;
        gf_status st = check_piece(r, err);
        if (st != GF_OK) return st;
        char *to = gf_buffer_reserve(out, room);
        if (!to) return gf_buffer_check(out, err);
        la_ssize_t got = archive_read_data(r->archive, to, room);
        if (got < 0) return archive_failed(r, GF_ECORRUPT, err);
        if (got == 0) return GF_OK;
        out->len += (size_t)got;
        r->unpacked += (uint64_t)got;
        n -= (uint64_t)got;
    }
    return GF_OK;
}

static gf_status read_header(reading *r, gf_buffer *bytes, gf_npy_header *header, gf_error *err)
{
    size_t length = 0;
    gf_status st = read_bytes(r, bytes, GF_NPY_PREFIX, err);
    if (st == GF_OK) st = gf_npy_header_length(gf_buffer_view(bytes), &length, err);
    if (st == GF_OK && length < bytes->len) st = gf_fail(err, GF_EINVAL, "its header is damaged");
    if (st == GF_OK) st = read_bytes(r, bytes, length - bytes->len, err);
    return st == GF_OK ? gf_npy_header_read(gf_buffer_view(bytes), header, err) : st;
}

static gf_status read_array(reading *r, gf_npz_array *a, gf_error *err)
{
    gf_buffer header = {0};
    if (a->there) return gf_fail(err, GF_EINVAL, "it is there twice");
    gf_status st = read_header(r, &header, &a->header, err);
    gf_buffer_release(&header);
    if (st != GF_OK) return st;
    uint64_t n = a->header.n * a->header.size;
    st = read_bytes(r, &a->bytes, n, err);
    if (st == GF_OK && a->bytes.len < n)
        st = gf_fail(err, GF_EINVAL, "it is cut: %zu bytes of the %llu that its shape has",
                     a->bytes.len, (unsigned long long)n);
    /* Its end is asked for, since that is where the archive's checksum is compared. */
    if (st == GF_OK) st = read_bytes(r, &a->bytes, 1, err);
    if (st == GF_OK && a->bytes.len > n)
        st = gf_fail(err, GF_EINVAL, "it has more bytes than its shape");
    a->there = st == GF_OK;
    return st;
}

/* ---- the file -------------------------------------------------------------------------------- */

static gf_npz_array *find_part(gf_npz_array *parts, const char *path)
{
    size_t n = path ? strlen(path) : 0;
    if (n < 4 || strcmp(path + n - 4, ".npy") != 0) return NULL;
    for (int i = 0; i < GF_NPZ_PARTS; i++)
        if (strlen(NAMES[i]) == n - 4 && memcmp(NAMES[i], path, n - 4) == 0) return &parts[i];
    return NULL;
}

static gf_status read_entries(reading *r, gf_npz_array *parts, gf_error *err)
{
    struct archive_entry *entry;
    for (;;) {
        int got = archive_read_next_header(r->archive, &entry);
        if (got == ARCHIVE_EOF) return GF_OK;
        if (got != ARCHIVE_OK && got != ARCHIVE_WARN) return archive_failed(r, GF_ECORRUPT, err);
        gf_npz_array *part = find_part(parts, archive_entry_pathname(entry));
        if (!part) continue;
        gf_status st = read_array(r, part, err);
        if (st == GF_EINVAL || st == GF_ECORRUPT) gf_error_prefix(err, "array \"%s\"", part->name);
        if (st != GF_OK) return st;
    }
}

static gf_status read_file(reading *r, gf_npz_array *parts, gf_error *err)
{
    gf_status st = gf_library_load(&gf_archive, err);
    if (st != GF_OK) return st;
    r->archive = archive_read_new();
    if (!r->archive) return gf_fail_memory(err, "an archive");
    bool ok = archive_read_support_format_zip(r->archive) == ARCHIVE_OK &&
              archive_read_open(r->archive, r, NULL, give_bytes, NULL) == ARCHIVE_OK;
    st = ok ? read_entries(r, parts, err) : archive_failed(r, GF_EINVAL, err);
    archive_read_free(r->archive);
    return st;
}

gf_status gf_npz_read_arrays(const gf_input *input, const gf_cancel *cancel,
                             gf_npz_array parts[GF_NPZ_PARTS], gf_error *err)
{
    for (int i = 0; i < GF_NPZ_PARTS; i++)
        parts[i] = (gf_npz_array){.name = NAMES[i]};
    reading *r = gf_calloc(1, sizeof *r);
    if (!r) return gf_fail_memory(err, "an archive");
    r->input = input;
    r->cancel = cancel;
    gf_status st = read_file(r, parts, err);
    gf_free(r);
    return st;
}

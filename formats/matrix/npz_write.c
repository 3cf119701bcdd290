/* .npz files are written: a zip of stored .npy arrays, each with its size known beforehand. */
#include "formats/bytes/archive.h"
#include "formats/matrix/npy.h"
#include "formats/matrix/npz.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME = 64,
    EARLIEST = 315532800, /* 1980-01-01, where zip's times begin: equal builds give equal files */
    PADDED_FREELY = 64 << 20,
    PADDED_FACTOR = 8
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ORDER "<"
#else
#define ORDER ">"
#endif

struct gf_npz_writer {
    struct archive *archive;
    struct archive_entry *entry;
    gf_npz_sink *sink;
    void *context;
    gf_status failure; /* of the sink */
    gf_error message;
};

static la_ssize_t take_bytes(struct archive *a, void *context, const void *bytes, size_t n)
{
    gf_npz_writer *w = context;
    if (w->failure == GF_OK) w->failure = w->sink(w->context, gf_slice_of(bytes, n), &w->message);
    if (w->failure == GF_OK) return (la_ssize_t)n;
    archive_set_error(a, EIO, "the bytes could not be written");
    return -1;
}

static gf_status archive_failed(gf_npz_writer *w, gf_error *err)
{
    if (w->failure != GF_OK) {
        if (err) *err = w->message;
        return w->failure;
    }
    const char *said = archive_error_string(w->archive);
    return gf_fail(err, GF_EIO, "cannot write the archive: %s", said ? said : "no reason given");
}

gf_status gf_npz_writer_create(gf_npz_sink *sink, void *context, gf_npz_writer **writer,
                               gf_error *err)
{
    gf_status st = gf_library_load(&gf_archive, err);
    if (st != GF_OK) return st;
    gf_npz_writer *w = gf_calloc(1, sizeof *w);
    if (!w) return gf_fail_memory(err, "an archive");
    w->sink = sink;
    w->context = context;
    w->archive = archive_write_new();
    w->entry = archive_entry_new();
    if (!w->archive || !w->entry) {
        gf_npz_writer_free(w);
        return gf_fail_memory(err, "an archive");
    }
    bool ok = archive_write_set_format_zip(w->archive) == ARCHIVE_OK &&
              archive_write_zip_set_compression_store(w->archive) == ARCHIVE_OK &&
              archive_write_set_bytes_in_last_block(w->archive, 1) == ARCHIVE_OK &&
              archive_write_open(w->archive, w, NULL, take_bytes, NULL) == ARCHIVE_OK;
    st = ok ? GF_OK : archive_failed(w, err);
    if (st == GF_OK)
        *writer = w;
    else
        gf_npz_writer_free(w);
    return st;
}

void gf_npz_writer_free(gf_npz_writer *w)
{
    if (!w) return;
    if (w->failure == GF_OK) w->failure = GF_ECANCELLED; /* what is unfinished stays so */
    if (w->archive) archive_write_free(w->archive);
    if (w->entry) archive_entry_free(w->entry);
    gf_free(w);
}

gf_status gf_npz_writer_end(gf_npz_writer *w, gf_error *err)
{
    return archive_write_close(w->archive) == ARCHIVE_OK ? GF_OK : archive_failed(w, err);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static gf_status append_bytes(gf_npz_writer *w, const void *bytes, uint64_t n, gf_error *err)
{
    const char *p = bytes;
    while (n) {
        size_t piece = n < (1u << 30) ? (size_t)n : 1u << 30;
        la_ssize_t took = archive_write_data(w->archive, p, piece);
        if (took <= 0) return archive_failed(w, err);
        p += took;
        n -= (uint64_t)took;
    }
    return GF_OK;
}

/* An entry with the array's header; n_bytes of elements must follow. */
static gf_status begin_member(gf_npz_writer *w, const char *name, const char *type,
                              const uint64_t *shape, unsigned n_dimensions, uint64_t n_bytes,
                              gf_error *err)
{
    gf_buffer header = {0};
    char path[NAME];
    snprintf(path, sizeof path, "%s.npy", name);
    gf_npy_header_write(type, shape, n_dimensions, &header);
    gf_status st = gf_buffer_check(&header, err);
    if (st == GF_OK) {
        archive_entry_clear(w->entry);
        archive_entry_set_pathname(w->entry, path);
        archive_entry_set_filetype(w->entry, AE_IFREG);
        archive_entry_set_perm(w->entry, 0644);
        archive_entry_set_mtime(w->entry, EARLIEST, 0);
        archive_entry_set_size(w->entry, (la_int64_t)(header.len + n_bytes));
        if (archive_write_header(w->archive, w->entry) != ARCHIVE_OK) st = archive_failed(w, err);
    }
    if (st == GF_OK) st = append_bytes(w, header.ptr, header.len, err);
    gf_buffer_release(&header);
    return st;
}

gf_status gf_npz_write_array(gf_npz_writer *w, const char *name, const char *type,
                             const uint64_t *shape, unsigned n_dimensions, const void *elements,
                             gf_error *err)
{
    char full[NAME];
    uint64_t bytes = (uint64_t)(type[1] - '0');
    for (unsigned i = 0; i < n_dimensions; i++)
        bytes *= shape[i];
    snprintf(full, sizeof full, "%s%s", type[1] == '1' ? "|" : ORDER, type);
    gf_status st = begin_member(w, name, full, shape, n_dimensions, bytes, err);
    return st == GF_OK ? append_bytes(w, elements, bytes, err) : st;
}

gf_status gf_npz_write_list(gf_npz_writer *w, const char *name, const char *type, uint64_t n,
                            const void *elements, gf_error *err)
{
    return gf_npz_write_array(w, name, type, &n, 1, elements, err);
}

gf_status gf_npz_write_word(gf_npz_writer *w, const char *name, const char *word, gf_error *err)
{
    char type[NAME];
    snprintf(type, sizeof type, "|S%zu", strlen(word));
    gf_status st = begin_member(w, name, type, NULL, 0, strlen(word), err);
    return st == GF_OK ? append_bytes(w, word, strlen(word), err) : st;
}

/* ---- texts ----------------------------------------------------------------------------------- */

typedef struct texts {
    uint64_t n;
    gf_npz_text_at *at;
    void *context;
    uint64_t bytes, widest; /* of all; characters of the longest */
    bool ends_in_nul;
} texts;

static void measure_texts(texts *t)
{
    t->widest = 1; /* numpy has no text of width 0 */
    for (uint64_t i = 0; i < t->n; i++) {
        gf_slice s = t->at(t->context, i);
        size_t width = gf_utf8_count(s);
        t->bytes += s.len;
        if (width > t->widest) t->widest = width;
        if (s.len && s.ptr[s.len - 1] == '\0') t->ends_in_nul = true;
    }
}

/* Code points of 32 bits, NULs behind those of a shorter text. */
static gf_status write_padded(gf_npz_writer *w, const char *name, const texts *t, gf_error *err)
{
    char type[NAME];
    uint64_t width = t->widest;
    uint32_t *line = gf_array((size_t)width, sizeof *line);
    if (!line) return gf_fail_memory(err, "texts");
    snprintf(type, sizeof type, ORDER "U%llu", (unsigned long long)width);
    gf_status st = begin_member(w, name, type, &t->n, 1, t->n * width * sizeof *line, err);
    for (uint64_t i = 0; i < t->n && st == GF_OK; i++) {
        gf_slice s = t->at(t->context, i);
        size_t at = 0, n = 0;
        memset(line, 0, (size_t)width * sizeof *line);
        while (at < s.len && n < width)
            line[n++] = gf_utf8_next(s, &at);
        st = append_bytes(w, line, width * sizeof *line, err);
    }
    gf_free(line);
    return st;
}

static gf_status write_bytes(gf_npz_writer *w, const char *name, const texts *t, gf_error *err)
{
    char both[NAME];
    uint64_t n = t->n + 1, at = 0;
    snprintf(both, sizeof both, "%s_utf8", name);
    gf_status st = begin_member(w, both, "|u1", &t->bytes, 1, t->bytes, err);
    for (uint64_t i = 0; i < t->n && st == GF_OK; i++) {
        gf_slice s = t->at(t->context, i);
        st = append_bytes(w, s.ptr, s.len, err);
    }
    snprintf(both, sizeof both, "%s_offsets", name);
    if (st == GF_OK) st = begin_member(w, both, ORDER "i8", &n, 1, n * sizeof at, err);
    for (uint64_t i = 0; i <= t->n && st == GF_OK; i++) {
        st = append_bytes(w, &at, sizeof at, err);
        if (i < t->n) at += t->at(t->context, i).len;
    }
    return st;
}

gf_status gf_npz_write_texts(gf_npz_writer *w, const char *name, uint64_t n, gf_npz_text_at *at,
                             void *context, gf_error *err)
{
    texts t = {.n = n, .at = at, .context = context};
    measure_texts(&t);
    uint64_t padded = n * t.widest * sizeof(uint32_t);
    bool wasteful = padded > PADDED_FREELY && padded / PADDED_FACTOR > t.bytes;
    return wasteful || t.ends_in_nul ? write_bytes(w, name, &t, err)
                                     : write_padded(w, name, &t, err);
}

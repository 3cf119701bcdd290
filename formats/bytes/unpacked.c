/*
 * The levels of a stream.
 *
 *     levels[0]  bytes of the input's stream          data.tar.gz
 *                archive over them: gzip                |
 *     levels[1]  bytes of its only "member"           data.tar
 *                archive over them: tar                 |
 *     levels[2]  bytes of its current member          notes.txt: what is parsed, the deepest level,
 *                                                     which has no archive
 *
 * A level whose first bytes look compressed or archived gets an archive, and its member is the next
 * level; otherwise libarchive is not involved, and its buffer is read and parsed as it is.
 *
 * Few bytes may become very many, so there are bounds (formats/bytes/input.h): only so many compressions
 * may lie around one another, and only MOST_NESTED archives, so that one that contains itself ends;
 * what came out of a stream is compared with what was read of it; and each piece asks whether it is
 * still wanted. Each compression has an archive of its own: libarchive by itself would undo up to
 * 25 of them at once and not ask in between. It is given GIVEN compressed bytes at a time.
 *
 * A member's name is its level's archive, a slash, and its path; decompressing alone adds no name.
 * Skipped: folders, links, and members with a hidden name, as in a folder on disk.
 *
 * libarchive turns names into the locale's character set, and loses what that cannot express; so
 * headers are read under C.UTF-8, set for this thread only while libarchive is called.
 */
#include "formats/bytes/unpacked.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "formats/bytes/archive.h"
#include "formats/bytes/content.h"
#include "grouperfish/buffer.h"

#include <errno.h>
#include <locale.h>
#include <strings.h>

enum {
    MOST_NESTED = 4,
    MOST_LAYERS = 4,
    DEEPEST = MOST_NESTED * (MOST_LAYERS + 1),
    SNIFFED = 512, /* bytes that an archive is recognised by: a tar header */
    TAR_MAGIC_AT = 257,
    GIVEN = 8 << 10
};

GF_LIBRARY_DEFINE(gf_archive, GF_LIBARCHIVE, GF_ARCHIVE_FUNCTIONS)

struct level {
    gf_unpacked *stream;
    gf_read_buffer buffer;
    struct archive *archive; /* reads the buffer; NULL at the deepest level */
    struct archive_entry *entry;
    size_t name_length; /* of stream->name up to and with this level */
    uint64_t n_members; /* seen of the archive */
    unsigned layers;    /* of compression around the bytes, up to the file or member they are of */
    unsigned nested;    /* tars and zips around them */
    bool compressed;    /* the archive is compression alone */
    bool at_end;        /* the archive has no further member */
    uint64_t out;       /* bytes that came out of all its archives, for one stream of the input */
};

struct gf_unpacked {
    gf_input input;
    struct level levels[DEEPEST + 1];
    int deepest; /* the level that is parsed; -1 where no input stream is open */
    bool is_member;
    size_t path_from; /* where the path starts in name */
    gf_buffer name;
    uint64_t packed;   /* bytes read of the input's stream */
    gf_status failure; /* of a read that libarchive asked for */
    gf_error failure_message;
    locale_t utf8;
};

gf_status gf_unpacked_open(const gf_input *input, gf_unpacked **stream, gf_error *err)
{
    gf_unpacked *s = gf_calloc(1, sizeof *s);
    if (!s) return gf_fail_memory(err, "an input");
    s->input = *input;
    s->deepest = -1;
    for (int i = 0; i <= DEEPEST; i++)
        s->levels[i].stream = s;
    s->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    *stream = s;
    return GF_OK;
}

static void close_archive(struct level *l)
{
    if (l->archive) archive_read_free(l->archive);
    l->archive = NULL;
}

void gf_unpacked_close(gf_unpacked *s)
{
    if (!s) return;
    for (int i = DEEPEST; i >= 0; i--) {
        close_archive(&s->levels[i]);
        gf_read_buffer_release(&s->levels[i].buffer);
    }
    gf_buffer_release(&s->name);
    if (s->utf8) freelocale(s->utf8);
    gf_free(s);
}

gf_read_buffer *gf_unpacked_buffer(gf_unpacked *s)
{
    return &s->levels[s->deepest].buffer;
}

const gf_input *gf_unpacked_input(const gf_unpacked *s)
{
    return &s->input;
}

gf_slice gf_unpacked_name(const gf_unpacked *s)
{
    return gf_buffer_view(&s->name);
}

gf_slice gf_unpacked_path(const gf_unpacked *s)
{
    return gf_slice_skip(gf_buffer_view(&s->name), s->path_from);
}

bool gf_unpacked_is_member(const gf_unpacked *s)
{
    return s->is_member;
}

/* ---- reading through libarchive -------------------------------------------------------------- */

static gf_slice level_name(const struct level *l)
{
    return gf_slice_of(l->stream->name.ptr, l->name_length);
}

static gf_status damaged_archive(struct level *l, gf_error *err)
{
    gf_unpacked *s = l->stream;
    if (s->failure != GF_OK) {
        if (err) *err = s->failure_message;
        return s->failure;
    }
    if (archive_errno(l->archive) == ENOMEM) return gf_fail_memory(err, "an archive");
    const char *said = archive_error_string(l->archive);
    gf_slice name = level_name(l);
    return gf_input_damaged(&s->input,
                            gf_fail(err, GF_ECORRUPT, "cannot read %.*s further: %s",
                                    GF_SLICE_ARG(name), said ? said : "libarchive gave no reason"));
}

/* The bytes of the input itself. */
static gf_status read_input(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_unpacked *s = context;
    gf_status st = gf_input_read(&s->input, to, n, got, err);
    if (st == GF_OK) s->packed += *got;
    return st;
}

static gf_status check_level(struct level *l, gf_error *err)
{
    gf_unpacked *s = l->stream;
    gf_slice name = level_name(&s->levels[0]);
    gf_status st = gf_input_check(&s->input, err);
    return st == GF_OK ? gf_input_check_unpacked(&s->input, name, s->packed, l->out, err) : st;
}

/* Give libarchive the bytes of the buffer, which stay there until it asks again. */
static la_ssize_t give_bytes(struct archive *a, void *context, const void **bytes)
{
    struct level *l = context;
    gf_unpacked *s = l->stream;
    gf_read_buffer *w = &l->buffer;
    s->failure = check_level(l, &s->failure_message);
    if (s->failure == GF_OK && w->start == w->end)
        s->failure = gf_read_buffer_more(w, &s->failure_message);
    if (s->failure != GF_OK) {
        archive_set_error(a, EIO, "the input failed");
        return -1;
    }
    gf_slice unread = gf_read_buffer_unread(w);
    if (unread.len > GIVEN) unread.len = GIVEN;
    *bytes = unread.ptr;
    gf_read_buffer_consume(w, unread.len);
    return (la_ssize_t)unread.len;
}

/* The next level's bytes: those of the current member. */
static gf_status read_member(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    struct level *l = context;
    la_ssize_t r;
    gf_status st = check_level(l, err);
    if (st != GF_OK) return st;
    do {
        r = archive_read_data(l->archive, to, n);
    } while (r == ARCHIVE_RETRY);
    if (r < 0) return damaged_archive(l, err);
    *got = (size_t)r;
    l->out += *got;
    return GF_OK;
}

static gf_status no_bytes(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    (void)context, (void)to, (void)n, (void)err;
    *got = 0;
    return GF_OK;
}

/* A compression is undone alone, and what is inside is looked at afterwards. */
static gf_status open_archive(struct level *l, int filter, gf_error *err)
{
    gf_status st = gf_library_load(&gf_archive, err);
    if (st != GF_OK) return st;
    struct archive *a = l->archive = archive_read_new();
    if (!a) return gf_fail_memory(err, "an archive");
    l->n_members = 0;
    l->at_end = false;
    l->compressed = filter != ARCHIVE_FILTER_NONE;
    if (l->compressed) {
        if (archive_read_append_filter(a, filter) != ARCHIVE_OK ||
            archive_read_set_format(a, ARCHIVE_FORMAT_RAW) != ARCHIVE_OK)
            return gf_fail_memory(err, "an archive");
    } else {
        archive_read_support_format_tar(a);
        archive_read_support_format_zip_streamable(a);
    }
    if (archive_read_open(a, l, NULL, give_bytes, NULL) != ARCHIVE_OK)
        return damaged_archive(l, err);
    return GF_OK;
}

/* ---- what is an archive ---------------------------------------------------------------------- */

static bool ends_in(gf_slice name, const char *suffix)
{
    size_t n = strlen(suffix);
    return name.len > n && strncasecmp(name.ptr + name.len - n, suffix, n) == 0;
}

static bool has_extension(gf_slice name)
{
    for (size_t i = name.len; i > 0 && name.ptr[i - 1] != '/'; i--)
        if (name.ptr[i - 1] == '.') return true;
    return false;
}

/*
 * Office documents, books and programs are zip files, too, whose members nobody means to read. Those of
 * offices are told by their parts; and a zip needs a name that says so, or none that says otherwise.
 */
static bool is_zip(gf_slice start, gf_slice name, bool compressed)
{
    if (!gf_slice_starts(start, GF_SLICE("PK\x03\x04")) &&
        !gf_slice_starts(start, GF_SLICE("PK\x05\x06")))
        return false;
    if (gf_content_is_office(start)) return false;
    return ends_in(name, ".zip") || !has_extension(name) || compressed;
}

/* The sum of a header's bytes, with spaces in its own place, is in octal digits there. */
static bool has_tar_sum(gf_slice start)
{
    enum { AT = 148, LENGTH = 8 };
    unsigned sum = LENGTH * ' ', told = 0;
    for (size_t i = 0; i < SNIFFED; i++)
        if (i < AT || i >= AT + LENGTH) sum += (unsigned char)start.ptr[i];
    const char *p = start.ptr + AT;
    while (p < start.ptr + AT + LENGTH && *p == ' ')
        p++;
    while (p < start.ptr + AT + LENGTH && *p >= '0' && *p <= '7')
        told = told * 8 + (unsigned)(*p++ - '0');
    return sum == told;
}

/* Old tars have no magic: those that are compressed are told by their sum. */
static bool is_tar(gf_slice start, gf_slice name, bool compressed)
{
    if (start.len < SNIFFED) return false;
    return memcmp(start.ptr + TAR_MAGIC_AT, "ustar", 5) == 0 || ends_in(name, ".tar") ||
           (compressed && has_tar_sum(start));
}

/* Behind its three letters and a size: the digits of pi, or, where it is empty, of pi's root. */
static bool is_bzip2(gf_slice start)
{
    return start.len >= 10 && memcmp(start.ptr, "BZh", 3) == 0 &&
           (memcmp(start.ptr + 4, "1AY&SY", 6) == 0 ||
            memcmp(start.ptr + 4, "\x17rE8P\x90", 6) == 0);
}

/* The compression that the bytes begin with, as libarchive numbers them. */
static int compression_of(gf_slice start)
{
    static const struct {
        gf_slice magic;
        int filter;
    } known[] = {
        {{"\x1F\x8B\x08", 3}, ARCHIVE_FILTER_GZIP},
        {{"\x28\xB5\x2F\xFD", 4}, ARCHIVE_FILTER_ZSTD},
        {{"\xFD\x37zXZ\x00", 6}, ARCHIVE_FILTER_XZ},
        {{"\x04\x22\x4D\x18", 4}, ARCHIVE_FILTER_LZ4},
        {{"\x02\x21\x4C\x18", 4}, ARCHIVE_FILTER_LZ4}, /* old frames */
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (gf_slice_starts(start, known[i].magic)) return known[i].filter;
    return is_bzip2(start) ? ARCHIVE_FILTER_BZIP2 : ARCHIVE_FILTER_NONE;
}

/* ---- walking --------------------------------------------------------------------------------- */

static gf_status set_name(gf_unpacked *s, size_t keep, gf_slice more, gf_error *err)
{
    s->name.len = keep;
    if (keep && more.len) gf_buffer_byte(&s->name, '/');
    gf_utf8_repair(more, &s->name);
    s->levels[s->deepest].name_length = s->name.len;
    return gf_buffer_check(&s->name, err);
}

static bool is_hidden(const char *path)
{
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/';
        size_t n = strcspn(p, "/");
        if (p[0] == '.' && n > 1 && !(n == 2 && p[1] == '.')) return true;
    }
    return false;
}

static bool is_wanted(struct archive_entry *e)
{
    const char *path = archive_entry_pathname(e);
    if (archive_entry_filetype(e) != AE_IFREG || archive_entry_hardlink(e)) return false;
    return !path || !is_hidden(path);
}

/* Go to the archive's next member that is wanted. GF_ENOTFOUND at its end. */
static gf_status next_header(struct level *l, gf_error *err)
{
    while (!l->at_end) {
        gf_status st = check_level(l, err);
        if (st != GF_OK) return st;
        int r = archive_read_next_header(l->archive, &l->entry);
        l->at_end = r == ARCHIVE_EOF;
        if (l->at_end) break;
        if (r != ARCHIVE_OK && r != ARCHIVE_WARN) return damaged_archive(l, err);
        if (l->compressed || is_wanted(l->entry)) return GF_OK;
    }
    return GF_ENOTFOUND;
}

static gf_slice member_path(struct level *l)
{
    if (l->compressed) return GF_SLICE("");
    const char *path = archive_entry_pathname(l->entry);
    if (!path) return GF_SLICE("(unnamed)");
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    while (path[0] == '/')
        path++;
    return gf_slice_str(path);
}

/* Make the next level of the member that was found, or of an archive that holds none. */
static gf_status enter_archive(gf_unpacked *s, struct level *l, bool found, gf_error *err)
{
    struct level *inner = l + 1;
    gf_slice path = found ? member_path(l) : GF_SLICE("");
    s->deepest++;
    l->n_members++;
    inner->layers = l->compressed ? l->layers + 1 : 0;
    inner->nested = l->nested + !l->compressed;
    if (path.len && inner->nested == 1 && !s->is_member) s->path_from = l->name_length + 1;
    s->is_member = s->is_member || path.len > 0;
    gf_read_buffer_begin(&inner->buffer, found ? read_member : no_bytes, l);
    return set_name(s, l->name_length, path, err);
}

/* Go on in the archive above the deepest level; false where there is none, or none with more. */
static gf_status next_member(gf_unpacked *s, bool *found, gf_error *err)
{
    *found = false;
    while (s->deepest >= 0) {
        struct level *l = &s->levels[s->deepest];
        if (!l->archive) {
            s->deepest--;
            continue;
        }
        gf_status st = next_header(l, err);
        if (st != GF_OK && st != GF_ENOTFOUND) return st;
        if (st == GF_OK || l->n_members == 0) {
            *found = true;
            return enter_archive(s, l, st == GF_OK, err);
        }
        close_archive(l);
        s->deepest--;
    }
    return GF_OK;
}

static gf_status next_input(gf_unpacked *s, gf_error *err)
{
    gf_slice name;
    gf_status st = gf_input_check(&s->input, err);
    if (st == GF_OK) st = s->input.next(s->input.context, &name, err);
    if (st != GF_OK) return st;
    s->deepest = 0;
    s->is_member = s->input.in_folder && s->input.in_folder(s->input.context);
    s->path_from = 0;
    s->packed = 0;
    for (int i = 0; i <= DEEPEST; i++)
        s->levels[i].out = 0;
    gf_read_buffer_begin(&s->levels[0].buffer, read_input, s);
    gf_buffer_reset(&s->name);
    return set_name(s, 0, name, err);
}

/* A line that begins with {, blank ones before it, is no archive's beginning. */
static bool begins_with_json(gf_slice start)
{
    size_t blank = 0;
    while (blank < start.len && strchr(" \t\r\n", start.ptr[blank]) && start.ptr[blank])
        blank++;
    gf_slice rest = gf_slice_skip(start, blank);
    return rest.len && rest.ptr[0] == '{' && memchr(rest.ptr, '\n', rest.len) &&
           !memchr(rest.ptr, 0, rest.len);
}

/* The bytes that tell an archive; the first line of JSON of a pipe need not wait for more. */
static gf_status peek_start(gf_read_buffer *w, gf_slice *start, gf_error *err)
{
    gf_status st = gf_read_buffer_peek(w, 1, start, err);
    while (st == GF_OK && start->len < SNIFFED && !w->at_end && !begins_with_json(*start))
        st = gf_read_buffer_peek(w, start->len + 1, start, err);
    return st;
}

static gf_status check_layers(const gf_unpacked *s, const struct level *l, gf_error *err)
{
    gf_slice name = level_name(l);
    if (l->layers < gf_input_layers(&s->input)) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "%.*s is compressed more than %s over; where it is meant to be so, --layers %u "
                   "unpacks it",
                   GF_SLICE_ARG(name), l->layers == 1 ? "once" : "that often", l->layers + 1);
}

/* Open archives until the deepest level holds plain bytes. */
static gf_status unpack_level(gf_unpacked *s, gf_error *err)
{
    while (s->deepest < DEEPEST && s->levels[s->deepest].nested < MOST_NESTED) {
        struct level *l = &s->levels[s->deepest];
        gf_slice start, name = gf_unpacked_name(s);
        gf_status st = peek_start(&l->buffer, &start, err);
        if (st != GF_OK) return st;
        int filter = compression_of(start);
        bool compressed = l->layers > 0, found;
        if (filter == ARCHIVE_FILTER_NONE && !is_zip(start, name, compressed) &&
            !is_tar(start, name, compressed))
            return GF_OK;
        if (filter != ARCHIVE_FILTER_NONE && (st = check_layers(s, l, err)) != GF_OK) return st;
        if ((st = open_archive(l, filter, err)) != GF_OK) return st;
        if ((st = next_member(s, &found, err)) != GF_OK) return st;
    }
    return GF_OK;
}

static gf_status advance_archive(gf_unpacked *s, gf_error *err)
{
    bool found;
    gf_status st = next_member(s, &found, err);
    if (st == GF_OK && !found) st = next_input(s, err);
    return st == GF_OK ? unpack_level(s, err) : st;
}

gf_status gf_unpacked_next(gf_unpacked *s, gf_error *err)
{
    locale_t before = s->utf8 ? uselocale(s->utf8) : (locale_t)0;
    gf_status st = advance_archive(s, err);
    if (before) uselocale(before);
    return st;
}

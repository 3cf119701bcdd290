/* Every record of a LevelDB log. */
#include "storage/check/files.h"

#include "grouperfish/buffer.h"
#include "storage/check/crc32c.h"

/*
 *     block     32 KiB: fragments, then zeros where less than a head is left
 *     fragment  masked CRC-32C of type and data (u32 LE) | length (u16 LE) | type (u8) | data
 *     record    one FULL fragment, or FIRST, any number of MIDDLE, LAST
 */
enum { BLOCK = 32768, HEAD = 7 };
enum { FULL = 1, FIRST, MIDDLE, LAST };

typedef struct log_check {
    gf_slice content;
    size_t at;
    bool within;      /* a record that has begun and not ended */
    gf_buffer record; /* what there is of it */
    const char *what; /* is wrong */
} log_check;

typedef struct fragment {
    char type;
    gf_slice data;
    size_t size;  /* bytes to the next one */
    bool is_none; /* filling, or cut off at the file's end */
} fragment;

static uint32_t read_u32le(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static bool all_zero(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i]) return false;
    return true;
}

/* True where some length up to the end of `data` makes the checksum right. */
static bool some_length_fits(uint32_t stored, char type, gf_slice data)
{
    uint32_t crc = gf_crc32c(0, &type, 1);
    for (size_t n = 0;; n++) {
        if (gf_crc32c_mask(crc) == stored) return true;
        if (n == data.len) return false;
        crc = gf_crc32c(crc, data.ptr + n, 1);
    }
}

/* The fragment at the start of `rest`, which has at least a head, with `room` bytes to the block's
 * end. False where it is damaged. */
static bool take_fragment(log_check *c, gf_slice rest, size_t room, fragment *f)
{
    uint32_t stored = read_u32le(rest.ptr);
    size_t length = (unsigned char)rest.ptr[4] | (size_t)(unsigned char)rest.ptr[5] << 8;
    *f = (fragment){.type = rest.ptr[6], .data = gf_slice_skip(rest, HEAD), .size = rest.len};
    f->is_none = true;
    if (all_zero(rest)) return true; /* space that a crash left without data */
    c->what = "a record's head is damaged";
    if (f->type < FULL || f->type > LAST || length > room - HEAD) return false;
    c->what = "a record's length is damaged";
    if (length > f->data.len) return !some_length_fits(stored, f->type, f->data);
    c->what = "a record's checksum is wrong";
    f->is_none = false;
    f->data.len = length;
    f->size = HEAD + length;
    return gf_crc32c_mask(gf_crc32c(gf_crc32c(0, &f->type, 1), f->data.ptr, length)) == stored;
}

/* Filling at a block's end, a head cut off at the file's end, or a fragment. */
static bool take_next(log_check *c, fragment *f)
{
    gf_slice rest = gf_slice_skip(c->content, c->at);
    size_t room = BLOCK - c->at % BLOCK;
    if (room >= HEAD && rest.len >= HEAD) return take_fragment(c, rest, room, f);
    *f = (fragment){.size = room < rest.len ? room : rest.len, .is_none = true};
    c->what = "a block's filling is damaged";
    return room >= HEAD || all_zero(gf_slice_of(rest.ptr, f->size));
}

static bool in_place(log_check *c, const fragment *f)
{
    bool begins = f->type == FULL || f->type == FIRST;
    c->what = begins ? "a record has no end" : "a record has no beginning";
    return begins != c->within;
}

/*
 * A crash may leave a file's new length without what was to be written there, which then reads as
 * zeros: from the end of what was synced, or from a disk's block in the middle of a record. True
 * where the fragment at c->at, which is not sound, reaches into such zeros. They begin with a block
 * and go on to the file's end; a fragment of which some shorter length is right has a damaged length.
 */
static bool is_cut_by_zeros(const log_check *c)
{
    enum { SECTOR = 512 };
    gf_slice all = c->content;
    size_t zeros = all.len;
    while (zeros > c->at && all.ptr[zeros - 1] == 0)
        zeros--;
    zeros = (zeros + SECTOR - 1) / SECTOR * SECTOR;
    if (zeros <= c->at || zeros + GF_CHECK_LEAST_ZEROS > all.len) return false;
    if (c->at + HEAD > zeros) return true;
    gf_slice rest = gf_slice_skip(all, c->at);
    size_t length = (unsigned char)rest.ptr[4] | (size_t)(unsigned char)rest.ptr[5] << 8;
    size_t room = BLOCK - c->at % BLOCK, there = zeros - c->at - HEAD;
    return length <= room - HEAD && length > there &&
           !some_length_fits(read_u32le(rest.ptr), rest.ptr[6],
                             gf_slice_of(rest.ptr + HEAD, there));
}

size_t gf_check_log_end(gf_slice content)
{
    log_check c = {.content = content};
    size_t whole = 0; /* records end here */
    while (c.at < content.len) {
        fragment f;
        bool sound = take_next(&c, &f);
        bool is_filling = BLOCK - c.at % BLOCK < HEAD;
        if (!sound && is_cut_by_zeros(&c)) return whole;
        if (!sound) break;
        if (f.is_none && !is_filling && all_zero(gf_slice_skip(content, c.at))) return whole;
        c.at += f.size;
        if (f.is_none) continue;
        c.within = f.type == FIRST || f.type == MIDDLE;
        if (!c.within) whole = c.at;
    }
    return content.len;
}

bool gf_check_log_is_whole(gf_slice content)
{
    log_check c = {.content = content};
    while (c.at < content.len) {
        fragment f;
        bool is_filling = BLOCK - c.at % BLOCK < HEAD;
        if (!take_next(&c, &f) || f.is_none != is_filling) return false;
        c.at += f.size;
        if (!f.is_none) c.within = f.type == FIRST || f.type == MIDDLE;
    }
    return !c.within;
}

gf_status gf_check_log(gf_slice content, gf_check_log_record *each, void *context, gf_error *err)
{
    log_check c = {.content = content};
    gf_status st = GF_OK;
    while (st == GF_OK && c.at < content.len) {
        fragment f;
        bool sound = take_next(&c, &f);
        if (!sound && is_cut_by_zeros(&c)) break;
        if (!sound || (!f.is_none && !in_place(&c, &f))) {
            st = gf_fail(err, GF_ECORRUPT, "at byte %zu: %s", c.at, c.what);
            break;
        }
        c.at += f.size;
        if (f.is_none) continue;
        c.within = f.type == FIRST || f.type == MIDDLE;
        if (!each) continue;
        gf_buffer_slice(&c.record, f.data);
        st = gf_buffer_check(&c.record, err);
        if (c.within || st != GF_OK) continue;
        st = each(context, gf_buffer_view(&c.record), err);
        gf_buffer_reset(&c.record);
    }
    gf_buffer_release(&c.record);
    return st;
}

/* ---- what is sound --------------------------------------------------------------------------- */

/*
 * Behind a fragment that is damaged: where its length leads, if the next one begins there, else the
 * next block.
 */
static void step_over(log_check *c, const fragment *bad)
{
    size_t block = c->at - c->at % BLOCK + BLOCK;
    fragment next;
    c->at += bad->size;
    if (bad->is_none || c->at >= block || c->at >= c->content.len || !take_next(c, &next) ||
        next.is_none)
        c->at = block;
}

gf_status gf_check_log_sound(gf_slice content, gf_check_log_record *each, void *context,
                             gf_error *damage, gf_error *err)
{
    log_check c = {.content = content};
    gf_status st = GF_OK;
    damage->status = GF_OK;
    while (st == GF_OK && c.at < content.len) {
        fragment f;
        bool sound = take_next(&c, &f), placed = sound && (f.is_none || in_place(&c, &f));
        if (!sound && is_cut_by_zeros(&c)) break;
        if (!placed && damage->status == GF_OK)
            gf_fail(damage, GF_ECORRUPT, "at byte %zu: %s", c.at, c.what);
        if (!sound) {
            step_over(&c, &f);
            c.within = false;
            continue;
        }
        c.at += f.size;
        if (f.is_none) continue;
        bool begins = f.type == FULL || f.type == FIRST;
        if (!begins && !c.within) continue; /* of a record whose beginning is lost */
        if (begins) gf_buffer_reset(&c.record);
        c.within = f.type == FIRST || f.type == MIDDLE;
        gf_buffer_slice(&c.record, f.data);
        st = gf_buffer_check(&c.record, err);
        if (!c.within && st == GF_OK) st = each(context, gf_buffer_view(&c.record), err);
    }
    gf_buffer_release(&c.record);
    return st;
}

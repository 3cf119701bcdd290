/* Every record of a LevelDB log. */
#include "storage/leveldb_check.h"

#include "base/buffer.h"
#include "storage/crc32c.h"

/*
 *     block   32 KiB: records, then zeros where less than a header is left
 *     record  masked CRC-32C of type and data (u32 LE) | length (u16 LE) | type (u8) | data
 *     type    1 full, 2 first, 3 middle, 4 last
 */
enum { BLOCK = 32768, HEADER = 7, LAST_TYPE = 4 };

static uint32_t u32le(const char *p)
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

/* Whether some length up to the end of `data` makes the checksum right. */
static bool some_length_fits(uint32_t stored, char type, gf_slice data)
{
    uint32_t crc = gf_crc32c(0, &type, 1);
    for (size_t n = 0;; n++) {
        if (gf_crc32c_mask(crc) == stored) return true;
        if (n == data.len) return false;
        crc = gf_crc32c(crc, data.ptr + n, 1);
    }
}

/* One record at the start of `rest`, with `room` bytes to the block's end; *size is what it takes.
 */
static gf_status check_record(gf_slice rest, size_t room, size_t *size, const char **what)
{
    uint32_t stored = u32le(rest.ptr);
    size_t length = (unsigned char)rest.ptr[4] | (size_t)(unsigned char)rest.ptr[5] << 8;
    char type = rest.ptr[6];
    gf_slice data = gf_slice_skip(rest, HEADER);
    *size = HEADER + length;
    if (all_zero(rest)) { /* space that a crash left without data */
        *size = rest.len;
        return GF_OK;
    }
    if (type < 1 || type > LAST_TYPE || length > room - HEADER) {
        *what = "a record's head is damaged";
        return GF_ECORRUPT;
    }
    if (length > data.len) { /* cut off at the file's end, unless the length is what is wrong */
        *size = rest.len;
        *what = "a record's length is damaged";
        return some_length_fits(stored, type, data) ? GF_ECORRUPT : GF_OK;
    }
    *what = "a record's checksum is wrong";
    uint32_t crc = gf_crc32c(gf_crc32c(0, &type, 1), data.ptr, length);
    return gf_crc32c_mask(crc) == stored ? GF_OK : GF_ECORRUPT;
}

gf_status gf_leveldb_check_log(gf_slice content, gf_error *err)
{
    size_t at = 0;
    while (at < content.len) {
        gf_slice rest = gf_slice_skip(content, at);
        size_t room = BLOCK - at % BLOCK, size = 0;
        const char *what = "";
        gf_status st = GF_OK;
        if (room < HEADER) {
            size = room < rest.len ? room : rest.len;
            what = "a block's filling is damaged";
            if (!all_zero(gf_slice_of(rest.ptr, size))) st = GF_ECORRUPT;
        } else if (rest.len < HEADER) {
            break; /* a head cut off at the file's end */
        } else {
            st = check_record(rest, room, &size, &what);
        }
        if (st != GF_OK) return gf_fail(err, st, "at byte %zu: %s", at, what);
        at += size;
    }
    return GF_OK;
}

/*
 * The id of a record without one: its content's XXH3 128-bit hash in hexadecimal, so that putting
 * the same record again changes nothing. Hashed are, for each member in order,
 *
 *     its name       8 bytes big-endian length, bytes
 *     its value      "s", 8 bytes big-endian length, decoded bytes     of a string or cell
 *                    "j", JSON without white space, LF                 of anything else
 *
 * Left out: empty cells, and an id that is null. All members count, also those that are not kept, so that the
 * id does not depend on which fields are. The same values give the same id in any format.
 */
#include "formats/field_mapping_internal.h"

#include <stdio.h>
#include <xxhash.h>

static void add_string(gf_buffer *b, gf_slice s)
{
    gf_buffer_u64be(b, s.len);
    gf_buffer_slice(b, s);
}

static gf_status add_value(gf_buffer *b, const gf_member *m, gf_error *err)
{
    bool is_json = m->kind == GF_MEMBER_JSON;
    if (m->kind == GF_MEMBER_TEXT || (is_json && gf_json_kind_of(m->json) == GF_JSON_STRING)) {
        gf_buffer_byte(b, 's');
        add_string(b, is_json ? gf_json_get_string(m->json) : m->text);
        return GF_OK;
    }
    gf_buffer_byte(b, 'j');
    gf_status st = GF_OK;
    if (is_json)
        st = gf_json_write(m->json, b, err);
    else
        gf_buffer_slice(b, m->text);
    gf_buffer_byte(b, '\n');
    return st;
}

gf_status gf_record_hash(const gf_parsed_record *parsed, const gf_member *id, gf_buffer *scratch,
                         char hex[33], gf_error *err)
{
    gf_buffer_reset(scratch);
    for (size_t i = 0; i < parsed->n_members; i++) {
        const gf_member *m = &parsed->members[i];
        if (m == id || m->kind == GF_MEMBER_EMPTY) continue;
        add_string(scratch, m->name);
        gf_status st = add_value(scratch, m, err);
        if (st != GF_OK) return st;
    }
    gf_status st = gf_buffer_check(scratch, err);
    if (st != GF_OK) return st;
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, XXH3_128bits(scratch->ptr ? scratch->ptr : "", scratch->len));
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes.digest[i]);
    return GF_OK;
}

#include "storage/leveldb/keys.h"

#include "storage/backend.h"
#include "storage/schema.h"

#include <assert.h>

void gf_leveldb_keys_family(gf_buffer *out, unsigned table, unsigned family)
{
    assert(table < GF_MAX_TABLES && family < GF_MAX_FAMILIES);
    char bytes[GF_LEVELDB_FAMILY_PREFIX] = {(char)(table >> 8), (char)table, (char)family};
    gf_buffer_append(out, bytes, sizeof bytes);
}

void gf_leveldb_keys_cell(gf_buffer *out, const gf_schema *schema, unsigned table, unsigned family,
                          gf_slice row, gf_slice qualifier)
{
    gf_leveldb_keys_family(out, table, family);
    gf_buffer_slice(out, row);
    if (schema->families[family].layout == GF_LAYOUT_WIDE) gf_key_string(out, qualifier);
}

void gf_leveldb_keys_version(gf_buffer *out, int64_t timestamp)
{
    gf_buffer_u64be(out, (uint64_t)INT64_MAX - (uint64_t)timestamp);
}

gf_status gf_leveldb_keys_parse(const gf_schema *schema, gf_slice key, gf_leveldb_key *out,
                                gf_error *err)
{
    if (key.len < GF_LEVELDB_FAMILY_PREFIX || (unsigned char)key.ptr[2] >= schema->n_families)
        goto damaged;
    const gf_family *family = &schema->families[(unsigned char)key.ptr[2]];
    gf_leveldb_key k = {0};
    gf_slice rest = gf_slice_skip(key, GF_LEVELDB_FAMILY_PREFIX);
    size_t row_length = gf_schema_row_length(schema, rest);
    if (row_length == 0 || !gf_slice_take_bytes(&rest, row_length, &k.row)) goto damaged;
    if (family->layout == GF_LAYOUT_WIDE) {
        size_t n = gf_key_string_length(rest);
        if (n == 0 || !gf_slice_take_bytes(&rest, n, &k.qualifier)) goto damaged;
    }
    k.cell = gf_slice_of(key.ptr, (size_t)(rest.ptr - key.ptr));
    if (gf_leveldb_keys_have_versions(family) && !gf_slice_take_u64be(&rest, &k.version))
        goto damaged;
    k.head = gf_slice_of(key.ptr, (size_t)(rest.ptr - key.ptr));
    if (rest.len && (!gf_slice_take_u32be(&rest, &k.block) || k.block == 0 || rest.len))
        goto damaged;
    *out = k;
    return GF_OK;
damaged:
    return gf_fail(err, GF_ECORRUPT, "a key is damaged");
}

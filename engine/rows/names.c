/* Names and ids: what they may be. */
#include "engine/rows/names.h"

#include "base/utf8.h"

gf_status gf_name_check(const char *what, gf_slice name, gf_error *err)
{
    if (name.len == 0) return gf_fail(err, GF_EINVAL, "the name of a %s cannot be empty", what);
    if (name.len > GF_MAX_NAME)
        return gf_fail(err, GF_EINVAL, "the name of a %s has at most %d bytes, not %zu", what,
                       GF_MAX_NAME, name.len);
    if (gf_utf8_valid_length(name) != name.len)
        return gf_fail(err, GF_EINVAL, "the name of a %s is not valid UTF-8", what);
    return GF_OK;
}

gf_status gf_name_check_place(gf_place where, gf_error *err)
{
    gf_status st = gf_name_check("namespace", where.name_space, err);
    return st == GF_OK ? gf_name_check("collection", where.collection, err) : st;
}

gf_status gf_name_check_id(gf_slice id, gf_error *err)
{
    if (id.len == 0) return gf_fail(err, GF_EINVAL, "the id is empty");
    if (id.len > GF_MAX_ID)
        return gf_fail(err, GF_EINVAL, "the id has %zu bytes, more than %d", id.len, GF_MAX_ID);
    if (gf_utf8_valid_length(id) != id.len)
        return gf_fail(err, GF_EINVAL, "the id is not valid UTF-8");
    return GF_OK;
}

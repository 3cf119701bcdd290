/* Families of users' tables that keep more or less from now on. */
#include "engine/user_tables/alter.h"
#include "engine/user_tables/user_tables_internal.h"

gf_status gf_user_table_check_kept(const gf_user_table *t, gf_slice family,
                                   const uint32_t *versions, const uint64_t *ttl_seconds,
                                   unsigned *number, gf_error *err)
{
    enum { MOST_VERSIONS = 1000000 };
    gf_status st = gf_user_table_find_family(t, family, number, err);
    if (st != GF_OK) return st;
    const gf_family *is = &gf_table_schema(t->rows)->families[*number];
    if (versions && (*versions == 0 || *versions > MOST_VERSIONS))
        return gf_fail(err, GF_EINVAL, "versions is not a number from 1 to %d", MOST_VERSIONS);
    if (versions && (*versions > 1) != (is->versions > 1))
        return gf_fail(err, GF_EINVAL,
                       "family %s keeps %s: its cells lie otherwise in the files, and that cannot "
                       "change",
                       is->name, is->versions > 1 ? "several versions" : "one version");
    if (ttl_seconds && *ttl_seconds > UINT32_MAX)
        return gf_fail(err, GF_EINVAL, "a time to live of more than %u seconds", UINT32_MAX);
    return GF_OK;
}

gf_status gf_user_table_alter_family(gf_store *s, gf_slice name_space, gf_slice name,
                                     gf_slice family, const uint32_t *versions,
                                     const uint64_t *ttl_seconds, const gf_cancel *cancel,
                                     gf_error *err)
{
    gf_user_table *t = NULL;
    unsigned f = 0;
    gf_status st = gf_user_table_open(s, name_space, name, &t, err);
    if (st == GF_OK) st = gf_user_table_check_kept(t, family, versions, ttl_seconds, &f, err);
    if (st == GF_OK) {
        const gf_family *is = &gf_table_schema(t->rows)->families[f];
        st = gf_table_alter_family(t->rows, f, versions ? *versions : is->versions,
                                   ttl_seconds ? *ttl_seconds : is->ttl_seconds, cancel, err);
    }
    gf_user_table_close(t);
    if (st != GF_OK) return st;
    /* Opening it writes the row anew. */
    st = gf_user_table_open(s, name_space, name, &t, err);
    if (st == GF_OK) gf_user_table_close(t);
    return st;
}

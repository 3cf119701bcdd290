/* Copies of stores: from one place to another. */
#include "engine/copy/copy_internal.h"

#include "base/options.h"
#include "storage/hbase/client.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* "hbase:/HOST" would be a folder, which nobody means. */
static gf_status check_place(const char *place, gf_error *err)
{
    bool is_typo = strncmp(place, "hbase:", 6) == 0 || strstr(place, "://");
    if (!is_typo || gf_hbase_is_url(place)) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "%s is no folder, and no URL of an HBase: hbase://HOST:PORT/NAMESPACE", place);
}

static gf_status are_one_place(const char *a, const char *b, bool *one, gf_error *err)
{
    gf_hbase_address x, y;
    char of_a[PATH_MAX], of_b[PATH_MAX];
    gf_status st = GF_OK;
    *one = strcmp(a, b) == 0;
    if (*one || gf_hbase_is_url(a) != gf_hbase_is_url(b)) return st;
    if (!gf_hbase_is_url(a)) {
        *one = realpath(a, of_a) && realpath(b, of_b) && strcmp(of_a, of_b) == 0;
        return st;
    }
    st = gf_hbase_address_read(a, &x, err);
    if (st == GF_OK) st = gf_hbase_address_read(b, &y, err);
    if (st == GF_OK)
        *one = strcmp(x.host, y.host) == 0 && strcmp(x.port, y.port) == 0 &&
               strcmp(x.name_space, y.name_space) == 0;
    return st;
}

gf_status gf_store_copy(const char *from, const char *to, const gf_copy_options *options,
                        gf_copied *copied, gf_error *err)
{
    bool one;
    gf_copy_work w = {.options = options, .copied = copied};
    gf_store_options o =
        GF_STORE_OPTIONS(.wait_seconds = options->wait_seconds, .purpose = "copy",
                         .cancel = options->cancel, .read_only = !gf_hbase_is_url(from));
    gf_status st =
        gf_options_check(options->version, GF_COPY_OPTIONS_VERSION, "gf_copy_options", err);
    if (st == GF_OK) st = check_place(from, err);
    if (st == GF_OK) st = check_place(to, err);
    if (st == GF_OK) st = are_one_place(from, to, &one, err);
    if (st == GF_OK && one) st = gf_fail(err, GF_EINVAL, "%s and %s are one store", from, to);
    if (st == GF_OK) st = gf_store_open(from, &o, &w.from, err);
    if (st != GF_OK) return st;
    if (options->open_more && gf_hbase_is_url(from)) st = options->open_more(w.from, false, err);
    if (st == GF_OK) st = gf_copy_mark_make(gf_slice_str(from), &w.mark, err);
    if (st == GF_OK)
        st = gf_hbase_is_url(to) ? gf_copy_to_hbase(&w, to, err) : gf_copy_to_folder(&w, to, err);
    gf_copy_mark_release(&w.mark);
    gf_store_close(w.from);
    return st;
}

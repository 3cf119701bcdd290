#include "api/builds/within.h"

#include "base/arena.h"
#include "base/number.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_SETTINGS = 64 };

/* The settings that a configuration begins with, and what another of its name says already. */
typedef struct beginning {
    gf_arena memory;
    gf_pair pairs[MOST_SETTINGS + 2];
    size_t n;
    gf_slice within; /* of the configuration that is there */
} beginning;

/* Topics are of one configuration: without them topics=only would leave every document unplaced. */
static gf_status take_own(void *context, const gf_setting *setting, gf_slice value,
                          gf_origin origin, gf_error *err)
{
    beginning *b = context;
    static const char *const others[] = {"k", "topics", "within"};
    bool other = false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        other = other || strcmp(setting->name, others[i]) == 0;
    if (other || origin == GF_FROM_PROGRAM || b->n == MOST_SETTINGS) return GF_OK;
    gf_slice copy = gf_arena_copy(&b->memory, value);
    if (!copy.ptr) return gf_fail_memory(err, "settings");
    b->pairs[b->n++] = (gf_pair){gf_slice_str(setting->name), copy};
    return GF_OK;
}

static gf_status take_within(void *context, const gf_setting *setting, gf_slice value,
                             gf_origin origin, gf_error *err)
{
    beginning *b = context;
    (void)origin;
    if (strcmp(setting->name, "within") != 0) return GF_OK;
    b->within = gf_arena_copy(&b->memory, value);
    return b->within.ptr ? GF_OK : gf_fail_memory(err, "settings");
}

static gf_status accept_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

static gf_status accept_group(void *context, const gf_group_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

/* The served build has it, so that nothing is made for a slip of the keys. */
static gf_status check_parent(gf_call *call, gf_store *store, gf_slice configuration, gf_slice id,
                              gf_error *err)
{
    gf_view *view;
    uint32_t cluster = 0, group = 0;
    gf_slice none = {0};
    bool is_group = gf_cluster_name_is_group(id, &group);
    uint64_t number = 0;
    if (!is_group && (!gf_number_read(id, &number) || number == 0 || number > UINT32_MAX))
        return gf_fail(err, GF_EINVAL,
                       "within: \"%.*s\" is neither the id of a cluster, such as 14, nor that of a "
                       "group, such as g3",
                       GF_SLICE_ARG(id));
    cluster = (uint32_t)number;
    gf_status st = gf_view_open(store, gf_call_place(call), configuration, 0, &view, err);
    if (st != GF_OK) return st;
    st = is_group ? gf_view_group(view, group, accept_group, NULL, err)
                  : gf_view_cluster(view, cluster, none, accept_cluster, NULL, err);
    gf_view_close(view);
    return st;
}

static gf_slice parent_of(gf_slice within, gf_slice *id)
{
    size_t at = within.len;
    while (at > 0 && within.ptr[at - 1] != ':')
        at--;
    *id = gf_slice_skip(within, at);
    return at ? gf_slice_of(within.ptr, at - 1) : GF_SLICE("default");
}

gf_status gf_within_make(gf_call *call, gf_store *store, gf_buffer *name, bool *is_new,
                         gf_error *err)
{
    beginning b = {.n = 0};
    gf_place where = gf_call_place(call);
    gf_slice id, parent = parent_of(gf_call_text(call, "within"), &id);
    gf_slice given = gf_call_text(call, "config");
    gf_buffer within = {0};
    gf_status st = check_parent(call, store, parent, id, err);
    if (st != GF_OK) return st;
    if (given.len)
        gf_buffer_slice(name, given);
    else
        gf_buffer_format(name, "%.*s-%.*s", GF_SLICE_ARG(parent), GF_SLICE_ARG(id));
    gf_buffer_format(&within, "%.*s:%.*s", GF_SLICE_ARG(parent), GF_SLICE_ARG(id));
    st = gf_buffer_check(name, err);
    if (st == GF_OK) st = gf_buffer_check(&within, err);
    gf_slice configuration = gf_buffer_view(name);
    if (st == GF_OK) st = gf_configuration_read(store, where, configuration, take_within, &b, err);
    *is_new = st == GF_ENOTFOUND;
    if (*is_new) st = gf_configuration_read(store, where, parent, take_own, &b, err);
    if (st == GF_OK && !*is_new && !gf_slice_equal(b.within, gf_buffer_view(&within)))
        st = gf_fail(err, GF_EEXISTS,
                     "configuration \"%.*s\" is there already, of other documents: --config gives "
                     "another name",
                     GF_SLICE_ARG(configuration));
    b.pairs[b.n++] = (gf_pair){GF_SLICE("within"), gf_buffer_view(&within)};
    if (gf_call_has(call, "k")) b.pairs[b.n++] = (gf_pair){GF_SLICE("k"), gf_call_text(call, "k")};
    if (st == GF_OK) st = gf_configuration_set(store, where, configuration, b.pairs, b.n, err);
    gf_arena_release(&b.memory);
    gf_buffer_release(&within);
    return st;
}

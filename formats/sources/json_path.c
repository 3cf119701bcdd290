#include "formats/sources/json_path.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"

#include <string.h>

typedef struct step {
    char *name; /* of a member; NULL: an item */
    uint64_t index;
} step;

struct gf_json_path {
    step *steps; /* n */
    size_t n, capacity;
};

void gf_json_path_free(gf_json_path *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->n; i++)
        gf_free(p->steps[i].name);
    gf_free(p->steps);
    gf_free(p);
}

static gf_status add_step(gf_json_path *p, const char *name, size_t length, uint64_t index,
                          gf_error *err)
{
    if (!gf_grow(&p->steps, &p->capacity, p->n + 1, sizeof *p->steps))
        return gf_fail_memory(err, "a path");
    p->steps[p->n] = (step){.index = index};
    if (name && !(p->steps[p->n].name = gf_copy_string(name, length)))
        return gf_fail_memory(err, "a path");
    p->n++;
    return GF_OK;
}

/* The step at *at, which is moved behind it; GF_EINVAL without a message where there is none. */
static gf_status read_step(gf_json_path *p, const char **at, gf_error *err)
{
    const char *from = *at, *end;
    uint64_t index = 0;
    if (*from == '.') {
        size_t n = strcspn(++from, ".[");
        *at = from + n;
        return n ? add_step(p, from, n, 0, err) : GF_EINVAL;
    }
    if (*from++ != '[') return GF_EINVAL;
    if (*from == '\'' || *from == '"') {
        end = strchr(from + 1, *from);
        if (!end || end[1] != ']') return GF_EINVAL;
        *at = end + 2;
        return add_step(p, from + 1, (size_t)(end - from) - 1, 0, err);
    }
    end = strchr(from, ']');
    if (!end || !gf_number_read(gf_slice_of(from, (size_t)(end - from)), &index)) return GF_EINVAL;
    *at = end + 1;
    return add_step(p, NULL, 0, index, err);
}

gf_status gf_json_path_create(const char *text, gf_json_path **path, gf_error *err)
{
    gf_json_path *p = gf_calloc(1, sizeof *p);
    if (!p) return gf_fail_memory(err, "a path");
    const char *at = text + (*text == '$');
    gf_status st = *text == '$' ? GF_OK : GF_EINVAL;
    while (st == GF_OK && *at)
        st = read_step(p, &at, err);
    if (st == GF_EINVAL)
        st = gf_fail(err, st,
                     "\"%.100s\" is no path of members and items such as $.data.tickets or "
                     "$['next page'][0] (at byte %d)",
                     text, (int)(at - text) + 1);
    if (st != GF_OK) {
        gf_json_path_free(p);
        return st;
    }
    *path = p;
    return GF_OK;
}

static bool find_item(gf_json_value array, uint64_t index, gf_json_value *item)
{
    if (gf_json_kind_of(array) != GF_JSON_ARRAY) return false;
    gf_json_iterator it = gf_json_items(array);
    while (gf_json_next(&it, NULL, item))
        if (index-- == 0) return true;
    return false;
}

bool gf_json_path_find(const gf_json_path *p, gf_json_value v, gf_json_value *found)
{
    for (size_t i = 0; i < p->n; i++) {
        const step *s = &p->steps[i];
        if (s->name ? gf_json_kind_of(v) != GF_JSON_OBJECT || !gf_json_member(v, s->name, &v)
                    : !find_item(v, s->index, &v))
            return false;
    }
    *found = v;
    return true;
}

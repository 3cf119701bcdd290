/* The fixture's searches: what the last one found is kept. */
#include "tests/engine/fixture.h"

#include <string.h>

fixture_hits fixture_found;

static void copy_found(char to[40], gf_slice text)
{
    snprintf(to, 40, "%.*s", (int)(text.len < 39 ? text.len : 39), text.ptr ? text.ptr : "");
}

static gf_status note_hit(void *context, const gf_hit *hit, gf_error *err)
{
    fixture_hits *h = context;
    if (h->n == FIXTURE_HITS) return gf_fail(err, GF_ELIMIT, "too many");
    copy_found(h->id[h->n], hit->document->id);
    copy_found(h->found[h->n], hit->found);
    h->score[h->n] = hit->score;
    h->cluster[h->n] = hit->membership ? hit->membership->cluster : 0;
    h->total[h->n] = hit->total;
    h->provisional[h->n] = hit->membership && hit->membership->provisional;
    h->n++;
    return GF_OK;
}

gf_status fixture_try_search(fixture *f, const char *query, const gf_search_options *o,
                             gf_error *err)
{
    fixture_found.n = 0;
    return gf_search(f->store, fixture_place("c"), gf_slice_str(query), o, note_hit, &fixture_found,
                     err);
}

void fixture_search(fixture *f, const char *query, const gf_search_options *o)
{
    gf_error err;
    static const gf_search_options all = GF_SEARCH_OPTIONS(.limit = 0);
    assert_ok(fixture_try_search(f, query, o ? o : &all, &err));
}

const char *fixture_found_ids(void)
{
    static char text[FIXTURE_HITS * 8];
    text[0] = '\0';
    for (size_t i = 0; i < fixture_found.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                 fixture_found.id[i]);
    return text;
}

/*
 * The program's own tables as tables: each one of a store with tweets and papers is described, its
 * described parts are as wide as the stored ones, and no column is without a type.
 */
#include "support/test.h"
#include "tests/api/transport.h"

#include "api/app.h"
#include "apps/papers/papers.h"
#include "apps/tweets/tweets.h"
#include "engine/user_tables/system.h"
#include "storage/backend.h"

static const gf_table_description *find(const char *name)
{
    size_t n;
    const gf_table_description *list = gf_tables_descriptions(&n);
    for (size_t i = 0; i < n; i++)
        if (gf_system_table_is(&list[i], name)) return &list[i];
    for (size_t a = 0; gf_app_at(a); a++)
        for (size_t i = 0; i < gf_app_at(a)->n_tables; i++)
            if (gf_system_table_is(&gf_app_at(a)->tables[i], name)) return &gf_app_at(a)->tables[i];
    return NULL;
}

/* A stored part of fixed width is one or several described ones; any other is one of its kind. */
static void check_parts(const gf_table_description *d, const gf_schema *s)
{
    unsigned i = 0;
    for (unsigned p = 0; p < s->n_parts; p++) {
        unsigned left = s->parts[p].width;
        if (s->parts[p].kind != GF_PART_FIXED) {
            assert_true(i < d->n_parts);
            assert_int_equal(d->parts[i].width, 0);
            assert_true((s->parts[p].kind == GF_PART_U64) ==
                        (d->parts[i].type == GF_TYPE_UINT64 || d->parts[i].type == GF_TYPE_INT64));
            i++;
            continue;
        }
        while (left > 0) {
            assert_true(i < d->n_parts && d->parts[i].width > 0 && d->parts[i].width <= left);
            left -= d->parts[i++].width;
        }
    }
    assert_int_equal(i, d->n_parts);
    assert_string_equal(d->parts[0].name, "namespace");
}

static void each_is_described(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_store *store;
    gf_tweets *tweets;
    gf_papers *papers;
    unsigned seen = 0;
    transport_open(&t);
    assert_run(&t, "collection create", "collection", "c");
    store = t.store;
    assert_ok(gf_tweets_open(store, GF_SLICE("a"), &tweets, &err));
    assert_ok(gf_papers_open(store, GF_SLICE("a"), GF_SLICE("0-prod"), &papers, &err));
    for (unsigned n = 1; n < GF_MAX_TABLES; n++) {
        const gf_schema *s = gf_database_schema(gf_store_database(store), n);
        if (!s || strncmp(s->name, "user:", 5) == 0) continue;
        const gf_table_description *d = find(s->name);
        if (!d) fail_msg("table %s has no description", s->name);
        check_parts(d, s);
        gf_user_table *table;
        assert_ok(gf_system_table_open(store, d, s, GF_SLICE("a"), &table, &err));
        assert_true(gf_user_table_is_system(table));
        for (unsigned f = 0; f < s->n_families; f++) {
            bool described = false;
            for (unsigned c = 0; c < d->n_cells; c++)
                described |= strcmp(d->cells[c].family, s->families[f].name) == 0;
            if (!described) fail_msg("%s: family %s", s->name, s->families[f].name);
            for (const char *const *c = s->families[f].columns; c && *c; c++) {
                gf_type type = gf_user_table_cell_type(table, f, gf_slice_str(*c));
                if (type == GF_TYPE_BINARY && strcmp(*c, "vector") != 0)
                    fail_msg("%s: column %s has no type", s->name, *c);
            }
        }
        gf_user_table_close(table);
        seen++;
    }
    assert_true(seen >= 13);
    gf_papers_close(papers);
    gf_tweets_close(tweets);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_described)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

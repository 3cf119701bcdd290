#include "tests/engine/fixture_shared.h"

#include "engine/copy/copy_internal.h"

/* A store in memory, whose database gives way to one over the model. */
gf_store *fixture_share_as(gf_backend *first, unsigned capabilities, gf_backend **backend)
{
    gf_error err;
    gf_store *s;
    assert_ok(gf_store_open("", &GF_STORE_OPTIONS(.in_memory = true), &s, &err));
    gf_database_close(s->db);
    *backend = gf_model_share_as(first, capabilities);
    assert_ok(gf_database_create(*backend, &s->db, &err));
    assert_ok(gf_tables_open(s->db, &s->tables, &err));
    return s;
}

gf_store *fixture_share(gf_backend *first, gf_backend **backend)
{
    const unsigned all = GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT | GF_BACKEND_SHARED;
    return fixture_share_as(first, all, backend);
}

gf_status fixture_copy(gf_store *from, gf_database *to, const gf_copy_options *options,
                       gf_copied *copied, gf_error *err)
{
    gf_copy_work w = {.from = from, .options = options, .copied = copied};
    gf_status st = gf_copy_mark_make(GF_SLICE("where"), &w.mark, err);
    if (st == GF_OK) st = gf_store_copy_into(&w, to, err);
    gf_copy_mark_release(&w.mark);
    return st;
}

void fixture_know_ended(gf_store *s)
{
    s->patience = 0;
    s->look_again = 0;
    gf_database_set_patience(s->db, 0);
}

void fixture_know_stopped(gf_store *s)
{
    s->grace = 0;
}

#include "tests/engine/fixture.h"

#include "engine/config/settings.h"

gf_status fixture_note_setting(void *context, const gf_setting *setting, gf_slice value,
                               gf_origin origin, gf_error *err)
{
    (void)err;
    fixture_setting *l = context;
    l->n++;
    if (strcmp(setting->name, l->key) != 0) return GF_OK;
    snprintf(l->value, sizeof l->value, "%.*s", GF_SLICE_ARG(value));
    l->origin = origin;
    return GF_OK;
}

fixture_setting fixture_look(fixture *f, const char *key)
{
    gf_error err;
    size_t n;
    fixture_setting l = {.key = key};
    gf_settings(&n);
    assert_ok(gf_configuration_read(f->store, fixture_place("c"), fixture_default(),
                                    fixture_note_setting, &l, &err));
    assert_int_equal(l.n, n);
    return l;
}

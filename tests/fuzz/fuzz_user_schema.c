/*
 * A schema of any bytes is refused with a reason, or read; then it reads again as it is written,
 * grows by itself or says why not, and takes a key and a value of any text apart as it put them
 * together. The input is the schema, a line feed, and the text.
 */
#include "engine/user_tables/user_tables_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(bool holds)
{
    if (!holds) abort();
}

/* What is written is one form: it is written the same again. */
static void check_again(const gf_user_schema *s)
{
    gf_arena memory = {0};
    gf_user_schema again;
    gf_error err;
    gf_buffer json = {0}, twice = {0};
    gf_user_table_schema_write(s, &json);
    check(json.state == GF_OK);
    check(gf_user_table_schema_read(gf_buffer_view(&json), false, &memory, &again, &err) == GF_OK);
    gf_user_table_schema_write(&again, &twice);
    check(gf_slice_equal(gf_buffer_view(&json), gf_buffer_view(&twice)));
    gf_buffer_release(&json);
    gf_buffer_release(&twice);
    gf_arena_release(&memory);
}

static void check_key(const gf_user_schema *s, gf_slice text)
{
    gf_error err = {GF_OK, ""};
    for (unsigned i = 0; i < s->schema.n_parts; i++) {
        gf_buffer key = {0}, printed = {0}, again = {0};
        gf_status st = gf_user_table_part_write(&s->parts[i], text, &key, &err);
        check(st == GF_OK || (st == GF_EINVAL && err.message[0]));
        gf_slice rest = gf_buffer_view(&key);
        if (st == GF_OK) {
            check(gf_user_table_part_take(&s->parts[i], &rest, &printed, &err) == GF_OK &&
                  rest.len == 0);
            check(gf_user_table_part_write(&s->parts[i], gf_buffer_view(&printed), &again, &err) ==
                  GF_OK);
            check(gf_slice_equal(gf_buffer_view(&key), gf_buffer_view(&again)));
        }
        gf_buffer_reset(&printed);
        rest = text;
        st = gf_user_table_part_take(&s->parts[i], &rest, &printed, &err);
        check(st == GF_OK || st == GF_ECORRUPT);
        gf_buffer_release(&key);
        gf_buffer_release(&printed);
        gf_buffer_release(&again);
    }
}

static void check_values(gf_slice text)
{
    for (int type = GF_TYPE_TEXT; type <= GF_TYPE_JSON; type++) {
        gf_buffer bytes = {0}, printed = {0}, again = {0};
        gf_error err = {GF_OK, ""};
        gf_status st = gf_user_table_value_write((gf_type)type, text, &bytes, &err);
        check(st == GF_OK || (st == GF_EINVAL && err.message[0]));
        if (st == GF_OK) {
            check(gf_user_table_value_print((gf_type)type, gf_buffer_view(&bytes), &printed));
            check(gf_user_table_value_write((gf_type)type, gf_buffer_view(&printed), &again,
                                            &err) == GF_OK);
            /* A JSON number may have two shortest forms. */
            check(type == GF_TYPE_JSON ||
                  gf_slice_equal(gf_buffer_view(&bytes), gf_buffer_view(&again)));
        }
        gf_buffer_reset(&printed);
        gf_user_table_value_print((gf_type)type, text, &printed);
        gf_buffer_release(&bytes);
        gf_buffer_release(&printed);
        gf_buffer_release(&again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_slice schema = gf_slice_of((const char *)bytes, n), text = {"", 0};
    const char *end = n ? memchr(bytes, '\n', n) : NULL;
    gf_arena memory = {0};
    gf_user_schema s, more;
    gf_error err = {GF_OK, ""};
    if (end) {
        schema.len = (size_t)(end - schema.ptr);
        text = gf_slice_of(end + 1, n - schema.len - 1);
    }
    gf_status st = gf_user_table_schema_read(schema, false, &memory, &s, &err);
    check(st == GF_OK || (st == GF_EINVAL && err.message[0]));
    if (st == GF_OK) {
        check_again(&s);
        check_key(&s, text);
    }
    check_values(text);
    if (gf_user_table_schema_read(schema, true, &memory, &more, &err) == GF_OK) {
        gf_user_schema start = more;
        start.schema.n_families = 0;
        gf_user_table_schema_add(&start, &more, &memory, &err);
    }
    gf_arena_release(&memory);
    return 0;
}

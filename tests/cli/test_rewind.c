/* An input that is read again from its start: the same streams, whatever was read of them before.
 */
#include "cli/rewind.h"
#include "support/test.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

typedef struct source {
    const gf_slice *streams; /* n */
    size_t n, at, read;
    gf_status fails; /* at the end of all */
} source;

static gf_status next(void *context, gf_slice *name, gf_error *err)
{
    static char text[16];
    source *s = context;
    if (s->at == s->n)
        return s->fails ? gf_fail(err, s->fails, "broken") : gf_fail(err, GF_ENOTFOUND, "end");
    snprintf(text, sizeof text, "stream %zu", s->at++);
    *name = gf_slice_str(text);
    s->read = 0;
    return GF_OK;
}

static gf_status read_some(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    source *s = context;
    gf_slice all = s->streams[s->at - 1];
    (void)err;
    *got = all.len - s->read < n ? all.len - s->read : n;
    if (*got) memcpy(to, all.ptr + s->read, *got);
    s->read += *got;
    return GF_OK;
}

static bool in_folder(void *context)
{
    return ((source *)context)->at % 2 == 0;
}

/* Read on, `most` reads at most, in pieces at random; what came is appended. */
static bool read_all(const gf_input *in, gf_random *random, unsigned most, gf_buffer *out)
{
    gf_error err;
    gf_slice name;
    char piece[300];
    while (in->next(in->context, &name, &err) == GF_OK) {
        gf_buffer_format(out, "[%.*s %d]", GF_SLICE_ARG(name), in->in_folder(in->context));
        for (size_t got = 1; got;) {
            if (most-- == 0) return false;
            assert_ok(in->read(in->context, piece, 1 + gf_random_below(random, sizeof piece), &got,
                               &err));
            gf_buffer_append(out, piece, got);
        }
    }
    return true;
}

static void test_again(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (unsigned round = 0; round < 200; round++) {
        char bytes[2000];
        gf_slice streams[4];
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)gf_random_below(&random, 256);
        for (size_t i = 0; i < 4; i++)
            streams[i] = gf_slice_of(bytes + i * 500, gf_random_below(&random, 500));
        streams[gf_random_below(&random, 4)].len = 0;
        source plain = {streams, 4, 0, 0, GF_OK}, kept = plain;
        gf_buffer expected = {0}, got = {0};
        gf_rewind r;
        assert_true(read_all(
            &(gf_input){.context = &plain, .next = next, .read = read_some, .in_folder = in_folder},
            &random, 10000, &expected));
        gf_rewind_init(
            &r,
            (gf_input){.context = &kept, .next = next, .read = read_some, .in_folder = in_folder},
            NULL, NULL);
        gf_input in = gf_rewind_input(&r);
        for (unsigned times = 0; times < 3; times++) { /* parts of it, now and then all */
            gf_buffer_reset(&got);
            read_all(&in, &random, (unsigned)gf_random_below(&random, 30), &got);
            assert_true(gf_slice_starts(gf_buffer_view(&expected), gf_buffer_view(&got)));
            assert_true(gf_rewind_can(&r));
            gf_rewind_start(&r);
        }
        if (round % 2) gf_rewind_end(&r);
        gf_buffer_reset(&got);
        assert_true(read_all(&in, &random, 10000, &got));
        assert_true(gf_slice_equal(gf_buffer_view(&expected), gf_buffer_view(&got)));
        gf_rewind_release(&r);
        gf_buffer_release(&expected);
        gf_buffer_release(&got);
    }
}

static void test_too_much(void **state)
{
    (void)state;
    gf_error err;
    gf_rewind r;
    gf_slice name;
    size_t length = 6 << 20, got, all = 0;
    char *bytes = calloc(1, length), piece[65536];
    gf_slice stream = gf_slice_of(bytes, length);
    source s = {&stream, 1, 0, 0, GF_EIO};
    gf_rewind_init(
        &r, (gf_input){.context = &s, .next = next, .read = read_some, .in_folder = in_folder},
        NULL, NULL);
    gf_input in = gf_rewind_input(&r);
    assert_true(gf_rewind_can(&r));
    assert_ok(in.next(in.context, &name, &err));
    do {
        assert_ok(in.read(in.context, piece, sizeof piece, &got, &err));
        all += got;
    } while (got);
    assert_int_equal(all, length);
    assert_false(gf_rewind_can(&r));
    assert_int_equal(r.kept.capacity, 0);
    assert_status(GF_EIO, in.next(in.context, &name, &err));
    gf_rewind_release(&r);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_again),
                                       cmocka_unit_test(test_too_much)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

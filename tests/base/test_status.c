#include "support/test.h"

#include "base/random.h"
#include "base/utf8.h"

#include <errno.h>
#include <string.h>

static void writes_the_message_and_returns_the_status(void **state)
{
    (void)state;
    gf_error err;
    assert_status(GF_ECORRUPT, gf_fail(&err, GF_ECORRUPT, "row %d of %s", 7, "documents"));
    assert_int_equal(err.status, GF_ECORRUPT);
    assert_string_equal(err.message, "row 7 of documents");
    assert_status(GF_EINVAL, gf_fail(NULL, GF_EINVAL, "nobody %s", "listens"));
    assert_status(GF_ENOMEM, gf_fail_memory(&err, "a row"));
    assert_string_equal(err.message, "out of memory for a row");
    assert_status(GF_ENOMEM, gf_fail_memory(NULL, "a row"));
}

static void takes_the_words_of_errno(void **state)
{
    (void)state;
    gf_error err;
    errno = ENOSPC;
    assert_status(GF_EIO, gf_fail_errno(&err, "cannot write %s", "a.ldb"));
    assert_int_equal(err.status, GF_EIO);
    assert_string_equal(err.message, "cannot write a.ldb: No space left on device");
    errno = ENOMEM;
    assert_status(GF_ENOMEM, gf_fail_errno(&err, "cannot map %s", "a.ldb"));
    assert_int_equal(err.status, GF_ENOMEM);
    errno = EACCES;
    assert_status(GF_EIO, gf_fail_errno(NULL, "cannot read %s", "a.ldb"));
}

static void puts_names_in_front(void **state)
{
    (void)state;
    gf_error err;
    gf_fail(&err, GF_EINVAL, "no text");
    gf_error_prefix(&err, "line %d", 3);
    gf_error_prefix(&err, "%s", "notes.jsonl");
    gf_error_prefix(NULL, "%s", "nowhere");
    assert_int_equal(err.status, GF_EINVAL);
    assert_string_equal(err.message, "notes.jsonl: line 3: no text");
}

static void every_status_has_its_name(void **state)
{
    (void)state;
    for (int a = GF_OK; a <= GF_EUNKNOWN; a++) {
        assert_string_not_equal(gf_status_name((gf_status)a), "unknown");
        for (int b = GF_OK; b < a; b++)
            assert_string_not_equal(gf_status_name((gf_status)a), gf_status_name((gf_status)b));
    }
    assert_string_equal(gf_status_name(GF_ECORRUPT), "corrupt");
    assert_string_equal(gf_status_name((gf_status)(GF_EUNKNOWN + 1)), "unknown");
}

/* Characters of one to four bytes, about `bytes` in all. */
static void random_text(gf_random *r, gf_buffer *out, size_t bytes)
{
    static const char *const characters[] = {"a", "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x90\x9F"};
    gf_buffer_reset(out);
    while (out->len < bytes)
        gf_buffer_str(out, characters[gf_random_below(r, 4)]);
}

/*
 * The message is the whole text where that fits, else nearly as much of it as fits, and cuts no
 * character. The last bytes may be the beginning of what stood behind the cut.
 */
static void check_cut(const gf_error *err, gf_slice whole)
{
    enum { LOST = 8 };
    gf_slice message = gf_slice_str(err->message);
    assert_int_equal(gf_utf8_valid_length(message), message.len);
    if (whole.len < GF_ERROR_MESSAGE) {
        assert_true(gf_slice_equal(message, whole));
        return;
    }
    assert_true(message.len < GF_ERROR_MESSAGE && message.len + LOST >= GF_ERROR_MESSAGE);
    assert_true(gf_slice_starts(whole, gf_slice_of(message.ptr, message.len - LOST)));
}

static void long_messages_are_cut_at_a_character(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer text = {0}, whole = {0};
    gf_error err;
    for (int i = 0; i < 3000; i++) {
        random_text(&r, &text, 480 + gf_random_below(&r, 60));
        gf_fail(&err, GF_EINVAL, "%s", gf_buffer_cstr(&text));
        check_cut(&err, gf_buffer_view(&text));

        gf_buffer_reset(&whole);
        gf_buffer_slice(&whole, gf_buffer_view(&text));
        gf_buffer_str(&whole, ": No such file or directory");
        errno = ENOENT;
        gf_fail_errno(&err, "%s", gf_buffer_cstr(&text));
        check_cut(&err, gf_buffer_view(&whole));

        gf_fail(&err, GF_EINVAL, "%s", gf_buffer_cstr(&text));
        char tail[GF_ERROR_MESSAGE];
        memcpy(tail, err.message, sizeof tail);
        random_text(&r, &text, gf_random_below(&r, 2) ? gf_random_below(&r, 60) : 530);
        gf_error_prefix(&err, "%s", gf_buffer_cstr(&text));
        gf_buffer_reset(&whole);
        gf_buffer_format(&whole, "%s: %s", gf_buffer_cstr(&text), tail);
        check_cut(&err, gf_buffer_view(&whole));
    }
    gf_buffer_release(&text);
    gf_buffer_release(&whole);
}

/* Bytes that are no text at all must not lead the cut out of the message. */
static void survives_messages_that_are_no_text(void **state)
{
    (void)state;
    gf_error err;
    char bytes[2 * GF_ERROR_MESSAGE];
    for (int byte = 1; byte < 256; byte++) {
        memset(bytes, byte, sizeof bytes);
        bytes[sizeof bytes - 1] = '\0';
        gf_fail(&err, GF_EINVAL, "%s", bytes);
        assert_true(strlen(err.message) < GF_ERROR_MESSAGE);
        gf_error_prefix(&err, "%s", bytes);
        assert_true(strlen(err.message) < GF_ERROR_MESSAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_message_and_returns_the_status),
        cmocka_unit_test(takes_the_words_of_errno),
        cmocka_unit_test(puts_names_in_front),
        cmocka_unit_test(every_status_has_its_name),
        cmocka_unit_test(long_messages_are_cut_at_a_character),
        cmocka_unit_test(survives_messages_that_are_no_text),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}

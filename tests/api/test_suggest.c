/* What is not there is answered with the nearest that is. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

static void nearest(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    transport_put(&t, "feedback-firefox", "{\"id\":\"1\",\"text\":\"x\"}");
    assert_run(&t, "config set", "collection", "mid", "config", "coarse", "set", "k=2");
    assert_refused(GF_ENOTFOUND, "did you mean \"mid\"?", &t, "clusters", "collection", "mdi");
    assert_refused(GF_ENOTFOUND, "did you mean \"mid\"?", &t, "collection show", "collection",
                   "Mid");
    assert_refused(GF_ENOTFOUND, "did you mean \"mid\"?", &t, "config list", "collection", "midd");
    assert_refused(GF_ENOTFOUND, "did you mean \"feedback-firefox\"?", &t, "export", "collection",
                   "firefox");
    assert_refused(GF_ENOTFOUND, "did you mean \"coarse\"?", &t, "clusters", "collection", "mid",
                   "config", "course");
    assert_refused(GF_ENOTFOUND, "did you mean \"default\"?", &t, "rebuild", "collection", "mid",
                   "config", "defualt");
    assert_refused(GF_ENOTFOUND, "did you mean \"macbeth\"?", &t, "cluster", "collection", "mid",
                   "cluster", "label:Macbteh");
    assert_refused(GF_ENOTFOUND, "did you mean \"caesar\"?", &t, "cluster", "collection", "mid",
                   "cluster", "label:aesa");
    assert_refused(GF_ENOTFOUND, "did you mean \"play\"?", &t, "evaluate", "collection", "mid",
                   "label-field", "plays");
    transport_close(&t);
}

static void assert_no_suggestion(transport *t, const char *operation, const char *name,
                                 const char *value, const char *words)
{
    gf_error err = {GF_OK, ""};
    gf_argument a[] = {{GF_SLICE("collection"), GF_SLICE("mid")},
                       {gf_slice_str(name), gf_slice_str(value)}};
    bool first = strcmp(name, "collection") == 0;
    assert_status(GF_ENOTFOUND, transport_run_with(t, operation, a + first, 2 - first, &err));
    if (strstr(err.message, "did you mean") || !strstr(err.message, words))
        fail_msg("%s", err.message);
    assert_int_equal(err.status, GF_ENOTFOUND);
    assert_status(GF_ENOTFOUND, transport_run_with(t, operation, a + first, 2 - first, NULL));
}

/* Nothing near, or what is missing is not what was named. */
static void nothing_near(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    assert_no_suggestion(&t, "clusters", "collection", "mid", "");
    library_mid(&t, true);
    assert_run(&t, "config set", "collection", "mid", "config", "coarse", "set", "k=2");
    assert_no_suggestion(&t, "clusters", "collection", "something else", "something else");
    transport_put(&t, "feedback-firefox", "{\"id\":\"1\",\"text\":\"x\"}");
    assert_no_suggestion(&t, "clusters", "collection", "ox-ox", "ox-ox");
    assert_no_suggestion(&t, "clusters", "config", "coarse", "coarse"); /* not rebuilt yet */
    assert_no_suggestion(&t, "clusters", "config", "unheard of", "unheard of");
    assert_no_suggestion(&t, "clusters", "build", "12345", "12345");
    assert_no_suggestion(&t, "doc", "id", "doc11", "doc11");
    assert_no_suggestion(&t, "cluster", "cluster", "99", "99");
    assert_no_suggestion(&t, "cluster", "cluster", "label:avenue-q", "avenue-q");
    assert_no_suggestion(&t, "evaluate", "label-field", "nothing like it", "nothing like it");
    transport_close(&t);
}

/* Only so many documents are looked at for a field. */
static void many_documents(void **state)
{
    (void)state;
    enum { MANY = 1100 };
    transport t;
    gf_buffer lines = {0};
    transport_open(&t);
    for (int i = 0; i < MANY; i++)
        gf_buffer_format(&lines, "{\"id\":\"%04d\",\"text\":\"x\",\"%s\":1}\n", i,
                         i < MANY - 1 ? "colour" : "flavour");
    transport_put(&t, "mid", gf_buffer_cstr(&lines));
    assert_run(&t, "rebuild", "collection", "mid");
    assert_refused(GF_ENOTFOUND, "did you mean \"colour\"?", &t, "evaluate", "collection", "mid",
                   "label-field", "color");
    assert_no_suggestion(&t, "evaluate", "label-field", "flavor", "flavor");
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* A long name fills the message; the suggestion may be cut, nothing else happens. */
static void long_names(void **state)
{
    (void)state;
    transport t;
    char name[600];
    transport_open(&t);
    library_mid(&t, true);
    for (size_t n = 500; n < sizeof name; n += 13) {
        memset(name, 'm', n);
        name[n] = '\0';
        gf_error err = {GF_OK, ""};
        gf_status st =
            transport_run(&t, &err, "clusters", "collection", name, "config", name, NULL);
        assert_true(st == GF_ENOTFOUND || st == GF_EINVAL);
        assert_true(strlen(err.message) < sizeof err.message);
    }
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nearest), cmocka_unit_test(nothing_near),
                                       cmocka_unit_test(many_documents),
                                       cmocka_unit_test(long_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

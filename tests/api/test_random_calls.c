/*
 * Every operation with random arguments, good, bad and absent, and random inputs: whatever comes,
 * it ends with a status that it may end with and a message, rows are whole and as their schema has them, and the store stays
 * sound.
 */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include "base/random.h"

#include <unistd.h>

enum { CALLS = 1500, FRESH_EVERY = 50, MOST = 64 };

static const char *const values[] = {"mid",
                                     "default",
                                     "1",
                                     "0",
                                     "2",
                                     "doc1",
                                     "doc3",
                                     "true",
                                     "false",
                                     "play",
                                     "k=2",
                                     "label:macbeth",
                                     "k=",
                                     "fine",
                                     "all",
                                     "jsonl",
                                     "csv",
                                     "size",
                                     "label",
                                     "id",
                                     "{play}",
                                     "16M",
                                     "1K",
                                     "new",
                                     "text",
                                     "a,b",
                                     "2026-11-20",
                                     "",
                                     "\xFF",
                                     ",",
                                     "{",
                                     "{{x}}",
                                     "seed=7",
                                     "tf=raw",
                                     "a/b",
                                     "k=nine",
                                     "999999999999999999",
                                     "label:",
                                     "=",
                                     "\n",
                                     "input-tsv",
                                     "modified",
                                     "name",
                                     "json",
                                     "tsv",
                                     "m*",
                                     "[!x]id",
                                     "[",
                                     "play=caesar",
                                     "play!=x,lang=en",
                                     "filter=play=macbeth",
                                     "since=30d",
                                     "30d"};

static const char *const inputs[] = {"",
                                     "doc1\ndoc2\tx\n",
                                     "{\"id\":\"n1\",\"text\":\"some text\",\"play\":\"new\"}\n",
                                     "{\"id\":",
                                     "id,text\n1,x\n",
                                     "[{\"id\":1,\"text\":\"x\"}]",
                                     "\xFF\xFE\n",
                                     "doc4\tmacbeth\ndoc6,caesar\n",
                                     "1\t2\tissue\tfirefox\t4\t\t\t\t\t\ttext\n",
                                     "{\"id\":{},\"text\":[]}\n",
                                     "\n\n"};

static const char *any(gf_random *r, const char *const *from, size_t n)
{
    return from[gf_random_below(r, n)];
}

#define ANY(r, list) any((r), (list), sizeof(list) / sizeof((list)[0]))

/* What a choice may be, or any value. */
static gf_slice value_for(gf_random *r, const gf_parameter *p)
{
    if (strcmp(p->name, "collection") == 0 && gf_random_below(r, 4)) return GF_SLICE("mid");
    if (strcmp(p->name, "config") == 0 && gf_random_below(r, 2)) return GF_SLICE("default");
    return gf_slice_str(ANY(r, values));
}

static size_t any_arguments(gf_random *r, const gf_operation *o, gf_argument *arguments)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_parameters; i++) {
        const gf_parameter *p = &o->parameters[i];
        uint64_t times = gf_random_below(r, 8) == 0 ? 2 : gf_random_below(r, 3) == 0;
        if (p->required && gf_random_below(r, 20)) times = 1;
        for (; times; times--)
            arguments[n++] = (gf_argument){gf_slice_str(p->name), value_for(r, p)};
    }
    if (gf_random_below(r, 40) == 0)
        arguments[n++] = (gf_argument){gf_slice_str(ANY(r, values)), GF_SLICE("x")};
    return n;
}

static void assert_may(const gf_operation *o, gf_status st, const gf_error *err)
{
    switch (st) {
    case GF_OK:
        return;
    case GF_ENOTFOUND:
    case GF_EINVAL:
    case GF_EEXISTS:
    case GF_ELIMIT:
        break;
    case GF_EBUSY: /* the store is open */
        if (strcmp(o->name, "verify") == 0 || strcmp(o->name, "repair") == 0) break;
        /* fall through */
    default:
        fail_msg("%s: %s: %s", o->name, gf_status_name(st), err->message);
    }
    if (err->status != st || !err->message[0]) fail_msg("%s: no message", o->name);
}

static void random_calls(void **state)
{
    (void)state;
    transport t;
    size_t n_operations = 0, good = 0;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    transport_open(&t);
    assert_int_equal(chdir(gf_test_folder()), 0); /* where copies go */
    while (gf_operation_at(n_operations))
        n_operations++;
    for (int i = 0; i < CALLS; i++) {
        gf_argument arguments[MOST];
        gf_error err = {GF_OK, ""};
        if (i % FRESH_EVERY == 0) library_mid(&t, true);
        size_t number = (size_t)gf_random_below(&random, n_operations);
        const gf_operation *o = gf_operation_at(number);
        size_t n = any_arguments(&random, o, arguments);
        for (uint64_t k = gf_random_below(&random, 3); k; k--)
            transport_input(&t, "a.jsonl", gf_slice_str(ANY(&random, inputs)));
        gf_status st = transport_run_with(&t, o->name, arguments, n, &err);
        assert_may(o, st, &err);
        good += st == GF_OK;
    }
    assert_true(good > CALLS / 10);
    transport_close_store(&t);
    assert_run(&t, "verify");
    assert_int_equal(transport_number(&t, 0, "faults"), 0);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

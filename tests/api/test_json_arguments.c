/* Arguments of a query and of a JSON object (api/arguments.h). */
#include "api/arguments.h"
#include "support/test.h"

#include "base/random.h"

enum { MOST = 12 };

static const gf_parameter parameters[] = {
    {"name", GF_PARAMETER_TEXT, true, "NAME", "", 0, 0},
    {"n", GF_PARAMETER_NUMBER, false, "N", "", 0, 0},
    {"size", GF_PARAMETER_BYTES, false, "SIZE", "", 0, 0},
    {"build", GF_PARAMETER_MOMENT, false, "TIME", "", 1, 0},
    {"least", GF_PARAMETER_SHARE, false, "S", "", 0, 0},
    {"sort", GF_PARAMETER_CHOICE, false, "size|label", "", 0, 0},
    {"dry-run", GF_PARAMETER_FLAG, false, NULL, "", 0, 0},
    {"fields", GF_PARAMETER_LIST, false, "FIELD,...", "", 0, 0},
    {"cell", GF_PARAMETER_SEVERAL, false, "F:C=V", "", 0, 0},
    {"start", GF_PARAMETER_CHOICE, false, "served|fresh", "", 0, 0},
    {"set", GF_PARAMETER_SETTINGS, false, "KEY=VALUE", "", 0, 0}};
static const gf_operation with_settings = {.name = "try",
                                           .parameters = parameters,
                                           .n_parameters = sizeof parameters / sizeof *parameters};
static const gf_operation without = {.name = "try",
                                     .parameters = parameters,
                                     .n_parameters = sizeof parameters / sizeof *parameters - 1};

typedef struct taking {
    gf_arguments arguments;
    gf_arena memory;
} taking;

static void begin(taking *t, const gf_operation *o)
{
    *t = (taking){0};
    t->arguments = (gf_arguments){.operation = o, .most = MOST, .memory = &t->memory};
}

/* "n=20 set=k=3": what was taken, in order. */
static void assert_taken(taking *t, const char *expected)
{
    gf_buffer b = {0};
    for (size_t i = 0; i < t->arguments.n; i++)
        gf_buffer_format(&b, "%s%.*s=%.*s", i ? " " : "", GF_SLICE_ARG(t->arguments.at[i].name),
                         GF_SLICE_ARG(t->arguments.at[i].value));
    assert_string_equal(gf_buffer_cstr(&b), expected);
    gf_buffer_release(&b);
    gf_arena_release(&t->memory);
}

static void takes(const char *json, const char *expected)
{
    taking t;
    gf_error err = {GF_OK, ""};
    begin(&t, &with_settings);
    if (gf_arguments_take_json(&t.arguments, gf_slice_str(json), &err) != GF_OK)
        fail_msg("%s: %s", json, err.message);
    assert_taken(&t, expected);
}

static void refuses_of(const gf_operation *o, const char *json, const char *words)
{
    taking t;
    gf_error err = {GF_OK, ""};
    begin(&t, o);
    gf_status st = gf_arguments_take_json(&t.arguments, gf_slice_str(json), &err);
    if (st != GF_EINVAL || !strstr(err.message, words))
        fail_msg("%s: %s \"%s\", not \"%s\"", json, gf_status_name(st), err.message, words);
    gf_arena_release(&t.memory);
}

static void refuses(const char *json, const char *words)
{
    refuses_of(&with_settings, json, words);
}

static void values(void **state)
{
    (void)state;
    takes("{}", "");
    takes(" {\"name\": \"a\\u00e9 \\\"b\\\"\"}\n", "name=a\xc3\xa9 \"b\"");
    takes("{\"name\":17}", "name=17");
    takes("{\"n\":20,\"size\":4096,\"build\":1795182177597}", "n=20 size=4096 build=1795182177597");
    takes("{\"size\":\"16M\",\"build\":\"2026-11-20T13:42:57Z\"}",
          "size=16M build=2026-11-20T13:42:57Z");
    takes("{\"least\":0.25}", "least=0.250000000000000");
    takes("{\"least\":1e-9}", "least=0.000000001000000");
    takes("{\"least\":1}", "least=1.000000000000000");
    takes("{\"sort\":\"size\",\"dry-run\":true}", "sort=size dry-run=true");
    takes("{\"dry-run\":false}", "dry-run=false");
    takes("{\"n\":null,\"dry-run\":null,\"set\":null,\"fields\":null}", "");
    takes("{\"fields\":[\"a\",7,\"b\"]}", "fields=a fields=7 fields=b");
    takes("{\"fields\":\"a,b\"}", "fields=a,b");
    takes("{\"fields\":[]}", "");
    takes("{\"cell\":{\"f:a\":1,\"f:b\":\"x=y\",\"f:c\":true,\"f:d\":{\"e\":[1]}}}",
          "cell=f:a=1 cell=f:b=x=y cell=f:c=true cell=f:d={\"e\":[1]}");
    takes("{\"cell\":[\"f:a=1\",\"f:b=2\"]}", "cell=f:a=1 cell=f:b=2");
}

static void settings(void **state)
{
    (void)state;
    takes("{\"k\":20,\"ngrams\":\"1-2\"}", "set=k=20 set=ngrams=1-2");
    takes("{\"set\":{\"k\":20,\"ngrams\":\"1-2\"}}", "set=k=20 set=ngrams=1-2");
    takes("{\"set\":[\"k=20\",\"stem=off\"]}", "set=k=20 set=stem=off");
    takes("{\"set\":\"k=20\"}", "set=k=20");
    takes("{\"k\":20,\"set\":{\"seed\":3}}", "set=k=20 set=seed=3");
    takes("{\"stem\":false,\"polish\":true}", "set=stem=off set=polish=on");
    takes("{\"k\":null,\"set\":{\"seed\":null}}", "set=k= set=seed=");
    takes("{\"tolerance\":0.01,\"seed\":18446744073709551615}",
          "set=tolerance=0.01 set=seed=18446744073709551615");
    takes("{\"more_stop_words\":[\"a\",\"b\"],\"filter\":[\"stars>=4\",\"lang=en\"]}",
          "set=more_stop_words=a b set=filter=stars>=4,lang=en");
    takes("{\"filter\":[]}", "set=filter=");
    /* A parameter goes before a setting of that name. */
    takes("{\"start\":\"fresh\"}", "start=fresh");
    takes("{\"set\":{\"start\":\"fresh\"}}", "set=start=fresh");
}

static void refused(void **state)
{
    (void)state;
    refuses("{\"k\":[1]}", "k: it is an array, and must be one value");
    refuses("{\"k\":{\"a\":1}}", "k: it is an object, and must be one value");
    refuses("{\"set\":{\"k\":{}}}", "k: it is an object");
    refuses("{\"more_stop_words\":[\"a b\"]}", "has a \" \"");
    refuses("{\"filter\":[\"a=1,b=2\"]}", "has a \",\"");
    refuses("{\"filter\":[[\"a\"]]}", "filter: it is an array");
    refuses("{\"fields\":[\"name, given\"]}", "has a comma");
    refuses("{\"n\":\"20\"}", "n: it is text, and must be a whole number");
    refuses("{\"n\":2.5}", "n: it is a number with a fraction");
    refuses("{\"n\":true}", "n: it is true or false");
    refuses("{\"dry-run\":\"true\"}", "dry-run: it is text, and must be true or false");
    refuses("{\"dry-run\":1}", "dry-run: it is a number");
    refuses("{\"least\":\"0.5\"}", "least: it is text, and must be a number");
    refuses("{\"least\":1.5}", "least: it must be from 0 to 1");
    refuses("{\"least\":-0.1}", "least: it must be from 0 to 1");
    refuses("{\"sort\":1}", "must be size|label");
    refuses("{\"name\":true}", "name: it is true or false, and must be text");
    refuses("{\"name\":[\"a\"]}", "name: it is an array");
    refuses("{\"fields\":{\"a\":1}}", "fields: it is an object, and must be an array of text");
    refuses("{\"fields\":[null]}", "fields: it is null");
    refuses("{\"cell\":{\"f:a\":null}}", "cell: \"f:a\" is null");
    refuses("{\"cell\":[{}]}", "cell: it is an object");
    refuses("{\"size\":1.5}", "size: it is a number with a fraction");
}

static void names(void **state)
{
    (void)state;
    refuses("{\"nam\":1}", "try has no argument \"nam\"; did you mean \"name\"?");
    refuses("{\"ngram\":1}", "did you mean \"ngrams\"?");
    refuses("{\"dry_run\":true}", "did you mean \"dry-run\"?");
    refuses("{\"set\":{\"n\":1},\"xyzzyx\":1}", "no argument \"xyzzyx\"");
    refuses("{\"\":1}", "no argument \"\"");
    refuses("{\"namespace\":\"a\"}", "namespace is a part of the address");
    refuses_of(&without, "{\"k\":1}", "no argument \"k\"");
    refuses("{\"n\":1,\"n\":2}", "n is given twice");
    refuses("{\"n\":null,\"n\":2}", "n is given twice");
    refuses("{\"k\":1,\"k\":2}", "k is given twice");
    refuses("{\"k\":1,\"set\":{\"k\":2}}", "k is given twice");
    refuses("{\"set\":{\"k\":1},\"set\":{\"seed\":2}}", "set is given twice");
}

/* What is no object, too deep, too many. */
static void hostile(void **state)
{
    (void)state;
    gf_buffer b = {0};
    refuses("", "no JSON");
    refuses("{", "no JSON");
    refuses("{\"n\":1}x", "no JSON");
    refuses("{\"name\":\"\xff\"}", "no JSON");
    refuses("{\"name\":\"\\ud800\"}", "no JSON");
    refuses("{\"n\":1e999}", "no JSON");
    refuses("[1]", "the body is an array, and must be an object");
    refuses("null", "the body is null");
    refuses("\"k=3\"", "the body is text");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&b, "{\"n\":");
    refuses(gf_buffer_cstr(&b), "no JSON");
    gf_buffer_reset(&b);
    gf_buffer_str(&b, "{\"n\":");
    for (int i = 0; i < 500; i++)
        gf_buffer_byte(&b, '[');
    for (int i = 0; i < 500; i++)
        gf_buffer_byte(&b, ']');
    gf_buffer_byte(&b, '}');
    refuses(gf_buffer_cstr(&b), "n: it is an array");
    gf_buffer_reset(&b);
    gf_buffer_str(&b, "{\"fields\":[1");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&b, ",1");
    gf_buffer_str(&b, "]}");
    refuses(gf_buffer_cstr(&b), "more than 12 parameters");
    gf_buffer_release(&b);
}

/* Of a query, and of a body beside it. */
static void query(void **state)
{
    (void)state;
    taking t;
    gf_error err;
    begin(&t, &with_settings);
    assert_ok(gf_arguments_take(&t.arguments, GF_SLICE("n"), GF_SLICE("3"), &err));
    assert_ok(gf_arguments_take(&t.arguments, GF_SLICE("k"), GF_SLICE("20"), &err));
    assert_ok(gf_arguments_take(&t.arguments, GF_SLICE("start"), GF_SLICE("fresh"), &err));
    assert_int_equal(gf_arguments_refuse_name(&with_settings, GF_SLICE("kk"), &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "did you mean \"k\"?"));
    assert_int_equal(gf_arguments_take_json(&t.arguments, GF_SLICE("{\"n\":3}"), &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "n is in the address already"));
    assert_int_equal(gf_arguments_take_json(&t.arguments, GF_SLICE("{\"seed\":3}"), &err),
                     GF_EINVAL);
    assert_non_null(strstr(err.message, "a setting is in the address already"));
    assert_ok(gf_arguments_take_json(&t.arguments, GF_SLICE("{\"dry-run\":true}"), &err));
    assert_taken(&t, "n=3 set=k=20 start=fresh dry-run=true");
    begin(&t, &without); /* what is no parameter is for gf_operation_check to refuse */
    assert_ok(gf_arguments_take(&t.arguments, GF_SLICE("k"), GF_SLICE("20"), &err));
    assert_taken(&t, "k=20");
}

static gf_status take_all(void *context, gf_error *err)
{
    taking t;
    (void)context;
    begin(&t, &with_settings);
    gf_status st = gf_arguments_take_json(
        &t.arguments,
        GF_SLICE(
            "{\"name\":\"a\",\"n\":1,\"fields\":[\"a\",1],\"k\":20,\"filter\":[\"a=1\",\"b=2\"],"
            "\"cell\":{\"f:a\":1}}"),
        err);
    gf_arena_release(&t.memory);
    return st;
}

static void sweep(void **state)
{
    (void)state;
    gf_test_sweep(take_all, NULL, NULL);
}

/* Random bytes, and a good body with random bytes changed: taken or refused, and nothing else. */
static void random_bodies(void **state)
{
    (void)state;
    static const char good[] = "{\"name\":\"a\",\"n\":1,\"set\":{\"k\":20,\"stem\":false},\"cell\":"
                               "{\"f:a\":1},\"fields\":[\"a\",1],\"least\":0.5,\"dry-run\":true}";
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 3000; round++) {
        char body[sizeof good];
        taking t;
        gf_error err = {GF_OK, ""};
        memcpy(body, good, sizeof good);
        uint64_t changes = 1 + gf_random_below(&random, 4);
        for (uint64_t i = 0; i < changes; i++)
            body[gf_random_below(&random, sizeof good - 1)] =
                (char)(round % 2 ? good[gf_random_below(&random, sizeof good - 1)]
                                 : (char)gf_random_below(&random, 256));
        begin(&t, &with_settings);
        gf_status st =
            gf_arguments_take_json(&t.arguments, gf_slice_of(body, sizeof good - 1), &err);
        if (st != GF_OK && (st != GF_EINVAL || !err.message[0]))
            fail_msg("round %d: %s", round, gf_status_name(st));
        assert_true(t.arguments.n <= MOST);
        gf_arena_release(&t.memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values),  cmocka_unit_test(settings),
                                       cmocka_unit_test(refused), cmocka_unit_test(names),
                                       cmocka_unit_test(hostile), cmocka_unit_test(query),
                                       cmocka_unit_test(sweep),   cmocka_unit_test(random_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

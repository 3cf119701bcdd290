/* Clusters by a field of their documents. */
#include "tests/engine/fixture.h"

#include "grouperfish/by_field.h"

#include <inttypes.h>
#include <math.h>

static const char *const SUBJECTS[] = {"apple pear plum", "wheel brake engine", "river lake sea",
                                       "..."};

typedef struct asked {
    fixture *f;
    gf_by_field_options options;
    gf_buffer *out;
} asked;

static void put_with(fixture *f, unsigned subject, const char *time, const char *product,
                     const char *stars)
{
    static unsigned number;
    gf_error err;
    char id[16];
    gf_field fields[2];
    size_t n = 0;
    snprintf(id, sizeof id, "%06u", number++);
    if (product) fields[n++] = (gf_field){GF_SLICE("product"), gf_slice_str(product)};
    if (stars) fields[n++] = (gf_field){GF_SLICE("stars"), gf_slice_str(stars)};
    gf_document d = {.id = gf_slice_str(id),
                     .text = gf_slice_str(SUBJECTS[subject]),
                     .time = time ? gf_slice_str(time) : (gf_slice){0},
                     .fields = fields,
                     .n_fields = n};
    assert_ok(fixture_try_put(f->store, "c", &d, &err));
}

static void rebuild(fixture *f)
{
    fixture_set(f, "c", "default", "k", "3");
    fixture_set(f, "c", "default", "min_df", "1");
    fixture_set(f, "c", "default", "max_df", "1.0");
    fixture_rebuild(f, "c");
}

static void write_row(gf_buffer *b, const gf_by_field *t, const gf_field_row *r)
{
    gf_buffer_format(b, "%.*s: %" PRIu64 " missing %" PRIu64, GF_SLICE_ARG(r->label), r->size,
                     r->missing);
    if (t->numbers) {
        const gf_field_numbers *n = &r->numbers;
        gf_buffer_format(b, "; %" PRIu64 " mean %.4f, %g %g %g %g %g; above %.4f z %+.4f %d\n",
                         n->n, n->mean, n->least, n->lower, n->median, n->upper, n->most, n->above,
                         n->z, (int)n->difference);
        return;
    }
    for (size_t v = 0; v < t->n_values; v++)
        gf_buffer_format(b, "; %" PRIu64 " %+.4f %d", r->cells[v].documents, r->cells[v].z,
                         (int)r->cells[v].difference);
    gf_buffer_format(b, "; other %" PRIu64 "\n", r->other);
}

static gf_status write_table(void *context, const gf_by_field *t, gf_error *err)
{
    gf_buffer *b = context;
    if (t->in_period) {
        gf_calendar_write(t->kind, t->period, b);
        gf_buffer_format(b, " before %" PRIu64 " undated %" PRIu64 " ", t->before, t->undated);
    }
    for (size_t v = 0; v < t->n_values; v++)
        gf_buffer_format(b, "%.*s ", GF_SLICE_ARG(t->values[v]));
    gf_buffer_format(b, "of %" PRIu64 ", clear %.4f\n", t->distinct, t->clear);
    for (size_t i = 0; i < t->n_rows; i++)
        write_row(b, t, &t->rows[i]);
    return gf_buffer_check(b, err);
}

static gf_status ask(void *context, gf_error *err)
{
    asked *a = context;
    gf_view *view;
    gf_buffer_reset(a->out);
    gf_status st = gf_view_open(a->f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_by_field(view, &a->options, write_table, a->out, err);
    gf_view_close(view);
    return st;
}

static void table_is(fixture *f, gf_by_field_options options, const char *expected)
{
    gf_buffer text = {0};
    gf_error err;
    asked a = {f, options, &text};
    assert_ok(ask(&a, &err));
    assert_string_equal(gf_buffer_cstr(&text), expected);
    gf_buffer_release(&text);
}

static void put_example(fixture *f)
{
    for (int i = 0; i < 6; i++)
        put_with(f, 0, "\"2026-10-05\"", "\"A\"", i < 2 ? "5" : i == 2 ? "4" : NULL);
    put_with(f, 0, "\"2026-11-05\"", "\"B\"", NULL);
    put_with(f, 0, NULL, "\"B\"", NULL);
    put_with(f, 1, "\"2026-11-05\"", "\"A\"", "1");
    for (int i = 0; i < 6; i++)
        put_with(f, 1, "\"2026-11-05\"", "\"B\"", i == 0 ? "2" : i == 1 ? "\"2.0\"" : NULL);
    put_with(f, 1, "\"2026-11-05\"", NULL, "null");
    put_with(f, 2, "\"2026-11-05\"", "[\"A\",\"\\u0043\",\"A\"]", "3");
    put_with(f, 2, "\"2026-09-05\"", "[\"A\",\"C\",\"D\"]", "[]");
    put_with(f, 3, "\"2026-11-05\"", "true", "{\"n\":1}");
}

/*
 * Of the first cluster's 8 documents with a product 6 have A; elsewhere, of 6 + 1 + ... 10, 3 do:
 * ln(6.5 / 2.5) - ln(3.5 / 7.5) = 1.7177, its standard error sqrt(1/6.5 + 1/2.5 + 1/3.5 + 1/7.5) =
 * 0.9863: z is 1.7414. There are 4 rows (three clusters, and the document without terms) of 2
 * columns, so |z| is clear from the value that is passed with a chance of 0.05 / 8: 2.7344.
 */
static void values_by_hand(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    put_example(&f);
    rebuild(&f);
    table_is(&f, GF_BY_FIELD_OPTIONS(.field = GF_SLICE("product"), .most_values = 2),
             "A B of 5, clear 2.7344\n"
             ": 19 missing 1; 9 +0.0000 0; 8 +0.0000 0; other 3\n"
             "apple pear plum: 8 missing 0; 6 +1.7414 0; 2 -1.3722 0; other 0\n"
             "wheel brake engine: 8 missing 1; 1 -2.1275 0; 6 +2.4329 0; other 0\n"
             "river lake sea: 2 missing 0; 2 +1.1363 0; 0 -0.9914 0; other 2\n"
             "without terms: 1 missing 0; 0 -0.7117 0; 0 -0.5809 0; other 1\n");
    table_is(&f,
             GF_BY_FIELD_OPTIONS(.field = GF_SLICE("product"), .most_values = 1, .by_time = true,
                                 .kind = GF_PERIOD_MONTH, .most_periods = 2,
                                 .where = (gf_slice[]){GF_SLICE("product!=true")}, .n_where = 1),
             "2026-10 before 1 undated 1 A of 4, clear 2.7344\n"
             ": 6 missing 0; 6 +0.0000 0; other 0\n"
             "apple pear plum: 6 missing 0; 6 +0.0000 0; other 0\n"
             "wheel brake engine: 0 missing 0; 0 +0.0000 0; other 0\n"
             "river lake sea: 0 missing 0; 0 +0.0000 0; other 0\n"
             "2026-11 before 1 undated 1 A of 4, clear 2.7344\n"
             ": 10 missing 1; 2 +0.0000 0; other 8\n"
             "apple pear plum: 1 missing 0; 0 -0.0797 0; other 1\n"
             "wheel brake engine: 8 missing 1; 1 -0.9991 0; other 6\n"
             "river lake sea: 1 missing 0; 1 +1.4545 0; other 1\n");
    fixture_close(&f);
}

/*
 * Stars: 5 5 4 of the first cluster, 1 2 2.0 of the second, 3 of the third. All 12 pairs of the
 * first and the rest have the greater number in the first; the mean of such sums is 6, and with two
 * pairs of equal numbers the variance is 3 * 4 / 12 * (8 - 12 / (7 * 6)) = 7.7143: z is 6 / 2.7775.
 */
static void numbers_by_hand(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    put_example(&f);
    rebuild(&f);
    table_is(
        &f, GF_BY_FIELD_OPTIONS(.field = GF_SLICE("stars")),
        "of 6, clear 2.4977\n"
        ": 19 missing 12; 7 mean 3.1429, 1 2 3 4.5 5; above 0.5000 z +0.0000 0\n"
        "apple pear plum: 8 missing 5; 3 mean 4.6667, 4 4.5 5 5 5; above 1.0000 z +2.1602 0\n"
        "wheel brake engine: 8 missing 5; 3 mean 1.6667, 1 1.5 2 2 2; above 0.0000 z -2.1602 0\n"
        "river lake sea: 2 missing 1; 1 mean 3.0000, 3 3 3 3 3; above 0.5000 z +0.0000 0\n"
        "without terms: 1 missing 1; 0 mean nan, nan nan nan nan nan; above 0.5000 z +0.0000 "
        "0\n");
    fixture_close(&f);
}

static void differences_are_told(void **state)
{
    (void)state;
    fixture f;
    gf_buffer text = {0};
    gf_error err;
    fixture_open(&f);
    for (unsigned i = 0; i < 90; i++)
        put_with(&f, i % 3, NULL, i % 3 == 0 ? "\"X\"" : "\"Y\"", i % 3 == 1 ? "9.5" : "1e1");
    rebuild(&f);
    asked a = {&f, GF_BY_FIELD_OPTIONS(.field = GF_SLICE("product")), &text};
    assert_ok(ask(&a, &err));
    assert_non_null(strstr(gf_buffer_cstr(&text),
                           "apple pear plum: 30 missing 0; 0 -4.4261 2; 30 +4.4261 1; "));
    a.options.field = GF_SLICE("stars");
    assert_ok(ask(&a, &err));
    assert_non_null(strstr(gf_buffer_cstr(&text), "above 0.0000 z -9.4340 2\n"));
    gf_buffer_release(&text);
    fixture_close(&f);
}

/* Two passes over as many values: a look at all those before each would take minutes. */
static void values_of_a_long_list_count_once(void **state)
{
    (void)state;
    enum { VALUES = 200000 };
    fixture f;
    gf_buffer list = {0};
    fixture_open(&f);
    put_example(&f);
    for (uint32_t i = 0; i < 2 * VALUES; i++)
        gf_buffer_format(&list, "%c%" PRIu32, i ? ',' : '[', i % VALUES);
    gf_buffer_byte(&list, ']');
    put_with(&f, 0, NULL, gf_buffer_cstr(&list), NULL);
    rebuild(&f);
    table_is(&f, GF_BY_FIELD_OPTIONS(.field = GF_SLICE("product"), .most_values = 1),
             "A of 200005, clear 2.4977\n"
             ": 20 missing 1; 9 +0.0000 0; other 12\n"
             "apple pear plum: 9 missing 0; 6 +1.4906 0; other 3\n"
             "wheel brake engine: 8 missing 1; 1 -1.9516 0; other 6\n"
             "river lake sea: 2 missing 0; 2 +1.2002 0; other 2\n"
             "without terms: 1 missing 0; 0 -0.6477 0; other 1\n");
    gf_buffer_release(&list);
    fixture_close(&f);
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    fixture f;
    gf_buffer text = {0};
    gf_error err;
    fixture_open(&f);
    put_example(&f);
    rebuild(&f);
    asked a = {&f, GF_BY_FIELD_OPTIONS(.field = GF_SLICE("colour")), &text};
    assert_int_equal(ask(&a, &err), GF_ENOTFOUND);
    assert_non_null(strstr(err.message, "no document of the build has the field \"colour\""));
    static const char *const no[] = {"", "id", "text", "time"};
    for (size_t i = 0; i < 4; i++) {
        a.options.field = gf_slice_str(no[i]);
        assert_int_equal(ask(&a, &err), GF_EINVAL);
    }
    a.options = GF_BY_FIELD_OPTIONS(.field = GF_SLICE("product"), .most_values = 1001);
    assert_int_equal(ask(&a, &err), GF_EINVAL);
    a.options = GF_BY_FIELD_OPTIONS(.field = GF_SLICE("product"),
                                    .where = (gf_slice[]){GF_SLICE("lang")}, .n_where = 1);
    assert_int_equal(ask(&a, &err), GF_EINVAL);
    a.options.version = 99;
    assert_int_equal(ask(&a, &err), GF_EINVAL);
    gf_buffer_release(&text);
    fixture_close(&f);
}

static void allocation_failures_are_told(void **state)
{
    (void)state;
    fixture f;
    gf_buffer text = {0};
    fixture_open(&f);
    put_example(&f);
    rebuild(&f);
    asked a = {&f,
               GF_BY_FIELD_OPTIONS(.field = GF_SLICE("product"), .by_time = true,
                                   .kind = GF_PERIOD_AUTO, .most_periods = 12),
               &text};
    gf_test_sweep(ask, NULL, &a);
    a.options = GF_BY_FIELD_OPTIONS(.field = GF_SLICE("stars"));
    gf_test_sweep(ask, NULL, &a);
    gf_buffer_release(&text);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_by_hand),
        cmocka_unit_test(numbers_by_hand),
        cmocka_unit_test(differences_are_told),
        cmocka_unit_test(values_of_a_long_list_count_once),
        cmocka_unit_test(bad_questions_are_refused),
        cmocka_unit_test(allocation_failures_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Progress of a command, as standard error shows it. */
#include "cli/terminal/meter.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A meter that has run for so many seconds tells once, into a file in the place of standard error.
 */
static void assert_told(const char *expected, gf_meter_kind kind, double seconds, uint64_t done,
                        uint64_t total)
{
    char line[200] = "";
    gf_meter p;
    FILE *told = tmpfile();
    int kept = dup(STDERR_FILENO);
    assert_true(told && kept >= 0 && dup2(fileno(told), STDERR_FILENO) >= 0);
    gf_meter_init(&p);
    p.kind = kind;
    p.started -= seconds;
    gf_meter_tell(&p, GF_SLICE("posts"), "clustering", done, total);
    gf_meter_release(&p);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(told);
    if (!fgets(line, sizeof line, told)) line[0] = '\0';
    fclose(told);
    assert_string_equal(line, expected);
}

static void lines_have_what_is_done(void **state)
{
    (void)state;
    assert_told("posts: clustering 0 of 8 20 s\n", GF_METER_AUTO, 20, 0, 8);
    assert_told("posts: clustering 3 of 8 20 s\n", GF_METER_AUTO, 20, 3, 8);
    assert_told("posts: clustering 12,000 20 s\n", GF_METER_AUTO, 20, 12000, 0);
    assert_told("posts: clustering 20 s\n", GF_METER_AUTO, 20, 0, 0);
    assert_told("{\"what\":\"posts\",\"phase\":\"clustering\",\"done\":0,\"total\":8}\n",
                GF_METER_JSONL, 20, 0, 8);
}

static void what_is_short_is_not_told(void **state)
{
    (void)state;
    assert_told("", GF_METER_AUTO, 1, 3, 8);
    assert_told("", GF_METER_NONE, 20, 3, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_have_what_is_done),
                                       cmocka_unit_test(what_is_short_is_not_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

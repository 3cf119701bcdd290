/* Rows that hold themselves: batches by a journal, over a backend that writes one row after another. */
#include "tests/storage/given.h"

#include "base/clock.h"
#include "base/memory.h"
#include "tests/storage/model_backend.h"

enum { MAIN, HOLD, JOURNAL };
enum { MOST_STEPS = 40 };

static const gf_key_part parts[] = {{.name = "id", .kind = GF_PART_STRING}};
static const gf_family families[] = {{.name = "main"},
                                     {.name = "hold", .layout = GF_LAYOUT_WIDE},
                                     {.name = "journal", .layout = GF_LAYOUT_WIDE}};
static const gf_schema held = {
    .name = "held", .parts = parts, .n_parts = 1, .families = families, .n_families = 3};
static const gf_schema others = {
    .name = "others", .parts = parts, .n_parts = 1, .families = families, .n_families = 1};

/* The row that is held: one with stamps, or that of batches with the database's times. */
static const char by_time[] = "t\0\1";
static gf_slice row_held = {"k\0\1", 3};

/* Of two processes that have one model open. */
typedef struct process {
    gf_backend *backend;
    gf_database *db;
    gf_table *held, *others;
    gf_batch *batch;
} process;

static void open_process(process *p, process *first)
{
    gf_error err;
    p->backend = gf_model_share_as(first ? first->backend : NULL, GF_BACKEND_SHARED);
    assert_ok(gf_database_create(p->backend, &p->db, &err));
    assert_ok(gf_table_open(p->db, &held, &p->held, &err));
    assert_ok(gf_table_open(p->db, &others, &p->others, &err));
    assert_ok(gf_database_hold_in_rows(p->db, p->held, HOLD, JOURNAL, &err));
    gf_database_hold_by_time(p->db, gf_slice_of(by_time, sizeof by_time - 1));
    assert_ok(gf_batch_create(p->db, &p->batch, &err));
}

static void open_two(process p[2])
{
    open_process(&p[0], NULL);
    open_process(&p[1], &p[0]);
    gf_database_set_patience(p[1].db, 0);
}

static void close_process(process *p)
{
    gf_batch_free(p->batch);
    gf_database_close(p->db);
}

static void close_two(process p[2])
{
    close_process(&p[0]);
    close_process(&p[1]);
}

static gf_status take(process *p, gf_hold *hold, gf_error *err)
{
    return gf_hold_take(p->held, &row_held, 1, hold, err);
}

/* All have one value; x is only there with an odd one, and is put behind a deletion. */
static gf_status write_value(process *p, int value, gf_error *err)
{
    char text[8];
    gf_column column = {S("n"), {text, (size_t)snprintf(text, sizeof text, "%d", value)}};
    gf_batch *b = p->batch;
    gf_batch_replace(b, p->others, KEY("b"), MAIN, &column, 1, 0);
    gf_batch_delete_row(b, p->others, KEY("x"), GF_ALL_FAMILIES);
    gf_batch_replace(b, p->held, KEY("k"), MAIN, &column, 1, 0);
    gf_batch_put(b, p->others, KEY("a"), MAIN, column.name, column.value, 0);
    if (value % 2) gf_batch_replace(b, p->others, KEY("x"), MAIN, &column, 1, 0);
    return gf_batch_write(b, GF_SYNC_ON, err);
}

static int value_of(gf_table *t, gf_slice key)
{
    gf_row row = {0};
    gf_status st = gf_table_get(t, NULL, key, 1u << MAIN, &row, NULL);
    const gf_cell *cell = st == GF_OK ? gf_row_find(&row, MAIN, "n") : NULL;
    int value = cell ? cell->value.ptr[0] - '0' : 0;
    gf_row_release(&row);
    return value;
}

/* The one value that all have, as the holder sees them. */
static int read_value(process *p)
{
    gf_error err;
    gf_hold hold;
    assert_ok(take(p, &hold, &err));
    int value = value_of(p->held, KEY("k"));
    assert_int_equal(value_of(p->others, KEY("a")), value);
    assert_int_equal(value_of(p->others, KEY("b")), value);
    assert_int_equal(value_of(p->others, KEY("x")), value % 2 ? value : 0);
    gf_hold_let_go(&hold);
    return value;
}

static void a_batch_is_there_as_a_whole(void **state)
{
    process p[2];
    gf_error err;
    gf_hold hold;
    (void)state;
    open_two(p);
    for (int value = 1; value < 4; value++) {
        assert_ok(take(&p[0], &hold, &err));
        assert_ok(write_value(&p[0], value, &err));
        gf_hold_let_go(&hold);
        assert_int_equal(read_value(&p[value % 2]), value);
    }
    close_two(p);
}

/* An end before any row's write: what was acknowledged is there, and the next as a whole or not. */
static void any_end_leaves_all_or_nothing(void **state)
{
    bool ended = true;
    int finished = 0;
    (void)state;
    for (unsigned end = 1; ended && end < MOST_STEPS; end++) {
        process p[2];
        gf_error err;
        gf_hold hold;
        int acknowledged = 0;
        open_two(p);
        gf_model_end_after(p[0].backend, end);
        gf_status st = take(&p[0], &hold, &err);
        for (int value = 1; value < 4 && st == GF_OK; value++) {
            st = write_value(&p[0], value, &err);
            if (st == GF_OK) acknowledged = value;
        }
        gf_hold_let_go(&hold);
        ended = st != GF_OK;
        int there = read_value(&p[1]);
        assert_int_equal(there, acknowledged + (st == GF_EUNKNOWN));
        finished += there > acknowledged;
        close_two(p);
    }
    assert_false(ended);
    assert_true(finished > 6);
}

/* ---- taken over ------------------------------------------------------------------------------ */

typedef struct stop {
    process *other;
    int steps; /* until the other takes over; < 0: it has */
} stop;

static void take_over(void *context)
{
    stop *s = context;
    gf_error err;
    gf_hold hold;
    if (s->steps-- != 0) return;
    assert_ok(take(s->other, &hold, &err));
    assert_ok(write_value(s->other, 5, &err));
    assert_ok(write_value(s->other, 6, &err));
    gf_hold_let_go(&hold);
}

/* A process that was stopped goes on late: what it writes lies behind what others wrote since. */
static void a_late_one_changes_nothing(void **state)
{
    int conflicts = 0, made = 0;
    stop s = {.steps = -1};
    (void)state;
    for (int steps = 0; s.steps < 0; steps++) {
        process p[2];
        gf_error err;
        gf_hold hold;
        open_two(p);
        assert_ok(take(&p[0], &hold, &err));
        s = (stop){&p[1], steps};
        gf_model_watch(p[0].backend, take_over, &s);
        gf_status st = write_value(&p[0], 1, &err);
        if (s.steps < 0) {
            assert_true(st == GF_OK || st == GF_ECONFLICT);
            conflicts += st == GF_ECONFLICT;
            made += st == GF_OK;
            assert_status(GF_ECONFLICT, write_value(&p[0], 2, &err));
        }
        gf_model_watch(p[0].backend, NULL, NULL);
        gf_hold_let_go(&hold);
        assert_int_equal(read_value(&p[1]), s.steps < 0 ? 6 : 1);
        close_two(p);
    }
    assert_int_equal(conflicts, gf_slice_equal(row_held, KEY("k")) ? 1 : 2);
    assert_true(made >= 4);
}

static void a_hold_that_lives_is_waited_for(void **state)
{
    process p[2];
    gf_error err;
    gf_hold first, second;
    (void)state;
    open_two(p);
    gf_database_set_patience(p[1].db, 0.2);
    assert_ok(take(&p[0], &first, &err));
    double begun = gf_clock_seconds();
    assert_ok(take(&p[1], &second, &err));
    assert_true(gf_clock_seconds() - begun >= 0.2);
    assert_status(GF_ECONFLICT, write_value(&p[0], 1, &err));
    assert_ok(write_value(&p[1], 2, &err));
    gf_hold_let_go(&second);
    gf_hold_let_go(&first);
    assert_int_equal(read_value(&p[1]), 2);
    close_two(p);
}

/* ---- lost answers ---------------------------------------------------------------------------- */

/* Of the next batch's step 1 no answer comes. */
typedef enum loss { NOTHING, ANSWER, REQUEST, ANSWER_AND_ROW, LOSSES } loss;

static loss loses;
static process *other_one;
static const gf_backend_operations *sure;

static gf_status write_losing(gf_backend *b, const gf_change *changes, size_t n,
                              const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                              gf_error *err)
{
    gf_error unexpected;
    bool begins = false;
    loss lost = loses;
    for (size_t i = 0; i < n && condition; i++)
        begins |= changes[i].family == HOLD && gf_slice_equal(changes[i].qualifier, S("owner"));
    if (!begins || lost == NOTHING) return sure->write(b, changes, n, condition, hold, sync, err);
    loses = NOTHING;
    if (lost != REQUEST)
        assert_int_equal(sure->write(b, changes, n, condition, hold, sync, &unexpected), GF_OK);
    if (lost == ANSWER_AND_ROW) {
        gf_hold taken;
        assert_int_equal(take(other_one, &taken, &unexpected), GF_OK);
        gf_hold_let_go(&taken);
    }
    return gf_fail(err, GF_EUNKNOWN, "whether it was written is not known: no answer");
}

/* What is there goes on; what is not known is told so, and then nothing more is written. */
static void an_answer_is_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * LOSSES; i++) {
        process p[2];
        gf_error err;
        gf_hold hold;
        bool alone = i % 2;
        loss lost = (loss)(i / 2);
        gf_status told = lost > ANSWER ? GF_EUNKNOWN : GF_OK;
        open_two(p);
        other_one = &p[1];
        sure = p[0].backend->operations;
        gf_backend_operations losing = *sure;
        losing.write = write_losing;
        p[0].backend->operations = &losing;
        assert_ok(take(&p[0], &hold, &err));
        assert_ok(write_value(&p[0], 1, &err));
        loses = lost;
        if (alone) {
            gf_batch_put(p[0].batch, p[0].held, KEY("k"), MAIN, S("m"), S("7"), 0);
            assert_int_equal(gf_batch_write(p[0].batch, GF_SYNC_ON, &err), told);
        } else {
            assert_int_equal(write_value(&p[0], 2, &err), told);
        }
        assert_int_equal(write_value(&p[0], 3, &err), told ? GF_ECONFLICT : GF_OK);
        gf_hold_let_go(&hold);
        assert_int_equal(read_value(&p[1]), !told ? 3 : alone || lost == REQUEST ? 1 : 2);
        gf_test_cell_is(p[1].held, NULL, KEY("k"), MAIN, "m",
                        alone && lost == ANSWER_AND_ROW ? "7" : NULL);
        p[0].backend->operations = sure;
        close_two(p);
    }
}

/* ---- stamps ---------------------------------------------------------------------------------- */

static void what_is_late_by_its_stamp_stays_away(void **state)
{
    process p[2];
    gf_error err;
    gf_hold hold;
    (void)state;
    open_two(p);
    assert_int_equal(gf_hold_stamp(p[0].db), 0);
    assert_ok(take(&p[0], &hold, &err));
    uint64_t before = gf_hold_stamp(p[0].db);
    assert_ok(write_value(&p[0], 1, &err));
    assert_true(gf_hold_stamp(p[0].db) > before);
    gf_hold_let_go(&hold);

    gf_batch_stamp(p[1].batch, before);
    gf_batch_put(p[1].batch, p[1].others, KEY("a"), MAIN, S("n"), S("9"), 0);
    gf_batch_delete_row(p[1].batch, p[1].others, KEY("b"), GF_ALL_FAMILIES);
    assert_ok(gf_batch_write(p[1].batch, GF_SYNC_ON, &err));
    assert_int_equal(read_value(&p[1]), 1);
    close_two(p);
}

static void conditions_are_looked_at(void **state)
{
    process p[2];
    gf_error err;
    gf_hold hold;
    gf_slice expected = S("2");
    (void)state;
    open_two(p);
    assert_ok(take(&p[0], &hold, &err));
    assert_ok(write_value(&p[0], 1, &err));
    gf_batch_guard(p[0].batch, p[0].others, KEY("a"), MAIN, S("n"), expected);
    assert_status(GF_ECONFLICT, write_value(&p[0], 3, &err));
    gf_batch_unguard(p[0].batch);
    assert_ok(write_value(&p[0], 2, &err));
    gf_hold_let_go(&hold);
    gf_batch_put(p[1].batch, p[1].others, KEY("b"), MAIN, S("m"), S("1"), 0);
    assert_status(GF_ECONFLICT, gf_batch_write_if(p[1].batch, p[1].held, KEY("k"), MAIN, S("n"),
                                                  NULL, GF_SYNC_ON, &err));
    assert_int_equal(read_value(&p[1]), 2);
    close_two(p);
}

/* ---- batches with the database's times ------------------------------------------------------- */

static gf_status write_by_time(process *p, gf_batch *b, gf_error *err)
{
    gf_hold hold;
    gf_slice key = gf_slice_of(by_time, sizeof by_time - 1);
    gf_status st = gf_hold_take(p->held, &key, 1, &hold, err);
    if (st == GF_OK) st = gf_batch_write(b, GF_SYNC_ON, err);
    gf_hold_let_go(&hold);
    return st;
}

/* What is put behind a batch without a time is seen, and so is what a batch puts behind that. */
static void batches_lie_among_what_others_put(void **state)
{
    process p[2];
    gf_error err;
    (void)state;
    open_two(p);
    for (int value = 1; value < 9; value += 2) {
        char odd = (char)('0' + value), even = (char)('1' + value);
        gf_batch_put(p[0].batch, p[0].others, KEY("a"), MAIN, S("n"), gf_slice_of(&odd, 1), 0);
        assert_ok(write_by_time(&p[0], p[0].batch, &err));
        assert_int_equal(value_of(p[1].others, KEY("a")), value);
        gf_batch_put(p[1].batch, p[1].others, KEY("a"), MAIN, S("n"), gf_slice_of(&even, 1), 0);
        assert_ok(gf_batch_write(p[1].batch, GF_SYNC_ON, &err));
        assert_int_equal(value_of(p[0].others, KEY("a")), value + 1);
    }
    close_two(p);
}

/* A cell whose time is still to come goes where the batch says so, and what it puts there is seen. */
static void later_cells_are_deleted(void **state)
{
    enum { LATER = 100000000 };
    process p[2];
    gf_error err;
    (void)state;
    open_two(p);
    for (int way = 0; way < 3; way++) {
        int64_t later = gf_clock_ms() + LATER;
        gf_batch_put(p[0].batch, p[0].others, KEY("a"), MAIN, S("n"), S("1"), later);
        assert_ok(gf_batch_write(p[0].batch, GF_SYNC_ON, &err));
        if (way) gf_batch_delete_later(p[0].batch);
        gf_batch_delete_cell(p[0].batch, p[0].others, KEY("a"), MAIN, S("n"));
        if (way == 2) gf_batch_put(p[0].batch, p[0].others, KEY("a"), MAIN, S("n"), S("2"), 0);
        assert_ok(write_by_time(&p[0], p[0].batch, &err));
        assert_int_equal(value_of(p[1].others, KEY("a")), way == 0 ? 1 : way == 1 ? 0 : 2);
        close_two(p);
        open_two(p);
    }
    close_two(p);
}

/* Who only reads finishes what was left; where nothing was, nothing is held. */
static void a_reader_finishes_a_batch(void **state)
{
    process p[2];
    gf_error err;
    gf_hold hold;
    int finished = 0;
    (void)state;
    for (unsigned end = 1; end < MOST_STEPS; end++) {
        open_two(p);
        gf_model_end_after(p[0].backend, end);
        gf_status st = take(&p[0], &hold, &err);
        if (st == GF_OK) st = write_value(&p[0], 1, &err);
        gf_hold_let_go(&hold);
        assert_ok(gf_hold_finish(p[1].db, KEY("k"), &err));
        int there = value_of(p[1].others, KEY("a"));
        assert_true(there == 1 || (st != GF_OK && there == 0));
        assert_int_equal(value_of(p[1].others, KEY("b")), there);
        finished += st != GF_OK && there;
        uint64_t writes = gf_model_writes(p[1].backend);
        assert_ok(gf_hold_finish(p[1].db, KEY("k"), &err));
        assert_int_equal(gf_model_writes(p[1].backend), writes);
        close_two(p);
    }
    assert_true(finished > 2);
}

/* ---- without memory -------------------------------------------------------------------------- */

/* The model ends where it has no memory: what it allocates does not count. */
static const gf_backend_operations *model;

static gf_status get(gf_backend *b, const void *snapshot, unsigned table, gf_slice key,
                     const gf_selection *what, gf_row *row, gf_error *err)
{
    gf_memory_spare(true);
    gf_status st = model->get(b, snapshot, table, key, what, row, err);
    gf_memory_spare(false);
    return st;
}

static gf_status write_spared(gf_backend *b, const gf_change *changes, size_t n,
                              const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                              gf_error *err)
{
    gf_memory_spare(true);
    gf_status st = model->write(b, changes, n, condition, hold, sync, err);
    gf_memory_spare(false);
    return st;
}

static gf_status take_spared(gf_backend *b, unsigned table, const gf_slice *keys, size_t n,
                             gf_backend_hold **hold, gf_error *err)
{
    gf_memory_spare(true);
    gf_status st = model->hold(b, table, keys, n, hold, err);
    gf_memory_spare(false);
    return st;
}

/* What the process' model allocates is not counted; *spared is of that time. */
static void spare_model(process *p, gf_backend_operations *spared)
{
    model = p->backend->operations;
    *spared = *model;
    spared->get = get;
    spared->write = write_spared;
    spared->hold = take_spared;
    p->backend->operations = spared;
}

typedef struct sweep {
    process *p; /* two */
    int value;  /* that is there */
    int calls;
} sweep;

static gf_status take_and_write(void *context, gf_error *err)
{
    sweep *s = context;
    gf_hold hold;
    gf_status st = take(&s->p[0], &hold, err);
    if (st == GF_OK) st = write_value(&s->p[0], s->value % 4 + 1, err);
    gf_hold_let_go(&hold);
    s->calls++;
    /* Behind the journal the next one makes it. */
    return st == GF_EUNKNOWN && strstr(err->message, "out of memory") ? GF_ENOMEM : st;
}

static void is_whole(void *context)
{
    sweep *s = context;
    int now = read_value(&s->p[1]);
    assert_true(now == s->value || now == s->value % 4 + 1);
    s->value = now;
}

/* Where memory is short all is written or nothing, by the one who comes next; a hold is let go. */
static void no_memory_leaves_all_or_nothing(void **state)
{
    process p[2];
    gf_error err;
    sweep s = {.p = p};
    (void)state;
    open_two(p);
    gf_backend_operations spared;
    spare_model(&p[0], &spared);
    double begun = gf_clock_seconds();
    assert_ok(take_and_write(&s, &err));
    is_whole(&s);
    gf_test_sweep(take_and_write, is_whole, &s);
    is_whole(&s);
    assert_true(s.calls > 10);
    assert_true(gf_clock_seconds() - begun < 20); /* none of its own holds was waited for */
    close_two(p);
}

/* The same by the row whose batches lie among what others put. */
static void by_times_as_by_stamps(void **state)
{
    gf_slice before = row_held;
    row_held = gf_slice_of(by_time, sizeof by_time - 1);
    a_batch_is_there_as_a_whole(state);
    any_end_leaves_all_or_nothing(state);
    a_late_one_changes_nothing(state);
    an_answer_is_lost(state);
    no_memory_leaves_all_or_nothing(state);
    row_held = before;
}

/* ---- tables that were opened later ------------------------------------------------------------ */

static gf_schema late_schema(void)
{
    gf_schema s = others;
    s.name = "late";
    return s;
}

/* What is of a table that the next one has not opened is finished by it, too. */
static void a_table_that_the_next_one_does_not_know(void **state)
{
    const gf_schema schema = late_schema();
    bool ended = true;
    int finished = 0;
    (void)state;
    for (unsigned end = 1; ended && end < MOST_STEPS; end++) {
        process p[2];
        gf_error err;
        gf_hold hold;
        gf_table *late, *seen;
        gf_column column = {S("n"), S("7")};
        open_two(p);
        assert_ok(gf_table_open(p[0].db, &schema, &late, &err));
        gf_model_end_after(p[0].backend, end);
        gf_status st = take(&p[0], &hold, &err);
        for (int i = 0; i < 2; i++)
            gf_batch_replace(p[0].batch, late, i ? KEY("m") : KEY("l"), MAIN, &column, 1, 0);
        if (st == GF_OK) st = write_value(&p[0], 7, &err);
        gf_hold_let_go(&hold);
        ended = st != GF_OK;
        int there = read_value(&p[1]);
        assert_ok(gf_table_open(p[1].db, &schema, &seen, &err));
        assert_int_equal(value_of(seen, KEY("l")), there);
        assert_int_equal(value_of(seen, KEY("m")), there);
        finished += ended && there == 7;
        close_two(p);
    }
    assert_false(ended);
    assert_true(finished > 2);
}

/* ---- refused --------------------------------------------------------------------------------- */

static void several_rows_at_once(void **state)
{
    process p[2];
    gf_error err;
    gf_hold hold;
    const gf_slice keys[] = {KEY("a"), KEY("k")};
    (void)state;
    open_two(p);
    assert_status(GF_EINVAL, gf_hold_take(p[0].held, keys, 2, &hold, &err));
    assert_non_null(strstr(err.message, "one collection at a time"));
    gf_hold_let_go(&hold);
    assert_ok(take(&p[0], &hold, &err));
    gf_hold_let_go(&hold);
    close_two(p);
}

static void damaged_cells(void **state)
{
    static const char *const journals[] = {"",
                                           "\x01\x09",
                                           "\x01\x00\x00\x01\x00\x00\x7f\x00",
                                           "\x01\x05",
                                           "\x01\x05\x02\x09z",
                                           "\x01\x10\x00\x01",
                                           "\x01\x05\xff\x7f\x01x",
                                           "\x01\x05\x09\x01x"};
    gf_error err;
    gf_hold hold;
    (void)state;
    for (size_t i = 0; i < sizeof journals / sizeof journals[0]; i++) {
        process p[2];
        gf_slice journal = gf_slice_of(journals[i], i == 2 ? 8 : strlen(journals[i]));
        open_two(p);
        assert_ok(gf_test_put(p[0].db, p[0].held, KEY("k"), JOURNAL, "batch", journal, 0, &err));
        assert_status(GF_ECORRUPT, take(&p[1], &hold, &err));
        gf_hold_let_go(&hold);
        assert_ok(gf_test_put(p[0].db, p[0].held, KEY("k"), HOLD, "owner", S("x"), 0, &err));
        assert_status(GF_ECORRUPT, take(&p[1], &hold, &err));
        gf_hold_let_go(&hold);
        close_two(p);
    }
}

/* A change as a journal has it. */
typedef struct told {
    uint64_t stamp;
    gf_change_kind kind;
    uint64_t time; /* 0: none */
    uint32_t table, family;
    const char *key;
} told;

static void write_told(const told *c, gf_buffer *to)
{
    bool replaces = c->kind == GF_CHANGE_REPLACE;
    const uint64_t numbers[] = {c->stamp, c->kind + (c->time ? 16u : 0), 0, c->table, c->family, 1,
                                replaces};
    gf_buffer_reset(to);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        gf_buffer_varint(to, numbers[i]);
    if (c->time) gf_buffer_varint(to, c->time);
    gf_buffer_string(to, gf_slice_of(c->key, strlen(c->key) + 2)); /* with the zero and the one */
    if (replaces) gf_buffer_append(to, "\0\0", 2);
    gf_buffer_string(to, GF_SLICE("n"));
    gf_buffer_string(to, GF_SLICE("9"));
}

/* What comes of taking the row while it has this journal. */
static gf_status take_with(process p[2], gf_slice journal)
{
    gf_error err;
    gf_hold hold;
    assert_ok(gf_test_put(p[0].db, p[0].held, KEY("k"), JOURNAL, "batch", journal, 0, &err));
    gf_status st = take(&p[1], &hold, &err);
    gf_hold_let_go(&hold);
    return st;
}

static void numbers_of_a_journal_are_looked_at(void **state)
{
    enum { OTHERS = 1 };
    static const told good = {1, GF_CHANGE_PUT, 0, OTHERS, MAIN, "a\0\1"};
    const told bad[] = {{0, GF_CHANGE_PUT, 0, OTHERS, MAIN, "a\0\1"},
                        {UINT64_MAX, GF_CHANGE_PUT, 0, OTHERS, MAIN, "a\0\1"},
                        {1, GF_CHANGE_PUT, UINT64_MAX, OTHERS, MAIN, "a\0\1"},
                        {1, GF_CHANGE_PUT, 0, OTHERS + 1, MAIN, "a\0\1"},
                        {1, GF_CHANGE_PUT, 0, GF_MAX_TABLES, MAIN, "a\0\1"},
                        {1, GF_CHANGE_DELETE_ROW, 0, UINT32_MAX, MAIN, "a\0\1"},
                        {1, GF_CHANGE_PUT, 0, OTHERS, HOLD, "a\0\1"},
                        {1, GF_CHANGE_DELETE_CELL, 0, OTHERS, UINT32_MAX, "a\0\1"},
                        {1, GF_CHANGE_PUT_BLOCK, 0, OTHERS, MAIN, "a\0\1"},
                        {1, GF_CHANGE_PUT, 0, OTHERS, MAIN, "a\0\2"}};
    gf_buffer journal = {0};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        process p[2];
        open_two(p);
        write_told(&bad[i], &journal);
        assert_int_equal(take_with(p, gf_buffer_view(&journal)), GF_ECORRUPT);
        write_told(&good, &journal);
        assert_int_equal(take_with(p, gf_buffer_view(&journal)), GF_OK);
        assert_int_equal(value_of(p[0].others, KEY("a")), 9);
        close_two(p);
    }
    gf_buffer_release(&journal);
}

/* Some bytes of a good one are others: it is damage, or another journal. */
static void journals_of_random_bytes(void **state)
{
    enum { TIMES = 3000 };
    static const told good = {1, GF_CHANGE_PUT, 0, 1, MAIN, "a\0\1"};
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer journal = {0};
    process p[2];
    int damaged = 0;
    (void)state;
    open_two(p);
    for (int i = 0; i < TIMES; i++) {
        write_told(&good, &journal);
        for (uint64_t n = 1 + gf_random_below(&r, 3); n; n--)
            journal.ptr[gf_random_below(&r, journal.len)] = (char)gf_random_below(&r, 256);
        gf_status st = take_with(p, gf_buffer_view(&journal));
        assert_true(st == GF_OK || st == GF_ECORRUPT);
        damaged += st == GF_ECORRUPT;
    }
    assert_true(damaged > 100 && damaged < TIMES);
    gf_buffer_release(&journal);
    close_two(p);
}

static gf_status take_alone(void *context, gf_error *err)
{
    gf_hold hold;
    gf_status st = take(context, &hold, err);
    gf_hold_let_go(&hold);
    return st;
}

/* Who finishes a journal, and has no memory, is told so; the journal stays. */
static void no_memory_is_no_damage(void **state)
{
    static const told change = {1, GF_CHANGE_REPLACE, 0, 1, MAIN, "a\0\1"};
    process p[2];
    gf_error err;
    gf_buffer journal = {0};
    gf_backend_operations spared;
    (void)state;
    open_two(p);
    write_told(&change, &journal);
    assert_ok(gf_test_put(p[0].db, p[0].held, KEY("k"), JOURNAL, "batch", gf_buffer_view(&journal),
                          0, &err));
    spare_model(&p[1], &spared);
    gf_test_sweep(take_alone, NULL, &p[1]);
    p[1].backend->operations = model;
    assert_int_equal(value_of(p[0].others, KEY("a")), 9);
    gf_buffer_release(&journal);
    close_two(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_of_a_journal_are_looked_at),
                                       cmocka_unit_test(journals_of_random_bytes),
                                       cmocka_unit_test(no_memory_is_no_damage),
                                       cmocka_unit_test(a_batch_is_there_as_a_whole),
                                       cmocka_unit_test(any_end_leaves_all_or_nothing),
                                       cmocka_unit_test(a_late_one_changes_nothing),
                                       cmocka_unit_test(a_hold_that_lives_is_waited_for),
                                       cmocka_unit_test(an_answer_is_lost),
                                       cmocka_unit_test(what_is_late_by_its_stamp_stays_away),
                                       cmocka_unit_test(conditions_are_looked_at),
                                       cmocka_unit_test(batches_lie_among_what_others_put),
                                       cmocka_unit_test(later_cells_are_deleted),
                                       cmocka_unit_test(a_reader_finishes_a_batch),
                                       cmocka_unit_test(no_memory_leaves_all_or_nothing),
                                       cmocka_unit_test(by_times_as_by_stamps),
                                       cmocka_unit_test(a_table_that_the_next_one_does_not_know),
                                       cmocka_unit_test(several_rows_at_once),
                                       cmocka_unit_test(damaged_cells)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

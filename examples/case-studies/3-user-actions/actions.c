/*
 * Actions of users, the newest first, in the table `actions`:
 *
 *     actions STORE add
 *         lines of USER MILLISECONDS EVENT NAME from standard input
 *     actions STORE newest USER N [OFFSET]
 *         lines of MILLISECONDS EVENT NAME
 *     actions STORE time N OFFSET
 *         how long `newest` takes, for users from standard input
 *
 * A row key is the user, then the largest int64 less the time in 8 bytes, big-endian, then the
 * event. So the rows of a user lie together, and the first of them is the newest; the event tells
 * those of one millisecond apart.
 */
#include "../case.h"

#include <string.h>
#include <time.h>

static gf_user_table *table;
static unsigned name; /* family */

/* user (as a text part is written), reversed time, event: see "Keys" of docs/storage.md */
static void write_key(gf_buffer *key, const char *user, int64_t milliseconds, const char *event)
{
    gf_buffer reversed = {0};
    gf_buffer_format(&reversed, "%016llx", (unsigned long long)(INT64_MAX - milliseconds));
    gf_slice parts[] = {gf_slice_str(user), gf_buffer_view(&reversed), gf_slice_str(event)};
    gf_buffer_reset(key);
    must(gf_user_table_key_write(table, parts, 3, key, &err));
    gf_buffer_release(&reversed);
}

/* Some thousand actions a batch: what is written is on disk when the program ends well. */
static void add(gf_batch *batch)
{
    char line[4096], user[1024], event[1024], what[2048];
    long long milliseconds;
    gf_buffer key = {0};
    for (int number = 1; fgets(line, sizeof line, stdin); number++) {
        if (sscanf(line, "%1023s %lld %1023s %2047[^\n]", user, &milliseconds, event, what) != 4 ||
            milliseconds < 0) {
            fprintf(stderr, "line %d is not USER MILLISECONDS EVENT NAME\n", number);
            exit(1);
        }
        write_key(&key, user, milliseconds, event);
        gf_batch_replace(batch, gf_user_table_rows(table), gf_buffer_view(&key), name,
                         &(gf_column){GF_SLICE("name"), gf_slice_str(what)}, 1, 0);
        if (gf_batch_changes(batch) >= 10000) must(gf_batch_write(batch, GF_SYNC_ON, &err));
    }
    must(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_buffer_release(&key);
}

static void print(const gf_row *row)
{
    gf_slice key = row->key;
    gf_buffer part[3] = {{0}};
    for (unsigned i = 0; i < 3; i++)
        must(gf_user_table_key_take(table, i, &key, &part[i], &err));
    long long reversed = strtoll(gf_buffer_cstr(&part[1]), NULL, 16);
    const gf_cell *cell = gf_row_find(row, name, "name");
    gf_slice what = cell ? cell->value : GF_SLICE("");
    printf("%lld %s %.*s\n", (long long)INT64_MAX - reversed, gf_buffer_cstr(&part[2]),
           GF_SLICE_ARG(what));
    for (unsigned i = 0; i < 3; i++)
        gf_buffer_release(&part[i]);
}

/* One walk from the user's first row on: O(offset + n). */
static void newest(const char *user, uint64_t n, uint64_t offset, void each(const gf_row *row))
{
    gf_buffer key = {0};
    gf_row row = {0};
    gf_scan *scan;
    gf_status st;
    gf_scan_options options = GF_SCAN_OPTIONS(.family = name, .limit = offset + n);
    options.prefix = row_key(table, gf_slice_str(user), &key);
    must(gf_scan_open(gf_user_table_rows(table), &options, &scan, &err));
    for (uint64_t i = 0; (st = gf_scan_next(scan, &row, &err)) == GF_OK; i++)
        if (i >= offset) each(&row);
    if (st != GF_ENOTFOUND) must(st);
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_buffer_release(&key);
}

static uint64_t rows_read;
static void count(const gf_row *row)
{
    rows_read += row->n_cells;
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(uint64_t n, uint64_t offset)
{
    enum { MAX = 1000000 };
    double *took = enough(malloc(sizeof *took * MAX));
    char user[1024];
    size_t asked = 0;
    for (; asked < MAX && scanf("%1023s", user) == 1; asked++) {
        double from = now();
        newest(user, n, offset, count);
        took[asked] = now() - from;
    }
    qsort(took, asked, sizeof *took, compare_doubles);
    if (asked)
        printf("%zu answers, %llu rows: median %.0f us, 99 of 100 within %.0f us\n", asked,
               (unsigned long long)rows_read, took[asked / 2], took[asked * 99 / 100]);
    free(took);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";
    bool adds = !strcmp(what, "add") && argc == 3, times = !strcmp(what, "time") && argc == 5;
    gf_batch *batch;
    if (!adds && !times && (strcmp(what, "newest") != 0 || argc < 5 || argc > 6)) {
        fprintf(stderr, "actions STORE add | newest USER N [OFFSET] | time N OFFSET\n");
        return 2;
    }
    gf_store *store = open_store(argv[1]);
    table = open_table(store, "actions");
    name = family_of(table, "name");
    must(gf_batch_create(gf_store_database(store), &batch, &err));
    if (adds)
        add(batch);
    else if (times)
        measure(strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    else
        newest(argv[3], strtoull(argv[4], NULL, 10), argc > 5 ? strtoull(argv[5], NULL, 10) : 0,
               print);
    gf_batch_free(batch);
    gf_user_table_close(table);
    gf_store_close(store);
    return 0;
}

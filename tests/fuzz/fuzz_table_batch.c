/*
 * A file of any bytes for table batch, over a store: it is refused with a reason, and nothing is
 * done, or all of it is: then the rows are whole ones, whose keys are by the schema. Between two
 * runs the tables are emptied.
 */
#include "api/operation.h"
#include "grouperfish/user_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(bool holds)
{
    if (!holds) abort();
}

/* ---- the store ------------------------------------------------------------------------------- */

enum { TABLES = 2 };
static const char *const names[TABLES] = {"users", "values"};
static const char *const schemas[TABLES] = {
    "{\"key\":[{\"name\":\"id\"},{\"name\":\"n\",\"type\":\"int64\"}],\"families\":["
    "{\"name\":\"info\",\"columns\":{\"name\":\"text\",\"age\":\"int64\",\"place\":\"json\"}},"
    "{\"name\":\"friend\",\"layout\":\"wide\",\"versions\":2}]}",
    "{\"key\":[{\"name\":\"at\",\"type\":\"uint64\"}],\"families\":["
    "{\"name\":\"a\",\"columns\":{\"b\":\"bytes\",\"d\":\"decimal\",\"f\":\"float\",\"u\":"
    "\"uint64\"}},"
    "{\"name\":\"w\",\"layout\":\"wide\",\"qualifier\":\"int64\",\"type\":\"decimal\"}]}"};

static char folder[64];
static gf_store *store;
static gf_user_table *tables[TABLES];

static void remove_folder(void)
{
    char command[128];
    for (int i = 0; i < TABLES; i++)
        gf_user_table_close(tables[i]);
    gf_store_close(store);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    check(system(command) == 0);
}

/* In memory where there is such a folder: each run syncs. */
static void open_store(void)
{
    char path[80];
    gf_error err;
    gf_store_options o = GF_STORE_OPTIONS(.create = true, .purpose = "fuzzing");
    snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    check(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/store", folder);
    check(gf_store_open(path, &o, &store, &err) == GF_OK);
    for (int i = 0; i < TABLES; i++) {
        gf_slice space = GF_SLICE("default"), name = gf_slice_str(names[i]);
        if (gf_user_table_create(store, space, name, gf_slice_str(schemas[i]), &err) != GF_OK) {
            fprintf(stderr, "%s\n", err.message);
            abort();
        }
        check(gf_user_table_open(store, space, name, &tables[i], &err) == GF_OK);
    }
    atexit(remove_folder);
}

/* How many entries there are; each is deleted. */
static uint64_t empty_table(gf_user_table *t)
{
    uint64_t found = 0;
    gf_error err;
    gf_batch *batch;
    gf_row row = {0};
    gf_buffer text = {0};
    check(gf_batch_create(gf_store_database(store), &batch, &err) == GF_OK);
    for (unsigned f = 0; f < 2; f++) {
        gf_scan *scan;
        gf_scan_options o = GF_SCAN_OPTIONS(.family = f);
        gf_status st = gf_scan_open(gf_user_table_rows(t), &o, &scan, &err);
        check(st == GF_OK);
        while ((st = gf_scan_next(scan, &row, &err)) == GF_OK) {
            gf_slice rest = row.key;
            for (unsigned part = 0; part < gf_user_table_schema(t)->n_parts; part++)
                check(gf_user_table_key_take(t, part, &rest, &text, &err) == GF_OK);
            check(rest.len == 0 && row.n_cells > 0);
            gf_batch_delete_row(batch, gf_user_table_rows(t), row.key, GF_ALL_FAMILIES);
            gf_buffer_reset(&text);
            found++;
        }
        check(st == GF_ENOTFOUND);
        gf_scan_close(scan);
    }
    check(found == 0 || gf_batch_write(batch, GF_SYNC_OFF, &err) == GF_OK);
    gf_row_release(&row);
    gf_buffer_release(&text);
    gf_batch_free(batch);
    return found;
}

/* ---- the call -------------------------------------------------------------------------------- */

typedef struct input {
    gf_slice bytes;
    bool given;
    unsigned rows;
} input;

static gf_status next(void *context, gf_slice *name, gf_error *err)
{
    input *in = context;
    (void)err;
    if (in->given) return GF_ENOTFOUND;
    in->given = true;
    *name = GF_SLICE("input");
    return GF_OK;
}

static gf_status read_bytes(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    input *in = context;
    (void)err;
    *got = in->bytes.len < n ? in->bytes.len : n;
    if (*got) memcpy(to, in->bytes.ptr, *got);
    in->bytes = gf_slice_skip(in->bytes, *got);
    return GF_OK;
}

static gf_status give_store(void *context, bool create, gf_store **out, gf_error *err)
{
    (void)context, (void)create, (void)err;
    *out = store;
    return GF_OK;
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    (void)err;
    ((input *)context)->rows++;
    check(gf_slice_starts(row, GF_SLICE("{\"lines\":")));
    return GF_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_cancel cancel = {0};
    gf_error err = {GF_OK, ""};
    input in = {.bytes = gf_slice_of((const char *)bytes, n)};
    gf_call call = {.name_space = GF_SLICE("default"),
                    .sink = {&in, emit},
                    .holder = {.store = give_store},
                    .cancel = &cancel,
                    .input = {.context = &in, .next = next, .read = read_bytes}};
    if (!store) open_store();
    gf_status st = gf_operation_run(gf_operation_find("table batch"), &call, &err);
    uint64_t found = empty_table(tables[0]) + empty_table(tables[1]);
    check(in.rows == (st == GF_OK));
    check(st == GF_OK || (err.message[0] && found == 0));
    check(st == GF_OK || st == GF_EINVAL || st == GF_ENOTFOUND || st == GF_ELIMIT ||
          st == GF_ECORRUPT);
    return 0;
}

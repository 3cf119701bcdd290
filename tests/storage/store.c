#include "tests/storage/store.h"

#include "base/file.h"
#include "storage/check/crc32c.h"
#include "storage/leveldb/backend.h"
#include "storage/model_backend.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

/*
 * LevelDB is a library without the thread sanitizer's instruments: it is not seen how its lists are
 * published (by atomic pointers), only the copying into them. What it does inside is not ours to
 * check.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GF_THREAD_SANITIZER
#endif
#elif defined(__SANITIZE_THREAD__)
#define GF_THREAD_SANITIZER
#endif
#ifdef GF_THREAD_SANITIZER
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    /* Ours are those that LevelDB's end with an unlock, which then looks like theirs, and what its
       lock hands from one thread to another. */
    return "called_from_lib:libleveldb.so\ncalled_from_lib:libstdc++.so\n"
           "mutex:gf_leveldb_env\nmutex:run_work\nmutex:hold_work\n"
           "race:gf_leveldb_env\nrace:run_work\nrace:leveldb::EnvWrapper\n";
}
#endif

static gf_database *database_over(gf_backend *backend)
{
    gf_error err;
    gf_database *db;
    assert_ok(gf_database_create(backend, &db, &err));
    return db;
}

gf_database *gf_test_leveldb(void)
{
    gf_error err;
    gf_backend *backend;
    assert_ok(gf_leveldb_open(gf_test_folder(), GF_LEVELDB_CREATE, &backend, &err));
    return database_over(backend);
}

gf_database *gf_test_model(void)
{
    return database_over(gf_model_create());
}

gf_status gf_test_store_open(gf_test_store *s, const char *path, gf_error *err)
{
    gf_hold_options options = {.create = true, .purpose = "test"};
    gf_test_store opened = {0};
    gf_status st = gf_folder_hold(path, &options, &opened.folder, err);
    if (st == GF_OK) st = gf_folder_open(opened.folder, &opened.db, err);
    if (st == GF_OK)
        *s = opened;
    else
        gf_folder_release(opened.folder);
    return st;
}

void gf_test_store_close(gf_test_store *s)
{
    gf_database_close(s->db);
    gf_folder_release(s->folder);
    *s = (gf_test_store){0};
}

static const gf_key_part parts[] = {{"id", GF_PART_STRING, 0}};
static const gf_family families[] = {
    {"main", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, NULL, false}};
const gf_schema gf_test_store_schema = {"table", parts, 1, families, 1};

const char *gf_test_in(const char *folder, const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char made[512];
    int n = snprintf(made, sizeof made, "%s/%s", folder, name);
    assert_in_range(n, 1, sizeof made - 1);
    return memcpy(paths[next++ % 8], made, (size_t)n + 1);
}

gf_status gf_test_hold(const char *path, bool create, gf_folder **f, gf_error *err)
{
    gf_hold_options o = {.create = create, .purpose = "test"};
    *f = NULL;
    gf_status st = gf_folder_hold(path, &o, f, err);
    assert_int_equal(st == GF_OK, *f != NULL);
    return st;
}

const char *gf_test_store_make(void)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    const char *path = gf_test_folder();
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_true(gf_folder_is_new(s.folder));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    assert_ok(gf_test_put(s.db, t, gf_test_key("a"), 0, "q", GF_SLICE("kept"), 0, &err));
    gf_test_store_close(&s);
    return path;
}

void gf_test_store_has_its_row(const char *path)
{
    gf_error err;
    gf_test_store s;
    gf_table *t;
    assert_ok(gf_test_store_open(&s, path, &err));
    assert_ok(gf_table_open(s.db, &gf_test_store_schema, &t, &err));
    gf_test_cell_is(t, NULL, gf_test_key("a"), 0, "q", "kept");
    gf_test_store_close(&s);
}

void gf_test_write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

/* A ring of keys per thread, without allocations: the sweeps make keys, too. */
enum { KEYS = 64, LONGEST = 256 };

static size_t add_part(char *to, size_t at, gf_slice part)
{
    assert_in_range(at + 2 * part.len + 2, 0, LONGEST);
    for (size_t i = 0; i < part.len; i++) {
        to[at++] = part.ptr[i];
        if (part.ptr[i] == '\0') to[at++] = (char)0xFF;
    }
    to[at++] = 0;
    to[at++] = 1;
    return at;
}

gf_slice gf_test_key2(gf_slice a, gf_slice b)
{
    static _Thread_local char memory[KEYS][LONGEST];
    static _Thread_local unsigned next;
    char *to = memory[next++ % KEYS];
    size_t n = add_part(to, 0, a);
    if (b.ptr) n = add_part(to, n, b);
    return gf_slice_of(to, n);
}

gf_slice gf_test_key(const char *part)
{
    return gf_test_key2(gf_slice_str(part), (gf_slice){0});
}

gf_status gf_test_put(gf_database *db, gf_table *t, gf_slice key, unsigned family,
                      const char *qualifier, gf_slice value, int64_t timestamp, gf_error *err)
{
    gf_batch *batch;
    gf_status st = gf_batch_create(db, &batch, err);
    if (st != GF_OK) return st;
    gf_batch_put(batch, t, key, family, gf_slice_str(qualifier), value, timestamp);
    st = gf_batch_write(batch, GF_SYNC_OFF, err);
    gf_batch_free(batch);
    return st;
}

void gf_test_cell_is(gf_table *t, const gf_snapshot *snapshot, gf_slice key, unsigned family,
                     const char *qualifier, const char *text)
{
    gf_error err = {GF_OK, ""};
    gf_row row = {0};
    gf_slice name = gf_slice_str(qualifier);
    gf_status st = gf_table_get_cell(t, snapshot, key, family, name, 1, &row, &err);
    if (st != GF_OK && st != GF_ENOTFOUND) fail_msg("%s", err.message);
    if (st == GF_ENOTFOUND && text) fail_msg("no cell %s, not \"%s\"", qualifier, text);
    if (st == GF_OK && !text)
        fail_msg("cell %s is \"%.*s\"", qualifier, GF_SLICE_ARG(row.cells[0].value));
    if (text) {
        assert_int_equal(row.n_cells, 1);
        assert_int_equal(row.cells[0].family, family);
        assert_slice(row.cells[0].qualifier, qualifier);
        assert_slice(row.cells[0].value, text);
        assert_true(gf_slice_equal(row.key, key));
    }
    gf_row_release(&row);
}

static void dump_bytes(gf_slice bytes, gf_buffer *out)
{
    if (bytes.len > 200) {
        gf_buffer_format(out, "%zu bytes, %08x", bytes.len, gf_crc32c(0, bytes.ptr, bytes.len));
        return;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        if (c > ' ' && c < 0x7F && c != '%')
            gf_buffer_byte(out, (char)c);
        else
            gf_buffer_format(out, "%%%02X", c);
    }
}

static void dump_row(const gf_row *row, gf_buffer *out)
{
    for (size_t i = 0; i < row->n_cells; i++) {
        const gf_cell *c = &row->cells[i];
        dump_bytes(row->key, out);
        gf_buffer_format(out, " %u.", c->family);
        dump_bytes(c->qualifier, out);
        gf_buffer_format(out, " @%lld ", (long long)c->timestamp);
        dump_bytes(c->value, out);
        gf_buffer_byte(out, '\n');
    }
}

void gf_test_dump(gf_table *t, const gf_snapshot *snapshot, gf_buffer *out)
{
    gf_error err;
    gf_row row = {0};
    for (unsigned f = 0; f < gf_table_schema(t)->n_families; f++) {
        gf_scan *scan;
        gf_status st;
        gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = snapshot, .family = f);
        assert_ok(gf_scan_open(t, &o, &scan, &err));
        while ((st = gf_scan_next(scan, &row, &err)) == GF_OK)
            dump_row(&row, out);
        if (st != GF_ENOTFOUND) fail_msg("%s", err.message);
        gf_scan_close(scan);
    }
    gf_row_release(&row);
}

void gf_test_random_bytes(gf_random *r, gf_buffer *out, size_t n)
{
    bool plain = gf_random_below(r, 2);
    uint64_t kinds = plain ? 4 : 256;
    while (n > 0) {
        size_t run = 1 + (size_t)gf_random_below(r, n < 64 ? n : 64);
        char c = (char)gf_random_below(r, kinds);
        for (size_t i = 0; i < run; i++)
            gf_buffer_byte(out, plain ? (char)('a' + c) : (char)(c + (char)i));
        n -= run;
    }
}

static void copy_entry(const char *from, const char *to, const char *name)
{
    gf_error err;
    gf_buffer source = {0}, target = {0}, content = {0};
    gf_buffer_format(&source, "%s/%s", from, name);
    gf_buffer_format(&target, "%s/%s", to, name);
    if (gf_file_is_folder(gf_buffer_cstr(&source))) {
        gf_test_copy_folder(gf_buffer_cstr(&source), gf_buffer_cstr(&target));
    } else {
        assert_ok(gf_file_read(gf_buffer_cstr(&source), &content, &err));
        FILE *f = fopen(gf_buffer_cstr(&target), "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(content.ptr ? content.ptr : "", 1, content.len, f), content.len);
        fclose(f);
    }
    gf_buffer_release(&source);
    gf_buffer_release(&target);
    gf_buffer_release(&content);
}

void gf_test_copy_folder(const char *from, const char *to)
{
    gf_error err;
    DIR *dir = opendir(from);
    assert_non_null(dir);
    assert_ok(gf_file_make_folders(to, &err));
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            copy_entry(from, to, e->d_name);
    closedir(dir);
}

/* The two tables of an access log, and their keys. */
#include "apps/logs/internal.h"

static const char lines_schema[] =
    "{\"key\": [{\"name\": \"time\", \"type\": \"int64\"}, {\"name\": \"line\", \"type\": "
    "\"uint64\"}],"
    " \"families\": ["
    "{\"name\": \"http\", \"columns\": {\"ip\": \"text\", \"domain\": \"text\", \"method\": "
    "\"text\","
    " \"url\": \"text\", \"protocol\": \"text\", \"status\": \"uint64\", \"bytes\": \"uint64\","
    " \"referrer\": \"text\"}},"
    "{\"name\": \"user\", \"columns\": {\"browser_cookie\": \"text\", \"login_id\": \"text\","
    " \"agent\": \"text\"}}]}";
static const char by_schema[] = "{\"key\": [{\"name\": \"kind\"}, {\"name\": \"value\"}, "
                                "{\"name\": \"time\", \"type\": \"int64\"},"
                                " {\"name\": \"line\", \"type\": \"uint64\"}],"
                                " \"families\": [{\"name\": \"entry\", \"layout\": \"wide\"}]}";

static gf_status make_one(gf_logs *l, gf_slice name, const char *schema, gf_user_table **table,
                          gf_error *err)
{
    gf_slice space = l->call->name_space;
    gf_status st = gf_user_table_create(l->store, space, name, gf_slice_str(schema), err);
    return st == GF_OK ? gf_user_table_open(l->store, space, name, table, err) : st;
}

static gf_status find_families(gf_user_table *table, const char *const *names,
                               unsigned *const *families, size_t n, gf_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (gf_table_family(gf_user_table_rows(table), names[i], families[i], NULL) != GF_OK)
            return gf_fail(err, GF_EINVAL, "table \"%.*s\" is no access log",
                           GF_SLICE_ARG(gf_user_table_name(table)));
    return GF_OK;
}

static gf_status find_lines_families(gf_logs *l, gf_error *err)
{
    return find_families(l->lines, (const char *const[]){"http", "user"},
                         (unsigned *const[]){&l->http, &l->user}, 2, err);
}

/* It knows which numbers of lines were used: of lines that are there it cannot be made again. */
static gf_status open_by(gf_logs *l, bool make, gf_error *err)
{
    gf_buffer name = {0};
    gf_buffer_slice(&name, gf_call_text(l->call, "log"));
    gf_buffer_str(&name, "-by");
    gf_slice by = gf_buffer_view(&name);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_user_table_open(l->store, l->call->name_space, by, &l->by, err);
    if (st == GF_ENOTFOUND && make && !l->lines) st = make_one(l, by, by_schema, &l->by, err);
    if (st == GF_OK)
        st = find_families(l->by, (const char *const[]){"entry"}, (unsigned *const[]){&l->entry}, 1,
                           err);
    gf_buffer_release(&name);
    return st;
}

gf_status gf_logs_open(gf_logs *l, bool make, gf_error *err)
{
    gf_slice log = gf_call_text(l->call, "log");
    l->writer.call = l->call;
    gf_status st = gf_call_open_store(l->call, make, &l->store, err);
    if (st != GF_OK) return st;
    st = gf_user_table_open(l->store, l->call->name_space, log, &l->lines, err);
    if (st == GF_OK)
        st = find_lines_families(l, err);
    else if (st == GF_ENOTFOUND)
        st = make ? GF_OK : gf_fail(err, st, "there is no log \"%.*s\"", GF_SLICE_ARG(log));
    return st == GF_OK ? open_by(l, make, err) : st;
}

gf_status gf_logs_make(gf_logs *l, gf_error *err)
{
    gf_status st = make_one(l, gf_call_text(l->call, "log"), lines_schema, &l->lines, err);
    return st == GF_OK ? find_lines_families(l, err) : st;
}

void gf_logs_close(gf_logs *l)
{
    gf_user_table_close(l->lines);
    gf_user_table_close(l->by);
    gf_buffer_release(&l->key);
    gf_buffer_release(&l->text);
    gf_row_writer_release(&l->writer);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* An int64 part is stored with its sign inverted, so that byte order is the order of numbers. */
static void put_time(gf_buffer *key, int64_t time)
{
    gf_key_u64(key, (uint64_t)time ^ UINT64_C(1) << 63);
}

gf_status gf_logs_line_key(gf_logs *l, int64_t time, uint64_t line, gf_buffer *key, gf_error *err)
{
    (void)l;
    gf_buffer_reset(key);
    put_time(key, time);
    gf_key_u64(key, line);
    return gf_buffer_check(key, err);
}

gf_status gf_logs_entry_key(gf_logs *l, gf_slice kind, gf_slice value, int64_t time, uint64_t line,
                            gf_buffer *key, gf_error *err)
{
    const gf_slice parts[] = {kind, value};
    gf_buffer_reset(key);
    gf_status st = gf_user_table_key_write(l->by, parts, 2, key, err);
    put_time(key, time);
    gf_key_u64(key, line);
    return st == GF_OK ? gf_buffer_check(key, err) : st;
}

gf_status gf_logs_range(gf_logs *l, gf_slice prefix, gf_buffer *start, gf_buffer *end,
                        gf_error *err)
{
    static const char *const names[] = {"from", "to"};
    gf_buffer *const bounds[] = {start, end};
    for (int i = 0; i < 2; i++) {
        if (!gf_call_has(l->call, names[i])) continue;
        uint64_t ms = gf_call_number(l->call, names[i], 0);
        gf_buffer_slice(bounds[i], prefix);
        put_time(bounds[i], (int64_t)(ms / 1000 + (ms % 1000 != 0)));
        gf_status st = gf_buffer_check(bounds[i], err);
        if (st != GF_OK) return st;
    }
    return GF_OK;
}

gf_status gf_logs_take(gf_slice *key, int64_t *time, uint64_t *line, gf_error *err)
{
    uint64_t turned;
    if (!gf_key_take_u64(key, &turned) || !gf_key_take_u64(key, line) || key->len)
        return gf_fail(err, GF_ECORRUPT, "a key of an access log has other parts");
    *time = (int64_t)(turned ^ UINT64_C(1) << 63);
    return GF_OK;
}

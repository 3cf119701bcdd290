/* The tables of an access log, their keys, and their lines as they are stored. */
#include "apps/logs/internal.h"

#include "base/number.h"
#include "engine/rows/scan.h"
#include "engine/store/hold.h"

static const char lines_schema[] =
    "{\"key\": [{\"name\": \"time\", \"type\": \"int64\"}, {\"name\": \"line\", \"type\": "
    "\"uint64\"}],"
    " \"families\": ["
    "{\"name\": \"http\", \"columns\": {\"ip\": \"text\", \"domain\": \"text\", \"method\": "
    "\"text\","
    " \"url\": \"text\", \"protocol\": \"text\", \"status\": \"uint64\", \"bytes\": \"uint64\","
    " \"referer\": \"text\"}},"
    "{\"name\": \"user\", \"columns\": {\"browser_cookie\": \"text\", \"login_id\": \"text\","
    " \"agent\": \"text\"}}]}";
static const char by_schema[] = "{\"key\": [{\"name\": \"kind\"}, {\"name\": \"value\"}, "
                                "{\"name\": \"time\", \"type\": \"int64\"},"
                                " {\"name\": \"line\", \"type\": \"uint64\"}],"
                                " \"families\": [{\"name\": \"entry\", \"layout\": \"wide\"}]}";

static const char counts_schema[] =
    "{\"key\": [{\"name\": \"every\"}, {\"name\": \"by\"},"
    " {\"name\": \"time\", \"type\": \"int64\"}, {\"name\": \"value\"}],"
    " \"families\": ["
    "{\"name\": \"count\", \"columns\": {\"requests\": \"uint64\", \"bytes\": \"uint64\"}},"
    "{\"name\": \"visitors\", \"layout\": \"wide\", \"type\": \"bytes\","
    " \"compression\": \"snappy\"},"
    "{\"name\": \"state\", \"columns\": {\"whole\": \"text\","
    " \"deleted_before\": \"uint64\", \"impersonal_before\": \"text\","
    " \"counts_deleted_before\": \"text\"}}]}";
static const char referer_column[] =
    "{\"families\": [{\"name\": \"http\", \"columns\": {\"referer\": \"text\"}}]}";

/* Tables of users, which say their types themselves. */
static const gf_part_description line_parts[] = {{"time", GF_TYPE_INT64, 0},
                                                 {"line", GF_TYPE_UINT64, 0}};
static const gf_cell_description line_cells[] = {{"http", NULL, GF_TYPE_TEXT, GF_TYPE_TEXT},
                                                 {"user", NULL, GF_TYPE_TEXT, GF_TYPE_TEXT}};
static const gf_part_description by_parts[] = {{"kind", GF_TYPE_TEXT, 0},
                                               {"value", GF_TYPE_TEXT, 0},
                                               {"time", GF_TYPE_INT64, 0},
                                               {"line", GF_TYPE_UINT64, 0}};
static const gf_cell_description by_cells[] = {{"entry", NULL, GF_TYPE_TEXT, GF_TYPE_TEXT}};
static const gf_part_description count_parts[] = {{"every", GF_TYPE_TEXT, 0},
                                                  {"by", GF_TYPE_TEXT, 0},
                                                  {"time", GF_TYPE_INT64, 0},
                                                  {"value", GF_TYPE_TEXT, 0}};
static const gf_cell_description count_cells[] = {{"count", NULL, GF_TYPE_TEXT, GF_TYPE_UINT64},
                                                  {"visitors", NULL, GF_TYPE_TEXT, GF_TYPE_BYTES},
                                                  {"state", NULL, GF_TYPE_TEXT, GF_TYPE_TEXT}};

const gf_table_description gf_logs_descriptions[GF_LOGS_TABLES] = {
    {.is_of_user = true, GF_DESCRIBED_PARTS(line_parts), GF_DESCRIBED_CELLS(line_cells)},
    {.is_of_user = true, GF_DESCRIBED_PARTS(by_parts), GF_DESCRIBED_CELLS(by_cells)},
    {.is_of_user = true, GF_DESCRIBED_PARTS(count_parts), GF_DESCRIBED_CELLS(count_cells)}};

static gf_status make_one(gf_logs *l, gf_slice name, const char *schema, gf_user_table **table,
                          gf_error *err)
{
    gf_status st = gf_user_table_create(l->store, l->name_space, name, gf_slice_str(schema), err);
    return st == GF_OK ? gf_user_table_open(l->store, l->name_space, name, table, err) : st;
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

/* A log of an earlier version has another name for the column; a new line has this one. */
static gf_status add_referer(gf_logs *l, gf_error *err)
{
    const char *const *column = gf_user_table_schema(l->lines)->families[l->http].columns;
    for (; column && *column; column++)
        if (strcmp(*column, "referer") == 0) return GF_OK;
    gf_slice more = gf_slice_str(referer_column);
    gf_status st = gf_user_table_alter(l->store, l->name_space, l->name, more, err);
    if (st != GF_OK) return st;
    gf_user_table_close(l->lines);
    l->lines = NULL;
    return gf_user_table_open(l->store, l->name_space, l->name, &l->lines, err);
}

static gf_slice name_beside(gf_logs *l, const char *suffix, gf_buffer *name)
{
    gf_buffer_slice(name, l->name);
    gf_buffer_str(name, suffix);
    return gf_buffer_view(name);
}

/* It knows which numbers of lines were used: of lines that are there it cannot be made again. */
static gf_status open_by(gf_logs *l, bool make, gf_error *err)
{
    gf_buffer name = {0};
    gf_slice by = name_beside(l, "-by", &name);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_user_table_open(l->store, l->name_space, by, &l->by, err);
    if (st == GF_ENOTFOUND && make && !l->lines) st = make_one(l, by, by_schema, &l->by, err);
    if (st == GF_OK)
        st = find_families(l->by, (const char *const[]){"entry"}, (unsigned *const[]){&l->entry}, 1,
                           err);
    gf_buffer_release(&name);
    return st;
}

static gf_status open_counts(gf_logs *l, bool make, gf_error *err)
{
    gf_buffer name = {0};
    gf_slice counts = name_beside(l, "-counts", &name);
    gf_status st = gf_buffer_check(&name, err);
    if (st == GF_OK) st = gf_user_table_open(l->store, l->name_space, counts, &l->counts, err);
    if (st == GF_ENOTFOUND) st = make ? make_one(l, counts, counts_schema, &l->counts, err) : GF_OK;
    if (st == GF_OK && l->counts)
        st = find_families(l->counts, (const char *const[]){"count", "visitors", "state"},
                           (unsigned *const[]){&l->count, &l->visitors, &l->rollups}, 3, err);
    gf_buffer_release(&name);
    return st;
}

gf_status gf_logs_make_counts(gf_logs *l, gf_error *err)
{
    return l->counts ? GF_OK : open_counts(l, true, err);
}

gf_status gf_logs_open_tables(gf_logs *l, bool make, gf_error *err)
{
    gf_status st = gf_user_table_open(l->store, l->name_space, l->name, &l->lines, err);
    if (st == GF_OK)
        st = find_lines_families(l, err);
    else if (st == GF_ENOTFOUND)
        st = make ? GF_OK : gf_fail(err, st, "there is no log \"%.*s\"", GF_SLICE_ARG(l->name));
    if (st == GF_OK) st = open_by(l, make, err);
    if (st == GF_OK) st = open_counts(l, false, err);
    return st == GF_OK && make && l->lines ? add_referer(l, err) : st;
}

gf_status gf_logs_open(gf_logs *l, bool make, gf_error *err)
{
    l->writer.call = l->call;
    l->name_space = l->call->name_space;
    l->name = gf_call_text(l->call, "log");
    l->cancel = l->call->cancel;
    gf_status st = gf_call_open_store(l->call, make, &l->store, err);
    if (st == GF_OK) st = gf_store_finish_batches(l->store, err);
    return st == GF_OK ? gf_logs_open_tables(l, make, err) : st;
}

gf_status gf_logs_make(gf_logs *l, gf_error *err)
{
    gf_status st = make_one(l, l->name, lines_schema, &l->lines, err);
    return st == GF_OK ? find_lines_families(l, err) : st;
}

/* ---- changing it ----------------------------------------------------------------------------- */

static bool is_shared(const gf_logs *l)
{
    return gf_database_holds_in_rows(gf_store_database(l->store));
}

static gf_status fail_busy(const gf_logs *l, gf_error *err)
{
    return gf_fail(err, GF_EBUSY,
                   "lines are being added to log \"%.*s\" already, or deleted; wait until that has "
                   "ended",
                   GF_SLICE_ARG(l->name));
}

static gf_status next_key(gf_logs *l, gf_buffer *key, gf_error *err)
{
    return gf_logs_entry_key(l, GF_SLICE("next"), GF_SLICE(""), 0, 0, key, err);
}

static gf_status read_turn(gf_logs *l, gf_error *err)
{
    gf_row row = {0};
    l->turn = 0;
    gf_status st = next_key(l, &l->key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(gf_user_table_rows(l->by), NULL, gf_buffer_view(&l->key), l->entry,
                               GF_SLICE("turn"), 1, &row, err);
    if (st == GF_OK && (!gf_rows_cell_number(&row.cells[0], &l->turn) || !l->turn))
        st = gf_fail(err, GF_ECORRUPT, "the turn of an access log is damaged");
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* Numbers of lines, what was read before, and the roll-ups are changed by one call at a time. */
gf_status gf_logs_claim(gf_logs *l, gf_error *err)
{
    gf_status st = gf_user_table_claim(l->by, NULL);
    if (st != GF_OK) return fail_busy(l, err);
    return is_shared(l) ? read_turn(l, err) : GF_OK;
}

/* With the turn that it has now, for the next one. */
static gf_status write_in_turn(gf_logs *l, gf_batch *batch, gf_error *err)
{
    gf_buffer key = {0};
    gf_number_digits was, next;
    gf_error why = {GF_OK, ""};
    gf_table *rows = gf_user_table_rows(l->by);
    gf_slice old = gf_number_write(&was, l->turn), turn = GF_SLICE("turn");
    gf_status st = next_key(l, &key, err);
    if (st == GF_OK) {
        gf_batch_put(batch, rows, gf_buffer_view(&key), l->entry, turn,
                     gf_number_write(&next, l->turn + 1), 0);
        st = gf_batch_write_if(batch, rows, gf_buffer_view(&key), l->entry, turn,
                               l->turn ? &old : NULL, GF_SYNC_ON, &why);
        if (st == GF_ECONFLICT) st = fail_busy(l, &why);
        if (st != GF_OK && err) *err = why;
    }
    if (st == GF_OK) l->turn++;
    gf_buffer_release(&key);
    return st;
}

gf_status gf_logs_write(gf_logs *l, gf_batch *batch, gf_sync sync, gf_error *err)
{
    gf_hold hold;
    if (!is_shared(l) || !gf_batch_changes(batch)) return gf_batch_write(batch, sync, err);
    gf_status st = gf_hold_batches(l->store, &hold, err);
    if (st == GF_OK) st = write_in_turn(l, batch, err);
    gf_hold_let_go(&hold);
    return st;
}

void gf_logs_close(gf_logs *l)
{
    gf_user_table_close(l->lines);
    gf_user_table_close(l->by);
    gf_user_table_close(l->counts);
    gf_buffer_release(&l->key);
    gf_buffer_release(&l->text);
    gf_row_writer_release(&l->writer);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* An int64 part is stored with its sign inverted, so that byte order is the order of numbers. */
void gf_logs_put_time(gf_buffer *key, int64_t time)
{
    gf_key_u64(key, (uint64_t)time ^ UINT64_C(1) << 63);
}

gf_status gf_logs_line_key(gf_logs *l, int64_t time, uint64_t line, gf_buffer *key, gf_error *err)
{
    (void)l;
    gf_buffer_reset(key);
    gf_logs_put_time(key, time);
    gf_key_u64(key, line);
    return gf_buffer_check(key, err);
}

gf_status gf_logs_entry_key(gf_logs *l, gf_slice kind, gf_slice value, int64_t time, uint64_t line,
                            gf_buffer *key, gf_error *err)
{
    const gf_slice parts[] = {kind, value};
    gf_buffer_reset(key);
    gf_status st = gf_user_table_key_write(l->by, parts, 2, key, err);
    gf_logs_put_time(key, time);
    gf_key_u64(key, line);
    return st == GF_OK ? gf_buffer_check(key, err) : st;
}

gf_status gf_logs_range(gf_logs *l, gf_slice prefix, gf_buffer *start, gf_buffer *end,
                        gf_error *err)
{
    int64_t times[2];
    gf_buffer *const bounds[] = {start, end};
    gf_logs_times(l->call, &times[0], &times[1]);
    for (int i = 0; i < 2; i++) {
        if (times[i] == (i ? INT64_MAX : INT64_MIN)) continue;
        gf_buffer_slice(bounds[i], prefix);
        gf_logs_put_time(bounds[i], times[i]);
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

void gf_logs_times(const gf_call *call, int64_t *from, int64_t *to)
{
    static const char *const names[] = {"from", "to"};
    int64_t *const times[] = {from, to};
    *from = INT64_MIN, *to = INT64_MAX;
    for (int i = 0; i < 2; i++) {
        uint64_t ms = gf_call_number(call, names[i], 0);
        if (gf_call_has(call, names[i])) *times[i] = (int64_t)(ms / 1000 + (ms % 1000 != 0));
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static gf_slice text_of(const gf_row *row, unsigned family, const char *column)
{
    const gf_cell *cell = gf_row_find(row, family, column);
    return cell ? cell->value : gf_slice_of("", 0);
}

static uint64_t number_of(const gf_row *row, unsigned family, const char *column)
{
    const gf_cell *cell = gf_row_find(row, family, column);
    return cell && cell->value.len == 8 ? gf_read_u64be(cell->value.ptr) : 0;
}

void gf_logs_line_of_row(const gf_logs *l, const gf_row *row, gf_accesslog_line *line)
{
    uint64_t status = number_of(row, l->http, "status");
    *line = (gf_accesslog_line){.ip = text_of(row, l->http, "ip"),
                                .login = text_of(row, l->user, "login_id"),
                                .domain = text_of(row, l->http, "domain"),
                                .method = text_of(row, l->http, "method"),
                                .url = text_of(row, l->http, "url"),
                                .protocol = text_of(row, l->http, "protocol"),
                                .referer = text_of(row, l->http, "referer"),
                                .agent = text_of(row, l->user, "agent"),
                                .cookie = text_of(row, l->user, "browser_cookie"),
                                .status = status < 1000 ? (unsigned)status : 0,
                                .bytes = number_of(row, l->http, "bytes")};
    if (line->referer.len == 0) line->referer = text_of(row, l->http, "referrer");
}

typedef struct walk {
    gf_logs *log;
    gf_logs_each_line *each;
    void *context;
} walk;

static gf_status visit_line(void *context, const gf_row *row, gf_error *err)
{
    walk *w = context;
    int64_t time = 0;
    uint64_t number = 0;
    gf_slice key = row->key;
    gf_accesslog_line line;
    gf_status st = gf_cancel_check(w->log->cancel, err);
    if (st == GF_OK) st = gf_logs_take(&key, &time, &number, err);
    if (st != GF_OK) return st;
    gf_logs_line_of_row(w->log, row, &line);
    line.time = time;
    return w->each(w->context, number, &line, err);
}

static gf_status walk_rows(walk *w, const gf_rows_options *options, gf_error *err)
{
    gf_rows *rows;
    const gf_row *row;
    gf_status st = gf_rows_open(w->log->lines, options, &rows, err);
    if (st != GF_OK) return st;
    while ((st = gf_rows_next(rows, &row, err)) == GF_OK &&
           (st = visit_line(w, row, err)) == GF_OK) {
    }
    gf_rows_close(rows);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

gf_status gf_logs_walk(gf_logs *l, const gf_snapshot *snapshot, int64_t from, int64_t to,
                       bool of_user, gf_logs_each_line *each, void *context, gf_error *err)
{
    gf_buffer start = {0}, end = {0};
    walk w = {l, each, context};
    if (from > INT64_MIN) gf_logs_put_time(&start, from);
    if (to < INT64_MAX) gf_logs_put_time(&end, to);
    gf_status st = gf_buffer_check(&start, err);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    if (st == GF_OK && of_user)
        st = walk_rows(&w,
                       &GF_ROWS_OPTIONS(.snapshot = snapshot, .start = gf_buffer_view(&start),
                                        .end = gf_buffer_view(&end)),
                       err);
    else if (st == GF_OK)
        st = gf_scan_each(gf_user_table_rows(l->lines),
                          &GF_SCAN_OPTIONS(.snapshot = snapshot, .family = l->http,
                                           .start = gf_buffer_view(&start),
                                           .end = gf_buffer_view(&end)),
                          visit_line, &w, err);
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    return st;
}

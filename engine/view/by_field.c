/*
 * Clusters by a field of their documents. One walk keeps an entry for each document and value; all
 * tables are counted from these, once it is known which values are frequent, which periods there
 * are, and whether the field holds numbers.
 */
#include "grouperfish/by_field.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "base/strings.h"
#include "engine/rows/document_row.h"
#include "engine/rows/hours.h"
#include "engine/view/trends.h"

#include <math.h>
#include <stdlib.h>

#define NUMBERS      0.95 /* share of documents with a number from which a field holds numbers */
#define CHANCE       0.05 /* of any difference in the whole answer, where there are none */
#define VALUES_USUAL 8
#define VALUES_MOST  1000
#define CELLS_MOST   (8 << 20)  /* of a table: 320 MiB */
#define NOTHING      UINT32_MAX /* in place of a value: the document has none */

enum { MS_PER_HOUR = 3600000, STEP = 1 << 16 /* values of a list between two looks for a stop */ };

typedef struct field_entry {
    uint32_t place; /* of the cluster in the view's list, plus 1; 0: without terms */
    uint32_t value; /* its id, or NOTHING */
    int32_t hour;   /* then the number of its period, from 0; negative: it is in none */
    uint32_t nth;   /* of the document's entries, from 0 */
} field_entry;

typedef struct field_number {
    double number;
    uint32_t place;
} field_number;

typedef struct by_field {
    gf_view *view;
    const gf_by_field_options *options;
    gf_filter filter;
    gf_json_parser *parser; /* NULL until it is needed */
    gf_buffer column;
    bool plain; /* the column holds text and not JSON */
    gf_strings values;
    field_entry *entries; /* n of capacity; those of a document lie together */
    size_t n, capacity;
    uint32_t nth;         /* entries of the document at hand */
    uint64_t n_documents; /* with that at hand */
    uint64_t *seen;       /* by value: the last of the documents, from 1, that had it */
    size_t seen_capacity;
    uint64_t n_with, n_numbers;

    uint32_t *column_of;   /* values.n: place in out.values, or NOTHING */
    double *number_of;     /* values.n: NAN for what is none */
    gf_slice *names;       /* out.n_values */
    uint32_t n_places;     /* view->n_clusters + 1 */
    gf_field_row *rows;    /* n_places + 1: of all, then by place */
    gf_field_cell *cells;  /* (n_places + 1) * out.n_values */
    gf_field_row *shown;   /* n_places + 1: in the order in which they are told */
    field_number *numbers; /* n: of one table */
    gf_trends periods;
    gf_by_field out;
} by_field;

/* ---- the field ------------------------------------------------------------------------------- */

static gf_status find_column(by_field *b, gf_error *err)
{
    static const char *const no[] = {"id", "text", "time"};
    gf_slice field = b->options->field;
    if (field.len == 0) return gf_fail(err, GF_EINVAL, "by-field: which field?");
    for (size_t i = 0; i < 3; i++)
        if (gf_slice_equal(field, gf_slice_str(no[i])))
            return gf_fail(err, GF_EINVAL, "by-field: documents are not counted by \"%s\"%s", no[i],
                           i == 2 ? "; by has clusters over time" : "");
    b->plain = gf_slice_equal(field, GF_SLICE("lang"));
    if (b->plain)
        gf_buffer_slice(&b->column, field);
    else
        gf_document_row_column(&b->column, field);
    return gf_buffer_check(&b->column, err);
}

static gf_status add_entry(by_field *b, field_entry e, gf_error *err)
{
    if (!gf_grow(&b->entries, &b->capacity, b->n + 1, sizeof *b->entries))
        return gf_fail_memory(err, "by-field");
    b->entries[b->n++] = e;
    b->nth++;
    return GF_OK;
}

/* A list may have a value twice; it counts once. */
static gf_status add_value(by_field *b, field_entry e, gf_slice text, gf_error *err)
{
    gf_status st = gf_strings_add(&b->values, text, &e.value, NULL, err);
    size_t before = b->seen_capacity;
    if (st != GF_OK) return st;
    if (!gf_grow(&b->seen, &b->seen_capacity, (size_t)e.value + 1, sizeof *b->seen))
        return gf_fail_memory(err, "by-field");
    memset(b->seen + before, 0, (b->seen_capacity - before) * sizeof *b->seen);
    if (b->seen[e.value] == b->n_documents) return GF_OK;
    b->seen[e.value] = b->n_documents;
    e.nth = b->nth;
    return add_entry(b, e, err);
}

static gf_status add_scalar(by_field *b, field_entry e, gf_json_value v, gf_error *err)
{
    gf_buffer text = {0};
    gf_status st = GF_OK;
    switch (gf_json_kind_of(v)) {
    case GF_JSON_STRING:
        return add_value(b, e, gf_json_get_string(v), err);
    case GF_JSON_BOOL:
    case GF_JSON_INT:
    case GF_JSON_UINT:
    case GF_JSON_DOUBLE:
        st = gf_json_write(v, &text, err);
        if (st == GF_OK) st = add_value(b, e, gf_buffer_view(&text), err);
        gf_buffer_release(&text);
        return st;
    default:
        return GF_OK;
    }
}

/* A list, or a string with escapes. */
static gf_status parse_values(by_field *b, field_entry e, gf_slice json, gf_error *err)
{
    gf_json_value root, item;
    gf_slice name;
    gf_status st = b->parser ? GF_OK : gf_json_parser_create(&b->parser, err);
    if (st == GF_OK) st = gf_json_parse_copy(b->parser, json, &root, err);
    if (st == GF_EINVAL) return gf_fail(err, GF_ECORRUPT, "table documents: a field is damaged");
    if (st != GF_OK || gf_json_kind_of(root) != GF_JSON_ARRAY)
        return st == GF_OK ? add_scalar(b, e, root, err) : st;
    gf_json_iterator it = gf_json_items(root);
    for (uint32_t i = 1; st == GF_OK && gf_json_next(&it, &name, &item); i++) {
        if (i % STEP == 0) st = gf_cancel_check(b->options->cancel, err);
        if (st == GF_OK) st = add_scalar(b, e, item, err);
    }
    return st;
}

static gf_status add_values(by_field *b, field_entry e, gf_slice json, gf_error *err)
{
    bool quoted = json.len >= 2 && json.ptr[0] == '"';
    if (b->plain) return json.len ? add_value(b, e, json, err) : GF_OK;
    if (json.len == 0 || json.ptr[0] == '{' || gf_slice_equal(json, GF_SLICE("null"))) return GF_OK;
    if (json.ptr[0] == '[' || (quoted && memchr(json.ptr, '\\', json.len)))
        return parse_values(b, e, json, err);
    return add_value(b, e, quoted ? gf_slice_of(json.ptr + 1, json.len - 2) : json, err);
}

static gf_status keep_member(void *context, gf_slice id, const gf_membership_cells *cells,
                             const gf_row *document, gf_error *err)
{
    by_field *b = context;
    bool meant = true;
    (void)id;
    gf_status st = gf_cancel_check(b->options->cancel, err);
    if (st == GF_OK && !gf_filter_is_empty(&b->filter))
        st = gf_filter_test(&b->filter, document, &meant, err);
    if (st != GF_OK || !meant) return st;
    const gf_listed_cluster *cluster = gf_view_find_cluster(b->view, cells->cluster);
    field_entry e = {.place = cluster ? (uint32_t)(cluster - b->view->clusters) + 1 : 0,
                     .hour = b->options->by_time ? gf_hours_of_row(document) : GF_NO_HOUR};
    b->nth = 0;
    b->n_documents++;
    gf_slice column = gf_buffer_view(&b->column);
    for (size_t i = 0; i < document->n_cells && st == GF_OK; i++)
        if (gf_slice_equal(document->cells[i].qualifier, column))
            st = add_values(b, e, document->cells[i].value, err);
    b->n_with += b->nth > 0;
    e.value = NOTHING;
    return st == GF_OK && b->nth == 0 ? add_entry(b, e, err) : st;
}

static gf_status open_filter(by_field *b, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < b->options->n_where && st == GF_OK; i++)
        st = gf_filter_add(&b->filter, b->options->where[i], err);
    return st;
}

/* ---- what is shown --------------------------------------------------------------------------- */

/* The number of each value; the field holds numbers where nearly all its documents have one. */
static gf_status read_numbers(by_field *b, gf_error *err)
{
    b->number_of = gf_array(b->values.n, sizeof *b->number_of);
    if (!b->number_of) return gf_fail_memory(err, "by-field");
    for (uint32_t v = 0; v < b->values.n; v++)
        if (!gf_number_read_decimal(gf_strings_at(&b->values, v), &b->number_of[v]))
            b->number_of[v] = NAN;
    for (size_t i = 0; i < b->n; i++) {
        const field_entry *e = &b->entries[i];
        bool only = e->nth == 0 && (i + 1 == b->n || b->entries[i + 1].nth == 0);
        b->n_numbers += e->value != NOTHING && only && !isnan(b->number_of[e->value]);
    }
    b->out.numbers = b->options->most_values == 0 &&
                     (double)b->n_numbers >= NUMBERS * (double)b->n_with && b->n_numbers > 0;
    return GF_OK;
}

typedef struct value_count {
    uint32_t value;
    uint64_t documents;
} value_count;

static int by_documents(const void *a, const void *b)
{
    const value_count *x = a, *y = b;
    if (x->documents != y->documents) return x->documents > y->documents ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* The most frequent values, of equal ones those that came first, which is by their documents' ids. */
static gf_status choose_values(by_field *b, gf_error *err)
{
    size_t most = b->options->most_values ? b->options->most_values : VALUES_USUAL;
    value_count *counts = gf_calloc(b->values.n, sizeof *counts);
    b->column_of = gf_array(b->values.n, sizeof *b->column_of);
    b->names = gf_array(most, sizeof *b->names);
    gf_status st = counts && b->column_of && b->names ? GF_OK : gf_fail_memory(err, "by-field");
    for (uint32_t v = 0; v < b->values.n && st == GF_OK; v++) {
        counts[v].value = v;
        b->column_of[v] = NOTHING;
    }
    for (size_t i = 0; i < b->n && st == GF_OK; i++)
        if (b->entries[i].value != NOTHING) counts[b->entries[i].value].documents++;
    if (st == GF_OK && b->values.n) qsort(counts, b->values.n, sizeof *counts, by_documents);
    for (uint32_t i = 0; i < b->values.n && i < most && st == GF_OK; i++) {
        b->column_of[counts[i].value] = i;
        b->names[b->out.n_values++] = gf_strings_at(&b->values, counts[i].value);
    }
    gf_free(counts);
    return st;
}

static gf_status choose_periods(by_field *b, gf_error *err)
{
    gf_hour_counts hours = {0};
    if (!b->options->by_time) return GF_OK;
    for (size_t i = 0; i < b->n; i++) {
        const field_entry *e = &b->entries[i];
        if (e->nth) continue;
        if (e->hour == GF_NO_HOUR) {
            b->out.undated++;
            continue;
        }
        if (!gf_grow(&hours.at, &hours.capacity, hours.n + 1, sizeof *hours.at)) {
            gf_hour_counts_release(&hours);
            return gf_fail_memory(err, "by-field");
        }
        hours.at[hours.n++] = (gf_hour_count){.hour = e->hour, .documents = 1};
    }
    gf_view_choose_periods(&hours, b->options->kind, b->options->most_periods, &b->periods);
    gf_hour_counts_release(&hours);
    b->out.in_period = true;
    b->out.kind = b->periods.kind;
    for (size_t i = 0; i < b->n; i++) {
        field_entry *e = &b->entries[i];
        if (e->hour == GF_NO_HOUR) continue;
        int64_t period = gf_calendar_period(b->out.kind, (int64_t)e->hour * MS_PER_HOUR);
        b->out.before += e->nth == 0 && period < b->periods.first;
        e->hour = period < b->periods.first ? GF_NO_HOUR : (int32_t)(period - b->periods.first);
    }
    return GF_OK;
}

/* The |z| that `tests` normal figures together exceed with the probability CHANCE at most. */
static double clear_of(double tests)
{
    double low = 0, high = 40, tail = CHANCE / (tests < 1 ? 1 : tests);
    for (int i = 0; i < 100; i++) {
        double z = (low + high) / 2;
        *(erfc(z / sqrt(2)) > tail ? &low : &high) = z;
    }
    return high;
}

/* ---- one table ------------------------------------------------------------------------------- */

static gf_difference difference_of(const by_field *b, double z)
{
    return z >= b->out.clear ? GF_MORE : z <= -b->out.clear ? GF_LESS : GF_AS_ELSEWHERE;
}

static bool is_in_table(const by_field *b, const field_entry *e)
{
    return !b->out.in_period || e->hour == b->out.period - b->periods.first;
}

static void count_entry(by_field *b, const field_entry *e, bool first_other)
{
    size_t n = b->out.n_values;
    bool none = e->value == NOTHING || (b->out.numbers && isnan(b->number_of[e->value]));
    size_t rows[] = {0, (size_t)e->place + 1};
    for (size_t i = 0; i < 2; i++) {
        gf_field_row *row = &b->rows[rows[i]];
        row->size += e->nth == 0;
        row->missing += none && e->nth == 0;
        if (b->out.numbers || e->value == NOTHING) continue;
        if (b->column_of[e->value] != NOTHING)
            b->cells[rows[i] * n + b->column_of[e->value]].documents++;
        else
            row->other += first_other;
    }
}

/* Compare a cluster's share of a value with that elsewhere. */
static void compare_cell(const by_field *b, gf_field_cell *cell, const gf_field_row *row,
                         const gf_field_cell *all)
{
    uint64_t with = row->size - row->missing, others = b->rows[0].size - b->rows[0].missing - with;
    cell->share = with ? (double)cell->documents / (double)with : 0;
    if (row == b->rows || with == 0 || others == 0) return;
    double have = (double)cell->documents + 0.5, lack = (double)(with - cell->documents) + 0.5;
    double elsewhere = (double)(all->documents - cell->documents) + 0.5;
    double lack_elsewhere = (double)others + 1 - elsewhere;
    cell->change = log(have / lack) - log(elsewhere / lack_elsewhere);
    cell->z = cell->change / sqrt(1 / have + 1 / lack + 1 / elsewhere + 1 / lack_elsewhere);
    cell->difference = difference_of(b, cell->z);
}

static void compare_cells(by_field *b)
{
    size_t n = b->out.n_values;
    for (size_t r = 0; r <= b->n_places; r++) {
        b->rows[r].cells = b->cells + r * n;
        for (size_t v = 0; v < n; v++)
            compare_cell(b, &b->cells[r * n + v], &b->rows[r], &b->cells[v]);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const field_number *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Between the two nearest of n numbers, which come in rising order: definition 7. */
static double quantile(const double *sorted, size_t n, double part)
{
    double at = part * (double)(n - 1);
    size_t low = (size_t)at;
    double over = at - (double)low;
    return over > 0 ? sorted[low] + over * (sorted[low + 1] - sorted[low]) : sorted[low];
}

static void summarise(gf_field_numbers *s, const double *sorted, size_t n)
{
    *s = (gf_field_numbers){.n = n, .above = 0.5};
    s->mean = s->least = s->lower = s->median = s->upper = s->most = NAN;
    if (n == 0) return;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += sorted[i];
    s->mean = sum / (double)n;
    s->least = sorted[0];
    s->lower = quantile(sorted, n, 0.25);
    s->median = quantile(sorted, n, 0.5);
    s->upper = quantile(sorted, n, 0.75);
    s->most = sorted[n - 1];
}

/* Ranks that numbers of a cluster have together, those of equal numbers being their mean. */
static double add_ranks(const field_number *numbers, size_t n, double *ranks)
{
    double ties = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && numbers[end].number == numbers[i].number;)
            end++;
        double t = (double)(end - i);
        ties += t * t * t - t;
        for (size_t j = i; j < end; j++)
            ranks[numbers[j].place] += (double)(i + 1) + (t - 1) / 2;
    }
    return ties;
}

static void compare_ranks(const by_field *b, gf_field_numbers *s, double rank_sum, double all,
                          double ties)
{
    double n = (double)s->n, others = all - n;
    if (s->n == 0 || others <= 0) return;
    double above = rank_sum - n * (n + 1) / 2; /* pairs, of which equal ones count half */
    double variance = n * others / 12 * (all + 1 - ties / (all * (all - 1)));
    s->above = above / (n * others);
    if (variance > 0) s->z = (above - n * others / 2) / sqrt(variance);
    s->difference = difference_of(b, s->z);
}

static gf_status compare_numbers(by_field *b, gf_error *err)
{
    size_t n = 0, places = b->n_places;
    for (size_t i = 0; i < b->n; i++) {
        const field_entry *e = &b->entries[i];
        bool only = e->nth == 0 && (i + 1 == b->n || b->entries[i + 1].nth == 0);
        if (e->value == NOTHING || isnan(b->number_of[e->value]) || !is_in_table(b, e)) continue;
        if (only) b->numbers[n++] = (field_number){b->number_of[e->value], e->place};
    }
    if (n) qsort(b->numbers, n, sizeof *b->numbers, by_number);
    double *ranks = gf_calloc(places, sizeof *ranks), *sorted = gf_array(n, sizeof *sorted);
    size_t *end = gf_calloc(places + 1, sizeof *end);
    gf_status st = ranks && sorted && end ? GF_OK : gf_fail_memory(err, "by-field");
    if (st == GF_OK) {
        double ties = add_ranks(b->numbers, n, ranks);
        for (size_t i = 0; i < n; i++)
            sorted[i] = b->numbers[i].number;
        summarise(&b->rows[0].numbers, sorted, n);
        for (size_t i = 0; i < n; i++)
            end[b->numbers[i].place + 1]++;
        for (size_t p = 0; p < places; p++)
            end[p + 1] += end[p];
        for (size_t i = 0; i < n; i++) /* end[p] moves from where p begins to where it ends */
            sorted[end[b->numbers[i].place]++] = b->numbers[i].number;
        for (size_t p = 0; p < places; p++) {
            size_t begin = p ? end[p - 1] : 0;
            gf_field_numbers *s = &b->rows[p + 1].numbers;
            summarise(s, sorted + begin, end[p] - begin);
            compare_ranks(b, s, ranks[p], (double)n, ties);
        }
    }
    gf_free(ranks);
    gf_free(sorted);
    gf_free(end);
    return st;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static gf_status count_table(by_field *b, gf_error *err)
{
    memset(b->rows, 0, (b->n_places + 1) * sizeof *b->rows);
    if (b->cells) memset(b->cells, 0, (b->n_places + 1) * b->out.n_values * sizeof *b->cells);
    bool other = false; /* an entry of the document at hand before this one had no column */
    for (size_t i = 0; i < b->n; i++) {
        const field_entry *e = &b->entries[i];
        bool has_none = !b->out.numbers && e->value != NOTHING && b->column_of[e->value] == NOTHING;
        if (e->nth == 0) other = false;
        if (is_in_table(b, e)) count_entry(b, e, has_none && !other);
        other = other || has_none;
    }
    if (b->out.numbers) return compare_numbers(b, err);
    compare_cells(b);
    return GF_OK;
}

static void name_row(const by_field *b, size_t place, gf_field_row *row)
{
    gf_membership without;
    if (place) {
        row->cluster = b->view->clusters[place - 1].id;
        row->label = b->view->clusters[place - 1].label;
        return;
    }
    gf_view_describe(b->view, &(gf_membership_cells){0}, &without);
    row->label = without.label;
}

/* A list of several values is no number: its document is missing from the numbers. */
static gf_status tell_table(by_field *b, gf_visit_by_field *visit, void *context, gf_error *err)
{
    gf_status st = count_table(b, err);
    if (st != GF_OK) return st;
    size_t n = 0;
    b->shown[n++] = b->rows[0];
    for (size_t i = 0; i < b->view->n_clusters; i++) {
        size_t place = (size_t)b->view->by_size[i] + 1;
        b->shown[n] = b->rows[place + 1];
        name_row(b, place, &b->shown[n++]);
    }
    if (b->rows[1].size) {
        b->shown[n] = b->rows[1];
        name_row(b, 0, &b->shown[n++]);
    }
    for (size_t i = 0; b->out.numbers && i < n; i++)
        b->shown[i].missing = b->shown[i].size - b->shown[i].numbers.n;
    b->out.n_rows = n;
    return visit(context, &b->out, err);
}

static gf_status allocate(by_field *b, gf_error *err)
{
    size_t rows = b->n_places + 1;
    if (b->out.n_values > CELLS_MOST / rows)
        return gf_fail(err, GF_ELIMIT,
                       "by-field: %zu values of %zu clusters are more than fit into one table; ask "
                       "for %zu values or fewer",
                       b->out.n_values, b->view->n_clusters, CELLS_MOST / rows);
    b->rows = gf_calloc(rows, sizeof *b->rows);
    b->shown = gf_calloc(rows, sizeof *b->shown);
    if (b->out.numbers)
        b->numbers = gf_array(b->n, sizeof *b->numbers);
    else
        b->cells = gf_calloc(rows * b->out.n_values, sizeof *b->cells);
    if (!b->rows || !b->shown || (!b->numbers && !b->cells)) return gf_fail_memory(err, "by-field");
    b->out.rows = b->shown;
    b->out.values = b->names;
    b->out.distinct = b->values.n;
    size_t tables = b->out.in_period ? b->periods.n_periods : 1;
    b->out.clear = clear_of((double)b->n_places * (double)tables *
                            (b->out.numbers ? 1 : (double)b->out.n_values));
    return GF_OK;
}

static gf_status gather(by_field *b, gf_error *err)
{
    gf_status st = find_column(b, err);
    if (st == GF_OK) st = open_filter(b, err);
    if (st == GF_OK) st = gf_view_order_clusters(b->view, err);
    if (st != GF_OK) return st;
    b->n_places = (uint32_t)b->view->n_clusters + 1;
    st = gf_view_each_member(b->view, keep_member, b, err);
    if (st == GF_OK && b->n_with == 0)
        st = gf_fail(err, GF_ENOTFOUND, "no document%s has the field \"%.*s\"",
                     b->options->n_where ? " that is meant" : " of the build",
                     GF_SLICE_ARG(b->options->field));
    if (st == GF_OK) st = read_numbers(b, err);
    if (st == GF_OK && !b->out.numbers) st = choose_values(b, err);
    if (st == GF_OK) st = choose_periods(b, err);
    return st == GF_OK ? allocate(b, err) : st;
}

static gf_status tell(by_field *b, gf_visit_by_field *visit, void *context, gf_error *err)
{
    if (!b->out.in_period) return tell_table(b, visit, context, err);
    gf_status st = GF_OK;
    for (size_t p = 0; p < b->periods.n_periods && st == GF_OK; p++) {
        b->out.period = b->periods.first + (int64_t)p;
        st = gf_cancel_check(b->options->cancel, err);
        if (st == GF_OK) st = tell_table(b, visit, context, err);
    }
    return st;
}

gf_status gf_view_by_field(gf_view *v, const gf_by_field_options *options, gf_visit_by_field *visit,
                           void *context, gf_error *err)
{
    by_field b = {.view = v, .options = options};
    gf_status st =
        gf_options_check(options->version, GF_BY_FIELD_OPTIONS_VERSION, "gf_by_field_options", err);
    if (st == GF_OK && options->most_values > VALUES_MOST)
        st = gf_fail(err, GF_EINVAL, "by-field: at most %d values have a column", VALUES_MOST);
    if (st != GF_OK) return st;
    gf_filter_init(&b.filter);
    st = gather(&b, err);
    if (st == GF_OK) st = tell(&b, visit, context, err);
    gf_filter_release(&b.filter);
    gf_json_parser_free(b.parser);
    gf_buffer_release(&b.column);
    gf_strings_release(&b.values);
    gf_free(b.entries);
    gf_free(b.seen);
    gf_free(b.column_of);
    gf_free(b.number_of);
    gf_free(b.names);
    gf_free(b.rows);
    gf_free(b.cells);
    gf_free(b.shown);
    gf_free(b.numbers);
    return st;
}

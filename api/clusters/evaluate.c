/*
 * evaluate: a build by figures that need no classes; or against classes, in a field or in an input of
 * ids and classes.
 */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

typedef struct evaluating {
    gf_row_writer row;
    gf_strings ids; /* of the input */
    gf_strings classes;
    uint32_t *class_number; /* per id; capacity */
    size_t capacity;
} evaluating;

/* ---- classes from the input: id, TAB or comma, class ----------------------------------------- */

static gf_status set_class(evaluating *e, gf_slice id, gf_slice name, gf_error *err)
{
    uint32_t document, class_number;
    gf_status st = gf_strings_add(&e->ids, id, &document, NULL, err);
    if (st == GF_OK) st = gf_strings_add(&e->classes, name, &class_number, NULL, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&e->class_number, &e->capacity, (size_t)document + 1, sizeof *e->class_number))
        return gf_fail_memory(err, "labels");
    e->class_number[document] = class_number;
    return GF_OK;
}

/* Ids may have commas, so a tab goes first. */
static gf_status take_line(evaluating *e, gf_slice line, gf_slice file, uint64_t number,
                           gf_error *err)
{
    if (gf_slice_ends(line, GF_SLICE("\r"))) line.len--;
    if (line.len == 0) return GF_OK;
    const char *tab = memchr(line.ptr, '\t', line.len);
    if (!tab) tab = memchr(line.ptr, ',', line.len);
    if (!tab)
        return gf_fail(err, GF_EINVAL, "%.*s:%" PRIu64 ": not an id, a tab (or comma) and a class",
                       GF_SLICE_ARG(file), number);
    size_t length = (size_t)(tab - line.ptr);
    return set_class(e, gf_slice_of(line.ptr, length), gf_slice_skip(line, length + 1), err);
}

static gf_status take_lines(evaluating *e, gf_slice text, gf_slice file, gf_error *err)
{
    gf_status st = GF_OK;
    if (gf_slice_starts(text, GF_SLICE("\xEF\xBB\xBF"))) text = gf_slice_skip(text, 3);
    for (uint64_t number = 1; text.len && st == GF_OK; number++) {
        const char *end = memchr(text.ptr, '\n', text.len);
        size_t length = end ? (size_t)(end - text.ptr) : text.len;
        st = take_line(e, gf_slice_of(text.ptr, length), file, number, err);
        text = gf_slice_skip(text, end ? length + 1 : length);
    }
    return st;
}

static gf_status read_stream(const gf_call *call, gf_buffer *text, gf_error *err)
{
    enum { STEP = 1 << 16 };
    const gf_input *in = &call->input;
    size_t n = 1;
    gf_status st = GF_OK;
    while (st == GF_OK && n > 0) {
        char *to = gf_buffer_reserve(text, STEP);
        if (!to) return gf_buffer_check(text, err);
        st = gf_input_read(in, to, STEP, &n, err);
        if (st == GF_OK) text->len += n;
    }
    return st;
}

static gf_status read_labels(evaluating *e, gf_error *err)
{
    const gf_input *in = &e->row.call->input;
    gf_buffer text = {0};
    gf_slice file;
    gf_status st;
    while ((st = in->next(in->context, &file, err)) == GF_OK) {
        gf_buffer_reset(&text);
        st = read_stream(e->row.call, &text, err);
        if (st == GF_OK) st = take_lines(e, gf_buffer_view(&text), file, err);
        if (st == GF_OK) continue;
        gf_buffer_release(&text);
        return st;
    }
    gf_buffer_release(&text);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status class_of(void *context, gf_slice id, gf_slice *name, gf_error *err)
{
    evaluating *e = context;
    uint32_t number = gf_strings_find(&e->ids, id);
    (void)err;
    *name = number == GF_STRING_NONE ? (gf_slice){0}
                                     : gf_strings_at(&e->classes, e->class_number[number]);
    return GF_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

static void write_class(gf_json_writer *w, const gf_class_score *s)
{
    gf_json_begin(w, '{');
    gf_json_put_string(w, "class", s->name);
    gf_json_put_uint(w, "size", s->size);
    gf_json_put_uint(w, "cluster", s->cluster);
    gf_json_put_string(w, "label", s->label);
    gf_json_put_double(w, "recall", s->recall);
    gf_json_put_double(w, "precision", s->precision);
    gf_json_put_double(w, "f1", s->f1);
    gf_json_end(w, '}');
}

static gf_status emit_evaluation(void *context, const gf_evaluation *q, gf_error *err)
{
    evaluating *e = context;
    gf_json_writer *w = gf_row_writer_begin(&e->row);
    gf_json_put_uint(w, "documents", q->documents);
    gf_json_put_uint(w, "classes", q->classes);
    gf_json_put_uint(w, "clusters", q->clusters);
    gf_json_put_double(w, "nmi", q->nmi);
    gf_json_put_double(w, "ari", q->ari);
    gf_json_put_double(w, "purity", q->purity);
    gf_json_put_double(w, "homogeneity", q->homogeneity);
    gf_json_put_double(w, "completeness", q->completeness);
    gf_json_put_double(w, "v_measure", q->v_measure);
    gf_json_key(w, "per_class");
    gf_json_begin(w, '[');
    for (uint64_t i = 0; i < q->classes; i++)
        write_class(w, &q->scores[i]);
    gf_json_end(w, ']');
    return gf_row_writer_emit(&e->row, err);
}

/* ---- without classes ------------------------------------------------------------------------- */

typedef struct figuring {
    gf_row_writer row;
    gf_view *view;
    gf_figures figures;
    const gf_stability *stability; /* NULL: not asked for */
} figuring;

static int by_cluster(const void *a, const void *b)
{
    const gf_cluster_stability *x = a, *y = b;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static gf_status write_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    figuring *f = context;
    gf_json_writer *w = &f->row.json;
    const gf_stability *s = f->stability;
    (void)err;
    gf_json_begin(w, '{');
    gf_row_put_cluster(w, info);
    gf_row_put_figures(w, info->figures);
    if (s) {
        const gf_cluster_stability key = {.cluster = info->id}, *found = NULL;
        if (s->n_clusters)
            found = bsearch(&key, s->clusters, s->n_clusters, sizeof key, by_cluster);
        gf_json_put_double(w, "stability_seeds", found ? found->seeds : NAN);
        gf_json_put_double(w, "stability_halves", found ? found->halves : NAN);
    }
    gf_json_end(w, '}');
    return GF_OK;
}

static gf_status emit_figures(figuring *f, gf_error *err)
{
    const gf_figures *q = &f->figures;
    const gf_stability *s = f->stability;
    gf_json_writer *w = gf_row_writer_begin(&f->row);
    gf_json_put_uint(w, "documents", q->documents);
    gf_json_put_uint(w, "clusters", q->clusters);
    gf_json_put_uint(w, "clear", q->clear);
    gf_json_put_uint(w, "fair", q->fair);
    gf_json_put_uint(w, "mixed", q->mixed);
    gf_json_put_double(w, "mean_score", q->score);
    gf_json_put_double(w, "mean_margin", q->margin);
    gf_json_put_double(w, "weak", q->weak);
    gf_json_put_double(w, "label_recall", q->recall);
    gf_json_put_double(w, "label_precision", q->precision);
    gf_json_put_double(w, "label_f1", q->f1);
    gf_json_put_double(w, "npmi", q->npmi);
    gf_json_put_double(w, "diversity", q->diversity);
    gf_json_put_double(w, "similarity", q->similarity);
    if (s) {
        gf_json_put_uint(w, "repeated", s->documents);
        gf_json_put_double(w, "seeds_nmi", s->seeds_nmi);
        gf_json_put_double(w, "seeds_ari", s->seeds_ari);
        gf_json_put_double(w, "halves_nmi", s->halves_nmi);
        gf_json_put_double(w, "halves_ari", s->halves_ari);
    }
    gf_json_key(w, "per_cluster");
    gf_json_begin(w, '[');
    gf_status st = gf_view_clusters(f->view, write_cluster, f, err);
    gf_json_end(w, ']');
    return st == GF_OK ? gf_row_writer_emit(&f->row, err) : st;
}

static gf_status emit_with_stability(void *context, const gf_stability *stability, gf_error *err)
{
    figuring *f = context;
    if (stability->build != gf_view_build(f->view)->build)
        return gf_fail(err, GF_ECONFLICT,
                       "stability is that of the served build, which is another one: leave build "
                       "out, or try again where it was published meanwhile");
    f->stability = stability;
    return emit_figures(f, err);
}

static void tell_progress(void *context, gf_place where, const char *phase, uint64_t done,
                          uint64_t total)
{
    gf_call_progress(context, where.collection, phase, done, total);
}

static gf_status tell_figures(gf_call *call, gf_view *view, gf_error *err)
{
    figuring f = {.row = {.call = call}, .view = view};
    gf_store *store;
    gf_status st = gf_view_figures(view, &f.figures, err);
    if (st == GF_OK && gf_call_flag(call, "stability")) {
        gf_rebuild_options o =
            GF_REBUILD_OPTIONS(.threads = (unsigned)gf_call_number(call, "threads", 0),
                               .cancel = call->cancel, .progress = tell_progress, .context = call);
        st = gf_call_store(call, &store, err);
        if (st == GF_OK)
            st = gf_stability_measure(store, gf_call_place(call), gf_call_configuration(call), &o,
                                      emit_with_stability, &f, err);
    } else if (st == GF_OK) {
        st = emit_figures(&f, err);
    }
    gf_row_writer_release(&f.row);
    return st;
}

/* ---- either ---------------------------------------------------------------------------------- */

static gf_status run_evaluate(gf_call *call, gf_error *err)
{
    evaluating e = {.row = {.call = call}};
    gf_view *view = NULL;
    gf_slice field = gf_call_text(call, "label-field");
    bool classes = field.len || call->input.next;
    if (field.len && call->input.next)
        return gf_fail(err, GF_EINVAL, "evaluate takes either label-field or an input, not both");
    if (classes && gf_call_flag(call, "stability"))
        return gf_fail(err, GF_EINVAL, "stability needs no classes: leave them out");
    if (!gf_call_flag(call, "stability") && gf_call_has(call, "threads"))
        return gf_fail(err, GF_EINVAL, "threads is for stability");
    gf_status st = gf_call_view(call, &view, err);
    if (st == GF_OK && !classes) {
        st = tell_figures(call, view, err);
        gf_view_close(view);
        return st;
    }
    if (st == GF_OK && !field.len) st = read_labels(&e, err);
    if (st == GF_OK)
        st = gf_view_evaluate(view, field, field.len ? NULL : class_of, &e, call->cancel,
                              emit_evaluation, &e, err);
    gf_row_writer_release(&e.row);
    gf_view_close(view);
    gf_strings_release(&e.ids);
    gf_strings_release(&e.classes);
    gf_free(e.class_number);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter evaluate_parameters[] = {
    P_COLLECTIONS,
    P_EVERY,
    P_CONFIG,
    P_BUILD,
    P_TEXT("label-field", "FIELD",
           "compare with the classes in that field; an input of ids and classes does likewise"),
    P_FLAG("stability", "without classes: also cluster again, with other seeds and in halves"),
    P_NUMBER("threads", 0, 1024, "with stability: threads (one per processor)")};

const gf_operation gf_evaluate_operation = {
    .name = "evaluate",
    .method = "GET",
    .path = "/collections/{collection}/evaluation",
    .meaning = "Tell how good clusters are, without classes or beside them",
    GF_PARAMETERS(evaluate_parameters),
    .members = gf_schema_evaluate,
    .run = run_evaluate,
    .reach = GF_REACH_ALL,
    .input = GF_INPUT_OPTIONAL,
    .single = true,
};

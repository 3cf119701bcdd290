/* Operations for whoever links the library: a call that is filled in by C, or by a language over it. */
#include "grouperfish/ask.h"

#include "api/operation.h"
#include "base/options.h"

typedef struct asking {
    const gf_ask *ask;
    gf_store *store;
    const char *name;
    bool was_read; /* the one stream of the input */
} asking;

/* ---- what an operation asks for -------------------------------------------------------------- */

static gf_status give_store(void *context, bool create, gf_store **store, gf_error *err)
{
    const asking *a = context;
    (void)create;
    if (!a->store) return gf_fail(err, GF_EINVAL, "%s needs an open store", a->name);
    *store = a->store;
    return GF_OK;
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    asking *a = context;
    if (a->was_read) return gf_fail(err, GF_ENOTFOUND, "no more input");
    a->was_read = true;
    *name = a->ask->input_name.len ? a->ask->input_name : GF_SLICE("input");
    return GF_OK;
}

static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    const gf_ask *ask = ((asking *)context)->ask;
    gf_status st = ask->read(ask->context, to, n, got, err);
    if (st == GF_OK && *got > n)
        st = gf_fail(err, GF_EINVAL, "%zu bytes were read where %zu were asked for", *got, n);
    return st;
}

static gf_status check_store(const gf_operation *o, const asking *a, gf_error *err)
{
    if (o->use == GF_USE_SHARED && !a->store)
        return gf_fail(err, GF_EINVAL, "%s needs an open store", o->name);
    if (o->use != GF_USE_ALONE) return GF_OK;
    if (a->store)
        return gf_fail(err, GF_EINVAL,
                       "%s works on a store that is closed: close it, and give its path", o->name);
    if (!a->ask->path) return gf_fail(err, GF_EINVAL, "%s needs the path of a store", o->name);
    return GF_OK;
}

gf_status gf_ask_run(gf_store *store, const char *operation, const gf_ask *ask,
                     gf_ask_result *result, gf_error *err)
{
    gf_status st = gf_options_check(ask->version, GF_ASK_VERSION, "gf_ask", err);
    if (st != GF_OK) return st;
    const gf_operation *o = gf_operation_find(operation);
    if (!o) return gf_fail(err, GF_EINVAL, "there is no operation \"%s\"", operation);
    asking a = {.ask = ask, .store = store, .name = o->name};
    gf_call call = {.arguments = ask->arguments,
                    .n_arguments = ask->n_arguments,
                    .name_space = ask->name_space.len ? ask->name_space : GF_SLICE("default"),
                    .sink = ask->sink,
                    .holder = {.context = &a,
                               .store = give_store,
                               .path = ask->path ? ask->path : "",
                               .wait_seconds = ask->wait_seconds},
                    .cancel = ask->cancel};
    if (ask->read) call.input = (gf_input){.context = &a, .next = next_stream, .read = read_stream};
    st = check_store(o, &a, err);
    if (st == GF_OK) st = gf_operation_run(o, &call, err);
    if (st == GF_OK && result) *result = (gf_ask_result){call.outcome, call.taken};
    return st;
}

/* ---- what there is --------------------------------------------------------------------------- */

static const char *kind_name(gf_parameter_kind kind)
{
    switch (kind) {
    case GF_PARAMETER_TEXT:
        return "text";
    case GF_PARAMETER_PATH:
        return "path";
    case GF_PARAMETER_NUMBER:
        return "number";
    case GF_PARAMETER_BYTES:
        return "bytes";
    case GF_PARAMETER_MOMENT:
        return "moment";
    case GF_PARAMETER_SHARE:
        return "share";
    case GF_PARAMETER_CHOICE:
        return "choice";
    case GF_PARAMETER_FLAG:
        return "flag";
    case GF_PARAMETER_LIST:
        return "list";
    case GF_PARAMETER_SEVERAL:
        return "several";
    case GF_PARAMETER_SETTINGS:
        return "settings";
    case GF_PARAMETER_SETTING:
        return "setting";
    }
    return "text";
}

static void put_parameter(gf_json_writer *w, const gf_parameter *p)
{
    gf_json_begin(w, '{');
    gf_json_put_str(w, "name", p->name);
    gf_json_put_str(w, "kind", kind_name(p->kind));
    gf_json_put_bool(w, "required", p->required);
    if (p->value) gf_json_put_str(w, "value", p->value);
    gf_json_put_str(w, "meaning", p->meaning);
    gf_json_end(w, '}');
}

static void put_operation(gf_json_writer *w, const gf_operation *o)
{
    static const char *const inputs[] = {"none", "optional", "required"};
    static const char *const stores[] = {"open", "closed", "none"};
    gf_json_begin(w, '{');
    gf_json_put_str(w, "name", o->name);
    gf_json_put_str(w, "meaning", o->meaning);
    gf_json_put_str(w, "input", inputs[o->input]);
    gf_json_put_str(w, "store", stores[o->use]);
    gf_json_put_bool(w, "changes", gf_operation_writes(o));
    gf_json_key(w, "parameters");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < o->n_parameters; i++)
        put_parameter(w, &o->parameters[i]);
    gf_json_end(w, ']');
    gf_json_end(w, '}');
}

gf_status gf_ask_operations(gf_visit_operation *visit, void *context, gf_error *err)
{
    gf_buffer json = {0};
    gf_status st = GF_OK;
    const gf_operation *o;
    for (size_t i = 0; st == GF_OK && (o = gf_operation_at(i)); i++) {
        gf_buffer_reset(&json);
        gf_json_writer w = gf_json_writer_to(&json);
        put_operation(&w, o);
        st = gf_buffer_check(&json, err);
        if (st == GF_OK) st = visit(context, gf_buffer_view(&json), err);
    }
    gf_buffer_release(&json);
    return st;
}

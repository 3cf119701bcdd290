/* names: titles of clusters, asked of a language model; or the prompts alone. */
#include "api/clusters/internal.h"
#include "api/clusters/schema.h"

#include "base/file.h"
#include "base/memory.h"

enum { MOST_KEY_FILE = 64 << 10 };

typedef struct naming {
    gf_row_writer row;
    uint64_t n; /* clusters that were looked at */
} naming;

static gf_status emit_title(void *context, const gf_title_info *info, gf_error *err)
{
    naming *x = context;
    gf_row_writer *row = &x->row;
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_uint(w, "cluster", info->cluster);
    gf_json_put_string(w, "label", info->label);
    gf_json_put_str(w, "outcome", gf_title_outcome_word(info->outcome));
    if (info->title.len) gf_json_put_string(w, "title", info->title);
    if (info->why.len) gf_json_put_string(w, "why", info->why);
    gf_json_put_uint(w, "calls", info->calls);
    if (info->prompt.len) {
        gf_json_key(w, "prompt");
        gf_json_raw(w, info->prompt);
    }
    gf_call_progress(row->call, gf_call_text(row->call, "collection"), "clusters", ++x->n, 0);
    return gf_row_writer_emit(row, err);
}

/* The first word of the file: keys end with a line feed there. */
static gf_status read_key(const gf_call *call, gf_buffer *file, gf_slice *key, gf_error *err)
{
    gf_slice path = gf_call_text(call, "key-file");
    if (!path.len) return GF_OK;
    char *name = gf_copy_string(path.ptr, path.len);
    if (!name) return gf_fail_memory(err, "a key");
    gf_status st = gf_file_read_secret(name, file, err);
    gf_free(name);
    if (st != GF_OK) return st;
    gf_slice text = gf_buffer_view(file);
    size_t n = 0;
    while (n < text.len && (unsigned char)text.ptr[n] > ' ')
        n++;
    *key = gf_slice_of(text.ptr, n);
    if (n == 0)
        return gf_fail(err, GF_EINVAL, "%.*s does not begin with a key", GF_SLICE_ARG(path));
    return GF_OK;
}

/* "3,label:hockey" -> ids */
static gf_status find_clusters(gf_call *call, uint32_t **ids, size_t *n, gf_error *err)
{
    gf_slice *names = NULL;
    gf_view *view = NULL;
    gf_status st = gf_call_list(call, "clusters", &names, n, err);
    if (st == GF_OK && *n) {
        *ids = gf_array(*n, sizeof **ids);
        st = *ids ? gf_call_view(call, &view, err) : gf_fail_memory(err, "clusters");
    }
    for (size_t i = 0; i < *n && st == GF_OK; i++) {
        uint32_t id = 0;
        gf_slice label = {0};
        st = gf_cluster_read_name(names[i], &id, &label, err);
        if (st == GF_OK) st = gf_cluster_find(view, id, label, &(*ids)[i], err);
    }
    gf_view_close(view);
    gf_free(names);
    return st;
}

static gf_status run_names(gf_call *call, gf_error *err)
{
    gf_store *store;
    naming x = {.row = {.call = call}};
    gf_buffer file = {.max = MOST_KEY_FILE}, url = {0}, model = {0};
    gf_slice key = {0};
    uint32_t *clusters = NULL;
    size_t n = 0;
    bool show = gf_call_flag(call, "show-prompt");
    if (!show && !gf_call_has(call, "from"))
        return gf_fail(err, GF_EINVAL,
                       "names needs the address of a model's server (--from), or --show-prompt");
    gf_buffer_slice(&url, gf_call_text(call, "from"));
    gf_buffer_slice(&model, gf_call_text(call, "model"));
    const char *url_text = gf_buffer_cstr(&url), *model_text = gf_buffer_cstr(&model);
    gf_status st = gf_buffer_check(&url, err);
    if (st == GF_OK) st = gf_buffer_check(&model, err);
    if (st == GF_OK) st = read_key(call, &file, &key, err);
    if (st == GF_OK) st = gf_call_store(call, &store, err);
    if (st == GF_OK) st = find_clusters(call, &clusters, &n, err);
    if (st == GF_OK) {
        const gf_titles_options o =
            GF_TITLES_OPTIONS(.url = url.len ? url_text : NULL, .model = model_text, .key = key,
                              .language = gf_call_text(call, "lang"), .clusters = clusters,
                              .n_clusters = n, .most_calls = gf_call_number(call, "calls", 0),
                              .seconds = (unsigned)gf_call_number(call, "timeout", 0),
                              .attempts = (unsigned)gf_call_number(call, "attempts", 0),
                              .again = gf_call_flag(call, "again"), .show = show,
                              .cancel = call->cancel);
        st = gf_titles_make(store, gf_call_place(call), gf_call_configuration(call), &o, emit_title,
                            &x, err);
    }
    gf_row_writer_release(&x.row);
    gf_buffer_release(&file);
    gf_buffer_release(&url);
    gf_buffer_release(&model);
    gf_free(clusters);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter names_parameters[] = {
    P_COLLECTION,
    P_TEXT("from", "URL", "server that speaks POST /v1/chat/completions"),
    P_REQUIRED("model", "NAME", "model, as that server calls it"),
    {"key-file", GF_PARAMETER_PATH, false, "FILE",
     "file with the key for it, which its owner alone may read", 0, 0},
    P_CONFIG,
    P_LIST("clusters", "ID,...", "only these, by id or label:TEXT (all)"),
    P_TEXT("lang", "CODE", "language of the names (the documents')"),
    P_FLAG("again", "ask also where the prompt has not changed"),
    P_FLAG("show-prompt", "show what would be sent, and send nothing"),
    P_NUMBER("calls", 1, 1000000, "at most so many calls (1000)"),
    P_NUMBER("timeout", 1, 3600, "seconds that an answer may take (60)"),
    P_NUMBER("attempts", 1, 100, "at an answer that does not come (4)")};

const gf_operation gf_names_operation = {
    .name = "names",
    .method = "POST",
    .path = "/collections/{collection}/names",
    .meaning = "Ask a language model for names of clusters",
    GF_PARAMETERS(names_parameters),
    .members = gf_schema_names,
    .run = run_names,
    .local = true,
    .resumes = true,
    .network = true,
};

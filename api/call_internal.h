/**
 * What handlers use to read their arguments and to write their rows.
 */
#ifndef GF_API_CALL_INTERNAL_H
#define GF_API_CALL_INTERNAL_H

#include "api/operation.h"
#include "base/json_writer.h"

/** The last argument of that name, or an empty slice. */
gf_slice gf_call_text(const gf_call *call, const char *name);
gf_slice gf_call_text_or(const gf_call *call, const char *name, const char *otherwise);
bool gf_call_flag(const gf_call *call, const char *name);

/** Whether it was given at all. */
bool gf_call_has(const gf_call *call, const char *name);

/** A number that was checked already; `otherwise` where it is not given. */
uint64_t gf_call_number(const gf_call *call, const char *name, uint64_t otherwise);

/** All values of a list, split at commas, in the order given; free with gf_free. */
gf_status gf_call_list(const gf_call *call, const char *name, gf_slice **values, size_t *n,
                       gf_error *err);

/** Number of arguments of that name; and the i-th. */
size_t gf_call_count(const gf_call *call, const char *name);
gf_slice gf_call_nth(const gf_call *call, const char *name, size_t i);

/** Parse "16M"; false where it is no size. */
bool gf_parse_bytes(gf_slice text, uint64_t *bytes);

/** The collection that argument "collection" names, in the call's namespace. */
gf_place gf_call_place(const gf_call *call);

/** The store; it must be there. */
gf_status gf_call_store(const gf_call *call, gf_store **store, gf_error *err);

/**
 * The build that "collection", "config" and "build" name.
 */
gf_status gf_call_view(const gf_call *call, gf_view **view, gf_error *err);

/** A row that is being written. */
typedef struct gf_row_writer {
    gf_buffer buffer;
    gf_json_writer json;
} gf_row_writer;

void gf_row_open(gf_row_writer *row);
/** Hand the row on and make it ready for the next. */
gf_status gf_row_emit(gf_row_writer *row, const gf_call *call, gf_error *err);
void gf_row_release_writer(gf_row_writer *row);

/** "2026-11-20T08:00:00Z"; nothing is written where ms is 0. */
void gf_json_put_time(gf_json_writer *w, const char *name, int64_t ms);

/** id, text, time, lang and the other fields as members of the object that is open. */
void gf_json_put_document(gf_json_writer *w, const gf_document *document, bool with_text);

/** What happened to one of several; shared by builds and rebuild. */
void gf_json_put_build(gf_json_writer *w, const gf_build_info *info);

/** cluster, label, score, runner_up, ..., margin. */
void gf_json_put_membership(gf_json_writer *w, const gf_membership *m);

/* The handlers, one file each. */
gf_status gf_run_init(gf_call *call, gf_error *err);
gf_status gf_run_collection_create(gf_call *call, gf_error *err);
gf_status gf_run_collection_list(gf_call *call, gf_error *err);
gf_status gf_run_collection_show(gf_call *call, gf_error *err);
gf_status gf_run_collection_delete(gf_call *call, gf_error *err);
gf_status gf_run_put(gf_call *call, gf_error *err);
gf_status gf_run_delete(gf_call *call, gf_error *err);
gf_status gf_run_config_set(gf_call *call, gf_error *err);
gf_status gf_run_config_show(gf_call *call, gf_error *err);
gf_status gf_run_config_list(gf_call *call, gf_error *err);
gf_status gf_run_config_delete(gf_call *call, gf_error *err);
gf_status gf_run_config_keys(gf_call *call, gf_error *err);
gf_status gf_run_rebuild(gf_call *call, gf_error *err);
gf_status gf_run_builds(gf_call *call, gf_error *err);
gf_status gf_run_clusters(gf_call *call, gf_error *err);
gf_status gf_run_cluster(gf_call *call, gf_error *err);
gf_status gf_run_doc(gf_call *call, gf_error *err);
gf_status gf_run_export(gf_call *call, gf_error *err);
gf_status gf_run_evaluate(gf_call *call, gf_error *err);
gf_status gf_run_status(gf_call *call, gf_error *err);
gf_status gf_run_verify(gf_call *call, gf_error *err);
gf_status gf_run_version(gf_call *call, gf_error *err);

#endif

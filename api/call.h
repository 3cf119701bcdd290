/**
 * For handlers: reading a call's arguments, opening its store, writing its rows.
 */
#ifndef GF_API_CALL_INTERNAL_H
#define GF_API_CALL_INTERNAL_H

#include "api/operation.h"
#include "base/arena.h"
#include "base/json/writer.h"
#include "formats/reader.h"

/* ---- arguments: checked before the handler runs ---------------------------------------------- */

/** Check a value against its parameter; GF_EINVAL says what it must be. */
gf_status gf_arguments_check_value(const gf_parameter *parameter, gf_slice value, gf_error *err);

/** Whether it was given at all. */
bool gf_call_has(const gf_call *call, const char *name);

/** The last argument of that name, or an empty slice. */
gf_slice gf_call_text(const gf_call *call, const char *name);
gf_slice gf_call_text_or(const gf_call *call, const char *name, const char *otherwise);
bool gf_call_flag(const gf_call *call, const char *name);

/**
 * The parameter "set": settings and their values, an empty one for the default, in the order given.
 * *pairs, which is freed with gf_free, is NULL where there are none.
 */
gf_status gf_call_settings(const gf_call *call, gf_pair **pairs, size_t *n, gf_error *err);

double gf_call_share(const gf_call *call, const char *name, double otherwise);

/** All values of a list, split at commas, in the order given; free with gf_free. */
gf_status gf_call_list(const gf_call *call, const char *name, gf_slice **values, size_t *n,
                       gf_error *err);

/** Number of arguments of that name; and the i-th. */
size_t gf_call_count(const gf_call *call, const char *name);
gf_slice gf_call_nth(const gf_call *call, const char *name, size_t i);

/** A cluster as it is named: "17", or "label:hockey", whose label is borrowed; GF_EINVAL. */
gf_status gf_cluster_read_name(gf_slice text, uint32_t *id, gf_slice *label, gf_error *err);

/** Whether a text names a group of the tree, as g12 does, and its id. */
bool gf_cluster_name_is_group(gf_slice text, uint32_t *group);

/** The id of the view's cluster of that id, or of that label where id is 0; GF_ENOTFOUND. */
gf_status gf_cluster_find(gf_view *view, uint32_t id, gf_slice label, uint32_t *found,
                          gf_error *err);

/** The collection that argument "collection" names, in the call's namespace. */
gf_place gf_call_place(const gf_call *call);

/** Argument "config", or "default". */
gf_slice gf_call_configuration(const gf_call *call);

/** Run the operation for each collection that the call's pattern, or "all", means (several.c). */
gf_status gf_several_run(const gf_operation *operation, gf_call *call, gf_error *err);

/* ---- the store (call.c) ---------------------------------------------------------------------- */

/** The store; it must be there, unless it may be created. */
gf_status gf_call_store(const gf_call *call, gf_store **store, gf_error *err);
gf_status gf_call_open_store(const gf_call *call, bool create, gf_store **store, gf_error *err);

/** The build that "collection", "config" and "build" name; warm: for whoever places documents (engine/view/shelf.h). */
gf_status gf_call_view(const gf_call *call, gf_view **view, gf_error *err);
gf_status gf_call_view_warm(const gf_call *call, gf_view **view, gf_error *err);

/**
 * Something was not found: add to the message the nearest that is there, of what the arguments
 * name. What goes wrong meanwhile is passed over.
 */
void gf_suggest_nearest(const gf_call *call, gf_error *err);

/* ---- records.c: records that come with a call ------------------------------------------------ */

/**
 * Decoding by the argument "encoding". Files that are converted are counted in the call, and told
 * where their encoding was not said; the call must last as long as what decodes.
 */
gf_decoding_options gf_records_decoding(gf_call *call);

/**
 * Open the call's input by its arguments "id", "text", "time", "lang", "fields", "from", "encoding"
 * and "max-document"; of other fields nothing is kept unless keep_fields. The call must last as long
 * as the reader.
 */
gf_status gf_records_reader(gf_call *call, bool keep_fields, gf_reader **reader, gf_error *err);

/**
 * The same for records that need no text, but have the first of these fields; they alone are kept.
 * The slices must last as long as the reader.
 */
gf_status gf_records_reader_of_fields(gf_call *call, const gf_slice *fields, size_t n_fields,
                                      gf_reader **reader, gf_error *err);

/** The same over another input, JSON Lines whose text is `text` where the call does not say. */
gf_status gf_records_reader_of(const gf_call *call, const gf_input *input, const gf_slice *text,
                               size_t n_text, gf_reader **reader, gf_error *err);

/** Tell that a record was refused, and hand it to whoever keeps those. */
gf_status gf_records_refuse(const gf_call *call, const gf_record *record, const char *reason,
                            const char *message, gf_error *err);

/* ---- ids.c: ids that come with a call -------------------------------------------------------- */

typedef gf_status gf_visit_id(void *context, gf_slice id, gf_error *err);

/**
 * Visit the arguments "id", else the lines of the call's input, without empty ones: GF_EINVAL where
 * there is neither. An id of over GF_MAX_ID bytes may be cut, but not below that.
 */
gf_status gf_call_each_id(const gf_call *call, gf_visit_id *visit, void *context, gf_error *err);

/* ---- rows ------------------------------------------------------------------------------------ */

/** The row that is being written; {.call = call} to begin with. */
typedef struct gf_row_writer {
    gf_call *call;
    gf_buffer buffer;
    gf_json_writer json;
    bool ids_are_known, numeric_ids; /* what the call says of ids, once it was asked */
} gf_row_writer;

/** Forget what was begun and start an object, with "collection" where the call wants that. */
gf_json_writer *gf_row_writer_begin(gf_row_writer *row);

/** Start an object that begins with "collection" in any case. */
gf_json_writer *gf_row_writer_begin_of(gf_row_writer *row, gf_slice collection);

/** End the object and hand it on. */
gf_status gf_row_writer_emit(gf_row_writer *row, gf_error *err);
void gf_row_writer_release(gf_row_writer *row);

/** End the object and keep it: a copy in the arena instead of handing it on. */
gf_status gf_row_writer_keep(gf_row_writer *row, gf_arena *memory, gf_slice *kept, gf_error *err);

/** For a row that stands alone: emit and release. */
gf_status gf_row_writer_emit_only(gf_row_writer *row, gf_error *err);

/** Visits the cells of a table and emits each; the context is a gf_row_writer. */
gf_status gf_row_writer_emit_column(void *row_writer, const char *family, gf_slice column,
                                    gf_slice value, gf_error *err);

/** The same, with the length alone of a binary value of more than 1,024 bytes. */
gf_status gf_row_writer_emit_short_column(void *row_writer, const char *family, gf_slice column,
                                          gf_slice value, gf_error *err);

/**
 * The member "id" of a document: a string, or by the call's argument id-type a number, where it is a
 * whole number of 64 bits as numbers are written.
 */
void gf_row_put_id(gf_row_writer *row, gf_slice id);

/** "2026-11-20T08:00:00Z"; nothing is written where ms is 0. */
void gf_row_put_time(gf_json_writer *w, const char *name, int64_t ms);

/** A notice as an object: "reason", "source", "line" where it has one, "message". */
void gf_row_put_notice(gf_json_writer *w, const gf_notice *n);

/** time, lang, and the other fields as members of an object "fields": those that there are. */
void gf_row_put_fields(gf_json_writer *w, const gf_document *document);

/** The members that describe a finished build; shared by builds and rebuild. */
void gf_row_put_build(gf_json_writer *w, const gf_build_info *info);

/** share: a size by the documents of the build that are still there. */
void gf_row_put_share(gf_json_writer *w, uint64_t size, uint64_t documents);

/** cluster, label and size; and the terms, at most so many. */
void gf_row_put_cluster(gf_json_writer *w, const gf_cluster_info *info);
void gf_row_put_terms(gf_json_writer *w, const gf_cluster_info *info, uint64_t most);
void gf_row_put_sentence(gf_row_writer *row, const gf_cluster_info *info); /* if it has one */
void gf_row_put_title(gf_json_writer *w, const gf_cluster_info *info);     /* likewise */

/** hidden, locked and the state: those that there are. */
void gf_row_put_marks(gf_json_writer *w, const gf_cluster_info *info);

/** Tell of each edit that the last rebuild of the configuration could not keep (api/clusters/edits.c). */
gf_status gf_edits_tell_lost(const gf_call *call, gf_store *store, gf_place where,
                             gf_slice configuration, gf_error *err);

/** status, owner, link and note: those that there are; of NULL none. */
void gf_row_put_state(gf_json_writer *w, const gf_cluster_state *state);

/** clarity, mean_score, ..., similarity; nothing where there are none. */
void gf_row_put_figures(gf_json_writer *w, const gf_cluster_figures *figures);

/** cluster, label, score, runner_up, ..., margin. */
void gf_row_put_membership(gf_json_writer *w, const gf_membership *m);

/** A row of search or similar: the document, where it is, and a piece of its text (api/documents/search.c). */
gf_status gf_search_emit_hit(void *row_writer, const gf_hit *hit, gf_error *err);

/* ---- trends (api/clusters/by.c) -------------------------------------------------------------- */

/** Periods at most where the unit follows the documents' times. */
enum { GF_TREND_PERIODS = 48 };

/** The unit that `by` names; GF_PERIOD_AUTO for auto, and without one. */
gf_period gf_clusters_unit(const gf_call *call);
const char *gf_clusters_unit_name(gf_period unit);

/** "rising", "falling" or "steady". */
const char *gf_clusters_trend_word(gf_direction direction);

#endif

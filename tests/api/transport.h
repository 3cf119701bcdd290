/**
 * A transport in process: runs operations against a store in a temporary folder and keeps what they
 * give. Every row is parsed as it comes; one that is not a whole JSON object fails the test.
 *
 *     transport t;
 *     transport_open(&t);
 *     transport_input(&t, "a.jsonl", GF_SLICE("{...}"));
 *     assert_ok(transport_run(&t, &err, "put", "collection", "a", NULL));
 *     transport_number(&t, 0, "new")
 *     transport_close(&t);
 */
#ifndef GF_TESTS_API_TRANSPORT_H
#define GF_TESTS_API_TRANSPORT_H

#include "api/operation.h"
#include "base/json/json.h"

enum { TRANSPORT_ARGUMENTS = 32, TRANSPORT_STREAMS = 4, TRANSPORT_KEPT = 256 };

typedef struct transport_stream {
    const char *name;
    gf_slice bytes;
} transport_stream;

typedef struct transport_notice {
    char reason[32], source[64], message[GF_ERROR_MESSAGE];
    uint64_t line;
} transport_notice;

typedef struct transport {
    const char *folder;
    gf_store *store;       /* opened when an operation asks for it, kept until close */
    const char *namespace; /* "default" */

    transport_stream streams[TRANSPORT_STREAMS]; /* n_streams: of the next call, then forgotten */
    size_t n_streams, at, read_of;
    bool has_input;       /* also where no stream is in it */
    gf_status read_fails; /* what reading behind the last byte ends with; GF_OK: the end */

    gf_json_parser *parser;
    gf_buffer rows;                       /* of the last call, one behind the other */
    size_t row_start[TRANSPORT_KEPT + 1]; /* the i-th is rows[row_start[i], row_start[i + 1]) */
    uint64_t n_rows;
    uint64_t emit_fails_at; /* the row of this number (1-based) cannot be handed on; 0: all can */

    transport_notice notices[TRANSPORT_KEPT];
    size_t n_notices;
    gf_buffer written;  /* the bytes of the last call */
    gf_buffer rejected; /* each record with a LF behind it */
    bool keeps_rejects;
    bool takes_file; /* bytes of a file beside the rows; else the call is given no place for them */
    uint64_t n_progress;
    gf_cancel cancel;
    uint64_t cancel_at; /* requested when so many rows or notices have come; 0: not */
    gf_outcome outcome; /* of the last call */

    /* Of the call that is under way: its rows have the members that the operation says (schema.h). */
    const gf_operation *operation;
    const gf_argument *arguments;
    size_t n_arguments;
} transport;

void transport_open(transport *t);
void transport_close(transport *t);

/** Close the store, so that the next operation opens it again, or verify can. */
void transport_close_store(transport *t);

/** Give the next call a further stream; name and bytes must last until then. */
void transport_input(transport *t, const char *name, gf_slice bytes);

/** Run an operation with arguments: name, value, ..., NULL. */
gf_status transport_run(transport *t, gf_error *err, const char *operation, ...);

/** The same with ready arguments. */
gf_status transport_run_with(transport *t, const char *operation, const gf_argument *arguments,
                             size_t n, gf_error *err);

/** Put JSON Lines into a collection; the test fails where a record of it is not stored. */
void transport_put(transport *t, const char *collection, const char *lines);

/* ---- looking at rows: borrowed until the next look or call ----------------------------------- */

/** A row as it was given. */
gf_slice transport_bytes(const transport *t, uint64_t row);

/** A row, or a member of it; the test fails where it is not there. */
gf_json_value transport_row(transport *t, uint64_t row);
gf_json_value transport_member(transport *t, uint64_t row, const char *name);
double transport_number(transport *t, uint64_t row, const char *name);
gf_slice transport_text(transport *t, uint64_t row, const char *name);
bool transport_has(transport *t, uint64_t row, const char *name);

/** A member of a member: of the item `i` of the array `name`. */
gf_json_value transport_item(transport *t, uint64_t row, const char *name, size_t i,
                             const char *member);
size_t transport_length(transport *t, uint64_t row, const char *name);

/** The names of a row's members in their order, with a space between: "id cluster label". */
const char *transport_members(transport *t, uint64_t row);

/** A call that succeeds, and one that fails with a status and a message that has these words. */
#define assert_run(t, ...)                                                                         \
    do {                                                                                           \
        gf_error err_ = {GF_OK, ""};                                                               \
        if (transport_run((t), &err_, __VA_ARGS__, (char *)NULL) != GF_OK)                         \
            fail_msg("%s", err_.message);                                                          \
    } while (0)

#define assert_refused(expected, words, t, ...)                                                    \
    do {                                                                                           \
        gf_error err_ = {GF_OK, ""};                                                               \
        gf_status st_ = transport_run((t), &err_, __VA_ARGS__, (char *)NULL);                      \
        if (st_ != (expected) || err_.status != st_ || !strstr(err_.message, words))               \
            fail_msg("%s: %s", gf_status_name(st_), err_.message);                                 \
    } while (0)

#endif

/**
 * The operations: everything that can be asked of Grouperfish, whoever asks.
 *
 * An operation takes named arguments and maybe a stream of bytes, and gives rows, each one JSON
 * object. A transport (the command, later a socket or HTTP) fills in a call and hands the rows on;
 * it never does an operation's work itself. The JSON of the rows is the stable interface:
 * docs/operations.md.
 */
#ifndef GF_API_OPERATION_H
#define GF_API_OPERATION_H

#include "api/row_member.h"
#include "base/json/writer.h"
#include "formats/bytes/input.h"
#include "grouperfish.h"
#include "grouperfish/ask.h"
#include "grouperfish/buffer.h"

typedef enum gf_parameter_kind {
    GF_PARAMETER_TEXT, /* UTF-8, not empty */
    GF_PARAMETER_PATH, /* likewise: a path of the caller's; over a store's socket it is made absolute */
    GF_PARAMETER_NUMBER,   /* whole, from least to most */
    GF_PARAMETER_BYTES,    /* a number, maybe with K, M, G or T behind it; likewise */
    GF_PARAMETER_MOMENT,   /* a build's time: milliseconds since 1970, or ISO 8601 */
    GF_PARAMETER_SHARE,    /* a decimal number from 0 to 1 */
    GF_PARAMETER_CHOICE,   /* one of the words that `value` lists */
    GF_PARAMETER_FLAG,     /* there (empty or "true"), or not there, or "false" */
    GF_PARAMETER_LIST,     /* may be given several times, and with commas */
    GF_PARAMETER_SEVERAL,  /* may be given several times, each a whole */
    GF_PARAMETER_SETTINGS, /* likewise: KEY=VALUE, keys of a configuration (gf_settings) */
    GF_PARAMETER_SETTING   /* a value of the configuration's key of the parameter's name */
} gf_parameter_kind;

typedef struct gf_parameter {
    const char *name;
    gf_parameter_kind kind;
    bool required;
    const char *value;   /* what help calls it; of a choice the words, with | between them */
    const char *meaning; /* one line, as help shows it */
    uint64_t least, most;
} gf_parameter;

/** A holder gives the store; it may be handed on too. */
typedef struct gf_holder {
    void *context;
    /* Get the store, opening it if need be; it stays the holder's. GF_ENOTFOUND: there is none. */
    gf_status (*store)(void *context, bool create, gf_store **store, gf_error *err);
    const char *path;    /* the store's, as the caller names it */
    double wait_seconds; /* how long to wait until nobody holds a store that must be closed */
    const char *name;    /* who holds it for the caller; NULL: the caller itself */
} gf_holder;

/** One call of an operation. The transport owns everything in it. */
typedef struct gf_call {
    const gf_argument *arguments; /* n_arguments, in the order given */
    size_t n_arguments;
    gf_slice name_space;
    gf_sink sink;
    gf_holder holder;
    gf_input input;          /* the bytes that come with the call; next is NULL where none do */
    const gf_cancel *cancel; /* may be requested from a signal handler */

    /* Set by gf_operation_run, from the arguments. */
    gf_input_bounds bounds; /* the input's; .damaged: it is the input that a GF_ECORRUPT is about */

    /* Set by the operation. */
    gf_outcome outcome;
    uint64_t taken; /* records of the input that are stored now, also where they were before */
    uint64_t
        converted; /* files of the input that were not UTF-8, and were read as something else */
    bool partly;   /* it failed for some of several collections: all other rows were given */

    gf_slice row_collection; /* each row begins with this as "collection"; empty: none does */
} gf_call;

/** Hand a row on to the call's sink; it is one whole JSON object. */
gf_status gf_call_emit(const gf_call *call, gf_slice row, gf_error *err);

/** Bytes of the file beside the rows, which the caller wants: sink.write is there. */
gf_status gf_call_write(const gf_call *call, gf_slice bytes, gf_error *err);

/** Notices, progress and refused records go nowhere where the caller does not want them. */
void gf_call_notify(const gf_call *call, const gf_notice *notice);
void gf_call_progress(const gf_call *call, gf_slice what, const char *phase, uint64_t done,
                      uint64_t total);
gf_status gf_call_reject(const gf_call *call, gf_slice record, gf_error *err);

/** The number of collections that one call may name. */
typedef enum gf_reach {
    GF_REACH_ONE,
    GF_REACH_PATTERN, /* argument "collection" may be a pattern (base/glob.h) */
    GF_REACH_ALL      /* and the flag "all" means every collection of the namespace */
} gf_reach;

/** Whether bytes come with the call. */
typedef enum gf_operation_input {
    GF_INPUT_NONE,
    GF_INPUT_OPTIONAL,
    GF_INPUT_REQUIRED /* a call without an input is refused */
} gf_operation_input;

/** An operation's need of the store. */
typedef enum gf_operation_use {
    GF_USE_SHARED, /* an open store: whoever holds it can run the operation for others */
    GF_USE_ALONE,  /* a store that is closed, which it opens itself */
    GF_USE_NONE    /* no store */
} gf_operation_use;

/** An operation under another method, at the same path: as with a flag. */
typedef struct gf_operation_variant {
    const char *name; /* "config replace" */
    const char *method, *meaning;
    const char *flag; /* of its parameters */
} gf_operation_variant;

/** An operation, with all that a transport, its help or its documentation must know of it. */
typedef struct gf_operation {
    const char *name;   /* "collection list" */
    const char *method; /* as a request: GET, PUT, POST, PATCH, DELETE; GET changes nothing */
    const char *path;   /* with {parameters} */
    const char *meaning;
    const gf_parameter *parameters; /* n_parameters */
    size_t n_parameters;
    const gf_row_member *members; /* of its rows */
    gf_status (*run)(gf_call *call, gf_error *err);
    gf_reach reach;
    gf_operation_input input;
    gf_operation_use use;
    bool of_store;   /* it is about the whole store, not about one namespace */
    bool local;      /* it names files or a host: only a command on the same machine may run it */
    bool network;    /* it sends texts to an address that the call names */
    bool reads_only; /* it changes nothing, though its method is not GET */
    bool makes;      /* it makes a store, with the first data of its kind */
    bool creates;    /* it makes what its path names (HTTP 201) */
    bool resumes;    /* where it was cut short, the same call goes on */
    bool rebuilds;   /* it is long: it waits for one of a server's workers, or becomes a task */
    bool single;     /* it answers with one row; see gf_operation_gives_one */
    bool cacheable;  /* its answer depends on the collection's row and the arguments alone (ETag) */
    bool elsewhere;  /* what it writes is not in the store, which it only reads */
    bool tells_refused;    /* its rows say which records were refused, and `taken` is counted */
    bool authored;         /* its argument "by" is who does it */
    bool tells_lost;       /* notices (reason "lost") say which edits a build could not keep */
    const char *file_type; /* media type of the file that it writes beside the rows, or NULL */
    const char *file_flag; /* the flag that asks for the file; NULL: whoever wants such a type */
    bool file_only;        /* over HTTP the file is the answer, whatever is asked for */
    const gf_operation_variant *variant; /* NULL: none */
    /* Parameters that name a file, or run something: only a command on the same machine gives them;
       names up to a NULL, or NULL where there are none. */
    const char *const *at_home;
} gf_operation;

/** The operations of a noun, or of an application. */
typedef struct gf_operation_group {
    const gf_operation *const *operations; /* n */
    size_t n;
} gf_operation_group;

/** The i-th operation: the nouns of api, then the registered applications; NULL past the last. */
const gf_operation *gf_operation_at(size_t i);

/** NULL where there is none of that name. */
const gf_operation *gf_operation_find(const char *name);

/** Whether the operation changes anything. */
bool gf_operation_writes(const gf_operation *operation);

/** Whether the operation changes the store that it is asked of. */
bool gf_operation_changes_store(const gf_operation *operation);

/** GF_EINVAL where an argument may only be given by a command on the same machine (at_home). */
gf_status gf_operation_check_from_afar(const gf_operation *operation, const gf_argument *arguments,
                                       size_t n_arguments, gf_error *err);

/** Whether a call with these arguments answers with exactly one row. */
bool gf_operation_gives_one(const gf_operation *operation, const gf_argument *arguments,
                            size_t n_arguments);

/** Whether a flag is among the arguments, and not "false"; the last one counts. */
bool gf_operations_have_flag(const gf_argument *arguments, size_t n_arguments, const char *name);

/**
 * Whether the call is of several collections: its rows then begin with the member "collection",
 * also where the pattern turns out to name only one.
 */
bool gf_several_is_asked(const gf_operation *operation, const gf_argument *arguments,
                         size_t n_arguments);

/** Check the call's arguments against the operation's parameters, as gf_operation_run does first. */
gf_status gf_operation_check(const gf_operation *operation, const gf_call *call, gf_error *err);

/** Members of an object that say how a store's collections are: of status, and of a server. */
void gf_store_put_health(gf_json_writer *writer, const gf_store_health *health);

/** An argument that is a number, a size or a moment; `otherwise` where it is not given. */
uint64_t gf_call_number(const gf_call *call, const char *name, uint64_t otherwise);

/**
 * Check the arguments against the operation's parameters, and run it. Each row that is emitted is
 * one whole JSON object, also where the operation fails later.
 *
 * A call of several collections runs for one after the other, by name. One that fails does not stop
 * the rest: a notice (reason "failed") tells why, and the worst failure is what is returned, or the
 * worst outcome where that is worse.
 *
 * @return GF_EINVAL for an unknown argument (the message names the nearest), a missing one or a bad
 *         value; else what the operation gives. Where a collection, a configuration, a cluster's
 *         label or a field is not there, the message names the nearest that is.
 */
gf_status gf_operation_run(const gf_operation *operation, gf_call *call, gf_error *err);

#endif

/**
 * Arguments as a request has them: pairs of a query, or members of a JSON object.
 *
 *     gf_arguments a = {.operation = o, .most = 64, .memory = &arena};
 *     gf_arguments_take(&a, name, value, err);        each pair of the query
 *     gf_arguments_take_json(&a, body, err);          the object beside it
 *
 * Where an operation has the parameter "set", a setting can be given by its own name: k=20 is
 * set=k=20, and {"k": 20} likewise. Which names there are in a query, and what a value must be, is for
 * gf_operation_check to say. Threads: one at a time.
 */
#ifndef GF_API_ARGUMENTS_H
#define GF_API_ARGUMENTS_H

#include "api/operation.h"
#include "base/arena.h"
#include "base/json/json.h"

typedef struct gf_arguments {
    const gf_operation *operation;
    gf_argument
        *at; /* n of room: the caller's, or NULL; where there is no more room, in `memory` */
    size_t n, room, most;
    gf_arena *memory; /* of what is made here; the caller's */
} gf_arguments;

/** Add an argument by the name that the operation has for it. GF_EINVAL: there are `most`; GF_ENOMEM. */
gf_status gf_arguments_add(gf_arguments *a, gf_slice name, gf_slice value, gf_error *err);

/** Add an argument by the name that the caller has for it. GF_EINVAL: there are `most`; GF_ENOMEM. */
gf_status gf_arguments_take(gf_arguments *a, gf_slice name, gf_slice value, gf_error *err);

/** GF_EINVAL for a name that is no argument of the operation; the nearest that is one is named. */
gf_status gf_arguments_refuse_name(const gf_operation *operation, gf_slice name, gf_error *err);

/**
 * Add the members of a JSON object. By the kind of the parameter:
 *
 *     flag                      true, false
 *     number                    a whole number
 *     share                     a number
 *     size, moment              a number, or text
 *     text, path                text, or a number
 *     choice                    text
 *     list, several             an array of text and numbers, or one of these; where the values are
 *                               NAME=VALUE also an object
 *     settings                  an object, text KEY=VALUE, or an array of such
 *
 * null is as if the member were not there. The value of a setting is text, a number, true or false (on,
 * off), null (its default), or where it has several values (filter, more_stop_words) an array.
 *
 * @return GF_OK; GF_EINVAL: no JSON, no object, an unknown member (the nearest is named), one that
 *         comes twice or that `a` had before, a value of the wrong kind; GF_ENOMEM. What was added
 *         before a failure stays.
 */
gf_status gf_arguments_take_json(gf_arguments *a, gf_slice json, gf_error *err);

/** Takes a member that comes beside the parameters; *taken: it was one. */
typedef gf_status gf_arguments_take_other(void *context, gf_slice name, gf_json_value value,
                                          bool *taken, gf_error *err);

/** The same for an object that was parsed. `other` is asked first of each member; it may be NULL. */
gf_status gf_arguments_take_object(gf_arguments *a, gf_json_value object,
                                   gf_arguments_take_other *other, void *context, gf_error *err);

#endif

/**
 * Status codes and the error message that travels with them.
 *
 * Every function that can fail returns a gf_status and takes a last, nullable gf_error. The lowest
 * level that knows the data writes the message; levels above may put a name in front of it.
 * A gf_error is a plain value of fixed size: nothing is allocated, nothing is thread-local.
 */
#ifndef GF_GROUPERFISH_STATUS_H
#define GF_GROUPERFISH_STATUS_H

#include "grouperfish/export.h"

#include <stdarg.h>
#include <stddef.h>

GF_PUBLIC_BEGIN

#if defined(__GNUC__)
#define GF_PRINTF(format_index, first_argument)                                                    \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define GF_PRINTF(format_index, first_argument)
#endif

typedef enum gf_status {
    GF_OK = 0,
    GF_ENOTFOUND,  /* the thing asked for is absent */
    GF_EINVAL,     /* an argument, a setting or a record is not acceptable */
    GF_EEXISTS,    /* it is there already */
    GF_EBUSY,      /* another process or rebuild holds it */
    GF_ECONFLICT,  /* a check-and-put found another value than the expected one */
    GF_ECORRUPT,   /* stored bytes are damaged */
    GF_EIO,        /* disk, file or network */
    GF_ENOMEM,     /* allocation failed */
    GF_ECANCELLED, /* stopped on request */
    GF_ELIMIT,     /* a stated limit was passed */
    GF_EUNKNOWN    /* it was written or not: the answer was lost, and cannot be asked for again */
} gf_status;

enum { GF_ERROR_MESSAGE = 512 };

/** A failure in words: what, where, and what to do. Valid where the status is not GF_OK. */
typedef struct gf_error {
    gf_status status;
    char message[GF_ERROR_MESSAGE]; /* NUL-terminated UTF-8, cut where it is too long */
} gf_error;

/** Write the message into err (if not NULL) and return status. */
gf_status gf_fail(gf_error *err, gf_status status, const char *format, ...) GF_PRINTF(3, 4);

/** gf_fail for an allocation of `what` that did not succeed. */
gf_status gf_fail_memory(gf_error *err, const char *what);

/**
 * gf_fail for errno: "what: No space left on device". GF_EIO, but GF_ENOMEM for ENOMEM and GF_ECANCELLED
 * for EINTR: the handler of a signal did not want the call to go on.
 */
gf_status gf_fail_errno(gf_error *err, const char *format, ...) GF_PRINTF(2, 3);

/** Put "name: " before the message that is there, if err is not NULL. */
void gf_error_prefix(gf_error *err, const char *format, ...) GF_PRINTF(2, 3);

/** The constant's name in lower case, such as "corrupt". */
const char *gf_status_name(gf_status status);

GF_PUBLIC_END

#endif

#include "grouperfish/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A message that does not fit is cut at a UTF-8 character's start, so that it stays readable. */
static void cut_at_character(char *message, size_t length)
{
    if (length < GF_ERROR_MESSAGE) return;
    size_t end = GF_ERROR_MESSAGE - 1;
    while (end > 0 && ((unsigned char)message[end - 1] & 0xC0u) == 0x80u)
        end--;
    if (end > 0 && (unsigned char)message[end - 1] >= 0xC0u) end--;
    message[end] = '\0';
}

static void set_message(gf_error *err, gf_status status, const char *format, va_list args)
{
    if (!err) return;
    err->status = status;
    int n = vsnprintf(err->message, sizeof err->message, format, args);
    if (n > 0) cut_at_character(err->message, (size_t)n);
}

gf_status gf_fail(gf_error *err, gf_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_message(err, status, format, args);
    va_end(args);
    return status;
}

gf_status gf_fail_memory(gf_error *err, const char *what)
{
    return gf_fail(err, GF_ENOMEM, "out of memory for %s", what);
}

/* EINTR is what a signal's handler leaves behind that asks for an end. */
static gf_status status_of_errno(int code)
{
    return code == ENOMEM ? GF_ENOMEM : code == EINTR ? GF_ECANCELLED : GF_EIO;
}

gf_status gf_fail_errno(gf_error *err, const char *format, ...)
{
    int code = errno;
    gf_status status = status_of_errno(code);
    va_list args;
    va_start(args, format);
    set_message(err, status, format, args);
    va_end(args);
    if (err) {
        size_t n = strlen(err->message);
        int m = snprintf(err->message + n, sizeof err->message - n, ": %s", strerror(code));
        if (m > 0) cut_at_character(err->message, n + (size_t)m);
    }
    return status;
}

void gf_error_prefix(gf_error *err, const char *format, ...)
{
    if (!err) return;
    char tail[GF_ERROR_MESSAGE];
    memcpy(tail, err->message, sizeof tail);
    va_list args;
    va_start(args, format);
    set_message(err, err->status, format, args);
    va_end(args);
    size_t n = strlen(err->message);
    int m = snprintf(err->message + n, sizeof err->message - n, ": %s", tail);
    if (m > 0) cut_at_character(err->message, n + (size_t)m);
}

const char *gf_status_name(gf_status status)
{
    switch (status) {
    case GF_OK:
        return "ok";
    case GF_ENOTFOUND:
        return "not found";
    case GF_EINVAL:
        return "invalid";
    case GF_EEXISTS:
        return "exists";
    case GF_EBUSY:
        return "busy";
    case GF_ECONFLICT:
        return "conflict";
    case GF_ECORRUPT:
        return "corrupt";
    case GF_EIO:
        return "i/o";
    case GF_ENOMEM:
        return "out of memory";
    case GF_ECANCELLED:
        return "cancelled";
    case GF_ELIMIT:
        return "limit";
    case GF_EUNKNOWN:
        return "outcome unknown";
    }
    return "unknown";
}

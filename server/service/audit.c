/* The lines of writes. */
#include "server/service/audit.h"

enum { MOST_DETAILS = 12 };

/* The thing that is changed: the last argument of one of these names. */
static gf_log_detail subject_of(const gf_audited_call *a)
{
    static const char *const names[] = {"collection", "key", "table", "log", "sha1"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        for (size_t i = a->n_arguments; i-- > 0;)
            if (gf_slice_equal(a->arguments[i].name, gf_slice_str(names[k])))
                return GF_LOG_TEXT(k == 1 ? "collection" : names[k], a->arguments[i].value);
    return (gf_log_detail){.name = NULL};
}

void gf_audit_write(const gf_log *log, gf_log_level level, const gf_audited_call *a)
{
    gf_log_detail details[MOST_DETAILS], subject = subject_of(a);
    size_t n = 0;
    if (!gf_log_wants(log, level)) return;
    details[n++] = GF_LOG_STR("operation", a->operation);
    if (a->name_space.len) details[n++] = GF_LOG_TEXT("namespace", a->name_space);
    if (subject.name) details[n++] = subject;
    if (a->status) details[n++] = GF_LOG_NUMBER("status", a->status);
    if (a->result) details[n++] = GF_LOG_STR("result", a->result);
    if (a->address) {
        details[n++] = GF_LOG_STR("address", a->address);
        if (a->token && *a->token) details[n++] = GF_LOG_STR("token", a->token);
    } else {
        details[n++] = GF_LOG_NUMBER("uid", a->uid);
        details[n++] = GF_LOG_NUMBER("process", a->process);
    }
    details[n++] = GF_LOG_NUMBER("seconds", a->seconds);
    gf_log_event(log, level, "write", details, n);
}

/* A call's sink and holder, as handlers use them. */
#include "api/call.h"

gf_status gf_call_emit(const gf_call *call, gf_slice row, gf_error *err)
{
    return call->sink.emit(call->sink.context, row, err);
}

gf_status gf_call_write(const gf_call *call, gf_slice bytes, gf_error *err)
{
    return call->sink.write(call->sink.context, bytes, err);
}

void gf_call_notify(const gf_call *call, const gf_notice *notice)
{
    if (call->sink.notice) call->sink.notice(call->sink.context, notice);
}

void gf_call_progress(const gf_call *call, gf_slice what, const char *phase, uint64_t done,
                      uint64_t total)
{
    if (call->sink.progress) call->sink.progress(call->sink.context, what, phase, done, total);
}

gf_status gf_call_reject(const gf_call *call, gf_slice record, gf_error *err)
{
    return call->sink.reject ? call->sink.reject(call->sink.context, record, err) : GF_OK;
}

gf_status gf_call_open_store(const gf_call *call, bool create, gf_store **store, gf_error *err)
{
    return call->holder.store(call->holder.context, create, store, err);
}

gf_status gf_call_store(const gf_call *call, gf_store **store, gf_error *err)
{
    return gf_call_open_store(call, false, store, err);
}

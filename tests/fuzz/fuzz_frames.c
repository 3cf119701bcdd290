/*
 * Whatever bytes come over a store's socket: frames are received through a real one, and each
 * message is read as whatever it may be. What is read is written, and read again, the same.
 */
#include "server/socket/wire.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void read_call(gf_slice bytes)
{
    gf_wire_call call, again;
    gf_buffer b = {0};
    if (gf_wire_read_call(bytes, &call, NULL) != GF_OK) return;
    gf_wire_write_call(&b, &call);
    if (gf_wire_read_call(gf_buffer_view(&b), &again, NULL) != GF_OK) abort();
    if (again.n_arguments != call.n_arguments || again.input != call.input ||
        !gf_slice_equal(again.operation, call.operation))
        abort();
    for (size_t i = 0; i < call.n_arguments; i++)
        if (!gf_slice_equal(again.arguments[i].name, call.arguments[i].name) ||
            !gf_slice_equal(again.arguments[i].value, call.arguments[i].value))
            abort();
    gf_free(again.arguments);
    gf_free(call.arguments);
    gf_buffer_release(&b);
}

static void read_others(gf_slice bytes)
{
    gf_buffer memory = {0}, b = {0};
    uint32_t version;
    gf_slice holder;
    gf_notice notice;
    gf_wire_progress progress;
    gf_wire_result result, again;
    (void)gf_wire_read_hello(bytes, &version, &holder);
    if (gf_wire_read_notice(bytes, &memory, &notice)) gf_wire_write_notice(&b, &notice);
    if (gf_wire_read_progress(bytes, &memory, &progress)) gf_wire_write_progress(&b, &progress);
    gf_buffer_reset(&b);
    if (gf_wire_read_result(bytes, &result)) {
        gf_wire_write_result(&b, &result);
        if (!gf_wire_read_result(gf_buffer_view(&b), &again) || again.status != result.status ||
            !gf_slice_equal(again.message, result.message))
            abort();
    }
    gf_buffer_release(&memory);
    gf_buffer_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    int ends[2];
    gf_wire w;
    gf_wire_type type;
    gf_slice message;
    if (n > 100000) return 0; /* what the socket takes at once */
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) abort();
    if (n && write(ends[1], bytes, n) != (ssize_t)n) abort();
    shutdown(ends[1], SHUT_WR);
    gf_wire_init(&w, ends[0], NULL, NULL);
    w.most = 1 << 16;
    while (gf_wire_receive(&w, &type, &message, NULL) == GF_OK) {
        read_call(message);
        read_others(message);
    }
    gf_wire_release(&w);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

/* The contents of messages. Numbers are varints, strings a varint length and their bytes. */
#include "server/socket/wire.h"

#include "base/memory.h"

#include <string.h>

#define MAGIC "GFSH"

enum { HAS_INPUT = 1, HAS_NOTICE = 2, HAS_PROGRESS = 4, HAS_WRITE = 8, HAS_REJECT = 16 };

/* ---- hello ----------------------------------------------------------------------------------- */

void gf_wire_write_hello(gf_buffer *b, const char *holder)
{
    gf_buffer_str(b, MAGIC);
    gf_buffer_u32be(b, GF_WIRE_VERSION);
    gf_buffer_str(b, holder);
}

bool gf_wire_read_hello(gf_slice bytes, uint32_t *version, gf_slice *holder)
{
    gf_slice magic;
    if (!gf_slice_take_bytes(&bytes, sizeof MAGIC - 1, &magic) ||
        !gf_slice_equal(magic, GF_SLICE(MAGIC)))
        return false;
    if (!gf_slice_take_u32be(&bytes, version)) return false;
    *holder = bytes;
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

void gf_wire_write_call(gf_buffer *b, const gf_wire_call *c)
{
    gf_buffer_varint(b, (c->input ? HAS_INPUT : 0U) | (c->notice ? HAS_NOTICE : 0U) |
                            (c->progress ? HAS_PROGRESS : 0U) | (c->write ? HAS_WRITE : 0U) |
                            (c->reject ? HAS_REJECT : 0U));
    gf_buffer_string(b, c->operation);
    gf_buffer_string(b, c->name_space);
    gf_buffer_string(b, c->store_path);
    gf_buffer_varint(b, c->n_arguments);
    for (size_t i = 0; i < c->n_arguments; i++) {
        gf_buffer_string(b, c->arguments[i].name);
        gf_buffer_string(b, c->arguments[i].value);
    }
}

static bool read_arguments(gf_slice *bytes, gf_wire_call *c)
{
    for (size_t i = 0; i < c->n_arguments; i++)
        if (!gf_slice_take_string(bytes, &c->arguments[i].name) ||
            !gf_slice_take_string(bytes, &c->arguments[i].value))
            return false;
    return bytes->len == 0;
}

static gf_status fail_call(gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "the store's socket: what came is no call");
}

gf_status gf_wire_read_call(gf_slice bytes, gf_wire_call *call, gf_error *err)
{
    uint64_t flags, n;
    gf_wire_call c = {0};
    bool good = gf_slice_take_varint(&bytes, &flags) &&
                gf_slice_take_string(&bytes, &c.operation) &&
                gf_slice_take_string(&bytes, &c.name_space) &&
                gf_slice_take_string(&bytes, &c.store_path) && gf_slice_take_varint(&bytes, &n);
    /* An argument has two bytes at least: what there is bounds what is allocated. */
    if (!good || n > bytes.len / 2 ||
        (c.store_path.len && memchr(c.store_path.ptr, '\0', c.store_path.len)))
        return fail_call(err);
    c.input = flags & HAS_INPUT;
    c.notice = flags & HAS_NOTICE;
    c.progress = flags & HAS_PROGRESS;
    c.write = flags & HAS_WRITE;
    c.reject = flags & HAS_REJECT;
    c.n_arguments = (size_t)n;
    c.arguments = gf_array(c.n_arguments, sizeof *c.arguments);
    if (!c.arguments) return gf_fail_memory(err, "a call");
    if (!read_arguments(&bytes, &c)) {
        gf_free(c.arguments);
        return fail_call(err);
    }
    *call = c;
    return GF_OK;
}

/* ---- notices and progress -------------------------------------------------------------------- */

/* Strings one after the other in memory, with a NUL behind each. */
static bool keep_strings(gf_buffer *memory, const gf_slice *strings, const char **kept, size_t n)
{
    gf_buffer_reset(memory);
    for (size_t i = 0; i < n; i++) {
        gf_buffer_slice(memory, strings[i]);
        gf_buffer_byte(memory, '\0');
    }
    if (memory->state != GF_OK) return false;
    const char *at = memory->ptr;
    for (size_t i = 0; i < n; i++) {
        kept[i] = at;
        at += strings[i].len + 1;
    }
    return true;
}

void gf_wire_write_notice(gf_buffer *b, const gf_notice *n)
{
    gf_buffer_string(b, gf_slice_str(n->reason));
    gf_buffer_string(b, n->source);
    gf_buffer_varint(b, n->line);
    gf_buffer_string(b, gf_slice_str(n->message));
    gf_buffer_varint(b, n->refused);
}

bool gf_wire_read_notice(gf_slice bytes, gf_buffer *memory, gf_notice *notice)
{
    gf_slice text[2];
    const char *kept[2];
    uint64_t refused;
    gf_notice n = {0};
    if (!gf_slice_take_string(&bytes, &text[0]) || !gf_slice_take_string(&bytes, &n.source) ||
        !gf_slice_take_varint(&bytes, &n.line) || !gf_slice_take_string(&bytes, &text[1]) ||
        !gf_slice_take_varint(&bytes, &refused) || !keep_strings(memory, text, kept, 2))
        return false;
    n.reason = kept[0];
    n.message = kept[1];
    n.refused = refused != 0;
    *notice = n;
    return true;
}

void gf_wire_write_progress(gf_buffer *b, const gf_wire_progress *p)
{
    gf_buffer_string(b, p->what);
    gf_buffer_string(b, gf_slice_str(p->phase));
    gf_buffer_varint(b, p->done);
    gf_buffer_varint(b, p->total);
}

bool gf_wire_read_progress(gf_slice bytes, gf_buffer *memory, gf_wire_progress *progress)
{
    gf_slice phase;
    gf_wire_progress p = {0};
    if (!gf_slice_take_string(&bytes, &p.what) || !gf_slice_take_string(&bytes, &phase) ||
        !gf_slice_take_varint(&bytes, &p.done) || !gf_slice_take_varint(&bytes, &p.total) ||
        !keep_strings(memory, &phase, &p.phase, 1))
        return false;
    *progress = p;
    return true;
}

/* ---- how it ended ---------------------------------------------------------------------------- */

void gf_wire_write_result(gf_buffer *b, const gf_wire_result *r)
{
    gf_buffer_varint(b, (uint64_t)r->status);
    gf_buffer_varint(b, (uint64_t)r->outcome);
    gf_buffer_varint(b, r->partly);
    gf_buffer_slice(b, r->message);
}

bool gf_wire_read_result(gf_slice bytes, gf_wire_result *result)
{
    uint64_t status, outcome, partly;
    if (!gf_slice_take_varint(&bytes, &status) || status > GF_ELIMIT) return false;
    if (!gf_slice_take_varint(&bytes, &outcome) || outcome > GF_OUTCOME_REBUILD_FAILED)
        return false;
    if (!gf_slice_take_varint(&bytes, &partly)) return false;
    *result = (gf_wire_result){(gf_status)status, (gf_outcome)outcome, partly != 0, bytes};
    return true;
}

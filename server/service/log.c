/* The log's lines. */
#include "server/service/log.h"

#include "base/clock.h"
#include "base/json/writer.h"

static const char *const names[] = {"error", "warn", "info", "debug"};

bool gf_log_level_named(gf_slice name, gf_log_level *level)
{
    for (int i = 0; i <= GF_LOG_DEBUG; i++)
        if (gf_slice_equal(name, gf_slice_str(names[i]))) {
            *level = (gf_log_level)i;
            return true;
        }
    return false;
}

static bool is_plain(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c <= ' ' || c == '"' || c == '\\' || c == '=' || c >= 0x7f) return false;
    }
    return s.len > 0;
}

/* As JSON has it, but with all that is not ASCII escaped by U+FFFD's rules of the writer. */
static void put_text(gf_buffer *b, gf_slice s)
{
    if (is_plain(s))
        gf_buffer_slice(b, s);
    else
        gf_json_append_string(b, s);
}

static void write_plain(gf_buffer *b, gf_slice time, gf_log_level level, const char *event,
                        const gf_log_detail *details, size_t n)
{
    gf_buffer_slice(b, time);
    gf_buffer_format(b, " %s %s", names[level], event);
    for (size_t i = 0; i < n; i++) {
        gf_buffer_format(b, " %s=", details[i].name);
        if (details[i].text.ptr)
            put_text(b, details[i].text);
        else
            gf_json_append_double(b, details[i].number);
    }
}

static void write_json(gf_buffer *b, gf_slice time, gf_log_level level, const char *event,
                       const gf_log_detail *details, size_t n)
{
    gf_json_writer w = gf_json_writer_to(b);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "time", time);
    gf_json_put_str(&w, "level", names[level]);
    gf_json_put_str(&w, "event", event);
    for (size_t i = 0; i < n; i++)
        if (details[i].text.ptr)
            gf_json_put_string(&w, details[i].name, details[i].text);
        else
            gf_json_put_double(&w, details[i].name, details[i].number);
    gf_json_end(&w, '}');
}

/* One fwrite a line: lines of several threads do not mix. */
void gf_log_event(const gf_log *log, gf_log_level level, const char *event,
                  const gf_log_detail *details, size_t n)
{
    gf_buffer line = {0}, time = {0};
    if (!gf_log_wants(log, level)) return;
    gf_clock_write_iso(&time, gf_clock_ms());
    if (log->json)
        write_json(&line, gf_buffer_view(&time), level, event, details, n);
    else
        write_plain(&line, gf_buffer_view(&time), level, event, details, n);
    gf_buffer_byte(&line, '\n');
    if (line.state == GF_OK) {
        fwrite(line.ptr, 1, line.len, log->out);
        fflush(log->out);
    }
    gf_buffer_release(&line);
    gf_buffer_release(&time);
}

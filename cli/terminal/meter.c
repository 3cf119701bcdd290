#include "cli/terminal/meter.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "cli/terminal/output.h"
#include "cli/terminal/text.h"

#include <string.h>
#include <unistd.h>

/* Seconds between updates: on a terminal and of JSON, and of lines elsewhere. */
#define LINE_EVERY 0.2
#define LOG_EVERY  10.0

void gf_meter_init(gf_meter *p)
{
    *p = (gf_meter){.started = gf_clock_seconds(), .terminal = isatty(STDERR_FILENO)};
    pthread_mutex_init(&p->lock, NULL);
}

void gf_meter_release(gf_meter *p)
{
    pthread_mutex_destroy(&p->lock);
}

bool gf_meter_named(const char *name, gf_meter_kind *kind)
{
    static const char *const names[] = {"auto", "none", "jsonl"};
    for (size_t i = 0; i < GF_COUNT(names); i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *kind = (gf_meter_kind)i;
        return true;
    }
    return false;
}

static void clear_line(gf_meter *p)
{
    if (!p->line) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->line = false;
}

void gf_meter_clear(gf_meter *p)
{
    pthread_mutex_lock(&p->lock);
    clear_line(p);
    pthread_mutex_unlock(&p->lock);
}

static void write_json(gf_buffer *b, gf_slice what, const char *phase, uint64_t done,
                       uint64_t total)
{
    gf_json_writer w = gf_json_writer_to(b);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "what", what);
    gf_json_put_str(&w, "phase", phase);
    gf_json_put_uint(&w, "done", done);
    if (total) gf_json_put_uint(&w, "total", total);
    gf_json_end(&w, '}');
}

static void write_line(gf_buffer *b, gf_slice what, const char *phase, uint64_t done,
                       uint64_t total, double seconds)
{
    gf_buffer_format(b, "%.*s: %s", GF_SLICE_ARG(what), phase);
    if (done || total) {
        gf_buffer_byte(b, ' ');
        gf_buffer_count(b, done);
    }
    if (total) {
        gf_buffer_str(b, " of ");
        gf_buffer_count(b, total);
    }
    gf_buffer_format(b, " %.0f s", seconds);
}

static void print_line(gf_meter *p, gf_slice line)
{
    unsigned width = gf_text_terminal_width(stderr);
    if (p->terminal) fputc('\r', stderr);
    gf_text_print(stderr, line, width > 1 ? width - 1 : 0);
    fputs(p->terminal ? "\033[K" : "\n", stderr);
    fflush(stderr);
    p->line = p->terminal;
}

void gf_meter_tell(gf_meter *p, gf_slice what, const char *phase, uint64_t done, uint64_t total)
{
    gf_buffer b = {0};
    bool json = p->kind == GF_METER_JSONL;
    double now = gf_clock_seconds(), every = p->terminal || json ? LINE_EVERY : LOG_EVERY;
    if (p->kind == GF_METER_NONE) return;
    pthread_mutex_lock(&p->lock);
    if (now - p->shown >= every && now - p->started >= every) {
        p->shown = now;
        if (json) {
            write_json(&b, what, phase, done, total);
            fprintf(stderr, "%s\n", gf_buffer_cstr(&b));
        } else {
            write_line(&b, what, phase, done, total, now - p->started);
            print_line(p, gf_buffer_view(&b));
        }
    }
    pthread_mutex_unlock(&p->lock);
    gf_buffer_release(&b);
}

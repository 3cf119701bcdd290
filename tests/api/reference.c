#include "tests/api/reference.h"

#include "support/test.h"

bool reference_find_line(gf_slice text, const char *start, gf_slice *line, gf_slice *rest)
{
    while (gf_test_next_line(&text, line)) {
        *rest = text;
        if (gf_slice_starts(*line, gf_slice_str(start))) return true;
    }
    return false;
}

bool reference_take_block(gf_slice *text, const char *fence, gf_slice *block)
{
    gf_slice line, rest;
    if (!reference_find_line(*text, fence, &line, &rest)) return false;
    const char *start = rest.ptr;
    if (!reference_find_line(rest, "```", &line, text)) fail_msg("a block has no end");
    *block = gf_slice_of(start, (size_t)(line.ptr - start));
    return true;
}

static gf_slice section_text(const reference *r, const char *name)
{
    gf_buffer heading = {0};
    gf_slice line, rest, next, text = gf_buffer_view(&r->text);
    gf_buffer_format(&heading, "\n## %s\n", name);
    const char *at = memmem(text.ptr, text.len, heading.ptr, heading.len);
    if (!at) fail_msg("no section %s", name);
    rest = gf_slice_skip(text, (size_t)(at - text.ptr) + heading.len);
    gf_buffer_release(&heading);
    size_t length = rest.len;
    if (reference_find_line(rest, "## ", &line, &next)) length = (size_t)(line.ptr - rest.ptr);
    return gf_slice_of(rest.ptr, length);
}

/* ---- members --------------------------------------------------------------------------------- */

static void add_path(gf_strings *paths, gf_slice path)
{
    uint32_t id;
    assert_int_equal(gf_strings_add(paths, path, &id, NULL, NULL), GF_OK);
}

/* "| `terms[].term` | meaning |" */
static void read_members(reference_section *s)
{
    gf_slice line, rest;
    if (!reference_find_line(s->text, "| Member |", &line, &rest))
        fail_msg("%s: no table of members", s->operation->name);
    gf_test_next_line(&rest, &line);
    while (gf_test_next_line(&rest, &line) && gf_slice_starts(line, GF_SLICE("| `"))) {
        gf_slice name = gf_slice_skip(line, 3);
        const char *end = memchr(name.ptr, '`', name.len);
        assert_non_null(end);
        name.len = (size_t)(end - name.ptr);
        add_path(&s->members, name);
        bool sometimes =
            memmem(line.ptr, line.len, "absent", 6) || memmem(line.ptr, line.len, "only", 4);
        if (!sometimes) add_path(&s->always, name);
    }
}

/* Their members are whoever's: records', settings', reasons', tables', tweets', a family's columns. */
static bool is_free(gf_slice name)
{
    static const char *const names[] = {"fields",  "settings", "reasons", "cells",
                                        "columns", "tweet",    "data",    "f",
                                        "file",    "grobid0",  "match0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gf_slice_equal(name, gf_slice_str(names[i]))) return true;
    return false;
}

static void collect_paths(reference_section *s, gf_json_value v, gf_slice prefix)
{
    gf_slice name;
    gf_json_value item;
    gf_json_iterator it = gf_json_items(v);
    while (gf_json_next(&it, &name, &item)) {
        gf_buffer path = {0};
        gf_buffer_slice(&path, prefix);
        gf_buffer_slice(&path, name);
        add_path(&s->given, gf_buffer_view(&path));
        if (gf_strings_find(&s->members, gf_buffer_view(&path)) == GF_STRING_NONE)
            fail_msg("%s: %s is not explained", s->operation->name, gf_buffer_cstr(&path));
        if (gf_json_kind_of(item) == GF_JSON_OBJECT && !is_free(name)) {
            gf_buffer_byte(&path, '.');
            collect_paths(s, item, gf_buffer_view(&path));
        }
        if (gf_json_kind_of(item) == GF_JSON_ARRAY) {
            gf_json_iterator items = gf_json_items(item);
            gf_buffer_str(&path, "[].");
            while (gf_json_next(&items, NULL, &item))
                if (gf_json_kind_of(item) == GF_JSON_OBJECT)
                    collect_paths(s, item, gf_buffer_view(&path));
        }
        gf_buffer_release(&path);
    }
}

void reference_check_row(reference_section *s, gf_json_value row)
{
    collect_paths(s, row, (gf_slice){0});
}

/* ---- life ------------------------------------------------------------------------------------ */

void reference_open(reference *r)
{
    *r = (reference){0};
    gf_test_read_source("docs/operations.md", &r->text);
    gf_slice text = gf_buffer_view(&r->text);
    if (!reference_take_block(&text, "```text", &r->collection)) fail_msg("no collection");
    if (!reference_take_block(&text, "```text", &r->tweets)) fail_msg("no tweets");
}

void reference_release(reference *r)
{
    gf_buffer_release(&r->text);
}

void reference_section_open(const reference *r, const gf_operation *operation, reference_section *s)
{
    *s = (reference_section){.operation = operation, .text = section_text(r, operation->name)};
    read_members(s);
}

void reference_section_release(reference_section *s)
{
    gf_strings_release(&s->members);
    gf_strings_release(&s->always);
    gf_strings_release(&s->given);
}

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

static void collect_paths(reference_section *s, gf_json_value v, const char *prefix)
{
    gf_slice name;
    gf_json_value item;
    gf_json_iterator it = gf_json_items(v);
    while (gf_json_next(&it, &name, &item)) {
        uint32_t id;
        gf_buffer path = {0};
        gf_buffer_format(&path, "%s%.*s", prefix, GF_SLICE_ARG(name));
        assert_int_equal(gf_strings_add(&s->given, gf_buffer_view(&path), &id, NULL, NULL), GF_OK);
        bool array = gf_json_kind_of(item) == GF_JSON_ARRAY;
        gf_buffer_str(&path, array ? "[]." : ".");
        if (gf_json_kind_of(item) == GF_JSON_OBJECT) collect_paths(s, item, gf_buffer_cstr(&path));
        gf_json_iterator items = array ? gf_json_items(item) : (gf_json_iterator){0};
        while (array && gf_json_next(&items, NULL, &item))
            if (gf_json_kind_of(item) == GF_JSON_OBJECT)
                collect_paths(s, item, gf_buffer_cstr(&path));
        gf_buffer_release(&path);
    }
}

void reference_note_row(reference_section *s, gf_json_value row)
{
    collect_paths(s, row, "");
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
}

void reference_section_release(reference_section *s)
{
    gf_strings_release(&s->given);
}

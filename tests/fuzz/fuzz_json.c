/* Whatever bytes come as JSON: what is taken can be walked, and written and read again the same. */
#include "base/json/json.h"

#include "grouperfish/buffer.h"

#include <stdint.h>
#include <stdlib.h>

static uint64_t walk(gf_json_value v, unsigned depth)
{
    gf_json_value item;
    gf_slice name = {0};
    uint64_t n = 1;
    if (gf_json_kind_of(v) == GF_JSON_STRING) return n + gf_json_get_string(v).len;
    if (gf_json_is_number(v)) return n + (gf_json_number(v) > 0);
    if (gf_json_kind_of(v) != GF_JSON_ARRAY && gf_json_kind_of(v) != GF_JSON_OBJECT) return n;
    if (depth > 2000) abort(); /* the parser has a limit */
    gf_json_iterator it = gf_json_items(v);
    while (gf_json_next(&it, &name, &item))
        n += name.len + walk(item, depth + 1);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static gf_json_parser *parser;
    gf_buffer once = {0}, twice = {0};
    gf_json_value root;
    gf_error err = {GF_OK, ""};
    if (!parser && gf_json_parser_create(&parser, &err) != GF_OK) abort();
    if (gf_json_parse_copy(parser, gf_slice_of((const char *)bytes, n), &root, &err) == GF_OK) {
        uint64_t size = walk(root, 0);
        if (gf_json_write(root, &once, &err) != GF_OK) abort();
        if (gf_json_parse_copy(parser, gf_buffer_view(&once), &root, &err) != GF_OK) abort();
        if (walk(root, 0) != size || gf_json_write(root, &twice, &err) != GF_OK) abort();
        if (!gf_slice_equal(gf_buffer_view(&once), gf_buffer_view(&twice))) abort();
    }
    gf_buffer_release(&once);
    gf_buffer_release(&twice);
    return 0;
}

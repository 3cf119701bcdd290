/*
 * A file of any bytes is no TEI for a reason, or gives JSON that can be parsed, of which the
 * metadata is a part. It never says success where entities are declared.
 */
#include "base/json/json.h"
#include "formats/documents/tei.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(bool holds)
{
    if (!holds) abort();
}

static void check_json(gf_json_parser *parser, gf_slice json, bool has_body)
{
    gf_json_value root, body;
    gf_error err;
    check(gf_json_parse_copy(parser, json, &root, &err) == GF_OK);
    check(gf_json_member(root, "body", &body) == has_body);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    gf_error err = {GF_OK, ""};
    gf_tei tei = {.result = GF_TEI_SUCCESS};
    gf_json_parser *parser;
    if (gf_json_parser_create(&parser, &err) != GF_OK) return 0;
    check(gf_tei_read(gf_slice_of((const char *)bytes, n), &tei, &err) == GF_OK);
    if (tei.result == GF_TEI_SUCCESS) {
        check(tei.quality != NULL);
        check_json(parser, gf_buffer_view(&tei.json), true);
        check_json(parser, gf_buffer_view(&tei.metadata), false);
    } else {
        check(tei.result == GF_TEI_OVERSIZE || tei.reason[0]);
    }
    gf_tei_release(&tei);
    gf_json_parser_free(parser);
    return 0;
}

/* The stored values of a text: three long ones, compressed, one behind the other. */
#include "apps/papers/papers.h"

/* Append it compressed; *value has the length, but no bytes yet: those may move. */
static gf_status append_compressed(gf_slice bytes, gf_buffer *scratch, gf_buffer *to,
                                   gf_compressed *value, gf_error *err)
{
    gf_status st = gf_value_compress(bytes, scratch, value, err);
    if (st != GF_OK) return st;
    gf_buffer_slice(to, value->bytes);
    return gf_buffer_check(to, err);
}

gf_status gf_papers_text_make(gf_slice xml, const gf_tei *tei, gf_buffer *scratch,
                              gf_papers_text *text, gf_error *err)
{
    text->result = tei->result;
    memcpy(text->reason, tei->reason, sizeof text->reason);
    text->quality = tei->quality;
    gf_buffer_reset(&text->memory);
    if (tei->result != GF_TEI_SUCCESS) return GF_OK;
    const gf_slice values[] = {xml, gf_buffer_view(&tei->json), gf_buffer_view(&tei->metadata)};
    gf_compressed *const to[] = {&text->tei_xml, &text->tei_json, &text->metadata};
    gf_status st = GF_OK;
    for (size_t i = 0; i < 3 && st == GF_OK; i++)
        st = append_compressed(values[i], scratch, &text->memory, to[i], err);
    const char *at = text->memory.ptr;
    for (size_t i = 0; i < 3 && st == GF_OK; i++) {
        to[i]->bytes.ptr = at;
        at += to[i]->bytes.len;
    }
    return st;
}

void gf_papers_text_release(gf_papers_text *text)
{
    gf_buffer_release(&text->memory);
    *text = (gf_papers_text){.quality = NULL};
}

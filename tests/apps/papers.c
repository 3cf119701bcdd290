#include "tests/apps/papers.h"

gf_sha1 papers_digest(const char *text)
{
    gf_sha1 sha1;
    assert_true(gf_sha1_parse(gf_slice_str(text), &sha1));
    return sha1;
}

void papers_import_cdx(transport *t, const char *lines)
{
    transport_input(t, "a.cdx", gf_slice_str(lines));
    assert_run(t, "papers import-cdx");
}

void papers_import_tei(transport *t, const char *name, gf_slice bytes)
{
    transport_input(t, name, bytes);
    assert_run(t, "papers import-tei");
}

void papers_check_counts(transport *t, double created, double changed, double existing)
{
    assert_true(transport_number(t, 0, "new") == created);
    assert_true(transport_number(t, 0, "changed") == changed);
    assert_true(transport_number(t, 0, "existing") == existing);
}

bool papers_cell(transport *t, const char *sha1, unsigned family, const char *column,
                 gf_buffer *value)
{
    gf_error err;
    gf_papers *papers;
    gf_row row = {0};
    gf_sha1 key = papers_digest(sha1);
    assert_ok(
        gf_papers_open(t->store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err));
    gf_status st = gf_papers_get_cell(papers, NULL, &key, family, column, &row, &err);
    gf_buffer_reset(value);
    if (st == GF_OK) gf_buffer_slice(value, row.cells[0].value);
    gf_row_release(&row);
    gf_papers_close(papers);
    assert_true(st == GF_OK || st == GF_ENOTFOUND);
    return st == GF_OK;
}

void papers_samples(gf_buffer *archive)
{
    gf_test_read_data("papers-tei/papers-tei.tar.gz", archive);
}

/**
 * Papers that several tests use: index lines, texts, and what lies in their table.
 */
#ifndef GF_TESTS_APPS_PAPERS_H
#define GF_TESTS_APPS_PAPERS_H

#include "apps/papers/papers.h"
#include "tests/api/transport.h"
#include "tests/support/test.h"

/** Two digests. */
#define PAPERS_HELLO "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"
#define PAPERS_OTHER "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J"

/** An index line of a PDF with that digest, and a text of those words. */
#define PAPERS_LINE(digest_text)                                                                   \
    "org,example)/a.pdf 20170706005950 http://example.org/a.pdf application/PDF 200 " digest_text  \
    " - - 361006 17120058 item/a.warc.gz\n"
#define PAPERS_TEI(words)                                                                          \
    "<TEI xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader><fileDesc><titleStmt><title "           \
    "level=\"a\" type=\"main\">" words                                                             \
    "</title></titleStmt></fileDesc></teiHeader><text><body><p>Text of " words                     \
    "</p></body></text></TEI>"

gf_sha1 papers_digest(const char *text);

void papers_import_cdx(transport *t, const char *lines);
void papers_import_tei(transport *t, const char *name, gf_slice bytes);

/** The counts of the import before: new, changed, existing. */
void papers_check_counts(transport *t, double created, double changed, double existing);

/** The cell as it lies in the table; false where there is none. */
bool papers_cell(transport *t, const char *sha1, unsigned family, const char *column,
                 gf_buffer *value);

/** The archive of sample texts; needs the data. */
void papers_samples(gf_buffer *archive);

#endif

/* Members of the rows of reports, in the order of docs/operations.md. */
#include "api/report/schema.h"

const gf_row_member gf_schema_report[] = {M("collection", TEXT, "its name"),
                                          M("configuration", TEXT, "the configuration"),
                                          M("build", INTEGER, "timestamp that names the build"),
                                          M("time", TIME, "the same in ISO 8601"),
                                          M("documents", INTEGER, "of the build"),
                                          M("k", INTEGER, "clusters"),
                                          M_MAYBE("html", TEXT, "the page, UTF-8"),
                                          GF_ROW_MEMBERS_END};

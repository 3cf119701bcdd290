#include "cli/commands/papers_summary.h"

void gf_papers_summary(gf_session *s, gf_json_value row)
{
    static const gf_import_count counts[] = {{"read", "read"},       {"new", "new"},
                                             {"changed", "changed"}, {"existing", "existing"},
                                             {"skipped", "skipped"}, {"refused", "refused"}};
    gf_import_summary(s, row, counts, GF_COUNT(counts));
}

const gf_show_column gf_papers_columns[GF_PAPERS_COLUMNS] = {
    {"read", NULL, GF_COLUMN_COUNT},    {"new", NULL, GF_COLUMN_COUNT},
    {"changed", NULL, GF_COLUMN_COUNT}, {"existing", NULL, GF_COLUMN_COUNT},
    {"stored", NULL, GF_COLUMN_COUNT},  {"skipped", NULL, GF_COLUMN_COUNT},
    {"refused", NULL, GF_COLUMN_COUNT}, {"reasons", NULL, GF_COLUMN_RAW}};

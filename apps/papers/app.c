/* The application `papers`, as api sees it. */
#include "apps/apps.h"
#include "apps/papers/arguments_internal.h"
#include "apps/papers/table/table_internal.h"

static const gf_operation *const operations[] = {
    &gf_papers_import_cdx_operation, &gf_papers_import_tei_operation, &gf_papers_extract_operation,
    &gf_papers_show_operation,       &gf_papers_list_operation,       &gf_papers_counts_operation,
    &gf_papers_missing_operation,    &gf_papers_dump_operation,       &gf_papers_match_operation,
    &gf_papers_import_operation,     &gf_papers_alter_operation,
};

static bool has_table(const char *table)
{
    return strncmp(table, GF_PAPERS_PREFIX, strlen(GF_PAPERS_PREFIX)) == 0;
}

const gf_app gf_papers_app = {
    .name = "papers",
    .operations = GF_OPERATION_GROUP(operations),
    .records = gf_papers_records,
    .has_table = has_table,
    .check = gf_papers_check,
    .repair = gf_papers_repair,
    .open_tables = gf_papers_open_all,
    .tables = &gf_papers_description,
    .n_tables = 1,
};

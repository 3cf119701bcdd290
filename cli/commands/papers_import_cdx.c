#include "cli/commands/papers_summary.h"

const gf_command gf_command_papers_import_cdx = {
    .name = "papers import-cdx",
    .examples = "    grouperfish papers import-cdx crawl.cdx.gz\n"
                "    grouperfish papers import-cdx crawl.cdxj --rejects refused.cdx\n"
                "    grouperfish papers import-cdx newer.cdx --replace\n",
    .notes =
        "FILE is CDX of 11 fields or CDXJ, compressed or not, a folder of such files, or - for\n"
        "standard input. Each line of a full text (status 200; PDF, PostScript, HTML or XML)\n"
        "makes a row, named by its SHA-1. A further line for a row changes nothing.\n",
    .positionals = gf_import_files,
    .n_positionals = 1,
    .options = gf_import_options,
    .n_options = GF_IMPORT_OPTIONS,
    .display = {.columns = gf_papers_columns,
                .n_columns = GF_PAPERS_COLUMNS,
                .single = true,
                .show = gf_papers_summary},
    .prepare = gf_import_prepare,
    .answers = true,
};

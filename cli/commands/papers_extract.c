#include "cli/commands/papers_summary.h"

const gf_command gf_command_papers_extract = {
    .name = "papers extract",
    .examples = "    grouperfish papers extract ./pdf/ --grobid http://localhost:8070\n"
                "    grouperfish papers extract new.tar --grobid http://localhost:8070 --force\n",
    .notes =
        "FILE is a PDF, a folder or an archive of such; a name that is a SHA-1 must be that of\n"
        "the bytes. A busy GROBID (503) is asked again, each time after twice as long. What is\n"
        "extracted already is not sent.\n",
    .positionals = gf_import_files,
    .n_positionals = 1,
    .options = gf_import_progress,
    .n_options = GF_COUNT(gf_import_progress),
    .display = {.columns = gf_papers_columns,
                .n_columns = GF_PAPERS_COLUMNS,
                .single = true,
                .show = gf_papers_summary},
    .prepare = gf_import_prepare,
    .answers = true,
};

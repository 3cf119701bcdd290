#include "cli/commands/papers_summary.h"

const gf_command gf_command_papers_import_tei = {
    .name = "papers import-tei",
    .examples = "    grouperfish papers import-tei ./tei/          files such as SHA1.tei.xml\n"
                "    grouperfish papers import-tei texts.tar.gz --force\n"
                "    grouperfish papers import-tei papers.zip --hash\n",
    .notes =
        "FILE is a TEI XML file, a folder or an archive of such. A file's name up to its first "
        "dot\n"
        "is the SHA-1 of the paper, hexadecimal or base32. What is more than 4,000,000 bytes, or "
        "no\n"
        "TEI, is stored as a status alone. Entities are never expanded: XML that declares any, or\n"
        "refers to another file, is refused.\n",
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

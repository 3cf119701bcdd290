#include "cli/commands/papers_summary.h"

static const gf_positional words[] = {{.name = "CATALOGUE", .repeats = true}};
static const gf_show_column columns[] = {
    {"sha1", "sha1", GF_COLUMN_TEXT}, {"mstatus", "match", GF_COLUMN_TEXT},
    {"doi", "doi", GF_COLUMN_TEXT},   {"record", "record", GF_COLUMN_TEXT},
    {"score", "score", GF_COLUMN_ID}, {"title", "title", GF_COLUMN_PROSE}};

const gf_command gf_command_papers_match = {
    .name = "papers match",
    .examples = "    grouperfish papers match catalogue.jsonl.gz\n"
                "    grouperfish papers match works.csv --id ident --dry-run\n",
    .notes =
        "CATALOGUE has records with title, doi, authors and an id. A paper is a record whose\n"
        "title, without accents, case, punctuation and spaces, is the same and of 8 characters\n"
        "or more, which scores 900 of 1000 or more, and whose surnames are all the paper's.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .display = {GF_COLUMNS(columns), .nothing = "no paper has a title"},
    .prepare = gf_import_prepare,
    .answers = true,
};

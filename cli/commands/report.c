#include "cli/session.h"

static const gf_positional words[] = {{.name = "COLLECTION", .argument = "collection"}};
static const gf_own_option options[] = {{"o", "FILE", "write there (standard output)"},
                                        {"force", NULL, "replace that file"}};

const gf_command gf_command_report = {
    .name = "report",
    .examples = "    grouperfish report feedback -o feedback.html\n"
                "    grouperfish report feedback --by week --docs 5 -o feedback.html --force\n",
    .notes =
        "An HTML file that needs no network, no script and no other file: clusters by size with\n"
        "terms, trends and their best documents, the tree, and what changed since the build\n"
        "before. It prints well, and follows the reader's choice of dark or light.\n",
    .positionals = words,
    .n_positionals = GF_COUNT(words),
    .options = options,
    .n_options = GF_COUNT(options),
    .display = {.page = "html", .single = true},
};

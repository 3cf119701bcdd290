/**
 * Parts that commands which read files share: their words and options, and how they print what
 * became of the records.
 */
#ifndef GF_CLI_COMMANDS_IMPORT_FILES_H
#define GF_CLI_COMMANDS_IMPORT_FILES_H

#include "cli/session.h"

/** Open the files that the words name; without a word standard input, where it is a pipe or a file. */
gf_status gf_import_prepare(gf_session *session, gf_error *err);

/** Open the file that an option of the command names, where it was given. */
gf_status gf_import_prepare_option(gf_session *session, gf_error *err);

/** FILE... */
extern const gf_positional gf_import_files[1];

#define GF_IMPORT_PROGRESS                                                                         \
    {                                                                                              \
        "progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)",               \
            GF_OPTION_PROGRESS                                                                     \
    }
#define GF_IMPORT_OPTION_LIST                                                                      \
    {"rejects", "FILE", "write refused records there, as they were", GF_OPTION_REJECTS},           \
        {"force", NULL, "replace that file", GF_OPTION_FORCE},                                     \
        {"follow-links", NULL, "read also files out of a folder that links in it lead to",         \
         GF_OPTION_LINKS},                                                                         \
        GF_IMPORT_PROGRESS

/** --rejects, --force, --follow-links, --progress */
enum { GF_IMPORT_OPTIONS = 4 };
extern const gf_own_option gf_import_options[GF_IMPORT_OPTIONS];

/** --progress alone, for commands that keep no refused records. */
extern const gf_own_option gf_import_progress[1];

/** One count of a summary. */
typedef struct gf_import_count {
    const char *key, *label;
} gf_import_count;

/** Print the counts, a line each, and the reasons why records were refused or skipped. */
void gf_import_summary(gf_session *session, gf_json_value row, const gf_import_count *counts,
                       size_t n);

/** Print "; 3 refused" where some were, and end the line. */
void gf_import_end_line(gf_session *session, gf_json_value row);

#endif

/**
 * Options that are kept in a file: /etc/grouperfish.conf, or what GROUPERFISH_OPTIONS names (none
 * where that is empty).
 *
 *     # options of every command
 *     store = /var/lib/grouperfish/store
 *
 *     [serve]
 *     listen = 0.0.0.0:61732
 *     tokens = /etc/grouperfish.tokens
 *     host-name = cluster.example
 *
 * Keys are the names of options without dashes; a section has the name of a command. The command
 * line counts more than the environment, and that more than the file. An option that may be given
 * several times is taken from the file only where the command line does not give it.
 */
#ifndef GF_CLI_OPTIONS_FILE_H
#define GF_CLI_OPTIONS_FILE_H

#include "cli/session.h"

/**
 * Read the file's options for the session's command, whose command line was read before.
 *
 * @return GF_OK, also where the usual file is missing; GF_ENOTFOUND (the named one), GF_EINVAL
 *         (with file and line), GF_EIO, GF_ENOMEM
 */
gf_status gf_options_file_read(gf_session *s, gf_error *err);

#endif

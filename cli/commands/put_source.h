/** put --from postgres and --from url: the command asks the host, and the operation gets records. */
#ifndef GF_CLI_COMMANDS_PUT_SOURCE_H
#define GF_CLI_COMMANDS_PUT_SOURCE_H

#include "cli/session.h"

/** Options of such a put: --items, --next, ... */
#define GF_PUT_SOURCE_OPTIONS                                                                      \
    {"items", "PATH", "from url: where a page has its records, such as $.tickets ($)",             \
     GF_OPTION_KEPT},                                                                              \
        {"next", "PATH", "from url: where a page has the next one's address, such as $.next",      \
         GF_OPTION_KEPT},                                                                          \
        {"next-param", "NAME", "from url: that is no address, but the value of this parameter",    \
         GF_OPTION_KEPT},                                                                          \
        {"since-field", "FIELD", "read what is newer by this field than what was read before",     \
         GF_OPTION_KEPT},                                                                          \
        {"since-param", "NAME", "from url: the parameter that asks for it (called as the field)",  \
         GF_OPTION_KEPT},                                                                          \
        {"header-file", "FILE", "from url: lines of \"Name: value\", which only you can read",     \
         GF_OPTION_KEPT},                                                                          \
        {"other-origins", NULL, "from url: pages may be elsewhere; no header goes there",          \
         GF_OPTION_KEPT},                                                                          \
    {                                                                                              \
        "again", NULL,                                                                             \
            "from postgres and url: from the beginning, not from the place that was kept",         \
            GF_OPTION_KEPT                                                                         \
    }

/** Does the session's put read such a source? */
bool gf_put_source_is_meant(const gf_session *session);

/** Open it at the place that is kept; or say which of its options does not fit. */
gf_status gf_put_source_prepare(gf_session *session, gf_error *err);

#endif

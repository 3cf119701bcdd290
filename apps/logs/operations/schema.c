/* Members of the rows of access logs, in the order of docs/operations.md. */
#include "apps/logs/operations/schema.h"

const gf_row_member gf_schema_log_import[] = {
    M("log", TEXT, "its name"),
    M("read", INTEGER, "lines that are not empty"),
    M("lines", INTEGER, "added"),
    M("known", INTEGER, "that were imported before"),
    M("refused", INTEGER, "damaged lines"),
    M_MAYBE("deleted", INTEGER, "only with `keep`: lines that were older"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_log_report[] = {
    M("bucket", INTEGER, "when it begins, in seconds since 1970"),
    M("time", TIME, "the same, ISO 8601"),
    M_MAYBE("value", TEXT, "only with `by`"),
    M("requests", INTEGER, "lines"),
    M("bytes", INTEGER, "of the answers, all together"),
    M_MAYBE("visitors", INTEGER,
            "only with `visitors`: different cookies, else logins, else addresses with browsers; "
            "standard error 0.8 %"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_log_find[] = {
    M("time", TIME, "ISO 8601"),
    M("line", INTEGER, "its number in the log: the first is 0"),
    M("ip", TEXT, "address"),
    M_MAYBE("domain", TEXT, "site that was asked"),
    M("method", TEXT, "`GET`, ..."),
    M("url", TEXT, "as it was asked for"),
    M("protocol", TEXT, "`HTTP/1.1`, ..."),
    M("status", INTEGER, "of the answer"),
    M("bytes", INTEGER, "of the answer"),
    M_MAYBE("referer", TEXT, "page that led there"),
    M_MAYBE("browser_cookie", TEXT, "cookie"),
    M_MAYBE("login_id", TEXT, "user who was logged in"),
    M_MAYBE("agent", TEXT, "browser"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_log_delete[] = {
    M("log", TEXT, "its name"),
    M("before", TIME, "start of the first day that stays"),
    M("lines", INTEGER, "deleted, or that would be"),
    M_MAYBE("counts", INTEGER, "deleted rows of the roll-ups; not of a dry run"),
    M("dry_run", TRUTH, "true where nothing was deleted"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_log_rollup[] = {
    M("log", TEXT, "its name"), M("lines", INTEGER, "that were rolled up"),
    M_MAYBE(
        "deleted_before", TIME,
        "only where lines were deleted: start of the first day whose counts are those of lines"),
    GF_ROW_MEMBERS_END};

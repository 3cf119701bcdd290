/* Members of the rows of collections and configurations, in the order of docs/operations.md. */
#include "api/collections/schema.h"

const gf_row_member gf_schema_collection_create[] = {
    M("collection", TEXT, "its name"), M("created", TRUTH, "true"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_collection_list[] = {
    M("collection", TEXT, "its name"),
    M("size", INTEGER, "documents"),
    M_MAYBE("modified", TIME,
            "time of the last change, ISO 8601; absent where nothing was ever put"),
    M("configurations", OBJECTS, "array: those that have a served build"),
    M("configurations[].configuration", TEXT, "its name"),
    M("configurations[].build", INTEGER, "the build that is served"),
    M("configurations[].rebuilt", TIME, "the same in ISO 8601"),
    M("configurations[].processed", TIME, "when that was last brought up to date"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_collection_show[] = {
    M("collection", TEXT, "its name"),
    M("size", INTEGER, "documents"),
    M_MAYBE("modified", TIME,
            "time of the last change, ISO 8601; absent where nothing was ever put"),
    M("configurations", OBJECTS, "array: those that have a served build"),
    M("configurations[].configuration", TEXT, "its name"),
    M("configurations[].build", INTEGER, "the build that is served"),
    M("configurations[].rebuilt", TIME, "the same in ISO 8601"),
    M("configurations[].processed", TIME, "when that was last brought up to date"),
    M_OF("columns", "family", TEXT, "only with `columns`: family of the cell"),
    M_OF("columns", "column", TEXT, "only with `columns`: its name"),
    M_MAYBE_OF("columns", "value", TEXT, "only with `columns`: its value as text"),
    M_MAYBE_OF("columns", "hex", TEXT,
               "only with `columns`, in place of `value`: the bytes of a vector, a dictionary or "
               "an index"),
    M_MAYBE_OF("columns", "not_shown", INTEGER,
               "only with `columns`, in place of `hex`: how many bytes the value has"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_collection_delete[] = {
    M("collection", TEXT, "its name"), M("deleted", TRUTH, "true"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_config_set[] = {
    M_MAYBE("collection", TEXT, "its name; absent with `all`"),
    M("configuration", TEXT, "the configuration"), M("set", TRUTH, "true"),
    M_MAYBE("namespace", TEXT, "only with `all`, in the place of the collection: its name"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_config_show[] = {
    M_MAYBE("collection", TEXT, "only with a pattern: its name"),
    M("key", TEXT, "its name"),
    M("value", TEXT, "what it is"),
    M_WORD("from", "default|namespace|collection",
           "where that comes from: `default` (nobody has set it), `namespace` (`config set` with "
           "`all`) or `collection`"),
    M("values", TEXT, "what it may be, in words"),
    M("initial", TEXT, "what it is where nothing is set"),
    M("meaning", TEXT, "in words"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_config_list[] = {
    M_MAYBE("collection", TEXT, "only with a pattern: its name"),
    M("configuration", TEXT, "its name"),
    M_WORD("from", "default|namespace|collection",
           "who names it: `collection`, `namespace` (it is inherited), or `default` (neither)"),
    M("rebuild", TRUTH, "false: its setting `rebuild` is `off`"),
    M_MAYBE("within", TEXT,
            "the configuration and the cluster or group whose documents it is about, such as "
            "`default:14`; absent for one that is within none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_config_delete[] = {
    M_MAYBE("collection", TEXT, "its name; absent with `all`"),
    M("configuration", TEXT, "the configuration"), M("deleted", TRUTH, "true"),
    M_MAYBE("namespace", TEXT, "only with `all`, in the place of the collection: its name"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_config_keys[] = {
    M("key", TEXT, "its name"), M("values", TEXT, "what it may be, in words"),
    M("initial", TEXT, "what it is where nothing is set"), M("meaning", TEXT, "in words"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_source_list[] = {
    M("source", TEXT, "its name"),
    M("place", TEXT, "how far it was read: a text that means something to whoever reads it"),
    GF_ROW_MEMBERS_END};

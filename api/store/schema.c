/* Members of the rows of the store, in the order of docs/operations.md. */
#include "api/store/schema.h"

const gf_row_member gf_schema_init[] = {M("store", TEXT, "path of the store"),
                                        M("made", TRUTH, "false where it was there already"),
                                        GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_status[] = {
    M("store", TEXT, "path of the store"),
    M_MAYBE("holder", TEXT,
            "who holds the store and answered; absent where the caller itself does"),
    M("collections", INTEGER, "of all namespaces"),
    M("documents", INTEGER, "likewise"),
    M("builds", INTEGER, "finished ones"),
    M("unfinished", INTEGER,
      "builds and deletions that were cut short; the next opening or rebuild clears them"),
    M_MAYBE("tweets", INTEGER, "of all namespaces; absent where the store has no tables of tweets"),
    M_MAYBE("papers", INTEGER, "of all namespaces and tables; absent likewise"),
    M("bytes", INTEGER, "of the store's files"),
    M("format", INTEGER, "of the store ([storage.md](storage.md))"),
    M("running", INTEGER, "builds that are made at this moment"),
    M("failed", INTEGER,
      "configurations whose last rebuild failed: until they are rebuilt, also after a restart"),
    M("changed", INTEGER, "collections with other documents than one of their builds had"),
    M_MAYBE("last_failure", OBJECT, "of these the latest; absent where there is none"),
    M("last_failure.time", TIME, "when it was"),
    M("last_failure.namespace", TEXT, "whose collection"),
    M("last_failure.collection", TEXT, "its name"),
    M("last_failure.configuration", TEXT, "the configuration"),
    M("last_failure.error", TEXT, "why"),
    M_MAYBE("changed_collections", OBJECTS, "array: which those are; absent without `changed`"),
    M("changed_collections[].namespace", TEXT, "whose collection"),
    M("changed_collections[].collection", TEXT, "its name"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_upgrade[] = {
    M("store", TEXT, "path of the store"), M("format", INTEGER, "that it has now"),
    M("upgraded", TRUTH, "whether it had another"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_verify[] = {
    M("collections", INTEGER, "that were checked"),
    M("documents", INTEGER, "that were checked"),
    M("builds", INTEGER, "that were checked"),
    M("memberships", INTEGER, "documents of all builds"),
    M_MAYBE("tables", INTEGER, "of users; absent where there are none"),
    M_MAYBE("rows", INTEGER, "of these, each counted in each of its families; absent likewise"),
    M_MAYBE("tweets", INTEGER,
            "that were checked against their words, minutes and places, and the other way round; "
            "absent likewise"),
    M_MAYBE("papers", INTEGER, "whose rows were checked; absent likewise"),
    M("faults", INTEGER, "0: the store is sound"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_backup[] = {
    M("store", TEXT, "path of the store"),
    M("to", TEXT, "path of the copy"),
    M("collections", INTEGER, "that the copy has, of all namespaces"),
    M("documents", INTEGER, "likewise"),
    M("builds", INTEGER, "likewise"),
    M("bytes", INTEGER, "of the copy's files"),
    M_MAYBE("removed", INTEGER, "only with `keep`: older backups that were removed"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_archive[] = {M("bytes", INTEGER, "of the archive"),
                                           GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_restore[] = {
    M("backup", TEXT, "its path"),
    M("to", TEXT, "path of the store"),
    M("collections", INTEGER, "that the store has, of all namespaces"),
    M("documents", INTEGER, "likewise"),
    M("builds", INTEGER, "likewise"),
    M("bytes", INTEGER, "of the store's files"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_copy[] = {
    M("from", TEXT, "path or URL of the store that was copied"),
    M("to", TEXT, "of the copy"),
    M("collections", INTEGER, "that the copy has, of all namespaces"),
    M("documents", INTEGER, "likewise"),
    M("builds", INTEGER, "likewise"),
    M("tables", INTEGER, "of users"),
    M("rows", INTEGER,
      "of all tables, those of collections and builds among them: rows of packed families, cells "
      "of wide ones"),
    M("bytes", INTEGER, "of their keys and values"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_repair[] = {
    M("store", TEXT, "path of the damaged store"),
    M("to", TEXT, "path of the new one"),
    M("documents", INTEGER, "that the new store has"),
    M("damages", INTEGER, "of the old store's files"),
    M("rows", INTEGER, "that are there and could not be read"),
    M("collections", INTEGER, "whose numbers had to be set right"),
    M("builds", INTEGER, "that were not whole, and were dropped"),
    M("pointers", INTEGER, "of configurations, that led to no whole build"),
    M("remade", INTEGER,
      "tables of tweets, or parts of papers, that were made anew of what they derive from"),
    M("tables", INTEGER, "that could not be read, and were left out"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_version[] = {
    M("version", TEXT, "of the library"),
    M("libraries", TEXT, "of it and of the libraries that it was built with"), GF_ROW_MEMBERS_END};

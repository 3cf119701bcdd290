/* Members of the rows of users' tables, in the order of docs/operations.md. */
#include "api/tables/schema.h"

const gf_row_member gf_schema_table_create[] = {
    M("table", TEXT, "its name"),
    M("key", OBJECTS, "array: the parts of the row key"),
    M("key[].name", TEXT, "the part"),
    M("key[].type", TEXT, "its type"),
    M_MAYBE("key[].width", INTEGER, "bytes of a part of type `raw`; absent for others"),
    M("families", OBJECTS, "array"),
    M("families[].name", TEXT, "the family"),
    M_WORD("families[].layout", "packed|wide", "`packed` or `wide`"),
    M("families[].versions", INTEGER, "that are kept"),
    M("families[].ttl", INTEGER, "seconds after which a cell is absent; 0: never"),
    M_WORD("families[].compression", "none|snappy", "`none` or `snappy`"),
    M("families[].type", TEXT, "of cells that are not declared"),
    M_MAYBE("families[].qualifier", TEXT,
            "type of the qualifiers; absent where the family is packed"),
    M_MAYBE("families[].columns", MAP,
            "the columns that the family declares, with their types; absent where there are none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_list[] = {
    M("table", TEXT, "its name"),
    M_MAYBE("of", TEXT, "only with `system`: `engine`, or the application"),
    M("key", OBJECTS, "array: the parts of the row key"),
    M("key[].name", TEXT, "the part"),
    M("key[].type", TEXT, "its type"),
    M_MAYBE("key[].width", INTEGER, "bytes of a part of type `raw`; absent for others"),
    M("families", OBJECTS, "array"),
    M("families[].name", TEXT, "the family"),
    M_WORD("families[].layout", "packed|wide", "`packed` or `wide`"),
    M("families[].versions", INTEGER, "that are kept"),
    M("families[].ttl", INTEGER, "seconds after which a cell is absent; 0: never"),
    M_WORD("families[].compression", "none|snappy", "`none` or `snappy`"),
    M("families[].type", TEXT, "of cells that are not declared"),
    M_MAYBE("families[].qualifier", TEXT,
            "type of the qualifiers; absent where the family is packed"),
    M_MAYBE("families[].columns", MAP,
            "the columns that the family declares, with their types; absent where there are none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_drop[] = {M("table", TEXT, "its name"),
                                              M("dropped", TRUTH, "true"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_put[] = {M("table", TEXT, "its name"),
                                             M("key", ITEMS, "array: the parts of the row's key"),
                                             M("put", INTEGER, "cells"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_get[] = {
    M("table", TEXT, "its name"),
    M("key", ITEMS, "array: the parts of the row's key"),
    M_MAYBE("cells", MAP,
            "the families that have cells, each an object of its cells; absent with `column`"),
    M_MAYBE("column", TEXT, "only with `column`: as it was asked for"),
    M_MAYBE("value", ANY, "only with `column`"),
    M_MAYBE("timestamp", INTEGER,
            "only with `column`: milliseconds since 1970; absent where the family keeps none"),
    M_MAYBE("next", TEXT,
            "only with `limit`: the cursor of the next page; absent where there is none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_scan[] = {
    M("key", ITEMS, "array: the parts of the row's key"),
    M("cells", MAP, "the families that have cells, each an object of its cells"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_delete[] = {
    M("table", TEXT, "its name"),
    M_MAYBE("key", ITEMS, "array: the parts of the row's key; absent of a range"),
    M_MAYBE("deleted", INTEGER, "cells that were there; absent of a range"),
    M_MAYBE("rows", INTEGER, "only of a range: rows that were there"),
    M_MAYBE("dry_run", TRUTH, "true; only with `dry-run`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_incr[] = {
    M("table", TEXT, "its name"), M("key", ITEMS, "array: the parts of the row's key"),
    M("column", TEXT, "as it was asked for"), M("value", ANY, "the sum"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_check_and_put[] = {
    M("table", TEXT, "its name"),
    M("key", ITEMS, "array: the parts of the row's key"),
    M("done", TRUTH, "whether the check held"),
    M("put", INTEGER, "cells"),
    M("column", TEXT, "the cell that was checked"),
    M_MAYBE("found", ANY, "its value; absent where the check held, or there is no such cell"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_batch[] = {
    M("lines", INTEGER, "read"), M("tables", INTEGER, "that they are of"),
    M("put", INTEGER, "cells"),
    M("deleted", INTEGER, "cells, families and rows that were asked to be deleted"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_import[] = {
    M("table", TEXT, "its name"),
    M("read", INTEGER, "records"),
    M("rows", INTEGER, "put"),
    M("put", INTEGER, "cells"),
    M("refused", INTEGER, "records"),
    M_MAYBE("deleted", INTEGER, "of another store: marks of deletion that were obeyed"),
    M_MAYBE("other_type", INTEGER,
            "of another store: values whose bytes are not of their column's type; they are kept as "
            "they are"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_table_export[] = {
    M_MAYBE("key", ITEMS, "array: the parts of the row's key; absent with `csv`"),
    M_MAYBE(
        "timestamp", INTEGER,
        "only with `times` or `versions`: milliseconds since 1970; absent of cells that have none"),
    M_MAYBE("cells", MAP, "as table scan gives them; absent with `csv`"),
    M_OF("csv", "csv", TEXT, "only with `csv`: text of the file"), GF_ROW_MEMBERS_END};

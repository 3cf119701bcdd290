/* Members of the rows of papers, in the order of docs/operations.md. */
#include "apps/papers/operations/schema.h"

const gf_row_member gf_schema_papers_import_cdx[] = {
    M("store", TEXT, "path of the store"),
    M("table", TEXT, "its version and environment"),
    M("read", INTEGER, "lines that are not empty"),
    M("new", INTEGER, "written where nothing of it was"),
    M("changed", INTEGER, "written over what was there, as asked for"),
    M("existing", INTEGER, "there already, and left as it was, but for further captures"),
    M("stored", INTEGER, "`new` and `changed`"),
    M("skipped", INTEGER, "lines of another type"),
    M("refused", INTEGER, "lines that are no such capture"),
    M("reasons", MAP,
      "object: for each reason the records skipped or refused for it, and as `further_capture` "
      "such lines"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_import_tei[] = {
    M("store", TEXT, "path of the store"),
    M("table", TEXT, "its version and environment"),
    M("read", INTEGER, "files"),
    M("new", INTEGER, "written where nothing of it was"),
    M("changed", INTEGER, "written over what was there, as asked for"),
    M("existing", INTEGER, "there already, and left as it was"),
    M("stored", INTEGER, "`new` and `changed`"),
    M("skipped", INTEGER, "0"),
    M("refused", INTEGER, "files that were not stored"),
    M("reasons", MAP,
      "object: for each reason the records skipped or refused for it, and those stored as "
      "`oversize` or `fail`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_extract[] = {
    M("store", TEXT, "path of the store"),
    M("table", TEXT, "its version and environment"),
    M("read", INTEGER, "files"),
    M("new", INTEGER, "written where nothing of it was"),
    M("changed", INTEGER, "written over what was there, as asked for"),
    M("existing", INTEGER, "there already, and left as it was"),
    M("stored", INTEGER, "`new` and `changed`"),
    M("skipped", INTEGER, "0"),
    M("refused", INTEGER, "files that were not stored"),
    M("reasons", MAP,
      "object: for each reason the records skipped or refused for it, and those stored as `error`, "
      "`oversize` or `fail`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_show[] = {
    M("sha1", TEXT, "the digest in base32"),
    M_MAYBE("hex", TEXT, "the digest in hexadecimal digits; absent with `column`"),
    M_MAYBE("f", MAP, "object: `c`; absent where the family has nothing, as all that follow"),
    M_MAYBE("file", MAP, "object: `size`, `mime`, `cdx`, `meta`; absent likewise"),
    M_MAYBE("grobid0", MAP,
            "object: `status_code`, `quality`, `status`, `metadata`, `tei_xml_bytes`, "
            "`tei_json_bytes`; absent likewise"),
    M_MAYBE("match0", MAP, "object: `mstatus`, `doi`, `minfo`; absent likewise"),
    M_MAYBE("captures", MAP,
            "object: of each further capture its date and the SHA-1 of its URL, and what `cdx` has "
            "of the first; `\"\"` where it is only counted; absent likewise"),
    M_MAYBE("*", ANY,
            "further groups and families, such as `grobid1`, each an object of its columns; absent "
            "likewise"),
    M_MAYBE("column", TEXT, "its name; only with `column`"),
    M_MAYBE("value", TEXT, "its value as text; only with `column`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_list[] = {
    M("sha1", TEXT, "the digest in base32"),
    M_MAYBE("mime", TEXT, "type; absent where it is not known, as all that follow"),
    M_MAYBE("url", TEXT, "where it was captured; absent likewise"),
    M_MAYBE("status_code", INTEGER, "of its extraction; absent likewise"),
    M_MAYBE("status", TEXT, "`success`, `oversize`, `fail` or `error`; absent likewise"),
    M_MAYBE("quality", TEXT, "`good`, `marginal` or `bad`; absent likewise"),
    M_MAYBE("title", TEXT, "title; absent likewise"),
    M_MAYBE("mstatus", TEXT, "`match`, `ambiguous` or `no-match`; absent likewise"),
    M_MAYBE("doi", TEXT, "of the record that it matches; absent likewise"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_counts[] = {
    M_MAYBE("status_code", INTEGER, "of the extraction; absent where there is none"),
    M("status", TEXT, "its status, or `missing`"), M("papers", INTEGER, "how many"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_missing[] = {
    M("sha1", TEXT, "the digest in base32"),
    M_MAYBE("mime", TEXT, "type; absent where it is not known, as all that follow"),
    M_MAYBE("url", TEXT, "where it was captured; absent likewise"),
    M_MAYBE("dt", TEXT, "when; absent likewise"),
    M_MAYBE("warc", TEXT, "the WARC that it lies in; absent likewise"),
    M_MAYBE("offset", TEXT, "from which byte on; absent likewise"),
    M_MAYBE("c_size", TEXT, "how many bytes, compressed; absent likewise"),
    M_MAYBE("status_code", INTEGER,
            "of GROBID's answer; absent but with `failed`, as what follows"),
    M_MAYBE("status", TEXT, "only with `failed`: `error`, `fail` or `oversize`"),
    M_MAYBE("time", TIME, "when it was made; absent where it is not known"),
    M_MAYBE("reason", TEXT, "why it is no text; absent where none is stored"),
    M_MAYBE("description", TEXT, "the start of the answer; absent likewise"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_dump[] = {
    M_MAYBE("sha1", TEXT, "the digest in base32; absent with `tsv` or `header`"),
    M_MAYBE("size", INTEGER,
            "a number; absent where it was not asked for or is not there, as all that follow"),
    M_MAYBE("mime", TEXT, "text; absent likewise"),
    M_MAYBE("cdx", TEXT, "JSON as text; absent likewise"),
    M_MAYBE("status_code", INTEGER, "a number; absent likewise"),
    M_MAYBE(
        "captures", MAP,
        "object: of each further capture the text that `cdx` has of the first; absent likewise"),
    M_MAYBE("*", ANY, "further columns that were asked for, under their names; absent likewise"),
    M_MAYBE("line", TEXT, "only with `tsv` or `header`: the line, with its LF"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_match[] = {
    M("sha1", TEXT, "the digest in base32"),
    M_WORD("mstatus", "match|ambiguous|no-match", "`match`, `ambiguous` or `no-match`"),
    M_MAYBE("doi", TEXT, "of the record; absent where it has none, or where it is not a match"),
    M_MAYBE("record", TEXT, "id of the best record of that slug; absent where there is none"),
    M_MAYBE("score", NUMBER, "what it scores, of 1000; absent likewise"),
    M_MAYBE("also", TEXT,
            "a second DOI of that score, where it is `ambiguous` by one; absent otherwise"),
    M_MAYBE("by", TEXT,
            "`title`, where it is `ambiguous` since the title alone agrees: record or paper has no "
            "authors, or the record a subtitle more; absent otherwise"),
    M("title", TEXT, "of the paper"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_import[] = {
    M("store", TEXT, "path of the store"),
    M("table", TEXT, "its version and environment"),
    M("read", INTEGER, "lines that are not empty"),
    M_MAYBE("new", INTEGER, "rows of which something was put that was not there"),
    M("changed", INTEGER, "rows of which something was written over"),
    M("existing", INTEGER, "rows of which everything was there"),
    M("stored", INTEGER, "`new` and `changed`"),
    M("skipped", INTEGER, "0"),
    M("refused", INTEGER, "lines that are no such row"),
    M("reasons", MAP, "object: for each reason the records refused for it"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_papers_alter[] = {
    M("table", TEXT, "its version and environment"),
    M("families", OBJECTS, "array, in the order of the table"),
    M("families[].name", TEXT, "its name"),
    M_WORD("families[].layout", "packed|wide", "`packed` or `wide`"),
    M_WORD("families[].compression", "none|snappy", "`none` or `snappy`"),
    M("families[].columns", TEXTS,
      "array: their names; empty where it declares none and takes any"),
    GF_ROW_MEMBERS_END};

/* Papers. */
#include "cli/commands/import_files.h"

/* ---- summary of an import -------------------------------------------------------------------- */

static void show_summary(gf_session *s, gf_json_value row)
{
    static const gf_import_count counts[] = {{"read", "read"},       {"new", "new"},
                                             {"changed", "changed"}, {"existing", "existing"},
                                             {"skipped", "skipped"}, {"refused", "refused"}};
    gf_import_summary(s, row, counts, GF_COUNT(counts));
}

static const gf_display_column summary_columns[] = {
    {"read", NULL, GF_COLUMN_COUNT},    {"new", NULL, GF_COLUMN_COUNT},
    {"changed", NULL, GF_COLUMN_COUNT}, {"existing", NULL, GF_COLUMN_COUNT},
    {"stored", NULL, GF_COLUMN_COUNT},  {"skipped", NULL, GF_COLUMN_COUNT},
    {"refused", NULL, GF_COLUMN_COUNT}, {"reasons", NULL, GF_COLUMN_RAW}};

/* ---- papers import cdx ----------------------------------------------------------------------- */

static const gf_command import_cdx_command = {
    .name = "papers import-cdx",
    .examples = "    grouperfish papers import-cdx crawl.cdx.gz\n"
                "    grouperfish papers import-cdx crawl.cdxj --rejects refused.cdx\n"
                "    grouperfish papers import-cdx newer.cdx --replace\n",
    .notes =
        "FILE is CDX of 11 fields or CDXJ, compressed or not, a folder of such files, or - for\n"
        "standard input. Each line of a full text (status 200; PDF, PostScript, HTML or XML)\n"
        "makes a row, named by its SHA-1. The same line again changes nothing; another capture of "
        "the\n"
        "file is counted, and kept beside the first.\n",
    GF_WORDS(gf_import_files),
    GF_OPTIONS(gf_import_options),
    .display = {GF_COLUMNS(summary_columns), .single = true, .show = show_summary},
    .prepare = gf_import_prepare,
    .answers = true,
};

/* ---- papers import tei ----------------------------------------------------------------------- */

static const gf_command import_tei_command = {
    .name = "papers import-tei",
    .examples = "    grouperfish papers import-tei ./tei/          files such as SHA1.tei.xml\n"
                "    grouperfish papers import-tei texts.tar.gz --force\n"
                "    grouperfish papers import-tei papers.zip --hash\n",
    .notes =
        "FILE is a TEI XML file, a folder or an archive of such. A file's name up to its first "
        "dot\n"
        "is the SHA-1 of the paper, hexadecimal or base32. What is more than 4,000,000 bytes, or "
        "no\n"
        "TEI, is stored as a status alone. Entities are never expanded: XML that declares any, or\n"
        "refers to another file, is refused.\n",
    GF_WORDS(gf_import_files),
    GF_OPTIONS(gf_import_progress),
    .display = {GF_COLUMNS(summary_columns), .single = true, .show = show_summary},
    .prepare = gf_import_prepare,
    .answers = true,
};

/* ---- papers extract -------------------------------------------------------------------------- */

static const gf_command extract_command = {
    .name = "papers extract",
    .examples =
        "    grouperfish papers extract ./pdf/ --grobid http://localhost:8070\n"
        "    grouperfish papers extract new.tar --grobid http://localhost:8070 --jobs 16\n"
        "    grouperfish papers extract ./pdf/ --grobid http://localhost:8070 --retry failed\n"
        "    grouperfish papers extract ./pdf/ --grobid http://localhost:8070 "
        "--retry older-than:0.8.0\n",
    .notes =
        "FILE is a PDF, a folder or an archive of such; a name that is a SHA-1 must be that of\n"
        "the bytes. A busy GROBID (503) is asked again, each time after twice as long, and gets\n"
        "less at once. What is extracted already is not sent, unless --retry means it: failed,\n"
        "error, fail, oversize, code:N, version:V, older-than:V. A retry that fails leaves a text\n"
        "that is there; --force leaves nothing.\n",
    GF_WORDS(gf_import_files),
    GF_OPTIONS(gf_import_progress),
    .display = {GF_COLUMNS(summary_columns), .single = true, .show = show_summary},
    .prepare = gf_import_prepare,
    .answers = true,
};

/* ---- papers show ----------------------------------------------------------------------------- */

static const gf_positional show_words[] = {{.name = "SHA1", .argument = "sha1"}};
static const gf_display_column show_columns[] = {
    {"sha1", NULL, GF_COLUMN_TEXT},   {"hex", NULL, GF_COLUMN_TEXT},
    {"f", NULL, GF_COLUMN_RAW},       {"file", NULL, GF_COLUMN_RAW},
    {"grobid0", NULL, GF_COLUMN_RAW}, {"match0", NULL, GF_COLUMN_RAW},
    {"captures", NULL, GF_COLUMN_RAW}};
static const gf_display_column value_columns[] = {{"value", NULL, GF_COLUMN_TEXT}};
static const gf_other_display show_others[] = {
    {"column", {GF_COLUMNS(value_columns), .single = true, .page = "value"}}};

static void show_family(gf_session *s, gf_slice family, gf_json_value members)
{
    gf_json_value value;
    gf_slice name;
    gf_json_iterator it = gf_json_items(members);
    while (gf_json_next(&it, &name, &value)) {
        fprintf(s->out, "%.*s:%.*s  ", GF_SLICE_ARG(family), GF_SLICE_ARG(name));
        gf_member_print_value(s->out, value, 1000);
        fputc('\n', s->out);
    }
}

static void show_paper(gf_session *s, gf_json_value row)
{
    fputs("sha1  ", s->out);
    gf_text_print(s->out, gf_member_text(row, "sha1"), 0);
    fputs("  ", s->out);
    gf_text_print(s->out, gf_member_text(row, "hex"), 0);
    fputc('\n', s->out);
    gf_json_value members;
    gf_slice name;
    gf_json_iterator it = gf_json_items(row);
    while (gf_json_next(&it, &name, &members))
        if (gf_json_kind_of(members) == GF_JSON_OBJECT) show_family(s, name, members);
}

static const gf_command show_command = {
    .name = "papers show",
    .examples = "    grouperfish papers show MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J\n"
                "    grouperfish papers show sha1:MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J --format json\n"
                "    grouperfish papers show 63c57ad9949c6862bf7e92de750d78f34d4e4b69 "
                "--column tei_xml > paper.xml\n",
    .notes = "--column prints the value as it is.\n",
    GF_WORDS(show_words),
    .display = {GF_COLUMNS(show_columns), .single = true, .show = show_paper},
    GF_OTHERS(show_others),
};

/* ---- papers list ----------------------------------------------------------------------------- */

static const gf_display_column list_columns[] = {
    {"sha1", "sha1", GF_COLUMN_TEXT},       {"mime", "type", GF_COLUMN_TEXT},
    {"status_code", "code", GF_COLUMN_ID},  {"status", "status", GF_COLUMN_TEXT},
    {"quality", "quality", GF_COLUMN_TEXT}, {"mstatus", "match", GF_COLUMN_TEXT},
    {"doi", "doi", GF_COLUMN_TEXT},         {"title", "title", GF_COLUMN_PROSE},
    {"url", "url", GF_COLUMN_TEXT}};

static const gf_command list_command = {
    .name = "papers list",
    .examples = "    grouperfish papers list --limit 20\n"
                "    grouperfish papers list --format jsonl | jq -r .title\n",
    .display = {GF_COLUMNS(list_columns), .nothing = "no papers"},
};

/* ---- papers counts --------------------------------------------------------------------------- */

static const gf_display_column counts_columns[] = {{"status_code", "code", GF_COLUMN_ID},
                                                   {"status", "status", GF_COLUMN_TEXT},
                                                   {"papers", "papers", GF_COLUMN_COUNT}};

static const gf_command counts_command = {
    .name = "papers counts",
    .examples = "    grouperfish papers counts\n"
                "    grouperfish papers counts --table 0-qa\n",
    .notes = "What has no status code counts as missing.\n",
    .display = {GF_COLUMNS(counts_columns), .nothing = "no papers"},
};

/* ---- papers missing -------------------------------------------------------------------------- */

static const gf_display_column missing_columns[] = {
    {"sha1", "sha1", GF_COLUMN_TEXT}, {"mime", "type", GF_COLUMN_TEXT},
    {"url", "url", GF_COLUMN_TEXT},   {"dt", NULL, GF_COLUMN_TEXT},
    {"warc", NULL, GF_COLUMN_TEXT},   {"offset", NULL, GF_COLUMN_TEXT},
    {"c_size", NULL, GF_COLUMN_TEXT}};
static const gf_display_column failed_columns[] = {
    {"sha1", "sha1", GF_COLUMN_TEXT},      {"status_code", "code", GF_COLUMN_ID},
    {"status", "status", GF_COLUMN_TEXT},  {"time", "time", GF_COLUMN_TEXT},
    {"reason", "reason", GF_COLUMN_PROSE}, {"description", "description", GF_COLUMN_PROSE},
    {"mime", NULL, GF_COLUMN_TEXT},        {"url", NULL, GF_COLUMN_TEXT},
    {"dt", NULL, GF_COLUMN_TEXT},          {"warc", NULL, GF_COLUMN_TEXT},
    {"offset", NULL, GF_COLUMN_TEXT},      {"c_size", NULL, GF_COLUMN_TEXT}};
static const gf_other_display missing_others[] = {
    {"failed", {GF_COLUMNS(failed_columns), .nothing = "no extraction failed"}}};

static const gf_command missing_command = {
    .name = "papers missing",
    .examples = "    grouperfish papers missing --limit 20\n"
                "    grouperfish papers missing --failed\n"
                "    grouperfish papers missing --format jsonl > to-extract.jsonl\n",
    .notes = "Each with where its file lies: in which WARC, from which byte on, compressed.\n"
             "--failed lists those that papers extract --retry failed would send again.\n",
    .display = {GF_COLUMNS(missing_columns), .nothing = "no paper lacks an extraction"},
    GF_OTHERS(missing_others),
};

/* ---- papers dump ----------------------------------------------------------------------------- */

static const gf_own_option dump_options[] = {
    {"o", "FILE", "write there: by its name .csv, .json, else JSON Lines", GF_OPTION_OUT},
    {"force", NULL, "replace that file", GF_OPTION_FORCE}};
static const gf_display_column dump_columns[] = {{"sha1", "sha1", GF_COLUMN_TEXT}};
static const gf_display_column tsv_columns[] = {{"line", NULL, GF_COLUMN_TEXT}};
static const gf_other_display dump_others[] = {
    {"tsv", {GF_COLUMNS(tsv_columns), .page = "line"}},
    {"header", {GF_COLUMNS(tsv_columns), .page = "line"}}};

static const gf_command dump_command = {
    .name = "papers dump",
    .examples = "    grouperfish papers dump -o papers.jsonl\n"
                "    grouperfish papers dump --tsv --only missing --fields mime,cdx > todo.tsv\n"
                "    grouperfish papers dump --fields tei_json --format jsonl | gzip > texts.gz\n",
    .notes =
        "Rows are streamed, by digest: JSON Lines, or with --tsv lines of the digest and the\n"
        "columns, where TAB, LF, CR and backslash are \\t, \\n, \\r and \\\\, and what is not\n"
        "there is \\N.\n",
    GF_OPTIONS(dump_options),
    .display = {GF_COLUMNS(dump_columns), .spread = true, .listed = "fields",
                .usual = "mime,cdx,status_code,quality,status,mstatus,doi", .nothing = "no papers"},
    GF_OTHERS(dump_others),
    .streams_jsonl = true,
    .answers = true,
};

/* ---- papers import --------------------------------------------------------------------------- */

static const gf_command import_command = {
    .name = "papers import",
    .examples =
        "    grouperfish papers dump --fields all | grouperfish papers import - --store other\n"
        "    grouperfish papers import history.jsonl       f:c as a crawler writes it\n"
        "    grouperfish papers import sizes.tsv --fields size,quality --replace\n",
    .notes =
        "FILE has rows as papers dump gives them: JSON Lines with a member sha1 and one for each\n"
        "column, or lines of TSV, whose header or --fields names the columns. A row is refused "
        "that\n"
        "verify would find fault with. What is there stays, unless --replace is given.\n",
    GF_WORDS(gf_import_files),
    GF_OPTIONS(gf_import_options),
    .display = {GF_COLUMNS(summary_columns), .single = true, .show = show_summary},
    .prepare = gf_import_prepare,
    .answers = true,
};

/* ---- papers alter ---------------------------------------------------------------------------- */

static void show_families(gf_session *s, gf_json_value row)
{
    gf_json_value list, family, columns, column;
    if (!gf_json_member(row, "families", &list)) return;
    gf_json_iterator it = gf_json_items(list);
    while (gf_json_next(&it, NULL, &family)) {
        gf_text_print(s->out, gf_member_text(family, "name"), 0);
        fputs(": ", s->out);
        gf_text_print(s->out, gf_member_text(family, "layout"), 0);
        if (gf_json_member(family, "columns", &columns)) {
            gf_json_iterator names = gf_json_items(columns);
            for (int i = 0; gf_json_next(&names, NULL, &column); i++) {
                fputs(i ? ", " : "; ", s->out);
                gf_text_print(s->out, gf_json_get_string(column), 0);
            }
        }
        fputc('\n', s->out);
    }
}

static const gf_display_column alter_columns[] = {{"table", NULL, GF_COLUMN_TEXT},
                                                  {"families", NULL, GF_COLUMN_RAW}};

static const gf_command alter_command = {
    .name = "papers alter",
    .examples = "    grouperfish papers alter --add-family probe0 --add-column probe0:is_pdf\n"
                "    grouperfish papers alter --group grobid1,match1\n"
                "    grouperfish papers alter                     the families that there are\n",
    .notes =
        "Families hold what steps of your own say of a file: papers import puts it, show and\n"
        "dump give it, as text. They are added behind those that are there, and stay. Names of\n"
        "columns are unique across families of different stems (names without digits at their\n"
        "end). import-tei, extract and match add the groups that they write themselves.\n",
    .display = {GF_COLUMNS(alter_columns), .single = true, .show = show_families},
};

/* ---- papers match ---------------------------------------------------------------------------- */

static const gf_positional match_words[] = {
    {.name = "CATALOGUE", .optional = true, .repeats = true, .path = true}};
static const gf_display_column match_columns[] = {
    {"sha1", "sha1", GF_COLUMN_TEXT}, {"mstatus", "match", GF_COLUMN_TEXT},
    {"doi", "doi", GF_COLUMN_TEXT},   {"record", "record", GF_COLUMN_TEXT},
    {"score", "score", GF_COLUMN_ID}, {"title", "title", GF_COLUMN_PROSE}};

static const gf_command match_command = {
    .name = "papers match",
    .examples = "    grouperfish papers match catalogue.jsonl.gz\n"
                "    grouperfish papers match crossref/*.json.gz\n"
                "    grouperfish papers match works.csv --id key --authors by --dry-run\n",
    .notes =
        "CATALOGUE has records of Crossref or fatcat as they are, or with title, doi, authors\n"
        "and an id. A paper is a record whose title, without accents, case, punctuation and\n"
        "spaces, is the same and of 8 characters or more, which scores 900 of 1000 or more, and\n"
        "whose surnames are all the paper's. Parts of a catalogue may come one by one and in any\n"
        "order: what they give is joined.\n",
    GF_WORDS(match_words),
    .display = {GF_COLUMNS(match_columns), .nothing = "no paper has a title"},
    .prepare = gf_import_prepare,
    .answers = true,
};

/* ---- all of them ----------------------------------------------------------------------------- */

const gf_commands gf_commands_papers = {
    "Papers", GF_LIST(&import_cdx_command, &import_tei_command, &extract_command, &show_command,
                      &list_command, &counts_command, &missing_command, &dump_command,
                      &match_command, &import_command, &alter_command)};

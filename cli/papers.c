#include "cli/papers.h"

gf_status gf_papers_prepare(gf_session *s, gf_error *err)
{
    return gf_files_open(s->words, s->n_words, &s->files, err);
}

static void show_reasons(gf_session *s, gf_json_value row)
{
    gf_json_value reasons, n;
    gf_slice name;
    bool first = true;
    if (!gf_json_member(row, "reasons", &reasons)) return;
    gf_json_iterator it = gf_json_items(reasons);
    for (; gf_json_next(&it, &name, &n); first = false)
        fprintf(s->out, "%s%.*s %.0f", first ? "reasons      " : ", ", GF_SLICE_ARG(name),
                gf_json_number(n));
    if (!first) fputc('\n', s->out);
}

void gf_papers_summary(gf_session *s, gf_json_value row)
{
    static const char *const keys[] = {"read", "new", "changed", "existing", "skipped", "refused"};
    for (size_t i = 0; i < GF_COUNT(keys); i++) {
        gf_buffer n = {0};
        gf_buffer_count(&n, (uint64_t)gf_member_number(row, keys[i]));
        fprintf(s->out, "%-10s %10s\n", keys[i], gf_buffer_cstr(&n));
        gf_buffer_release(&n);
    }
    show_reasons(s, row);
}

const gf_positional gf_papers_files[1] = {{.name = "FILE", .repeats = true}};
const gf_own_option gf_papers_options[GF_PAPERS_OPTIONS] = {
    {"rejects", "FILE", "write refused records there, as they were"},
    {"force", NULL, "replace that file"},
    {"progress", "auto|none|jsonl", "what standard error tells meanwhile (auto)"}};
const gf_show_column gf_papers_columns[GF_PAPERS_COLUMNS] = {
    {"read", NULL, GF_COLUMN_COUNT},    {"new", NULL, GF_COLUMN_COUNT},
    {"changed", NULL, GF_COLUMN_COUNT}, {"existing", NULL, GF_COLUMN_COUNT},
    {"stored", NULL, GF_COLUMN_COUNT},  {"skipped", NULL, GF_COLUMN_COUNT},
    {"refused", NULL, GF_COLUMN_COUNT}, {"reasons", NULL, GF_COLUMN_RAW}};

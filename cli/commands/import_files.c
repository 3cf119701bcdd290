#include "cli/commands/import_files.h"

#include <sys/stat.h>
#include <unistd.h>

const gf_positional gf_import_files[1] = {
    {.name = "FILE", .optional = true, .repeats = true, .path = true}};

const gf_own_option gf_import_options[GF_IMPORT_OPTIONS] = {GF_IMPORT_OPTION_LIST};
const gf_own_option gf_import_progress[1] = {GF_IMPORT_PROGRESS};

/* Is there something to read: a pipe, a file, a socket? A terminal and /dev/null are not taken for it. */
static bool has_input(void)
{
    struct stat s;
    return fstat(STDIN_FILENO, &s) == 0 &&
           (S_ISFIFO(s.st_mode) || S_ISREG(s.st_mode) || S_ISSOCK(s.st_mode));
}

static const char *file_word(const gf_command *c)
{
    const gf_positional *last = &c->positionals[c->n_positionals - 1];
    return last->name;
}

gf_status gf_import_prepare(gf_session *s, gf_error *err)
{
    static const char *const standard_input[] = {"-"};
    if (s->n_words == 0 && has_input()) return gf_files_open(standard_input, 1, &s->files, err);
    if (s->n_words == 0)
        return gf_fail(err, GF_EINVAL, "%s is missing (- is standard input)",
                       file_word(s->command));
    return gf_files_open(s->words, s->n_words, &s->files, err);
}

gf_status gf_import_prepare_option(gf_session *s, gf_error *err)
{
    return s->file ? gf_files_open(&s->file, 1, &s->files, err) : GF_OK;
}

/* "reasons      no_text 2, bad_type 1" */
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

void gf_import_summary(gf_session *s, gf_json_value row, const gf_import_count *counts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gf_buffer count = {0};
        gf_buffer_count(&count, (uint64_t)gf_member_number(row, counts[i].key));
        fprintf(s->out, "%-10s %10s\n", counts[i].label, gf_buffer_cstr(&count));
        gf_buffer_release(&count);
    }
    show_reasons(s, row);
}

void gf_import_end_line(gf_session *s, gf_json_value row)
{
    if (gf_member_number(row, "refused") > 0)
        fprintf(s->out, "; %.0f refused", gf_member_number(row, "refused"));
    fputc('\n', s->out);
}

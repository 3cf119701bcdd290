/*
 * Choice of the format of a stream.
 *
 *     given in the options                  that
 *     name ends in .jsonl .ndjson           JSON Lines
 *                  .csv                     CSV
 *                  .tsv .tab                TSV
 *                  .json                    recognised by its first bytes, else JSON
 *     another name, in a folder or archive  a text file
 *     another name                          recognised by its first bytes, else an error
 *
 * An array of objects, and an object that goes on in the next line, are JSON. Two first rows of as
 * many cells, two or more, are CSV, or TSV where TABs are between them and nothing is quoted.
 *
 * Suffixes of compression (.gz .zst .xz .bz2 .lz4) are taken off the name first. First bytes: an
 * object that ends in the line it starts in is JSON Lines.
 */
#include "formats/format_internal.h"

#include <strings.h>

bool gf_format_named(gf_slice name, gf_format *format)
{
    static const struct {
        const char *name;
        gf_format format;
    } known[] = {
        {"auto", GF_FORMAT_AUTO},
        {"jsonl", GF_FORMAT_JSONL},
        {"json", GF_FORMAT_JSON},
        {"csv", GF_FORMAT_CSV},
        {"tsv", GF_FORMAT_TSV},
        {"dir", GF_FORMAT_DIR},
        {"input-tsv", GF_FORMAT_INPUT_TSV},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!gf_slice_equal(name, gf_slice_str(known[i].name))) continue;
        *format = known[i].format;
        return true;
    }
    return false;
}

/* ---- by name --------------------------------------------------------------------------------- */

static bool take_suffix(gf_slice *name, const char *suffix)
{
    size_t n = strlen(suffix);
    if (name->len <= n || strncasecmp(name->ptr + name->len - n, suffix, n) != 0) return false;
    name->len -= n;
    return true;
}

gf_format gf_format_of_name(gf_slice name)
{
    if (!take_suffix(&name, ".gz") && !take_suffix(&name, ".zst") && !take_suffix(&name, ".xz") &&
        !take_suffix(&name, ".bz2"))
        take_suffix(&name, ".lz4");
    if (take_suffix(&name, ".jsonl") || take_suffix(&name, ".ndjson")) return GF_FORMAT_JSONL;
    if (take_suffix(&name, ".json")) return GF_FORMAT_JSON;
    if (take_suffix(&name, ".csv")) return GF_FORMAT_CSV;
    if (take_suffix(&name, ".tsv") || take_suffix(&name, ".tab")) return GF_FORMAT_TSV;
    return GF_FORMAT_AUTO;
}

/* ---- by content ------------------------------------------------------------------------------ */

static size_t skip_space(gf_slice s, size_t i, const char *space)
{
    while (i < s.len && s.ptr[i] && strchr(space, s.ptr[i]))
        i++;
    return i;
}

/* The end of the object that starts at s[i], if it is in the same line; else 0. */
static size_t object_end(gf_slice s, size_t i)
{
    size_t depth = 0;
    bool in_string = false;
    for (; i < s.len && s.ptr[i] != '\n'; i++) {
        char c = s.ptr[i];
        if (c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']') && --depth == 0)
            return i + 1;
    }
    return 0;
}

static gf_format format_of_object(gf_slice s, size_t i)
{
    bool has_line = memchr(s.ptr + i, '\n', s.len - i) != NULL;
    size_t next = skip_space(s, i + 1, " \t\r\n");
    if (next < s.len && s.ptr[next] != '"' && s.ptr[next] != '}') return GF_FORMAT_AUTO;
    size_t end = object_end(s, i);
    if (end == 0) return has_line ? GF_FORMAT_JSON : GF_FORMAT_JSONL;
    end = skip_space(s, end, " \t\r");
    return end == s.len || s.ptr[end] == '\n' ? GF_FORMAT_JSONL : GF_FORMAT_JSON;
}

/*
 * Delimiters of the row at s[*at] outside of quotes (of TSV, where nothing is quoted, all); *at is
 * moved behind it. False where the row does not end in s, or a cell of TSV begins with a quote.
 * @param whole  s is all there is: its end is a row's, too
 */
static bool count_cells(gf_slice s, bool whole, char delimiter, bool quotes, size_t *at, size_t *n)
{
    bool quoted = false;
    *n = 0;
    for (size_t i = *at; i < s.len; i++) {
        char c = s.ptr[i];
        bool starts = i == *at || s.ptr[i - 1] == delimiter;
        if (c == '"' && !quotes && starts) return false;
        if (c == '"' && quotes) quoted = !quoted;
        if (quoted) continue;
        *n += c == delimiter;
        if (c != '\n' && c != '\r') continue;
        *at = i + 1 + (c == '\r' && i + 1 < s.len && s.ptr[i + 1] == '\n');
        return true;
    }
    bool is_row = whole && !quoted && *at < s.len;
    *at = s.len;
    return is_row;
}

/* Have the first two rows as many cells, and at least two? */
static bool is_table(gf_slice s, bool whole, size_t at, char delimiter, bool quotes)
{
    size_t first, second;
    return count_cells(s, whole, delimiter, quotes, &at, &first) && first > 0 &&
           count_cells(s, whole, delimiter, quotes, &at, &second) && first == second;
}

static gf_format format_of_table(gf_slice s, bool whole, size_t i)
{
    if (strchr("{[<", s.ptr[i])) return GF_FORMAT_AUTO;
    if (is_table(s, whole, i, '\t', false)) return GF_FORMAT_TSV;
    bool csv = is_table(s, whole, i, ',', true) || is_table(s, whole, i, ';', true) ||
               is_table(s, whole, i, '\t', true);
    return csv ? GF_FORMAT_CSV : GF_FORMAT_AUTO;
}

static gf_format format_by_content(gf_slice s, bool whole)
{
    static const char space[] = " \t\r\n";
    size_t i = skip_space(s, 0, space);
    if (i == s.len) return GF_FORMAT_AUTO;
    if (s.ptr[i] == '{') return format_of_object(s, i);
    size_t next = skip_space(s, i + 1, space);
    bool is_array = s.ptr[i] == '[' && next < s.len && (s.ptr[next] == '{' || s.ptr[next] == ']');
    return is_array ? GF_FORMAT_JSON : format_of_table(s, whole, i);
}

/* ---- choosing -------------------------------------------------------------------------------- */

enum { SNIFFED = 64 << 10 };

static bool is_decided(gf_slice start)
{
    gf_format found =
        memchr(start.ptr, '\n', start.len) ? format_by_content(start, false) : GF_FORMAT_AUTO;
    return found == GF_FORMAT_JSONL || found == GF_FORMAT_CSV || found == GF_FORMAT_TSV;
}

static gf_status recognise_format(gf_read_buffer *w, gf_slice name, gf_format *format,
                                  gf_error *err)
{
    gf_slice start;
    gf_status st = gf_read_buffer_peek(w, 1, &start, err);
    /* A first line that is an object decides, and so do two rows: what follows may come much later. */
    while (st == GF_OK && start.len < SNIFFED && !w->at_end && !is_decided(start))
        st = gf_read_buffer_peek(w, start.len + 1, &start, err);
    if (st != GF_OK) return st;
    gf_format found = format_by_content(start, w->at_end);
    bool is_table = found == GF_FORMAT_CSV || found == GF_FORMAT_TSV;
    if (found != GF_FORMAT_AUTO && !(is_table && *format == GF_FORMAT_JSON)) *format = found;
    if (*format == GF_FORMAT_AUTO && start.len == 0) *format = GF_FORMAT_JSONL;
    if (*format == GF_FORMAT_AUTO)
        return gf_fail(err, GF_EINVAL,
                       "cannot tell what %.*s holds; say it with --from " GF_FORMAT_NAMES
                       " (dir takes each file as one document)",
                       GF_SLICE_ARG(name));
    return GF_OK;
}

static const gf_parser_kind *parser_of(gf_format format)
{
    switch (format) {
    case GF_FORMAT_JSONL:
        return &gf_jsonl_parser;
    case GF_FORMAT_JSON:
        return &gf_json_array_parser;
    case GF_FORMAT_CSV:
        return &gf_csv_parser;
    case GF_FORMAT_TSV:
        return &gf_tsv_parser;
    case GF_FORMAT_INPUT_TSV:
        return &gf_firefox_input_parser;
    case GF_FORMAT_AUTO:
    case GF_FORMAT_DIR:
        break;
    }
    return &gf_text_file_parser;
}

bool gf_format_is_records(gf_slice name, gf_format given)
{
    gf_format format = given != GF_FORMAT_AUTO ? given : gf_format_of_name(name);
    return format != GF_FORMAT_AUTO && format != GF_FORMAT_DIR;
}

gf_status gf_format_choose_parser(gf_read_buffer *w, gf_slice name, gf_format given, bool is_member,
                                  const gf_parser_kind **kind, gf_error *err)
{
    gf_format format = given != GF_FORMAT_AUTO ? given : gf_format_of_name(name);
    if (format == GF_FORMAT_AUTO && is_member) format = GF_FORMAT_DIR;
    gf_status st = gf_read_buffer_skip_mark(w, err);
    if (st != GF_OK) return st;
    bool is_open = format == GF_FORMAT_AUTO || (format == GF_FORMAT_JSON && given != format);
    if (is_open && (st = recognise_format(w, name, &format, err)) != GF_OK) return st;
    *kind = parser_of(format);
    return GF_OK;
}

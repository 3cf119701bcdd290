/*
 * An .eml as one document: its path is the id; the subject and the text of its body are the text.
 *
 *     header fields     Subject, Content-Type, Content-Transfer-Encoding (RFC 5322), words in other
 *                       encodings (RFC 2047)
 *     multipart/...     the parts between boundaries (RFC 2046), DEEPEST deep: of alternatives the first
 *                       plain text, else of HTML what it shows; attachments are left out
 *     text/...          base64, quoted-printable or plain, in its charset
 *
 * A mail is held whole, up to MAIL_FACTOR times max_document, since attachments lie behind texts. Parts
 * are slices of it; each level of nesting reads its bytes once.
 */
#include "formats/format_internal.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "formats/bytes/encoding.h"
#include "formats/documents/page_text.h"

#include <strings.h>
#include <unicode/ucnv.h>

enum { DEEPEST = 8, MAIL_FACTOR = 4, MOST_HEADER = 64 << 10 };

typedef struct mail {
    gf_parse_context in;
    bool is_done, no_memory;
    gf_buffer text, field;
    uint64_t replaced;
} mail;

typedef struct part {
    gf_slice header, body;
} part;

static gf_status open_mail(const gf_parse_context *context, void **parser, gf_error *err)
{
    mail *m = gf_calloc(1, sizeof *m);
    if (!m) return gf_fail_memory(err, "a reader");
    m->in = *context;
    *parser = m;
    return GF_OK;
}

static void close_mail(void *parser)
{
    mail *m = parser;
    gf_buffer_release(&m->text);
    gf_buffer_release(&m->field);
    gf_free(m);
}

/* ---- lines and fields ------------------------------------------------------------------------ */

/* The line at the start of *rest, without its end, which is consumed. */
static gf_slice take_line(gf_slice *rest)
{
    const char *lf = memchr(rest->ptr, '\n', rest->len);
    gf_slice line = gf_slice_of(rest->ptr, lf ? (size_t)(lf - rest->ptr) : rest->len);
    *rest = gf_slice_skip(*rest, line.len + (lf ? 1 : 0));
    if (line.len && line.ptr[line.len - 1] == '\r') line.len--;
    return line;
}

static part split_part(gf_slice bytes)
{
    gf_slice rest = bytes;
    part p = {bytes, {"", 0}};
    while (rest.len) {
        gf_slice line = take_line(&rest);
        size_t n = (size_t)(rest.ptr - bytes.ptr);
        if (line.len == 0 || n > MOST_HEADER) {
            p.header.len = line.len ? n : (size_t)(line.ptr - bytes.ptr);
            p.body = rest;
            break;
        }
    }
    return p;
}

/* The value of a header field, its lines joined; empty where there is none. Borrowed until the next. */
static gf_slice header_field(mail *m, gf_slice header, const char *name)
{
    size_t n = strlen(name);
    bool found = false;
    gf_buffer_reset(&m->field);
    while (header.len) {
        gf_slice line = take_line(&header);
        bool goes_on = line.len && (*line.ptr == ' ' || *line.ptr == '\t');
        if (found && !goes_on) break;
        if (!found && line.len > n && line.ptr[n] == ':' && strncasecmp(line.ptr, name, n) == 0) {
            found = true;
            line = gf_slice_skip(line, n + 1);
        }
        if (found) gf_buffer_slice(&m->field, line);
    }
    m->no_memory |= m->field.state != GF_OK;
    gf_slice value = gf_buffer_view(&m->field);
    while (value.len && (*value.ptr == ' ' || *value.ptr == '\t'))
        value = gf_slice_skip(value, 1);
    return value;
}

/* A parameter of a value: charset, boundary. */
static gf_slice parameter_of(gf_slice value, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 1; i + n < value.len; i++) {
        char before = value.ptr[i - 1];
        if ((before != ';' && before != ' ' && before != '\t') || value.ptr[i + n] != '=' ||
            strncasecmp(value.ptr + i, name, n) != 0)
            continue;
        gf_slice s = gf_slice_skip(value, i + n + 1);
        bool quoted = s.len && *s.ptr == '"';
        if (quoted) s = gf_slice_skip(s, 1);
        size_t length = 0;
        while (length < s.len && !strchr(quoted ? "\"" : "; \t", s.ptr[length]))
            length++;
        return gf_slice_of(s.ptr, length);
    }
    return (gf_slice){"", 0};
}

static bool begins(gf_slice s, const char *with)
{
    size_t n = strlen(with);
    return s.len >= n && strncasecmp(s.ptr, with, n) == 0;
}

/* ---- transfer encodings and charsets --------------------------------------------------------- */

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static void decode_base64(gf_slice s, gf_buffer *out)
{
    uint32_t bits = 0;
    unsigned n = 0;
    for (size_t i = 0; i < s.len && s.ptr[i] != '='; i++) {
        int v = sextet(s.ptr[i]);
        if (v < 0) continue;
        bits = (bits << 6 | (uint32_t)v) & 0xFFFFFF;
        n += 6;
        if (n >= 8) {
            n -= 8;
            gf_buffer_byte(out, (char)(bits >> n & 0xFF));
        }
    }
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Quoted-printable; in header fields _ is a blank. */
static void decode_quoted(gf_slice s, bool is_word, gf_buffer *out)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '=' && i + 2 < s.len && hex_of(s.ptr[i + 1]) >= 0 && hex_of(s.ptr[i + 2]) >= 0) {
            gf_buffer_byte(out, (char)(hex_of(s.ptr[i + 1]) << 4 | hex_of(s.ptr[i + 2])));
            i += 2;
        } else if (c == '=' && !is_word) {
            while (i + 1 < s.len && s.ptr[i] != '\n')
                i++;
        } else {
            gf_buffer_byte(out, is_word && c == '_' ? ' ' : c);
        }
    }
}

/* Append bytes as UTF-8. Without a charset, or of one that is not known, they are judged by themselves. */
static gf_status append_text(mail *m, gf_slice bytes, gf_slice charset, gf_buffer *out,
                             gf_error *err)
{
    gf_encoding e = {""};
    bool is_utf8 = gf_utf8_valid_length(bytes) == bytes.len, clear = true;
    if (!is_utf8 && (!gf_encoding_named(charset, &e) || gf_encoding_is_utf8(&e))) {
        gf_status st = gf_encoding_recognise(bytes, false, &e, &clear, err);
        if (st != GF_OK) return st;
    }
    if (is_utf8 && !begins(charset, "iso-2022")) clear = false;
    if (is_utf8 && begins(charset, "iso-2022")) clear = gf_encoding_named(charset, &e);
    if (!clear) {
        m->replaced += gf_utf8_repair(bytes, out);
        return gf_buffer_check(out, err);
    }
    UErrorCode code = U_ZERO_ERROR;
    size_t room = bytes.len * 4 + 16;
    char *to = gf_malloc(room);
    if (!to) return gf_fail_memory(err, "a mail");
    int32_t n =
        ucnv_convert("UTF-8", e.name, to, (int32_t)room, bytes.ptr, (int32_t)bytes.len, &code);
    if (U_SUCCESS(code)) m->replaced += gf_utf8_repair(gf_slice_of(to, (size_t)n), out);
    gf_free(to);
    return U_SUCCESS(code) ? gf_buffer_check(out, err) : gf_fail_memory(err, "a mail");
}

/* =?utf-8?B?...?= ; the blanks between two such words are none. */
static gf_status append_words(mail *m, gf_slice value, gf_error *err)
{
    gf_status st = GF_OK;
    gf_buffer bytes = {0}, copy = {0};
    gf_buffer_slice(&copy, value); /* header_field lent it */
    m->no_memory |= copy.state != GF_OK;
    gf_slice s = gf_buffer_view(&copy);
    size_t plain_from = 0, i = 0;
    while (st == GF_OK && i + 1 < s.len) {
        const char *q1 = s.ptr[i] == '=' && s.ptr[i + 1] == '?'
                             ? memchr(s.ptr + i + 2, '?', s.len - i - 2)
                             : NULL;
        size_t at = q1 ? (size_t)(q1 - s.ptr) : 0;
        const char *end = q1 && at + 3 < s.len && s.ptr[at + 2] == '?'
                              ? memmem(s.ptr + at + 3, s.len - at - 3, "?=", 2)
                              : NULL;
        if (!end) {
            i++;
            continue;
        }
        gf_slice before = gf_slice_of(s.ptr + plain_from, i - plain_from);
        size_t blanks = 0;
        while (blanks < before.len && (before.ptr[blanks] == ' ' || before.ptr[blanks] == '\t'))
            blanks++;
        if (plain_from == 0 || blanks < before.len)
            st = append_text(m, before, (gf_slice){"", 0}, &m->text, err);
        gf_slice word = gf_slice_of(s.ptr + at + 3, (size_t)(end - s.ptr) - at - 3);
        gf_buffer_reset(&bytes);
        if ((s.ptr[at + 1] | 0x20) == 'b')
            decode_base64(word, &bytes);
        else
            decode_quoted(word, true, &bytes);
        if (st == GF_OK) st = gf_buffer_check(&bytes, err);
        if (st == GF_OK)
            st = append_text(m, gf_buffer_view(&bytes), gf_slice_of(s.ptr + i + 2, at - i - 2),
                             &m->text, err);
        i = plain_from = (size_t)(end - s.ptr) + 2;
    }
    if (st == GF_OK)
        st = append_text(m, gf_slice_skip(s, plain_from), (gf_slice){"", 0}, &m->text, err);
    gf_buffer_release(&bytes);
    gf_buffer_release(&copy);
    return st;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static gf_status append_body(mail *m, const part *p, bool is_html, gf_error *err)
{
    char name[64];
    gf_buffer bytes = {0}, text = {0};
    gf_slice charset = parameter_of(header_field(m, p->header, "Content-Type"), "charset");
    size_t n = charset.len < sizeof name ? charset.len : 0;
    memcpy(name, charset.ptr, n);
    gf_slice coding = header_field(m, p->header, "Content-Transfer-Encoding");
    if (begins(coding, "base64"))
        decode_base64(p->body, &bytes);
    else if (begins(coding, "quoted-printable"))
        decode_quoted(p->body, false, &bytes);
    else
        gf_buffer_slice(&bytes, p->body);
    gf_status st = gf_buffer_check(&bytes, err);
    if (m->text.len && st == GF_OK) gf_buffer_str(&m->text, "\n\n");
    gf_buffer *to = is_html ? &text : &m->text;
    if (st == GF_OK) st = append_text(m, gf_buffer_view(&bytes), gf_slice_of(name, n), to, err);
    if (st == GF_OK && is_html) st = gf_page_text(gf_buffer_view(&text), &m->text, err);
    gf_buffer_release(&bytes);
    gf_buffer_release(&text);
    return st;
}

static gf_status append_part(mail *m, gf_slice bytes, unsigned depth, bool html, bool *any,
                             gf_error *err);

/* Each part between lines that begin with -- and the boundary. */
static gf_status append_parts(mail *m, const part *p, gf_slice boundary, bool alternative,
                              unsigned depth, bool html, bool *any, gf_error *err)
{
    gf_slice rest = p->body;
    const char *from = NULL;
    gf_status st = GF_OK;
    bool more = true;
    while (st == GF_OK && more && !(alternative && *any)) {
        gf_slice line = take_line(&rest);
        bool ends = rest.len == 0;
        bool is_boundary = line.len >= boundary.len + 2 && memcmp(line.ptr, "--", 2) == 0 &&
                           memcmp(line.ptr + 2, boundary.ptr, boundary.len) == 0;
        if (from && (is_boundary || ends)) {
            const char *end = is_boundary ? line.ptr : rest.ptr;
            st = append_part(m, gf_slice_of(from, (size_t)(end - from)), depth + 1, html, any, err);
        }
        if (is_boundary) from = rest.ptr;
        more = !ends && !(is_boundary && line.len >= boundary.len + 4 &&
                          memcmp(line.ptr + boundary.len + 2, "--", 2) == 0);
    }
    return st;
}

/* html: take what is HTML, and not what is plain text; *any: something was taken. */
static gf_status append_part(mail *m, gf_slice bytes, unsigned depth, bool html, bool *any,
                             gf_error *err)
{
    part p = split_part(bytes);
    if (begins(header_field(m, p.header, "Content-Disposition"), "attachment")) return GF_OK;
    gf_slice type = header_field(m, p.header, "Content-Type");
    if (begins(type, "multipart/")) {
        char boundary[80];
        bool alternative = begins(type, "multipart/alternative");
        gf_slice said = parameter_of(type, "boundary");
        if (said.len == 0 || said.len > sizeof boundary || depth == DEEPEST) return GF_OK;
        memcpy(boundary, said.ptr, said.len);
        bool found = false;
        gf_slice kept = gf_slice_of(boundary, said.len);
        gf_status st = append_parts(m, &p, kept, alternative, depth, html, &found, err);
        *any |= found;
        return st;
    }
    bool is_html = begins(type, "text/html");
    if (is_html != html || (type.len && !begins(type, "text/"))) return GF_OK;
    *any = true;
    return append_body(m, &p, is_html, err);
}

static gf_status read_mail(mail *m, gf_slice bytes, gf_error *err)
{
    bool any = false;
    gf_slice subject = header_field(m, split_part(bytes).header, "Subject");
    gf_status st = append_words(m, subject, err);
    if (st == GF_OK) st = append_part(m, bytes, 0, false, &any, err);
    if (st == GF_OK && !any) st = append_part(m, bytes, 0, true, &any, err);
    while (m->text.len && strchr(" \t\r\n", m->text.ptr[m->text.len - 1]))
        m->text.len--;
    if (st == GF_OK && m->no_memory) st = gf_fail_memory(err, "a mail");
    return st == GF_OK ? gf_buffer_check(&m->text, err) : st;
}

static gf_status next_mail(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    mail *m = parser;
    gf_slice bytes;
    if (m->is_done) return GF_ENOTFOUND;
    m->is_done = true;
    size_t most = m->in.bounds.kept * MAIL_FACTOR;
    gf_status st = gf_read_buffer_peek(m->in.buffer, most + 1, &bytes, err);
    if (st != GF_OK) return st;
    parsed->raw = bytes;
    if (bytes.len > most) {
        parsed->raw.len = m->in.bounds.kept;
        gf_parsed_record_refuse_long(parsed, m->in.max_document);
        return GF_OK;
    }
    st = read_mail(m, bytes, err);
    if (st != GF_OK) return st;
    parsed->replaced += m->replaced;
    parsed->is_file = true;
    parsed->id = m->in.path;
    parsed->text = gf_buffer_view(&m->text);
    if (parsed->text.len == 0)
        gf_parsed_record_skip(parsed, "empty_text", "the mail holds no text");
    return GF_OK;
}

const gf_parser_kind gf_mail_parser = {open_mail, next_mail, close_mail};

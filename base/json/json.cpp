/* The C face of simdjson and of std::to_chars: no exception leaves this file. */
#include <charconv>
#include <cmath>
#include <cstring>
#include <new>
#include <simdjson.h>
#include <string>
#include <type_traits>

extern "C" { /* the headers of base are C's: what they declare has C's linkage */
#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/utf8.h"
}

using simdjson::error_code;
using simdjson::dom::element;
using simdjson::dom::element_type;

struct gf_json_parser {
    simdjson::dom::parser parser;
    std::string copy;
    gf_json_problem problem = GF_JSON_NO_PROBLEM;
};

static_assert(sizeof(element) == sizeof(gf_json_value), "an element is a document and an index");
static_assert(std::is_trivially_copyable<element>::value, "an element is copied as bytes");
static_assert(GF_JSON_PADDING >= simdjson::SIMDJSON_PADDING, "simdjson reads past the text");

namespace
{

template <typename T> gf_json_value pack(const T &from)
{
    static_assert(sizeof(T) == sizeof(gf_json_value), "a document and an index");
    gf_json_value v;
    std::memcpy(&v, &from, sizeof v);
    return v;
}

template <typename T> T unpack(gf_json_value v)
{
    static_assert(sizeof(T) == sizeof(gf_json_value), "a document and an index");
    alignas(T) unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &v, sizeof v);
    T to = *reinterpret_cast<const T *>(bytes);
    return to;
}

gf_json_problem problem_of(error_code code)
{
    switch (code) {
    case simdjson::SUCCESS:
        return GF_JSON_NO_PROBLEM;
    case simdjson::UTF8_ERROR:
        return GF_JSON_BAD_UTF8;
    case simdjson::STRING_ERROR:
        return GF_JSON_BAD_STRING;
    case simdjson::NUMBER_ERROR:
        return GF_JSON_BAD_NUMBER;
    case simdjson::DEPTH_ERROR:
        return GF_JSON_TOO_DEEP;
    default:
        return GF_JSON_BAD_SYNTAX;
    }
}

gf_status refuse(gf_json_parser *p, error_code code, gf_error *err)
{
    if (code == simdjson::MEMALLOC) return gf_fail_memory(err, "JSON");
    p->problem = problem_of(code);
    switch (p->problem) {
    case GF_JSON_BAD_UTF8:
        return gf_fail(err, GF_EINVAL, "broken JSON: not valid UTF-8");
    case GF_JSON_BAD_STRING:
        return gf_fail(err, GF_EINVAL, "broken JSON: an escape in a string names no character");
    case GF_JSON_BAD_NUMBER:
        return gf_fail(err, GF_EINVAL, "broken JSON: a number is malformed or out of range");
    case GF_JSON_TOO_DEEP:
        return gf_fail(err, GF_EINVAL, "JSON nested more than %d deep", (int)GF_JSON_DEPTH);
    default:
        break;
    }
    if (code == simdjson::EMPTY) return gf_fail(err, GF_EINVAL, "broken JSON: nothing there");
    if (code == simdjson::UNCLOSED_STRING)
        return gf_fail(err, GF_EINVAL, "broken JSON: a string is not closed");
    if (code == simdjson::CAPACITY) return gf_fail(err, GF_EINVAL, "JSON of 4 GB or more");
    return gf_fail(err, GF_EINVAL, "broken JSON: a comma, bracket, quote or value is out of place");
}

/*
 * std::to_chars knows no locale and gives the fewest digits. Integers that T holds exactly are
 * written as such, since 1e+05, though shorter, is no way to write a size.
 */
template <typename T> void write_number(gf_buffer *b, T v, T exact)
{
    char text[40];
    bool whole = std::fabs(v) <= exact && std::trunc(v) == v;
    auto end = whole ? std::to_chars(text, text + sizeof text, v, std::chars_format::fixed)
                     : std::to_chars(text, text + sizeof text, v);
    gf_buffer_append(b, text, static_cast<size_t>(end.ptr - text));
}

/* A string that JSON writes as it is, or an integer: most values, without a string of their own. */
bool write_simple(gf_json_value v, gf_buffer *out)
{
    char digits[24];
    std::to_chars_result end;
    switch (gf_json_kind_of(v)) {
    case GF_JSON_STRING: {
        gf_slice s = gf_json_get_string(v);
        for (size_t i = 0; i < s.len; i++)
            if (static_cast<unsigned char>(s.ptr[i]) < 0x20 || s.ptr[i] == '"' || s.ptr[i] == '\\')
                return false;
        if (char *to = gf_buffer_reserve(out, s.len + 2)) {
            *to = '"';
            std::memcpy(to + 1, s.ptr, s.len);
            to[s.len + 1] = '"';
            out->len += s.len + 2;
        }
        return true;
    }
    case GF_JSON_INT:
        end = std::to_chars(digits, digits + sizeof digits, gf_json_get_int(v));
        break;
    case GF_JSON_UINT:
        end = std::to_chars(digits, digits + sizeof digits, gf_json_get_uint(v));
        break;
    default:
        return false;
    }
    gf_buffer_append(out, digits, static_cast<size_t>(end.ptr - digits));
    return true;
}

} // namespace

bool gf_utf8_is_valid(gf_slice s)
{
    return simdjson::validate_utf8(s.ptr, s.len);
}

gf_status gf_json_parser_create(gf_json_parser **parser, gf_error *err)
{
    gf_json_parser *p = new (std::nothrow) gf_json_parser;
    if (!p) return gf_fail_memory(err, "a JSON parser");
    /* simdjson's limit counts the scalar inside the deepest bracket. */
    if (p->parser.allocate(4096, GF_JSON_DEPTH + 1) != simdjson::SUCCESS) {
        delete p;
        return gf_fail_memory(err, "a JSON parser");
    }
    *parser = p;
    return GF_OK;
}

void gf_json_parser_free(gf_json_parser *parser)
{
    delete parser;
}

gf_status gf_json_parse(gf_json_parser *p, gf_slice text, gf_json_value *root, gf_error *err)
{
    p->problem = GF_JSON_NO_PROBLEM;
    element e;
    error_code code = p->parser.parse(text.ptr ? text.ptr : "", text.len, false).get(e);
    if (code != simdjson::SUCCESS) return refuse(p, code, err);
    *root = pack(e);
    return GF_OK;
}

gf_status gf_json_parse_copy(gf_json_parser *p, gf_slice text, gf_json_value *root, gf_error *err)
{
    try {
        p->copy.reserve(text.len + GF_JSON_PADDING);
        p->copy.assign(text.ptr ? text.ptr : "", text.len);
    } catch (const std::exception &) {
        return gf_fail_memory(err, "JSON");
    }
    return gf_json_parse(p, gf_slice_of(p->copy.data(), p->copy.size()), root, err);
}

gf_json_problem gf_json_parser_problem(const gf_json_parser *p)
{
    return p->problem;
}

gf_json_kind gf_json_kind_of(gf_json_value v)
{
    switch (unpack<element>(v).type()) {
    case element_type::ARRAY:
        return GF_JSON_ARRAY;
    case element_type::OBJECT:
        return GF_JSON_OBJECT;
    case element_type::INT64:
        return GF_JSON_INT;
    case element_type::UINT64:
        return GF_JSON_UINT;
    case element_type::DOUBLE:
        return GF_JSON_DOUBLE;
    case element_type::STRING:
        return GF_JSON_STRING;
    case element_type::BOOL:
        return GF_JSON_BOOL;
    case element_type::NULL_VALUE:
        return GF_JSON_NULL;
    }
    return GF_JSON_NULL;
}

bool gf_json_get_bool(gf_json_value v)
{
    bool b = false;
    return unpack<element>(v).get(b) == simdjson::SUCCESS && b;
}

int64_t gf_json_get_int(gf_json_value v)
{
    int64_t n = 0;
    return unpack<element>(v).get(n) == simdjson::SUCCESS ? n : 0;
}

uint64_t gf_json_get_uint(gf_json_value v)
{
    uint64_t n = 0;
    return unpack<element>(v).get(n) == simdjson::SUCCESS ? n : 0;
}

double gf_json_number(gf_json_value v)
{
    double d = 0;
    return unpack<element>(v).get(d) == simdjson::SUCCESS ? d : 0;
}

gf_slice gf_json_get_string(gf_json_value v)
{
    std::string_view s;
    if (unpack<element>(v).get(s) != simdjson::SUCCESS) return gf_slice{"", 0};
    return gf_slice{s.data(), s.size()};
}

bool gf_json_is_number(gf_json_value v)
{
    gf_json_kind kind = gf_json_kind_of(v);
    return kind == GF_JSON_INT || kind == GF_JSON_UINT || kind == GF_JSON_DOUBLE;
}

gf_json_iterator gf_json_items(gf_json_value v)
{
    gf_json_iterator it = {};
    element e = unpack<element>(v);
    simdjson::dom::object object;
    simdjson::dom::array array;
    if (e.get(object) == simdjson::SUCCESS) {
        it.at = pack(object.begin());
        it.end = pack(object.end());
        it.is_object = 1;
    } else if (e.get(array) == simdjson::SUCCESS) {
        it.at = pack(array.begin());
        it.end = pack(array.end());
    }
    return it;
}

bool gf_json_next(gf_json_iterator *it, gf_slice *name, gf_json_value *item)
{
    if (it->at.index == it->end.index) return false;
    if (it->is_object) {
        auto at = unpack<simdjson::dom::object::iterator>(it->at);
        if (name) {
            std::string_view key = at.key();
            *name = gf_slice{key.data(), key.size()};
        }
        *item = pack(at.value());
        it->at = pack(++at);
    } else {
        auto at = unpack<simdjson::dom::array::iterator>(it->at);
        *item = pack(*at);
        it->at = pack(++at);
    }
    return true;
}

bool gf_json_member(gf_json_value v, const char *name, gf_json_value *member)
{
    simdjson::dom::object object;
    if (unpack<element>(v).get(object) != simdjson::SUCCESS) return false;
    element e;
    if (object.at_key(name).get(e) != simdjson::SUCCESS) return false;
    *member = pack(e);
    return true;
}

gf_status gf_json_write(gf_json_value v, gf_buffer *out, gf_error *err)
{
    if (write_simple(v, out)) return gf_buffer_check(out, err);
    try {
        std::string text = simdjson::minify(unpack<element>(v));
        gf_buffer_append(out, text.data(), text.size());
    } catch (const std::exception &) {
        return gf_fail_memory(err, "JSON");
    }
    return gf_buffer_check(out, err);
}

void gf_json_append_double(gf_buffer *b, double v)
{
    write_number(b, v, 0x1p53);
}

void gf_json_append_float(gf_buffer *b, float v)
{
    write_number(b, v, 0x1p24f);
}

#include "storage/schema.h"

static size_t count_columns(const gf_family *family)
{
    size_t n = 0;
    while (family->columns && family->columns[n])
        n++;
    return n;
}

static gf_status check_parts(const gf_schema *s, gf_error *err)
{
    if (s->n_parts == 0 || s->n_parts > GF_MAX_PARTS)
        return gf_fail(err, GF_EINVAL, "table %s: a row key has 1 to %d parts, not %u", s->name,
                       GF_MAX_PARTS, s->n_parts);
    for (unsigned i = 0; i < s->n_parts; i++) {
        const gf_key_part *p = &s->parts[i];
        if (!p->name || !*p->name)
            return gf_fail(err, GF_EINVAL, "table %s: key part %u has no name", s->name, i);
        if (p->kind > GF_PART_FIXED)
            return gf_fail(err, GF_EINVAL, "table %s: key part %s has no known kind", s->name,
                           p->name);
        if (p->kind == GF_PART_FIXED && (p->width == 0 || p->width > 255))
            return gf_fail(err, GF_EINVAL, "table %s: key part %s is %u bytes wide, not 1 to 255",
                           s->name, p->name, p->width);
    }
    return GF_OK;
}

static bool family_has(const gf_family *family, const char *column)
{
    return gf_schema_column(family, gf_slice_str(column), 0) >= 0;
}

/* Length of a family's stem: its name without the digits at its end; a name of digits is whole. */
static size_t stem_length(const char *name)
{
    size_t whole = strlen(name), n = whole;
    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return n ? n : whole;
}

bool gf_schema_same_stem(const gf_family *a, const gf_family *b)
{
    return gf_slice_equal(gf_slice_of(a->name, stem_length(a->name)),
                          gf_slice_of(b->name, stem_length(b->name)));
}

/* No family of another stem before `f`, and no earlier column of f, has one of f's column names. */
static gf_status check_columns(const gf_schema *s, unsigned f, gf_error *err)
{
    const gf_family *family = &s->families[f];
    size_t n = count_columns(family);
    if (n > GF_MAX_COLUMNS)
        return gf_fail(err, GF_EINVAL, "table %s: family %s has more than %d columns", s->name,
                       family->name, GF_MAX_COLUMNS);
    for (size_t c = 0; c < n; c++) {
        for (unsigned other = 0; other < f; other++)
            if (!gf_schema_same_stem(&s->families[other], family) &&
                family_has(&s->families[other], family->columns[c]))
                return gf_fail(err, GF_EINVAL, "table %s: column %s is in families %s and %s",
                               s->name, family->columns[c], s->families[other].name, family->name);
        if (gf_schema_column(family, gf_slice_str(family->columns[c]), 0) != (int)c)
            return gf_fail(err, GF_EINVAL, "table %s: column %s is twice in family %s", s->name,
                           family->columns[c], family->name);
    }
    return GF_OK;
}

static gf_status check_family(const gf_schema *s, unsigned f, gf_error *err)
{
    const gf_family *family = &s->families[f];
    if (!family->name || !*family->name)
        return gf_fail(err, GF_EINVAL, "table %s: family %u has no name", s->name, f);
    for (unsigned other = 0; other < f; other++)
        if (strcmp(family->name, s->families[other].name) == 0)
            return gf_fail(err, GF_EINVAL, "table %s: two families are named %s", s->name,
                           family->name);
    if (family->layout > GF_LAYOUT_WIDE || family->compression > GF_COMPRESSION_SNAPPY)
        return gf_fail(err, GF_EINVAL, "table %s: family %s has no known layout or compression",
                       s->name, family->name);
    if (family->run && (family->versions > 1 || family->ttl_seconds))
        return gf_fail(err, GF_EINVAL,
                       "table %s: family %s is a run, which has no versions and no time to live",
                       s->name, family->name);
    return check_columns(s, f, err);
}

gf_status gf_schema_check(const gf_schema *s, gf_error *err)
{
    if (!s->name || !*s->name || strlen(s->name) > 255)
        return gf_fail(err, GF_EINVAL, "a table's name has 1 to 255 bytes");
    gf_status st = check_parts(s, err);
    if (st != GF_OK) return st;
    if (s->n_families == 0 || s->n_families > GF_MAX_FAMILIES)
        return gf_fail(err, GF_EINVAL, "table %s: a table has 1 to %d families, not %u", s->name,
                       GF_MAX_FAMILIES, s->n_families);
    for (unsigned f = 0; f < s->n_families && st == GF_OK; f++)
        st = check_family(s, f, err);
    return st;
}

static gf_status fail_differs(const gf_schema *s, const char *what, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "table %s is stored with another %s", s->name, what);
}

static uint32_t versions_of(const gf_family *family)
{
    return family->versions ? family->versions : 1;
}

static bool same_parts(const gf_schema *a, const gf_schema *b)
{
    if (a->n_parts != b->n_parts) return false;
    for (unsigned i = 0; i < a->n_parts; i++) {
        const gf_key_part *p = &a->parts[i], *q = &b->parts[i];
        if (p->kind != q->kind || (p->kind == GF_PART_FIXED && p->width != q->width)) return false;
    }
    return true;
}

/* The family with the longer list of columns, of which the other's is to be the start. */
static gf_status join_family(const gf_schema *s, const gf_family *stored, const gf_family *given,
                             gf_family *joined, gf_error *err)
{
    if (strcmp(stored->name, given->name) != 0 || stored->layout != given->layout ||
        (versions_of(stored) > 1) != (versions_of(given) > 1) ||
        stored->compression != given->compression)
        return gf_fail(err, GF_EINVAL, "table %s is stored with another family %s", s->name,
                       stored->name);
    size_t n = count_columns(stored), m = count_columns(given);
    for (size_t c = 0; c < n && c < m; c++)
        if (strcmp(stored->columns[c], given->columns[c]) != 0)
            return gf_fail(err, GF_EINVAL, "table %s: family %s is stored with column %s, not %s",
                           s->name, stored->name, stored->columns[c], given->columns[c]);
    *joined = m > n ? *given : *stored;
    joined->versions = stored->versions;
    joined->ttl_seconds = stored->ttl_seconds;
    joined->run = stored->run || given->run;
    return GF_OK;
}

gf_status gf_schema_join(const gf_schema *stored, const gf_schema *given, gf_joined_schema *joined,
                         gf_error *err)
{
    unsigned n = stored->n_families, m = given->n_families;
    if (strcmp(stored->name, given->name) != 0) return fail_differs(given, "name", err);
    if (!same_parts(stored, given)) return fail_differs(given, "row key", err);
    gf_joined_schema j = {.schema = *stored, .is_more = m > n};
    j.schema.n_families = m > n ? m : n;
    for (unsigned f = 0; f < j.schema.n_families; f++) {
        gf_status st = GF_OK;
        if (f < n && f < m)
            st = join_family(given, &stored->families[f], &given->families[f], &j.families[f], err);
        else
            j.families[f] = f < n ? stored->families[f] : given->families[f];
        if (st != GF_OK) return st;
        if (f < n && (j.families[f].columns != stored->families[f].columns ||
                      j.families[f].run != stored->families[f].run))
            j.is_more = true;
    }
    j.schema.families = j.families;
    gf_status st = gf_schema_check(&j.schema, err);
    if (st != GF_OK) return st;
    *joined = j;
    joined->schema.families = joined->families;
    return GF_OK;
}

/* Added to the number of the layout of a family that is a run. */
enum { RUN = 2 };

void gf_schema_write(const gf_schema *s, gf_buffer *out)
{
    gf_buffer_string(out, gf_slice_str(s->name));
    gf_buffer_varint(out, s->n_parts);
    for (unsigned i = 0; i < s->n_parts; i++) {
        gf_buffer_string(out, gf_slice_str(s->parts[i].name));
        gf_buffer_varint(out, s->parts[i].kind);
        gf_buffer_varint(out, s->parts[i].kind == GF_PART_FIXED ? s->parts[i].width : 0);
    }
    gf_buffer_varint(out, s->n_families);
    for (unsigned f = 0; f < s->n_families; f++) {
        const gf_family *family = &s->families[f];
        size_t n = count_columns(family);
        gf_buffer_string(out, gf_slice_str(family->name));
        gf_buffer_varint(out, (unsigned)family->layout + (family->run ? RUN : 0));
        gf_buffer_varint(out, versions_of(family));
        gf_buffer_varint(out, family->ttl_seconds);
        gf_buffer_varint(out, family->compression);
        gf_buffer_varint(out, n);
        for (size_t c = 0; c < n; c++)
            gf_buffer_string(out, gf_slice_str(family->columns[c]));
    }
}

/* Reads fields one after the other; the first that fails is remembered. */
typedef struct schema_reader {
    gf_slice rest;
    gf_arena *arena;
    gf_status status; /* GF_OK, GF_ECORRUPT, GF_ENOMEM */
} schema_reader;

static void *take_memory(schema_reader *r, size_t n, size_t size)
{
    void *p = r->status == GF_OK ? gf_arena_alloc(r->arena, n * size) : NULL;
    if (!p && r->status == GF_OK) r->status = GF_ENOMEM;
    return p;
}

static const char *take_name(schema_reader *r)
{
    gf_slice s;
    if (r->status != GF_OK) return "";
    if (!gf_slice_take_string(&r->rest, &s) || (s.len && memchr(s.ptr, 0, s.len))) {
        r->status = GF_ECORRUPT;
        return "";
    }
    gf_slice copy = gf_arena_copy(r->arena, s);
    if (!copy.ptr) r->status = GF_ENOMEM;
    return copy.ptr ? copy.ptr : "";
}

static uint32_t take_number(schema_reader *r, uint32_t most)
{
    uint32_t v = 0;
    if (r->status == GF_OK && (!gf_slice_take_varint32(&r->rest, &v) || v > most))
        r->status = GF_ECORRUPT;
    return r->status == GF_OK ? v : 0;
}

static const char *const *take_columns(schema_reader *r)
{
    size_t n = take_number(r, GF_MAX_COLUMNS);
    const char **columns = take_memory(r, n + 1, sizeof *columns);
    for (size_t c = 0; c < n && r->status == GF_OK; c++)
        columns[c] = take_name(r);
    if (columns) columns[n] = NULL;
    return columns;
}

static void take_family(schema_reader *r, gf_family *family)
{
    uint64_t ttl = 0;
    family->name = take_name(r);
    uint32_t layout = take_number(r, RUN + GF_LAYOUT_WIDE);
    family->layout = (gf_layout)(layout % RUN);
    family->run = layout >= RUN;
    family->versions = take_number(r, UINT32_MAX);
    if (r->status == GF_OK && !gf_slice_take_varint(&r->rest, &ttl)) r->status = GF_ECORRUPT;
    family->ttl_seconds = ttl;
    family->compression = (gf_compression)take_number(r, GF_COMPRESSION_SNAPPY);
    family->columns = take_columns(r);
}

gf_status gf_schema_read(gf_slice bytes, gf_arena *arena, gf_schema *schema, gf_error *err)
{
    schema_reader r = {bytes, arena, GF_OK};
    gf_schema s = {.name = take_name(&r)};
    s.n_parts = take_number(&r, GF_MAX_PARTS);
    gf_key_part *parts = take_memory(&r, GF_MAX_PARTS, sizeof *parts);
    for (unsigned i = 0; i < s.n_parts && r.status == GF_OK; i++) {
        parts[i].name = take_name(&r);
        parts[i].kind = (gf_part_kind)take_number(&r, GF_PART_FIXED);
        parts[i].width = take_number(&r, 255);
    }
    s.n_families = take_number(&r, GF_MAX_FAMILIES);
    gf_family *families = take_memory(&r, GF_MAX_FAMILIES, sizeof *families);
    for (unsigned f = 0; f < s.n_families && r.status == GF_OK; f++)
        take_family(&r, &families[f]);
    if (r.status == GF_OK && r.rest.len) r.status = GF_ECORRUPT;
    if (r.status == GF_ENOMEM) return gf_fail_memory(err, "a schema");
    if (r.status != GF_OK) return gf_fail(err, r.status, "a stored schema is damaged");
    s.parts = parts;
    s.families = families;
    *schema = s;
    return GF_OK;
}

size_t gf_schema_row_length(const gf_schema *schema, gf_slice s)
{
    size_t at = 0;
    for (unsigned i = 0; i < schema->n_parts; i++) {
        gf_slice rest = gf_slice_skip(s, at);
        size_t n;
        switch (schema->parts[i].kind) {
        case GF_PART_STRING:
            n = gf_key_string_length(rest);
            break;
        case GF_PART_U64:
            n = 8;
            break;
        default:
            n = schema->parts[i].width;
        }
        if (n == 0 || n > rest.len) return 0;
        at += n;
    }
    return at;
}

static bool is_named(const char *column, gf_slice name)
{
    if (name.len && column[0] != name.ptr[0]) return false; /* most differ here */
    return gf_slice_equal(gf_slice_str(column), name);
}

int gf_schema_column(const gf_family *family, gf_slice name, int hint)
{
    const char *const *columns = family->columns;
    if (!columns) return -1;
    if (columns[hint] && is_named(columns[hint], name)) return hint;
    for (int c = 0; columns[c]; c++)
        if (is_named(columns[c], name)) return c;
    return -1;
}

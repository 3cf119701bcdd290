#include "engine/arrow/export.h"

#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

gf_arrow_made *gf_arrow_made_create(const char *name, const char *format)
{
    gf_arrow_made *c = gf_calloc(1, sizeof *c);
    if (!c) return NULL;
    c->name = name;
    c->flags = ARROW_FLAG_NULLABLE;
    snprintf(c->format, sizeof c->format, "%s", format);
    return c;
}

void gf_arrow_made_free(gf_arrow_made *c)
{
    if (!c) return;
    for (size_t i = 0; i < GF_ARROW_BUFFERS; i++)
        gf_free(c->buffers[i]);
    gf_arrow_made_free(c->child);
    gf_arrow_made_free(c->dictionary);
    gf_free(c);
}

unsigned char *gf_arrow_made_bits(int64_t n)
{
    size_t bytes = (size_t)n / 8 + 1;
    unsigned char *bits = gf_malloc(bytes);
    if (bits) memset(bits, 0xFF, bytes);
    return bits;
}

void gf_arrow_made_clear_bit(unsigned char *bits, int64_t i)
{
    bits[i / 8] &= (unsigned char)~(1u << (i % 8));
}

/* ---- schemas --------------------------------------------------------------------------------- */

/* A schema's private data: all of it in one piece, but for the schemas below. */
typedef struct schema_parts {
    char format[24];
    char name[40];
    struct ArrowSchema *child[GF_ARROW_MOST_COLUMNS];
    struct ArrowSchema children[GF_ARROW_MOST_COLUMNS], dictionary;
} schema_parts;

static void release_schema(struct ArrowSchema *s)
{
    schema_parts *p = s->private_data;
    for (int64_t i = 0; i < s->n_children; i++)
        if (p->child[i]->release) p->child[i]->release(p->child[i]);
    if (s->dictionary && s->dictionary->release) s->dictionary->release(s->dictionary);
    gf_free(p);
    s->release = NULL;
}

static bool begin_schema(struct ArrowSchema *s, const char *format, const char *name, int64_t flags)
{
    schema_parts *p = gf_calloc(1, sizeof *p);
    if (!p) return false;
    snprintf(p->format, sizeof p->format, "%s", format);
    snprintf(p->name, sizeof p->name, "%s", name);
    for (size_t i = 0; i < GF_ARROW_MOST_COLUMNS; i++)
        p->child[i] = &p->children[i];
    *s = (struct ArrowSchema){.format = p->format,
                              .name = p->name,
                              .flags = flags,
                              .children = p->child,
                              .release = release_schema,
                              .private_data = p};
    return true;
}

/* False, and nothing is left, where there is no memory. */
static bool make_schema(struct ArrowSchema *s, const gf_arrow_made *c)
{
    if (!begin_schema(s, c->format, c->name, c->flags)) return false;
    schema_parts *p = s->private_data;
    bool made = true;
    if (c->child) {
        made = make_schema(p->child[0], c->child);
        s->n_children = made;
    }
    if (made && c->dictionary) {
        made = make_schema(&p->dictionary, c->dictionary);
        s->dictionary = made ? &p->dictionary : NULL;
    }
    if (!made) s->release(s);
    return made;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

typedef struct array_parts {
    gf_arrow_made *column; /* owned; NULL of the batch */
    const void *buffers[GF_ARROW_BUFFERS];
    struct ArrowArray *child[GF_ARROW_MOST_COLUMNS];
    struct ArrowArray children[GF_ARROW_MOST_COLUMNS], dictionary;
} array_parts;

static void release_array(struct ArrowArray *a)
{
    array_parts *p = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++)
        if (p->child[i]->release) p->child[i]->release(p->child[i]);
    if (a->dictionary && a->dictionary->release) a->dictionary->release(a->dictionary);
    gf_arrow_made_free(p->column);
    gf_free(p);
    a->release = NULL;
}

static bool begin_array(struct ArrowArray *a, int64_t length)
{
    array_parts *p = gf_calloc(1, sizeof *p);
    if (!p) return false;
    for (size_t i = 0; i < GF_ARROW_MOST_COLUMNS; i++)
        p->child[i] = &p->children[i];
    *a = (struct ArrowArray){.length = length,
                             .n_buffers = 1,
                             .buffers = p->buffers,
                             .children = p->child,
                             .release = release_array,
                             .private_data = p};
    return true;
}

/* The column belongs to the array from here on, unless it fails. */
static bool make_array(struct ArrowArray *a, gf_arrow_made *c)
{
    if (!begin_array(a, c->length)) return false;
    array_parts *p = a->private_data;
    a->null_count = c->null_count;
    a->n_buffers = c->n_buffers;
    for (size_t i = 0; i < GF_ARROW_BUFFERS; i++)
        p->buffers[i] = c->buffers[i];
    bool made = true;
    if (c->child) {
        made = make_array(p->child[0], c->child);
        if (made) c->child = NULL;
        a->n_children = made;
    }
    if (made && c->dictionary) {
        made = make_array(&p->dictionary, c->dictionary);
        if (made) c->dictionary = NULL;
        a->dictionary = made ? &p->dictionary : NULL;
    }
    if (made)
        p->column = c;
    else
        a->release(a);
    return made;
}

/* ---- the stream ------------------------------------------------------------------------------ */

typedef struct stream_parts {
    struct ArrowArray batch;   /* empty once it was handed out */
    struct ArrowSchema schema; /* copied for each asker */
} stream_parts;

static int copy_schema(const struct ArrowSchema *from, struct ArrowSchema *to)
{
    if (!begin_schema(to, from->format, from->name, from->flags)) return ENOMEM;
    schema_parts *p = to->private_data;
    int number = 0;
    for (int64_t i = 0; i < from->n_children && !number; i++) {
        number = copy_schema(from->children[i], p->child[i]);
        if (!number) to->n_children++;
    }
    if (!number && from->dictionary) {
        number = copy_schema(from->dictionary, &p->dictionary);
        if (!number) to->dictionary = &p->dictionary;
    }
    if (number) to->release(to);
    return number;
}

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    return copy_schema(&((stream_parts *)s->private_data)->schema, out);
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    stream_parts *p = s->private_data;
    *out = p->batch;
    p->batch = (struct ArrowArray){0};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *s)
{
    (void)s;
    return "out of memory";
}

static void release_stream(struct ArrowArrayStream *s)
{
    stream_parts *p = s->private_data;
    if (p->batch.release) p->batch.release(&p->batch);
    if (p->schema.release) p->schema.release(&p->schema);
    gf_free(p);
    s->release = NULL;
}

static bool fill_stream(stream_parts *p, gf_arrow_made **columns, size_t n, int64_t length)
{
    if (!begin_schema(&p->schema, "+s", "", 0) || !begin_array(&p->batch, length)) return false;
    schema_parts *schema = p->schema.private_data;
    array_parts *batch = p->batch.private_data;
    for (size_t i = 0; i < n; i++) {
        if (!make_schema(schema->child[i], columns[i])) return false;
        p->schema.n_children++;
        if (!make_array(batch->child[i], columns[i])) return false;
        p->batch.n_children++;
        columns[i] = NULL;
    }
    return true;
}

gf_status gf_arrow_export(gf_arrow_made **columns, size_t n, int64_t length,
                          struct ArrowArrayStream *out, gf_error *err)
{
    assert(n <= GF_ARROW_MOST_COLUMNS);
    stream_parts *p = gf_calloc(1, sizeof *p);
    struct ArrowArrayStream stream = {get_schema, get_next, get_last_error, release_stream, p};
    bool made = p && fill_stream(p, columns, n, length);
    for (size_t i = 0; i < n && !made; i++) {
        gf_arrow_made_free(columns[i]);
        columns[i] = NULL;
    }
    if (made) {
        *out = stream;
        return GF_OK;
    }
    if (p) release_stream(&stream);
    return gf_fail_memory(err, "an Arrow array");
}

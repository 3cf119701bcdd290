#include "tests/engine/arrow_fixture.h"

#include <errno.h>
#include <stdlib.h>

/* ---- schemas and arrays over a column -------------------------------------------------------- */

typedef struct schema_node {
    struct ArrowSchema children[ARROW_COLUMNS], dictionary;
    struct ArrowSchema *pointers[ARROW_COLUMNS];
    arrow_given *given;
} schema_node;

static void release_schema(struct ArrowSchema *s)
{
    schema_node *n = s->private_data;
    for (int64_t i = 0; i < s->n_children; i++)
        if (s->children[i]->release) s->children[i]->release(s->children[i]);
    if (s->dictionary && s->dictionary->release) s->dictionary->release(s->dictionary);
    n->given->held--;
    free(n);
    s->release = NULL;
}

static void make_schema(arrow_given *g, struct ArrowSchema *s, const char *format, const char *name)
{
    schema_node *n = calloc(1, sizeof *n);
    n->given = g;
    for (size_t i = 0; i < ARROW_COLUMNS; i++)
        n->pointers[i] = &n->children[i];
    *s = (struct ArrowSchema){.format = format,
                              .name = name,
                              .flags = ARROW_FLAG_NULLABLE,
                              .children = n->pointers,
                              .release = release_schema,
                              .private_data = n};
    g->held++;
}

static void make_column_schema(arrow_given *g, struct ArrowSchema *s, const arrow_column *c)
{
    make_schema(g, s, c->format, c->name);
    schema_node *n = s->private_data;
    if (c->child) make_column_schema(g, s->children[s->n_children++], c->child);
    if (c->dictionary) make_column_schema(g, s->dictionary = &n->dictionary, c->dictionary);
}

typedef struct array_node {
    struct ArrowArray children[ARROW_COLUMNS], dictionary;
    struct ArrowArray *pointers[ARROW_COLUMNS];
    const void *buffers[4];
    arrow_given *given;
} array_node;

static void release_array(struct ArrowArray *a)
{
    array_node *n = a->private_data;
    for (int64_t i = 0; i < ARROW_COLUMNS; i++)
        if (n->children[i].release) n->children[i].release(&n->children[i]);
    if (a->dictionary && a->dictionary->release) a->dictionary->release(a->dictionary);
    n->given->held--;
    free(n);
    a->release = NULL;
}

static void make_array(arrow_given *g, struct ArrowArray *a, int64_t length)
{
    array_node *n = calloc(1, sizeof *n);
    n->given = g;
    for (size_t i = 0; i < ARROW_COLUMNS; i++)
        n->pointers[i] = &n->children[i];
    *a = (struct ArrowArray){.length = length,
                             .n_buffers = 1,
                             .buffers = n->buffers,
                             .children = n->pointers,
                             .release = release_array,
                             .private_data = n};
    g->held++;
}

static void make_column_array(arrow_given *g, struct ArrowArray *a, const arrow_column *c,
                              int64_t length)
{
    make_array(g, a, length);
    array_node *n = a->private_data;
    a->null_count = c->null_count;
    a->offset = c->offset;
    a->n_buffers = c->n_buffers;
    for (size_t i = 0; i < 4; i++)
        n->buffers[i] = c->buffers[i];
    if (c->child) make_column_array(g, a->children[a->n_children++], c->child, c->child->length);
    if (c->dictionary)
        make_column_array(g, a->dictionary = &n->dictionary, c->dictionary, c->dictionary->length);
}

/* ---- the stream ------------------------------------------------------------------------------ */

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    arrow_given *g = s->private_data;
    if (g->n_columns == 1 && g->columns[0].name == NULL) {
        make_column_schema(g, out, &g->columns[0]);
        return 0;
    }
    make_schema(g, out, "+s", "");
    for (int64_t i = 0; i < g->n_columns; i++)
        make_column_schema(g, out->children[out->n_children++], &g->columns[i]);
    return 0;
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    arrow_given *g = s->private_data;
    if (++g->asked == g->fails_at) return EIO;
    *out = (struct ArrowArray){0};
    if (g->asked > g->batches) return 0;
    if (g->n_columns == 1 && g->columns[0].name == NULL) {
        make_column_array(g, out, &g->columns[0], g->rows);
        return 0;
    }
    make_array(g, out, g->rows);
    for (int64_t i = 0; i < g->n_columns; i++)
        make_column_array(g, out->children[out->n_children++], &g->columns[i], g->rows);
    out->n_children += g->wrong_children;
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *s)
{
    (void)s;
    return "the cable is cut";
}

static void release_stream(struct ArrowArrayStream *s)
{
    arrow_given *g = s->private_data;
    g->held--;
    s->release = NULL;
}

void arrow_given_open(arrow_given *g)
{
    g->asked = 0;
    g->held = 1;
    g->stream = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release_stream, g};
}

void arrow_given_check(const arrow_given *g)
{
    assert_int_equal(g->held, 0);
    assert_null(g->stream.release);
}

arrow_column arrow_texts_column(arrow_texts *t, const char *name, const char *const *texts,
                                size_t n)
{
    size_t at = 0;
    int64_t nulls = 0;
    *t = (arrow_texts){.valid = {0xFF, 0xFF, 0xFF, 0xFF}};
    for (size_t i = 0; i < n; i++) {
        size_t len = texts[i] ? strlen(texts[i]) : 0;
        if (len) memcpy(t->bytes + at, texts[i], len);
        if (!texts[i]) {
            nulls++;
            t->valid[i / 8] &= (unsigned char)~(1u << (i % 8));
        }
        at += len;
        t->offsets[i + 1] = (int32_t)at;
    }
    return (arrow_column){.format = "u",
                          .name = name,
                          .null_count = nulls,
                          .n_buffers = 3,
                          .buffers = {nulls ? t->valid : NULL, t->offsets, t->bytes},
                          .length = (int64_t)n};
}

#include "cluster/map/field.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum {
    LEAST_NODES = 32,
    MOST_LENGTH = 2 * GF_MAP_NODES, /* of a transform: the grid and as much of nothing */
    PARTS = 8,                      /* of the points, each with a grid to spread them on */
    LINES = 16                      /* of a task */
};

/* Nodes are so far apart: the kernel falls to a half within 1. */
#define SPACING 0.6f

typedef struct complex_number {
    float re, im;
} complex_number;

struct gf_map_field {
    float *part;            /* PARTS * nodes^2: weights of each part's points */
    complex_number *plane;  /* length^2 */
    float *kernel;          /* length^2: its transform, which is real */
    complex_number *turn;   /* MOST_LENGTH / 2: powers of a root of 1 of that order */
    float *potential;       /* nodes^2 */
    uint32_t nodes, length; /* of now */
    float left, bottom, spacing, kernel_spacing;
    uint32_t kernel_nodes;     /* what the kernel was made for; 0: none yet */
    const gf_map_place *place; /* points of the call under way */
    gf_map_place *push;        /* their forces */
    uint32_t n;
    double sum[PARTS]; /* of potentials at the part's points */
    bool backwards;
};

/* cos and sin of 2 pi i / MOST_LENGTH by halving angles: roots alone, so the same everywhere. */
static void fill_turns(complex_number *turn)
{
    double re[MOST_LENGTH / 2 + 1], im[MOST_LENGTH / 2 + 1];
    re[0] = 1, im[0] = 0;
    re[MOST_LENGTH / 2] = -1, im[MOST_LENGTH / 2] = 0;
    for (unsigned step = MOST_LENGTH / 4; step >= 1; step /= 2)
        for (unsigned i = step; i < MOST_LENGTH / 2; i += 2 * step) {
            /* The middle of two neighbours on the circle; of opposite ones it is i. */
            double a = re[i - step] + re[i + step], b = im[i - step] + im[i + step];
            double length = sqrt(a * a + b * b);
            re[i] = i == MOST_LENGTH / 4 ? 0 : a / length;
            im[i] = i == MOST_LENGTH / 4 ? 1 : b / length;
        }
    for (unsigned i = 0; i < MOST_LENGTH / 2; i++)
        turn[i] = (complex_number){(float)re[i], (float)-im[i]};
}

gf_status gf_map_field_create(gf_map_field **field, gf_error *err)
{
    gf_map_field *f = gf_calloc(1, sizeof *f);
    if (!f) return gf_fail_memory(err, "a map");
    size_t nodes = (size_t)GF_MAP_NODES * GF_MAP_NODES, plane = (size_t)MOST_LENGTH * MOST_LENGTH;
    f->part = gf_array(PARTS * nodes, sizeof *f->part);
    f->plane = gf_array(plane, sizeof *f->plane);
    f->kernel = gf_array(plane, sizeof *f->kernel);
    f->turn = gf_array(MOST_LENGTH / 2, sizeof *f->turn);
    f->potential = gf_array(nodes, sizeof *f->potential);
    if (!f->part || !f->plane || !f->kernel || !f->turn || !f->potential) {
        gf_map_field_free(f);
        return gf_fail_memory(err, "a map");
    }
    fill_turns(f->turn);
    *field = f;
    return GF_OK;
}

void gf_map_field_free(gf_map_field *f)
{
    if (!f) return;
    gf_free(f->part);
    gf_free(f->plane);
    gf_free(f->kernel);
    gf_free(f->turn);
    gf_free(f->potential);
    gf_free(f);
}

/* ---- the transform ---------------------------------------------------------------------------- */

/* In place, length a power of two; backwards without the division. */
static void transform(const gf_map_field *f, complex_number *a)
{
    uint32_t n = f->length;
    for (uint32_t i = 1, j = 0; i < n; i++) {
        uint32_t bit = n >> 1;
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            complex_number t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
    }
    for (uint32_t half = 1; half < n; half *= 2) {
        uint32_t step = MOST_LENGTH / (2 * half);
        for (uint32_t k = 0; k < half; k++) {
            complex_number w = f->turn[k * step];
            if (f->backwards) w.im = -w.im;
            for (uint32_t i = k; i < n; i += 2 * half) {
                complex_number u = a[i], v = a[i + half];
                complex_number p = {v.re * w.re - v.im * w.im, v.re * w.im + v.im * w.re};
                a[i] = (complex_number){u.re + p.re, u.im + p.im};
                a[i + half] = (complex_number){u.re - p.re, u.im - p.im};
            }
        }
    }
}

static gf_status rows_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_map_field *f = context;
    (void)worker, (void)err;
    for (uint32_t r = 0; r < LINES; r++)
        transform(f, f->plane + (index * LINES + r) * f->length);
    return GF_OK;
}

/* Columns, several at once: a line of memory has eight of them. */
static gf_status columns_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_map_field *f = context;
    complex_number column[LINES][MOST_LENGTH];
    (void)worker, (void)err;
    for (uint32_t r = 0; r < f->length; r++)
        for (uint32_t c = 0; c < LINES; c++)
            column[c][r] = f->plane[(size_t)r * f->length + index * LINES + c];
    for (uint32_t c = 0; c < LINES; c++)
        transform(f, column[c]);
    for (uint32_t r = 0; r < f->length; r++)
        for (uint32_t c = 0; c < LINES; c++)
            f->plane[(size_t)r * f->length + index * LINES + c] = column[c][r];
    return GF_OK;
}

/* Columns forth, times the kernel, and back. */
static gf_status convolve_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_map_field *f = context;
    gf_map_field back = *f;
    complex_number column[LINES][MOST_LENGTH];
    (void)worker, (void)err;
    back.backwards = true;
    /* Rows beyond the grid hold nothing. */
    for (uint32_t r = 0; r < f->length; r++)
        for (uint32_t c = 0; c < LINES; c++)
            column[c][r] = r < f->nodes ? f->plane[(size_t)r * f->length + index * LINES + c]
                                        : (complex_number){0, 0};
    for (uint32_t c = 0; c < LINES; c++) {
        const float *kernel = f->kernel + (index * LINES + c) * f->length; /* it is symmetric */
        transform(f, column[c]);
        for (uint32_t r = 0; r < f->length; r++) {
            column[c][r].re *= kernel[r];
            column[c][r].im *= kernel[r];
        }
        transform(&back, column[c]);
    }
    for (uint32_t r = 0; r < f->nodes; r++)
        for (uint32_t c = 0; c < LINES; c++)
            f->plane[(size_t)r * f->length + index * LINES + c] = column[c][r];
    return GF_OK;
}

static gf_status make_kernel(gf_map_field *f, gf_pool *pool, const gf_cancel *cancel, gf_error *err)
{
    uint32_t length = f->length;
    if (f->kernel_nodes == f->nodes && f->kernel_spacing == f->spacing) return GF_OK;
    for (uint32_t r = 0; r < length; r++)
        for (uint32_t c = 0; c < length; c++) {
            float y = f->spacing * (float)(r < length - r ? r : length - r);
            float x = f->spacing * (float)(c < length - c ? c : length - c);
            f->plane[(size_t)r * length + c] = (complex_number){1 / (1 + x * x + y * y), 0};
        }
    f->backwards = false;
    gf_status st = gf_pool_run(pool, length / LINES, rows_task, f, cancel, err);
    if (st == GF_OK) st = gf_pool_run(pool, length / LINES, columns_task, f, cancel, err);
    if (st != GF_OK) return st;
    float share = 1.0f / ((float)length * (float)length);
    for (size_t i = 0; i < (size_t)length * length; i++)
        f->kernel[i] = f->plane[i].re * share;
    f->kernel_nodes = f->nodes;
    f->kernel_spacing = f->spacing;
    return GF_OK;
}

/* ---- points and nodes ------------------------------------------------------------------------- */

/* The middle one of three nodes, and their weights: a quadratic spline, with its slope. */
typedef struct share {
    uint32_t first;
    float weight[3], slope[3];
} share;

static share share_of(const gf_map_field *f, float at, float from)
{
    float place = (at - from) / f->spacing;
    uint32_t middle = (uint32_t)(place + 0.5f);
    float t = place - (float)middle; /* -0.5 .. 0.5 */
    share s = {.first = middle - 1};
    s.weight[0] = 0.5f * (0.5f - t) * (0.5f - t);
    s.weight[1] = 0.75f - t * t;
    s.weight[2] = 0.5f * (0.5f + t) * (0.5f + t);
    s.slope[0] = t - 0.5f;
    s.slope[1] = -2 * t;
    s.slope[2] = t + 0.5f;
    return s;
}

static uint32_t part_from(const gf_map_field *f, size_t part)
{
    return (uint32_t)((uint64_t)f->n * part / PARTS);
}

static gf_status spread_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_map_field *f = context;
    size_t nodes = f->nodes;
    float *grid = f->part + index * nodes * nodes;
    (void)worker, (void)err;
    memset(grid, 0, nodes * nodes * sizeof *grid);
    for (uint32_t i = part_from(f, index); i < part_from(f, index + 1); i++) {
        share x = share_of(f, f->place[i].x, f->left), y = share_of(f, f->place[i].y, f->bottom);
        for (uint32_t r = 0; r < 3; r++)
            for (uint32_t c = 0; c < 3; c++)
                grid[(y.first + r) * nodes + x.first + c] += y.weight[r] * x.weight[c];
    }
    return GF_OK;
}

/* Rows of the grid: the parts together, in their order, and transformed. */
static gf_status join_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_map_field *f = context;
    size_t nodes = f->nodes;
    (void)worker, (void)err;
    for (size_t r = index * LINES; r < (index + 1) * LINES; r++) {
        complex_number *line = f->plane + r * f->length;
        memset(line, 0, f->length * sizeof *line);
        for (size_t p = 0; p < PARTS; p++)
            for (size_t c = 0; c < nodes; c++)
                line[c].re += f->part[(p * nodes + r) * nodes + c];
        transform(f, line);
    }
    return GF_OK;
}

static gf_status unfold_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_map_field *f = context;
    gf_map_field back = *f;
    (void)worker, (void)err;
    back.backwards = true;
    for (size_t r = index * LINES; r < (index + 1) * LINES; r++) {
        complex_number *line = f->plane + r * f->length;
        transform(&back, line);
        for (size_t c = 0; c < f->nodes; c++)
            f->potential[r * f->nodes + c] = line[c].re;
    }
    return GF_OK;
}

static gf_status read_task(void *context, size_t index, unsigned worker, gf_error *err)
{
    gf_map_field *f = context;
    size_t nodes = f->nodes;
    double sum = 0;
    (void)worker, (void)err;
    for (uint32_t i = part_from(f, index); i < part_from(f, index + 1); i++) {
        share x = share_of(f, f->place[i].x, f->left), y = share_of(f, f->place[i].y, f->bottom);
        float value = 0, along = 0, up = 0;
        for (uint32_t r = 0; r < 3; r++) {
            const float *p = f->potential + (y.first + r) * nodes + x.first;
            float here = p[0] * x.weight[0] + p[1] * x.weight[1] + p[2] * x.weight[2];
            float change = p[0] * x.slope[0] + p[1] * x.slope[1] + p[2] * x.slope[2];
            value += y.weight[r] * here;
            up += y.slope[r] * here;
            along += y.weight[r] * change;
        }
        sum += (double)value - 1;
        /* The slope of 1 / (1 + d^2) is -2 (y_i - y_j) / (1 + d^2)^2. */
        f->push[i] = (gf_map_place){-0.5f * along / f->spacing, -0.5f * up / f->spacing};
    }
    f->sum[index] = sum;
    return GF_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Spacings go by steps of an eighth, so that a kernel serves for many sweeps. */
static void fit_grid(gf_map_field *f)
{
    float left = f->place[0].x, right = left, bottom = f->place[0].y, top = bottom;
    for (uint32_t i = 1; i < f->n; i++) {
        gf_map_place p = f->place[i];
        left = p.x < left ? p.x : left;
        right = p.x > right ? p.x : right;
        bottom = p.y < bottom ? p.y : bottom;
        top = p.y > top ? p.y : top;
    }
    float width = right - left > top - bottom ? right - left : top - bottom;
    f->nodes = LEAST_NODES;
    while (f->nodes < GF_MAP_NODES && (float)(f->nodes - 4) * SPACING < width)
        f->nodes *= 2;
    f->spacing = f->nodes == LEAST_NODES ? SPACING / 16 : SPACING / 2;
    while ((float)(f->nodes - 4) * f->spacing < width)
        f->spacing *= 1.125f;
    f->length = 2 * f->nodes;
    f->left = (left + right) / 2 - f->spacing * (float)f->nodes / 2;
    f->bottom = (bottom + top) / 2 - f->spacing * (float)f->nodes / 2;
}

gf_status gf_map_field_work_out(gf_map_field *f, gf_pool *pool, const gf_map_place *place,
                                uint32_t n, gf_map_place *push, double *total,
                                const gf_cancel *cancel, gf_error *err)
{
    f->place = place;
    f->push = push;
    f->n = n;
    *total = 0;
    if (n == 0) return GF_OK;
    fit_grid(f);
    gf_status st = make_kernel(f, pool, cancel, err);
    f->backwards = false;
    if (st == GF_OK) st = gf_pool_run(pool, PARTS, spread_task, f, cancel, err);
    if (st == GF_OK) st = gf_pool_run(pool, f->nodes / LINES, join_task, f, cancel, err);
    if (st == GF_OK) st = gf_pool_run(pool, f->length / LINES, convolve_task, f, cancel, err);
    if (st == GF_OK) st = gf_pool_run(pool, f->nodes / LINES, unfold_task, f, cancel, err);
    if (st == GF_OK) st = gf_pool_run(pool, PARTS, read_task, f, cancel, err);
    for (unsigned p = 0; st == GF_OK && p < PARTS; p++)
        *total += f->sum[p];
    return st;
}

/*
 * A fault of GCC 11.3 and 12.2, from -O1 with -fipa-modref on: cut() reads dot[1][i] as 0.
 *
 * put() stores to squares[half] and to dot[half][m], which the summary of its stores joins to one
 * range from squares on without an end (offset 384 bits, size 64, max_size -1). The load of
 * dot[1][i] behind the call is then replaced by the zero that the assignment to *s left there,
 * though it lies in that range. Exits with 1 where the compiler does so: the build then sets
 * -fno-ipa-modref.
 *
 * No undefined behaviour: gcc -O0, clang with its sanitizers of addresses, memory and undefined
 * behaviour, and either with -fno-ipa-modref agree.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { MOST = 8 };

struct points {
    uint32_t n;
    double gram[MOST * MOST];
};

struct split {
    const struct points *points;
    uint32_t row[MOST], n;
    double squares[2], dot[2][MOST];
};

static void put(struct split *s, uint32_t i, bool half, double sign)
{
    const double *products = s->points->gram + s->row[i] * s->points->n;
    double squares = s->squares[half] + 2 * sign * s->dot[half][i] + 1;
    s->squares[half] = squares > 0 ? squares : 0;
    for (uint32_t m = 0; m < s->n; m++)
        s->dot[half][m] += sign * products[s->row[m]];
}

__attribute__((noipa)) void cut(const struct points *points, struct split *s, uint32_t second)
{
    *s = (struct split){.points = points};
    for (uint32_t i = 0; i < points->n; i++)
        s->row[s->n++] = i;
    put(s, second, true, 1);
    for (uint32_t i = 0; i < s->n; i++) {
        bool to = s->dot[1][i] * sqrt(s->squares[0]) > s->dot[0][i] * sqrt(s->squares[1]);
        put(s, i, to, 1);
    }
}

int main(void)
{
    static struct points points = {.n = MOST};
    static struct split s;
    for (int i = 0; i < MOST * MOST; i++)
        points.gram[i] = i % 3;
    cut(&points, &s, MOST - 1);
    return s.squares[0] != 29 || s.squares[1] != 20;
}

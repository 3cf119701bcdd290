#include "base/nearest.h"

#include <stdint.h>

enum { LONGEST = 63 };

static unsigned min2(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance: three rows of the table are enough. a, b at most LONGEST. */
static unsigned edit_distance(gf_slice a, gf_slice b)
{
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (unsigned j = 0; j <= b.len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.len; j++) {
            unsigned differs = a.ptr[i - 1] != b.ptr[j - 1];
            row[j] = min2(last[j - 1] + differs, min2(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                row[j] = min2(row[j], before[j - 2] + 1);
        }
        unsigned *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b.len];
}

const char *gf_nearest(gf_slice word, const char *const *names, size_t n)
{
    if (word.len > LONGEST) return NULL;
    const char *best = NULL;
    unsigned best_distance = (unsigned)word.len / 3 + 2;
    for (size_t i = 0; i < n; i++) {
        gf_slice name = gf_slice_str(names[i]);
        if (name.len > LONGEST) continue;
        unsigned d = edit_distance(word, name);
        if (d < best_distance) {
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}

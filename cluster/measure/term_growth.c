#include "cluster/measure/term_growth.h"

#include <math.h>

/* With r = sqrt(1 + n / a): n / T = (r + 1) / 2, so T^2 = 4 a (n - T). */
double gf_term_growth_fit(double entries, double terms)
{
    enum {
        NO_REPEAT = 1000
    }; /* the a where the terms are all entries but one in a thousand, or more */
    double repeats = entries - terms, least = entries / NO_REPEAT;
    if (!(entries > 0) || !(terms > 0)) return 1;
    return terms * terms / (4 * (repeats > least ? repeats : least));
}

double gf_term_growth_terms(double a, double entries)
{
    return 2 * a * (sqrt(1 + entries / a) - 1);
}

/**
 * How many different terms the documents of a cluster have, by how many entries their rows have.
 *
 * New terms come as new tables do in the process of Pitman and Yor with the discount 1/2: of n entries
 *
 *     T(n) = 2 a (sqrt(1 + n / a) - 1)        n for few entries, 2 sqrt(a n) for many: Heaps' law
 *
 * are of different terms. a, the entries from which on terms repeat, is the collection's: of posts some
 * 200, whether there are 10 clusters or 1,000, and of a hundredth of the documents as of all (docs/scale.md).
 * It is of terms that several documents have, of those that were looked at.
 *
 * Source: J. Pitman & M. Yor, Annals of Probability 25 (1997) 855-900; of words: Y. W. Teh, ACL 2006,
 * 985-992.
 */
#ifndef GF_CLUSTER_MEASURE_TERM_GROWTH_H
#define GF_CLUSTER_MEASURE_TERM_GROWTH_H

/** The a of so many entries with so many terms; large where no term repeats. */
double gf_term_growth_fit(double entries, double terms);

/** T(entries). */
double gf_term_growth_terms(double a, double entries);

#endif

#include "engine/build/estimate.h"

#include "cluster/label/tree.h"
#include "cluster/large/branches.h"
#include "cluster/mixture/mixture.h"
#include "cluster/stream/row_stream.h"
#include "engine/build/plan.h"
#include "engine/ranks/analyse.h"
#include "engine/ranks/cluster.h"
#include "engine/rows/index_cells.h"
#include "engine/text/reader.h"
#include "storage/leveldb/backend.h"

#include <inttypes.h>
#include <math.h>

/* Factor for memory that threads have freed and that the system does not get back. */
#define SCATTERED 1.2

/* Bytes of parts that are no arrays of a known length, measured (docs/algorithms.md). */
enum {
    PROGRAM = 12 << 20,       /* with its libraries */
    WORD = 150,               /* in the dictionary */
    THREAD_WORDS = 700 << 10, /* what each thread has beside the dictionary */
    LISTED_WORD = 60,         /* when terms get their columns */
    TERM = 90,                /* in the vocabulary */
    SUMMED_TERM = 28,         /* in each thread's sums */
    NAMED_DOCUMENT = 600,     /* a document that labels are chosen from, beside its text */
    NAMED_TEXT = 4,           /* a byte of its text, with its words */
    TREE_CENTRE = 2200,       /* a centroid as the tree has it */
    LANE_TEXTS = 6 << 20,     /* two groups of texts: one is read, one is analysed */
    NEAR_PAIRS = 64 << 20,    /* pairs of a block */
    SMALL_GROUP = 1 << 20,    /* a group of texts if memory is short */
    BATCHES = 8 << 20,        /* batches of changes that are filled, wait, or are written */
    BATCH_COPIES = 5,         /* times that size, with LevelDB's copies */
    MEMBER_WRITTEN = 200,     /* a document's share of lists and indexes, in LevelDB's buffers */
    SWEEP = 2 << 20,          /* tables of logarithms, a block of documents */
    POSTING = 4,              /* of a segment that is inverted, with its share of the terms */
    SORTED_POSTING = 16,      /* of a chunk that a thread inverts */
    INDEXED_WORD = 75         /* a word of all, numbered */
};

/* Rows of the sample that seeds are found in, at least. */
enum { LEAST_SAMPLE = 5000, SAMPLE_PER_CLUSTER = 10 };

static uint64_t to_bytes(double v)
{
    return v > 0 ? (uint64_t)v : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The dictionary that so many threads share. */
static double word_tables(const gf_memory_counts *c, unsigned threads)
{
    return WORD * c->words + (double)THREAD_WORDS * threads;
}

/*
 * Bytes of very many centres: with room to grow; the branches of their tree, each of up to 8,192 terms and
 * indexed; the sums of each thread; the rows of a window with what they find.
 */
static uint64_t tree_of_centres_bytes(const gf_memory_counts *c)
{
    double branches = 2 * sqrt(c->k), window = 4.0 * c->k;
    if (window > 1 << 19) window = 1 << 19;
    if (window < 1 << 16) window = 1 << 16;
    return to_bytes(10 * c->centre_entries + 32 * 8192 * branches + 270 * window +
                    SUMMED_TERM * c->terms * (c->threads + 1));
}

/* Centres, their postings or dense rows, sums that are kept, and the sums of each thread. */
static uint64_t centre_bytes(const gf_memory_counts *c)
{
    if (c->k > GF_BRANCHES_ABOVE) return tree_of_centres_bytes(c);
    double kept = 4 * c->centre_entries <= c->entries ? 12 * c->centre_entries : 0;
    return to_bytes(22 * c->centre_entries + kept + SUMMED_TERM * c->terms * (c->threads + 1));
}

/* The counts of words in clusters, of the documents, and the centres of before. */
static uint64_t refinement_bytes(const gf_memory_counts *c)
{
    if (!c->refine) return 0;
    return to_bytes(8 * c->word_counts + 16 * c->terms + c->entries + 8 * c->centre_entries) +
           (c->k < GF_MIXTURE_MANY ? 5 : 37) * c->documents + SWEEP;
}

/*
 * Term vectors of 200 dimensions and 10 columns more, beside the rows' own and a copy of the matrix
 * (cluster/dense/lsa.h).
 */
static uint64_t term_vector_bytes(const gf_memory_counts *c)
{
    enum { COLUMNS = 210 };
    return to_bytes(8 * COLUMNS * ((double)c->documents + c->terms) + 8 * c->entries);
}

static uint64_t ids_and_vocabulary(const gf_memory_counts *c)
{
    return to_bytes(1.3 * (double)(c->id_bytes + 12 * c->documents) + TERM * c->terms);
}

/* Bytes of the texts that are read to name clusters, so many documents of each. */
static uint64_t named_text(const gf_memory_counts *c, uint64_t documents)
{
    if (c->documents == 0) return 0;
    documents = smaller(documents * c->k, c->documents);
    uint64_t cut = documents ? GF_NAMING_TEXT / documents : 0;
    unsigned i = 0;
    while (i < GF_TEXT_CUTS - 1 && (uint64_t)GF_LEAST_CUT << i < cut)
        i++;
    return to_bytes((double)c->cut_text[i] / (double)c->documents * (double)documents);
}

/* Bytes for each byte of those texts, with its share of the document's own. */
static double named_byte(const gf_memory_counts *c)
{
    return NAMED_TEXT +
           (double)NAMED_DOCUMENT * (double)c->documents / (double)larger(c->cut_text[0], 1);
}

/* The tree over the clusters: similarities of all pairs. */
static uint64_t tree_bytes(const gf_memory_counts *c)
{
    uint64_t k = c->k;
    return k > GF_TREE_MOST ? 0 : 4 * k * k + TREE_CENTRE * k;
}

/* Rows of the build in LevelDB's buffers, not yet in its tables. */
static uint64_t store_buffers(const gf_memory_counts *c)
{
    return smaller(c->documents * MEMBER_WRITTEN, c->buffers * 2 / 3);
}

/* An index that is made segment by segment, each thread at a chunk, of so many entries in all. */
static uint64_t index_bytes(const gf_memory_counts *c, double entries)
{
    double n = (double)larger(c->documents, 1), segment = fmin(GF_INDEX_SEGMENT / n, 1);
    double chunk = fmin(GF_INDEX_CHUNK / n, 1);
    double threads = fmin(c->threads, ceil(n / GF_INDEX_CHUNK));
    return to_bytes(entries * (POSTING * segment + SORTED_POSTING * chunk * threads));
}

static uint64_t similar_bytes(const gf_memory_counts *c)
{
    return c->index ? index_bytes(c, c->entries) : 0;
}

/*
 * The words, numbered, and a segment. If a filter leaves documents out, the words of all texts are
 * counted then, too, and all ids are held once more.
 */
static uint64_t search_bytes(const gf_memory_counts *c)
{
    bool filtered = c->indexed > c->tokens;
    double counted = filtered ? word_tables(c, c->threads) : 0;
    uint64_t ids = filtered ? c->id_bytes + 8 * c->documents : 0;
    return index_bytes(c, c->indexed) + to_bytes(INDEXED_WORD * c->words + counted) +
           4 * smaller(c->documents, GF_INDEX_SEGMENT) + ids;
}

/* Near-duplicates while they are found (cluster/near/duplicates.h). */
static uint64_t near_bytes(const gf_memory_counts *c)
{
    double n = (double)c->documents;
    return to_bytes((152 + 3 * 36) * n + 16 * c->terms + 4 * c->threads * (n + c->terms) +
                    fmin(4 * n * n, NEAR_PAIRS));
}

/* Given rows of unit length, a copy of those that are held throughout. */
static uint64_t given_points(const gf_memory_counts *c)
{
    return to_bytes(c->given);
}

/* Two partitions, of which the better is kept, the sums of each thread, and a block of scores. */
static uint64_t given_centres(const gf_memory_counts *c)
{
    enum { SCORES = 4 << 18 };
    if (!(c->given > 0)) return 0;
    return to_bytes(c->given_columns * (16.0 * c->k + 8.0 * c->threads)) +
           (uint64_t)SCORES * c->threads;
}

void gf_estimate_of_build(const gf_memory_counts *c, gf_memory_estimate *e)
{
    uint64_t n = c->documents, named = c->k ? GF_NAMING_ALL / c->k : 0;
    *e = (gf_memory_estimate){.documents = n,
                              .text = c->text,
                              .entries = to_bytes(c->entries),
                              .terms = to_bytes(c->terms),
                              .words = to_bytes(c->words),
                              .k = c->k};
    named = larger(GF_NAMING_USUAL_LEAST, smaller(named, GF_NAMING_MOST));
    e->program = PROGRAM;
    e->reading = to_bytes(word_tables(c, c->threads) + LISTED_WORD * c->words + 5 * c->tokens) +
                 smaller(2 * c->text, gf_text_reader_lanes(c->threads) * LANE_TEXTS);
    e->rows = to_bytes(8 * c->entries) + 9 * n;
    e->ids = ids_and_vocabulary(c);
    e->points = to_bytes(8 * c->entries) + 12 * n;
    if (c->given > 0) e->points = given_points(c);
    if (c->once) e->points += to_bytes(8 * c->entries) + 16 * n;
    e->labels = 67 * n; /* with the partition that exchanges may restore */
    e->centres = centre_bytes(c) + given_centres(c);
    e->naming = to_bytes(named_byte(c) * (double)named_text(c, named)) + tree_bytes(c);
    e->index = similar_bytes(c);
    if (c->search) e->index = larger(e->index, search_bytes(c));
    e->writing = store_buffers(c) + smaller(n * MEMBER_WRITTEN / 8, BATCHES);
    uint64_t cached = smaller(named_text(c, named) * 3, c->buffers / 3);
    uint64_t held = e->program + e->rows + e->ids + to_bytes(c->given);
    e->peak = held + e->reading;
    e->peak = larger(e->peak, held + e->points + e->labels + e->centres);
    e->peak = larger(e->peak, held + e->points + e->labels + refinement_bytes(c));
    if (c->once) e->peak = larger(e->peak, held + near_bytes(c));
    uint64_t made = 28 * n + to_bytes(8 * c->centre_entries), result = made + cached;
    if (c->thorough) { /* while one result is kept */
        uint64_t run = e->points + e->labels + larger(e->centres, refinement_bytes(c));
        e->peak = larger(e->peak, held + made + 4 * n + larger(run, term_vector_bytes(c)));
    }
    e->peak = larger(e->peak, held + result + e->naming);
    /* Memory that is free by then lies in pieces: what writing needs comes on top. */
    e->peak += e->writing + e->index;
}

/* ---- rows in a file -------------------------------------------------------------------------- */

/* Centres of very many clusters keep some of their terms alone. */
static gf_memory_counts bound_centres(const gf_memory_counts *c)
{
    gf_memory_counts bounded = *c;
    double most = 1.5 * GF_ROW_STREAM_TERMS * c->k;
    if (c->k > GF_BRANCHES_ABOVE && c->centre_entries > most) bounded.centre_entries = most;
    return bounded;
}

/* Bytes of a row of the sample in k-means: the row, its copy, that of growth, bounds. */
static double sampled_row(const gf_memory_counts *c)
{
    double entries = c->documents ? c->entries / (double)c->documents : 0;
    return 24 * entries + 120;
}

uint64_t gf_estimate_of_spilled(const gf_memory_counts *counts, uint64_t memory,
                                gf_memory_plan *plan)
{
    const gf_memory_counts bounded = bound_centres(counts), *c = &bounded;
    uint64_t n = c->documents, result = 28 * n + to_bytes(8 * c->centre_entries) + c->buffers / 3;
    uint64_t held = PROGRAM + ids_and_vocabulary(c) + 9 * n;
    uint64_t reading = to_bytes(word_tables(c, 1) + LISTED_WORD * c->words) + 4 * SMALL_GROUP;
    uint32_t many = (uint32_t)smaller(n, UINT32_MAX);
    uint64_t window = to_bytes(gf_row_stream_window(many, c->k) * sampled_row(c) * 0.6);
    uint64_t clustering = larger(centre_bytes(c), refinement_bytes(c)) + 28 * n + window;
    uint64_t rows = larger(LEAST_SAMPLE, SAMPLE_PER_CLUSTER * (uint64_t)c->k);
    if (rows > n) rows = n;
    double a_byte = named_byte(c) * SCATTERED;
    uint64_t naming = to_bytes(a_byte * (double)named_text(c, GF_NAMING_LEAST));
    uint64_t writing =
        8 * n + store_buffers(c) + smaller(n * MEMBER_WRITTEN, BATCH_COPIES * (uint64_t)BATCHES);
    uint64_t sample = to_bytes((double)rows * sampled_row(c));
    uint64_t least =
        held + larger(larger(reading, clustering + sample), result + naming + tree_bytes(c));
    least = larger(least, held + result + writing);
    uint64_t margin = least / 16; /* estimates may be wrong */
    least += margin;
    if (memory <= least) memory = least;
    uint64_t free_of_clustering = memory - margin - held - clustering;
    uint64_t free_of_naming = memory - margin - held - result - tree_bytes(c);
    uint64_t more = to_bytes((double)free_of_clustering / sampled_row(c));
    plan->sample = (uint32_t)smaller(larger(rows, more), UINT32_MAX);
    plan->text = to_bytes((double)larger(free_of_naming, naming) / a_byte);
    plan->index = c->index && held + result + writing + similar_bytes(c) + margin <= memory;
    plan->search = c->search && held + result + writing + search_bytes(c) + margin <= memory;
    return least;
}

/* ---- of a plan ------------------------------------------------------------------------------- */

/* Different words of a document, over those of them that are no stop words: of English posts. */
#define WITH_STOP_WORDS 1.75

/* Of the process of the store, whose rows lie in a file; and of each rank. */
static gf_status estimate_ranks(const gf_build_plan *plan, gf_memory_counts *c,
                                gf_memory_estimate *e, gf_error *err)
{
    const gf_rebuild_options *o = plan->options;
    const gf_ranks_start start = {.n = o->ranks, .hosts = o->hosts};
    gf_memory_plan divided;
    gf_ranks_counts counts = {.rows = c->documents,
                              .entries = c->entries,
                              .terms = c->terms,
                              .centre_entries = c->centre_entries,
                              .k = c->k,
                              .threads = o->threads ? o->threads : 1};
    if (gf_ranks_analyse_is_wanted()) {
        counts.text = (double)c->text;
        counts.words = c->search ? WITH_STOP_WORDS * c->indexed : 0;
        counts.distinct_words = c->words;
    }
    gf_status st = gf_ranks_process_count(&start, &counts.ranks, err);
    if (st != GF_OK) return st;
    gf_ranks_cost cost = gf_ranks_cluster_cost(&counts);
    e->least = e->peak = gf_estimate_of_spilled(c, 0, &divided);
    e->rank = cost.memory;
    e->first_rank = cost.first_memory;
    e->handed_out = cost.handed_out;
    e->first_pass = cost.first_pass;
    e->pass = cost.pass;
    return GF_OK;
}

gf_status gf_build_estimate(const gf_build_plan *plan, gf_pool *pool, gf_memory_estimate *e,
                            gf_error *err)
{
    gf_memory_counts c;
    gf_memory_plan divided;
    gf_memory_estimate bound;
    gf_status st = gf_build_count(plan, pool, &c, err);
    if (st != GF_OK) return st;
    gf_estimate_of_build(&c, e);
    c.buffers = GF_LEVELDB_SMALL_BYTES; /* as where --memory is given */
    c.threads = GF_BOUND_THREADS;
    gf_estimate_of_build(&c, &bound);
    e->least = bound.peak;
    if (!(c.given > 0)) e->least = smaller(gf_estimate_of_spilled(&c, 0, &divided), bound.peak);
    return plan->options->ranks || plan->options->hosts ? estimate_ranks(plan, &c, e, err) : GF_OK;
}

/* Whole megabytes, rounded up. */
static unsigned long megabytes(uint64_t v)
{
    return (unsigned long)((v + (1 << 20) - 1) >> 20);
}

/* Decide whether the rows must lie in a file, for a peak of `most` bytes. */
static gf_status bound_memory(gf_build_plan *plan, gf_pool *pool, uint64_t most, gf_error *err)
{
    gf_memory_counts c;
    gf_memory_estimate e;
    gf_status st = gf_build_count(plan, pool, &c, err);
    if (st != GF_OK) return st;
    c.threads = GF_BOUND_THREADS;
    gf_estimate_of_build(&c, &e);
    if (e.peak <= most) return GF_OK;
    uint64_t least = c.given > 0 ? e.peak : gf_estimate_of_spilled(&c, most, &plan->memory);
    if (least > e.peak) least = e.peak;
    if (least > most)
        return gf_fail(err, GF_ELIMIT,
                       "%luM of memory will not do for %" PRIu64 " documents and %" PRIu32
                       " clusters: %luM is the least",
                       (unsigned long)(most >> 20), c.documents, c.k, megabytes(least));
    plan->spills = true;
    return GF_OK;
}

/* Rows lie in a file, and ranks have them; nothing else is bounded. */
static gf_status use_ranks(gf_build_plan *plan, gf_error *err)
{
    const gf_rebuild_options *o = plan->options;
    const gf_resolved *s = &plan->settings;
    const gf_ranks_start start = {.n = o->ranks, .hosts = o->hosts};
    const char *other = o->matrix || plan->again ? "rows that were made elsewhere"
                        : s->word_vectors.len    ? "rows of word_vectors"
                        : s->lsa                 ? "rows reduced by lsa"
                        : s->thorough            ? "with effort=thorough rows"
                        : s->only_topics         ? "topics alone"
                                                 : NULL;
    if (o->memory)
        return gf_fail(err, GF_EINVAL,
                       "the rows are in the memory of the ranks: leave --memory out");
    if (other)
        return gf_fail(err, GF_EINVAL,
                       "%s cannot be clustered by ranks: leave --ranks and --hosts out", other);
    if (s->k > GF_BRANCHES_ABOVE)
        return gf_fail(err, GF_EINVAL, "%d clusters are the most that ranks make, and not %" PRIu32,
                       GF_BRANCHES_ABOVE, s->k);
    plan->spills = true;
    plan->memory =
        (gf_memory_plan){.sample = 0, .text = GF_NAMING_TEXT, .index = true, .search = true};
    return gf_ranks_process_check(&start, err);
}

gf_status gf_build_plan_memory(gf_build_plan *plan, gf_pool *pool, gf_error *err)
{
    const gf_rebuild_options *o = plan->options;
    gf_status st = GF_OK;
    plan->spills = false;
    plan->by_ranks = o->ranks || o->hosts;
    if (plan->by_ranks)
        st = use_ranks(plan, err);
    else if (o->memory && !o->matrix)
        st = bound_memory(plan, pool, o->memory, err);
    if (st == GF_OK && plan->spills && plan->settings.near_once)
        st = gf_fail(err, GF_EINVAL,
                     "near-duplicates that count once are found among rows in memory: give the "
                     "rebuild more memory, or no bound, and no ranks, or set near_duplicates=all");
    plan->keeps_words = gf_build_plan_indexes_words(plan);
    return st;
}

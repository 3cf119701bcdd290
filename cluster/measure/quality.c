#include "cluster/measure/quality.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/*
 * A document is one 64-bit number, its class above its cluster. Sorted, equal numbers stand
 * together: each run is a cell of the table, and the cells come in the order in which they are
 * kept. Sorting by bytes costs the same for any labels, which no hash table does.
 */
typedef struct key_pair {
    uint64_t *keys, *spare; /* room for n each */
} key_pair;

/* One stable pass of counting by the byte at `shift`, from keys to spare, which change places. */
static void sort_by_byte(key_pair *p, size_t n, int shift)
{
    size_t at[256] = {0}, next = 0;
    for (size_t i = 0; i < n; i++)
        at[p->keys[i] >> shift & 0xFF]++;
    for (int byte = 0; byte < 256; byte++) {
        size_t here = at[byte];
        at[byte] = next;
        next += here;
    }
    for (size_t i = 0; i < n; i++)
        p->spare[at[p->keys[i] >> shift & 0xFF]++] = p->keys[i];
    uint64_t *sorted = p->spare;
    p->spare = p->keys;
    p->keys = sorted;
}

/* Sorts p->keys, least byte first; a byte that all keys share needs no pass. */
static void sort_keys(key_pair *p, size_t n)
{
    uint64_t differs = 0;
    for (size_t i = 1; i < n; i++)
        differs |= p->keys[i] ^ p->keys[0];
    for (int shift = 0; shift < 64; shift += 8)
        if (differs >> shift & 0xFF) sort_by_byte(p, n, shift);
}

static uint32_t high(uint64_t key)
{
    return (uint32_t)(key >> 32);
}

/* Distinct upper halves of n sorted keys. */
static uint32_t count_labels(const uint64_t *keys, uint32_t n)
{
    uint32_t labels = 0;
    for (uint32_t i = 0; i < n; i++)
        labels += i == 0 || high(keys[i]) != high(keys[i - 1]);
    return labels;
}

/* Classes and cells of the sorted documents; cell_cluster holds labels until number_clusters. */
static gf_status fill_cells(const uint64_t *keys, uint32_t n, gf_quality *q, gf_error *err)
{
    uint32_t cells = 0;
    for (uint32_t i = 0; i < n; i++)
        cells += i == 0 || keys[i] != keys[i - 1];
    q->n_classes = count_labels(keys, n);
    q->classes = gf_calloc(q->n_classes, sizeof *q->classes);
    q->start = gf_array((size_t)q->n_classes + 1, sizeof *q->start);
    q->cell_cluster = gf_array(cells, sizeof *q->cell_cluster);
    q->cell_count = gf_calloc(cells, sizeof *q->cell_count);
    if (!q->classes || !q->start || !q->cell_cluster || !q->cell_count)
        return gf_fail_memory(err, "a contingency table");
    uint32_t class_end = 0, cell_end = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || high(keys[i]) != high(keys[i - 1])) {
            q->start[class_end] = cell_end;
            q->classes[class_end++].label = high(keys[i]);
        }
        if (i == 0 || keys[i] != keys[i - 1]) q->cell_cluster[cell_end++] = (uint32_t)keys[i];
        q->classes[class_end - 1].size++;
        q->cell_count[cell_end - 1]++;
    }
    q->start[class_end] = cell_end;
    return GF_OK;
}

/* The clusters, from the cells sorted by their labels; cell_cluster then holds positions. */
static gf_status number_clusters(key_pair *p, gf_quality *q, gf_error *err)
{
    uint32_t cells = q->start[q->n_classes], end = 0;
    for (uint32_t cell = 0; cell < cells; cell++)
        p->keys[cell] = (uint64_t)q->cell_cluster[cell] << 32 | cell;
    sort_keys(p, cells);
    q->n_clusters = count_labels(p->keys, cells);
    q->cluster_label = gf_array(q->n_clusters, sizeof *q->cluster_label);
    q->cluster_size = gf_calloc(q->n_clusters, sizeof *q->cluster_size);
    if (!q->cluster_label || !q->cluster_size) return gf_fail_memory(err, "a contingency table");
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t cell = (uint32_t)p->keys[i];
        if (i == 0 || high(p->keys[i]) != high(p->keys[i - 1]))
            q->cluster_label[end++] = high(p->keys[i]);
        q->cluster_size[end - 1] += q->cell_count[cell];
        q->cell_cluster[cell] = end - 1;
    }
    return GF_OK;
}

static void rate_class(gf_quality *q, uint32_t c)
{
    gf_quality_class *class = &q->classes[c];
    uint32_t in_cluster = 0;
    for (uint32_t cell = q->start[c]; cell < q->start[c + 1]; cell++) {
        uint32_t both = q->cell_count[cell], size = q->cluster_size[q->cell_cluster[cell]];
        if (both < class->both || (both == class->both && size >= in_cluster)) continue;
        class->cluster = q->cluster_label[q->cell_cluster[cell]];
        class->both = both;
        in_cluster = size;
    }
    class->recall = (double)class->both / class->size;
    class->precision = (double)class->both / in_cluster;
    class->f1 = 2.0 * class->both / ((double)class->size + in_cluster); /* 2rp / (r + p) */
}

/* - size/n ln(size/n) */
static double entropy_term(uint32_t size, double n)
{
    return size / n * log(n / size);
}

/* Products of two counts fit 64 bits, so that independence gives a logarithm of exactly 0. */
static double mutual_information(const gf_quality *q)
{
    double sum = 0;
    for (uint32_t c = 0; c < q->n_classes; c++)
        for (uint32_t cell = q->start[c]; cell < q->start[c + 1]; cell++) {
            uint64_t together = (uint64_t)q->n * q->cell_count[cell];
            uint64_t apart = (uint64_t)q->classes[c].size * q->cluster_size[q->cell_cluster[cell]];
            sum += (double)q->cell_count[cell] / q->n * log((double)together / (double)apart);
        }
    return sum > 0 ? sum : 0;
}

/* part / whole, where rounding may have lifted the part above. */
static double share(double part, double whole)
{
    return part < whole ? part / whole : 1;
}

static void rate_information(gf_quality *q)
{
    double of_classes = 0, of_clusters = 0, shared = mutual_information(q);
    for (uint32_t c = 0; c < q->n_classes; c++)
        of_classes += entropy_term(q->classes[c].size, q->n);
    for (uint32_t k = 0; k < q->n_clusters; k++)
        of_clusters += entropy_term(q->cluster_size[k], q->n);
    q->homogeneity = share(shared, of_classes);
    q->completeness = share(shared, of_clusters);
    double both = q->homogeneity + q->completeness;
    q->v_measure = both > 0 ? 2 * q->homogeneity * q->completeness / both : 0;
    q->nmi = share(shared, (of_classes + of_clusters) / 2);
}

static uint64_t pairs(uint32_t n)
{
    return (uint64_t)n * (n - (n > 0)) / 2;
}

/* The counts of pairs are exact; the quotient has no difference of large numbers below the bar. */
static void rate_pairs(gf_quality *q)
{
    uint64_t both = 0, in_classes = 0, in_clusters = 0;
    for (uint32_t cell = 0; cell < q->start[q->n_classes]; cell++)
        both += pairs(q->cell_count[cell]);
    for (uint32_t c = 0; c < q->n_classes; c++)
        in_classes += pairs(q->classes[c].size);
    for (uint32_t k = 0; k < q->n_clusters; k++)
        in_clusters += pairs(q->cluster_size[k]);
    double tp = (double)both, fn = (double)(in_classes - both), fp = (double)(in_clusters - both);
    double tn = (double)(pairs(q->n) - in_classes - (in_clusters - both));
    if (in_classes == both && in_clusters == both)
        q->ari = 1;
    else
        q->ari = 2 * (tp * tn - fn * fp) / ((tp + fn) * (fn + tn) + (tp + fp) * (fp + tn));
}

/* largest is room for a number per cluster. */
static void rate_purity(gf_quality *q, uint32_t *largest)
{
    uint64_t sum = 0;
    memset(largest, 0, sizeof *largest * q->n_clusters);
    for (uint32_t cell = 0; cell < q->start[q->n_classes]; cell++)
        if (q->cell_count[cell] > largest[q->cell_cluster[cell]])
            largest[q->cell_cluster[cell]] = q->cell_count[cell];
    for (uint32_t k = 0; k < q->n_clusters; k++)
        sum += largest[k];
    q->purity = q->n ? (double)sum / q->n : 1;
}

gf_status gf_quality_compare(const uint32_t *clusters, const uint32_t *classes, uint32_t n,
                             gf_quality *out, gf_error *err)
{
    gf_quality q = {.n = n};
    key_pair p = {gf_array(n, sizeof *p.keys), gf_array(n, sizeof *p.spare)};
    gf_status st = p.keys && p.spare ? GF_OK : gf_fail_memory(err, "a contingency table");
    if (st != GF_OK) goto done;
    for (uint32_t i = 0; i < n; i++)
        p.keys[i] = (uint64_t)classes[i] << 32 | clusters[i];
    sort_keys(&p, n);
    if ((st = fill_cells(p.keys, n, &q, err)) != GF_OK) goto done;
    if ((st = number_clusters(&p, &q, err)) != GF_OK) goto done;
    for (uint32_t c = 0; c < q.n_classes; c++)
        rate_class(&q, c);
    rate_information(&q);
    rate_pairs(&q);
    rate_purity(&q, (uint32_t *)p.keys);
done:
    gf_free(p.keys);
    gf_free(p.spare);
    if (st == GF_OK)
        *out = q;
    else
        gf_quality_release(&q);
    return st;
}

void gf_quality_release(gf_quality *q)
{
    gf_free(q->cluster_label);
    gf_free(q->cluster_size);
    gf_free(q->classes);
    gf_free(q->start);
    gf_free(q->cell_cluster);
    gf_free(q->cell_count);
    *q = (gf_quality){0};
}

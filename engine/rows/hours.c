#include "engine/rows/hours.h"

#include "engine/rows/document_row.h"
#include "grouperfish/calendar.h"
#include "storage/tables.h"

#include <stdlib.h>

int32_t gf_hours_of_row(const gf_row *document)
{
    const gf_cell *time = gf_row_find(document, GF_DOCUMENTS_MAIN, "time");
    int64_t ms;
    if (!time || !gf_document_row_moment(time->value, &ms)) return GF_NO_HOUR;
    return (int32_t)gf_calendar_period(GF_PERIOD_HOUR, ms);
}

void gf_hours_qualifier(gf_buffer *out, uint32_t cluster)
{
    gf_buffer_str(out, GF_HOURS_PREFIX);
    gf_buffer_u32be(out, cluster);
}

bool gf_hours_cluster(gf_slice qualifier, uint32_t *cluster)
{
    if (!gf_slice_starts(qualifier, GF_SLICE(GF_HOURS_PREFIX))) return false;
    qualifier = gf_slice_skip(qualifier, sizeof GF_HOURS_PREFIX - 1);
    return gf_slice_take_u32be(&qualifier, cluster) && qualifier.len == 0;
}

static int by_hour(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

void gf_hours_write(int32_t *hours, uint32_t n, gf_buffer *out)
{
    uint32_t undated = 0;
    if (n) qsort(hours, n, sizeof *hours, by_hour);
    while (undated < n && hours[undated] == GF_NO_HOUR)
        undated++;
    gf_buffer_varint(out, undated);
    for (uint32_t i = undated, next; i < n; i = next) {
        for (next = i + 1; next < n && hours[next] == hours[i];)
            next++;
        int64_t hour = hours[i];
        gf_buffer_varint(out, i > undated ? (uint64_t)(hour - hours[i - 1])
                                          : (uint64_t)(hour < 0 ? -2 * hour - 1 : 2 * hour));
        gf_buffer_varint(out, next - i);
    }
}

static gf_status fail_damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "a build's documents by hour are damaged");
}

gf_status gf_hours_begin(gf_hours *h, gf_slice bytes, gf_error *err)
{
    *h = (gf_hours){.left = bytes};
    return gf_slice_take_varint32(&h->left, &h->undated) ? GF_OK : fail_damaged(err);
}

gf_status gf_hours_next(gf_hours *h, bool *more, gf_error *err)
{
    uint64_t step;
    *more = h->left.len > 0;
    if (!*more) return GF_OK;
    if (!gf_slice_take_varint(&h->left, &step) || step > UINT32_MAX ||
        !gf_slice_take_varint32(&h->left, &h->documents) || h->documents == 0)
        return fail_damaged(err);
    int64_t hour = h->begun        ? (int64_t)h->hour + (int64_t)step
                   : step % 2 == 0 ? (int64_t)(step / 2)
                                   : -(int64_t)(step / 2) - 1;
    if ((h->begun && step == 0) || hour > INT32_MAX || hour <= INT32_MIN) return fail_damaged(err);
    h->hour = (int32_t)hour;
    h->begun = true;
    return GF_OK;
}

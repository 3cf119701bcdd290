#include "storage/packed.h"

#include "storage/schema.h"

/* Known columns by number, others behind them by name. */
static int compare(const gf_family *family, const gf_column *a, const gf_column *b)
{
    int number_a = gf_schema_column(family, a->name), number_b = gf_schema_column(family, b->name);
    if (number_a >= 0 && number_b >= 0) return number_a - number_b;
    if (number_a >= 0 || number_b >= 0) return number_a >= 0 ? -1 : 1;
    return gf_slice_compare(a->name, b->name);
}

/* Binary insertion: rows have a few columns, and most come sorted. It keeps the order of equals. */
static void sort(const gf_family *family, gf_column *columns, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        gf_column moving = columns[i];
        if (compare(family, &columns[i - 1], &moving) <= 0) continue;
        size_t low = 0, high = i - 1; /* the place is in low..high */
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (compare(family, &columns[middle], &moving) <= 0)
                low = middle + 1;
            else
                high = middle;
        }
        memmove(columns + low + 1, columns + low, (i - low) * sizeof *columns);
        columns[low] = moving;
    }
}

size_t gf_packed_order(const gf_family *family, gf_column *columns, size_t n)
{
    sort(family, columns, n);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && gf_slice_equal(columns[kept - 1].name, columns[i].name)) kept--;
        columns[kept++] = columns[i];
    }
    return kept;
}

void gf_packed_write(const gf_family *family, const gf_column *columns, size_t n, gf_buffer *out)
{
    for (size_t i = 0; i < n; i++) {
        int number = gf_schema_column(family, columns[i].name);
        gf_buffer_varint(out, (uint64_t)(number + 1));
        if (number < 0) gf_buffer_string(out, columns[i].name);
        gf_buffer_string(out, columns[i].value);
    }
}

static bool column_name(const gf_family *family, uint32_t number, gf_slice *name)
{
    for (uint32_t c = 0; family->columns && family->columns[c]; c++) {
        if (c != number) continue;
        *name = gf_slice_str(family->columns[c]);
        return true;
    }
    return false;
}

gf_status gf_packed_next(const gf_family *family, gf_slice *rest, gf_column *column, gf_error *err)
{
    uint32_t tag;
    if (rest->len == 0) return GF_ENOTFOUND;
    bool good = gf_take_varint32(rest, &tag);
    if (good)
        good =
            tag ? column_name(family, tag - 1, &column->name) : gf_take_string(rest, &column->name);
    if (!good || !gf_take_string(rest, &column->value))
        return gf_fail(err, GF_ECORRUPT, "the columns of family %s are damaged", family->name);
    return GF_OK;
}

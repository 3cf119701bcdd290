/* The tables that HBase has in the store's namespace, whoever made them. */
#include "storage/hbase/internal.h"

/* The qualifier of a TTableName. */
static gf_slice take_name(gf_thrift_reader *r)
{
    gf_thrift_type type;
    uint16_t id;
    gf_slice name = {0};
    while (gf_thrift_take_field(r, &type, &id)) {
        if (id == 2 && type == GF_THRIFT_STRING)
            name = gf_thrift_take_string(r);
        else
            gf_thrift_skip(r, type);
    }
    return name;
}

gf_status gf_hbase_visit_tables(gf_backend *backend, gf_visit_name *visit, void *context,
                                gf_error *err)
{
    gf_hbase *b = (gf_hbase *)backend;
    gf_hbase_call call = {0};
    uint32_t n = 0;
    gf_hbase_call_begin(&call, "getTableNamesByNamespace");
    gf_thrift_string_field(&call.request, 1, gf_slice_str(b->address.name_space));
    gf_status st = gf_hbase_call_run(b->client, &call, GF_THRIFT_LIST, GF_HBASE_READS, err);
    if (st == GF_OK && call.has_result) n = gf_thrift_take_list(&call.result, GF_THRIFT_STRUCT);
    for (uint32_t i = 0; i < n && st == GF_OK; i++) {
        gf_slice name = take_name(&call.result);
        st = call.result.bad ? gf_fail(err, GF_EIO, "the gateway of HBase sent no list of tables")
                             : visit(context, name, err);
    }
    gf_hbase_call_release(&call);
    return st;
}

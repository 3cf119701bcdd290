#include "tests/hbase/name_space.h"

#include "base/clock.h"
#include "storage/hbase/client.h"
#include "tests/support/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void hbase_make_name_space(char *url, size_t size)
{
    gf_hbase_address a;
    gf_hbase_client *client;
    gf_hbase_call call = {0};
    char name[64];
    gf_error err;
    const char *where = getenv("GROUPERFISH_HBASE");
    snprintf(name, sizeof name, "test_%" PRId64, gf_clock_ms());
    assert_ok(gf_hbase_address_read(where, &a, &err));
    assert_ok(gf_hbase_client_create(&a, 60000, &client, &err));
    gf_hbase_call_begin(&call, "createNamespace");
    gf_thrift_field(&call.request, GF_THRIFT_STRUCT, 1);
    gf_thrift_string_field(&call.request, 1, gf_slice_str(name));
    gf_thrift_stop(&call.request);
    assert_ok(gf_hbase_call_run(client, &call, GF_THRIFT_STOP, GF_HBASE_WRITES, &err));
    gf_hbase_call_release(&call);
    gf_hbase_client_free(client);
    bool six = strchr(a.host, ':') != NULL;
    snprintf(url, size, "hbase://%s%s%s:%s/%s", six ? "[" : "", a.host, six ? "]" : "", a.port,
             name);
}

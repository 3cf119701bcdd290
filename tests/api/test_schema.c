/* The members of rows: their tables, and that rows which do not fit are found (schema.h). */
#include "tests/api/schema.h"

#include "support/test.h"

static const gf_parameter parameters[] = {
    {"columns", GF_PARAMETER_FLAG, false, NULL, "", 0, 0},
    {"collection", GF_PARAMETER_TEXT, true, "NAME", "", 0, 0}};
static const gf_row_member members[] = {M("name", TEXT, ""),
                                        M_MAYBE("size", INTEGER, ""),
                                        M_NULL("share", NUMBER, ""),
                                        M_MAYBE_WORD("state", "on|off", ""),
                                        M_MAYBE("time", TIME, ""),
                                        M_MAYBE("why", OBJECT, ""),
                                        M("why.sum", NUMBER, ""),
                                        M_MAYBE("terms", OBJECTS, ""),
                                        M("terms[].term", TEXT, ""),
                                        M_MAYBE("ids", INTEGERS, ""),
                                        M_OF("columns", "family", TEXT, ""),
                                        M_MAYBE_OF("|columns", "both", TRUTH, ""),
                                        GF_ROW_MEMBERS_END};
static const gf_row_member open_members[] = {M("id", ID, ""), M_MAYBE("*", ANY, ""),
                                             GF_ROW_MEMBERS_END};
static const gf_operation some = {.name = "some",
                                  .parameters = parameters,
                                  .n_parameters = 2,
                                  .members = members,
                                  .reach = GF_REACH_PATTERN};
static const gf_operation open_one = {.name = "open", .members = open_members};
static const gf_argument columns = {{"columns", 7}, {"true", 4}},
                         pattern = {{"collection", 10}, {"a*", 2}};

static void fits(const gf_operation *o, const gf_argument *argument, const char *row,
                 const char *expected)
{
    char fault[256] = "";
    gf_json_parser *parser;
    gf_json_value v;
    gf_error err;
    assert_ok(gf_json_parser_create(&parser, &err));
    assert_ok(gf_json_parse_copy(parser, gf_slice_str(row), &v, &err));
    bool good = schema_fits(o, argument, argument ? 1 : 0, v, fault);
    if (good != !expected || (expected && strcmp(fault, expected) != 0))
        fail_msg("%s: \"%s\", not \"%s\"", row, fault, expected ? expected : "");
    gf_json_parser_free(parser);
}

static void rows(void **state)
{
    (void)state;
    fits(&some, NULL, "{\"name\":\"a\",\"share\":null}", NULL);
    fits(&some, NULL,
         "{\"name\":\"a\",\"share\":1,\"size\":2,\"state\":\"off\",\"time\":\"2026-11-20T13:42:57."
         "5Z\","
         "\"why\":{\"sum\":0.5},\"terms\":[{\"term\":\"b\"}],\"ids\":[1,2],\"both\":true}",
         NULL);
    fits(&some, NULL, "{\"share\":1}", "name is missing");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"shape\":1}", "shape is no member");
    fits(&some, NULL, "{\"name\":null,\"share\":1}", "name is of another kind");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":\"1\"}", "share is of another kind");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"size\":2.5}", "size is of another kind");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"state\":\"of\"}", "state is of another kind");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"time\":\"2026-11-20\"}",
         "time is of another kind");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"why\":{}}", "why.sum is missing");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"why\":{\"sum\":1,\"x\":1}}",
         "why.x is no member");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"terms\":[{\"term\":\"b\"},{}]}",
         "terms[].term is missing");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"terms\":[1]}", "terms[]. is no object");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"ids\":[\"1\"]}", "ids is of another kind");
}

static void forms(void **state)
{
    (void)state;
    fits(&some, &columns, "{\"family\":\"f\",\"both\":true}", NULL);
    fits(&some, &columns, "{\"family\":\"f\",\"name\":\"a\"}", "name is no member");
    fits(&some, &columns, "{}", "family is missing");
    fits(&some, NULL, "{\"name\":\"a\",\"share\":1,\"family\":\"f\"}", "family is no member");
    fits(&some, NULL, "{\"collection\":\"c\",\"name\":\"a\",\"share\":1}",
         "collection is no member");
    fits(&some, &pattern, "{\"collection\":\"c\",\"name\":\"a\",\"share\":1}", NULL);
    fits(&open_one, NULL, "{\"id\":7,\"whatever\":[null]}", NULL);
    fits(&open_one, NULL, "{\"id\":7.5}", "id is of another kind");
}

static bool is_object_of(const gf_row_member *m, const char *path, size_t n)
{
    const char *suffix = m->kind == GF_ROW_MEMBER_OBJECTS ? "[]." : ".";
    bool holds = m->kind == GF_ROW_MEMBER_OBJECT || m->kind == GF_ROW_MEMBER_OBJECTS;
    return holds && n == strlen(m->path) + strlen(suffix) &&
           strncmp(path, m->path, strlen(m->path)) == 0 &&
           strncmp(path + strlen(m->path), suffix, strlen(suffix)) == 0;
}

/* Each operation has a table; paths lead through objects that are there; no path comes twice. */
static void tables(void **state)
{
    (void)state;
    const gf_operation *o;
    for (size_t i = 0; (o = gf_operation_at(i)) != NULL; i++) {
        if (!o->members || !o->members->path) fail_msg("%s has no members", o->name);
        for (const gf_row_member *m = o->members; m->path; m++) {
            size_t n = (size_t)(gf_row_member_name(m) - m->path);
            bool parent = n == 0;
            for (const gf_row_member *p = o->members; p < m; p++) {
                parent |= is_object_of(p, m->path, n);
                if (strcmp(p->path, m->path) == 0) fail_msg("%s: two of %s", o->name, m->path);
            }
            if (!parent) fail_msg("%s: %s is in nothing", o->name, m->path);
            if ((m->kind == GF_ROW_MEMBER_WORD) != (m->words != NULL))
                fail_msg("%s: the words of %s", o->name, m->path);
            gf_row_member_form form;
            for (size_t f = 1; gf_row_member_form_at(o->members, f, &form); f++) {
                bool found = false;
                for (size_t k = 0; k < o->n_parameters; k++)
                    found |= gf_slice_equal(gf_slice_str(o->parameters[k].name),
                                            gf_slice_of(form.name, form.n));
                if (!found) fail_msg("%s: no parameter %.*s", o->name, (int)form.n, form.name);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(forms),
                                       cmocka_unit_test(tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Parameters in the body of a request: a JSON object, of PUT, PATCH and POST whose operation reads no
 * records. What a page of another site could send without asking, a form, is refused by its type.
 */
#include "server/http/answer.h"
#include "server/http/rows.h"

#include "api/arguments.h"

bool gf_parameters_in_body(const gf_operation *o)
{
    bool method = strcmp(o->method, "PUT") == 0 || strcmp(o->method, "PATCH") == 0 ||
                  strcmp(o->method, "POST") == 0;
    return method && (o->input == GF_INPUT_NONE || o->rebuilds) && !o->local;
}

/* A rebuild may have a matrix as its body. */
static bool has_matrix(const gf_request *r)
{
    return r->route->operation->rebuilds && !r->json_given &&
           gf_operations_have_flag(r->arguments, r->n_arguments, "matrix");
}

static bool is_blank(gf_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!memchr(" \t\r\n", s.ptr[i], 4)) return false;
    return true;
}

static gf_status read_all(gf_request *r, gf_buffer *out, gf_error *err)
{
    char piece[4096];
    size_t got = 1;
    gf_slice name;
    gf_input input = gf_body_input(r);
    gf_status st = input.next(input.context, &name, err);
    while (st == GF_OK && got) {
        got = 0;
        st = input.read(input.context, piece, sizeof piece, &got, err);
        gf_buffer_append(out, piece, got);
        if (st == GF_OK && out->len > GF_MOST_PARAMETERS)
            st = gf_fail(err, GF_ELIMIT, "the body has more than %d bytes of parameters",
                         GF_MOST_PARAMETERS);
    }
    return st == GF_OK ? gf_buffer_check(out, err) : st;
}

/* A PUT that replaces all by what it brings, and brings nothing, not even an empty object. */
static bool replaces_by_nothing(const gf_request *r)
{
    const char *flag = r->route->flag;
    if (!flag || strcmp(flag, "replace") != 0) return false;
    for (size_t i = 0; i < r->n_arguments; i++)
        if (gf_slice_equal(r->arguments[i].name, GF_SLICE("set"))) return false;
    return true;
}

static gf_status refuse_nothing(gf_request *r)
{
    gf_answer_problem(
        r, 400,
        "the body is empty: it has the keys that stay, as {\"k\": 40}; {} takes all of "
        "them back to their defaults");
    return GF_EINVAL;
}

gf_status gf_parameters_take(gf_request *r)
{
    const gf_operation *o = r->route->operation;
    gf_buffer body = {0};
    gf_error err = {GF_OK, ""};
    if (!r->has_body && !r->parameters_taken && replaces_by_nothing(r)) return refuse_nothing(r);
    if (!r->has_body || !gf_parameters_in_body(o) || has_matrix(r) || r->parameters_taken)
        return GF_OK;
    gf_arguments a = gf_request_arguments(r, o);
    gf_status st = read_all(r, &body, &err);
    bool blank = is_blank(gf_buffer_view(&body)), typed = r->json_given || !r->type_given || blank;
    r->parameters_taken = true;
    if (st == GF_OK && blank && replaces_by_nothing(r)) {
        gf_buffer_release(&body);
        return refuse_nothing(r);
    }
    if (st == GF_OK && !blank && typed)
        st = gf_arguments_take_json(&a, gf_buffer_view(&body), &err);
    gf_request_keep_arguments(r, &a);
    gf_buffer_release(&body);
    if (st == GF_OK && typed) return GF_OK;
    if (st != GF_OK)
        gf_answer_failure(r, &err);
    else
        gf_answer_problem(r, 415,
                          "the body has the parameters: it must be a JSON object, with "
                          "Content-Type: application/json");
    return GF_EINVAL;
}

/* Tables of members: walking them. */
#include "api/row_member.h"

#include <string.h>

/* Take the next of the words; false behind the last. NULL is one empty word. */
static bool take_form(const char **rest, gf_row_member_form *form)
{
    if (!*rest) return false;
    size_t n = strcspn(*rest, "|");
    *form = (gf_row_member_form){*rest, n};
    *rest = (*rest)[n] ? *rest + n + 1 : NULL;
    return true;
}

static bool is_same(gf_row_member_form a, gf_row_member_form b)
{
    return a.n == b.n && memcmp(a.name, b.name, a.n) == 0;
}

bool gf_row_member_has_form(const gf_row_member *m, gf_row_member_form form)
{
    gf_row_member_form own;
    for (const char *rest = m->form ? m->form : ""; take_form(&rest, &own);)
        if (is_same(own, form)) return true;
    return false;
}

static bool comes_before(const gf_row_member *members, const gf_row_member *end,
                         gf_row_member_form form)
{
    for (const gf_row_member *m = members; m < end; m++)
        if (gf_row_member_has_form(m, form)) return true;
    return false;
}

bool gf_row_member_form_at(const gf_row_member *members, size_t i, gf_row_member_form *form)
{
    *form = (gf_row_member_form){"", 0};
    if (i == 0) return true;
    for (const gf_row_member *m = members; m->path; m++) {
        gf_row_member_form own;
        for (const char *rest = m->form ? m->form : ""; take_form(&rest, &own);)
            if (own.n && !comes_before(members, m, own) && --i == 0) {
                *form = own;
                return true;
            }
    }
    return false;
}

const char *gf_row_member_name(const gf_row_member *m)
{
    const char *dot = strrchr(m->path, '.');
    return dot ? dot + 1 : m->path;
}

bool gf_row_member_is_of(const gf_row_member *m, const char *prefix)
{
    size_t n = (size_t)(gf_row_member_name(m) - m->path);
    return strlen(prefix) == n && memcmp(m->path, prefix, n) == 0;
}

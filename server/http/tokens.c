/* Reading the file of tokens, and comparing. */
#include "server/http/tokens.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "grouperfish/buffer.h"

#include <pthread.h>
#include <stdio.h>

enum { LEAST_BYTES = 16, MOST_BYTES = 256, MOST_TOKENS = 10000, MOST_FILE = 4 << 20 };

typedef struct token {
    gf_slice text, name_space, name; /* in the list's bytes; name: may be empty */
    size_t line;
    bool writes;
} token;

typedef struct token_list {
    gf_buffer bytes; /* the file */
    token *tokens;   /* n */
    size_t n;
} token_list;

struct gf_tokens {
    char *path;
    pthread_rwlock_t lock;
    token_list list;
};

/* ---- reading --------------------------------------------------------------------------------- */

static void release(token_list *list)
{
    gf_buffer_release(&list->bytes);
    gf_free(list->tokens);
    *list = (token_list){.n = 0};
}

static gf_slice take_word(gf_slice *rest)
{
    while (rest->len && strchr(" \t\r", *rest->ptr))
        *rest = gf_slice_skip(*rest, 1);
    size_t n = 0;
    while (n < rest->len && !strchr(" \t\r", rest->ptr[n]))
        n++;
    gf_slice word = gf_slice_of(rest->ptr, n);
    *rest = gf_slice_skip(*rest, n);
    return word;
}

static gf_status parse_line(gf_slice line, size_t number, const char *path, token *t, bool *is_one,
                            gf_error *err)
{
    t->text = take_word(&line);
    gf_slice right = take_word(&line);
    t->name_space = take_word(&line);
    t->name = take_word(&line);
    t->line = number;
    *is_one = t->text.len && t->text.ptr[0] != '#';
    if (!*is_one) return GF_OK;
    t->writes = gf_slice_equal(right, GF_SLICE("write"));
    const char *what = NULL;
    if (t->text.len < LEAST_BYTES || t->text.len > MOST_BYTES)
        what = "a token has 16 to 256 bytes";
    else if (!t->writes && !gf_slice_equal(right, GF_SLICE("read")))
        what = "behind the token comes read or write";
    else if (t->name_space.len == 0)
        what = "the third word is a namespace, or * for all";
    else if (take_word(&line).len)
        what = "there is a fifth word";
    else if (t->name.len >= GF_TOKEN_NAME)
        what = "the token's name, the fourth word, has at most 64 bytes";
    else if (gf_utf8_valid_length(t->name_space) != t->name_space.len ||
             gf_utf8_valid_length(t->name) != t->name.len)
        what = "the namespace, or the token's name, is not valid UTF-8";
    return what ? gf_fail(err, GF_EINVAL, "%s:%zu: %s", path, number, what) : GF_OK;
}

static gf_status parse(token_list *list, const char *path, gf_error *err)
{
    gf_slice rest = gf_buffer_view(&list->bytes);
    gf_status st = GF_OK;
    for (size_t number = 1; rest.len && st == GF_OK; number++) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        gf_slice line = gf_slice_of(rest.ptr, n);
        bool is_one;
        if (list->n == MOST_TOKENS)
            return gf_fail(err, GF_ELIMIT, "%s has more than %d tokens", path, MOST_TOKENS);
        st = parse_line(line, number, path, &list->tokens[list->n], &is_one, err);
        list->n += st == GF_OK && is_one;
        rest = gf_slice_skip(rest, end ? n + 1 : n);
    }
    if (st == GF_OK && list->n == 0) return gf_fail(err, GF_EINVAL, "%s has no token in it", path);
    return st;
}

static gf_status read_list(const char *path, token_list *list, gf_error *err)
{
    token_list l = {.bytes = {.max = MOST_FILE}, .tokens = gf_array(MOST_TOKENS, sizeof(token))};
    gf_status st = l.tokens ? GF_OK : gf_fail_memory(err, "tokens");
    if (st == GF_OK) st = gf_file_read_secret(path, &l.bytes, err);
    if (st == GF_OK) st = parse(&l, path, err);
    if (st == GF_OK)
        *list = l;
    else
        release(&l);
    return st;
}

gf_status gf_tokens_open(const char *path, gf_tokens **tokens, gf_error *err)
{
    gf_tokens *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "tokens");
    pthread_rwlock_init(&t->lock, NULL);
    t->path = gf_copy_string(path, strlen(path));
    gf_status st = t->path ? read_list(path, &t->list, err) : gf_fail_memory(err, "tokens");
    if (st == GF_OK)
        *tokens = t;
    else
        gf_tokens_close(t);
    return st;
}

gf_status gf_tokens_read_again(gf_tokens *t, gf_error *err)
{
    token_list list;
    gf_status st = read_list(t->path, &list, err);
    if (st != GF_OK) return st;
    pthread_rwlock_wrlock(&t->lock);
    token_list old = t->list;
    t->list = list;
    pthread_rwlock_unlock(&t->lock);
    release(&old);
    return GF_OK;
}

void gf_tokens_close(gf_tokens *t)
{
    if (!t) return;
    release(&t->list);
    pthread_rwlock_destroy(&t->lock);
    gf_free(t->path);
    gf_free(t);
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Looks at every byte of the known one, whatever the given one is. */
static bool equal(gf_slice known, gf_slice given)
{
    unsigned differ = known.len != given.len;
    for (size_t i = 0; i < known.len; i++) {
        unsigned char g = (unsigned char)(given.len ? given.ptr[i % given.len] : 0);
        differ |= (unsigned)(unsigned char)known.ptr[i] ^ g;
    }
    return differ == 0;
}

static void write_name(const token *t, char name[GF_TOKEN_NAME])
{
    if (t->name.len)
        snprintf(name, GF_TOKEN_NAME, "%.*s", GF_SLICE_ARG(t->name));
    else
        snprintf(name, GF_TOKEN_NAME, "line %zu", t->line);
}

gf_right gf_tokens_check(gf_tokens *t, gf_slice given, gf_slice name_space, bool writes,
                         char name[GF_TOKEN_NAME])
{
    name[0] = '\0';
    gf_right right = given.len ? GF_WRONG_TOKEN : GF_NO_TOKEN;
    pthread_rwlock_rdlock(&t->lock);
    for (size_t i = 0; i < t->list.n; i++) {
        const token *k = &t->list.tokens[i];
        if (!equal(k->text, given)) continue;
        bool here = gf_slice_equal(k->name_space, GF_SLICE("*")) ||
                    (name_space.len && gf_slice_equal(k->name_space, name_space));
        gf_right this = !here                  ? GF_WRONG_NAMESPACE
                        : writes && !k->writes ? GF_READ_ONLY
                                               : GF_ALLOWED;
        if (this <= right) continue; /* a token may be there for several namespaces */
        right = this;
        write_name(k, name);
    }
    pthread_rwlock_unlock(&t->lock);
    return right;
}

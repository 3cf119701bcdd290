/**
 * Tokens: who may do what. A file of mode 0600 with one token a line:
 *
 *     # token (16 bytes or more, no white space)   read|write   namespace or *   name, for the log
 *     c2VjcmV0c2VjcmV0c2VjcmV0                      write        *                importer
 *
 * A token is compared with every one of the file, each in a time that does not depend on where they
 * differ.
 */
#ifndef GF_SERVER_HTTP_TOKENS_H
#define GF_SERVER_HTTP_TOKENS_H

#include "grouperfish/buffer.h"
#include "grouperfish/slice.h"
#include "grouperfish/status.h"

typedef struct gf_tokens gf_tokens;

typedef enum gf_right {
    GF_NO_TOKEN,
    GF_WRONG_TOKEN,
    GF_WRONG_NAMESPACE,
    GF_READ_ONLY,
    GF_ALLOWED
} gf_right;

/**
 * Read a file.
 * @return GF_OK; GF_EINVAL where others than its owner may look at it, or a line is none (the
 *         message has its number, never what it says); GF_ENOTFOUND, GF_EIO, GF_ENOMEM
 */
gf_status gf_tokens_open(const char *path, gf_tokens **tokens, gf_error *err);

/** Read it again; where that fails what was read before stays. Any thread. */
gf_status gf_tokens_read_again(gf_tokens *tokens, gf_error *err);

enum { GF_TOKEN_NAME = 65 /* bytes, with the NUL */ };

/**
 * The right of a request: `token` is empty where it has none; an empty name_space means all of them
 * (only a token of namespace * has that right). `name` is what the log calls the token: its name in
 * the file, else "line 7"; empty where there is no such token.
 */
gf_right gf_tokens_check(gf_tokens *tokens, gf_slice token, gf_slice name_space, bool writes,
                         char name[GF_TOKEN_NAME]);

void gf_tokens_close(gf_tokens *tokens);

#endif

/**
 * The prompt of a cluster: two messages, of which the second is JSON, all of it data.
 *
 *     {"phrases": [...],                 the label and the heaviest terms
 *      "documents": [...],               members that are different from one another
 *      "documents_of_another_group": [], members of the nearest cluster that are nearest to this one
 *      "names_of_other_groups": [...]}   the labels beside it in the tree
 *
 * Documents are somebody's words: they stand in JSON strings, white space folded, cut to a length,
 * so that none ends the data, and the first message says that nothing in it is an instruction.
 */
#ifndef GF_ENGINE_TITLES_PROMPT_H
#define GF_ENGINE_TITLES_PROMPT_H

#include "engine/view/view.h"
#include "grouperfish/titles.h"
#include "vectorize/text/language.h"

/** A cluster as the prompts need it. */
typedef struct gf_titled_cluster {
    uint32_t id, nearest; /* nearest: id; 0: none */
    gf_slice label;
    gf_slice *terms; /* n_terms */
    size_t n_terms;
    double score;           /* mean similarity of the members to the centre */
    uint32_t place;         /* among the leaves of the tree, from the left */
    bool pinned;            /* the label is a person's */
    gf_slice title, prompt; /* title that it has, and the hash of the prompt that it came of */
} gf_titled_cluster;

/** The clusters of a view, largest first. {0} to begin with. */
typedef struct gf_titled_clusters {
    gf_arena memory;
    gf_titled_cluster *at;   /* n */
    gf_titled_cluster **row; /* n, by place */
    size_t n, capacity;
} gf_titled_clusters;

/** GF_OK; GF_ECORRUPT, GF_EIO, GF_ENOMEM. To be released, also after a failure. */
gf_status gf_prompt_list_clusters(gf_view *view, gf_titled_clusters *list, gf_error *err);
void gf_prompt_release_clusters(gf_titled_clusters *list);

/** A prompt. {0} to begin with; used for one cluster after the other. */
typedef struct gf_prompt {
    gf_buffer system, data;      /* the messages */
    const gf_language *language; /* that the title is to be in; NULL: not known */
    gf_buffer
        sample; /* texts of the documents, in whose script the title is to be; empty: in any */
} gf_prompt;

/** @param language  NULL: the one that most of the documents are in */
gf_status gf_prompt_make(gf_view *view, const gf_titled_clusters *list, const gf_titled_cluster *of,
                         const gf_language *language, gf_prompt *prompt, gf_error *err);
void gf_prompt_release(gf_prompt *prompt);

/** 16 hexadecimal digits of the model and the prompt. */
void gf_prompt_hash(const gf_prompt *prompt, const char *model, char hash[17]);

/**
 * The body of a request: {"model": ..., "messages": [...]}.
 *
 * @param refused, why  an answer that was no title, and why not: both are told; empty: the first call
 */
void gf_prompt_write(const gf_prompt *prompt, const char *model, gf_slice refused, gf_slice why,
                     gf_buffer *out);

#endif

/** Titles: names of clusters in a few words, asked of a language model. */
#ifndef GF_GROUPERFISH_TITLES_H
#define GF_GROUPERFISH_TITLES_H

#include "grouperfish/cancel.h"
#include "grouperfish/export.h"
#include "grouperfish/state.h"

GF_PUBLIC_BEGIN

/** The outcome of a cluster. */
typedef enum gf_title_outcome {
    GF_TITLE_NAMED,   /* the model's answer is its title now */
    GF_TITLE_KEPT,    /* its title was made of the same prompt */
    GF_TITLE_PINNED,  /* a person has called it something: it is not asked about */
    GF_TITLE_REFUSED, /* the answers were no titles: `why` says what they were */
    GF_TITLE_FAILED,  /* no answer came, or the cluster was edited meanwhile: `why` */
    GF_TITLE_LEFT,    /* the calls had run out */
    GF_TITLE_SHOWN    /* the prompt alone was asked for */
} gf_title_outcome;

/** The word: "named", "kept", "pinned", "refused", "failed", "left" or "shown". */
const char *gf_title_outcome_word(gf_title_outcome outcome);

/** A cluster that was looked at; slices are borrowed until the visit returns. */
typedef struct gf_title_info {
    uint32_t cluster; /* id */
    gf_slice label;
    gf_title_outcome outcome;
    gf_slice title;  /* that it has now; empty: none */
    gf_slice why;    /* in words; empty where there is nothing to say */
    uint64_t calls;  /* that it took */
    gf_slice prompt; /* JSON, what is sent; only of GF_TITLE_SHOWN */
} gf_title_info;

typedef gf_status gf_visit_title(void *context, const gf_title_info *info, gf_error *err);

typedef struct gf_titles_options {
    unsigned version;  /* GF_TITLES_OPTIONS_VERSION: set by GF_TITLES_OPTIONS() */
    const char *url;   /* of a server that speaks POST /v1/chat/completions, or of that route */
    const char *model; /* as that server calls it */
    gf_slice key;      /* sent as "Authorization: Bearer"; empty: none */
    gf_slice language; /* of the titles: ISO 639 code or Snowball name; empty: the documents' */
    const uint32_t *clusters; /* n_clusters ids; NULL: all */
    size_t n_clusters;
    uint64_t most_calls; /* 0: 1,000 */
    unsigned seconds;    /* that an answer may take; 0: 60 */
    unsigned attempts;   /* at an answer that does not come; 0: 4 */
    bool again;          /* ask also where the prompt is that of the title */
    bool show;           /* make the prompts, and ask nobody; url may be NULL */
    const gf_cancel *cancel;
} gf_titles_options;

#define GF_TITLES_OPTIONS_VERSION 1
/** Options with these members, and all others 0. */
#define GF_TITLES_OPTIONS(...)                                                                     \
    ((gf_titles_options){.version = GF_TITLES_OPTIONS_VERSION, __VA_ARGS__})

/**
 * Ask a model for the titles of the served build's clusters, the largest first: one call a cluster,
 * and a second one where the answer is no title. Each title is on disk, beside the label, before
 * the next is asked for; the next builds of the configuration have it as long as the cluster goes on.
 * docs/how-to/names-from-a-model.md says what is sent.
 *
 * @return GF_OK, also where some clusters were refused or failed; GF_EINVAL (an address, a language;
 *         the server takes neither the key nor the request: 400, 401, 403, 404), GF_EIO (it does
 *         not answer for three clusters in a row), GF_ENOTFOUND (collection, build, cluster),
 *         GF_ECANCELLED, GF_ENOMEM. What came before is kept.
 * Cost: for each cluster some 100 look-ups and 80 rows; the model's time.
 */
gf_status gf_titles_make(gf_store *store, gf_place where, gf_slice configuration,
                         const gf_titles_options *options, gf_visit_title *visit, void *context,
                         gf_error *err);

GF_PUBLIC_END

#endif

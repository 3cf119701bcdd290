#include "engine/text/batch.h"

#include "base/memory.h"

typedef struct making {
    gf_text *texts;
    const gf_text_group *group;
    const gf_fallback *fallback;
} making;

static gf_status language_task(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    const making *m = context;
    const gf_group_text *t = &m->group->at[i];
    return gf_languages_of_document(m->fallback, t->lang, t->text, &m->texts[i].language, err);
}

static gf_status make_room(gf_batch_texts *t, size_t n, gf_error *err)
{
    if (n <= t->capacity) return GF_OK;
    gf_text *grown = gf_realloc(t->at, n, sizeof *grown);
    if (!grown) return gf_fail_memory(err, "documents");
    t->at = grown;
    t->capacity = n;
    return GF_OK;
}

gf_status gf_batch_texts_make(gf_batch_texts *t, const gf_text_group *group,
                              const gf_fallback *fallback, gf_pool *pool, const gf_cancel *cancel,
                              gf_error *err)
{
    gf_status st = make_room(t, group->n, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < group->n; i++)
        t->at[i] = (gf_text){group->at[i].text, NULL};
    if (!fallback) return GF_OK;
    /* Detection is slow, so it runs in parallel; looking a code up is not worth a task. */
    bool parallel = fallback->kind == GF_FALLBACK_DETECT;
    gf_fallback known = *fallback;
    if (known.kind == GF_FALLBACK_UNKNOWN) known = (gf_fallback){GF_FALLBACK_FIXED, NULL};
    making m = {t->at, group, &known};
    return gf_pool_run(parallel ? pool : NULL, group->n, language_task, &m, cancel, err);
}

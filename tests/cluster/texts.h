/**
 * Documents for the tests of labels, made from texts.
 *
 * Words are runs of letters, digits and '_'. One after . , : ; ! or ? follows a break; the, of, is, a
 * and at are stop words; day, first and think are vague, pct is a unit; digits alone are a number;
 * what begins with "http" is a link; one after @ is a mention, and with a capital inside a sentence a
 * name. Words are
 * the same where they are but for case and an s at the end; those that begin with '_' have no term.
 */
#ifndef GF_TESTS_CLUSTER_TEXTS_H
#define GF_TESTS_CLUSTER_TEXTS_H

#include "base/strings.h"
#include "cluster/label/labels.h"

/** Words and rows of documents; set to {0}. */
typedef struct texts {
    gf_strings terms;
    gf_arena memory;
} texts;

void texts_release(texts *t);

/** A document; the text must live as long. */
gf_label_document texts_document(texts *t, const char *text);

/** A cluster of `size` documents, of which these stand for all. */
gf_label_cluster texts_cluster(texts *t, const char *const *lines, uint32_t n, uint64_t size);

#endif

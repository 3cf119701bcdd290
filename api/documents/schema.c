/* Members of the rows of documents, in the order of docs/operations.md. */
#include "api/documents/schema.h"

const gf_row_member gf_schema_put[] = {
    M("store", TEXT, "path of the store"),
    M("collection", TEXT, "as it was given"),
    M("read", INTEGER, "records"),
    M("new", INTEGER,
      "documents that were not there; a record counts once for each of its collections"),
    M("changed", INTEGER, "documents that were there and differ"),
    M("unchanged", INTEGER,
      "documents that were there and are the same, or that a later one of the same id replaces"),
    M("stored", INTEGER, "`new` and `changed`"),
    M("skipped", INTEGER, "records that hold nothing to put"),
    M("refused", INTEGER, "records that could not be put"),
    M("reasons", MAP, "object: for each reason the records skipped or refused for it"),
    M("converted", INTEGER,
      "files that were not UTF-8, and were read in the encoding that was said, or recognised"),
    M("invalid_utf8", INTEGER, "pieces of text that were not valid UTF-8 and became U+FFFD"),
    M("hashed_ids", INTEGER, "records without an id, which got the hash of their content"),
    M("bad_times", INTEGER, "records that were put without a time, because their field is none"),
    M("collections_made", INTEGER, "collections that were not there"),
    M_MAYBE_OF("results", "line", INTEGER,
               "only with `results`: of the record's start; absent where lines say nothing"),
    M_MAYBE_OF("|results", "id", ID,
               "of a record that was stored: only with `results`, or of the only record where the "
               "collection has a build of `default`"),
    {"result", GF_ROW_MEMBER_WORD, false, false,
     "only with `results`: `stored`, `refused` or `skipped`", "stored|refused|skipped", "results"},
    M_MAYBE_OF("results", "reason", TEXT, "only with `results`: of a record that was not stored"),
    M_MAYBE_OF("results", "message", TEXT,
               "only with `results`: that in words; of a refused record"),
    {"cluster", GF_ROW_MEMBER_INTEGER, true, true,
     "only with `results=places`, or of the only record, where the collection has a build of "
     "`default`: id of the cluster that the document joins, or is in; null for one that has no "
     "term "
     "of the build",
     NULL, "|results"},
    M_MAYBE_OF("|results", "label", TEXT, "likewise: what that is called; `without terms`"),
    M_MAYBE_OF("|results", "score", NUMBER, "likewise: similarity to its centre, 0 to 1"),
    M_MAYBE_OF("|results", "runner_up", INTEGER, "likewise: id of the second most similar cluster"),
    M_MAYBE_OF("|results", "runner_up_label", TEXT, "likewise: its label"),
    M_MAYBE_OF("|results", "runner_up_score", NUMBER, "likewise: similarity to its centre"),
    M_MAYBE_OF("|results", "margin", NUMBER, "likewise: score less runner_up_score"),
    M_MAYBE_OF("|results", "replaced", TRUTH, "likewise: true where the build has an older text"),
    M_MAYBE_OF("|results", "cluster_before", INTEGER,
               "likewise: id of the cluster that the build has the older text in"),
    M_MAYBE_OF("|results", "provisional", TRUTH,
               "likewise: true where the build has not this text"),
    M_MAYBE_OF("|results", "candidate", TRUTH,
               "likewise: true where the cluster is a candidate, of documents that came since the "
               "build"),
    M_MAYBE_OF("|results", "size", INTEGER, "likewise: documents that the cluster has"),
    M_MAYBE_OF("|results", "status", TEXT, "likewise: of the cluster, as somebody set it"),
    M_MAYBE_OF("|results", "owner", TEXT, "likewise: whose it is"),
    M_MAYBE_OF("|results", "link", TEXT, "likewise: where it is worked on"),
    M_MAYBE_OF("|results", "note", TEXT, "likewise: anything else"),
    M_MAYBE_OF(
        "|results", "near", ID,
        "only with `near`, of a record that was stored, with `results` or of the only one: the "
        "most similar document that was there already, or came earlier; absent where none is so "
        "similar"),
    M_MAYBE_OF("|results", "near_score", NUMBER, "likewise: its cosine, `near` to 1"),
    M_MAYBE(
        "near_duplicates", INTEGER,
        "only with `near`: documents that are so similar to one that was there already, or came "
        "earlier"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_delete[] = {
    M("collection", TEXT, "its name"),
    M("asked", INTEGER, "ids given"),
    M("deleted", INTEGER, "documents that were there"),
    M("absent", INTEGER, "ids without a document: exit code 1"),
    M_MAYBE("would_delete", INTEGER, "only with `dry-run`: documents that are there"),
    M_MAYBE("purged", TRUTH, "true; only with `purge`, as what follows"),
    M_MAYBE("rebuilt", INTEGER, "configurations; only with `purge`"),
    M_MAYBE("dropped", INTEGER, "builds; only with `purge`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_doc[] = {
    M("collection", TEXT, "its name"),
    M("id", ID, "the document"),
    M("text", TEXT, "as it is now"),
    M_MAYBE("time", SCALAR,
            "as the record has it: a number or a string; absent where there is none"),
    M_MAYBE("lang", TEXT, "likewise text; absent where there is none"),
    M_MAYBE("fields", MAP,
            "object: the other fields, each as its record has it; absent where there are none"),
    M("memberships", OBJECTS, "array: one item for each configuration"),
    M("memberships[].configuration", TEXT, "its name"),
    M("memberships[].build", INTEGER, "the build that was read"),
    M_MAYBE_NULL("memberships[].cluster", INTEGER,
                 "id of its cluster; null for a document without terms"),
    M_MAYBE("memberships[].label", TEXT,
            "of that cluster; where there is none `without terms`, or of a matrix `without a "
            "vector` or `with a vector that does not fit`, of word vectors `without known words`"),
    M_MAYBE("memberships[].score", NUMBER, "similarity to the centre of its cluster, 0 to 1"),
    M_MAYBE("memberships[].runner_up", INTEGER,
            "id of the second most similar cluster; absent where there is none"),
    M_MAYBE("memberships[].runner_up_label", TEXT, "its label; absent likewise"),
    M_MAYBE("memberships[].runner_up_score", NUMBER, "similarity to its centre; absent likewise"),
    M_MAYBE("memberships[].margin", NUMBER, "score less runner_up_score; absent likewise"),
    M_MAYBE("memberships[].state", OBJECT,
            "what somebody noted of the cluster; absent where nobody has"),
    M_MAYBE("memberships[].state.status", TEXT, "how far it is"),
    M_MAYBE("memberships[].state.owner", TEXT, "whose it is"),
    M_MAYBE("memberships[].state.link", TEXT, "where it is worked on"),
    M_MAYBE("memberships[].state.note", TEXT, "anything else"),
    M_MAYBE("memberships[].replaced", TRUTH,
            "true; only where the document was put anew since the build"),
    M_MAYBE("memberships[].cluster_before", INTEGER,
            "id of the cluster that the build has the older text in; likewise"),
    M_MAYBE("memberships[].provisional", TRUTH,
            "true; only where the document came or was put anew since the build: it is where it "
            "would be"),
    M_MAYBE("memberships[].candidate", TRUTH,
            "true; only where the cluster is a candidate, of documents that came since the build"),
    M_MAYBE("memberships[].language", TEXT,
            "name of the language that the build analyses the text in, as "
            "[analysis.md](analysis.md) has it, whether told or detected; absent where it is none"),
    M_MAYBE("memberships[].note", TEXT,
            "only with `provisional`: `put after the build` or `put anew since the build`; and "
            "where the build has no place for the document: why, such as `left out by the "
            "settings: filter type=praise`"),
    M_MAYBE("memberships[].why", OBJECT, "only with `why`: an object that explains the score"),
    M("memberships[].why.terms", OBJECTS,
      "array: the terms that the document shares with the centre, by falling part"),
    M("memberships[].why.terms[].term", TEXT, "as the documents write it most often"),
    M("memberships[].why.terms[].in_document", NUMBER, "its weight in the document"),
    M("memberships[].why.terms[].in_cluster", NUMBER, "its weight in the centre"),
    M("memberships[].why.terms[].part", NUMBER, "their product"),
    M("memberships[].why.rest", NUMBER, "the sum of the parts of all further terms"),
    M("memberships[].why.sum", NUMBER, "the sum of all parts and the rest: the score"),
    M_OF("columns", "family", TEXT, "only with `columns`: family of the cell"),
    M_OF("columns", "column", TEXT, "only with `columns`: its name"),
    M_MAYBE_OF("columns", "value", TEXT, "only with `columns`: its value as text"),
    M_MAYBE_OF("columns", "hex", TEXT,
               "only with `columns`, in place of `value`: the bytes of a vector, a dictionary or "
               "an index"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_search[] = {
    M("id", ID, "the document"),
    M("score", NUMBER, "BM25, above 0"),
    M_MAYBE("cluster", INTEGER,
            "id of its cluster in the configuration's served build; absent where it is in none"),
    M_MAYBE("label", TEXT,
            "of that cluster; `without terms` where the build has the document in none; absent "
            "where there is no build or it leaves the document out"),
    M_MAYBE("provisional", TRUTH,
            "true; only where the document came or was put anew since the build: it is where it "
            "would be"),
    M("snippet", TEXT,
      "some 120 characters of the text around the first thing that was found, on one line, with an "
      "ellipsis where it is cut"),
    M("found", TEXT, "that first thing, as the text has it: a word or a phrase"),
    M("total", INTEGER,
      "documents of the collection that the query finds, however many are shown, and before "
      "`where`, `since`, `until` and `cluster` choose among them"),
    M_MAYBE("time", SCALAR,
            "as the record has it: a number or a string; absent where there is none"),
    M_MAYBE("lang", TEXT, "likewise text; absent where there is none"),
    M_MAYBE("fields", MAP,
            "object: the other fields, each as its record has it; absent where there are none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_similar[] = {
    M("id", ID, "the document"),
    M("score", NUMBER, "the cosine, above 0 and at most 1"),
    M_MAYBE("cluster", INTEGER, "id of its cluster; absent where it is in none"),
    M("label", TEXT,
      "of that cluster; where there is none `without terms`, or of a matrix `without a vector` or "
      "`with a vector that does not fit`, of word vectors `without known words`"),
    M_MAYBE("provisional", TRUTH,
            "true; only where the document came or was put anew since the build: it is where it "
            "would be"),
    M("snippet", TEXT,
      "the text's beginning, some 120 characters on one line, with an ellipsis where it is cut"),
    M_MAYBE("time", SCALAR,
            "as the record has it: a number or a string; absent where there is none"),
    M_MAYBE("lang", TEXT, "likewise text; absent where there is none"),
    M_MAYBE("fields", MAP,
            "object: the other fields, each as its record has it; absent where there are none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_duplicates[] = {
    M("group", INTEGER, "its number, from 1 on: the largest group first"),
    M("size", INTEGER, "documents of the group, however many are shown"),
    M_MAYBE("representative", TRUTH,
            "true; only of the document that stands for its group: the earliest"),
    M("groups", INTEGER, "groups of the collection, however many are shown"),
    M("copies", INTEGER,
      "documents of all groups without the representatives: so many could be left out"),
    M("id", ID, "the document"),
    M("score", NUMBER, "its cosine with the representative, `min` to 1"),
    M_MAYBE("cluster", INTEGER, "id of its cluster; absent where it is in none"),
    M_MAYBE("label", TEXT, "of that cluster; absent where the build has no place for the document"),
    M_MAYBE("provisional", TRUTH,
            "true; only where the document came or was put anew since the build: it is where it "
            "would be"),
    M("snippet", TEXT,
      "the text's beginning, some 120 characters on one line, with an ellipsis where it is cut"),
    M_MAYBE("time", SCALAR,
            "as the record has it: a number or a string; absent where there is none"),
    M_MAYBE("lang", TEXT, "likewise text; absent where there is none"),
    M_MAYBE("fields", MAP,
            "object: the other fields, each as its record has it; absent where there are none"),
    GF_ROW_MEMBERS_END};

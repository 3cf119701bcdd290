/* Members of the rows of clusterings, in the order of docs/operations.md. */
#include "api/clusters/schema.h"

/* Marks that edits leave on a cluster (api/clusters/edits.c). */
#define M_STATE(prefix)                                                                            \
    M_MAYBE(prefix "status", TEXT, "of the cluster, as somebody set it; absent where nobody has"), \
        M_MAYBE(prefix "owner", TEXT, "likewise: whose it is"),                                    \
        M_MAYBE(prefix "link", TEXT, "likewise: where it is worked on"),                           \
        M_MAYBE(prefix "note", TEXT, "likewise: anything else")
#define M_MARKS                                                                                    \
    M_MAYBE("candidate", TRUTH,                                                                    \
            "true where it is a candidate: documents that came since the build and fit none of "   \
            "its clusters"),                                                                       \
        M_MAYBE("hidden", TRUTH, "true where it is left out of lists"),                            \
        M_MAYBE("locked", TRUTH, "true where its centre does not move"), M_STATE("")

const gf_row_member gf_schema_clusters[] = {
    M_MAYBE("collection", TEXT, "only with a pattern or `all`: its name"),
    M_MAYBE_NULL(
        "cluster", INTEGER,
        "id, which lasts across builds; with `tree` and `levels` only leaves have it; null with "
        "`pending` for a document without terms of the build, and with `by-field` for all "
        "documents and for those without terms"),
    M_MAYBE("label", TEXT,
            "text, unique in its build, the tree's groups included; the root has none"),
    M_MAYBE("size", INTEGER, "documents that are still there"),
    M_MARKS,
    M_MAYBE("share", NUMBER,
            "`size` by the documents of the build that are still there; absent where the cluster "
            "is a candidate"),
    M_MAYBE_WORD("clarity", "clear|fair|mixed", "only with `figures`: `clear`, `fair` or `mixed`"),
    M_MAYBE("mean_score", NUMBER, "likewise: mean similarity of the members to the centre"),
    M_MAYBE("mean_margin", NUMBER, "likewise: mean of how much less similar the next cluster is"),
    M_MAYBE("weak", NUMBER,
            "likewise: share of the members that fit the next cluster nearly as well"),
    M_MAYBE_NULL("label_recall", NUMBER,
                 "likewise: share of the members that the label finds; null where its words cannot "
                 "be counted"),
    M_MAYBE_NULL(
        "label_precision", NUMBER,
        "likewise: share of what the label finds that are members; null where that is nothing"),
    M_MAYBE_NULL("label_f1", NUMBER, "likewise: harmonic mean of the two"),
    M_MAYBE_NULL("npmi", NUMBER,
                 "likewise: of the ten heaviest terms, -1 to 1; null where there are not two"),
    M_MAYBE("own_terms", NUMBER,
            "likewise: share of these that no other cluster has among its ten"),
    M_MAYBE("nearest", INTEGER,
            "likewise: id of the cluster that is next best for most members; absent where there is "
            "none"),
    M_MAYBE("nearest_label", TEXT, "likewise: its label; absent likewise"),
    M_MAYBE("similarity", NUMBER, "likewise: of its centre; absent likewise"),
    M_MAYBE("terms", OBJECTS, "array: the 10 heaviest of its centre"),
    M("terms[].term", TEXT, "as the documents write it most often"),
    M("terms[].weight", NUMBER, "in the centre, a vector of length 1"),
    M_MAYBE("sentence", TEXT,
            "the most central sentence of its documents "
            "([algorithms.md](algorithms.md#the-sentence-of-a-cluster)); absent where none can be "
            "shown"),
    M_MAYBE("sentence_of", ID, "the document that it is of; absent likewise"),
    M_MAYBE("title", TEXT,
            "a name in a few words that a language model gave ([names](#names)); absent where none "
            "was asked, and where the label is pinned"),
    M_MAYBE("title_model", TEXT, "that model; absent likewise"),
    M_MAYBE("id", ID, "only with `pending`: the document"),
    M_MAYBE("score", NUMBER,
            "only with `pending`: similarity to the centre of its cluster, 0 to 1"),
    M_MAYBE(
        "runner_up", INTEGER,
        "only with `pending`: id of the second most similar cluster; absent where there is none"),
    M_MAYBE("runner_up_label", TEXT, "only with `pending`: its label; absent likewise"),
    M_MAYBE("runner_up_score", NUMBER,
            "only with `pending`: similarity to its centre; absent likewise"),
    M_MAYBE("margin", NUMBER, "only with `pending`: score less runner_up_score; absent likewise"),
    M_MAYBE("replaced", TRUTH,
            "only with `pending`: true where the build has another text of the document"),
    M_MAYBE("cluster_before", INTEGER,
            "only with `pending`: id of the cluster that the build has that text in; absent where "
            "it is in none"),
    M_MAYBE("provisional", TRUTH, "only with `pending`: true"),
    M_MAYBE("text", TEXT, "only with `pending`: of the document"),
    M_MAYBE_WORD("trend", "rising|falling|steady",
                 "with `by`: `rising` where `z` is 2 or more, `falling` where it is -2 or less, "
                 "else `steady`"),
    M_MAYBE("change", NUMBER,
            "with `by`: log of the ratio of the odds that a recent, and that an earlier document "
            "is the cluster's"),
    M_MAYBE("z", NUMBER,
            "with `by`: `change` in units of its standard error; both are 0 where no period is "
            "earlier"),
    M_MAYBE("recent", INTEGER, "with `by`: documents in the recent periods"),
    M_MAYBE("earlier", INTEGER, "with `by`: documents in the periods before those"),
    M_MAYBE("before", INTEGER,
            "with `by`: documents from before the first period; with "
            "`by-field` in the row of all"),
    M_MAYBE("undated", INTEGER, "with `by`: documents without a time; likewise"),
    M_MAYBE_WORD("unit", "hour|day|week|month|quarter|year",
                 "with `by`: `hour`, `day`, `week`, `month`, `quarter` or `year`"),
    M_MAYBE("recent_periods", INTEGER, "with `by`: how many of the last periods are recent"),
    M_MAYBE("from", TEXT, "with `by`: the first period; not there where no document has a time"),
    M_MAYBE("to", TEXT, "with `by`: the last period; likewise"),
    M_MAYBE("periods", OBJECTS, "with `by`: array, in the order of time"),
    M("periods[].period", TEXT,
      "`2026-11-20T13`, `2026-11-20`, `2026-W47`, `2026-11`, `2026-Q4` or `2026`"),
    M("periods[].documents", INTEGER, "of the cluster, in that period"),
    M_MAYBE("field", TEXT, "with `by-field`: the field"),
    M_MAYBE("total", TRUTH,
            "with `by-field`: true; only in the row of all documents, which comes first"),
    M_MAYBE("period", TEXT, "with `by-field` and `by`: the period that the row is of"),
    M_MAYBE("missing", INTEGER,
            "with `by-field`: documents without the field; of numbers also those with something "
            "else in it"),
    M_MAYBE("counts", MAP,
            "with `by-field`, of values: documents by value, the most frequent "
            "value first"),
    M_MAYBE("other", INTEGER, "likewise: documents with a value that is not in `counts`"),
    M_MAYBE("shares", MAP, "likewise: `counts` by the documents that have the field, 0 to 1"),
    M_MAYBE("z_of", MAP,
            "likewise: of each value the log of the ratio of its odds in the cluster and "
            "elsewhere, in units of its standard error"),
    M_MAYBE("more", TEXTS, "likewise: the values whose `z_of` is `clear` or more"),
    M_MAYBE("less", TEXTS, "likewise: those whose `z_of` is -`clear` or less"),
    M_MAYBE("distinct", INTEGER, "likewise, in the row of all: values that the field has"),
    M_MAYBE("numbers", OBJECT, "with `by-field`, of numbers: what follows"),
    M_NULL("numbers.mean", NUMBER, "the mean; null where there is no number, as what follows"),
    M_NULL("numbers.least", NUMBER, "the least"),
    M_NULL("numbers.lower", NUMBER, "the lower quartile"),
    M_NULL("numbers.median", NUMBER, "the median"),
    M_NULL("numbers.upper", NUMBER, "the upper quartile"),
    M_NULL("numbers.most", NUMBER, "the greatest"),
    M_MAYBE("numbers.above", NUMBER,
            "chance that a document of the cluster has more than one elsewhere, 0 to 1; not in the "
            "row of all, as what follows"),
    M_MAYBE("numbers.z", NUMBER, "of the rank sum test against all documents elsewhere"),
    M_MAYBE_WORD("numbers.difference", "higher|lower|same",
                 "`higher` where `z` is `clear` or more, `lower` where it is -`clear` or less"),
    M_MAYBE("clear", NUMBER,
            "with `by-field`: the least z, up or down, that counts, so that of all comparisons of "
            "the answer "
            "any does by chance in 5 of 100 cases at most"),
    M_MAYBE("node", INTEGER,
            "with `tree` and `levels`: its number in the order of the rows, from 1 on"),
    M_MAYBE("parent", INTEGER, "with `tree` and `levels`: its parent's number; the root has none"),
    M_MAYBE("depth", INTEGER, "with `tree` and `levels`: of the root 0"),
    M_MAYBE("clusters", INTEGER,
            "with `tree` and `levels`: how many lie below it, itself included"),
    M_MAYBE("height", NUMBER,
            "with `tree` and `levels`: 1 - the mean similarity of the two groups that were joined "
            "there; 0 for "
            "a cluster"),
    M_MAYBE("children", INTEGERS,
            "with `tree` and `levels`: array of numbers; those beyond `depth` have no rows"),
    M_MAYBE("levels", INTEGERS,
            "with `levels`: the levels that it is a group of, from 1 on; empty for the "
            "root, unless a level has one group"),
    M_MAYBE("parts", TEXTS,
            "with `levels`: labels of up to three of its clusters, each the largest of another "
            "part of it; empty for a cluster"),
    M_MAYBE("group", TEXT,
            "with `tree` and `levels`: id of the group, such as `g12`, which lasts across builds; "
            "absent for a cluster, and until the next rebuild for what an edit made"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_cluster[] = {
    M("build", INTEGER, "the build that was read"),
    M_MAYBE("cluster", INTEGER, "id, which lasts across builds; absent for a group"),
    M_MAYBE("group", TEXT,
            "instead, of a group of clusters: id such as `g12`, which lasts likewise; such a row "
            "has `clusters` and none of what tells of one cluster's terms, sentence and figures"),
    M_MAYBE("above", TEXT, "only of a group: the one that it is part of; absent for the topmost"),
    M("label", TEXT, "text, unique in its build"),
    M("size", INTEGER, "documents that are still there"),
    M_MARKS,
    M_MAYBE("share", NUMBER,
            "`size` by the documents of the build that are still there; absent where the cluster "
            "is a candidate"),
    M_MAYBE_WORD("clarity", "clear|fair|mixed", "only with `figures`: `clear`, `fair` or `mixed`"),
    M_MAYBE("mean_score", NUMBER, "likewise: mean similarity of the members to the centre"),
    M_MAYBE("mean_margin", NUMBER, "likewise: mean of how much less similar the next cluster is"),
    M_MAYBE("weak", NUMBER,
            "likewise: share of the members that fit the next cluster nearly as well"),
    M_MAYBE_NULL("label_recall", NUMBER,
                 "likewise: share of the members that the label finds; null where its words cannot "
                 "be counted"),
    M_MAYBE_NULL(
        "label_precision", NUMBER,
        "likewise: share of what the label finds that are members; null where that is nothing"),
    M_MAYBE_NULL("label_f1", NUMBER, "likewise: harmonic mean of the two"),
    M_MAYBE_NULL("npmi", NUMBER,
                 "likewise: of the ten heaviest terms, -1 to 1; null where there are not two"),
    M_MAYBE("own_terms", NUMBER,
            "likewise: share of these that no other cluster has among its ten"),
    M_MAYBE("nearest", INTEGER,
            "likewise: id of the cluster that is next best for most members; absent where there is "
            "none"),
    M_MAYBE("nearest_label", TEXT, "likewise: its label; absent likewise"),
    M_MAYBE("similarity", NUMBER, "likewise: of its centre; absent likewise"),
    M_MAYBE("clusters", OBJECTS,
            "only of a group, array: those in it, the largest first; behind them those without a "
            "subject"),
    M("clusters[].cluster", INTEGER, "its id"),
    M("clusters[].label", TEXT, "its label"),
    M("clusters[].size", INTEGER, "documents that are still there"),
    M_MAYBE("terms", OBJECTS, "array: the heaviest terms of its centre; absent for a group"),
    M("terms[].term", TEXT, "as the documents write it most often"),
    M("terms[].weight", NUMBER, "in the centre, a vector of length 1"),
    M_MAYBE("sentence", TEXT,
            "the most central sentence of its documents "
            "([algorithms.md](algorithms.md#the-sentence-of-a-cluster)); absent where none can be "
            "shown"),
    M_MAYBE("sentence_of", ID, "the document that it is of; absent likewise"),
    M_MAYBE("title", TEXT,
            "a name in a few words that a language model gave ([names](#names)); absent where none "
            "was asked, and where the label is pinned"),
    M_MAYBE("title_model", TEXT, "that model; absent likewise"),
    M("documents", OBJECTS,
      "array: the best documents that are different, best first; with `weakest` the worst, worst "
      "first"),
    M("documents[].id", ID, "the document"),
    M("documents[].score", NUMBER, "similarity to the centre, 0 to 1"),
    M_MAYBE("documents[].runner_up", INTEGER,
            "id of the second most similar cluster; absent where there is none"),
    M_MAYBE("documents[].runner_up_label", TEXT, "its label; absent likewise"),
    M_MAYBE("documents[].margin", NUMBER, "how much less similar that one is; absent likewise"),
    M_MAYBE("documents[].replaced", TRUTH,
            "true; only where the document was put anew since the build"),
    M_MAYBE("documents[].copies", INTEGER,
            "further documents of the cluster that are like it; absent where there is none"),
    M("documents[].text", TEXT, "as it is now"),
    M_MAYBE("documents[].time", SCALAR,
            "as the record has it: a number or a string; absent where there is none"),
    M_MAYBE("documents[].lang", TEXT, "likewise text; absent where there is none"),
    M_MAYBE("documents[].fields", MAP,
            "object: the other fields, each as its record has it; absent where there are none"),
    M_MAYBE(
        "cut", TRUTH,
        "true; only where the row would have been too long with all documents that were asked for"),
    M_OF("columns", "family", TEXT, "only with `columns`: family of the cell"),
    M_OF("columns", "column", TEXT, "only with `columns`: its name"),
    M_OF("columns", "value", TEXT, "only with `columns`: its value as text"),
    M_MAYBE_OF("columns", "hex", TEXT,
               "only with `columns`, in place of `value`: the bytes of a vector, a dictionary or "
               "an index"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_members[] = {
    M("build", INTEGER, "the build that was read"),
    M_MAYBE("cluster", INTEGER, "id, which lasts across builds; absent for a group"),
    M_MAYBE("group", TEXT, "instead, of a group of clusters: its id, such as `g12`"),
    M("label", TEXT, "text, unique in its build"),
    M("size", INTEGER, "documents that are still there"),
    M_MARKS,
    M("documents", OBJECTS, "array: the documents of the page, best first"),
    M("documents[].id", ID, "the document"),
    M("documents[].score", NUMBER, "similarity to the centre, 0 to 1"),
    M_MAYBE("documents[].runner_up", INTEGER,
            "id of the second most similar cluster; absent where there is none"),
    M_MAYBE("documents[].runner_up_label", TEXT, "its label; absent likewise"),
    M_MAYBE("documents[].margin", NUMBER, "how much less similar that one is; absent likewise"),
    M_MAYBE("documents[].replaced", TRUTH,
            "true; only where the document was put anew since the build"),
    M_MAYBE("documents[].copies", INTEGER,
            "only with `different`: further documents of the cluster that are like it; absent "
            "where there is none"),
    M("documents[].text", TEXT, "as it is now"),
    M_MAYBE("next", TEXT, "the cursor of the next page; absent where there is none"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_export[] = {
    M_OF("matrix", "collection", TEXT, "its name; only with `matrix`, a pattern or `all`"),
    M_OF("|geojson", "id", ID, "the document"),
    M_MAYBE_NULL(
        "x", NUMBER,
        "only with `map`: its place, around 0 with 1 as the mean square of distances; null "
        "for a document without terms"),
    M_MAYBE_NULL("y", NUMBER, "likewise"),
    M_MAYBE_NULL("cluster", INTEGER,
                 "id of its cluster; null for a document without terms; absent with `documents`"),
    M_MAYBE("label", TEXT, "of that cluster; `without terms` where there is none; absent likewise"),
    M_MAYBE("score", NUMBER, "similarity to the centre of its cluster, 0 to 1; absent likewise"),
    M_MAYBE("title", TEXT,
            "of its cluster, by a language model ([names](#names)); absent where it has none"),
    M_MAYBE("runner_up", INTEGER,
            "id of the second most similar cluster; absent where there is none"),
    M_MAYBE("runner_up_label", TEXT, "its label; absent likewise"),
    M_MAYBE("runner_up_score", NUMBER, "similarity to its centre; absent likewise"),
    M_MAYBE("margin", NUMBER, "score less runner_up_score; absent likewise"),
    M_MAYBE("replaced", TRUTH, "true; only where the document was put anew since the build"),
    M_MAYBE("cluster_before", INTEGER,
            "id of the cluster that the build has the older text in; likewise"),
    M_MAYBE("language", TEXT,
            "name of the language that the build analyses the text in, as "
            "[analysis.md](analysis.md) has it, whether told or detected; absent where it is none"),
    M_MAYBE("text", TEXT, "only with `with-text` and `documents`"),
    M_MAYBE("time", SCALAR,
            "as the record has it: a number or a string; absent where there is none"),
    M_MAYBE("lang", TEXT, "likewise text; absent where there is none"),
    M_MAYBE("fields", MAP,
            "object: the other fields, each as its record has it; absent where there are none, and "
            "with `documents`"),
    M_MAYBE_OF("documents", "*", ANY,
               "only with `documents`: all other fields of the record, each under its own name and "
               "as it was"),
    M_OF("matrix", "build", INTEGER,
         "the build that was read; only with `matrix`, as what follows"),
    M_OF("matrix", "rows", INTEGER, "documents of the build that are still there; only likewise"),
    M_OF("matrix", "columns", INTEGER, "terms; only likewise"),
    M_OF("matrix", "entries", INTEGER, "of the matrix that are not 0; only likewise"),
    M_OF("matrix", "clusters", INTEGER, "of the build; only likewise"),
    M_OF("matrix", "bytes", INTEGER, "of the file; only likewise"),
    {"type", GF_ROW_MEMBER_WORD, false, false, "only with `geojson`: `Feature`", "Feature",
     "geojson"},
    M_OF("geojson", "geometry", OBJECT, "only likewise: the place"),
    {"geometry.type", GF_ROW_MEMBER_WORD, false, false, "only likewise: `Point`", "Point",
     "geojson"},
    M_OF("geojson", "geometry.coordinates", NUMBERS, "only likewise: longitude, latitude"),
    M_OF("geojson", "properties", MAP,
         "only likewise: `cluster`, `label`, `score`, `runner_up` and the like, and `text` with "
         "`with-text`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_assign[] = {
    M("id", ID, "of the record; where it has none the hash of its content"),
    M_NULL("cluster", INTEGER,
           "id of its cluster; null for a text that has no term of the build, or a record without "
           "a row"),
    M("label", TEXT,
      "of that cluster; where there is none `without terms`, or of a matrix `without a vector` or "
      "`with a vector that does not fit`, of word vectors `without known words`"),
    M("score", NUMBER, "similarity to the centre of its cluster, 0 to 1"),
    M_MAYBE("runner_up", INTEGER,
            "id of the second most similar cluster; absent where there is none"),
    M_MAYBE("runner_up_label", TEXT, "its label; absent likewise"),
    M_MAYBE("runner_up_score", NUMBER, "similarity to its centre; absent likewise"),
    M_MAYBE("margin", NUMBER, "score less runner_up_score; absent likewise"),
    M_MAYBE("size", INTEGER, "documents that its cluster has; absent where it is in none"),
    M_STATE(""),
    M_MAYBE("text", TEXT, "only with `with-text`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_diff[] = {
    M_MAYBE("collection", TEXT, "only with a pattern or `all`: its name"),
    M_MAYBE_WORD("change", "continued|new|gone",
                 "`continued`: in both builds; `new`: in TO only; `gone`: in FROM only"),
    M_MAYBE("cluster", INTEGER, "id, which lasts across builds"),
    M_MAYBE("label", TEXT, "in TO; of one that is gone the last it had"),
    M_MAYBE("label_before", TEXT, "in FROM; absent where it is the same, and of new clusters"),
    M_MAYBE("size_before", INTEGER,
            "documents in FROM: `stayed`, `left` and `removed`; 0 where the cluster is new"),
    M_MAYBE("size", INTEGER, "documents in TO: `stayed`, `came` and `added`; 0 where it is gone"),
    M_MAYBE("stayed", INTEGER, "documents that are in it in both"),
    M_MAYBE("came", INTEGER, "documents that were in another cluster"),
    M_MAYBE("left", INTEGER, "documents that are in another cluster now"),
    M_MAYBE("added", INTEGER, "documents that FROM does not have"),
    M_MAYBE("removed", INTEGER, "documents that TO does not have, or that were deleted since"),
    M_MAYBE("candidate", INTEGER,
            "documents of the candidate that had this id in FROM; they count as `added`. Absent "
            "where there was none"),
    M_MAYBE("split", OBJECTS,
            "array: where its documents are in TO, most first; absent where it is not split. Of a "
            "candidate that is gone: where a quarter or more of its documents are"),
    M("split[].cluster", INTEGER, "id; only with `split`"),
    M("split[].label", TEXT, "in TO; only with `split`"),
    M("split[].documents", INTEGER, "that they share; only with `split`"),
    M_MAYBE("merged", OBJECTS,
            "array: where its documents were in FROM, likewise; absent where it is not merged"),
    M("merged[].cluster", INTEGER, "id; only with `merged`"),
    M("merged[].label", TEXT, "in FROM; only with `merged`"),
    M("merged[].documents", INTEGER, "that they share; only with `merged`"),
    M_MAYBE("id", ID, "only with `docs`: the document"),
    M_MAYBE_NULL("from", INTEGER,
                 "only with `docs`: id of its cluster in FROM; null for a document without terms"),
    M_MAYBE("from_label", TEXT, "only with `docs`: label of that; `without terms` for none"),
    M_MAYBE_NULL("to", INTEGER, "only with `docs`: id of its cluster in TO, likewise"),
    M_MAYBE("to_label", TEXT, "only with `docs`: label of that, likewise"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_evaluate[] = {
    M_MAYBE("collection", TEXT, "only with a pattern or `all`: its name"),
    M("documents", INTEGER,
      "that have both a class and a place in the build; without classes those in clusters"),
    M_MAYBE("classes", INTEGER, "only with classes: that occur"),
    M("clusters", INTEGER, "with classes those that hold any of them; else all"),
    M_MAYBE("clear", INTEGER, "without classes: clusters of that word"),
    M_MAYBE("fair", INTEGER, "likewise"),
    M_MAYBE("mixed", INTEGER, "likewise"),
    M_MAYBE_NULL("mean_score", NUMBER,
                 "likewise: mean similarity of a document to the centre of its cluster; this and "
                 "what follows null where there is no cluster"),
    M_MAYBE_NULL("mean_margin", NUMBER,
                 "likewise: mean of how much less similar the next cluster is"),
    M_MAYBE_NULL("weak", NUMBER,
                 "likewise: share of the documents that fit the next cluster nearly as well"),
    M_MAYBE_NULL("label_recall", NUMBER, "likewise: share of all members that their labels find"),
    M_MAYBE_NULL("label_precision", NUMBER,
                 "likewise: share of all that labels find that are members"),
    M_MAYBE_NULL("label_f1", NUMBER, "likewise: harmonic mean of the two"),
    M_MAYBE_NULL("npmi", NUMBER, "likewise: mean over the clusters, -1 to 1"),
    M_MAYBE_NULL("diversity", NUMBER, "likewise: share of different terms among the clusters' ten"),
    M_MAYBE_NULL("similarity", NUMBER,
                 "likewise: mean over the clusters, of the centre of the nearest"),
    M_MAYBE("repeated", INTEGER, "with `stability`: documents that were clustered again"),
    M_MAYBE_NULL("seeds_nmi", NUMBER,
                 "with `stability`: agreement of the build with clusterings from other seeds, mean "
                 "of three"),
    M_MAYBE_NULL("seeds_ari", NUMBER, "likewise"),
    M_MAYBE_NULL("halves_nmi", NUMBER,
                 "with `stability`: agreement with clusterings of either half, over its documents"),
    M_MAYBE_NULL("halves_ari", NUMBER, "likewise"),
    M_MAYBE("per_cluster", OBJECTS, "without classes: array, the largest first"),
    M("per_cluster[].cluster", INTEGER, "id"),
    M("per_cluster[].label", TEXT, "text"),
    M("per_cluster[].size", INTEGER, "documents that are still there"),
    M_WORD("per_cluster[].clarity", "clear|fair|mixed",
           "of the cluster: `clear`, `fair` or `mixed`"),
    M("per_cluster[].mean_score", NUMBER, "mean similarity of the members to the centre"),
    M("per_cluster[].mean_margin", NUMBER, "mean of how much less similar the next cluster is"),
    M("per_cluster[].weak", NUMBER,
      "share of the members that fit the next cluster nearly as well"),
    M_NULL("per_cluster[].label_recall", NUMBER,
           "share of the members that the label finds; null where its words cannot be counted"),
    M_NULL("per_cluster[].label_precision", NUMBER,
           "share of what the label finds that are members; null where that is nothing"),
    M_NULL("per_cluster[].label_f1", NUMBER, "harmonic mean of the two"),
    M_NULL("per_cluster[].npmi", NUMBER,
           "of the ten heaviest terms, -1 to 1; null where there are not two"),
    M("per_cluster[].own_terms", NUMBER, "share of these that no other cluster has among its ten"),
    M_MAYBE("per_cluster[].nearest", INTEGER,
            "id of the cluster that is next best for most members; absent where there is none"),
    M_MAYBE("per_cluster[].nearest_label", TEXT, "its label; absent likewise"),
    M_MAYBE("per_cluster[].similarity", NUMBER, "of its centre; absent likewise"),
    M_MAYBE_NULL("per_cluster[].stability_seeds", NUMBER,
                 "with `stability`: its best Jaccard with a cluster of another seed, mean of three "
                 "runs; null where no run had a document of it"),
    M_MAYBE_NULL("per_cluster[].stability_halves", NUMBER, "the same of the two halves"),
    M_MAYBE("nmi", NUMBER, "with classes: normalised mutual information, 0 to 1"),
    M_MAYBE("ari", NUMBER, "likewise: adjusted Rand index, at most 1"),
    M_MAYBE("purity", NUMBER,
            "likewise: share of documents that are of their cluster's commonest class"),
    M_MAYBE("homogeneity", NUMBER, "likewise: 0 to 1: clusters hold one class"),
    M_MAYBE("completeness", NUMBER, "likewise: 0 to 1: classes lie in one cluster"),
    M_MAYBE("v_measure", NUMBER, "likewise: harmonic mean of the two"),
    M_MAYBE("per_class", OBJECTS, "with classes: array, by name"),
    M("per_class[].class", TEXT, "its name"),
    M("per_class[].size", INTEGER, "documents"),
    M("per_class[].cluster", INTEGER,
      "id of the cluster that holds most of it; 0: the documents without terms"),
    M("per_class[].label", TEXT, "of that cluster"),
    M("per_class[].recall", NUMBER, "share of the class that is in it"),
    M("per_class[].precision", NUMBER, "share of it that is of the class"),
    M("per_class[].f1", NUMBER, "harmonic mean of the two"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_terms[] = {
    M("term", TEXT, "as it is counted: a stem, or several with a space between; unique"),
    M("surface", TEXT, "as the documents write it most often"),
    M("documents", INTEGER, "of the build that have it"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_names[] = {
    M("cluster", INTEGER, "id, which lasts across builds"),
    M("label", TEXT, "which stays as it is"),
    M_WORD("outcome", "named|kept|pinned|refused|failed|left|shown",
           "`named`; `kept`: its title came of the same prompt; `pinned`: its label is a person's; "
           "`refused`: the answers were no titles; `failed`: no answer came, or the cluster was "
           "edited meanwhile; `left`: the calls had run out; `shown` with `show-prompt`"),
    M_MAYBE("title", TEXT, "that it has now; absent where it has none"),
    M_MAYBE("why", TEXT, "of `refused` and `failed`: what is wrong; absent else"),
    M("calls", INTEGER, "that it took"),
    M_MAYBE("prompt", MAP, "only with `show-prompt`: what would be sent"),
    GF_ROW_MEMBERS_END};

#define M_EDIT                                                                                     \
    M("edit", INTEGER, "its number in the configuration"),                                         \
        M_WORD("kind",                                                                             \
               "rename|hide|show|lock|unlock|set|merge|split|move|keep|topic add|topic delete",    \
               "`rename`, `hide`, `show`, `lock`, `unlock`, `set`, `merge`, `split`, `move`, "     \
               "`keep`, `topic add` or `topic delete`"),                                           \
        M_MAYBE("cluster", INTEGER,                                                                \
                "id of the cluster that it is of; of `merge` the one that stays, of `move` the "   \
                "one that the document went into; absent of a topic that no build has had"),       \
        M_MAYBE("others", INTEGERS,                                                                \
                "only of `merge` and `split`: ids of the clusters that ended, or that are new"),   \
        M_MAYBE("document", TEXT, "only of `move` and `keep`: its id"),                            \
        M_MAYBE("label", TEXT,                                                                     \
                "only of `rename`: what the cluster is called; absent where it has its own label " \
                "again"),                                                                          \
        M_MAYBE("topic", TEXT, "only of `topic add` and `topic delete`: its name"),                \
        M_MAYBE("words", TEXT, "only of `topic add`: words that describe it"),                     \
        M_MAYBE("field", TEXT, "likewise: the field whose value it is"),                           \
        M_MAYBE("like", INTEGER, "likewise: documents that were given as its examples"),           \
        M_MAYBE("status", TEXT, "only of `set`: as it is from then on; absent where it is none"),  \
        M_MAYBE("owner", TEXT, "likewise"), M_MAYBE("link", TEXT, "likewise"),                     \
        M_MAYBE("note", TEXT, "likewise"),                                                         \
        M_MAYBE("by", TEXT, "who did it; absent where nobody said"),                               \
        M_MAYBE("reason", TEXT, "why; absent likewise"), M("time", TIME, "when"),                  \
        M_MAYBE("build", INTEGER, "the build that it was made on; absent where there was none"),   \
        M("holds", TRUTH, "whether the last rebuild could keep it"),                               \
        M_MAYBE("lost", TEXT, "why it could not; absent where it holds")

const gf_row_member gf_schema_edit[] = {M_EDIT, GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_topic_edit[] = {M_EDIT, GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_topics[] = {
    M("topic", TEXT, "its name"),
    M_MAYBE("cluster", INTEGER, "id of its cluster; absent where no build has had it yet"),
    M("documents", INTEGER, "of the served build that are in it"),
    M_MAYBE("threshold", NUMBER,
            "similarity of the least similar of these to its centre, 0 to 1; absent without any"),
    M_MAYBE("words", TEXT, "that describe it"),
    M_MAYBE("like", INTEGER, "documents that were given as its examples"),
    M_MAYBE("field", TEXT, "documents that have its name in this field are examples, too"),
    M("owed", TRUTH, "whether the served build was made without it: a rebuild is owed"),
    M_MAYBE("lost", TEXT, "why the last rebuild could not make its cluster; absent where it did"),
    M("edit", INTEGER, "number of the edit that added it"),
    M_MAYBE("by", TEXT, "who added it; absent where nobody said"),
    M_MAYBE("reason", TEXT, "why; absent likewise"),
    M("time", TIME, "when"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_undo[] = {
    M_EDIT, M("waits", TRUTH, "whether that takes effect with the next rebuild alone"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_new[] = {
    M_MAYBE("collection", TEXT, "only with a pattern or `all`: its name"),
    M_MAYBE("cluster", INTEGER,
            "its id, of the clusters' sequence; absent until a look gives it one ([watch "
            "run](#watch-run))"),
    M("label", TEXT, "one or two of its new terms"),
    M("size", INTEGER, "documents"),
    M("p", NUMBER,
      "chance that documents that came at random have such a term, all that were looked at "
      "counted"),
    M_MAYBE("first", TIME, "of the documents' times; absent where none has one"),
    M_MAYBE("last", TIME, "likewise"),
    M_MAYBE("nearest", INTEGER,
            "id of the cluster that most of them are nearest to; absent where they are near none"),
    M_MAYBE("nearest_label", TEXT, "its label; absent likewise"),
    M("similarity", NUMBER,
      "mean of that to the nearest centre, words that the build does not know counted"),
    M("terms", OBJECTS, "array: the 10 heaviest of its centre"),
    M("terms[].term", TEXT, "as the documents write it most often"),
    M("terms[].weight", NUMBER, "in the centre, a vector of length 1"),
    M("documents", OBJECTS, "array: the five most central ones, best first"),
    M("documents[].id", ID, "the document"),
    M("documents[].score", NUMBER, "similarity to the centre of the group, 0 to 1"),
    M("documents[].text", TEXT, "as it is now"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_watch[] = {
    M("watch", INTEGER, "its number in the configuration"),
    M("when", TEXT, "what is told"),
    M("way", TEXT, "`post`, `exec` or `mail`"),
    M("target", TEXT, "the address without what may be a key, the command, or the path"),
    M("signed", TRUTH, "whether what is posted is signed"),
    M("since", TIME, "when it was added"),
    M_MAYBE("away", TRUTH, "true where it was added to another store, of which this is a copy"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_watch_run[] = {
    M("candidates", INTEGER, "groups of new documents that have an id"),
    M("told", INTEGER, "alerts that were made"),
    M("delivered", INTEGER, "alerts that arrived, of these or earlier ones"),
    M("waiting", INTEGER, "alerts that did not arrive, and are tried again"),
    M("failed", INTEGER, "alerts that are tried no more, after three days"),
    M_MAYBE("build", INTEGER,
            "the build that was looked at; absent while the configuration is being rebuilt"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_alert[] = {
    M("alert", INTEGER, "its number in the configuration"),
    M("watch", INTEGER, "the number of the rule"),
    M("time", TIME, "when it was told"),
    M("when", TEXT, "the rule, as it was then"),
    M("kind", TEXT, "`new`: a group of new documents; `rising`: a cluster whose share rises"),
    M("cluster", INTEGER, "id of the cluster, or of the group"),
    M("label", TEXT, "its label"),
    M("size", INTEGER, "its documents, then"),
    M("p", NUMBER, "chance of it where documents come at random, all that was looked at counted"),
    M_MAYBE("terms", TEXTS, "of a group: its heaviest terms"),
    M_MAYBE("z", NUMBER, "of a cluster: how clearly it rises, as `clusters` tells with `by`"),
    M_MAYBE("period", TEXT, "of a cluster: the last one"),
    M_MAYBE("nearest", INTEGER, "of a group: the cluster that most of it is nearest to"),
    M_MAYBE("nearest_label", TEXT, "likewise: its label"),
    M("build", INTEGER, "the build that was served"),
    M("way", TEXT, "`post`, `exec` or `mail`"),
    M("state", TEXT,
      "`waiting`, `delivered`, `failed` (after three days), `dropped` (its rule was deleted)"),
    M("tries", INTEGER, "how often it was tried"),
    M_MAYBE("tried", TIME, "the last time"),
    M_MAYBE("next", TIME, "when it is tried again"),
    M_MAYBE("problem", TEXT, "what was wrong the last time"),
    GF_ROW_MEMBERS_END};

/* Members of the rows of builds, in the order of docs/operations.md. */
#include "api/builds/schema.h"

const gf_row_member gf_schema_rebuild[] = {
    M("collection", TEXT, "its name"),
    M("configuration", TEXT, "the configuration"),
    M_MAYBE_WORD("outcome", "rebuilt|unmodified|kept|would be rebuilt|failed",
                 "absent with `explain-k`; `rebuilt`, `unmodified` (nothing has changed since the "
                 "build that is served), `kept` (it is of a matrix, and no document brought a row "
                 "since), `would be rebuilt` (only with `dry-run`) or `failed` (only with `all`)"),
    M_MAYBE("error", TEXT, "only where the outcome is `failed`: why"),
    M_MAYBE("build", INTEGER,
            "timestamp that names the build: milliseconds since 1970; absent, as all that follow, "
            "where there is no build"),
    M_MAYBE("time", TIME, "the same in ISO 8601"),
    M_MAYBE("served", TRUTH, "whether reads get this build"),
    M_MAYBE("documents", INTEGER, "documents of the collection when the build began"),
    M_MAYBE("without_terms", INTEGER,
            "of these without any word (of a matrix: without a row; of word vectors: without a "
            "known word): in no cluster"),
    M_MAYBE("unplaced", INTEGER,
            "of these that no topic took, with `topics=only`: in no cluster; absent where there is "
            "none"),
    M_MAYBE("distinct", INTEGER,
            "of these different from all others; with near_duplicates=once those that count"),
    M_MAYBE("terms", INTEGER, "different terms that count; of a matrix its columns"),
    M_MAYBE("k", INTEGER, "clusters; with `explain-k` a number that was tried"),
    M_MAYBE("objective", NUMBER,
            "mean similarity of a document to the centre of its cluster, 0 to 1"),
    M_MAYBE("seconds", NUMBER, "that building took"),
    M_MAYBE("separation", NUMBER,
            "only with `explain-k`: how well so many clusters are separated, -1 to 1; of `k` 1 "
            "what more clusters must exceed"),
    M_MAYBE("worth", NUMBER,
            "only with `explain-k`: the separation, weighed a little against many clusters: what "
            "is compared"),
    M_MAYBE("plateau", TRUTH,
            "only with `explain-k`: whether the number is one of those about as good as the best, "
            "of which one is chosen"),
    M_MAYBE("chosen", TRUTH, "only with `explain-k`: whether `k=auto` chooses this number"),
    M_MAYBE("why", TEXT,
            "only with `explain-k`, of the number that is chosen: the reason in words"),
    M_MAYBE("memory", INTEGER,
            "only with `dry-run`, where it would be rebuilt, as all that follow up to "
            "`memory_index`: bytes that are held at most ([algorithms.md](algorithms.md#memory))"),
    M_MAYBE("least_memory", INTEGER, "only with `dry-run`: the least that `memory` may be"),
    M_MAYBE("expected_documents", INTEGER,
            "only with `dry-run`: documents that the configuration is about"),
    M_MAYBE("expected_text", INTEGER, "only with `dry-run`: bytes of their texts"),
    M_MAYBE("expected_entries", INTEGER, "only with `dry-run`: terms of all rows"),
    M_MAYBE("expected_terms", INTEGER, "only with `dry-run`: different terms that count"),
    M_MAYBE(
        "expected_words", INTEGER,
        "only with `dry-run`: different terms, with those that `min_df` and `max_df` leave out"),
    M_MAYBE("expected_k", INTEGER,
            "only with `dry-run`: clusters: what `k` is, else as many as are served, else 100"),
    M_MAYBE("memory_program", INTEGER, "only with `dry-run`: bytes of the program itself"),
    M_MAYBE("memory_reading", INTEGER,
            "only with `dry-run`: of texts at hand, words, counted documents"),
    M_MAYBE("memory_rows", INTEGER, "only with `dry-run`: of the texts' matrix"),
    M_MAYBE("memory_ids", INTEGER, "only with `dry-run`: of ids and vocabulary"),
    M_MAYBE("memory_points", INTEGER,
            "only with `dry-run`: of the rows that differ; of given rows the copy of unit length"),
    M_MAYBE("memory_labels", INTEGER, "only with `dry-run`: of labels, bounds and scores"),
    M_MAYBE("memory_centres", INTEGER, "only with `dry-run`: of the centres, their index and sums"),
    M_MAYBE("memory_naming", INTEGER,
            "only with `dry-run`: of the texts that labels are chosen from, and the tree"),
    M_MAYBE("memory_writing", INTEGER, "only with `dry-run`: of changes on their way to disk"),
    M_MAYBE("memory_index", INTEGER, "only with `dry-run`: of the indexes for search"),
    M_MAYBE(
        "memory_rank", INTEGER,
        "only with `dry-run` and `ranks` or `hosts`, as all that follow up to `network_pass`: "
        "bytes "
        "that each rank holds at most ([scale.md](scale.md#ranks)); `memory` is then that of the "
        "process of the store"),
    M_MAYBE("memory_first_rank", INTEGER,
            "only with `dry-run` and `ranks`: the same of the first rank, which clusters a sample"),
    M_MAYBE("network_rows", INTEGER,
            "only with `dry-run` and `ranks`: bytes of texts, rows, words, labels and scores that "
            "go to the "
            "ranks and come back"),
    M_MAYBE("network_first_pass", INTEGER,
            "only with `dry-run` and `ranks`: bytes that a rank sends in the first pass"),
    M_MAYBE("network_pass", INTEGER,
            "only with `dry-run` and `ranks`: the same in a pass in which a tenth of the documents "
            "change cluster"),
    M_MAYBE_WORD("matrix", "sparse|dense|words",
                 "`sparse` or `dense`: only where the rows were a matrix's; `words`: where they "
                 "were means of word vectors"),
    M_MAYBE("unknown", INTEGER, "rows that no document has the id of; only with `matrix`"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_builds[] = {
    M_MAYBE("collection", TEXT, "only with a pattern or `all`: its name"),
    M("build", INTEGER, "timestamp that names the build: milliseconds since 1970"),
    M("time", TIME, "the same in ISO 8601"),
    M("served", TRUTH, "whether reads get this build"),
    M("pinned", TRUTH, "whether it is kept whatever comes after it"),
    M("documents", INTEGER, "documents of the collection when the build began"),
    M("without_terms", INTEGER,
      "of these without any word (of a matrix: without a row): in no cluster"),
    M_MAYBE("unplaced", INTEGER,
            "of these that no topic took, with `topics=only`: in no cluster; absent where there is "
            "none"),
    M("distinct", INTEGER,
      "of these different from all others; with near_duplicates=once those that count"),
    M("terms", INTEGER, "different terms that count; of a matrix its columns"),
    M("k", INTEGER, "clusters"),
    M("objective", NUMBER, "mean similarity of a document to the centre of its cluster, 0 to 1"),
    M("seconds", NUMBER, "that building took"),
    M("settings", MAP,
      "object: the keys that differ from their default, each with its value as text"),
    M("versions", TEXT, "of the program and the libraries that made it"),
    M_MAYBE_WORD("matrix", "sparse|dense|words",
                 "`sparse` or `dense`: only where the rows were a matrix's; `words`: where they "
                 "were means of word vectors"),
    M_MAYBE("edits", INTEGER, "changes that edits have made to it in its place; only where any"),
    GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_publish[] = {M("collection", TEXT, "its name"),
                                           M("configuration", TEXT, "the configuration"),
                                           M("build", INTEGER, "timestamp that names the build"),
                                           M("served", TRUTH, "true"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_pin[] = {M("collection", TEXT, "its name"),
                                       M("configuration", TEXT, "the configuration"),
                                       M("build", INTEGER, "timestamp that names the build"),
                                       M("pinned", TRUTH, "true"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_unpin[] = {M("collection", TEXT, "its name"),
                                         M("configuration", TEXT, "the configuration"),
                                         M("build", INTEGER, "timestamp that names the build"),
                                         M("pinned", TRUTH, "false"), GF_ROW_MEMBERS_END};

const gf_row_member gf_schema_label[] = {
    M("collection", TEXT, "its name"),
    M("configuration", TEXT, "the configuration"),
    M("cluster", INTEGER, "id"),
    M_MAYBE("label", TEXT, "what it is called; absent with `unpin`"),
    M("pinned", TRUTH, "whether a label is pinned now"),
    GF_ROW_MEMBERS_END};

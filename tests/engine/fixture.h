/**
 * What the tests of engine/ share: a store over LevelDB in a folder of its own, documents that go
 * in, builds that come out, and what must hold of any of them.
 *
 * Everything is in the namespace "test". A failure ends the test at hand.
 */
#ifndef GF_TESTS_ENGINE_FIXTURE_H
#define GF_TESTS_ENGINE_FIXTURE_H

#include "tests/support/test.h"

#include "grouperfish.h"

typedef struct fixture {
    const char *path;
    gf_store *store;
} fixture;

/** A new store; open the same one again; close it. */
void fixture_open(fixture *f);
void fixture_reopen(fixture *f);
void fixture_close(fixture *f);

gf_place fixture_place(const char *collection);

/** The configuration "default". */
gf_slice fixture_default(void);

/* ---- documents ------------------------------------------------------------------------------- */

/** Put one document, or delete one, and sync it; the first failure's status. */
gf_status fixture_try_put(gf_store *store, const char *collection, const gf_document *document,
                          gf_error *err);
gf_status fixture_try_delete(gf_store *store, const char *collection, const char *id,
                             gf_error *err);

void fixture_put(fixture *f, const char *collection, const char *id, const char *text);

/** The same into "c", with a time and one more field, both as JSON. */
void fixture_put_field(fixture *f, const char *field, const char *id, const char *text,
                       const char *time, const char *value);
void fixture_delete(fixture *f, const char *collection, const char *id);

/** Put texts as the documents 000, 001, ...; they are all synced together. */
void fixture_put_texts(fixture *f, const char *collection, const char *const *texts, size_t n);

/** Twelve texts of three subjects that share no word: 000 to 003, 004 to 007, 008 to 011. */
void fixture_put_subjects(fixture *f, const char *collection);

/** A store of these in "c", in three clusters; which is which is told by 000, 004 and 008. */
void fixture_open_subjects(fixture *f);

/** The first n records of JSON Lines with id, text, label (kept as a field) and perhaps time. */
void fixture_put_records(fixture *f, const char *collection, gf_slice lines, size_t n);

/** 300 posts of five groups (tests/engine/data/posts.jsonl), n of them with their "label". */
enum { FIXTURE_POSTS = 300 };
void fixture_put_posts(fixture *f, const char *collection, size_t n);

/* ---- collections ----------------------------------------------------------------------------- */

typedef struct fixture_collection {
    uint64_t size, seq;
    int64_t modified, served; /* served: of "default" */
} fixture_collection;

fixture_collection fixture_read(fixture *f, const char *collection);

/** Set one key of a configuration. */
void fixture_set(fixture *f, const char *collection, const char *configuration, const char *key,
                 const char *value);

/** What a setting is, and where that comes from; begin with {.key = ...} to visit by the second. */
typedef struct fixture_setting {
    const char *key;
    char value[128];
    gf_origin origin;
    size_t n; /* settings that were visited */
} fixture_setting;

fixture_setting fixture_look(fixture *f, const char *key); /* of "default" of the collection "c" */
gf_status fixture_note_setting(void *context, const gf_setting *setting, gf_slice value,
                               gf_origin origin, gf_error *err);

/* ---- builds ---------------------------------------------------------------------------------- */

/** Force a rebuild of "default" by one thread. */
gf_build_info fixture_rebuild(fixture *f, const char *collection);

/** Rebuild "default". */
gf_status fixture_try_rebuild(fixture *f, const char *collection, const gf_rebuild_options *o,
                              gf_rebuild_result *result, gf_error *err);

/** The same by one thread, which succeeds: what came of it. */
gf_rebuild_outcome fixture_outcome(fixture *f, const char *collection, bool force, bool dry_run);

/** The builds of a configuration that are kept, newest first: how many; at most 64. */
size_t fixture_builds(fixture *f, const char *collection, const char *configuration,
                      int64_t builds[64]);

/**
 * What is wrong with a view, in words that are ours; NULL where it is one whole build: its
 * clusters' sizes and the documents without terms add up to its memberships, each of which names a
 * cluster that is there, and members are ranked. Needs no cmocka, so any thread may call it.
 */
const char *fixture_fault_of(gf_view *view, uint64_t *memberships);

/** Open the served build, check it as above, and that it has n documents; return its time. */
int64_t fixture_check_served(fixture *f, const char *collection, uint64_t n);

/** Append all rows of a build but what differs from run to run: its time, how long it took. */
void fixture_dump_build(fixture *f, const char *collection, const char *configuration,
                        int64_t build, gf_buffer *out);

/** Append all rows of all tables. */
void fixture_dump(fixture *f, gf_buffer *out);

/** The same without the cells of a column. */
void fixture_dump_but(fixture *f, gf_slice column, gf_buffer *out);

/** The dump of all tables is what it was before; `when` is told where it is not. */
void fixture_same_dump(fixture *f, const gf_buffer *before, const char *when);

/** How many entries there are, in all families of all tables, below that build. */
uint64_t fixture_count_build(fixture *f, const char *collection, const char *configuration,
                             int64_t build);

/* ---- tables of users ------------------------------------------------------------------------- */

/** A schema: a text for a key, columns of several types, and a wide family of decimals. */
extern const char fixture_people[];
enum { FIXTURE_INFO, FIXTURE_LIST }; /* its families */

/** A new table, open. */
gf_user_table *fixture_make_table(fixture *f, const char *name, const char *schema);

/** Write a cell from its text; the row's key is one text. */
void fixture_put_cell(gf_user_table *t, const char *row, unsigned family, const char *column,
                      const char *text);

/** Append a row's cells, or all that a walk gives, as text. */
void fixture_print_cells(gf_user_table *t, const gf_row *row, gf_buffer *out);
void fixture_print_rows(gf_user_table *t, const gf_rows_options *o, gf_buffer *out);

/* ---- searches -------------------------------------------------------------------------------- */

enum { FIXTURE_HITS = 4096 };

typedef struct fixture_hits {
    char id[FIXTURE_HITS][40]; /* n */
    double score[FIXTURE_HITS];
    uint32_t cluster[FIXTURE_HITS];
    bool provisional[FIXTURE_HITS];
    char found[FIXTURE_HITS][40];
    uint64_t total[FIXTURE_HITS];
    size_t n;
} fixture_hits;

/** What the last search found. */
extern fixture_hits fixture_found;

/** Search the collection "c"; without options for all that there is. */
gf_status fixture_try_search(fixture *f, const char *query, const gf_search_options *o,
                             gf_error *err);
void fixture_search(fixture *f, const char *query, const gf_search_options *o);

/** The ids that were found, with spaces between. */
const char *fixture_found_ids(void);

/* ---- soundness ------------------------------------------------------------------------------- */

/** Close the store, verify it and open it again: the number of faults, and the first one. */
uint64_t fixture_verify(fixture *f, char first[512], gf_verified *verified);

/** The same; the test fails where there is any. */
void fixture_is_sound(fixture *f);

#endif

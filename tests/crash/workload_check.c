/* The content that a store must have after its process was ended. */
#include "grouperfish.h"
#include "grouperfish/buffer.h"
#include "tests/crash/workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[CRASH_COLLECTIONS] = {"feedback", "news", "papers"};

enum { MOST_CLUSTERS = 256, MOST_ENDED = 512 };

typedef struct check {
    crash_journal *journal; /* what must be there */
    crash_journal *found;   /* version, served, exists and edits: what is there */
    uint32_t clusters[MOST_CLUSTERS],
        ended[MOST_ENDED]; /* n_clusters; n_ended: by merges of this build */
    size_t n_clusters, n_ended;
    int collection; /* the one being read */
    uint64_t documents, members, in_clusters, of_clusters;
    bool good;
} check;

static void wrong(check *c, const char *what, const char *detail)
{
    fprintf(stderr, "collection %s: %s%s\n", names[c->collection], what, detail);
    c->good = false;
}

static gf_place place(const check *c)
{
    return (gf_place){GF_SLICE("default"), gf_slice_str(names[c->collection])};
}

/* ---- files and tables ------------------------------------------------------------------------ */

static gf_status print_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)err;
    fprintf(stderr, "verify: %s: %s\n", where, what);
    return GF_OK;
}

static bool verify(const char *store)
{
    gf_error err;
    gf_verified verified;
    gf_status st =
        gf_verify(store, &GF_STORE_OPTIONS(.create = false), print_fault, NULL, &verified, &err);
    if (st != GF_OK) fprintf(stderr, "verify: %s\n", err.message);
    return st == GF_OK && verified.faults == 0;
}

/* ---- documents ------------------------------------------------------------------------------- */

static uint32_t version_of(const gf_document *d)
{
    for (size_t i = 0; i < d->n_fields; i++)
        if (gf_slice_equal(d->fields[i].name, GF_SLICE("version"))) {
            char number[16] = "";
            gf_slice json = d->fields[i].json;
            if (json.len >= sizeof number) return 0;
            memcpy(number, json.ptr, json.len);
            return (uint32_t)strtoul(number, NULL, 10);
        }
    return 0;
}

static gf_status visit_document(void *context, const gf_document *d, gf_error *err)
{
    (void)err;
    check *c = context;
    char id[32] = "", text[24];
    int i = -1;
    if (d->id.len < sizeof id) memcpy(id, d->id.ptr, d->id.len);
    if (sscanf(id, "document-%d", &i) != 1 || i < 0 || i >= CRASH_DOCUMENTS) {
        wrong(c, "a document that was never put: ", id);
        return GF_OK;
    }
    uint32_t version = version_of(d);
    int n = snprintf(text, sizeof text, "put%" PRIu32 " ", version);
    if (version == 0 || !gf_slice_starts(d->text, gf_slice_of(text, (size_t)n)))
        wrong(c, "a document whose text and fields are of different puts: ", id);
    c->found->version[c->collection][i] = version;
    c->documents++;
    return GF_OK;
}

static gf_status visit_info(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)err;
    check *c = context;
    if (info->size != c->documents) wrong(c, "the size is not the number of documents", "");
    for (size_t i = 0; i < info->n_configurations; i++)
        c->found->served[c->collection] = info->configurations[i].rebuilt;
    return GF_OK;
}

/* ---- the served build ------------------------------------------------------------------------ */

static gf_status visit_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    check *c = context;
    c->of_clusters += info->size;
    if (c->n_clusters < MOST_CLUSTERS) c->clusters[c->n_clusters++] = info->id;
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, info->id);
    if (info->label.len == 0) wrong(c, "a label is missing in cluster ", number);
    if (info->n_terms == 0) wrong(c, "terms are missing in cluster ", number);
    return GF_OK;
}

static gf_status visit_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)id, (void)err;
    check *c = context;
    c->members++;
    if (m->cluster) c->in_clusters++;
    if (m->cluster && m->label.len == 0) wrong(c, "a document's cluster has no label", "");
    return GF_OK;
}

static void check_build(check *c, gf_store *store)
{
    gf_error err;
    gf_view *view;
    gf_status st = gf_view_open(store, place(c), GF_SLICE("default"), 0, &view, &err);
    if (st != GF_OK) {
        wrong(c, "the served build: ", err.message);
        return;
    }
    c->members = c->in_clusters = c->of_clusters = 0;
    st = gf_view_clusters(view, visit_cluster, c, &err);
    if (st == GF_OK) st = gf_view_memberships(view, visit_member, c, &err);
    if (st != GF_OK) wrong(c, "the served build: ", err.message);
    if (c->in_clusters != c->of_clusters)
        wrong(c, "clusters' sizes are not their number of documents", "");
    if (c->members > gf_view_build(view)->documents)
        wrong(c, "the served build has more documents than it was made of", "");
    gf_view_close(view);
}

/* ---- edits ----------------------------------------------------------------------------------- */

static gf_status visit_edit(void *context, const gf_edit *e, gf_error *err)
{
    (void)err;
    check *c = context;
    bool merges =
        e->kind == GF_EDIT_MERGE && e->lost.len == 0 && e->build == c->found->served[c->collection];
    c->found->edits[c->collection]++;
    for (size_t i = 0; merges && i < e->n_others && c->n_ended < MOST_ENDED; i++)
        c->ended[c->n_ended++] = e->others[i];
    return GF_OK;
}

/* What a merge ended is not there, unless an undo was cut short that had taken the merge out for a while. */
static void check_edits(check *c, gf_store *store)
{
    gf_error err;
    const crash_journal *j = c->journal;
    bool undoing = j->pending.kind == CRASH_UNDO && j->pending.collection == c->collection;
    c->n_ended = 0;
    gf_status st = gf_edits_visit(store, place(c), GF_SLICE("default"), visit_edit, c, &err);
    if (st != GF_OK) wrong(c, "the edits: ", err.message);
    if (undoing) c->journal->left_out[c->collection] = true;
    for (size_t e = 0; e < c->n_ended && !j->left_out[c->collection]; e++)
        for (size_t i = 0; i < c->n_clusters; i++)
            if (c->clusters[i] == c->ended[e]) wrong(c, "a cluster that was merged is there", "");
}

/* ---- against the journal --------------------------------------------------------------------- */

static void read_collection(check *c, gf_store *store)
{
    gf_error err;
    c->documents = 0;
    gf_status st = gf_documents_visit(store, place(c), visit_document, c, &err);
    if (st == GF_OK) st = gf_collection_read(store, place(c), visit_info, c, &err);
    c->found->exists[c->collection] = st == GF_OK;
    if (st != GF_OK && st != GF_ENOTFOUND) wrong(c, "", err.message);
    c->n_clusters = 0;
    if (c->found->served[c->collection]) check_build(c, store);
    if (st == GF_OK) check_edits(c, store);
}

/* True where the step under way may have changed this collection. */
static bool under_way(const check *c, crash_kind kind)
{
    const crash_step *s = &c->journal->pending;
    return s->kind == kind && (s->collection == c->collection || kind == CRASH_ALL);
}

static void compare_documents(check *c)
{
    const crash_journal *j = c->journal;
    int at = c->collection;
    for (int i = 0; i < CRASH_DOCUMENTS; i++) {
        uint32_t got = c->found->version[at][i], want = j->version[at][i];
        bool changing = j->pending.of_step[i] && ((under_way(c, CRASH_PUT) && got == j->step) ||
                                                  (under_way(c, CRASH_DELETE) && got == 0));
        if (got == want || changing) continue;
        char detail[96];
        snprintf(detail, sizeof detail,
                 "document-%d is of put %" PRIu32 ", not of put %" PRIu32 " (0: not there)", i, got,
                 want);
        wrong(c, detail, "");
        return;
    }
}

static void compare_edits(check *c)
{
    uint64_t got = c->found->edits[c->collection], want = c->journal->edits[c->collection];
    bool changing = (under_way(c, CRASH_EDIT) && got == want + 1) ||
                    (under_way(c, CRASH_UNDO) && got + 1 == want);
    if (got == want || changing) return;
    char detail[64];
    snprintf(detail, sizeof detail, "%" PRIu64 " edits stand, not %" PRIu64, got, want);
    wrong(c, detail, "");
}

static void compare_collection(check *c)
{
    const crash_journal *j = c->journal;
    int at = c->collection;
    bool there = c->found->exists[at];
    int64_t served = c->found->served[at];
    if (!there && under_way(c, CRASH_DROP)) return;
    if (there != j->exists[at] && !under_way(c, CRASH_PUT))
        wrong(c, there ? "is there again" : "is gone", "");
    compare_documents(c);
    compare_edits(c);
    bool rebuilding = under_way(c, CRASH_REBUILD) || under_way(c, CRASH_ALL);
    if (served != j->served[at] && !(rebuilding && served > j->served[at]))
        wrong(c, "another build is served than the one that was acknowledged", "");
}

static void note_found(crash_journal *j, const crash_journal *found)
{
    memcpy(j->version, found->version, sizeof j->version);
    memcpy(j->served, found->served, sizeof j->served);
    memcpy(j->exists, found->exists, sizeof j->exists);
    memcpy(j->edits, found->edits, sizeof j->edits);
    j->pending.kind = CRASH_NOTHING;
}

bool crash_check(const char *path, crash_journal *journal)
{
    gf_error err;
    gf_store *store;
    static crash_journal found;
    check c = {.journal = journal, .found = &found, .good = verify(path)};
    memset(&found, 0, sizeof found);
    if (gf_store_open(path, &GF_STORE_OPTIONS(.create = false), &store, &err) != GF_OK) {
        fprintf(stderr, "open: %s\n", err.message);
        return false;
    }
    for (; c.collection < CRASH_COLLECTIONS; c.collection++) {
        read_collection(&c, store);
        compare_collection(&c);
    }
    gf_store_close(store);
    if (c.good) note_found(journal, &found);
    return c.good;
}

bool crash_check_apart(const char *store, crash_journal *journal)
{
    pid_t child = fork();
    if (child == 0) _exit(crash_check(store, journal) ? 0 : 1);
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

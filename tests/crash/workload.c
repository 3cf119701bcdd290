#include "tests/crash/workload.h"

#include "base/file.h"
#include "base/random.h"
#include "grouperfish.h"
#include "grouperfish/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const gf_slice configuration = {"default", 7};

static gf_place place(int collection)
{
    static const char *const names[CRASH_COLLECTIONS] = {"feedback", "news", "papers"};
    return (gf_place){GF_SLICE("default"), gf_slice_str(names[collection])};
}

static void must(gf_status st, const char *what, const gf_error *err)
{
    if (st == GF_OK) return;
    fprintf(stderr, "%s: %s (%s)\n", what, err->message, gf_status_name(st));
    _exit(1);
}

int crash_rounds(int few)
{
    const char *given = getenv("GROUPERFISH_FAULTS");
    return given && atoi(given) > 0 ? atoi(given) : few;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static gf_slice document_id(int i, char space[32])
{
    return gf_slice_of(space, (size_t)snprintf(space, 32, "document-%d", i));
}

/* Some twelve words, most of them of the document's own subject. */
static void document_text(int i, uint32_t version, gf_random *random, gf_buffer *out)
{
    static const char *const subjects[4][6] = {
        {"engine", "wheel", "brake", "tyre", "road", "motor"},
        {"guitar", "chord", "string", "melody", "band", "song"},
        {"bread", "flour", "oven", "dough", "yeast", "crust"},
        {"planet", "orbit", "comet", "star", "moon", "galaxy"},
    };
    out->len = 0;
    gf_buffer_format(out, "put%u", version);
    for (int w = 0; w < 12; w++) {
        uint64_t subject = gf_random_below(random, 5);
        uint64_t row = subject == 4 ? gf_random_below(random, 4) : (uint64_t)i % 4;
        gf_buffer_format(out, " %s", subjects[row][gf_random_below(random, 6)]);
    }
}

static void put_documents(gf_store *store, const crash_journal *j, gf_random *random)
{
    gf_error err;
    gf_put *put;
    gf_buffer text = {0};
    gf_place where = place(j->pending.collection);
    must(gf_put_open(store, &GF_PUT_OPTIONS(.name_space = where.name_space), &put, &err), "put",
         &err);
    for (int i = 0; i < CRASH_DOCUMENTS; i++) {
        if (!j->pending.of_step[i]) continue;
        char space[32], number[16];
        snprintf(number, sizeof number, "%u", j->step);
        gf_field field = {GF_SLICE("version"), gf_slice_str(number)};
        document_text(i, j->step, random, &text);
        gf_document d = {.id = document_id(i, space),
                         .text = gf_buffer_view(&text),
                         .fields = &field,
                         .n_fields = 1};
        must(gf_put_document(put, where.collection, &d, &err), "put", &err);
    }
    must(gf_put_flush(put, &err), "put", &err);
    gf_put_close(put);
    gf_buffer_release(&text);
}

static void delete_documents(gf_store *store, const crash_journal *j)
{
    gf_error err;
    gf_put *put;
    gf_place where = place(j->pending.collection);
    must(gf_put_open(store, &GF_PUT_OPTIONS(.name_space = where.name_space), &put, &err), "delete",
         &err);
    for (int i = 0; i < CRASH_DOCUMENTS; i++) {
        char space[32];
        if (j->pending.of_step[i])
            must(gf_put_delete(put, where.collection, document_id(i, space), &err), "delete", &err);
    }
    must(gf_put_flush(put, &err), "delete", &err);
    gf_put_close(put);
}

typedef struct rebuilt {
    int64_t served[CRASH_COLLECTIONS];
    uint64_t edits; /* that stand after an edit or undo */
} rebuilt;

static gf_status note_rebuilt(void *context, gf_place where, gf_slice name, gf_status status,
                              const char *message, const gf_rebuild_result *result, gf_error *err)
{
    (void)name;
    if (status != GF_OK) return gf_fail(err, status, "%s", message);
    for (int c = 0; c < CRASH_COLLECTIONS; c++)
        if (gf_slice_equal(where.collection, place(c).collection))
            ((rebuilt *)context)->served[c] = result->build.build;
    return GF_OK;
}

static void rebuild(gf_store *store, const crash_journal *j, rebuilt *r)
{
    gf_error err;
    int c = j->pending.collection;
    gf_rebuild_options options = GF_REBUILD_OPTIONS(.force = true, .threads = 2);
    gf_rebuild_result result;
    if (j->pending.kind == CRASH_ALL) {
        must(gf_rebuild_all(store, place(0).name_space, GF_SLICE(""), configuration, &options,
                            note_rebuilt, r, &err),
             "rebuild all", &err);
        return;
    }
    must(gf_rebuild(store, place(c), configuration, &options, &result, &err), "rebuild", &err);
    r->served[c] = result.build.build;
}

/* ---- edits ----------------------------------------------------------------------------------- */

enum { MOST_CLUSTERS = 64, MOST_EDITS = 512 };

typedef struct numbers {
    uint64_t at[MOST_EDITS]; /* n */
    size_t n;
} numbers;

static gf_status note_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    numbers *clusters = context;
    (void)err;
    if (clusters->n < MOST_CLUSTERS) clusters->at[clusters->n++] = info->id;
    return GF_OK;
}

static gf_status note_edit(void *context, const gf_edit *e, gf_error *err)
{
    numbers *edits = context;
    if (edits->n == MOST_EDITS) return gf_fail(err, GF_ELIMIT, "more edits than the test expects");
    edits->at[edits->n++] = e->number;
    return GF_OK;
}

static void list_edits(gf_store *store, int collection, numbers *edits)
{
    gf_error err;
    edits->n = 0;
    must(gf_edits_visit(store, place(collection), configuration, note_edit, edits, &err), "edits",
         &err);
}

/* What was drawn may not be possible: that is no matter. */
static void may_be_refused(gf_status st, const char *what, const gf_error *err)
{
    if (st != GF_EINVAL && st != GF_ENOTFOUND && st != GF_EEXISTS && st != GF_ECONFLICT)
        must(st, what, err);
}

static void make_edit(gf_store *store, const crash_journal *j, gf_random *random)
{
    static const gf_edit_kind kinds[] = {GF_EDIT_MERGE, GF_EDIT_SPLIT, GF_EDIT_SPLIT, GF_EDIT_MOVE,
                                         GF_EDIT_MOVE,  GF_EDIT_KEEP,  GF_EDIT_HIDE,  GF_EDIT_LOCK,
                                         GF_EDIT_LABEL, GF_EDIT_STATE};
    gf_error err;
    gf_view *view;
    numbers clusters = {.n = 0};
    char space[32], name[32];
    gf_place where = place(j->pending.collection);
    must(gf_view_open(store, where, configuration, 0, &view, &err), "edit", &err);
    must(gf_view_clusters(view, note_cluster, &clusters, &err), "edit", &err);
    gf_view_close(view);
    if (clusters.n == 0) return;
    uint32_t first = (uint32_t)clusters.at[gf_random_below(random, clusters.n)];
    uint32_t other = (uint32_t)clusters.at[gf_random_below(random, clusters.n)];
    gf_pair set = {GF_SLICE("status"), GF_SLICE("planned")};
    gf_edit_request r =
        GF_EDIT_REQUEST(.kind = kinds[gf_random_below(random, sizeof kinds / sizeof *kinds)],
                        .cluster = first,
                        .document =
                            document_id((int)gf_random_below(random, CRASH_DOCUMENTS), space));
    if (r.kind == GF_EDIT_MERGE) r.others = &other, r.n_others = 1;
    if (r.kind == GF_EDIT_STATE) r.set = &set, r.n_set = 1;
    if (r.kind == GF_EDIT_LABEL)
        r.text = gf_slice_of(name, (size_t)snprintf(name, sizeof name, "name %u", j->step));
    may_be_refused(gf_edit_make(store, where, configuration, &r, NULL, NULL, &err), "edit", &err);
}

static void undo_edit(gf_store *store, const crash_journal *j, gf_random *random)
{
    gf_error err;
    numbers edits;
    int c = j->pending.collection;
    list_edits(store, c, &edits);
    if (edits.n == 0) return;
    uint64_t number = edits.at[gf_random_below(random, edits.n)];
    may_be_refused(gf_edit_undo(store, place(c), configuration, number, NULL, NULL, NULL, &err),
                   "undo", &err);
}

/* ---- the journal ----------------------------------------------------------------------------- */

crash_journal *crash_journal_new(void)
{
    void *memory = mmap(NULL, sizeof(crash_journal), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void change(crash_journal *j)
{
    __atomic_add_fetch(&j->writes, 1, __ATOMIC_SEQ_CST);
}

void crash_journal_copy(const crash_journal *journal, crash_journal *copy)
{
    uint32_t writes;
    do {
        writes = __atomic_load_n(&journal->writes, __ATOMIC_SEQ_CST);
        memcpy(copy, journal, sizeof *copy);
    } while (writes % 2 == 1 || __atomic_load_n(&journal->writes, __ATOMIC_SEQ_CST) != writes);
}

/* The step under way is acknowledged. May be done again from the start after it was cut short. */
static void settle(crash_journal *j, const rebuilt *r)
{
    const crash_step *s = &j->pending;
    int c = s->collection;
    change(j);
    for (int i = 0; i < CRASH_DOCUMENTS; i++)
        if (s->kind == CRASH_DROP ||
            ((s->kind == CRASH_PUT || s->kind == CRASH_DELETE) && s->of_step[i]))
            j->version[c][i] = s->kind == CRASH_PUT ? j->step : 0;
    if (s->kind == CRASH_PUT) j->exists[c] = true;
    if (s->kind == CRASH_DROP)
        j->exists[c] = j->left_out[c] = false, j->served[c] = 0, j->edits[c] = 0;
    if (s->kind == CRASH_EDIT || s->kind == CRASH_UNDO) j->edits[c] = r->edits;
    for (int i = 0; r && i < CRASH_COLLECTIONS; i++)
        if (r->served[i]) j->served[i] = r->served[i], j->left_out[i] = false;
    j->done[s->kind]++;
    j->pending.kind = CRASH_NOTHING;
    change(j);
}

static crash_kind choose(const crash_journal *j, int collection, gf_random *random)
{
    static const crash_kind kinds[] = {
        CRASH_PUT,  CRASH_PUT,  CRASH_PUT,  CRASH_DELETE, CRASH_REBUILD, CRASH_REBUILD, CRASH_ALL,
        CRASH_DROP, CRASH_EDIT, CRASH_EDIT, CRASH_EDIT,   CRASH_EDIT,    CRASH_UNDO};
    if (!j->exists[collection]) return CRASH_PUT;
    crash_kind kind = kinds[gf_random_below(random, sizeof kinds / sizeof *kinds)];
    bool edits = kind == CRASH_EDIT || kind == CRASH_UNDO;
    return edits && !j->served[collection] ? CRASH_REBUILD : kind;
}

static void begin(crash_journal *j, gf_random *random)
{
    crash_step *s = &j->pending;
    change(j);
    j->step++;
    s->collection = (int)gf_random_below(random, CRASH_COLLECTIONS);
    crash_kind kind = choose(j, s->collection, random);
    uint64_t of_hundred = gf_random_below(random, 4) == 0 ? 90 : 1 + gf_random_below(random, 20);
    for (int i = 0; i < CRASH_DOCUMENTS; i++)
        s->of_step[i] = gf_random_below(random, 100) < of_hundred;
    s->of_step[j->step % CRASH_DOCUMENTS] = true; /* a put of nothing makes no collection */
    s->kind = kind;
    change(j);
}

void crash_work(const char *path, crash_journal *j, uint64_t seed, crash_acknowledged *acknowledged,
                void *context)
{
    gf_error err;
    gf_store *store;
    gf_random random = gf_random_seed(seed, j->step);
    must(gf_store_open(path, &GF_STORE_OPTIONS(.create = true), &store, &err), "open", &err);
    do {
        rebuilt r = {.edits = 0};
        numbers edits;
        begin(j, &random);
        switch (j->pending.kind) {
        case CRASH_PUT:
            put_documents(store, j, &random);
            break;
        case CRASH_DELETE:
            delete_documents(store, j);
            break;
        case CRASH_REBUILD:
        case CRASH_ALL:
            rebuild(store, j, &r);
            break;
        case CRASH_EDIT:
        case CRASH_UNDO:
            if (j->pending.kind == CRASH_EDIT)
                make_edit(store, j, &random);
            else
                undo_edit(store, j, &random);
            list_edits(store, j->pending.collection, &edits);
            r.edits = edits.n;
            break;
        default:
            must(gf_collection_delete(store, place(j->pending.collection), &err), "drop", &err);
        }
        settle(j, &r);
    } while (acknowledged(context));
    gf_store_close(store);
}

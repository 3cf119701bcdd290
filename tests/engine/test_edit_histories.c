/*
 * Random histories of edits, puts, deletes, rebuilds and publishing: after each step every edit holds or says why
 * not, no id is given twice, and what was undone is as it was.
 */
#include "tests/engine/fixture_edits.h"

#include "base/random.h"
#include "engine/view/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DOCUMENTS = 48, MOST_CLUSTERS = 64 };

/* What a read says of a cluster. */
typedef struct shown_cluster {
    char label[64];
    bool hidden, locked;
} shown_cluster;

typedef struct history {
    fixture f;
    gf_random random;
    uint32_t ids[MOST_CLUSTERS], highest; /* n_ids: of the served build; the highest ever seen */
    shown_cluster shown[MOST_CLUSTERS];   /* n_ids */
    size_t n_ids;
    uint32_t were[MOST_CLUSTERS]; /* n_were: of the served build before the last step */
    size_t n_were;
    bool there[MOST_DOCUMENTS];
    bool vectors; /* rows are given, and are not of the texts */
    bool waiting; /* an edit of an earlier build was taken back, and no rebuild came since */
    uint32_t coming[MOST_CLUSTERS]; /* n_coming: clusters that these were about */
    size_t n_coming;
    uint64_t made, split, undone, lost, returned, topics, published;
} history;

static gf_status note_id(void *context, const gf_cluster_info *c, gf_error *err)
{
    history *h = context;
    (void)err;
    assert_true(h->n_ids < MOST_CLUSTERS);
    shown_cluster *s = &h->shown[h->n_ids];
    snprintf(s->label, sizeof s->label, "%.*s", GF_SLICE_ARG(c->label));
    s->hidden = c->hidden;
    s->locked = c->locked;
    h->ids[h->n_ids++] = c->id;
    return GF_OK;
}

static bool is_one_of(uint32_t id, const uint32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id) return true;
    return false;
}

static bool is_there(const history *h, uint32_t id)
{
    return is_one_of(id, h->ids, h->n_ids);
}

/* An edit names the cluster; one that a merge ended only where `ended` says so. */
static bool is_named(const fixture_edits *l, uint32_t id, bool ended)
{
    for (size_t i = 0; i < l->n; i++) {
        bool others = ended || l->at[i].kind == GF_EDIT_SPLIT;
        if (l->at[i].cluster == id || (others && is_one_of(id, l->others[i], l->at[i].n_others)))
            return true;
    }
    return false;
}

static void read_clusters(history *h)
{
    gf_view *v;
    gf_error err;
    h->n_ids = 0;
    assert_ok(gf_view_open(h->f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_clusters(v, note_id, h, &err));
    gf_view_close(v);
}

/*
 * Ids of the served build. One that was not there before the step is above all that were ever given, or
 * comes back with the documents that an edit names it by: `standing`, or, where an edit was taken back,
 * those of before, or of an earlier build what the rebuild undoes.
 */
static void look_at_ids(history *h, const fixture_edits *standing, const fixture_edits *taken_back)
{
    uint32_t seen = h->highest;
    memcpy(h->were, h->ids, sizeof h->were);
    h->n_were = h->n_ids;
    read_clusters(h);
    for (size_t i = 0; i < h->n_ids; i++) {
        uint32_t id = h->ids[i];
        if (id > h->highest) h->highest = id;
        if (id > seen || is_one_of(id, h->were, h->n_were)) continue;
        if (!h->waiting && is_one_of(id, h->coming, h->n_coming)) continue;
        if (!is_named(standing, id, false) && !(taken_back && is_named(taken_back, id, true)))
            fail_msg("cluster %u was gone, and its id has been given again", id);
        h->returned++;
    }
}

static uint32_t any_id(history *h)
{
    return h->ids[gf_random_below(&h->random, h->n_ids)];
}

/* The cluster that an edit speaks of, after later merges. */
static uint32_t now_called(const fixture_edits *l, size_t from, uint32_t id)
{
    for (size_t i = from + 1; i < l->n; i++)
        for (size_t o = 0; o < l->at[i].n_others && l->at[i].kind == GF_EDIT_MERGE; o++)
            if (l->others[i][o] == id) id = l->at[i].cluster;
    return id;
}

static bool is_overruled(const fixture_edits *l, size_t at)
{
    for (size_t i = at + 1; i < l->n; i++)
        if (strcmp(l->document[i], l->document[at]) == 0) return true;
    return false;
}

/* Edits of labels and of topics say what a cluster is called; a topic that is deleted is told by its name. */
static bool is_last_of_its_kind(const fixture_edits *l, size_t at)
{
    const gf_edit *e = &l->at[at];
    bool names = e->kind == GF_EDIT_LABEL || e->kind == GF_EDIT_TOPIC;
    for (size_t i = at + 1; i < l->n; i++) {
        const gf_edit *later = &l->at[i];
        if (later->kind == GF_EDIT_TOPIC && later->off && strcmp(l->text[i], l->text[at]) == 0)
            return false;
        bool alike = names ? later->kind == GF_EDIT_LABEL || later->kind == GF_EDIT_TOPIC
                           : later->kind == e->kind;
        if (alike && later->cluster == e->cluster) return false;
    }
    return true;
}

/* An edit does not hold: all edits are told for whoever looks why. */
GF_PRINTF(3, 4) static void fail_edit(const fixture_edits *l, size_t at, const char *format, ...)
{
    char words[256];
    va_list given;
    va_start(given, format);
    vsnprintf(words, sizeof words, format, given);
    va_end(given);
    for (size_t i = 0; i < l->n; i++) {
        const gf_edit *e = &l->at[i];
        print_message("%" PRIu64 ": %s%s, cluster %u, document \"%s\", text \"%s\", others",
                      e->number, gf_edit_kind_name(e->kind), e->off ? " off" : "", e->cluster,
                      l->document[i], l->text[i]);
        for (size_t o = 0; o < e->n_others; o++)
            print_message(" %u", l->others[i][o]);
        print_message(", lost: %s\n", l->lost[i]);
    }
    fail_msg("edit %" PRIu64 ": %s", l->at[at].number, words);
}

/* What an edit says of a cluster that no merge has ended is what a read says of it. */
static void check_shown(const history *h, const fixture_edits *l, size_t at)
{
    const gf_edit *e = &l->at[at];
    size_t i = 0;
    while (i < h->n_ids && h->ids[i] != e->cluster)
        i++;
    if (i == h->n_ids || !is_last_of_its_kind(l, at)) return;
    const shown_cluster *s = &h->shown[i];
    bool named = (e->kind == GF_EDIT_LABEL || e->kind == GF_EDIT_TOPIC) && !e->off;
    if (named && strcmp(s->label, l->text[at]) != 0)
        fail_edit(l, at, "cluster %u is called %s, not %s", e->cluster, s->label, l->text[at]);
    if (e->kind == GF_EDIT_HIDE && s->hidden == e->off)
        fail_edit(l, at, "cluster %u is %s", e->cluster, e->off ? "hidden still" : "shown");
    if (e->kind == GF_EDIT_LOCK && s->locked == e->off)
        fail_edit(l, at, "cluster %u is %s", e->cluster, e->off ? "locked still" : "not locked");
}

/* Every edit holds, or says why not. taken_back: the edits before one was; NULL: none was. */
static void check_edits(history *h, const fixture_edits *taken_back)
{
    static fixture_edits l;
    fixture_list_edits(&h->f, &l);
    look_at_ids(h, &l, taken_back);
    if (h->waiting) return;
    h->n_coming = 0;
    for (size_t i = 0; i < l.n; i++) {
        const gf_edit *e = &l.at[i];
        if (l.lost[i][0]) {
            h->lost++;
            continue;
        }
        check_shown(h, &l, i);
        bool said_of_one = e->kind <= GF_EDIT_STATE || e->kind == GF_EDIT_TOPIC;
        if (e->kind == GF_EDIT_TOPIC && (e->off || !e->cluster)) continue;
        if (said_of_one && !is_last_of_its_kind(&l, i)) continue;
        uint32_t id = now_called(&l, i, e->cluster);
        if (!is_there(h, id)) fail_edit(&l, i, "cluster %u is not there", id);
        for (size_t o = 0; o < e->n_others; o++) {
            uint32_t other = l.others[i][o];
            if (e->kind == GF_EDIT_MERGE && is_there(h, other))
                fail_edit(&l, i, "cluster %u is still there", other);
            if (e->kind == GF_EDIT_SPLIT && !is_there(h, now_called(&l, i, other)))
                fail_edit(&l, i, "cluster %u is not there", other);
        }
        bool places = e->kind == GF_EDIT_MOVE || e->kind == GF_EDIT_KEEP;
        uint32_t found =
            places && !is_overruled(&l, i) ? fixture_place_of(&h->f, l.document[i]) : 0;
        if (found && found != id)
            fail_edit(&l, i, "document %s is in %u, not in %u", l.document[i], found, id);
    }
}

static void put_some(history *h)
{
    static const char *const words[4][6] = {
        {"engine", "wheel", "brake", "tyre", "road", "motor"},
        {"guitar", "chord", "string", "melody", "band", "song"},
        {"bread", "flour", "oven", "dough", "yeast", "crust"},
        {"planet", "orbit", "comet", "star", "moon", "galaxy"},
    };
    size_t n = 1 + gf_random_below(&h->random, 12);
    for (size_t i = 0; i < n; i++) {
        size_t d = gf_random_below(&h->random, MOST_DOCUMENTS);
        char id[16], text[128] = "";
        snprintf(id, sizeof id, "d%02zu", d);
        for (int w = 0; w < 7; w++) {
            size_t subject = gf_random_below(&h->random, 5);
            if (subject == 4) subject = gf_random_below(&h->random, 4);
            strcat(text, words[w < 4 ? d % 4 : subject][gf_random_below(&h->random, 6)]);
            strcat(text, " ");
        }
        fixture_put(&h->f, "c", id, text);
        h->there[d] = true;
    }
}

static void delete_some(history *h)
{
    size_t n = 1 + gf_random_below(&h->random, 6), left = 0;
    for (size_t d = 0; d < MOST_DOCUMENTS; d++)
        left += h->there[d];
    for (size_t d = gf_random_below(&h->random, MOST_DOCUMENTS);
         d < MOST_DOCUMENTS && n && left > 12; d++) {
        char id[16];
        if (!h->there[d]) continue;
        snprintf(id, sizeof id, "d%02zu", d);
        fixture_delete(&h->f, "c", id);
        h->there[d] = false;
        n--, left--;
    }
}

static void make_one(history *h)
{
    gf_error err;
    char id[16];
    gf_buffer before = {0}, after = {0};
    size_t kind = gf_random_below(&h->random, 10);
    uint32_t cluster = any_id(h), other = any_id(h);
    bool off = gf_random_below(&h->random, 3) == 0;
    char label[32];
    gf_status st;
    bool waits;
    fixture_edits l;
    fixture_list_edits(&h->f, &l);
    if (l.n > 50) return;
    fixture_say(&h->f, &before);
    snprintf(id, sizeof id, "d%02" PRIu64, gf_random_below(&h->random, MOST_DOCUMENTS));
    switch (kind) {
    case 0:
    case 1:
        st = fixture_try_merge(&h->f, cluster, other, &err);
        break;
    case 2:
        st = fixture_try_split(&h->f, cluster, 2 + (uint32_t)gf_random_below(&h->random, 2), &err);
        break;
    case 3:
    case 4:
        st = fixture_try_move(&h->f, id, cluster, &err);
        break;
    case 5:
        st = fixture_try_edit(
            &h->f, &GF_EDIT_REQUEST(.kind = GF_EDIT_KEEP, .document = gf_slice_str(id)), &err);
        break;
    case 6:
        st = fixture_try_edit(
            &h->f, &GF_EDIT_REQUEST(.kind = GF_EDIT_HIDE, .cluster = cluster, .off = off), &err);
        break;
    case 7:
        st = fixture_try_edit(
            &h->f, &GF_EDIT_REQUEST(.kind = GF_EDIT_LOCK, .cluster = cluster, .off = off), &err);
        break;
    default:
        snprintf(label, sizeof label, "name %" PRIu64, gf_random_below(&h->random, 12));
        st = fixture_try_label(&h->f, cluster, off ? "" : label, &err);
        break;
    }
    /*
     * Clusters of vectors have no terms to be locked by, what was put anew has no place to be kept in; what is as it
     * is wanted is said to be so.
     */
    bool refused = st == GF_EINVAL || st == GF_ENOTFOUND || st == GF_EEXISTS ||
                   (st == GF_ECONFLICT && (h->vectors || kind == 5));
    if (st != GF_OK && !refused) fail_msg("%s", err.message);
    h->made += st == GF_OK;
    h->split += st == GF_OK && kind == 2;
    if (st == GF_OK && gf_random_below(&h->random, 4) == 0) {
        look_at_ids(h, &l, NULL); /* also what is taken back has used its ids up */
        assert_ok(fixture_try_undo(&h->f, 0, &waits, &err));
        fixture_say(&h->f, &after);
        fixture_same(&before, &after);
        h->undone++;
        memcpy(h->ids, h->were, sizeof h->ids);
        h->n_ids = h->n_were;
    }
    gf_buffer_release(&before);
    gf_buffer_release(&after);
}

/* A topic of two of the subjects' words, or the end of one: either shows with the next rebuild. */
static void change_topics(history *h)
{
    static const char *const words[] = {"wheel brake", "chord melody", "flour dough", "orbit moon"};
    gf_error err;
    char name[16];
    uint64_t which = gf_random_below(&h->random, 4);
    snprintf(name, sizeof name, "topic %" PRIu64, which);
    gf_topic_request r =
        GF_TOPIC_REQUEST(.name = gf_slice_str(name), .words = gf_slice_str(words[which]));
    gf_status st =
        gf_topic_add(h->f.store, fixture_place("c"), fixture_default(), &r, NULL, NULL, &err);
    if (st == GF_EEXISTS)
        st = gf_topic_delete(h->f.store, fixture_place("c"), fixture_default(), gf_slice_str(name),
                             GF_SLICE(""), GF_SLICE(""), NULL, NULL, &err);
    if (st != GF_OK && st != GF_EINVAL) fail_msg("%s", err.message);
    h->topics += st == GF_OK;
}

typedef struct kept_builds {
    int64_t at[16];
    size_t n;
} kept_builds;

static gf_status note_kept(void *context, const gf_build_info *info, gf_error *err)
{
    kept_builds *kept = context;
    (void)err;
    if (!info->served && kept->n < 16) kept->at[kept->n++] = info->build;
    return GF_OK;
}

/* Another build is served, which edits of later ones are owed to until it is made anew. */
static void publish_one(history *h)
{
    gf_error err;
    kept_builds kept = {.n = 0};
    assert_ok(
        gf_builds_visit(h->f.store, fixture_place("c"), fixture_default(), note_kept, &kept, &err));
    if (!kept.n) return;
    assert_ok(gf_pin_publish(h->f.store, fixture_place("c"), fixture_default(),
                             kept.at[gf_random_below(&h->random, kept.n)], &err));
    h->waiting = true;
    h->published++;
    read_clusters(h);
}

/* l: set to the edits of before. */
static void undo_one(history *h, fixture_edits *l)
{
    gf_error err;
    bool waits = false;
    fixture_list_edits(&h->f, l);
    if (l->n == 0) return;
    size_t at = gf_random_below(&h->random, l->n);
    gf_status st = fixture_try_undo(&h->f, l->at[at].number, &waits, &err);
    if (st != GF_OK && st != GF_ECONFLICT) fail_msg("%s", err.message);
    h->undone += st == GF_OK;
    h->waiting = h->waiting || waits;
    for (size_t i = 0; i <= l->at[at].n_others && waits && h->n_coming < MOST_CLUSTERS; i++)
        h->coming[h->n_coming++] = i ? l->others[at][i - 1] : l->at[at].cluster;
}

/* Rows of some columns each, which have nothing to do with the texts; one in ten documents has none. */
static void rebuild_vectors(history *h, gf_start start)
{
    enum { COLUMNS = 5 };
    gf_error err;
    gf_rebuild_result result;
    gf_slice id[MOST_DOCUMENTS];
    char name[MOST_DOCUMENTS][16];
    float value[MOST_DOCUMENTS * COLUMNS];
    gf_matrix m = {.n_cols = COLUMNS, .id = id, .dense = value};
    for (size_t d = 0; d < MOST_DOCUMENTS; d++) {
        if (!h->there[d] || gf_random_below(&h->random, 10) == 0) continue;
        snprintf(name[d], sizeof name[d], "d%02zu", d);
        id[m.n_rows] = gf_slice_str(name[d]);
        for (size_t c = 0; c < COLUMNS; c++)
            value[m.n_rows * COLUMNS + c] =
                (float)(gf_random_unit(&h->random) - 0.3 + (d / 4 % COLUMNS == c ? 1.5 : 0));
        m.n_rows++;
    }
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = start, .matrix = &m);
    assert_ok(fixture_try_rebuild(&h->f, "c", &o, &result, &err));
}

/* The rows that the served build keeps, as a rebuild without a matrix has them. */
static void rebuild_kept(history *h, gf_start start)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o =
        GF_REBUILD_OPTIONS(.force = true, .threads = 1, .start = start, .same_rows = true);
    assert_ok(fixture_try_rebuild(&h->f, "c", &o, &result, &err));
}

static void rebuild_some(history *h)
{
    char k[8];
    if (gf_random_below(&h->random, 3) == 0) {
        snprintf(k, sizeof k, "%" PRIu64, 2 + gf_random_below(&h->random, 5));
        fixture_set(&h->f, "c", "default", "k", k);
    }
    gf_start start = gf_random_below(&h->random, 3) ? GF_START_SERVED : GF_START_FRESH;
    if (!h->vectors)
        fixture_rebuild_from(&h->f, start);
    else if (h->n_ids == 0 || gf_random_below(&h->random, 2))
        rebuild_vectors(h, start);
    else
        rebuild_kept(h, start);
    h->waiting = false;
}

static void run_history(history *h, uint64_t seed, bool vectors)
{
    static fixture_edits before;
    h->random = gf_random_seed(seed, 1);
    memset(h->there, 0, sizeof h->there);
    h->highest = 0;
    h->n_ids = 0;
    h->vectors = vectors;
    h->waiting = false;
    h->n_coming = 0;
    fixture_open(&h->f);
    for (int i = 0; i < 4; i++)
        put_some(h);
    fixture_set(&h->f, "c", "default", "k", "4");
    rebuild_some(h);
    check_edits(h, NULL);
    for (int step = 0; step < 14; step++) {
        size_t what = gf_random_below(&h->random, 12);
        before.n = 0;
        if (what < 5)
            make_one(h);
        else if (what == 5)
            undo_one(h, &before);
        else if (what == 6)
            put_some(h);
        else if (what == 7)
            delete_some(h);
        else if (what == 8)
            publish_one(h);
        else if (what == 9 && !h->vectors)
            change_topics(h);
        else
            rebuild_some(h);
        check_edits(h, what == 5 ? &before : NULL);
    }
    fixture_is_sound(&h->f);
    fixture_close(&h->f);
}

static void run_histories(bool vectors)
{
    static history h;
    const char *given = getenv("GROUPERFISH_HISTORIES");
    int n = given && atoi(given) > 0 ? atoi(given) : 25;
    memset(&h, 0, sizeof h);
    uint64_t seed = gf_test_seed();
    for (int i = 0; i < n; i++) {
        print_message("history of seed %" PRIu64 "\n", seed + (uint64_t)i);
        run_history(&h, seed + (uint64_t)i, vectors);
    }
    print_message("%d histories%s: %" PRIu64 " edits, %" PRIu64 " taken back, %" PRIu64
                  " times one was told as lost, %" PRIu64 " times a cluster came back, %" PRIu64
                  " topics, %" PRIu64 " times an earlier build was served\n",
                  n, vectors ? " of given rows" : "", h.made, h.undone, h.lost, h.returned,
                  h.topics, h.published);
    assert_true(h.made > (uint64_t)n && (h.split || n < 25));
}

static void edits_hold_or_are_told_of(void **state)
{
    (void)state;
    run_histories(false);
}

static void edits_of_given_rows_hold_or_are_told_of(void **state)
{
    (void)state;
    run_histories(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(edits_hold_or_are_told_of),
                                       cmocka_unit_test(edits_of_given_rows_hold_or_are_told_of)};
    return cmocka_run_group_tests_name("edit_histories", tests, NULL, NULL);
}

/*
 * Texts in, clusters out. Where the library is installed:
 *
 *     cc cluster_texts.c $(pkg-config --cflags --libs grouperfish) -o cluster_texts
 */
#include <grouperfish.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const texts[] = {
    "The brakes squeal in the rain",  "Yeast dough needs a warm place",
    "New brakes for an old bicycle",  "Bake the bread in a hot oven",
    "Rain ruins bicycle chains",      "Bread dough with too much yeast",
    "Which oil for a bicycle chain?", "An oven that bakes bread unevenly",
};

static void must(gf_status status, const gf_error *err)
{
    if (status == GF_OK) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static gf_status print_member(void *unused, gf_slice id, const gf_membership *m, gf_error *err)
{
    (void)unused, (void)err;
    printf("    %.2f  %s\n", (double)m->score, texts[id.ptr[0] - 'a']);
    return GF_OK;
}

static gf_status print_cluster(void *view, const gf_cluster_info *cluster, gf_error *err)
{
    printf("%.*s: %d texts\n", GF_SLICE_ARG(cluster->label), (int)cluster->size);
    return gf_view_members(view, cluster->id, 0, print_member, NULL, err);
}

int main(int argc, char **argv)
{
    gf_error err;
    gf_store *store;
    gf_put *put;
    gf_view *view;
    gf_rebuild_result result;
    const gf_place where = {GF_SLICE("examples"), GF_SLICE("texts")};
    const gf_slice configuration = GF_SLICE("default");
    const gf_pair two = {GF_SLICE("k"), GF_SLICE("2")};
    const gf_store_options make = {.create = true};
    must(gf_store_open(argc > 1 ? argv[1] : "texts.store", &make, &store, &err), &err);
    must(gf_put_open(store, &(gf_put_options){.name_space = where.name_space}, &put, &err), &err);
    for (int i = 0; i < 8; i++) {
        const gf_document d = {.id = {&"abcdefgh"[i], 1}, .text = gf_slice_str(texts[i])};
        must(gf_put_document(put, where.collection, &d, &err), &err);
    }
    must(gf_put_flush(put, &err), &err);
    gf_put_close(put);
    must(gf_configuration_set(store, where, configuration, &two, 1, &err), &err);
    must(gf_rebuild(store, where, configuration, &(gf_rebuild_options){0}, &result, &err), &err);
    must(gf_view_open(store, where, configuration, 0, &view, &err), &err);
    must(gf_view_clusters(view, print_cluster, view, &err), &err);
    gf_view_close(view);
    gf_store_close(store);
    return 0;
}

/* Texts in, clusters out: cc cluster_texts.c $(pkg-config --cflags --libs grouperfish) */
#include <grouperfish.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const texts[] = {"The brakes squeal in the rain", "Bake bread in a hot oven",
                                    "New brakes for an old bicycle", "Yeast dough for the bread",
                                    "Rain ruins a bicycle chain",    "An oven for dough and bread"};
static gf_error err;
static void must(gf_status status)
{
    if (status == GF_OK) return;
    fprintf(stderr, "%s\n", err.message);
    exit(1);
}
static gf_status print_cluster(void *context, const gf_cluster_info *cluster, gf_error *error)
{
    (void)context, (void)error;
    printf("%.*s: %d texts\n", GF_SLICE_ARG(cluster->label), (int)cluster->size);
    return GF_OK;
}
int main(int argc, char **argv)
{
    const gf_place where = {GF_SLICE("examples"), GF_SLICE("texts")};
    const gf_store_options make = GF_STORE_OPTIONS(.create = true);
    gf_store *store;
    gf_put *put;
    gf_view *view;
    gf_rebuild_result result;
    must(gf_store_open(argc > 1 ? argv[1] : "texts.store", &make, &store, &err));
    must(gf_put_open(store, &GF_PUT_OPTIONS(.name_space = where.name_space), &put, &err));
    for (int i = 0; i < 6; i++) {
        gf_document d = {.id = {&"abcdef"[i], 1}, .text = gf_slice_str(texts[i])};
        must(gf_put_document(put, where.collection, &d, &err));
    }
    must(gf_put_flush(put, &err));
    gf_put_close(put);
    must(gf_rebuild(store, where, GF_SLICE("default"), &GF_REBUILD_OPTIONS(), &result, &err));
    must(gf_view_open(store, where, GF_SLICE("default"), 0, &view, &err));
    must(gf_view_clusters(view, print_cluster, NULL, &err));
    gf_view_close(view);
    gf_store_close(store);
}

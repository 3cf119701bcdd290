/** The tree over the clusters of a view's build, as it is kept. */
#ifndef GF_ENGINE_VIEW_TREE_H
#define GF_ENGINE_VIEW_TREE_H

#include "engine/build/tree.h"
#include "engine/view/view.h"

/**
 * Read it; its leaves are the view's clusters, which are listed. Borrowed from view->row.
 * @return GF_OK; GF_ENOTFOUND where the build has none; GF_ECORRUPT
 */
gf_status gf_view_load_tree(gf_view *view, gf_kept_tree *kept, gf_error *err);

#endif

#include "base/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

static gf_status find_functions(const gf_library *l, void *handle, gf_error *err)
{
    for (size_t i = 0; i < l->n; i++) {
        void *at = dlsym(handle, l->names[i]);
        if (!at) return gf_fail(err, GF_EIO, "%s has no function %s", l->file, l->names[i]);
        memcpy((char *)l->functions + i * sizeof at, &at, sizeof at);
    }
    return GF_OK;
}

/* The library stays loaded for good: others may hold pointers that it has returned. */
static gf_status load_library(gf_library *l, gf_error *err)
{
    void *handle = dlopen(l->file, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return gf_fail(err, GF_EIO, "cannot load a library: %s", why ? why : l->file);
    }
    gf_status st = find_functions(l, handle, err);
    if (st != GF_OK) dlclose(handle);
    return st;
}

gf_status gf_library_load(gf_library *l, gf_error *err)
{
    if (atomic_load_explicit(&l->loaded, memory_order_acquire)) return GF_OK;
    pthread_mutex_lock(&l->lock);
    bool loaded = atomic_load_explicit(&l->loaded, memory_order_relaxed);
    gf_status st = loaded ? GF_OK : load_library(l, err);
    if (st == GF_OK) atomic_store_explicit(&l->loaded, true, memory_order_release);
    pthread_mutex_unlock(&l->lock);
    return st;
}

/** Settings: what a namespace and a collection say about their clusterings. */
#ifndef GF_GROUPERFISH_CONFIGURATIONS_H
#define GF_GROUPERFISH_CONFIGURATIONS_H

#include "grouperfish/collections.h"
#include "grouperfish/export.h"

GF_PUBLIC_BEGIN

/*
 * A place without a collection means the defaults of its namespace, for every function here. All
 * collections of the namespace have the configurations that are named there, with their settings,
 * unless a collection sets its own. A collection leaves one out by rebuild=off.
 */

/** A key that configurations have. */
typedef struct gf_setting {
    const char *name;
    const char *values;  /* what it may be, in words */
    const char *initial; /* what it is where nothing is set */
    const char *meaning; /* one sentence */
} gf_setting;

/** All keys, NULL names none: a constant table of *n entries. */
const gf_setting *gf_settings(size_t *n);

/** GF_EINVAL where there is no such key (the nearest is named), or the value is none that it may
 * have; an empty value, which is the key's default, is always good. */
gf_status gf_setting_check_value(gf_slice name, gf_slice value, gf_error *err);

typedef struct gf_pair {
    gf_slice name, value;
} gf_pair;

/** The origin of a configuration's value. */
typedef enum gf_origin { GF_FROM_PROGRAM, GF_FROM_NAMESPACE, GF_FROM_COLLECTION } gf_origin;

/**
 * Set keys of a configuration, which is made where it is missing; an empty value resets the key
 * to its default. All or nothing: GF_EINVAL names the unknown key, and the nearest known,
 * or the value that is not one.
 */
gf_status gf_configuration_set(gf_store *store, gf_place where, gf_slice configuration,
                               const gf_pair *pairs, size_t n, gf_error *err);

typedef gf_status gf_visit_setting(void *context, const gf_setting *setting, gf_slice value,
                                   gf_origin origin, gf_error *err);

/** Every key with its value; GF_ENOTFOUND where there is no such configuration. */
gf_status gf_configuration_read(gf_store *store, gf_place where, gf_slice configuration,
                                gf_visit_setting *visit, void *context, gf_error *err);

typedef struct gf_configuration_info {
    gf_slice name;
    gf_origin origin; /* who names it; the program has "default", and what was built */
    bool rebuilt;     /* false: its setting `rebuild` is off */
    gf_slice within;  /* its setting of that name: "default:14"; empty: none */
} gf_configuration_info;

typedef gf_status gf_visit_configuration(void *context, const gf_configuration_info *info,
                                         gf_error *err);

/**
 * All configurations of a collection, its namespace's among them, by name; "default" is always
 * there.
 */
gf_status gf_configuration_list_visit(gf_store *store, gf_place where,
                                      gf_visit_configuration *visit, void *context, gf_error *err);

/**
 * Delete a configuration with its builds. Of "default" only settings and builds go.
 *
 * A namespace's goes with the builds of all collections that have set nothing in it themselves;
 * those that have keep theirs. In a collection that has set something in an inherited one, that and
 * the builds go, and it is as inherited again; rebuild=off stays.
 *
 * @return GF_OK; GF_ENOTFOUND; GF_EBUSY (it is being rebuilt); GF_EINVAL (a collection's, which
 * it has from its namespace alone)
 */
gf_status gf_configuration_delete(gf_store *store, gf_place where, gf_slice configuration,
                                  gf_error *err);

GF_PUBLIC_END

#endif

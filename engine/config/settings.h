/**
 * The settings of a configuration: names and values as people write them, and what they mean.
 */
#ifndef GF_ENGINE_CONFIG_SETTINGS_H
#define GF_ENGINE_CONFIG_SETTINGS_H

#include "base/arena.h"
#include "base/json/json.h"
#include "engine/rows/collection_row.h"
#include "grouperfish/configurations.h"
#include "vectorize/rows/vectorizer_options.h"

/** The cluster or the group of another configuration that one is within. */
typedef struct gf_within {
    gf_slice configuration;  /* empty: it is within none */
    uint32_t cluster, group; /* id; one of them is 0 */
} gf_within;

/** A configuration's settings, ready to work by. Slices are borrowed from the text they came from.
 */
typedef struct gf_resolved {
    gf_vectorizer_options vectorizer;
    bool detect;    /* language=auto: the document's own, else what is detected */
    uint32_t k;     /* 0: choose */
    uint32_t max_k; /* 0: by the number of documents */
    uint64_t seed;
    uint32_t lsa;      /* dimensions; 0: none */
    uint32_t restarts; /* 0: by the amount of work */
    uint32_t max_passes;
    double tolerance;
    bool polish, refine, quick, thorough, start_served;
    bool only_topics, all_topics; /* no other clusters; every document in one of them */
    bool near_once;               /* near-duplicates count once: those whose cosine is */
    double near_least;            /* so much, at least */
    uint32_t keep;                /* builds */
    bool in_rebuilds;
    bool store_vectors, store_index;
    gf_slice word_vectors; /* path of a table of them; empty: terms are clustered */
    gf_slice filter;       /* which documents it is about (engine/rows/filter.h); empty: all */
    gf_within within;
    int64_t since, until; /* and of which time; INT64_MIN, INT64_MAX: any */
} gf_resolved;

/** The settings of one configuration: names with values, in the order of gf_settings. */
typedef struct gf_settings_map {
    gf_slice value[64];     /* by number of the setting; empty: not set */
    bool inherited[64];     /* it is the namespace's, and not the configuration's own */
    bool own, in_namespace; /* the collection's settings, the namespace's name the configuration */
    gf_arena memory;        /* where values that had to be decoded lie */
} gf_settings_map;

void gf_settings_map_release(gf_settings_map *map);

/** Number of a setting; GF_EINVAL with the nearest known name. */
gf_status gf_setting_find(gf_slice name, size_t *number, gf_error *err);

/** GF_EINVAL where the value is none that the setting may have. */
gf_status gf_setting_check(size_t number, gf_slice value, gf_error *err);

/** Parse a collection's settings column: an object of objects, else GF_ECORRUPT. */
gf_status gf_settings_parse(gf_json_parser *parser, gf_slice text, gf_json_value *root,
                            gf_error *err);

/**
 * Read the settings of a configuration from a collection's settings column.
 * @return GF_OK; GF_ENOTFOUND where it does not have it (and it is not "default"); GF_ECORRUPT
 */
gf_status gf_settings_map_read(gf_slice settings, gf_slice configuration, gf_settings_map *map,
                               gf_error *err);

/**
 * Fill in what a namespace's defaults say of a configuration, where the map has nothing of its own.
 * *named (may be NULL) is set to whether they say anything of it.
 */
gf_status gf_settings_map_inherit(gf_settings_map *map, gf_slice defaults, gf_slice configuration,
                                  bool *named, gf_error *err);

/**
 * Load a configuration of a collection: its own settings, and those it inherits.
 * @return GF_OK; GF_ENOTFOUND where neither the collection nor its namespace has it, and no build
 * of it is served; GF_ECORRUPT, GF_EIO, GF_ENOMEM
 */
gf_status gf_configuration_load(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                                const gf_collection_row *row, gf_slice configuration,
                                gf_settings_map *map, gf_error *err);

/** GF_EINVAL where a pair is no setting that a single build may have, or not a value of it. */
gf_status gf_settings_check_pairs(const gf_pair *pairs, size_t n, gf_error *err);

/**
 * Change a loaded configuration's map by settings of a single build: an empty value leaves what is
 * inherited, or initial. The pairs must be good ones (gf_settings_check_pairs).
 */
gf_status gf_configuration_override(gf_store *store, gf_place where, gf_slice configuration,
                                    const gf_pair *pairs, size_t n, gf_settings_map *map,
                                    gf_error *err);

/**
 * All configurations of a collection, as gf_configuration_list_visit gives them, by its row; or where
 * that is NULL those of the namespace.
 */
gf_status gf_configuration_list(gf_store *store, const gf_snapshot *snapshot, gf_place where,
                                const gf_collection_row *row, gf_visit_configuration *visit,
                                void *context, gf_error *err);

/** Read a build's settings: a flat object, as gf_settings_map_write_effective writes it. */
gf_status gf_settings_map_read_build(gf_slice settings, gf_settings_map *map, gf_error *err);

/** The map's own values as a JSON object, in the order of the settings. */
void gf_settings_map_write(const gf_settings_map *map, gf_buffer *json);

/** The same without those that are what they would be anyway: what a build was made with. */
void gf_settings_map_write_effective(const gf_settings_map *map, gf_buffer *json);

/**
 * Replace the ages among the settings by the times that they mean at `now`: so that a build says
 * which documents it is about, and a later look sees whether those would be others now.
 */
gf_status gf_settings_map_fix_times(gf_settings_map *map, int64_t now, gf_error *err);

/** The value of a setting: what is set, else what is initial. */
gf_slice gf_settings_map_value(const gf_settings_map *map, size_t number);

/** All values worked out; map must last as long as *out is used. */
gf_status gf_settings_resolve(const gf_settings_map *map, gf_slice configuration, gf_resolved *out,
                              gf_error *err);

#endif

#include "engine/config/settings.h"

#include "base/clock.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/utf8.h"
#include "engine/rows/filter.h"

/* docs/configuration.md is written from this table; a test compares them. */
static const gf_setting settings[] = {
    {"k", "auto, or 1 to 1000000", "auto",
     "most clusters; auto chooses by how well clusters are separated"},
    {"max_k", "auto, or 1 to 1000000", "auto",
     "with k=auto at most so many; auto is a third of the distinct documents, 1,000 at most"},
    {"seed", "0 to 18446744073709551615", "1", "start of the random numbers"},
    {"start", "served, fresh", "served",
     "begin from the served clusters, so that they go on, or from new seeds"},
    {"lsa", "0 to 1000", "0",
     "dimensions of latent semantic analysis, in which new clusters begin; 0 for none"},
    {"restarts", "auto, or 1 to 100", "auto",
     "runs, of which the best is kept; auto makes up to 8 of up to 31 clusters where that costs "
     "little, 16 of up to 64 documents"},
    {"max_passes", "1 to 10000", "100", "most passes of k-means over all documents, per run"},
    {"tolerance", "0 to 0.5", "0.001", "share of documents that may still move when a run ends"},
    {"polish", "on, off", "on", "improve the clusters by moving single documents"},
    {"refine", "on, off", "on",
     "make the clusters sharper by the counts of words: a mixture of multinomials"},
    {"effort", "full, quick, thorough", "full",
     "quick: clusters in half the time or so, that are a little looser; thorough: new clusters "
     "from "
     "three kinds of start, the most probable kept"},
    {"language", "auto, none, a language's name or ISO 639 code", "auto",
     "for stop words and stems; auto takes the document's own, else detects it"},
    {"stop_words", "on, off", "on", "leave out the words of the language's stop list"},
    {"more_stop_words", "words, separated by spaces", "", "further words to leave out"},
    {"stem", "on, off", "on", "count connected and connection as one term"},
    {"ngrams", "1, 2, 3, or a range such as 1-2", "1", "words in a row that make a term"},
    {"min_df", "auto, a count, or a share (0.01, 1%)", "auto",
     "drop terms of fewer documents; auto is 2 from 1,000 documents on, else 1"},
    {"max_df", "auto, a count, or a share (0.5, 50%)", "auto",
     "drop terms of more documents; auto is half of them from 1,000 documents on, else all"},
    {"max_terms", "0 to 4294967295", "0", "keep the most frequent terms only; 0 keeps all"},
    {"tf", "log, raw, binary, relative", "log", "how a term's count in a document weighs"},
    {"idf", "log, log_plus_one, smooth, none, log^1.5, log_plus_one^1.5, smooth^1.5", "log",
     "how the number of documents that have a term weighs"},
    {"min_length", "1 to 1024", "2", "characters of the shortest word that counts"},
    {"max_length", "1 to 1024", "64", "characters of the longest word that counts"},
    {"urls", "skip, split, keep", "skip", "URLs and e-mail addresses: left out, split, or whole"},
    {"mentions", "word, skip, keep", "word", "@name as a word, left out, or with its sign"},
    {"hashtags", "word, skip, keep", "word", "#tag as a word, left out, or with its sign"},
    {"numbers", "on, off", "on", "words of digits only count"},
    {"cjk", "words, bigrams", "words", "Chinese and Japanese in words, or in pairs of characters"},
    {"entities", "on, off", "on", "HTML's &amp; and the like separate words"},
    {"topics", "auto, only, all", "auto",
     "documents that no topic takes: clustered; only: in no cluster; all: each goes to the nearest "
     "topic"},
    {"near_duplicates", "all, once", "all",
     "all count; once: of documents that are nearly the same the earliest alone makes clusters and "
     "names, and the others are where it is"},
    {"near_min", "0.1 to 1", "0.8", "with near_duplicates=once: least cosine of what counts once"},
    {"keep", "1 to 1000", "2", "builds that are kept, the served one among them"},
    {"rebuild", "on, off", "on",
     "off: rebuilt only where collection and configuration are both named"},
    {"store_vectors", "on, off", "off", "keep each document's vector with its membership"},
    {"store_index", "auto, on, off", "auto",
     "keep an inverted index for search; auto does for the configuration \"default\""},
    {"vectors", "a file's path", "",
     "cluster documents as means of the vectors of their words: a table as text or safetensors"},
    {"filter", "field=value or such as stars>=4; also !=, <, <=, >; several with commas", "",
     "cluster only documents for which all of these hold"},
    {"since", "a time, or an age: hours, days or weeks (12h, 30d, 4w)", "",
     "cluster only documents from then on, by their time"},
    {"until", "a time, or an age: hours, days or weeks (12h, 30d, 4w)", "",
     "cluster only documents before then, by their time"},
    {"within", "a configuration and the id of a cluster or a group: default:14, default:g3", "",
     "cluster only the documents of that cluster or group, as the other configuration is served"},
};
enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

const gf_setting *gf_settings(size_t *n)
{
    *n = N_SETTINGS;
    return settings;
}

gf_status gf_setting_find(gf_slice name, size_t *number, gf_error *err)
{
    const char *names[N_SETTINGS];
    for (size_t i = 0; i < N_SETTINGS; i++) {
        names[i] = settings[i].name;
        if (!gf_slice_equal(name, gf_slice_str(names[i]))) continue;
        *number = i;
        return GF_OK;
    }
    const char *nearest = gf_nearest(name, names, N_SETTINGS);
    return gf_fail(err, GF_EINVAL, "there is no setting \"%.*s\"%s%s%s", GF_SLICE_ARG(name),
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

/* ---- values ---------------------------------------------------------------------------------- */

static gf_status bad_value(size_t number, gf_slice value, gf_error *err)
{
    return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not one of: %s", settings[number].name,
                   GF_SLICE_ARG(value), settings[number].values);
}

/* A whole number of a range; where `automatic`, "auto" is 0. */
static gf_status read_number(size_t number, gf_slice value, bool automatic, uint64_t least,
                             uint64_t most, uint64_t *out, gf_error *err)
{
    if (automatic && gf_slice_equal(value, GF_SLICE("auto"))) {
        *out = 0;
        return GF_OK;
    }
    uint64_t v;
    if (!gf_number_read(value, &v) || v < least || v > most) return bad_value(number, value, err);
    *out = v;
    return GF_OK;
}

static gf_status read_flag(size_t number, gf_slice value, bool *out, gf_error *err)
{
    bool on = gf_slice_equal(value, GF_SLICE("on"));
    if (!on && !gf_slice_equal(value, GF_SLICE("off"))) return bad_value(number, value, err);
    *out = on;
    return GF_OK;
}

static gf_status read_start(size_t number, gf_slice value, bool *served, gf_error *err)
{
    *served = gf_slice_equal(value, GF_SLICE("served"));
    if (*served || gf_slice_equal(value, GF_SLICE("fresh"))) return GF_OK;
    return bad_value(number, value, err);
}

static gf_status read_topics(size_t number, gf_slice value, gf_resolved *r, gf_error *err)
{
    r->all_topics = gf_slice_equal(value, GF_SLICE("all"));
    r->only_topics = r->all_topics || gf_slice_equal(value, GF_SLICE("only"));
    if (r->only_topics || gf_slice_equal(value, GF_SLICE("auto"))) return GF_OK;
    return bad_value(number, value, err);
}

static gf_status read_near(size_t number, gf_slice value, bool *once, gf_error *err)
{
    *once = gf_slice_equal(value, GF_SLICE("once"));
    if (*once || gf_slice_equal(value, GF_SLICE("all"))) return GF_OK;
    return bad_value(number, value, err);
}

static gf_status read_cosine(size_t number, gf_slice value, double *out, gf_error *err)
{
    double v;
    if (!gf_number_read_decimal(value, &v) || !(v >= 0.1 && v <= 1))
        return bad_value(number, value, err);
    *out = v;
    return GF_OK;
}

static gf_status read_effort(size_t number, gf_slice value, gf_resolved *r, gf_error *err)
{
    r->quick = gf_slice_equal(value, GF_SLICE("quick"));
    r->thorough = gf_slice_equal(value, GF_SLICE("thorough"));
    if (r->quick || r->thorough || gf_slice_equal(value, GF_SLICE("full"))) return GF_OK;
    return bad_value(number, value, err);
}

static gf_status read_tolerance(size_t number, gf_slice value, double *out, gf_error *err)
{
    double v;
    if (!gf_number_read_decimal(value, &v) || v < 0 || v > 0.5)
        return bad_value(number, value, err);
    *out = v;
    return GF_OK;
}

static gf_status read_ngrams(size_t number, gf_slice value, gf_vectorizer_options *o, gf_error *err)
{
    bool range = value.len == 3 && value.ptr[1] == '-';
    if (value.len != 1 && !range) return bad_value(number, value, err);
    char least = value.ptr[0], most = value.ptr[value.len - 1];
    if (least < '1' || most > '3' || least > most) return bad_value(number, value, err);
    o->analysis.ngrams_min = (uint32_t)(least - '0');
    o->analysis.ngrams_max = (uint32_t)(most - '0');
    return GF_OK;
}

static gf_status read_language(gf_slice value, gf_resolved *r, gf_error *err)
{
    r->detect = gf_slice_equal(value, GF_SLICE("auto"));
    r->vectorizer.analysis.language = NULL;
    if (r->detect || gf_slice_equal(value, GF_SLICE("none"))) return GF_OK;
    return gf_vectorizer_options_set(&r->vectorizer, GF_SLICE("language"), value, err);
}

static gf_status read_index(size_t number, gf_slice value, gf_slice configuration, bool *out,
                            gf_error *err)
{
    if (!gf_slice_equal(value, GF_SLICE("auto"))) return read_flag(number, value, out, err);
    *out = gf_slice_equal(configuration, GF_SLICE("default"));
    return GF_OK;
}

static gf_status read_filter(gf_slice value, gf_slice *out, gf_error *err)
{
    gf_filter scratch;
    *out = value;
    if (value.len == 0) return GF_OK;
    gf_filter_init(&scratch);
    gf_status st = gf_filter_add_list(&scratch, value, err);
    gf_filter_release(&scratch);
    return st;
}

/* "default:14", "default:g3". Names of configurations may have colons. */
static gf_status read_within(size_t number, gf_slice value, gf_slice configuration, gf_within *out,
                             gf_error *err)
{
    uint64_t id = 0;
    size_t at = value.len;
    if (value.len == 0) return GF_OK;
    while (at > 0 && value.ptr[at - 1] != ':')
        at--;
    gf_slice text = gf_slice_skip(value, at);
    bool group = text.len && text.ptr[0] == 'g';
    if (at < 2 || !gf_number_read(gf_slice_skip(text, group), &id) || id == 0 || id > UINT32_MAX)
        return bad_value(number, value, err);
    *out = (gf_within){gf_slice_of(value.ptr, at - 1), group ? 0 : (uint32_t)id,
                       group ? (uint32_t)id : 0};
    if (gf_slice_equal(out->configuration, configuration))
        return gf_fail(err, GF_EINVAL, "within: configuration \"%.*s\" cannot be within itself",
                       GF_SLICE_ARG(configuration));
    return GF_OK;
}

enum { MOST_PATH = 4095 };

/* A path; what lies there is looked at by a rebuild. */
static gf_status read_path(size_t number, gf_slice value, gf_slice *out, gf_error *err)
{
    bool good = value.len <= MOST_PATH && gf_utf8_is_valid(value);
    for (size_t i = 0; i < value.len && good; i++)
        good = (unsigned char)value.ptr[i] >= ' ' && value.ptr[i] != 0x7F;
    if (!good) return bad_value(number, value, err);
    *out = value;
    return GF_OK;
}

static gf_status read_bound(size_t number, gf_slice value, int64_t none, int64_t *out,
                            gf_error *err)
{
    *out = none;
    if (value.len == 0 || gf_filter_read_moment(value, gf_clock_ms(), out)) return GF_OK;
    return bad_value(number, value, err);
}

/* Numbers that go into 32 bits. */
static gf_status read_small(size_t number, gf_slice value, bool automatic, uint64_t least,
                            uint64_t most, uint32_t *out, gf_error *err)
{
    uint64_t v = 0;
    gf_status st = read_number(number, value, automatic, least, most, &v, err);
    if (st == GF_OK) *out = (uint32_t)v;
    return st;
}

static gf_status apply(size_t number, gf_slice value, gf_slice configuration, gf_resolved *r,
                       gf_error *err)
{
    const char *name = settings[number].name;
    gf_analysis_options *a = &r->vectorizer.analysis;
    if (strcmp(name, "k") == 0) return read_small(number, value, true, 1, 1000000, &r->k, err);
    if (strcmp(name, "max_k") == 0)
        return read_small(number, value, true, 1, 1000000, &r->max_k, err);
    if (strcmp(name, "seed") == 0)
        return read_number(number, value, false, 0, UINT64_MAX, &r->seed, err);
    if (strcmp(name, "start") == 0) return read_start(number, value, &r->start_served, err);
    if (strcmp(name, "lsa") == 0) return read_small(number, value, false, 0, 1000, &r->lsa, err);
    if (strcmp(name, "restarts") == 0)
        return read_small(number, value, true, 1, 100, &r->restarts, err);
    if (strcmp(name, "max_passes") == 0)
        return read_small(number, value, false, 1, 10000, &r->max_passes, err);
    if (strcmp(name, "tolerance") == 0) return read_tolerance(number, value, &r->tolerance, err);
    if (strcmp(name, "polish") == 0) return read_flag(number, value, &r->polish, err);
    if (strcmp(name, "refine") == 0) return read_flag(number, value, &r->refine, err);
    if (strcmp(name, "effort") == 0) return read_effort(number, value, r, err);
    if (strcmp(name, "topics") == 0) return read_topics(number, value, r, err);
    if (strcmp(name, "near_duplicates") == 0) return read_near(number, value, &r->near_once, err);
    if (strcmp(name, "near_min") == 0) return read_cosine(number, value, &r->near_least, err);
    if (strcmp(name, "language") == 0) return read_language(value, r, err);
    if (strcmp(name, "ngrams") == 0) return read_ngrams(number, value, &r->vectorizer, err);
    if (strcmp(name, "keep") == 0) return read_small(number, value, false, 1, 1000, &r->keep, err);
    if (strcmp(name, "rebuild") == 0) return read_flag(number, value, &r->in_rebuilds, err);
    if (strcmp(name, "store_vectors") == 0) return read_flag(number, value, &r->store_vectors, err);
    if (strcmp(name, "store_index") == 0)
        return read_index(number, value, configuration, &r->store_index, err);
    if (strcmp(name, "vectors") == 0) return read_path(number, value, &r->word_vectors, err);
    if (strcmp(name, "filter") == 0) return read_filter(value, &r->filter, err);
    if (strcmp(name, "within") == 0)
        return read_within(number, value, configuration, &r->within, err);
    if (strcmp(name, "since") == 0) return read_bound(number, value, INT64_MIN, &r->since, err);
    if (strcmp(name, "until") == 0) return read_bound(number, value, INT64_MAX, &r->until, err);
    if (strcmp(name, "min_length") == 0)
        return read_small(number, value, false, 1, GF_MOST_LENGTH, &a->min_length, err);
    if (strcmp(name, "max_length") == 0)
        return read_small(number, value, false, 1, GF_MOST_LENGTH, &a->max_length, err);
    return gf_vectorizer_options_set(&r->vectorizer, gf_slice_str(name), value, err);
}

gf_status gf_setting_check(size_t number, gf_slice value, gf_error *err)
{
    gf_resolved scratch = {.vectorizer = gf_vectorizer_options_default()};
    return apply(number, value, (gf_slice){0}, &scratch, err);
}

/* ---- maps ------------------------------------------------------------------------------------ */

void gf_settings_map_release(gf_settings_map *map)
{
    gf_arena_release(&map->memory);
    *map = (gf_settings_map){0};
}

gf_status gf_settings_parse(gf_json_parser *parser, gf_slice text, gf_json_value *root,
                            gf_error *err)
{
    gf_slice name;
    gf_json_value parsed, value;
    gf_status st = gf_json_parse_copy(parser, text, &parsed, err);
    if (st != GF_OK && st != GF_EINVAL) return st;
    bool good = st == GF_OK && gf_json_kind_of(parsed) == GF_JSON_OBJECT;
    gf_json_iterator it = {0};
    if (good) it = gf_json_items(parsed);
    while (good && gf_json_next(&it, &name, &value))
        good = gf_json_kind_of(value) == GF_JSON_OBJECT;
    if (!good) return gf_fail(err, GF_ECORRUPT, "the settings of a collection are damaged");
    *root = parsed;
    return GF_OK;
}

static gf_status take_values(gf_json_value object, gf_settings_map *map, gf_error *err)
{
    gf_json_iterator it = gf_json_items(object);
    gf_slice name;
    gf_json_value value;
    while (gf_json_next(&it, &name, &value)) {
        size_t number = 0;
        if (gf_setting_find(name, &number, NULL) != GF_OK ||
            gf_json_kind_of(value) != GF_JSON_STRING)
            return gf_fail(err, GF_ECORRUPT, "the settings of a collection are damaged");
        map->value[number] = gf_arena_copy(&map->memory, gf_json_get_string(value));
        if (!map->value[number].ptr) return gf_fail_memory(err, "settings");
    }
    return GF_OK;
}

static gf_status find_configuration(gf_json_value root, gf_slice configuration,
                                    gf_settings_map *map, gf_error *err)
{
    gf_json_iterator it = gf_json_items(root);
    gf_slice name;
    gf_json_value value;
    while (gf_json_next(&it, &name, &value))
        if (gf_slice_equal(name, configuration)) return take_values(value, map, err);
    return GF_ENOTFOUND;
}

gf_status gf_settings_map_read(gf_slice text, gf_slice configuration, gf_settings_map *map,
                               gf_error *err)
{
    _Static_assert(N_SETTINGS <= sizeof map->value / sizeof map->value[0], "a place for each");
    gf_settings_map m = {0};
    gf_status st = GF_ENOTFOUND;
    if (text.len) {
        gf_json_parser *parser;
        gf_json_value root;
        st = gf_json_parser_create(&parser, err);
        if (st != GF_OK) return st;
        st = gf_settings_parse(parser, text, &root, err);
        if (st == GF_OK) st = find_configuration(root, configuration, &m, err);
        gf_json_parser_free(parser);
    }
    m.own = st == GF_OK;
    if (st == GF_ENOTFOUND) {
        bool built_in = gf_slice_equal(configuration, GF_SLICE("default"));
        st = built_in ? GF_OK
                      : gf_fail(err, GF_ENOTFOUND, "there is no configuration \"%.*s\"",
                                GF_SLICE_ARG(configuration));
    }
    if (st == GF_OK)
        *map = m;
    else
        gf_settings_map_release(&m);
    return st;
}

gf_status gf_settings_map_read_build(gf_slice text, gf_settings_map *map, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root;
    gf_settings_map m = {0};
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = gf_json_parse_copy(parser, text, &root, err);
    if (st == GF_EINVAL || (st == GF_OK && gf_json_kind_of(root) != GF_JSON_OBJECT))
        st = gf_fail(err, GF_ECORRUPT, "table builds: settings are damaged");
    if (st == GF_OK) st = take_values(root, &m, err);
    gf_json_parser_free(parser);
    if (st == GF_OK)
        *map = m;
    else
        gf_settings_map_release(&m);
    return st;
}

static gf_status fill_in(gf_settings_map *map, const gf_settings_map *defaults, gf_error *err)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        if (map->value[i].ptr || !defaults->value[i].ptr) continue;
        map->value[i] = gf_arena_copy(&map->memory, defaults->value[i]);
        if (!map->value[i].ptr) return gf_fail_memory(err, "settings");
        map->inherited[i] = true;
    }
    return GF_OK;
}

gf_status gf_settings_map_inherit(gf_settings_map *map, gf_slice defaults, gf_slice configuration,
                                  bool *named, gf_error *err)
{
    gf_settings_map m = {0};
    gf_json_parser *parser;
    gf_json_value root;
    if (named) *named = false;
    if (defaults.len == 0) return GF_OK;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = gf_settings_parse(parser, defaults, &root, err);
    if (st == GF_OK) st = find_configuration(root, configuration, &m, err);
    if (named) *named = st == GF_OK;
    if (st == GF_OK) st = fill_in(map, &m, err);
    gf_settings_map_release(&m);
    gf_json_parser_free(parser);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

void gf_settings_map_write(const gf_settings_map *map, gf_buffer *json)
{
    gf_json_writer w = gf_json_writer_to(json);
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (map->value[i].ptr && !map->inherited[i])
            gf_json_put_string(&w, settings[i].name, map->value[i]);
    gf_json_end(&w, '}');
}

void gf_settings_map_write_effective(const gf_settings_map *map, gf_buffer *json)
{
    gf_json_writer w = gf_json_writer_to(json);
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (map->value[i].ptr && !gf_slice_equal(map->value[i], gf_slice_str(settings[i].initial)))
            gf_json_put_string(&w, settings[i].name, map->value[i]);
    gf_json_end(&w, '}');
}

gf_status gf_settings_map_fix_times(gf_settings_map *map, int64_t now, gf_error *err)
{
    static const char *const names[] = {"since", "until"};
    gf_status st = GF_OK;
    for (size_t i = 0; i < 2 && st == GF_OK; i++) {
        size_t number = 0;
        int64_t ms;
        gf_buffer text = {0};
        st = gf_setting_find(gf_slice_str(names[i]), &number, err);
        if (st != GF_OK || !map->value[number].len) continue;
        if (!gf_filter_read_moment(map->value[number], now, &ms))
            continue; /* refused when resolved */
        gf_clock_write_iso(&text, ms);
        st = gf_buffer_check(&text, err);
        map->value[number] = gf_arena_copy(&map->memory, gf_buffer_view(&text));
        if (st == GF_OK && !map->value[number].ptr) st = gf_fail_memory(err, "settings");
        gf_buffer_release(&text);
    }
    return st;
}

gf_slice gf_settings_map_value(const gf_settings_map *map, size_t number)
{
    return map->value[number].ptr ? map->value[number] : gf_slice_str(settings[number].initial);
}

gf_status gf_settings_resolve(const gf_settings_map *map, gf_slice configuration, gf_resolved *out,
                              gf_error *err)
{
    gf_resolved r = {.vectorizer = gf_vectorizer_options_default()};
    gf_status st = GF_OK;
    for (size_t i = 0; i < N_SETTINGS && st == GF_OK; i++)
        st = apply(i, gf_settings_map_value(map, i), configuration, &r, err);
    if (st == GF_OK) st = gf_vectorizer_options_check(&r.vectorizer, err);
    if (st == GF_OK) *out = r;
    return st;
}

#include "vectorize/rows/vectorizer_options.h"

#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/nearest.h"

#include <inttypes.h>
#include <math.h>

static const char *const off_on[] = {"off", "on", NULL};
static const char *const link_modes[] = {"skip", "split", "keep", NULL};
static const char *const sign_modes[] = {"word", "skip", "keep", NULL};
static const char *const cjk_modes[] = {"words", "bigrams", NULL};
static const char *const tf_names[] = {"log", "raw", "binary", "relative", NULL};
static const char *const idf_names[] = {"log",     "log_plus_one",     "smooth",     "none",
                                        "log^1.5", "log_plus_one^1.5", "smooth^1.5", NULL};
static const char *const norm_names[] = {"l2", "none", NULL};

typedef enum setting_kind { LANGUAGE, WORDS, FLAG, CHOICE, NUMBER, LIMIT } setting_kind;

typedef struct setting {
    const char *name;
    setting_kind kind;
    size_t offset;             /* in gf_vectorizer_options */
    const char *const *values; /* of FLAG and CHOICE, by number */
} setting;

/* A CHOICE is an enum, read and written as its number. */
_Static_assert(sizeof(gf_tf) == sizeof(uint32_t) && sizeof(gf_link_mode) == sizeof(uint32_t),
               "an enum has the size of a number");

#define AT(field) offsetof(gf_vectorizer_options, field)
static const setting settings[] = {
    {"language", LANGUAGE, AT(analysis.language), NULL},
    {"stop_words", FLAG, AT(analysis.stop_words), off_on},
    {"more_stop_words", WORDS, AT(analysis.more_stop_words), NULL},
    {"stem", FLAG, AT(analysis.stem), off_on},
    {"ngrams_min", NUMBER, AT(analysis.ngrams_min), NULL},
    {"ngrams_max", NUMBER, AT(analysis.ngrams_max), NULL},
    {"ngrams_over_stop_words", FLAG, AT(analysis.ngrams_over_stop_words), off_on},
    {"ngrams_over_punctuation", FLAG, AT(analysis.ngrams_over_punctuation), off_on},
    {"min_length", NUMBER, AT(analysis.min_length), NULL},
    {"max_length", NUMBER, AT(analysis.max_length), NULL},
    {"urls", CHOICE, AT(analysis.urls), link_modes},
    {"mentions", CHOICE, AT(analysis.mentions), sign_modes},
    {"hashtags", CHOICE, AT(analysis.hashtags), sign_modes},
    {"numbers", FLAG, AT(analysis.numbers), off_on},
    {"cjk", CHOICE, AT(analysis.cjk), cjk_modes},
    {"entities", FLAG, AT(analysis.entities), off_on},
    {"tf", CHOICE, AT(weights.tf), tf_names},
    {"idf", CHOICE, AT(weights.idf), idf_names},
    {"norm", CHOICE, AT(weights.norm), norm_names},
    {"min_df", LIMIT, AT(min_df), NULL},
    {"max_df", LIMIT, AT(max_df), NULL},
    {"max_terms", NUMBER, AT(max_terms), NULL},
};
#undef AT
enum { N_SETTINGS = sizeof settings / sizeof *settings };

static const gf_slice header = {"analysis 1\n", 11};

gf_vectorizer_options gf_vectorizer_options_default(void)
{
    return (gf_vectorizer_options){
        .analysis = {.stop_words = true,
                     .stem = true,
                     .ngrams_min = 1,
                     .ngrams_max = 1,
                     .min_length = 2,
                     .max_length = 64,
                     .numbers = true,
                     .entities = true},
    };
}

/* ---- values to and from text ----------------------------------------------------------------- */

static bool parse_number(gf_slice value, uint32_t *number)
{
    uint64_t n = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9') return false;
        n = n * 10 + (uint64_t)(value.ptr[i] - '0');
        if (n > UINT32_MAX) return false;
    }
    *number = (uint32_t)n;
    return value.len > 0;
}

/* JSON's rules for numbers: the same in every locale, and an integer differs from a fraction. */
static gf_status parse_fraction(gf_slice value, double *number, bool *integer, gf_error *err)
{
    gf_json_parser *parser;
    gf_json_value root;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st != GF_OK) return st;
    st = gf_json_parse_copy(parser, value, &root, err);
    if (st == GF_OK && !gf_json_is_number(root)) st = GF_EINVAL;
    if (st == GF_OK) {
        *integer = gf_json_kind_of(root) != GF_JSON_DOUBLE;
        *number = gf_json_number(root);
    }
    gf_json_parser_free(parser);
    return st;
}

/* "auto", a count of documents "2", a share of them "0.5" or "50%". */
static gf_status parse_limit(const char *name, gf_slice value, gf_df_limit *limit, gf_error *err)
{
    static const char wants[] = "auto, a count (2), or a share of the documents (0.5, 50%)";
    bool percent = gf_slice_ends(value, GF_SLICE("%")), integer = false;
    double number = 0;
    if (gf_slice_equal(value, GF_SLICE("auto"))) {
        *limit = (gf_df_limit){.kind = GF_DF_AUTO};
        return GF_OK;
    }
    gf_slice digits = gf_slice_of(value.ptr, value.len - percent);
    gf_status st = parse_fraction(digits, &number, &integer, err);
    if (st == GF_ENOMEM) return st;
    if (percent) number /= 100;
    bool is_count = integer && !percent;
    if (st != GF_OK || number < 0 || number > (is_count ? (double)UINT32_MAX : 1.0))
        return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not %s", name, GF_SLICE_ARG(value), wants);
    *limit = is_count ? (gf_df_limit){.kind = GF_DF_COUNT, .count = (uint32_t)number}
                      : (gf_df_limit){.kind = GF_DF_SHARE, .share = number};
    return GF_OK;
}

static gf_status parse_choice(const setting *s, gf_slice value, uint32_t *choice, gf_error *err)
{
    char known[128] = "";
    for (uint32_t i = 0; s->values[i]; i++) {
        if (gf_slice_equal(value, gf_slice_str(s->values[i]))) {
            *choice = i;
            return GF_OK;
        }
        if (i) strcat(known, ", ");
        strcat(known, s->values[i]);
    }
    return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is none of %s", s->name, GF_SLICE_ARG(value),
                   known);
}

static gf_status parse_language(gf_slice value, const gf_language **language, gf_error *err)
{
    bool automatic = gf_slice_equal(value, GF_SLICE("auto"));
    const gf_language *found = automatic ? NULL : gf_language_find(value);
    if (!found && !automatic) {
        const char *near = gf_language_nearest(value);
        return gf_fail(err, GF_EINVAL, "language: \"%.*s\" is not known%s%s%s", GF_SLICE_ARG(value),
                       near ? "; did you mean \"" : "", near ? near : "",
                       near ? "\"?" : "; none does without stop words and stems");
    }
    *language = found;
    return GF_OK;
}

static gf_status set(const setting *s, gf_slice value, gf_vectorizer_options *o, gf_error *err)
{
    char *field = (char *)o + s->offset;
    uint32_t number;
    gf_status st;
    switch (s->kind) {
    case LANGUAGE:
        return parse_language(value, (const gf_language **)(void *)field, err);
    case WORDS:
        memcpy(field, &value, sizeof value);
        return GF_OK;
    case FLAG:
        st = parse_choice(s, value, &number, err);
        if (st == GF_OK) *(bool *)field = number == 1;
        return st;
    case CHOICE:
        st = parse_choice(s, value, &number, err);
        if (st == GF_OK) memcpy(field, &number, sizeof number);
        return st;
    case NUMBER:
        if (!parse_number(value, &number))
            return gf_fail(err, GF_EINVAL, "%s: \"%.*s\" is not a number", s->name,
                           GF_SLICE_ARG(value));
        memcpy(field, &number, sizeof number);
        return GF_OK;
    case LIMIT:
        return parse_limit(s->name, value, (gf_df_limit *)(void *)field, err);
    }
    return GF_EINVAL;
}

/* A share is written so that it reads back as one: 1 as 1.0. */
static void show_limit(gf_df_limit limit, gf_buffer *out)
{
    if (limit.kind == GF_DF_AUTO) {
        gf_buffer_str(out, "auto");
    } else if (limit.kind == GF_DF_COUNT) {
        gf_buffer_format(out, "%" PRIu32, limit.count);
    } else if (limit.share == 0 || limit.share == 1) {
        gf_buffer_str(out, limit.share == 0 ? "0.0" : "1.0");
    } else {
        gf_json_append_double(out, limit.share);
    }
}

static void show(const setting *s, const gf_vectorizer_options *o, gf_buffer *out)
{
    const char *field = (const char *)o + s->offset;
    const gf_language *language;
    uint32_t number;
    gf_slice words;
    switch (s->kind) {
    case LANGUAGE:
        memcpy(&language, field, sizeof language);
        gf_buffer_str(out, language ? language->name : "auto");
        break;
    case WORDS: /* control characters only separate words, and lines are ours */
        memcpy(&words, field, sizeof words);
        for (size_t i = 0; i < words.len; i++)
            gf_buffer_byte(out, (unsigned char)words.ptr[i] < ' ' ? ' ' : words.ptr[i]);
        break;
    case FLAG:
        gf_buffer_str(out, s->values[*(const bool *)field]);
        break;
    case CHOICE:
        memcpy(&number, field, sizeof number);
        gf_buffer_str(out, s->values[number]);
        break;
    case NUMBER:
        memcpy(&number, field, sizeof number);
        gf_buffer_format(out, "%" PRIu32, number);
        break;
    case LIMIT:
        show_limit(*(const gf_df_limit *)(const void *)field, out);
        break;
    }
}

/* ---- the interface --------------------------------------------------------------------------- */

gf_status gf_vectorizer_options_set(gf_vectorizer_options *options, gf_slice name, gf_slice value,
                                    gf_error *err)
{
    const char *names[N_SETTINGS];
    if (gf_slice_equal(name, GF_SLICE("smart")))
        return gf_weights_from_smart(value, &options->weights, err);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        names[i] = settings[i].name;
        if (gf_slice_equal(name, gf_slice_str(names[i])))
            return set(&settings[i], value, options, err);
    }
    const char *near = gf_nearest(name, names, N_SETTINGS);
    return gf_fail(err, GF_EINVAL, "no setting is called \"%.*s\"%s%s%s", GF_SLICE_ARG(name),
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static bool is_choice_in_range(const gf_vectorizer_options *o, const setting *s)
{
    uint32_t number, n = 0;
    if (s->kind != CHOICE) return true;
    memcpy(&number, (const char *)o + s->offset, sizeof number);
    while (s->values[n])
        n++;
    return number < n;
}

static bool is_share(gf_df_limit limit)
{
    return limit.kind != GF_DF_SHARE || (limit.share >= 0 && limit.share <= 1);
}

gf_status gf_vectorizer_options_check(const gf_vectorizer_options *o, gf_error *err)
{
    const gf_analysis_options *a = &o->analysis;
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (!is_choice_in_range(o, &settings[i]))
            return gf_fail(err, GF_EINVAL, "%s has no such value", settings[i].name);
    if (a->ngrams_min < 1 || a->ngrams_min > a->ngrams_max || a->ngrams_max > GF_MOST_NGRAM)
        return gf_fail(err, GF_EINVAL,
                       "ngrams_min %" PRIu32 " and ngrams_max %" PRIu32
                       " are not 1 <= min <= max <= %d",
                       a->ngrams_min, a->ngrams_max, GF_MOST_NGRAM);
    if (a->max_length < 1 || a->min_length > a->max_length || a->max_length > GF_MOST_LENGTH)
        return gf_fail(err, GF_EINVAL,
                       "min_length %" PRIu32 " and max_length %" PRIu32
                       " are not min <= max, 1..%d",
                       a->min_length, a->max_length, GF_MOST_LENGTH);
    if (!is_share(o->min_df) || !is_share(o->max_df))
        return gf_fail(err, GF_EINVAL, "min_df and max_df as shares lie between 0 and 1");
    if ((o->max_df.kind == GF_DF_COUNT && o->max_df.count == 0) ||
        (o->max_df.kind == GF_DF_SHARE && o->max_df.share == 0))
        return gf_fail(err, GF_EINVAL, "a max_df of 0 leaves no term");
    return GF_OK;
}

bool gf_vectorizer_options_show(const gf_vectorizer_options *options, size_t i, const char **name,
                                gf_buffer *value)
{
    if (i >= N_SETTINGS) return false;
    *name = settings[i].name;
    show(&settings[i], options, value);
    return true;
}

void gf_vectorizer_options_write(const gf_vectorizer_options *options, gf_buffer *out)
{
    gf_buffer_slice(out, header);
    for (size_t i = 0; i < N_SETTINGS; i++) {
        gf_buffer_format(out, "%s=", settings[i].name);
        show(&settings[i], options, out);
        gf_buffer_byte(out, '\n');
    }
}

static gf_status read_line(gf_slice *rest, gf_vectorizer_options *o, gf_error *err)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    const char *equals = end ? memchr(rest->ptr, '=', (size_t)(end - rest->ptr)) : NULL;
    if (!equals) return gf_fail(err, GF_ECORRUPT, "stored analysis settings: a line is damaged");
    gf_slice name = gf_slice_of(rest->ptr, (size_t)(equals - rest->ptr));
    gf_slice value = gf_slice_of(equals + 1, (size_t)(end - equals - 1));
    *rest = gf_slice_skip(*rest, (size_t)(end - rest->ptr) + 1);
    gf_status st = gf_vectorizer_options_set(o, name, value, err);
    if (st != GF_EINVAL) return st;
    gf_error_prefix(err, "stored analysis settings");
    if (err) err->status = GF_ECORRUPT;
    return GF_ECORRUPT;
}

gf_status gf_vectorizer_options_read(gf_slice bytes, gf_vectorizer_options *options, gf_error *err)
{
    gf_vectorizer_options o = gf_vectorizer_options_default();
    if (!gf_slice_starts(bytes, header))
        return gf_fail(err, GF_ECORRUPT, "stored analysis settings of an unknown version");
    gf_slice rest = gf_slice_skip(bytes, header.len);
    gf_status st = GF_OK;
    while (rest.len && st == GF_OK)
        st = read_line(&rest, &o, err);
    if (st == GF_OK && gf_vectorizer_options_check(&o, err) != GF_OK) {
        if (err) err->status = GF_ECORRUPT;
        st = GF_ECORRUPT;
    }
    if (st == GF_OK) *options = o;
    return st;
}

void gf_vectorizer_options_df_bounds(const gf_vectorizer_options *options, uint32_t n_docs,
                                     uint32_t *least, uint32_t *most)
{
    gf_df_limit min = options->min_df, max = options->max_df;
    bool many = n_docs >= GF_AUTO_DF;
    *least = min.kind == GF_DF_COUNT ? min.count : 1;
    *most = max.kind == GF_DF_COUNT ? max.count : n_docs;
    if (min.kind == GF_DF_AUTO && many) *least = 2;
    if (min.kind == GF_DF_SHARE) *least = (uint32_t)ceil(min.share * n_docs);
    if (max.kind == GF_DF_AUTO && many) *most = n_docs / 2;
    if (max.kind == GF_DF_SHARE) *most = (uint32_t)floor(max.share * n_docs);
    if (*least < 1) *least = 1;
}

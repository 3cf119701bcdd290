#include "support/test.h"

#include "base/memory.h"
#include "cluster/measure/k_curve.h"

#include <math.h>
#include <string.h>

/* A point of a curve by its worth, which is what the rules are about. */
typedef struct point {
    uint32_t k;
    double worth;
} point;

#define POINTS(points) points, sizeof(points) / sizeof(points)[0]

static gf_k_curve curve_of(const point *points, size_t n)
{
    gf_error err;
    gf_k_curve c = {.many = true};
    for (size_t i = 0; i < n; i++)
        assert_ok(gf_k_curve_add(&c, points[i].k, points[i].worth * pow(points[i].k, 0.02), &err));
    assert_int_equal(c.n, n);
    return c;
}

static uint32_t choice(const point *points, size_t n)
{
    gf_k_curve c = curve_of(points, n);
    uint32_t k = gf_k_curve_choose(&c).k;
    gf_k_curve_release(&c);
    return k;
}

/* A bit for each point, the first lowest: the curve would go on behind it. */
static uint64_t going_on(const point *points, size_t n)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++) {
        gf_k_curve c = curve_of(points, i + 1);
        bits |= (uint64_t)gf_k_curve_goes_on(&c) << i;
        gf_k_curve_release(&c);
    }
    return bits;
}

/* ---- the peak -------------------------------------------------------------------------------- */

static void a_single_peak_is_chosen(void **state)
{
    (void)state;
    const point peak[] = {{1, 0.02}, {2, 0.2}, {3, 0.3}, {4, 0.4}, {5, 0.5}, {6, 0.4}, {7, 0.3}};
    assert_int_equal(choice(POINTS(peak)), 5);
    const point rising[] = {{1, 0.02}, {2, 0.2}, {3, 0.3}, {4, 0.4}};
    assert_int_equal(choice(POINTS(rising)), 4);
}

static void without_separation_there_is_one_cluster(void **state)
{
    (void)state;
    const point none[] = {{1, 0.02}, {2, 0.015}, {3, 0.019}, {4, -0.5}, {5, 0.01}};
    assert_int_equal(choice(POINTS(none)), 1);
    assert_int_equal(choice(none, 1), 1);
    const point late[] = {{1, 0.02}, {2, 0.015}, {3, 0.01}, {4, 0.021}};
    assert_int_equal(choice(POINTS(late)), 4);
}

/* A valley of 8 % must be left by more than 8 %; without a valley whatever is higher is the peak.
 */
static void a_rise_behind_a_valley_must_outweigh_it(void **state)
{
    (void)state;
    point c[] = {{1, 0.02},  {2, 0.06},  {3, 0.08}, {4, 0.1},    {5, 0.094},
                 {6, 0.092}, {8, 0.095}, {10, 0.1}, {12, 0.103}, {15, 0.07}};
    assert_int_equal(choice(POINTS(c)), 4);
    c[8].worth = 0.1079;
    assert_int_equal(choice(POINTS(c)), 4);
    c[8].worth = 0.1081;
    assert_int_equal(choice(POINTS(c)), 12);
    c[8].worth = 0.103;
    c[4].worth = c[5].worth = 0.096; /* no valley: 96 % */
    assert_int_equal(choice(POINTS(c)), 12);
}

/* The depth of the deepest place counts. */
static void a_valley_is_as_deep_as_its_deepest_place(void **state)
{
    (void)state;
    point c[] = {{1, 0.02}, {2, 0.06}, {4, 0.1}, {5, 0.09}, {6, 0.1}, {7, 0.08}, {8, 0.115}};
    assert_int_equal(choice(POINTS(c)), 4);
    c[6].worth = 0.121;
    assert_int_equal(choice(POINTS(c)), 8);
}

/* Behind two or three clusters 95 % of their worth are enough, behind four they are not. */
static void few_clusters_give_way_to_what_comes_near(void **state)
{
    (void)state;
    point c[] = {{1, 0.02}, {2, 0.3}, {3, 0.27}, {4, 0.286}, {10, 0.2}, {12, 0.1}};
    assert_int_equal(choice(POINTS(c)), 4);
    c[3].worth = 0.284;
    assert_int_equal(choice(POINTS(c)), 2);
    point three[] = {{1, 0.02}, {2, 0.2}, {3, 0.3}, {4, 0.284}, {6, 0.2}, {8, 0.1}};
    assert_int_equal(choice(POINTS(three)), 3);
    const point four[] = {{1, 0.02}, {2, 0.2}, {4, 0.3}, {5, 0.26}, {8, 0.286}, {10, 0.2}};
    assert_int_equal(choice(POINTS(four)), 4);
}

/*
 * Five or more that hold 80 % of the worth of two or three take their place, the best of them; but
 * those of a plateau with two or three themselves never.
 */
static void few_clusters_give_way_to_finer_ones_that_hold_the_floor(void **state)
{
    (void)state;
    point c[] = {{1, 0.02}, {2, 0.3}, {3, 0.29}, {4, 0.25}, {5, 0.241}, {8, 0.249}, {12, 0.2}};
    assert_int_equal(choice(POINTS(c)), 8);
    gf_k_curve curve = curve_of(POINTS(c));
    gf_k_reason r = gf_k_curve_choose(&curve);
    assert_int_equal(r.few, 2);
    assert_int_equal(r.best, 8);
    assert_int_equal(r.from, 8);
    assert_int_equal(r.to, 8);
    assert_near(r.worth, 0.249, 1e-12);
    gf_k_curve_release(&curve);
    curve = curve_of(POINTS(c));
    curve.many = false; /* three of a few dozen documents are no wonder */
    assert_int_equal(gf_k_curve_choose(&curve).k, 2);
    gf_k_curve_release(&curve);
    c[5].worth = 0.238;
    assert_int_equal(choice(POINTS(c)), 5);
    c[4].worth = 0.239;
    assert_int_equal(choice(POINTS(c)), 2); /* 80 % of 0.3 are 0.24 */
    point flat[] = {{1, 0.02}, {2, 0.3}, {3, 0.299}, {4, 0.299}, {5, 0.299}, {6, 0.2}};
    assert_int_equal(choice(POINTS(flat)), 5); /* four do not count, though as good */
    const point four[] = {{1, 0.02}, {2, 0.2}, {4, 0.3}, {5, 0.26}, {8, 0.26}};
    assert_int_equal(choice(POINTS(four)), 4);
}

/* ---- the plateau ----------------------------------------------------------------------------- */

static void two_thirds_up_the_plateau_is_chosen(void **state)
{
    (void)state;
    /* from 10 to 18; two thirds of the way by logarithms are 14.8: 16 is nearer than 12 */
    point c[] = {{1, 0.02},   {6, 0.4},    {8, 0.47}, {10, 0.496},
                 {12, 0.496}, {16, 0.496}, {18, 0.5}, {22, 0.45}};
    assert_int_equal(choice(POINTS(c)), 16);
    c[2].worth = 0.496; /* from 8 to 18: 13.7 */
    assert_int_equal(choice(POINTS(c)), 12);
    c[6].worth = 0.494;
    c[3].worth = 0.5; /* from 8 to 16, over 10: 12.7 */
    assert_int_equal(choice(POINTS(c)), 12);
    c[4].worth = c[5].worth = 0.49; /* from 8 to 10: 9.3 */
    assert_int_equal(choice(POINTS(c)), 10);
}

/* The worthier of two that lie as near to the aim. */
static void of_two_as_near_the_worthier_is_chosen(void **state)
{
    (void)state;
    /* from 2 to 54, a factor of 27: the aim is 18, between 12 and 27 */
    point c[] = {{1, 0.02}, {2, 0.499}, {12, 0.498}, {27, 0.5}, {54, 0.499}, {60, 0.3}};
    assert_int_equal(choice(POINTS(c)), 27);
    c[2].worth = 0.5;
    c[3].worth = 0.498;
    assert_int_equal(choice(POINTS(c)), 12);
}

static void a_plateau_ends_at_a_valley(void **state)
{
    (void)state;
    const point c[] = {{1, 0.02}, {3, 0.3}, {4, 0.5}, {6, 0.46}, {10, 0.499}, {16, 0.499}};
    assert_int_equal(choice(POINTS(c)), 4);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void a_valley_ends_the_search_far_behind_its_peak(void **state)
{
    (void)state;
    const point four[] = {{1, 0.02}, {4, 0.5}, {6, 0.4}, {16, 0.4}, {23, 0.4}, {24, 0.4}};
    assert_int_equal(going_on(POINTS(four)), 0x1f);
    const point three[] = {{1, 0.02}, {3, 0.5}, {6, 0.4}, {18, 0.4}, {29, 0.4}, {36, 0.3}};
    assert_int_equal(going_on(POINTS(three)), 0x1f); /* behind few clusters as without a valley */
}

static void the_search_goes_on_while_the_worth_rises(void **state)
{
    (void)state;
    point c[] = {{1, 0.02},  {10, 0.3},  {29, 0.31}, {36, 0.32},  {45, 0.33},
                 {56, 0.32}, {70, 0.32}, {87, 0.32}, {108, 0.32}, {135, 0.32}};
    /* 98 % of 0.33 are 0.3234: five steps without a rise end it, each above 97 %, 0.3201 */
    c[5].worth = c[6].worth = c[7].worth = c[8].worth = c[9].worth = 0.3205;
    assert_int_equal(going_on(POINTS(c)), 0x1ff);
    c[7].worth = 0.319;
    assert_int_equal(going_on(c, 8), 0x7f);
    c[7].worth = 0.321;
    assert_int_equal(going_on(c, 8), 0xff);
}

/* Within 2 % of the peak there is no end: of few clusters that give way, of the finer ones'. */
static void the_search_goes_on_near_the_peak(void **state)
{
    (void)state;
    const point c[] = {{1, 0.02},    {10, 0.3},    {29, 0.31},  {36, 0.32},
                       {45, 0.33},   {56, 0.324},  {70, 0.324}, {87, 0.324},
                       {108, 0.324}, {135, 0.324}, {160, 0.323}};
    assert_int_equal(going_on(POINTS(c)), 0x3ff);
    const point few[] = {{1, 0.02},   {2, 0.35},   {29, 0.31},  {36, 0.304}, {45, 0.304},
                         {56, 0.304}, {70, 0.304}, {87, 0.304}, {108, 0.303}};
    assert_int_equal(going_on(POINTS(few)), 0xff);
    const point none[] = {{1, 0.02}, {2, 0.01}, {29, 0.0199}, {36, 0.0199}, {45, 0.0199}};
    assert_int_equal(going_on(none, 3), 0x7); /* no peak that could be near */
    assert_int_equal(going_on(POINTS(none)), 0x1f);
}

/* ---- a number that is served ----------------------------------------------------------------- */

static bool keeps(const point *points, size_t n, uint32_t k)
{
    gf_k_curve c = curve_of(points, n);
    gf_k_reason r = gf_k_curve_choose(&c);
    bool kept = gf_k_curve_keeps(c.steps, c.n, &r, k);
    gf_k_curve_release(&c);
    return kept;
}

static void a_number_within_two_per_cent_is_kept(void **state)
{
    (void)state;
    /* 98 % of 0.5 are 0.49 */
    const point c[] = {{1, 0.02}, {4, 0.48}, {8, 0.491}, {16, 0.5}, {32, 0.489}, {64, 0.3}};
    assert_true(keeps(POINTS(c), 8));
    assert_true(keeps(POINTS(c), 16));
    assert_false(keeps(POINTS(c), 4));
    assert_false(keeps(POINTS(c), 32));
    assert_false(keeps(POINTS(c), 65)); /* behind the curve nothing is known */
    assert_false(keeps(POINTS(c), 0));
    /* Between steps by ln k: from 4 to 8 0.49 is reached at 4 * 2^(10 / 11), 7.5. */
    assert_false(keeps(POINTS(c), 7));
    assert_true(keeps(POINTS(c), 10));
    assert_true(keeps(POINTS(c), 29)); /* 16 * 2^(10 / 11) is 30.04 */
    assert_true(keeps(POINTS(c), 30));
    assert_false(keeps(POINTS(c), 31));
    const point few[] = {{1, 0.02}, {2, 0.3}, {3, 0.29}, {4, 0.26}, {5, 0.25}, {8, 0.255}};
    assert_false(keeps(POINTS(few), 2)); /* worth more than the choice, 8, but it gave way */
    assert_false(keeps(POINTS(few), 4));
    assert_true(keeps(POINTS(few), 5));
    const point one[] = {{1, 0.02}, {2, 0.01}};
    assert_true(keeps(POINTS(one), 1));
    assert_false(keeps(POINTS(one), 2));
}

/* ---- real curves ----------------------------------------------------------------------------- */

/* Separations of collections, seed 1, each walked far behind its end. */
static const gf_choice_step newsgroups[] = {
    {1, 0.02000},   {2, 0.27006},   {3, 0.29897},   {4, 0.27952},   {5, 0.27386},
    {6, 0.27681},   {7, 0.28268},   {8, 0.28977},   {10, 0.29505},  {12, 0.29850},
    {15, 0.30645},  {18, 0.31245},  {22, 0.31943},  {27, 0.32321},  {33, 0.31817},
    {41, 0.31125},  {51, 0.29979},  {63, 0.29711},  {78, 0.29340},  {97, 0.29276},
    {121, 0.28352}, {151, 0.28316}, {188, 0.28496}, {235, 0.28162}, {293, 0.27969}};
static const gf_choice_step ag_news[] = {
    {1, 0.02000},   {2, 0.32082},   {3, 0.37302},   {4, 0.37822},   {5, 0.36928},
    {6, 0.36668},   {7, 0.35591},   {8, 0.35953},   {10, 0.35882},  {12, 0.35573},
    {15, 0.35741},  {18, 0.36443},  {22, 0.37329},  {27, 0.38403},  {33, 0.38880},
    {41, 0.39384},  {51, 0.39453},  {63, 0.39647},  {78, 0.39253},  {97, 0.39082},
    {121, 0.37504}, {151, 0.36466}, {188, 0.35723}, {235, 0.34896}, {293, 0.33957}};
static const gf_choice_step bug_titles[] = {
    {1, 0.02000},   {2, 0.38668},   {3, 0.41763},   {4, 0.43447},   {5, 0.44722},
    {6, 0.45870},   {7, 0.47089},   {8, 0.47908},   {10, 0.47679},  {12, 0.47594},
    {15, 0.47906},  {18, 0.47797},  {22, 0.47620},  {27, 0.47792},  {33, 0.47484},
    {41, 0.46826},  {51, 0.46202},  {63, 0.45014},  {78, 0.43212},  {97, 0.41264},
    {121, 0.38520}, {151, 0.35870}, {188, 0.32895}, {235, 0.30566}, {293, 0.28498}};
static const gf_choice_step event_tweets[] = {
    {1, 0.02000},   {2, 0.53825},   {3, 0.56624},   {4, 0.59647},   {5, 0.59542},
    {6, 0.60868},   {7, 0.61944},   {8, 0.62787},   {10, 0.64139},  {12, 0.65245},
    {15, 0.66435},  {18, 0.67190},  {22, 0.67887},  {27, 0.68573},  {33, 0.69193},
    {41, 0.69678},  {51, 0.69804},  {63, 0.69584},  {78, 0.67805},  {97, 0.65558},
    {121, 0.61872}, {151, 0.58074}, {188, 0.52409}, {235, 0.47345}, {293, 0.43561}};
static const gf_choice_step reddit20[] = {
    {1, 0.02000},   {2, 0.35304},   {3, 0.36307},   {4, 0.37268},   {5, 0.37858},
    {6, 0.39165},   {7, 0.40692},   {8, 0.42212},   {10, 0.42718},  {12, 0.43793},
    {15, 0.45633},  {18, 0.47674},  {22, 0.47392},  {27, 0.46103},  {33, 0.43954},
    {41, 0.42290},  {51, 0.39732},  {63, 0.37628},  {78, 0.35702},  {97, 0.34691},
    {121, 0.32480}, {151, 0.30822}, {188, 0.29308}, {235, 0.27707}, {293, 0.25255}};
static const gf_choice_step sms_spam[] = {
    {1, 0.02000},   {2, 0.40775},   {3, 0.43866},   {4, 0.44987},   {5, 0.45407},
    {6, 0.46038},   {7, 0.45686},   {8, 0.45767},   {10, 0.45622},  {12, 0.45739},
    {15, 0.46183},  {18, 0.45980},  {22, 0.45892},  {27, 0.45660},  {33, 0.45149},
    {41, 0.44878},  {51, 0.44157},  {63, 0.43483},  {78, 0.42183},  {97, 0.41102},
    {121, 0.39065}, {151, 0.37441}, {188, 0.36157}, {235, 0.34972}, {293, 0.33465}};
static const gf_choice_step snippets[] = {
    {1, 0.02000},   {2, 0.39152},   {3, 0.42167},   {4, 0.44145},   {5, 0.45127},
    {6, 0.45858},   {7, 0.45995},   {8, 0.47368},   {10, 0.48605},  {12, 0.49094},
    {15, 0.48081},  {18, 0.47861},  {22, 0.47819},  {27, 0.48077},  {33, 0.48138},
    {41, 0.48146},  {51, 0.48035},  {63, 0.47529},  {78, 0.47125},  {97, 0.46732},
    {121, 0.45579}, {151, 0.44295}, {188, 0.43412}, {235, 0.42606}, {293, 0.41641}};
static const gf_choice_step zh_shop[] = {
    {1, 0.02000},   {2, 0.31362},   {3, 0.34339},   {4, 0.37789},   {5, 0.39568},
    {6, 0.40597},   {7, 0.41701},   {8, 0.42230},   {10, 0.41608},  {12, 0.40125},
    {15, 0.39249},  {18, 0.37191},  {22, 0.35788},  {27, 0.34512},  {33, 0.34466},
    {41, 0.33002},  {51, 0.31057},  {63, 0.30833},  {78, 0.29883},  {97, 0.28493},
    {121, 0.25896}, {151, 0.24771}, {188, 0.23454}, {235, 0.21872}, {293, 0.20439}};
static const gf_choice_step reddit_titles[] = {
    {1, 0.02000},   {2, 0.41498},   {3, 0.41001},   {4, 0.41703},   {5, 0.42956},   {6, 0.45028},
    {7, 0.45297},   {8, 0.46534},   {10, 0.47864},  {12, 0.48027},  {15, 0.48736},  {18, 0.48368},
    {22, 0.48667},  {27, 0.48823},  {33, 0.49186},  {41, 0.48670},  {51, 0.48188},  {63, 0.47842},
    {78, 0.47062},  {97, 0.46057},  {121, 0.44036}, {151, 0.42464}, {188, 0.41030}, {235, 0.39600},
    {293, 0.38006}, {366, 0.36368}, {457, 0.34414}, {571, 0.31482}};
static const gf_choice_step reddit_all_full[] = {
    {1, 0.02000},   {2, 0.25513},   {3, 0.26138},   {4, 0.25226},   {5, 0.25914},   {6, 0.26637},
    {7, 0.26871},   {8, 0.27519},   {10, 0.27997},  {12, 0.28615},  {15, 0.29453},  {18, 0.29780},
    {22, 0.30242},  {27, 0.30618},  {33, 0.31380},  {41, 0.31873},  {51, 0.32311},  {63, 0.32883},
    {78, 0.33167},  {97, 0.33335},  {121, 0.32606}, {151, 0.32179}, {188, 0.32084}, {235, 0.31770},
    {293, 0.31052}, {366, 0.30209}, {457, 0.29538}, {571, 0.27777}};
static const gf_choice_step rs3533[] = {
    {1, 0.02000},   {2, 0.35003},   {3, 0.29847},   {4, 0.31037},   {5, 0.29836},
    {6, 0.29541},   {7, 0.30971},   {8, 0.31874},   {10, 0.31997},  {12, 0.31628},
    {15, 0.32158},  {18, 0.32847},  {22, 0.33515},  {27, 0.33405},  {33, 0.34049},
    {41, 0.34300},  {51, 0.35139},  {63, 0.34672},  {78, 0.34996},  {97, 0.35180},
    {121, 0.33668}, {151, 0.33033}, {188, 0.32378}, {235, 0.31909}, {293, 0.30821}};
static const gf_choice_step rs21201[] = {
    {1, 0.02000},   {2, 0.29663},   {3, 0.30933},   {4, 0.27758},   {5, 0.28055},
    {6, 0.28911},   {7, 0.28566},   {8, 0.27145},   {10, 0.28048},  {12, 0.28119},
    {15, 0.28628},  {18, 0.28966},  {22, 0.29205},  {27, 0.29921},  {33, 0.30317},
    {41, 0.31072},  {51, 0.31494},  {63, 0.32086},  {78, 0.32575},  {97, 0.32990},
    {121, 0.31927}, {151, 0.31189}, {188, 0.30813}, {235, 0.30342}, {293, 0.29661}};

typedef struct real_curve {
    const char *name;
    const gf_choice_step *steps;
    size_t n;
    gf_k_reason is;
} real_curve;

#define CURVE(steps) steps, sizeof(steps) / sizeof(steps)[0]

static const real_curve curves[] = {
    {"20 Newsgroups, 8,000 messages of 20 groups", CURVE(newsgroups), {27, 27, 22, 27, 0, 0}},
    {"AG News, 7,600 of 4 classes", CURVE(ag_news), {4, 4, 3, 4, 0, 0}},
    {"titles of bug reports, 8,000 of 5 programs", CURVE(bug_titles), {10, 8, 8, 10, 0, 0}},
    {"tweets, 8,000 of 261 events", CURVE(event_tweets), {51, 41, 27, 63, 0, 0}},
    {"posts, 8,000 of 20 subreddits", CURVE(reddit20), {22, 18, 18, 22, 0, 0}},
    {"short messages, 5,574 of 2 classes", CURVE(sms_spam), {6, 6, 6, 6, 0, 0}},
    {"search snippets, 8,000 of 8 domains", CURVE(snippets), {12, 12, 10, 12, 0, 0}},
    {"Chinese reviews, 8,000 of 10 kinds of goods", CURVE(zh_shop), {8, 8, 7, 8, 0, 0}},
    {"titles of 282,676 posts of 288 subreddits", CURVE(reddit_titles), {22, 15, 10, 33, 0, 0}},
    {"these posts whole", CURVE(reddit_all_full), {78, 97, 63, 97, 0, 0}},
    {"the first 3,533 of an eighth of them: two are separated best by 7 %",
     CURVE(rs3533),
     {51, 51, 51, 51, 2, 0}},
    {"the first 21,201: three are separated best", CURVE(rs21201), {97, 97, 78, 97, 0, 0}},
};

static void numbers_of_real_collections(void **state)
{
    (void)state;
    gf_error err;
    for (size_t i = 0; i < sizeof curves / sizeof curves[0]; i++) {
        const real_curve *r = &curves[i];
        gf_k_curve c = {.many = true};
        for (size_t j = 0; j < r->n; j++) {
            if (c.n && !gf_k_curve_goes_on(&c)) break;
            assert_ok(gf_k_curve_add(&c, r->steps[j].k, r->steps[j].separation, &err));
        }
        gf_k_reason is = gf_k_curve_choose(&c);
        if (is.k != r->is.k || is.best != r->is.best || is.from != r->is.from ||
            is.to != r->is.to || is.few != r->is.few)
            fail_msg("%s: %u, best %u, %u to %u, few %u", r->name, is.k, is.best, is.from, is.to,
                     is.few);
        assert_true(gf_k_curve_keeps(c.steps, c.n, &is, is.k));
        gf_k_curve_release(&c);
    }
}

/* ---- too little memory ----------------------------------------------------------------------- */

static gf_status add_many(void *context, gf_error *err)
{
    (void)context;
    gf_k_curve c = {0};
    gf_status st = GF_OK;
    for (uint32_t k = 1; k <= 100 && st == GF_OK; k++) {
        st = gf_k_curve_add(&c, k, 0.5, err);
        assert_int_equal(c.n, st == GF_OK ? k : k - 1);
    }
    for (uint32_t i = 0; i < c.n; i++)
        assert_int_equal(c.steps[i].k, i + 1);
    gf_k_curve_release(&c);
    return st;
}

static void failing_memory(void **state)
{
    (void)state;
    gf_test_sweep(add_many, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_peak_is_chosen),
        cmocka_unit_test(without_separation_there_is_one_cluster),
        cmocka_unit_test(a_rise_behind_a_valley_must_outweigh_it),
        cmocka_unit_test(a_valley_is_as_deep_as_its_deepest_place),
        cmocka_unit_test(few_clusters_give_way_to_what_comes_near),
        cmocka_unit_test(few_clusters_give_way_to_finer_ones_that_hold_the_floor),
        cmocka_unit_test(two_thirds_up_the_plateau_is_chosen),
        cmocka_unit_test(of_two_as_near_the_worthier_is_chosen),
        cmocka_unit_test(a_plateau_ends_at_a_valley),
        cmocka_unit_test(a_valley_ends_the_search_far_behind_its_peak),
        cmocka_unit_test(the_search_goes_on_while_the_worth_rises),
        cmocka_unit_test(the_search_goes_on_near_the_peak),
        cmocka_unit_test(a_number_within_two_per_cent_is_kept),
        cmocka_unit_test(numbers_of_real_collections),
        cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}

/*
 * Tables: joined, made, altered, dropped.
 *
 * What HBase says of a family counts: its number of versions, its time to live. A schema adds what
 * HBase does not know: what a key is made of, which columns there are, what values mean.
 *
 * The engine's tables and those of tweets are made when something is first written to them, and
 * looked for when they are first used, so that who works on users' tables alone pays nothing for
 * them, and who only asks makes none.
 */
#include "storage/hbase/internal.h"

#include "base/memory.h"
#include "storage/schema.h"

#include <assert.h>

static const char users[] = GF_BACKEND_USERS_TABLE;
static const char catalogue[] = "tables";
static const char own_names[] =
    GF_BACKEND_OWN_TABLE; /* what the name of a table of ours begins with */
/* The engine's tables (storage/tables.h), but for that of users' tables. */
static const char *const engine_tables[] = {"documents", "clusters",    "collections",
                                            "builds",    "memberships", "changes"};
/* Tables of tweets: such as others have, under the same names, and those that are only ours. */
static const char *const tweets_tables[] = {"RawTwitterData", "TermIndex", "TweetFrequency",
                                            "GeoTemporalIndex"};
static const char *const own_tweets_tables[] = {"TweetIds", "TweetDeletions", "TweetSettings"};
static const char papers[] =
    "wbgrp-journal-extract-";             /* what theirs begin with, with others, too */
static const char ours[] = "grouperfish"; /* a setting of families that were made here */

/* Fields of TColumnFamilyDescriptor. */
enum { FAMILY_NAME = 1, FAMILY_SETTINGS = 3, FAMILY_VERSIONS = 10, FAMILY_TTL = 13 };

enum { FOREVER = INT32_MAX };

/* ---- finding --------------------------------------------------------------------------------- */

gf_status gf_hbase_find_table(gf_hbase *b, unsigned number, gf_hbase_table **t,
                              const gf_schema **schema, gf_error *err)
{
    assert(number > 0 && number <= b->n_tables);
    pthread_mutex_lock(&b->lock);
    *t = b->tables[number];
    *schema = (*t)->schema;
    bool dropped = (*t)->dropped;
    pthread_mutex_unlock(&b->lock);
    if (!(*t)->kept)
        return gf_fail(err, GF_EINVAL,
                       "a store in HBase does not keep it, but one in a folder does "
                       "(--store FOLDER)");
    return dropped ? gf_fail(err, GF_ENOTFOUND, "it was dropped") : GF_OK;
}

gf_status gf_hbase_fail_table(const gf_hbase_table *t, gf_status st, gf_error *err)
{
    static const char says[] = "HBase: ";
    if (st != GF_EINVAL || !err) return st;
    gf_slice words = gf_slice_str(err->message);
    if (!gf_slice_starts(words, gf_slice_str(says))) return st;
    if (!gf_slice_equal(gf_slice_skip(words, sizeof says - 1), t->name)) return st;
    return gf_fail(err, GF_ENOTFOUND, "HBase has no table %s any more", t->name.ptr);
}

static void put_table_name(gf_buffer *b, const gf_hbase *backend, const gf_hbase_table *t)
{
    gf_thrift_string_field(b, 1, gf_slice_str(backend->address.name_space));
    gf_thrift_string_field(b, 2, t->qualifier);
    gf_thrift_stop(b);
}

/* A call whose only argument is the name of the table. */
static void begin_on_name(gf_hbase_call *call, const char *method, const gf_hbase *b,
                          const gf_hbase_table *t)
{
    gf_hbase_call_begin(call, method);
    gf_thrift_field(&call->request, GF_THRIFT_STRUCT, 1);
    put_table_name(&call->request, b, t);
}

/* The answer of a call that says yes or no. */
static gf_status ask(gf_hbase *b, const gf_hbase_table *t, const char *method, bool *yes,
                     gf_error *err)
{
    gf_hbase_call call = {0};
    begin_on_name(&call, method, b, t);
    gf_status st = gf_hbase_call_run(b->client, &call, GF_THRIFT_BOOL, GF_HBASE_READS, err);
    if (st == GF_OK) *yes = call.has_result && gf_thrift_take_bool(&call.result);
    gf_hbase_call_release(&call);
    return st;
}

static gf_status order(gf_hbase *b, const gf_hbase_table *t, const char *method, gf_error *err)
{
    gf_hbase_call call = {0};
    begin_on_name(&call, method, b, t);
    gf_status st = gf_hbase_call_run(b->client, &call, GF_THRIFT_STOP, GF_HBASE_WRITES, err);
    gf_hbase_call_release(&call);
    return st;
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* A family as HBase has it; borrowed from the answer. */
typedef struct described {
    gf_slice name;
    gf_slice bytes; /* of its TColumnFamilyDescriptor */
    int32_t versions, ttl;
    bool is_ours;
} described;

typedef struct description {
    gf_hbase_call call;  /* whose answer is borrowed from */
    described *families; /* n */
    uint32_t n;
    bool is_ours; /* one of them is, so the table was made here */
} description;

static void release_description(description *d)
{
    gf_free(d->families);
    gf_hbase_call_release(&d->call);
}

static bool has_our_setting(gf_thrift_reader *r)
{
    bool has = false;
    uint32_t n = gf_thrift_take_map(r, GF_THRIFT_STRING, GF_THRIFT_STRING);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        if (gf_slice_equal(gf_thrift_take_string(r), gf_slice_str(ours))) has = true;
        gf_thrift_take_string(r);
    }
    return has;
}

static described read_family(gf_slice bytes)
{
    described d = {.bytes = bytes, .versions = 1, .ttl = FOREVER};
    gf_thrift_reader r = {.rest = bytes};
    gf_thrift_type type;
    uint16_t id;
    while (gf_thrift_take_field(&r, &type, &id)) {
        if (id == FAMILY_NAME && type == GF_THRIFT_STRING)
            d.name = gf_thrift_take_string(&r);
        else if (id == FAMILY_SETTINGS && type == GF_THRIFT_MAP)
            d.is_ours = has_our_setting(&r);
        else if (id == FAMILY_VERSIONS && type == GF_THRIFT_I32)
            d.versions = gf_thrift_take_i32(&r);
        else if (id == FAMILY_TTL && type == GF_THRIFT_I32)
            d.ttl = gf_thrift_take_i32(&r);
        else
            gf_thrift_skip(&r, type);
    }
    return d;
}

static gf_status read_families(gf_thrift_reader *r, description *d, gf_error *err)
{
    uint32_t n = gf_thrift_take_list(r, GF_THRIFT_STRUCT);
    gf_free(d->families);
    d->n = 0;
    d->families = gf_calloc(n + 1, sizeof *d->families);
    if (!d->families) return gf_fail_memory(err, "a table");
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        d->families[d->n] = read_family(gf_thrift_take_raw(r, GF_THRIFT_STRUCT));
        d->is_ours |= d->families[d->n++].is_ours;
    }
    return GF_OK;
}

/* To be released, also where it fails. */
static gf_status describe(gf_hbase *b, const gf_hbase_table *t, description *d, gf_error *err)
{
    gf_thrift_type type;
    uint16_t id;
    begin_on_name(&d->call, "getTableDescriptor", b, t);
    gf_status st = gf_hbase_call_run(b->client, &d->call, GF_THRIFT_STRUCT, GF_HBASE_READS, err);
    if (st != GF_OK) return gf_hbase_fail_table(t, st, err);
    gf_thrift_reader *r = &d->call.result;
    while (d->call.has_result && st == GF_OK && gf_thrift_take_field(r, &type, &id)) {
        if (id == 2 && type == GF_THRIFT_LIST)
            st = read_families(r, d, err);
        else
            gf_thrift_skip(r, type);
    }
    if (st != GF_OK || !r->bad) return st;
    return gf_fail(err, GF_EIO, "the gateway of HBase sent a table that cannot be read");
}

static const described *find_family(const description *d, const char *name)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (gf_slice_equal(d->families[i].name, gf_slice_str(name))) return &d->families[i];
    return NULL;
}

static int32_t versions_of(uint32_t versions)
{
    return versions == 0 ? 1 : versions < INT32_MAX ? (int32_t)versions : INT32_MAX;
}

static int32_t ttl_of(uint64_t seconds)
{
    return seconds && seconds < FOREVER ? (int32_t)seconds : FOREVER;
}

/* The mark is a setting, and no attribute of the table: of the bytes of those HBase's gateway makes
   others (it takes the whole frame that they lie in). */
static void put_family(gf_buffer *b, const gf_family *f)
{
    gf_thrift_string_field(b, FAMILY_NAME, gf_slice_str(f->name));
    gf_thrift_field(b, GF_THRIFT_MAP, FAMILY_SETTINGS);
    gf_buffer_byte(b, GF_THRIFT_STRING);
    gf_thrift_list(b, GF_THRIFT_STRING, 1);
    gf_thrift_string(b, gf_slice_str(ours));
    gf_thrift_string(b, GF_SLICE("made"));
    gf_thrift_i32_field(b, FAMILY_VERSIONS, versions_of(f->versions));
    gf_thrift_i32_field(b, FAMILY_TTL, ttl_of(f->ttl_seconds));
    gf_thrift_stop(b);
}

/* The family as HBase has it, but for its versions and time to live. */
static void put_altered(gf_buffer *b, const described *is, int32_t versions, int32_t ttl)
{
    gf_thrift_reader r = {.rest = is->bytes};
    gf_thrift_type type;
    uint16_t id;
    while (gf_thrift_take_field(&r, &type, &id)) {
        gf_slice value = gf_thrift_take_raw(&r, type);
        if (r.bad || id == FAMILY_VERSIONS || id == FAMILY_TTL) continue;
        gf_thrift_field(b, type, id);
        gf_buffer_slice(b, value);
    }
    gf_thrift_i32_field(b, FAMILY_VERSIONS, versions);
    gf_thrift_i32_field(b, FAMILY_TTL, ttl);
    gf_thrift_stop(b);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* The family for the parts of cut values, in tables of the engine. */
static const gf_family parts_family = {.name = gf_hbase_parts, .layout = GF_LAYOUT_WIDE};

static gf_status add_family(gf_hbase *b, const gf_hbase_table *t, const gf_family *f, gf_error *err)
{
    gf_hbase_call call = {0};
    begin_on_name(&call, "addColumnFamily", b, t);
    gf_thrift_field(&call.request, GF_THRIFT_STRUCT, 2);
    put_family(&call.request, f);
    gf_status st = gf_hbase_call_run(b->client, &call, GF_THRIFT_STOP, GF_HBASE_WRITES, err);
    gf_hbase_call_release(&call);
    return st;
}

static gf_status lacks_family(const gf_hbase_table *t, const description *d, const char *family,
                              gf_error *err)
{
    gf_buffer has = {0};
    for (uint32_t i = 0; i < d->n; i++)
        gf_buffer_format(&has, "%s%.*s", i ? ", " : "", GF_SLICE_ARG(d->families[i].name));
    gf_status st = gf_fail(err, GF_EINVAL,
                           "HBase's table %s has no family %s, but %s; it was not made here, so "
                           "none is added: alter '%s', '%s' in HBase's shell adds it",
                           t->name.ptr, family, gf_buffer_cstr(&has), t->name.ptr, family);
    gf_buffer_release(&has);
    return st;
}

/* A table of ours that another version of it made may lack families, and one of others', too. */
static gf_status complete_table(gf_hbase *b, gf_hbase_table *t, gf_error *err)
{
    description d = {0};
    gf_status st = describe(b, t, &d, err);
    for (unsigned f = 0; f < t->schema->n_families && st == GF_OK; f++) {
        const gf_family *family = &t->schema->families[f];
        if (find_family(&d, family->name)) continue;
        st = t->own || d.is_ours ? add_family(b, t, family, err)
                                 : lacks_family(t, &d, family->name, err);
    }
    if (st == GF_OK && t->own && !find_family(&d, parts_family.name))
        st = add_family(b, t, &parts_family, err);
    release_description(&d);
    return st;
}

static gf_status look_for_waiting(gf_hbase *b, gf_hbase_table *t, bool *there, gf_error *err)
{
    pthread_mutex_lock(&b->make_lock);
    *there = atomic_load(&t->made);
    gf_status st = *there ? GF_OK : ask(b, t, "tableExists", there, err);
    if (st == GF_OK && *there && !atomic_load(&t->made)) {
        st = complete_table(b, t, err);
        if (st == GF_OK) atomic_store(&t->made, true);
    }
    pthread_mutex_unlock(&b->make_lock);
    return st;
}

gf_status gf_hbase_look_for_table(gf_hbase *b, gf_hbase_table *t, bool *there, gf_error *err)
{
    *there = atomic_load(&t->made);
    if (*there) return GF_OK;
    if (t->waits) return look_for_waiting(b, t, there, err);
    gf_status st = ask(b, t, "tableExists", there, err);
    if (st == GF_OK && *there) atomic_store(&t->made, true);
    return st;
}

gf_status gf_hbase_make_table(gf_hbase *b, gf_hbase_table *t, gf_error *err)
{
    bool there;
    gf_hbase_call call = {0};
    gf_buffer *to = &call.request;
    gf_status st = gf_hbase_look_for_table(b, t, &there, err);
    if (st != GF_OK || there) return st;
    gf_hbase_call_begin(&call, "createTable");
    gf_thrift_field(to, GF_THRIFT_STRUCT, 1);
    gf_thrift_field(to, GF_THRIFT_STRUCT, 1);
    put_table_name(to, b, t);
    gf_thrift_field(to, GF_THRIFT_LIST, 2);
    gf_thrift_list(to, GF_THRIFT_STRUCT, t->schema->n_families + t->own);
    for (unsigned f = 0; f < t->schema->n_families; f++)
        put_family(to, &t->schema->families[f]);
    if (t->own) put_family(to, &parts_family);
    gf_thrift_stop(to);
    st = gf_hbase_call_run(b->client, &call, GF_THRIFT_STOP, GF_HBASE_WRITES, err);
    gf_hbase_call_release(&call);
    if (st == GF_OK) atomic_store(&t->made, true);
    /* Another process may have been first, or the answer was lost: it counts that it is there. */
    if ((st == GF_EINVAL || st == GF_EUNKNOWN) &&
        gf_hbase_look_for_table(b, t, &there, NULL) == GF_OK && there)
        st = GF_OK;
    return st;
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_slice keep(gf_hbase *b, gf_slice bytes)
{
    pthread_mutex_lock(&b->lock);
    gf_slice copy = gf_arena_copy(&b->memory, bytes);
    pthread_mutex_unlock(&b->lock);
    return copy;
}

/* A copy of the schema, whose families are to be changed as HBase has them. */
static gf_status copy_schema(gf_hbase *b, gf_slice bytes, gf_schema **copy, gf_family **families,
                             gf_error *err)
{
    gf_schema read;
    pthread_mutex_lock(&b->lock);
    gf_schema *s = gf_arena_alloc(&b->memory, sizeof *s);
    gf_status st =
        s ? gf_schema_read(bytes, &b->memory, &read, err) : gf_fail_memory(err, "a table");
    gf_family *f = st == GF_OK ? gf_arena_alloc(&b->memory, GF_MAX_FAMILIES * sizeof *f) : NULL;
    pthread_mutex_unlock(&b->lock);
    if (st == GF_OK && !f) st = gf_fail_memory(err, "a table");
    if (st != GF_OK) return st;
    memcpy(f, read.families, read.n_families * sizeof *f);
    *s = read;
    s->families = f;
    *copy = s;
    *families = f;
    return GF_OK;
}

static void take_kept(gf_family *family, const described *is)
{
    family->versions = is->versions > 1 ? (uint32_t)is->versions : 1;
    family->ttl_seconds = is->ttl > 0 && is->ttl < FOREVER ? (uint64_t)is->ttl : 0;
}

/* A table that HBase has: its families as they are there, and those that it lacks. */
static gf_status join_table(gf_hbase *b, gf_hbase_table *t, gf_schema *s, gf_family *families,
                            gf_error *err)
{
    description d = {0};
    gf_status st = describe(b, t, &d, err);
    for (unsigned f = 0; f < s->n_families && st == GF_OK; f++) {
        const described *is = find_family(&d, families[f].name);
        if (is)
            take_kept(&families[f], is);
        else if (d.is_ours)
            st = add_family(b, t, &families[f], err);
        else
            st = lacks_family(t, &d, families[f].name, err);
    }
    release_description(&d);
    return st;
}

/* Characters that HBase's names are made of. */
static gf_status check_name(gf_slice name, gf_error *err)
{
    bool good = name.len > 0 && name.ptr[0] != '.' && name.ptr[0] != '-';
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        good &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                c == '_' || c == '-' || c == '.';
    }
    if (good) return GF_OK;
    return gf_fail(
        err, GF_EINVAL,
        "\"%.*s\" is no name of a table in HBase, which is of letters, digits, _, - and .",
        GF_SLICE_ARG(name));
}

/* Names of families are HBase's, too: any but those with a colon. */
static gf_status check_families(const gf_schema *s, gf_error *err)
{
    for (unsigned f = 0; f < s->n_families; f++) {
        if (strchr(s->families[f].name, ':') || s->families[f].name[0] == '.')
            return gf_fail(err, GF_EINVAL, "\"%s\" is no name of a family in HBase",
                           s->families[f].name);
        if (s->families[f].run)
            return gf_fail(err, GF_EINVAL, "family %s: users' tables in HBase have no runs",
                           s->families[f].name);
    }
    return GF_OK;
}

static bool is_one_of(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

#define IS_ONE_OF(names, name) is_one_of(names, sizeof(names) / sizeof(names)[0], name)

/* Whose table it is, by the name of its schema. */
typedef enum whose { NOBODYS, USERS, CATALOGUE, ENGINES, OF_TWEETS, ONLY_OURS, OF_PAPERS } whose;

static whose whose_is(const char *name)
{
    gf_slice s = gf_slice_str(name);
    if (gf_slice_starts(s, gf_slice_str(users))) return USERS;
    if (gf_slice_starts(s, gf_slice_str(papers))) return OF_PAPERS;
    if (strcmp(name, catalogue) == 0) return CATALOGUE;
    if (IS_ONE_OF(engine_tables, name)) return ENGINES;
    if (IS_ONE_OF(own_tweets_tables, name)) return ONLY_OURS;
    return IS_ONE_OF(tweets_tables, name) ? OF_TWEETS : NOBODYS;
}

bool gf_hbase_keeps(gf_backend *backend, const char *name)
{
    (void)backend;
    return whose_is(name) != NOBODYS;
}

/* HBase's name of the table, without a namespace; none where it is not kept here. */
static gf_status name_in_hbase(gf_hbase_table *t, const char *schema_name, gf_buffer *own,
                               gf_error *err)
{
    whose is = whose_is(schema_name);
    t->kept = is != NOBODYS;
    t->own = is == ENGINES || is == ONLY_OURS;
    t->waits = t->own || is == OF_TWEETS;
    if (!t->kept) return GF_OK;
    if (t->own || is == CATALOGUE) gf_buffer_str(own, own_names);
    gf_buffer_str(own, is == USERS ? schema_name + sizeof users - 1 : schema_name);
    gf_status st = gf_buffer_check(own, err);
    if (st == GF_OK) st = check_name(gf_buffer_view(own), err);
    if (st == GF_OK && is == USERS && gf_slice_starts(gf_buffer_view(own), gf_slice_str(own_names)))
        return gf_fail(err, GF_EINVAL, "tables whose names begin with \"%s\" are Grouperfish's own",
                       own_names);
    return st;
}

static gf_status name_table(gf_hbase *b, const char *schema_name, gf_hbase_table *t, gf_error *err)
{
    gf_buffer name = {0}, own = {0};
    gf_status st = name_in_hbase(t, schema_name, &own, err);
    if (st != GF_OK || !t->kept) {
        gf_buffer_release(&own);
        return st;
    }
    if (strcmp(b->address.name_space, "default") != 0)
        gf_buffer_format(&name, "%s:", b->address.name_space);
    size_t before = name.len;
    gf_buffer_slice(&name, gf_buffer_view(&own));
    gf_buffer_release(&own);
    st = gf_buffer_check(&name, err);
    if (st == GF_OK) {
        t->name = keep(b, gf_buffer_view(&name));
        if (!t->name.ptr) st = gf_fail_memory(err, "a table");
        t->qualifier = gf_slice_skip(t->name, t->name.ptr ? before : 0);
    }
    gf_buffer_release(&name);
    return st;
}

static unsigned number_of(const gf_hbase *b, const char *name)
{
    for (unsigned n = 1; n <= b->n_tables; n++)
        if (!b->tables[n]->dropped && strcmp(b->tables[n]->schema->name, name) == 0) return n;
    return 0;
}

/* Fill what is new of *t from the schema; it is then as HBase has it. */
static gf_status settle_table(gf_hbase *b, gf_hbase_table *t, gf_slice given, gf_error *err)
{
    gf_schema *s;
    gf_family *families;
    bool there = false;
    gf_status st = copy_schema(b, given, &s, &families, err);
    if (st != GF_OK) return st;
    bool waits = !t->kept || t->waits;
    if (!waits) st = check_families(s, err);
    if (st == GF_OK && !waits) st = gf_hbase_look_for_table(b, t, &there, err);
    const gf_schema *before = t->schema;
    pthread_mutex_lock(&b->lock);
    t->schema = s;
    pthread_mutex_unlock(&b->lock);
    bool is_catalogue = strcmp(s->name, catalogue) == 0;
    if (st == GF_OK && there) st = join_table(b, t, s, families, err);
    if (st == GF_OK && !waits && !there && !is_catalogue) st = gf_hbase_make_table(b, t, err);
    if (st == GF_OK) {
        t->given = keep(b, given);
        if (!t->given.ptr) st = gf_fail_memory(err, "a table");
    }
    if (st != GF_OK && before) {
        pthread_mutex_lock(&b->lock);
        t->schema = before;
        pthread_mutex_unlock(&b->lock);
    }
    return st;
}

static gf_status add_table(gf_hbase *b, const char *name, gf_slice given, unsigned *number,
                           gf_error *err)
{
    if (b->n_tables + 1 >= GF_MAX_TABLES)
        return gf_fail(err, GF_ELIMIT, "more than %d tables", GF_MAX_TABLES - 1);
    gf_hbase_table *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "a table");
    atomic_init(&t->made, false);
    gf_status st = name_table(b, name, t, err);
    if (st == GF_OK) st = settle_table(b, t, given, err);
    if (st != GF_OK) {
        gf_free(t);
        return st;
    }
    pthread_mutex_lock(&b->lock);
    b->tables[++b->n_tables] = t;
    *number = b->n_tables;
    pthread_mutex_unlock(&b->lock);
    return GF_OK;
}

gf_status gf_hbase_open_table(gf_backend *backend, const gf_schema *schema, unsigned *number,
                              const gf_schema **stored, gf_error *err)
{
    gf_hbase *b = (gf_hbase *)backend;
    gf_buffer bytes = {0};
    unsigned n = number_of(b, schema->name);
    gf_schema_write(schema, &bytes);
    gf_status st = gf_buffer_check(&bytes, err);
    if (st == GF_OK && !n)
        st = add_table(b, schema->name, gf_buffer_view(&bytes), &n, err);
    else if (st == GF_OK && !gf_slice_equal(b->tables[n]->given, gf_buffer_view(&bytes)))
        st = settle_table(b, b->tables[n], gf_buffer_view(&bytes), err);
    gf_buffer_release(&bytes);
    if (st != GF_OK) return st;
    *number = n;
    *stored = b->tables[n]->schema;
    return GF_OK;
}

gf_status gf_hbase_has_table(gf_backend *backend, const char *name, bool *has, gf_error *err)
{
    gf_hbase *b = (gf_hbase *)backend;
    gf_hbase_table t = {.schema = NULL};
    gf_status st = name_table(b, name, &t, err);
    *has = false;
    return st == GF_OK && t.kept ? ask(b, &t, "tableExists", has, err) : st;
}

gf_status gf_hbase_visit_families(gf_backend *backend, const char *name, gf_visit_name *visit,
                                  void *context, gf_error *err)
{
    gf_hbase *b = (gf_hbase *)backend;
    gf_hbase_table t = {.schema = NULL};
    description d = {0};
    gf_status st = name_table(b, name, &t, err);
    if (st == GF_OK && !t.kept)
        st = gf_fail(err, GF_ENOTFOUND, "a store in HBase has no table %s", name);
    if (st == GF_OK) st = describe(b, &t, &d, err);
    for (uint32_t f = 0; f < d.n && st == GF_OK; f++)
        st = visit(context, d.families[f].name, err);
    release_description(&d);
    return st;
}

const gf_schema *gf_hbase_schema_of(gf_backend *backend, unsigned number)
{
    gf_hbase *b = (gf_hbase *)backend;
    const gf_schema *s = NULL;
    pthread_mutex_lock(&b->lock);
    if (number > 0 && number <= b->n_tables && b->tables[number]->kept &&
        !b->tables[number]->dropped)
        s = b->tables[number]->schema;
    pthread_mutex_unlock(&b->lock);
    return s;
}

/* ---- altering and dropping ------------------------------------------------------------------- */

gf_status gf_hbase_alter_family(gf_backend *backend, unsigned number, unsigned family,
                                uint32_t versions, uint64_t ttl_seconds, const gf_cancel *cancel,
                                const gf_schema **stored, gf_error *err)
{
    gf_hbase *b = (gf_hbase *)backend;
    gf_hbase_table *t;
    const gf_schema *s;
    description d = {0};
    gf_hbase_call call = {0};
    gf_schema *copy;
    gf_family *families;
    gf_buffer bytes = {0};
    (void)cancel;
    gf_status st = gf_hbase_find_table(b, number, &t, &s, err);
    if (st != GF_OK) return st;
    gf_schema_write(s, &bytes);
    st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = copy_schema(b, gf_buffer_view(&bytes), &copy, &families, err);
    if (st == GF_OK) st = describe(b, t, &d, err);
    const described *is = st == GF_OK ? find_family(&d, s->families[family].name) : NULL;
    if (st == GF_OK && !is)
        st = gf_fail(err, GF_ENOTFOUND, "HBase's table %s has no family %s any more", t->name.ptr,
                     s->families[family].name);
    if (st == GF_OK) {
        begin_on_name(&call, "modifyColumnFamily", b, t);
        gf_thrift_field(&call.request, GF_THRIFT_STRUCT, 2);
        put_altered(&call.request, is, versions_of(versions), ttl_of(ttl_seconds));
        st = gf_hbase_call_run(b->client, &call, GF_THRIFT_STOP, GF_HBASE_WRITES, err);
    }
    if (st == GF_OK) {
        families[family].versions = versions;
        families[family].ttl_seconds = ttl_seconds;
        pthread_mutex_lock(&b->lock);
        t->schema = copy;
        t->given = (gf_slice){0}; /* the next opening looks at what HBase has */
        pthread_mutex_unlock(&b->lock);
        *stored = copy;
    }
    gf_hbase_call_release(&call);
    release_description(&d);
    gf_buffer_release(&bytes);
    return st;
}

/* A table that was made elsewhere stays: only our knowledge of it goes. */
gf_status gf_hbase_drop_table(gf_backend *backend, unsigned number, const gf_cancel *cancel,
                              gf_error *err)
{
    gf_hbase *b = (gf_hbase *)backend;
    gf_hbase_table *t;
    const gf_schema *s;
    description d = {0};
    bool there = false, enabled = false;
    (void)cancel;
    gf_status st = gf_hbase_find_table(b, number, &t, &s, err);
    if (st == GF_OK) st = ask(b, t, "tableExists", &there, err);
    if (st == GF_OK && there) st = describe(b, t, &d, err);
    if (st == GF_OK && there && d.is_ours) {
        st = ask(b, t, "isTableEnabled", &enabled, err);
        if (st == GF_OK && enabled) st = order(b, t, "disableTable", err);
        if (st == GF_OK) st = order(b, t, "deleteTable", err);
    }
    release_description(&d);
    if (st != GF_OK) return st;
    pthread_mutex_lock(&b->lock);
    t->dropped = true;
    pthread_mutex_unlock(&b->lock);
    return GF_OK;
}

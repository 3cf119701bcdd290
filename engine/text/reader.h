/**
 * The texts of a collection's documents by id, read by several threads.
 *
 *     lane 1   | part 1         | part 5 ...       each a range of ids, one behind the other;
 *     lane 2   | part 2     | part 6 ...           a lane reads its part group by group
 *     ...
 *     batch    the texts that the lanes have read, as far as they follow the batch before
 *
 * Each batch comes with tasks, which read the next one: they can be run beside the work on the
 * batch. Where the store cannot cut the range, one lane reads all. The texts and
 * their order are the same for any number of lanes; how they are divided into batches is not.
 */
#ifndef GF_ENGINE_TEXT_READER_H
#define GF_ENGINE_TEXT_READER_H

#include "base/pool.h"
#include "engine/config/settings.h"
#include "engine/rows/id_set.h"
#include "engine/text/group.h"

typedef struct gf_text_reader_options {
    gf_store *store;
    const gf_snapshot *snapshot; /* NULL: as it is now */
    uint64_t seq;                /* documents that changed after it are left out; 0: none are */
    gf_place where;
    const gf_resolved *settings; /* whose filter and time say which are meant; NULL: all */
    const gf_id_set *within;     /* likewise; NULL: all */
    uint32_t every;              /* of those one in so many is given; 0 is 1 */
    uint32_t offset;             /* below every: the first that is given */
    unsigned threads;            /* that tasks will be run by */
    bool small;                  /* memory is short */
} gf_text_reader_options;

typedef struct gf_text_reader gf_text_reader;

/** Everything in the options is borrowed until the reader is closed. */
gf_status gf_text_reader_open(const gf_text_reader_options *options, gf_text_reader **reader,
                              gf_error *err);
void gf_text_reader_close(gf_text_reader *reader);

/**
 * The next batch, of what the tasks of the call before have read: none before the first. It and its
 * texts are borrowed until the next call. Where it is empty and there are no tasks, that was all.
 *
 * @param tasks  out: to be run, by a pool or in turn, before the next call
 */
gf_status gf_text_reader_take(gf_text_reader *reader, const gf_text_group **batch,
                              gf_pool_tasks *tasks, gf_error *err);

/** True if the settings may leave documents out. */
bool gf_text_reader_filters(const gf_text_reader *reader);

/** Sums over all selected documents, up to the last batch. */
const gf_text_counts *gf_text_reader_counts(const gf_text_reader *reader);

/** The memory that the texts of the only batch lie in is the caller's. With one lane. */
gf_arena gf_text_reader_keep(gf_text_reader *reader);

/** Lanes that so many threads have. */
unsigned gf_text_reader_lanes(unsigned threads);

typedef gf_status gf_each_group(void *context, const gf_text_group *group, gf_error *err);

/** All documents of a collection by id, group by group; cancel may be NULL. */
gf_status gf_text_reader_each(const gf_text_reader_options *options, const gf_cancel *cancel,
                              gf_each_group *each, void *context, gf_error *err);

#endif

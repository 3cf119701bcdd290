/**
 * LevelDB's environments: how it reaches its files and its thread. C++; for database.cpp alone.
 *
 *     gf_leveldb_env       a thread of the database's own, patience, what becomes of logs
 *       over private_files   the folder: files for their owner, none through a link, logs synced
 *       or memory_files      the folder as it is, never written: what LevelDB writes is in memory
 *       or LevelDB's own files in memory, without a folder
 *
 * Threads: any.
 */
#ifndef GF_STORAGE_LEVELDB_ENVIRONMENT_HPP
#define GF_STORAGE_LEVELDB_ENVIRONMENT_HPP

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <leveldb/env.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

/**
 * The folder's own files. New ones are for those whom the database's CURRENT is for, at most to be
 * read by others (0600 where there is none yet), whatever the umask. What is made or written on is
 * never a link. A log is synced before it is left behind: so a synced write has all before it on
 * disk, too. A log or MANIFEST whose end a crash left as zeros is read without that end
 * (storage/check/files.h).
 */
std::unique_ptr<leveldb::Env> gf_leveldb_private_files(const std::string &folder);

/** The folder's files as they are, and in memory whatever is made, changed or removed. */
std::unique_ptr<leveldb::Env> gf_leveldb_memory_files();

/** No folder: all files are in memory, and gone with the environment. */
std::unique_ptr<leveldb::Env> gf_leveldb_no_files();

/** Set what is done where LevelDB's thread cannot go on (gf_leveldb_set_ending). */
[[noreturn]] void gf_leveldb_end(const char *why);

struct gf_leveldb_env final : public leveldb::EnvWrapper {
    /** Work waits for `seconds`; its thread is started. May throw. */
    gf_leveldb_env(std::unique_ptr<leveldb::Env> over, double seconds);
    ~gf_leveldb_env() override;
    void Schedule(void (*work)(void *), void *argument) override;
    leveldb::Status NewRandomAccessFile(const std::string &path,
                                        leveldb::RandomAccessFile **file) override;
    leveldb::Status NewWritableFile(const std::string &path, leveldb::WritableFile **file) override;
    leveldb::Status NewAppendableFile(const std::string &path,
                                      leveldb::WritableFile **file) override;
    leveldb::Status RemoveFile(const std::string &path) override;
    leveldb::Status LockFile(const std::string &path, leveldb::FileLock **file) override;
    leveldb::Status UnlockFile(leveldb::FileLock *file) override;

    /**
     * Let the thread do no further work, and give up the lock, unless it still works after some
     * seconds. All stays allocated: the database may not be used, nor freed.
     */
    void abandon();

    /** Let work begin that waits. Cheap where it has begun. */
    void begin_work(bool is_closing);
    /** Wait until none is left, so long at most; UINT_MAX: without an end. */
    void wait_for_work(unsigned milliseconds);

    /** Have all readings of tables fail from now on, and so what merges them. */
    void break_off();

    /** The number of the log that is written; and wait until it was removed, or no work is left. */
    unsigned long newest_log();
    void wait_for_removal(unsigned long log);

    std::atomic<bool> log_failed{false}; /* a log that was left behind is not on disk for certain */

  private:
    std::atomic<bool> broken_off{false};
    void run();
    void note_log(const std::string &path);

    const std::unique_ptr<leveldb::Env> files;
    std::mutex lock; /* of the fields below */
    std::condition_variable changed;
    std::atomic<bool> begun;
    bool closing = false, ending = false, abandoned = false;
    leveldb::FileLock *held = nullptr;
    const std::chrono::steady_clock::time_point begin;
    void (*work)(void *) = nullptr; /* that waits: LevelDB has one call at a time */
    void *argument = nullptr;
    unsigned working = 0;      /* calls of LevelDB's work that have not returned */
    unsigned long newest = 0;  /* number of the log that is written; 0: none */
    unsigned long removed = 0; /* highest number of a log that was removed */
    std::thread thread;        /* begins last: it uses all others */
};

#endif

/*
 * A thread. LevelDB's own is one for all databases, is started at the first work and then waits for
 * ever, and ends the program where it cannot be started. Here each database starts its own before it
 * is opened, where a failure is an ordinary one. What LevelDB's work throws (it gets no memory) ends
 * the program, in words: the database could neither go on nor be closed.
 *
 * Patience. An opening begins with whatever compaction is due, and a close breaks it off. A process
 * that looks up one document would do that each time, and throw the work away; one that reads a
 * collection to cluster it would share its processors with it. So the work that an opening wants to
 * have done in the background waits for some seconds, or until much is written, and a close comes
 * first.
 *
 * Files. LevelDB makes its files for everybody to read (0644), and opens what lies in their place,
 * which in a folder of a stranger's may be a link to a file of the user's. So they are made here, and
 * LevelDB finds them.
 */
#include "storage/leveldb/environment.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <leveldb/helpers/memenv.h>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

extern "C" { /* what C's headers declare has C's linkage */
#include "base/file.h"
#include "storage/check/files.h"
#include "storage/leveldb/database.h"
}

using leveldb::Slice;
using leveldb::Status;
using std::chrono::steady_clock;

namespace
{

bool ends_with(const std::string &path, const char *ending)
{
    size_t n = std::strlen(ending);
    return path.size() >= n && path.compare(path.size() - n, n, ending) == 0;
}

const char *name_of(const std::string &path)
{
    return path.c_str() + (path.find_last_of('/') + 1);
}

bool is_log(const std::string &path)
{
    return ends_with(path, ".log");
}

bool is_of_records(const std::string &path)
{
    return is_log(path) || std::strncmp(name_of(path), "MANIFEST-", 9) == 0;
}

/* The number of a log, by its path; 0 of any other file. */
unsigned long log_number(const std::string &path)
{
    return is_log(path) ? std::strtoul(name_of(path), nullptr, 10) : 0;
}

Status fail(const std::string &path)
{
    return Status::IOError(path, std::strerror(errno));
}

Status fail_link(const std::string &path)
{
    gf_error err;
    gf_file_fail_own(path.c_str(), &err);
    return Status::IOError(err.message);
}

/* ---- logs that end in zeros ------------------------------------------------------------------ */

class bytes_in_memory final : public leveldb::SequentialFile
{
  public:
    explicit bytes_in_memory(std::string content) : bytes(std::move(content)) {}
    Status Read(size_t n, Slice *result, char *) override
    {
        n = std::min(n, bytes.size() - at);
        *result = Slice(bytes.data() + at, n);
        at += n;
        return Status::OK();
    }
    Status Skip(uint64_t n) override
    {
        at += static_cast<size_t>(std::min<uint64_t>(n, bytes.size() - at));
        return Status::OK();
    }

  private:
    const std::string bytes;
    size_t at = 0;
};

/* A log is read whole only where its last bytes are zeros, which they hardly ever are. */
Status open_records(leveldb::Env *env, const std::string &path, leveldb::SequentialFile **file)
{
    char last[GF_CHECK_LEAST_ZEROS] = {1};
    struct stat s;
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return env->NewSequentialFile(path, file); /* its failure in its words */
    bool zeros =
        fstat(fd, &s) == 0 && s.st_size >= GF_CHECK_LEAST_ZEROS &&
        pread(fd, last, sizeof last, s.st_size - GF_CHECK_LEAST_ZEROS) == GF_CHECK_LEAST_ZEROS;
    for (char c : last)
        zeros = zeros && c == 0;
    close(fd);
    if (!zeros) return env->NewSequentialFile(path, file);
    std::string content;
    Status st = leveldb::ReadFileToString(env, path, &content);
    if (!st.ok()) return st;
    content.resize(gf_check_log_end(gf_slice_of(content.data(), content.size())));
    *file = new bytes_in_memory(std::move(content));
    return st;
}

/* ---- tables, mapped and not ------------------------------------------------------------------- */

/* Mapped tables of a process, 16 MiB each, and how many there may be: their pages count as its memory. */
std::atomic<int> mapped_tables{0}, most_mapped_tables{500};

class mapped_table final : public leveldb::RandomAccessFile
{
  public:
    explicit mapped_table(leveldb::RandomAccessFile *of) : file(of) {}
    ~mapped_table() override
    {
        mapped_tables--;
    }
    Status Read(uint64_t offset, size_t n, Slice *result, char *scratch) const override
    {
        return file->Read(offset, n, result, scratch);
    }

  private:
    const std::unique_ptr<leveldb::RandomAccessFile> file;
};

/* Its file is opened for each reading, so that thousands need no more descriptors than one. */
class unmapped_table final : public leveldb::RandomAccessFile
{
  public:
    explicit unmapped_table(std::string of) : path(std::move(of)) {}
    Status Read(uint64_t offset, size_t n, Slice *result, char *scratch) const override
    {
        int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return fail(path);
        size_t at = 0;
        ssize_t got = 1;
        while (at < n && got != 0) {
            got = pread(fd, scratch + at, n - at, static_cast<off_t>(offset + at));
            if (got > 0) at += static_cast<size_t>(got);
            if (got < 0 && errno != EINTR) break;
        }
        Status st = got < 0 ? fail(path) : Status::OK();
        close(fd);
        *result = Slice(scratch, at);
        return st;
    }

  private:
    const std::string path;
};

Status open_table(leveldb::Env *env, const std::string &path, leveldb::RandomAccessFile **file)
{
    if (mapped_tables++ < most_mapped_tables) {
        Status st = env->NewRandomAccessFile(path, file);
        if (st.ok())
            *file = new mapped_table(*file);
        else
            mapped_tables--;
        return st;
    }
    mapped_tables--;
    if (!gf_file_exists(path.c_str())) return Status::NotFound(path, std::strerror(ENOENT));
    *file = new unmapped_table(path);
    return Status::OK();
}

/* ---- files that cannot be looked at ---------------------------------------------------------- */

/* LevelDB's own takes what it cannot look at for what is not there, and so a fault for damage. */
class seen_files : public leveldb::EnvWrapper
{
  public:
    seen_files() : EnvWrapper(leveldb::Env::Default()) {}

    bool FileExists(const std::string &path) override
    {
        return gf_file_exists(path.c_str());
    }

    Status GetChildren(const std::string &folder, std::vector<std::string> *names) override
    {
        DIR *dir = opendir(folder.c_str());
        if (!dir) return fail(folder);
        names->clear();
        for (struct dirent *e; (errno = 0, e = readdir(dir));)
            names->emplace_back(e->d_name);
        Status st = errno ? fail(folder) : Status::OK();
        closedir(dir);
        return st;
    }

    Status NewRandomAccessFile(const std::string &path, leveldb::RandomAccessFile **file) override
    {
        return open_table(target(), path, file);
    }
};

/* ---- files for their owner ------------------------------------------------------------------- */

class private_files final : public seen_files
{
  public:
    explicit private_files(const std::string &folder)
    {
        struct stat s;
        if (stat((folder + "/CURRENT").c_str(), &s) == 0) mode |= s.st_mode & 0044;
    }

    Status NewSequentialFile(const std::string &path, leveldb::SequentialFile **file) override
    {
        return is_of_records(path) ? open_records(target(), path, file)
                                   : target()->NewSequentialFile(path, file);
    }

    Status NewWritableFile(const std::string &path, leveldb::WritableFile **file) override
    {
        Status st = make(path);
        return st.ok() ? target()->NewWritableFile(path, file) : st;
    }

    /* Only a log and a MANIFEST that were checked are written on, and only where they are there. */
    Status NewAppendableFile(const std::string &path, leveldb::WritableFile **file) override
    {
        int fd = gf_file_open_own(path.c_str(), O_WRONLY);
        if (fd < 0) return fail_link(path);
        close(fd);
        return target()->NewAppendableFile(path, file);
    }

    Status NewLogger(const std::string &path, leveldb::Logger **logger) override
    {
        Status st = make(path);
        return st.ok() ? target()->NewLogger(path, logger) : st;
    }

    Status LockFile(const std::string &path, leveldb::FileLock **file) override
    {
        int fd = gf_file_open_own(path.c_str(), O_RDWR | O_CREAT);
        if (fd < 0) return fail_link(path);
        close(fd);
        return target()->LockFile(path, file);
    }

    Status CreateDir(const std::string &path) override
    {
        return mkdir(path.c_str(), 0700) == 0 ? Status::OK() : fail(path);
    }

  private:
    Status make(const std::string &path) const
    {
        int fd = gf_file_make_own(path.c_str());
        if (fd < 0) return fail(path);
        bool open_to_all = mode == 0600 || fchmod(fd, mode) == 0;
        Status st = open_to_all ? Status::OK() : fail(path);
        close(fd);
        return st;
    }

    mode_t mode = 0600;
};

/* ---- tables ---------------------------------------------------------------------------------- */

static Status fail_broken_off()
{
    return Status::IOError("the database is being closed");
}

/* A table that cannot be read any more once work is broken off. */
class readable_table final : public leveldb::RandomAccessFile
{
  public:
    readable_table(leveldb::RandomAccessFile *of, const std::atomic<bool> *is_broken_off)
        : file(of), broken_off(is_broken_off)
    {
    }
    Status Read(uint64_t offset, size_t n, Slice *result, char *scratch) const override
    {
        if (broken_off->load(std::memory_order_relaxed)) return fail_broken_off();
        return file->Read(offset, n, result, scratch);
    }

  private:
    const std::unique_ptr<leveldb::RandomAccessFile> file;
    const std::atomic<bool> *const broken_off;
};

/* ---- logs that are left behind ---------------------------------------------------------------- */

/* Syncs a log before it is closed. A failure is kept: the writes in it were maybe acknowledged. */
class synced_log final : public leveldb::WritableFile
{
  public:
    synced_log(leveldb::WritableFile *of, std::atomic<bool> *has_failed)
        : file(of), failed(has_failed)
    {
    }
    ~synced_log() override
    {
        if (open) (void)Close();
    }
    Status Append(const Slice &data) override
    {
        dirty = true;
        return file->Append(data);
    }
    Status Close() override
    {
        open = false;
        Status synced = dirty ? Sync() : Status::OK();
        Status closed = file->Close();
        if (!synced.ok() || !closed.ok()) *failed = true;
        return synced.ok() ? closed : synced;
    }
    Status Flush() override
    {
        return file->Flush();
    }
    Status Sync() override
    {
        Status st = file->Sync();
        if (st.ok()) dirty = false;
        return st;
    }

  private:
    const std::unique_ptr<leveldb::WritableFile> file;
    std::atomic<bool> *const failed;
    bool dirty = false, open = true;
};

/* ---- files in memory over files that are left alone ------------------------------------------ */

class no_lock final : public leveldb::FileLock
{
};

class memory_files final : public seen_files
{
  public:
    memory_files() : memory(leveldb::NewMemEnv(leveldb::Env::Default())) {}

    Status NewSequentialFile(const std::string &path, leveldb::SequentialFile **file) override
    {
        if (is_made(path)) return memory->NewSequentialFile(path, file);
        if (is_removed(path)) return fail_removed(path);
        return is_of_records(path) ? open_records(target(), path, file)
                                   : target()->NewSequentialFile(path, file);
    }

    Status NewRandomAccessFile(const std::string &path, leveldb::RandomAccessFile **file) override
    {
        if (is_made(path)) return memory->NewRandomAccessFile(path, file);
        return is_removed(path) ? fail_removed(path) : seen_files::NewRandomAccessFile(path, file);
    }

    Status NewWritableFile(const std::string &path, leveldb::WritableFile **file) override
    {
        return memory->NewWritableFile(path, file);
    }

    Status NewAppendableFile(const std::string &path, leveldb::WritableFile **file) override
    {
        if (is_made(path)) return memory->NewAppendableFile(path, file);
        return Status::NotSupported(path, "it is open to be read alone");
    }

    bool FileExists(const std::string &path) override
    {
        return is_made(path) || (!is_removed(path) && seen_files::FileExists(path));
    }

    Status GetChildren(const std::string &folder, std::vector<std::string> *names) override
    {
        std::vector<std::string> there, made;
        Status st = seen_files::GetChildren(folder, &there);
        if (st.ok()) st = memory->GetChildren(folder, &made);
        if (!st.ok()) return st;
        std::set<std::string> all(made.begin(), made.end());
        for (const std::string &name : there)
            if (!is_removed(folder + "/" + name)) all.insert(name);
        names->assign(all.begin(), all.end());
        return st;
    }

    Status RemoveFile(const std::string &path) override
    {
        bool was_made = is_made(path);
        Status st = was_made ? memory->RemoveFile(path) : Status::OK();
        std::lock_guard<std::mutex> locked(lock);
        removed.insert(path);
        return st;
    }

    Status CreateDir(const std::string &) override
    {
        return Status::OK();
    }

    Status RemoveDir(const std::string &) override
    {
        return Status::OK();
    }

    Status GetFileSize(const std::string &path, uint64_t *size) override
    {
        return is_made(path) ? memory->GetFileSize(path, size) : target()->GetFileSize(path, size);
    }

    /* LevelDB moves files that it has just made, and LOG, which it then makes anew. */
    Status RenameFile(const std::string &from, const std::string &to) override
    {
        return is_made(from) ? memory->RenameFile(from, to) : fail_removed(from);
    }

    Status LockFile(const std::string &, leveldb::FileLock **file) override
    {
        *file = new no_lock; /* the store's own lock is held */
        return Status::OK();
    }

    Status UnlockFile(leveldb::FileLock *file) override
    {
        delete file;
        return Status::OK();
    }

    Status NewLogger(const std::string &path, leveldb::Logger **logger) override
    {
        return memory->NewLogger(path, logger);
    }

  private:
    bool is_made(const std::string &path)
    {
        return memory->FileExists(path);
    }

    bool is_removed(const std::string &path)
    {
        std::lock_guard<std::mutex> locked(lock);
        return removed.count(path) > 0;
    }

    static Status fail_removed(const std::string &path)
    {
        return Status::NotFound(path, std::strerror(ENOENT));
    }

    const std::unique_ptr<leveldb::Env> memory;
    std::mutex lock;
    std::set<std::string> removed;
};

} // namespace

std::unique_ptr<leveldb::Env> gf_leveldb_private_files(const std::string &folder)
{
    return std::unique_ptr<leveldb::Env>(new private_files(folder));
}

std::unique_ptr<leveldb::Env> gf_leveldb_memory_files()
{
    return std::unique_ptr<leveldb::Env>(new memory_files);
}

void gf_leveldb_set_mapped_tables(int most)
{
    most_mapped_tables = most;
}

std::unique_ptr<leveldb::Env> gf_leveldb_no_files()
{
    return std::unique_ptr<leveldb::Env>(leveldb::NewMemEnv(leveldb::Env::Default()));
}

/* ---- the thread ------------------------------------------------------------------------------ */

gf_leveldb_env::gf_leveldb_env(std::unique_ptr<leveldb::Env> over, double seconds)
    : EnvWrapper(over.get()), files(std::move(over)), begun(seconds <= 0),
      begin(steady_clock::now() + std::chrono::milliseconds(static_cast<long>(seconds * 1000))),
      thread(&gf_leveldb_env::run, this)
{
}

gf_leveldb_env::~gf_leveldb_env()
{
    {
        std::lock_guard<std::mutex> locked(lock);
        begun = ending = true;
        changed.notify_all();
    }
    thread.join();
}

/* Once the database is being closed its work does nothing; so the close gets a moment to begin. */
void gf_leveldb_env::run()
{
    std::unique_lock<std::mutex> locked(lock);
    for (;;) {
        changed.wait(locked, [this] { return work || ending; });
        if (!work || abandoned) return;
        changed.wait_until(locked, begin, [this] { return begun.load(); });
        if (abandoned) return;
        begun = true;
        void (*now)(void *) = work;
        bool leaves = closing;
        work = nullptr;
        locked.unlock();
        if (leaves) std::this_thread::sleep_for(std::chrono::microseconds(200));
        try {
            now(argument);
        } catch (const std::exception &e) {
            gf_leveldb_end(e.what());
        }
        locked.lock();
        working--;
        changed.notify_all();
    }
}

void gf_leveldb_env::Schedule(void (*new_work)(void *), void *its_argument)
{
    std::lock_guard<std::mutex> locked(lock);
    work = new_work;
    argument = its_argument;
    working++;
    changed.notify_all();
}

void gf_leveldb_env::begin_work(bool is_closing)
{
    if (begun.load(std::memory_order_relaxed) && !is_closing) return;
    std::lock_guard<std::mutex> locked(lock);
    closing = closing || (is_closing && !begun);
    begun = true;
    changed.notify_all();
}

void gf_leveldb_env::wait_for_work(unsigned milliseconds)
{
    std::unique_lock<std::mutex> locked(lock);
    auto idle = [this] { return !working; };
    if (milliseconds == UINT_MAX)
        changed.wait(locked, idle);
    else
        changed.wait_for(locked, std::chrono::milliseconds(milliseconds), idle);
}

/* Work that waits for a lock which is held for ever does not end. */
void gf_leveldb_env::abandon()
{
    std::unique_lock<std::mutex> locked(lock);
    begun = ending = abandoned = true;
    changed.notify_all();
    bool idle =
        changed.wait_for(locked, std::chrono::seconds(5), [this] { return !working || work; });
    thread.detach();
    if (held && idle) (void)target()->UnlockFile(held);
    held = nullptr;
}

Status gf_leveldb_env::LockFile(const std::string &path, leveldb::FileLock **file)
{
    Status st = target()->LockFile(path, file);
    if (st.ok()) held = *file;
    return st;
}

Status gf_leveldb_env::UnlockFile(leveldb::FileLock *file)
{
    if (file == held) held = nullptr;
    return target()->UnlockFile(file);
}

/* ---- which log ------------------------------------------------------------------------------- */

void gf_leveldb_env::note_log(const std::string &path)
{
    unsigned long number = log_number(path);
    std::lock_guard<std::mutex> locked(lock);
    if (number > newest) newest = number;
}

void gf_leveldb_env::break_off()
{
    broken_off = true;
}

Status gf_leveldb_env::NewRandomAccessFile(const std::string &path,
                                           leveldb::RandomAccessFile **file)
{
    Status st = target()->NewRandomAccessFile(path, file);
    if (st.ok()) *file = new readable_table(*file, &broken_off);
    return st;
}

Status gf_leveldb_env::NewWritableFile(const std::string &path, leveldb::WritableFile **file)
{
    note_log(path);
    Status st = target()->NewWritableFile(path, file);
    if (st.ok() && is_log(path)) *file = new synced_log(*file, &log_failed);
    return st;
}

Status gf_leveldb_env::NewAppendableFile(const std::string &path, leveldb::WritableFile **file)
{
    note_log(path);
    Status st = target()->NewAppendableFile(path, file);
    if (st.ok() && is_log(path)) *file = new synced_log(*file, &log_failed);
    return st;
}

Status gf_leveldb_env::RemoveFile(const std::string &path)
{
    Status st = target()->RemoveFile(path);
    unsigned long number = log_number(path);
    std::lock_guard<std::mutex> locked(lock);
    if (number > removed) {
        removed = number;
        changed.notify_all();
    }
    return st;
}

unsigned long gf_leveldb_env::newest_log()
{
    std::lock_guard<std::mutex> locked(lock);
    return newest;
}

void gf_leveldb_env::wait_for_removal(unsigned long log)
{
    std::unique_lock<std::mutex> locked(lock);
    changed.wait(locked, [this, log] { return removed >= log || !working; });
}

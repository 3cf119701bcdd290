/* C++'s allocation, of which the n-th from now on fails: LevelDB has its memory from there. */
#include "tests/storage/failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<long> left{-1};
static std::atomic<bool> failed{false};

void gf_test_fail_new_at(long n)
{
    failed = false;
    left = n;
}

bool gf_test_new_has_failed(void)
{
    return failed;
}

static void *allocate(std::size_t size)
{
    if (left.load(std::memory_order_relaxed) >= 0 && left.fetch_sub(1) == 0) {
        failed = true;
        return nullptr;
    }
    return std::malloc(size ? size : 1);
}

void *operator new(std::size_t size)
{
    void *p = allocate(size);
    if (!p) throw std::bad_alloc();
    return p;
}

void *operator new[](std::size_t size)
{
    return operator new(size);
}

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return allocate(size);
}

void operator delete(void *p) noexcept
{
    std::free(p);
}

void operator delete[](void *p) noexcept
{
    std::free(p);
}

void operator delete(void *p, std::size_t) noexcept
{
    std::free(p);
}

void operator delete[](void *p, std::size_t) noexcept
{
    std::free(p);
}

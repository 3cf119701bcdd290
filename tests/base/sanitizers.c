/* Tests ask for more memory than there is: the sanitizers then give NULL, as malloc does. */
#define VISIBLE __attribute__((visibility("default"))) /* the sanitizers' runtime looks for them */

VISIBLE const char *__asan_default_options(void);
VISIBLE const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/**
 * Shared libraries that are loaded when they are first needed.
 *
 * Loading the libraries of all commands takes several times as long as looking up a document
 * (docs/decisions.md has the figures). So a library that few commands need is not linked. A header
 * named after the library lists its functions and defines their names as pointers, which
 * gf_library_load fills.
 *
 *     #define GF_CURL_FUNCTIONS(F) F(curl_easy_init) F(curl_easy_perform)
 *     GF_LIBRARY_DECLARE(gf_curl, GF_CURL_FUNCTIONS)
 *     #define curl_easy_init gf_curl_functions.curl_easy_init
 *
 *     GF_LIBRARY_DEFINE(gf_curl, GF_CURL, GF_CURL_FUNCTIONS)      in one source file
 *     st = gf_library_load(&gf_curl, err);                        before the first call
 *
 * A function that is called and not listed is not found by the linker.
 *
 * Threads: any may load a library, several at once; it stays loaded.
 */
#ifndef GF_BASE_LIBRARY_H
#define GF_BASE_LIBRARY_H

#include "grouperfish/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct gf_library {
    const char *file; /* as the linker would ask for it: libcurl.so.4 */
    const char *const *names;
    void *functions; /* n pointers, in the order of names */
    size_t n;
    pthread_mutex_t lock;
    atomic_bool loaded; /* all pointers are set, and change no more */
} gf_library;

/**
 * Load the library, unless it is loaded.
 *
 * @return GF_OK; GF_EIO (the file cannot be loaded, or lacks a function), and it may be tried again
 */
gf_status gf_library_load(gf_library *library, gf_error *err);

#define GF_LIBRARY_POINTER(name) __typeof__(name) *(name);
#define GF_LIBRARY_NAME(name)    #name,

#define GF_LIBRARY_DECLARE(library, LIST)                                                          \
    typedef struct library##_table {                                                               \
        LIST(GF_LIBRARY_POINTER)                                                                   \
    } library##_table;                                                                             \
    extern library##_table library##_functions;                                                    \
    extern gf_library library;

#define GF_LIBRARY_DEFINE(library, its_file, LIST)                                                 \
    library##_table library##_functions;                                                           \
    static const char *const library##_names[] = {LIST(GF_LIBRARY_NAME)};                          \
    gf_library library = {.file = (its_file),                                                      \
                          .names = library##_names,                                                \
                          .functions = &library##_functions,                                       \
                          .n = sizeof library##_names / sizeof library##_names[0],                 \
                          .lock = PTHREAD_MUTEX_INITIALIZER};

#endif

/** A namespace of a test's own in the running HBase, so that all tables of the engine in it are. */
#ifndef GF_TESTS_HBASE_NAME_SPACE_H
#define GF_TESTS_HBASE_NAME_SPACE_H

#include <stddef.h>

/** Make one that nobody had, where GROUPERFISH_HBASE says; its URL is written to url[size]. */
void hbase_make_name_space(char *url, size_t size);

#endif

/**
 * Tables in an HBase: the backend, over a Thrift2 gateway.
 *
 * A table is HBase's of the same name, in the namespace that the URL names; a family is HBase's, a
 * column a cell; times to live and numbers of versions are HBase's own. So a table that a team has
 * can be opened by a schema that says what its keys and values mean, and whoever reads it by other
 * means finds it as it expects.
 *
 *     schema "table:NAME"   HBase's table NAME: joined where it is there, else made, with the
 *                           setting `grouperfish` in its families, by which it is known as ours
 *     schema "tables"       the catalogue of schemas, HBase's table `grouperfish.tables`, made by
 *                           the first write
 *     the engine's          HBase's `grouperfish.documents` and so on, made by the first write
 *     of tweets, of papers  HBase's of the same name, such as others have, or joined likewise
 *     any other             is not kept: every use of it is refused in words (GF_EINVAL)
 *
 * A row's key is HBase's, but for a string at its end, which HBase has without our terminator. Cells
 * have the time that HBase gave them. One row's changes happen as a whole; those of several do not
 * (no GF_BACKEND_BATCH), and there are no snapshots. docs/hbase.md says what else is weaker.
 */
#ifndef GF_STORAGE_HBASE_BACKEND_H
#define GF_STORAGE_HBASE_BACKEND_H

#include "storage/backend.h"

/**
 * Open by a URL hbase://HOST[:PORT][/NAMESPACE], and see that a gateway answers there.
 * @return GF_OK; GF_EINVAL (the URL; no such namespace), GF_EIO, GF_ENOMEM
 */
gf_status gf_hbase_open(const char *url, gf_backend **backend, gf_error *err);

#endif

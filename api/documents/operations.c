/* The operations of this noun, in the order of the documentation. */
#include "api/documents/internal.h"

#include "api/groups_internal.h"

static const gf_operation *const operations[] = {
    &gf_put_operation,    &gf_delete_operation,  &gf_doc_operation,
    &gf_search_operation, &gf_similar_operation, &gf_duplicates_operation,
};
const gf_operation_group gf_documents_operations = GF_OPERATION_GROUP(operations);

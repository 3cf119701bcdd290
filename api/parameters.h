/**
 * Macros for the tables of parameters that stand behind handlers.
 *
 *     static const gf_parameter doc_parameters[] = {P_COLLECTION, P_REQUIRED("id", "ID", "the document")};
 *     const gf_operation gf_doc_operation = {.name = "doc", ..., GF_PARAMETERS(doc_parameters), ...};
 */
#ifndef GF_API_PARAMETERS_H
#define GF_API_PARAMETERS_H

#include "api/operation.h"
#include "formats/reader.h"

#define GF_PARAMETERS(list)                                                                        \
    .parameters = (list), .n_parameters = sizeof(list) / sizeof(gf_parameter)

/** The array of a noun's operations, by their addresses. */
#define GF_OPERATION_GROUP(list)                                                                   \
    {                                                                                              \
        .operations = (list), .n = sizeof(list) / sizeof(const gf_operation *)                     \
    }

/* clang-format off */
#define P_REQUIRED(name, value, meaning)          {name, GF_PARAMETER_TEXT, true, value, meaning, 0, 0}
#define P_TEXT(name, value, meaning)              {name, GF_PARAMETER_TEXT, false, value, meaning, 0, 0}
#define P_PATH(name, value, meaning)              {name, GF_PARAMETER_PATH, true, value, meaning, 0, 0}
#define P_NUMBER(name, least, most, meaning)      {name, GF_PARAMETER_NUMBER, false, "N", meaning, least, most}
#define P_CHOICE(name, words, meaning)            {name, GF_PARAMETER_CHOICE, false, words, meaning, 0, 0}
#define P_FLAG(name, meaning)                     {name, GF_PARAMETER_FLAG, false, NULL, meaning, 0, 0}
#define P_LIST(name, value, meaning)              {name, GF_PARAMETER_LIST, false, value, meaning, 0, 0}
#define P_SEVERAL(name, required, value, meaning) {name, GF_PARAMETER_SEVERAL, required, value, meaning, 0, 0}
#define P_SETTING(name, value, meaning)           {name, GF_PARAMETER_SETTING, false, value, meaning, 0, 0}
#define P_SETTINGS(required, meaning)             {"set", GF_PARAMETER_SETTINGS, required, "KEY=VALUE", meaning, 0, 0}

#define P_COLLECTION  P_REQUIRED("collection", "NAME", "the collection")
#define P_COLLECTIONS P_REQUIRED("collection", "NAME", "the collection, or a pattern such as 'feedback-*'")
#define P_EVERY       P_FLAG("all", "all collections instead")
#define P_NAMESPACE   P_FLAG("all", "the namespace's defaults instead")
#define P_CONFIG      P_TEXT("config", "NAME", "configuration (default)")
#define P_EACH_CONFIG P_TEXT("config", "NAME", "only this configuration (all of them)")
#define P_BUILD       {"build", GF_PARAMETER_MOMENT, false, "TIME", "a build that is kept (the served one)", 1, 0}
#define P_PURGE       P_FLAG("purge", "leave nothing of it in the store's files")
#define P_MIN_SCORE(meaning) {"min-score", GF_PARAMETER_SHARE, false, "S", meaning, 0, 0}
#define P_UNPACKED \
    P_NUMBER("layers", 1, 4, "unpack so many compressions around one another (1)"), \
    {"max-unpacked", GF_PARAMETER_BYTES, false, "SIZE", "unpack a file up to this (1,000 times its size, and 64M)", 1, 0}
#define P_ENCODING    P_TEXT("encoding", "NAME", "of files that are not UTF-8, such as windows-1252 (recognised)")
#define P_SHEET       P_TEXT("sheet", "NAME", "of a workbook: the sheet, or its number (the first)")
#define P_ID_TYPE     P_CHOICE("id-type", "string|number", "number: ids that are whole numbers come as such (string)")
#define P_COLUMNS     P_FLAG("columns", "every column of the table instead")
/* clang-format on */

#endif

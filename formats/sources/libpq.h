/** The functions of libpq, which is loaded when it is needed: see base/library.h. */
#ifndef GF_FORMATS_SOURCES_LIBPQ_H
#define GF_FORMATS_SOURCES_LIBPQ_H

#include "base/library.h"

#include <libpq-fe.h>

/* clang-format off */
#define GF_LIBPQ_FUNCTIONS(F) \
    F(PQcancel) \
    F(PQclear) \
    F(PQconnectPoll) \
    F(PQconnectStartParams) \
    F(PQconninfoFree) \
    F(PQconninfoParse) \
    F(PQconsumeInput) \
    F(PQerrorMessage) \
    F(PQescapeIdentifier) \
    F(PQfinish) \
    F(PQfname) \
    F(PQfreeCancel) \
    F(PQfreemem) \
    F(PQftype) \
    F(PQgetCancel) \
    F(PQgetResult) \
    F(PQgetisnull) \
    F(PQgetlength) \
    F(PQgetvalue) \
    F(PQisBusy) \
    F(PQnfields) \
    F(PQntuples) \
    F(PQresultErrorMessage) \
    F(PQresultStatus) \
    F(PQsendQuery) \
    F(PQsendQueryParams) \
    F(PQsetNoticeProcessor) \
    F(PQsetSingleRowMode) \
    F(PQsocket) \
    F(PQstatus)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_libpq, GF_LIBPQ_FUNCTIONS)

#define PQcancel             gf_libpq_functions.PQcancel
#define PQclear              gf_libpq_functions.PQclear
#define PQconnectPoll        gf_libpq_functions.PQconnectPoll
#define PQconnectStartParams gf_libpq_functions.PQconnectStartParams
#define PQconninfoFree       gf_libpq_functions.PQconninfoFree
#define PQconninfoParse      gf_libpq_functions.PQconninfoParse
#define PQconsumeInput       gf_libpq_functions.PQconsumeInput
#define PQerrorMessage       gf_libpq_functions.PQerrorMessage
#define PQescapeIdentifier   gf_libpq_functions.PQescapeIdentifier
#define PQfinish             gf_libpq_functions.PQfinish
#define PQfname              gf_libpq_functions.PQfname
#define PQfreeCancel         gf_libpq_functions.PQfreeCancel
#define PQfreemem            gf_libpq_functions.PQfreemem
#define PQftype              gf_libpq_functions.PQftype
#define PQgetCancel          gf_libpq_functions.PQgetCancel
#define PQgetResult          gf_libpq_functions.PQgetResult
#define PQgetisnull          gf_libpq_functions.PQgetisnull
#define PQgetlength          gf_libpq_functions.PQgetlength
#define PQgetvalue           gf_libpq_functions.PQgetvalue
#define PQisBusy             gf_libpq_functions.PQisBusy
#define PQnfields            gf_libpq_functions.PQnfields
#define PQntuples            gf_libpq_functions.PQntuples
#define PQresultErrorMessage gf_libpq_functions.PQresultErrorMessage
#define PQresultStatus       gf_libpq_functions.PQresultStatus
#define PQsendQuery          gf_libpq_functions.PQsendQuery
#define PQsendQueryParams    gf_libpq_functions.PQsendQueryParams
#define PQsetNoticeProcessor gf_libpq_functions.PQsetNoticeProcessor
#define PQsetSingleRowMode   gf_libpq_functions.PQsetSingleRowMode
#define PQsocket             gf_libpq_functions.PQsocket
#define PQstatus             gf_libpq_functions.PQstatus

#endif

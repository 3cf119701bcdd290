/** The functions of libmicrohttpd, which is loaded when it is needed: see base/library.h. */
#ifndef GF_SERVER_HTTP_MICROHTTPD_H
#define GF_SERVER_HTTP_MICROHTTPD_H

#include "base/library.h"

#include <microhttpd.h>

/* clang-format off */
#define GF_MICROHTTPD_FUNCTIONS(F) \
    F(MHD_add_response_header) \
    F(MHD_create_response_for_upgrade) \
    F(MHD_create_response_from_buffer) \
    F(MHD_create_response_from_buffer_with_free_callback) \
    F(MHD_create_response_from_callback) \
    F(MHD_create_response_from_fd64) \
    F(MHD_destroy_response) \
    F(MHD_get_connection_info) \
    F(MHD_get_connection_values) \
    F(MHD_get_reason_phrase_for) \
    F(MHD_get_version) \
    F(MHD_lookup_connection_value) \
    F(MHD_queue_response) \
    F(MHD_resume_connection) \
    F(MHD_start_daemon) \
    F(MHD_stop_daemon) \
    F(MHD_suspend_connection) \
    F(MHD_upgrade_action)
/* clang-format on */
GF_LIBRARY_DECLARE(gf_microhttpd, GF_MICROHTTPD_FUNCTIONS)

#define MHD_add_response_header         gf_microhttpd_functions.MHD_add_response_header
#define MHD_create_response_for_upgrade gf_microhttpd_functions.MHD_create_response_for_upgrade
#define MHD_create_response_from_buffer gf_microhttpd_functions.MHD_create_response_from_buffer
#define MHD_create_response_from_buffer_with_free_callback                                         \
    gf_microhttpd_functions.MHD_create_response_from_buffer_with_free_callback
#define MHD_create_response_from_callback gf_microhttpd_functions.MHD_create_response_from_callback
#define MHD_create_response_from_fd64     gf_microhttpd_functions.MHD_create_response_from_fd64
#define MHD_destroy_response              gf_microhttpd_functions.MHD_destroy_response
#define MHD_get_connection_info           gf_microhttpd_functions.MHD_get_connection_info
#define MHD_get_connection_values         gf_microhttpd_functions.MHD_get_connection_values
#define MHD_get_reason_phrase_for         gf_microhttpd_functions.MHD_get_reason_phrase_for
#define MHD_get_version                   gf_microhttpd_functions.MHD_get_version
#define MHD_lookup_connection_value       gf_microhttpd_functions.MHD_lookup_connection_value
#define MHD_queue_response                gf_microhttpd_functions.MHD_queue_response
#define MHD_resume_connection             gf_microhttpd_functions.MHD_resume_connection
#define MHD_start_daemon                  gf_microhttpd_functions.MHD_start_daemon
#define MHD_stop_daemon                   gf_microhttpd_functions.MHD_stop_daemon
#define MHD_suspend_connection            gf_microhttpd_functions.MHD_suspend_connection
#define MHD_upgrade_action                gf_microhttpd_functions.MHD_upgrade_action

#endif

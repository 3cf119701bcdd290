/**
 * Messages over a socket between two processes of one machine: a kind, a length, bytes.
 *
 *     u32 kind | u64 length | bytes        numbers as they lie in memory
 *
 * Whoever waits gives up after some seconds in which nothing came: the other end may be stopped.
 */
#ifndef GF_ENGINE_RANKS_FRAMES_H
#define GF_ENGINE_RANKS_FRAMES_H

#include "grouperfish/buffer.h"
#include "grouperfish/cancel.h"
#include "grouperfish/slice.h"

/**
 * Write a frame of two parts, one behind the other.
 *
 * @param seconds  in which the other end takes no byte; 0: for ever
 * @return GF_OK; GF_ENOTFOUND (the other end is gone); GF_ELIMIT (it takes nothing for so many
 *         seconds); GF_ECANCELLED
 */
gf_status gf_frames_write(int fd, uint32_t kind, gf_slice a, gf_slice b, double seconds,
                          const gf_cancel *cancel, gf_error *err);

/**
 * Read a frame.
 *
 * @param seconds  without a byte; 0: for ever
 * @param bytes    replaced
 * @return as gf_frames_write; GF_ENOMEM
 */
gf_status gf_frames_read(int fd, double seconds, const gf_cancel *cancel, uint32_t *kind,
                         gf_buffer *bytes, gf_error *err);

#endif

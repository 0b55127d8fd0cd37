/* room.h - when kernels ran beside which others would have found room. */
#ifndef SL_TIMELINE_ROOM_H
#define SL_TIMELINE_ROOM_H

#include "operations.h"
#include "overlap.h"

/* The intervals in which kernels ran, but of fewer blocks than there are SMs: one SM at least
 * was empty. A kernel whose grid is not known fills the GPU. Empty where the number of SMs is
 * not known. The caller frees it with sl__union_free. */
sl_status sl__room_collect(const sl__operations *ops, sl__union *room, sl_error *err);

#endif

/* cache_state.h - what the L2 and the host's caches hold. */
#ifndef SIM_CACHE_STATE_H
#define SIM_CACHE_STATE_H

#include "sim.h"

void sim_touch(sl_buffer *buffer, size_t bytes); /* notes that so much of it is used now */
/* Memory that the host has just written is copied no faster than uncached memory
 * (docs/design/simulator.md, section 5). */
void sim_chill(sl_buffer *buffer);
/* The part of it, 0 to 1, that is in a cache which evicts the least recently used. */
double sim_warm_part(const sl_buffer *buffer, size_t bytes, double cache_bytes);
void sim_touch_operands(const sl_op *op);
/* The host writes its memory, past its caches. */
void sim_host_writes(sl_buffer *buffer);
/* The host reads `bytes` of it: the part of them, 0 to 1, that its caches have. They have nothing
 * of what it has written since it read it last. */
double sim_host_reads(sl_buffer *buffer, size_t bytes);
/* An engine reads `bytes` of it: the part of them that the host has just written. */
double sim_engine_reads(sl_buffer *buffer, size_t bytes);
/* The part of what a GEMM (0 or 1) or a custom kernel (0 to 1) uses that is in the L2. */
double sim_finds_warm(const sl_op *op);

#endif

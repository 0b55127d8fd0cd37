/* sm_room.h - room on the SMs: whether a kernel's block finds some beside the kernels that run, and
 * when there was some. */
#ifndef SL_TIMELINE_SM_ROOM_H
#define SL_TIMELINE_SM_ROOM_H

#include "operations.h"
#include "overlap.h"

/* What an SM of the device has. */
typedef struct sl__sm_limits {
    int64_t threads, blocks, registers, shared_bytes;
} sl__sm_limits;

sl__sm_limits sl__sm_limits_of(const sl_device_info *device);

/* What kernels take of all SMs together, added up over their whole grids. Registers and shared
 * memory count where they are known. */
typedef struct sl__sm_use {
    int64_t threads, blocks, registers, shared_bytes;
} sl__sm_use;

void sl__sm_use_add(sl__sm_use *use, const sl_span *kernel);
/* True if some SM has room for a block of this kernel, however the others lie; false if that is
 * not certain. */
bool sl__fits_beside(const sl_device_info *device, const sl__sm_use *use, const sl_span *kernel);

/* What a block of the kernel does not find beside the blocks of `other` that every SM has. */
sl_sm_lack sl__sm_lack_beside(const sl_device_info *device, const sl_span *other,
                              const sl_span *kernel);

/* A few blocks of `other`, each on an SM of its own, keep the kernel off these SMs, and it has
 * blocks for more than the SMs that are left. */
bool sl__sm_leaves_fewer(const sl_device_info *device, const sl_span *other, const sl_span *kernel);

/* The intervals in which kernels ran, but of fewer blocks than there are SMs: one SM at least was
 * empty. A collective that runs beside them counts. A kernel whose grid is not known fills the GPU.
 * Empty where the number of SMs is not known. The caller frees it with sl__union_free. */
sl_status sl__sm_room_collect(const sl__operations *ops, int place, sl__union *room, sl_error *err);

#endif

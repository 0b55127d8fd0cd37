/* fits.h - whether a kernel's block finds room beside the kernels that run. */
#ifndef SL_TIMELINE_FITS_H
#define SL_TIMELINE_FITS_H

#include "timeline.h"

/* What an SM of the device has. */
typedef struct sl__sm_limits { int64_t threads, blocks, registers, shared_bytes; } sl__sm_limits;

sl__sm_limits sl__sm_limits_of(const sl_device_info *device);

/* What kernels take of all SMs together, added up over their whole grids. Registers and shared
 * memory count where they are known. */
typedef struct sl__sm_use { int64_t threads, blocks, registers, shared_bytes; } sl__sm_use;

void sl__sm_use_add(sl__sm_use *use, const sl_span *kernel);
/* True if some SM has room for a block of this kernel, however the others lie; false if that is
 * not certain. */
bool sl__fits_beside(const sl_device_info *device, const sl__sm_use *use, const sl_span *kernel);

#endif

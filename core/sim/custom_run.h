/* custom_run.h - what a launch of a custom kernel does to memory: computed by the compiled source,
 * else by a function of the program's. */
#ifndef SIM_CUSTOM_RUN_H
#define SIM_CUSTOM_RUN_H

#include "../emulate/emulate.h"

/* Changes the regions in place. `emulated` is NULL if nothing could compile the source. SL_EKERNEL,
 * SL_EUNSUPPORTED (the results are unknown): err->msg says why; SL_EINTERRUPT; SL_ENOMEM. */
sl_status sim_custom_run(const sl_custom_call *call, sl_emulated *emulated,
                         const sl_emulate_region *regions, uint32_t n_regions,
                         const sl_emulate_arg *args, sl_error *err);

#endif

/* sim_backend.h - functions of backend.h, from several files. */
#ifndef SIM_SIM_BACKEND_H
#define SIM_SIM_BACKEND_H

#include "sim.h"

#define X(entry) __typeof__(*((sl_backend *)NULL)->entry) sim_##entry;
SL_BACKEND_ENTRIES(X)
#undef X

/* enqueue.c */
sl_status sim_enqueue(sl_op *op, sl_error *err); /* one that is no COLLECTIVE */

/* sim_memory.c */
double sim_buffer_pending_s(sl_buffer *buffer, double most_s);

/* sim_comm.c */
sl_status sim_comm_enqueue(sl_op *const *ops, size_t n, sl_error *err);

/* set_figures.c */
sl_status sim_device_set_figures(sl_device *device, const sl_setting *settings, size_t n_settings,
                                 sl_error *err);

#endif

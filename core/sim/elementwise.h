/* elementwise.h - the elementwise kernels on the CPU, a block at a time. */
#ifndef SIM_ELEMENTWISE_H
#define SIM_ELEMENTWISE_H

#include "compute.h"

enum { SIM_BLOCK = 512 };       /* elements */

/* Elements [first, first + n) of the output, at most SIM_BLOCK; it may be an input. */
void sim_elementwise(const sim_job *job, int64_t first, size_t n, void *out, const void *in0,
                     const void *in1);

#endif

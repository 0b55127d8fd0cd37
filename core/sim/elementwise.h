/* elementwise.h - the elementwise kernels on the CPU: blocks of values, which compute.c loads
 * and stores. */
#ifndef SIM_ELEMENTWISE_H
#define SIM_ELEMENTWISE_H

#include "compute.h"

/* x[i] becomes what the job's kernel makes of x[i], and of y[i] if it takes two tensors. `x`
 * and `y` lie apart. */
void sim_elementwise(const sim_job *job, float *x, const float *y, size_t n);

#endif

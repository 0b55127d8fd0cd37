/* generate.h - the tensors that are made of nothing but numbers in their sl_work: FILL,
 * RAND and RANDN. Host tensors of both backends, the simulator's values, and what the
 * CUDA kernels are held against. */
#ifndef NUMBERS_GENERATE_H
#define NUMBERS_GENERATE_H

#include "../backend.h"

/* Elements [first, first + n) of the tensor, to `out`, which need not be aligned: the
 * kernel, dtype, scalar, seed and sequence of `work` say what they are, work->n is not
 * looked at. Random uint8 are cut off. Cannot fail. */
void numbers_generate(const sl_work *work, uint64_t first, size_t n, void *out);

#endif

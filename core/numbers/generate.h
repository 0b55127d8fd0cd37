/* generate.h - the elements of FILL, RAND and RANDN, for host tensors of both backends, for the
 * simulator's values, and for tests of the CUDA kernels. */
#ifndef NUMBERS_GENERATE_H
#define NUMBERS_GENERATE_H

#include "../backend.h"

/* Writes elements [first, first + n) of the tensor to `out`, which need not be aligned. They depend
 * on the kernel, dtype, scalar, seed and sequence of `work`; work->n is not used. Random uint8 are
 * cut off. Cannot fail. */
void numbers_generate(const sl_work *work, uint64_t first, size_t n, void *out);

#endif

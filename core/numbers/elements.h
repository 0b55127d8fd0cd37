/* elements.h - elements of float32, bfloat16, float16 and uint8 as float32 and back, rounded to
 * nearest even (half.h). uint8 is cut off towards zero and saturates; NaN becomes 0 there.
 * float64 and int32 do not pass through float32. */
#ifndef NUMBERS_ELEMENTS_H
#define NUMBERS_ELEMENTS_H

#include "../backend.h"

size_t numbers_dtype_bytes(sl_dtype dtype);

/* Elements [first, first + n) of the tensor at `from` or `to`. */
void numbers_load(float *to, const void *from, sl_dtype dtype, int64_t first, size_t n);
void numbers_store(void *to, const float *from, sl_dtype dtype, int64_t first, size_t n);

/* Elements of any dtype as doubles, exactly, and back: through float32 where the dtype is
 * narrower; to whole numbers cut off towards zero, and saturating. */
void numbers_widen(double *to, const void *from, sl_dtype dtype, int64_t first, size_t n);
void numbers_narrow(void *to, const double *from, sl_dtype dtype, int64_t first, size_t n);

/* One element of any dtype; of int32 a whole number that it holds. */
void numbers_store_number(void *to, double number, sl_dtype dtype);

/* generate.c: FILL, RAND and RANDN. Writes elements [first, first + n) of the tensor to `out`,
 * which need not be aligned. They depend on the kernel, dtype, scalar, seed and sequence of `work`;
 * work->n is not used. Random uint8 are cut off. Cannot fail. */
void numbers_generate(const sl_work *work, uint64_t first, size_t n, void *out);

#endif

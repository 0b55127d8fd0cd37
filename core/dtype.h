/* dtype.h - element types of tensors as bytes, and their way to and from double. */
#ifndef SL_DTYPE_H
#define SL_DTYPE_H

#include "streamlab.h"

/* "f32", "bf16", "f16", "u8", "f64", "i32": as span names have them. */
const char *sl__dtype_short_name(sl_dtype dtype);
bool sl__dtype_is_float(sl_dtype dtype);

/* `n` elements. To a narrower type values are rounded to the nearest, ties to
 * even; a float that is too large becomes infinite. uint8 and int32 saturate at
 * their least and their greatest number, and NaN becomes 0. */
void sl__dtype_to_double(sl_dtype dtype, const void *raw, size_t n, double *values);
void sl__dtype_from_double(sl_dtype dtype, const double *values, size_t n, void *raw);

#endif

/* kernel_table.c - which dtypes and numbers the kernels take. */
#include "streamlab.h"

bool sl_kernel_takes(sl_kernel kernel, sl_dtype dtype)
{
    static const unsigned char least[SL_DTYPES] = {
        [SL_FLOAT32] = SL_TAKES_SHORT, [SL_BFLOAT16] = SL_TAKES_SHORT,
        [SL_FLOAT16] = SL_TAKES_SHORT, [SL_FLOAT64] = SL_TAKES_FLOATS,
        [SL_INT32] = SL_TAKES_NUMBERS, [SL_UINT8] = SL_TAKES_ALL,
    };
    return sl_kernel_row_of(kernel)->dtypes >= least[dtype];
}

/* A number beside int32 must be one that int32 holds; an exponent is not negative. */
static sl_status check_whole(sl_kernel kernel, double number, sl_error *err)
{
    double least = kernel == SL_KERNEL_POW ? 0 : INT32_MIN;
    if (number >= least && number <= INT32_MAX && number == (double)(int32_t)number) return SL_OK;
    return sl_fail(err, SL_EDTYPE, "a is int32: the %s must be whole, from %.0f to %d, got %.14g",
                   kernel == SL_KERNEL_POW ? "exponent" : "number", least, INT32_MAX, number);
}

sl_status sl_kernel_check(sl_kernel kernel, sl_dtype dtype, double number, sl_error *err)
{
    static const char *const names[] = {
        [SL_TAKES_SHORT] = "float32, bfloat16 or float16",
        [SL_TAKES_FLOATS] = "float32, float64, bfloat16 or float16",
        [SL_TAKES_NUMBERS] = "float32, float64, bfloat16, float16 or int32",
        [SL_TAKES_ALL] = "any dtype",
    };
    if (!sl_kernel_takes(kernel, dtype))
        return sl_fail(err, SL_EDTYPE, "a is %s; %s takes %s", sl_dtype_name(dtype),
                       sl_kernel_name(kernel), names[sl_kernel_row_of(kernel)->dtypes]);
    return dtype == SL_INT32 ? check_whole(kernel, number, err) : SL_OK;
}

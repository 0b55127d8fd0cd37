/* launch.h - sl_launch for tests, with the arguments of a kernel in one line. */
#ifndef TESTS_LAUNCH_H
#define TESTS_LAUNCH_H

#include "../../core/streamlab.h"

static inline sl_status launch_matmul(sl_tensor *out, sl_tensor *a, sl_tensor *b, bool tf32,
                                      sl_stream *stream, sl_error *err)
{
    const sl_kernel_args args = { .a = a, .b = b, .tf32 = tf32 };
    return sl_launch(SL_KERNEL_MATMUL, out, &args, stream, err);
}

static inline sl_status launch_pair(sl_kernel kernel, sl_tensor *out, sl_tensor *a, sl_tensor *b,
                                    sl_stream *stream, sl_error *err)
{
    return sl_launch(kernel, out, &(sl_kernel_args){ .a = a, .b = b }, stream, err);
}

static inline sl_status launch_number(sl_kernel kernel, sl_tensor *out, sl_tensor *a, double number,
                                      sl_stream *stream, sl_error *err)
{
    return sl_launch(kernel, out, &(sl_kernel_args){ .a = a, .number = number }, stream, err);
}

static inline sl_status launch_one(sl_kernel kernel, sl_tensor *out, sl_tensor *a,
                                   sl_stream *stream, sl_error *err)
{
    return sl_launch(kernel, out, &(sl_kernel_args){ .a = a }, stream, err);
}

#endif

/* launch_form.h - launches that a device remembers. A loop launches the same kernels on the same
 * tensors again and again: what was checked and described once is taken as it was, as long as no
 * tensor of the device has been dropped since (core/kernel.c). */
#ifndef SL_LAUNCH_FORM_H
#define SL_LAUNCH_FORM_H

#include "backend.h"

enum { SL__LAUNCH_FORMS = 16 };

/* What was asked for, and what it is as an operation. */
typedef struct sl__launch_form {
    uint64_t since; /* core->drops + 1 when it was checked; 0: nothing is remembered here */
    const sl_tensor *out;
    sl_kernel_args args;
    sl_kernel kernel;
    sl_work work;
    sl_operand side[SL_SIDES];
} sl__launch_form;

#endif

/* launch_form.h - launches and copies that a device remembers. A loop launches the same kernels on
 * the same tensors again and again: what was checked and described once is taken as it was, as long
 * as no tensor of the device has been dropped or moved since (core/kernel.c, core/copy.c). */
#ifndef SL_LAUNCH_FORM_H
#define SL_LAUNCH_FORM_H

#include <string.h>

#include "backend.h"

enum { SL__LAUNCH_FORMS = 16 };

/* In place of a kernel: a copy, of args.a. */
#define SL__COPIES SL_KERNELS

/* What was asked for, and what it is as an operation. */
typedef struct sl__launch_form {
    uint64_t since; /* core->drops + 1 when it was checked; 0: nothing is remembered here */
    const sl_tensor *out;
    sl_kernel_args args;
    sl_kernel kernel;
    sl_work work;
    sl_operand side[SL_SIDES];
} sl__launch_form;

/* Where in a device's list the form of such a launch is. */
static inline size_t sl__form_place(sl_kernel kernel, const sl_tensor *out)
{
    return ((uintptr_t)out / 128 + (size_t)kernel) % SL__LAUNCH_FORMS;
}

/* The form of this launch, if it is known and its operands are still right; else NULL. */
static inline const sl__launch_form *sl__form_find(const sl__launch_form *forms, sl_kernel kernel,
                                                   const sl_tensor *out, const sl_kernel_args *args,
                                                   uint64_t since)
{
    const sl__launch_form *form = &forms[sl__form_place(kernel, out)];
    const sl_kernel_args *known = &form->args;
    return form->out == out && form->kernel == kernel && known->a == args->a && known->b == args->b
                   && memcmp(&known->number, &args->number, sizeof args->number) == 0
                   && known->epilogue == args->epilogue && known->dtype == args->dtype
                   && known->tf32 == args->tf32 && form->since == since
               ? form
               : NULL;
}

/* Memory that is lent is settled when the operation begins, which may run anything. */
static inline bool sl__form_is_lent(const sl_operand *operand)
{
    return operand->buffer && operand->buffer->lender;
}

/* A launch that was checked and described: the next one like it is known. */
static inline void sl__form_remember(sl__launch_form *forms, sl_kernel kernel, const sl_tensor *out,
                                     const sl_kernel_args *args, uint64_t since,
                                     const sl_work *work, const sl_operand *side)
{
    sl__launch_form *form = &forms[sl__form_place(kernel, out)];
    if (sl__form_is_lent(&side[0]) || sl__form_is_lent(&side[1])
        || sl__form_is_lent(&side[SL_OUTPUT]))
        return;
    *form = (sl__launch_form){ since, out, *args, kernel, *work, { { 0 } } };
    memcpy(form->side, side, sizeof form->side);
}

#endif

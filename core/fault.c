/* fault.c - the error of a lost device.
 *
 * The driver reports an illegal access at some later call and cannot tell which kernel
 * it was. It is one of the operations that had not completed, most often the oldest.
 */
#include "fault.h"

#include <stdio.h>
#include <string.h>

#include "custom/custom_kernel.h"
#include "device.h"

enum {
    MOST_CAUSE = 120,  /* characters of the backend's sentence */
    MOST_WHERE = 40,   /* and of a script position */
    ROOM_FOR_MORE = 32 /* " and 1000000000 more" */
};

/* The kernel's name, or the name of the operation in tl:spans(). */
static const char *op_name(const sl_work *work)
{
    const char *name = sl_work_row_of(work->kind)->name;
    if (name) return name;
    if (work->kind == SL_WORK_KERNEL) return sl_kernel_name((sl_kernel)work->kernel);
    if (work->kind == SL_WORK_MEMCPY) return sl_span_kind_name((sl_span_kind)work->copy_kind);
    return sl_collective_name((sl_collective)work->collective);
}

/* Operations arrive stream by stream; keeps the oldest of all, in order. */
void sl__fault_note(sl_device *device, const sl_op *op)
{
    sl__fault *fault = &device->core->fault;
    int kept = fault->n_lost < SL__FAULT_NAMES ? (int)fault->n_lost : SL__FAULT_NAMES;
    int at = kept;
    fault->n_lost++;
    while (at > 0 && fault->oldest[at - 1].seq > op->seq)
        at--;
    if (at == SL__FAULT_NAMES) return;
    for (int i = kept < SL__FAULT_NAMES ? kept : SL__FAULT_NAMES - 1; i > at; i--)
        fault->oldest[i] = fault->oldest[i - 1];
    fault->oldest[at].seq = op->seq;
    if (op->custom)
        sl__custom_describe(op->custom, fault->oldest[at].name, sizeof fault->oldest[at].name);
    else
        snprintf(fault->oldest[at].name, sizeof fault->oldest[at].name, "%s", op_name(&op->work));
    fault->oldest[at].where = op->where;
}

/* "matmul at lab.lua:13"; of a long position only the end, where the line is. */
static void format_op(const sl_device *device, int which, char *text, size_t text_bytes)
{
    const sl__fault *fault = &device->core->fault;
    const char *where = sl__strings_text(&device->core->strings, fault->oldest[which].where);
    size_t len = strlen(where);
    if (!len)
        snprintf(text, text_bytes, "%s", fault->oldest[which].name);
    else if (len <= MOST_WHERE)
        snprintf(text, text_bytes, "%s at %s", fault->oldest[which].name, where);
    else
        snprintf(text, text_bytes, "%s at ...%s", fault->oldest[which].name,
                 where + len - (MOST_WHERE - 3));
}

/* As many as fit. */
static void add_ops(const sl_device *device, char *msg, size_t msg_bytes)
{
    const sl__fault *fault = &device->core->fault;
    size_t len = strlen(msg);
    int named = 0;
    while (named < SL__FAULT_NAMES && named < fault->n_lost) {
        char op[MOST_WHERE + SL__FAULT_NAME_BYTES + 8];
        format_op(device, named, op, sizeof op);
        if (len + strlen(op) + 2 + ROOM_FOR_MORE > msg_bytes) break;
        len += (size_t)snprintf(msg + len, msg_bytes - len, "%s%s", named ? ", " : "", op);
        named++;
    }
    if (fault->n_lost > named)
        snprintf(msg + len, msg_bytes - len, " and %lld more", (long long)(fault->n_lost - named));
}

static void compose(sl_device *device)
{
    sl__fault *fault = &device->core->fault;
    sl_fail(&fault->error, device->fault.status, "%.*s%s", MOST_CAUSE, device->fault.msg,
            fault->n_lost ? "; in flight: " : "");
    fault->error.backend_code = device->fault.backend_code;
    add_ops(device, fault->error.msg, sizeof fault->error.msg);
    fault->reported = true;
}

sl_status sl__fault_report(sl_device *device, sl_error *err)
{
    const sl__fault *fault = &device->core->fault;
    if (!fault->reported && !sl__host_func_depth) compose(device);
    if (err) *err = fault->reported ? fault->error : device->fault;
    return device->fault.status;
}

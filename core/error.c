/* error.c - statuses by name, and the one way to fill an sl_error. */
#include "streamlab.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    sl_status status;
    const char *name;
} statuses[] = {
#define X(name, code) { SL_##name, "SL_" #name },
    SL_STATUS_MAP(X)
#undef X
};

const char *sl_status_name(sl_status status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].status == status) return statuses[i].name;
    return "SL_UNKNOWN";
}

sl_status sl_fail(sl_error *err, sl_status status, const char *fmt, ...)
{
    va_list args;
    if (!err) return status;
    err->status = status;
    err->backend_code = 0;
    err->advice = SL_ADVICE_NONE;
    err->operand = NULL;
    va_start(args, fmt);
    vsnprintf(err->msg, sizeof err->msg, fmt, args);
    va_end(args);
    return status;
}

sl_status sl_advise(sl_error *err, sl_status status, sl_advice advice, const char *operand)
{
    if (err) {
        err->advice = advice;
        err->operand = operand;
    }
    return status;
}

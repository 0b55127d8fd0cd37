/* diagnose.c - a compiler's messages, made readable. */
#include "diagnose.h"

sl_status sl__diagnose(sl_custom *kernel, sl_error *err)
{
    return sl_fail(err, SL_ECOMPILE, "%.400s", kernel->log ? kernel->log : "it does not compile");
}

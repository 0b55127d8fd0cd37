/* diagnose.h - a compiler's messages about a kernel, with the lines of the source that they are
 * about. */
#ifndef SL_CUSTOM_DIAGNOSE_H
#define SL_CUSTOM_DIAGNOSE_H

#include "../backend.h"

/* Makes kernel->log readable, and puts its first error into *err, whose status it returns
 * (SL_ECOMPILE). */
sl_status sl__diagnose(sl_custom *kernel, sl_error *err);

#endif

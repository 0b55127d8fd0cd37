/* call.h - what an operation has of a launch of a custom kernel, for the rest of the core. */
#ifndef SL_CUSTOM_CALL_H
#define SL_CUSTOM_CALL_H

#include "../backend.h"

void sl__custom_call_release(sl_custom_call *call); /* NULL: nothing. Holds no buffers */

#endif

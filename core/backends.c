/* backends.c - the backends built into this program. Tests of the core link a
 * list of their own instead of this file. */
#include "device.h"

const sl_backend *const sl__backends[] = { &sl_sim_backend, NULL };

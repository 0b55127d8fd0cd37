/* figures_none.c - no figures: each profile is read when a device is opened. */
#include "profile_figures.h"

const lsl_figures lsl_built_in_figures[] = { { NULL, NULL, 0 } };

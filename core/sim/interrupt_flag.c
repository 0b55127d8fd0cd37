/* interrupt_flag.c - the address of the interrupt flag, for the files that compute values. */
#include "interrupt_flag.h"

static const volatile sig_atomic_t never_set;
const volatile sig_atomic_t *sim_interrupt_flag = &never_set;

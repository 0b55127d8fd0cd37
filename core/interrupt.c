/* interrupt.c - the interrupt flag of the process. There is one for all devices, since a signal
 * handler knows none of them; every device gives its backend the address. */
#include "device.h"

static volatile sig_atomic_t asked, leaving;
static volatile sig_atomic_t wanted; /* what waits look at: set by either */

void sl_interrupt(bool on)
{
    asked = on;
    wanted = on;
    if (leaving) /* looked at afterwards: sl_leave may come in between */
        wanted = 1;
}

void sl_leave(void)
{
    leaving = 1;
    wanted = 1;
}

bool sl_interrupt_wanted(void) { return asked; }

bool sl_waits_end(void) { return wanted; }

sl_status sl_interrupt_check(sl_error *err)
{
    if (!asked) return SL_OK;
    sl_interrupt(false);
    return sl_fail(err, SL_EINTERRUPT, "interrupted");
}

const volatile sig_atomic_t *sl__interrupt_flag(void) { return &wanted; }

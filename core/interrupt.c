/* interrupt.c - the user's wish that what runs ends. One flag for all devices, since a
 * signal handler knows none of them; every device points its backend to it. */
#include "device.h"

static volatile sig_atomic_t asked, leaving;
static volatile sig_atomic_t wanted;    /* of waits: either of them */

void sl_interrupt(bool on)
{
    asked = on;
    wanted = on;
    if (leaving)        /* looked at afterwards: sl_leave may come in between */
        wanted = 1;
}

void sl_leave(void)
{
    leaving = 1;
    wanted = 1;
}

bool sl_interrupt_wanted(void)
{
    return asked;
}

sl_status sl_interrupt_check(sl_error *err)
{
    if (!asked)
        return SL_OK;
    sl_interrupt(false);
    return sl_fail(err, SL_EINTERRUPT, "interrupted");
}

const volatile sig_atomic_t *sl__interrupt_flag(void)
{
    return &wanted;
}

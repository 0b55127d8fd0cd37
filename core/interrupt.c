/* interrupt.c - the user's wish that waits end. One flag for all devices, since a
 * signal handler knows none of them; every device points its backend to it. */
#include "device.h"

static volatile sig_atomic_t wanted, leaving;

void sl_interrupt(bool on)
{
    wanted = on;
    if (leaving)        /* looked at afterwards: sl_leave may come in between */
        wanted = 1;
}

void sl_leave(void)
{
    leaving = 1;
    wanted = 1;
}

const volatile sig_atomic_t *sl__interrupt_flag(void)
{
    return &wanted;
}

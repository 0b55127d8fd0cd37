/* interrupt.c - the user's wish that waits end. One flag for all devices, since a
 * signal handler knows none of them; every device points its backend to it. */
#include "device.h"

static volatile sig_atomic_t wanted;

void sl_interrupt(bool on)
{
    wanted = on;
}

const volatile sig_atomic_t *sl__interrupt_flag(void)
{
    return &wanted;
}

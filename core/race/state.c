/* state.c - the checker's state, and its texts. */
#include "state.h"

#include "../device.h"

sl__checker sl__race;

uint32_t sl__race_text(const char *text)
{
    uint32_t id = sl__strings_intern(&sl__race.strings, text);

    sl__race.starved |= !id && text && *text;
    return id;
}

uint32_t sl__race_where(const sl_device *device)
{
    return sl__race_text(sl__strings_text(&device->core->strings, device->core->where));
}

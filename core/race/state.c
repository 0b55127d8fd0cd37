/* state.c - the checker's state, and its texts. */
#include "state.h"

#include <stdlib.h>

#include "../device.h"

sl__checker *sl__race;

sl__checker *sl__race_make(void)
{
    if (!sl__race) sl__race = calloc(1, sizeof *sl__race);
    return sl__race;
}

uint32_t sl__race_text(sl__checker *checker, const char *text)
{
    uint32_t id = sl__strings_intern(&checker->strings, text);
    checker->starved |= !id && text && *text;
    return id;
}

uint32_t sl__race_where(sl__checker *checker, const sl_device *device)
{
    return sl__race_text(checker, sl__strings_text(&device->core->strings, device->core->where));
}

/* races.c - the races that were found, and the switch. */
#include "../streamlab.h"

#include <string.h>

sl_status sl_check(sl_check_mode mode, sl_error *err)
{
    if (mode == SL_CHECK_OFF)
        return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED, "the race checker is not in this version");
}

sl_check_mode sl_check_get_mode(void)
{
    return SL_CHECK_OFF;
}

size_t sl_race_count(void)
{
    return 0;
}

const sl_race *sl_race_get(size_t index)
{
    (void)index;
    return NULL;
}

uint64_t sl_race_total(void)
{
    return 0;
}

void sl_race_set_hook(sl_race_hook hook, void *ud)
{
    (void)hook;
    (void)ud;
}

void sl_race_get_stats(sl_race_stats *stats)
{
    memset(stats, 0, sizeof *stats);
}

/* l_races.h - what l_races.c, the functions that scripts call, and l_race_report.c, a race
 * in words, share.
 */
#ifndef LSL_RACES_H
#define LSL_RACES_H

#include "lsl.h"

/* Pushes the race as lines of text, the last one without its end. */
void lsl_push_race_report(lua_State *L, const sl_race *race, bool colour, const char *op);

#endif

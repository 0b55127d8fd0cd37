/* l_races.h - what l_races.c, the functions that scripts call, and l_race_report.c, a race
 * in words, share.
 */
#ifndef LSL_RACES_H
#define LSL_RACES_H

#include "lsl.h"

enum { LSL_RACE_COLUMNS = 100 };    /* of a report that is not for a narrower terminal */

/* Pushes the race as lines of text, the last one without its end. */
void lsl_push_race_report(lua_State *L, const sl_race *race, int columns, bool colour,
                          const char *op);

#endif

/* played_timeline.h - a played program as a timeline, for all that is there for timelines: charts,
 * files, differences, why time is lost. */
#ifndef SL_WHATIF_PLAYED_TIMELINE_H
#define SL_WHATIF_PLAYED_TIMELINE_H

#include "program.h"

/* The program's timeline with the times that are played, without what recording took. sides: the
 * names of streams that edits have made, from 1 to SL__SIDES - 1; NULL: there is none of that
 * number. recorded: the program before its changes. The caller releases *timeline. SL_EINVAL: steps
 * wait for each other; SL_ENOMEM, SL_EINTERRUPT. */
sl_status sl__played_timeline(const sl__program *program, const sl__program *recorded,
                              const char *const *sides, sl_timeline **timeline, sl_error *err);

#endif

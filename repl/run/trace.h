/* trace.h - --trace FILE: records the whole run and saves it at the end.
 */
#ifndef REPL_TRACE_H
#define REPL_TRACE_H

#include <lua.h>
#include <stdbool.h>

/* Finds out whether a file can be put at `path`; changes nothing. False:
 * *message says why not. */
bool trace_can_write(const char *path, char *message, int message_bytes);

/* Pushes the function that starts recording the device that was just opened. */
void trace_push_on_open(lua_State *L);

/* Stops every recording and saves it: the first device's to `path`, the n-th
 * one's with ".n" before the suffix. If none was opened, the default device is, whose
 * trace is empty; of a run that failed before it opened one nothing is saved. A device that
 * has failed, so that the last wait does, leaves what was recorded before. False if anything
 * failed; it has been reported.
 * A second call finds nothing to do. */
bool trace_save(lua_State *L, const char *path, bool run_failed);

#endif

/* trial.h - can the device that the command line names be opened? */
#ifndef REPL_TRIAL_H
#define REPL_TRIAL_H

#include <lua.h>
#include <stdbool.h>

#include "options.h"

/* Sets backend, profile and index in the table on the stack's top, as lab.open
 * looks for them in registry["streamlab.defaults"]. */
void trial_set_device(lua_State *L, const options *o);

/* Opens the device that --backend, --profile and --device name, and closes it
 * again; the run that follows does not notice. True if it could be opened, or
 * none of them was given, or the profile is a pipe, which only the run may read; else
 * *message says why not. */
bool trial_open(const options *o, char *message, int message_bytes);

#endif

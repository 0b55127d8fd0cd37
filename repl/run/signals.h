/* signals.h - signals that end the program, and all while the prompt waits for what is typed.
 *
 * Between signals_hold and signals_release, Ctrl-C and its kind do nothing by themselves:
 * signals_wait returns them, one at a time and where the state is consistent, so that the line
 * editor can restore the terminal first. signals_release restores what the signals did before.
 */
#ifndef REPL_SIGNALS_H
#define REPL_SIGNALS_H

#include <lua.h>
#include <signal.h>

/* From now on SIGTERM, SIGHUP and SIGQUIT, unless they are ignored, first remove the files that
 * the program has begun to write. */
void signals_abandon_files(void);

/* Adds to the program's functions for its own Lua code
 *   hold_end()  from now on the first SIGTERM is only noted, and a second one ends the program
 *   end_came()  whether one was noted */
void signals_add(lua_State *L);

/* Between what is read and its run, and after that, Ctrl-C has nothing to stop, and must not end
 * the program: from now on SIGINT does nothing. *before is what it did. */
void signals_ignore_interrupts(struct sigaction *before);

/* They do not nest. */
void signals_hold(void);
void signals_release(void);

/* Waits until the descriptor can be read, which gives 0, or a signal is there, which gives its
 * number: SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT or SIGWINCH. Signals are returned in
 * the order in which they came. */
int signals_wait(int descriptor);

/* Does what the signal would have done without us: stops the process, and returns when it
 * goes on; or ends it. */
void signals_obey(int number);

#endif

/* l_thread.h - threads of scripts: what their Lua states are given, and how they end. */
#ifndef L_THREAD_H
#define L_THREAD_H

#include "lsl.h"

/* Joins all threads that the state has started, and pushes a sentence for each whose error nobody
 * has got. Returns how many. */
int lsl_join_threads(lua_State *L, lsl_state *state);
/* The same where nobody takes the sentences: prints them on stderr. Raises nothing. */
void lsl_end_threads(lua_State *L, lsl_state *state);
/* Whether one of them has not ended. */
bool lsl_threads_run(const lsl_state *state);
/* l_thread_end.c: opens Lua's libraries in the new state of a thread that L starts, with an xpcall,
 * os.exit and debug.sethook of our own. */
void lsl_open_libraries(lua_State *T, lua_State *L);
/* On the new thread: has Ctrl-C and the end of its time end T. The text, where the thread was
 * started, stays valid while it runs. */
void lsl_hook_thread(lua_State *T, const char *started_at);
/* The script has ended and waits for its threads, or waits no longer: after some seconds each says
 * that it still runs. */
void lsl_note_waiting(bool waits);
/* Closes a thread's state, or has lsl_close_kept close it once no host function names it. */
void lsl_close_thread(lua_State *T, lsl_state *state);
void lsl_close_kept(void);
/* Raises SL_EINVAL on L unless the value at `idx` of `from`, which may be L, can be handed over to
 * a state that works with `device`. `what` names it: "argument 2". */
void lsl_check_handover(lua_State *L, lua_State *from, int idx, const sl_device *device,
                        const char *what, const char *op);
/* Pushes on L what is at `idx` of `from`; it has been checked. Both indices are not negative. */
void lsl_hand_over(lua_State *L, lua_State *from, int idx);
/* For the new state of a thread, with `starter`, `globals_ref` and `code` set: reading a global
 * that only the starter has raises, setting a new one gives a notice. */
void lsl_watch_globals(lua_State *T, lsl_state *state);

/* For a new state of a thread, in a run that leaves files as they are (l_divert.c). */
void lsl_divert_libraries(lua_State *L);

#endif

/* l_error.h - the one way in which errors are raised, and where in the script a call is. */
#ifndef L_ERROR_H
#define L_ERROR_H

#include "lsl.h"

/* ---- errors (l_error.c) -------------------------------------------------- */

/* Raises {code, message, op, where}; never returns. `op` is "" for a field. After Ctrl-C has
 * ended a wait, raises the error of Ctrl-C instead, if its hook is set. */
int lsl_raise(lua_State *L, sl_status status, const char *op, const char *message) LSL_COLD;
/* The same for an error of the core, with its advice in Lua. */
int lsl_raise_error(lua_State *L, sl_status status, const sl_error *err, const char *op) LSL_COLD;
int lsl_fail(lua_State *L, sl_status status, const char *op, const char *fmt, ...) LSL_COLD
    __attribute__((format(printf, 4, 5)));
/* Raises what the core reported, unless it is success. */
static inline void lsl_check(lua_State *L, sl_status status, const sl_error *err, const char *op)
{
    if (status != SL_OK) lsl_raise_error(L, status, err, op);
}
/* The same after the tensor in the box on top of the stack was created: on failure releases it
 * at once, and not when it is collected. */
void lsl_check_new(lua_State *L, sl_status status, const sl_error *err, const char *op);
/* Pushes nil, the message and the code, for functions that report failure by their results.
 * Returns 3. */
int lsl_push_failure(lua_State *L, sl_status status, const sl_error *err);
/* Pushes false and the message, where failure is an answer. Returns 2. */
int lsl_push_false(lua_State *L, const sl_error *err);
/* Raises if a function of the module was called with a colon, lab:matmul(a, b), so that its
 * first argument is the module. lsl_raise calls it. */
void lsl_refuse_colon(lua_State *L, const char *op);
/* as(op, f, ...): calls a C function of the module so that its errors name the prelude's
 * function `op`. */
int lsl_call_as(lua_State *L);
/* The name under which the running C function was called: the `op` of lsl_call_as, else
 * `op`. Leaves up to two values on the stack, which keep it. */
const char *lsl_called_name(lua_State *L, const char *op);
/* Pushes a copy of the error object at `idx`, not negative, of another state; false if that is
 * none. */
bool lsl_push_error_of(lua_State *L, lua_State *from, int idx);
void lsl_define_error(lua_State *L);

/* Pushes an empty text, which the collector frees. */
sl_text *lsl_new_text(lua_State *L);
/* Pushes what was added to the text as a string, and frees the text at once. Returns 1. */
int lsl_push_text(lua_State *L, sl_text *text, const char *op);

/* For loops over many Lua values: every 4096th i, raises if the user has pressed Ctrl-C. */
void lsl_stop_at(lua_State *L, int64_t i, const char *op);

/* ---- positions (l_position.c) --------------------------------------------- */

/* The script position of the innermost Lua function that is not the prelude:
 * "lab.lua:12", or "" if there is none. */
void lsl_where_text(lua_State *L, char *text, size_t size);
/* Sets that position on the device, for the operations that follow. Cheap: called before each
 * enqueue. */
void lsl_mark(lua_State *L, sl_device *device);
/* The device is closing, NULL: positions are others from now on. */
void lsl_forget_positions(lsl_state *state, const sl_device *device);
void lsl_define_positions(lua_State *L);
/* Pushes and gives the source (lua_Debug's) of the chunk that this position is in, with its name
 * ("lab.lua"); NULL, and pushes nothing, if there is none. */
const char *lsl_calling_chunk(lua_State *L, char *name, size_t size);

/* ---- chunks (l_chunk.c) -------------------------------------------------------- */

enum { LSL_MOST_SOURCE_BYTES = 16 << 20 }; /* of a script's file */
/* Replaces that source on top ("@lab.lua", "=lab[3]", or a text) by its text, or by a value that is
 * none. The chunk has been noted. */
void lsl_read_source(lua_State *L);
/* Replaces the base name of a chunk on top ("lab.lua") by the chunk's text, or by a value that is
 * none. */
void lsl_read_chunk(lua_State *L);
/* Notes which chunk (lua_Debug's source) the position is in, so that explanations can quote its
 * line. May raise if memory is short. */
void lsl_note_chunk(lua_State *L, const char *where, const char *source);

#endif

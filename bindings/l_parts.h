/* l_parts.h - the parts of the module: how each is opened, what the others call of them, and what
 * the program calls. */
#ifndef L_PARTS_H
#define L_PARTS_H

#include <stdio.h>

#include "lsl.h"

/* ---- the module's parts ---------------------------------------------------- */

/* Each part has lsl_open_PART, which adds its kinds, and its functions to the module's table, which
 * is on top of the stack. In this order: a part may add methods to the kinds of those before. */
/* clang-format off */
#define LSL_PARTS(X)                                                                               \
    X(device) X(stream) X(guard) X(event) X(tensor) X(create) X(ops) X(view) X(timeline)           \
    X(selection) X(records) X(breakdown) X(idle) X(counters) X(part) X(host_ranges) X(show)        \
    X(cuda) X(races) X(graph) X(capture) X(dot) X(kernel) X(thread) X(tune)
/* The same for what only the prelude and the program use. */
#define LSL_INTERNAL_PARTS(X) X(ops_internal) X(comm_internal)
/* Parts that have functions for those alone: the list lsl_PART_internals. */
#define LSL_INTERNALS(X)                                                                           \
    X(device) X(devices) X(terminal) X(inspect) X(source) X(chunk) X(tap) X(races) X(file)         \
    X(divert) X(bounded) X(text) X(records) X(figures) X(lists) X(range) X(kernel) X(doubles)      \
    X(tune) X(thread) X(behind) X(call_times) X(output) X(pictures) X(ranks) X(whatif)
/* clang-format on */
#define X(part) void lsl_open_##part(lua_State *L);
LSL_PARTS(X)
LSL_INTERNAL_PARTS(X)
#undef X
#define X(part) extern const luaL_Reg lsl_##part##_internals[];
LSL_INTERNALS(X)
#undef X

/* ---- devices (l_device.c, l_devices.c) -------------------------------------- */

/* The device of that number on the current one's backend ("cuda:1"). Opens it if it is not open,
 * which waits for all open devices; it does not become current. */
sl_device *lsl_device_at(lua_State *L, int index, const char *op);
/* Closes the simulated devices to which nothing refers any more, but the current one. All must
 * have been waited for. In a finalizer it does nothing: a function of the module that has been
 * interrupted by the collector may have one of them. Nor while the race checker is on, since what
 * it reports must not depend on when Lua collects, or while the program keeps all
 * (keeps_devices). */
void lsl_close_unused(lua_State *L);
/* For the end: drains all devices, then closes them. */
void lsl_drain_devices(const lsl_state *state);
void lsl_close_devices(lua_State *L, lsl_state *state);

/* ---- streams, events, tensors ------------------------------------------------ */

/* Pushes a box with a new event of the device, with the options at `arg`, if there are any. */
void lsl_create_event(lua_State *L, sl_device *device, int arg, const char *op);
/* Push the object's box, or a new one with a reference of its own. */
void lsl_push_device(lua_State *L, sl_device *device);
void lsl_push_stream(lua_State *L, sl_stream *stream);
/* Makes the stream current, and pushes a guard whose __close makes the old one current again. */
void lsl_push_guard(lua_State *L, sl_stream *stream, const char *op);

/* The tensor at index 1 in another dtype, options at `arg`; itself if it has that dtype. */
int lsl_cast(lua_State *L, sl_dtype dtype, int arg, const char *op);

/* Pushes a box with a new tensor of `device`; raises on failure. */
sl_tensor *lsl_create_tensor(lua_State *L, sl_device *device, const sl_tensor_spec *spec,
                             sl_stream *stream, const char *op);

/* ---- graphs (l_graph.c) ------------------------------------------------------ */

/* Push scratch memory with all nodes, or edges, of the graph. */
sl_graph_node *lsl_graph_nodes(lua_State *L, const sl_graph *graph, const char *op);
sl_graph_edge *lsl_graph_edges(lua_State *L, const sl_graph *graph, const char *op);

/* ---- kernels (l_kernel.c, l_compute.c) ------------------------------------------ */

/* Calls the function on top of T, below its n arguments, from inside of a call of the core, where
 * neither the core nor the collector's finalizers may be called back. NULL, with n_results on T; or
 * why it failed, a text on T. After Ctrl-C it counts as fine, without results. */
const char *lsl_call_inside(lsl_state *state, lua_State *T, int n, int n_results);
/* The function at `idx`, which computes what a kernel does, into *spec; nil: none. */
void lsl_set_compute(lua_State *L, int idx, sl_custom_spec *spec);

/* ---- files (l_file.c) --------------------------------------------------------- */

/* Writes the files of the list at that index, {{path =, text =}, ...}, as sl_files_write does. */
sl_status lsl_write_files(lua_State *L, int list, sl_error *err);

/* ---- races (l_races.c) ------------------------------------------------------- */

/* In warn mode, prints how many races were found, if any. */
void lsl_sum_up_races(lua_State *L);
/* When the state closes: turns the race checker off, if this state has turned it on. */
void lsl_stop_checking(const lsl_state *state);

/* ---- the terminal (terminal.c) ----------------------------------------------- */

/* Its width, from COLUMNS or the terminal that the descriptor is, else 80; from 20 to 4096. */
int lsl_terminal_columns(int descriptor);
/* Whether it shows UTF-8, by the locale. */
bool lsl_terminal_unicode(void);
/* Whether output to that descriptor has colours. */
bool lsl_terminal_colour(lua_State *L, int descriptor);

/* ---- for the program --------------------------------------------------------- */

LUAMOD_API int luaopen_streamlab(lua_State *L);

/* Writes a text as sl_safe_character gives it, with its newlines and tabs. */
LUAMOD_API void lsl_put_safe(const char *text, FILE *file);

/* For the program's handler of Ctrl-C: from now on (or no longer) waits end with SL_EINTERRUPT.
 * Safe in a signal handler. */
LUAMOD_API void lsl_interrupt(bool on);
/* The process ends: from now on every wait returns at once. */
LUAMOD_API void lsl_leave(void);
/* For the program, which has no Lua state there: files as core/text/file.h has them. The third
 * is safe in a signal handler. */
LUAMOD_API bool lsl_write_file(const char *path, const char *bytes, size_t n);
LUAMOD_API bool lsl_try_file(const char *path, char *message, size_t message_bytes);
LUAMOD_API void lsl_abandon_files(void);
/* And core/text/temporary_folder.h's, whose paths have at most 256 bytes. */
LUAMOD_API int lsl_make_temporary_folder(char *path);
LUAMOD_API void lsl_remove_temporary_folder(const char *path);
/* A host function runs in a Lua state of its own, T: enter(T) is called before, and leave, with
 * what enter gave, afterwards. leave returns true if the function failed because of Ctrl-C: its
 * error is not reported. */
LUAMOD_API void lsl_watch_host_funcs(lua_State *L, lua_State *(*enter)(lua_State *T),
                                     bool (*leave)(lua_State *T, lua_State *before, bool failed));

#endif

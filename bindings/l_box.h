/* l_box.h - userdata: boxes around objects of the core, their classes, scratch memory, and fields
 * of tables.
 *
 * As in Lua's liolib, a userdata is a box around one reference to a core object. The box is made
 * first and empty, with its metatable set; then the core creates the object; then the box is
 * filled. So a memory error of Lua, which may strike at any allocation, never leaks an object of
 * the core. */
#ifndef L_BOX_H
#define L_BOX_H

#include "lsl.h"

/* The kind of a userdata is the address of one of these. The tag is cleared when the userdata is
 * emptied, so that freed memory never holds it. */
typedef const char *lsl_tag;
extern const char lsl_tags[LSL_KINDS];

typedef struct lsl_box {
    lsl_tag tag;                  /* every userdata of ours begins with it */
    void *p;                      /* NULL when there is nothing in it */
    struct lsl_box *next, **link; /* in the state's list of boxes, until it is emptied */
    bool closed;                  /* the user closed it, though p is kept; see lsl_close */
    uint32_t id;                  /* a stream's, which is known also when p is gone, */
    int device_index;             /* and that of its device */
} lsl_box;
#define lsl_is_open(box) ((box)->p && !(box)->closed)
/* Devices, streams, events, tensors and graphs are in the state's list; scratch memory and
 * timelines are not. */
static inline bool lsl_is_listed(lsl_kind kind) { return kind <= LSL_KERNEL; }
/* Limit of the objects or tables without an element that one call creates. */
enum { LSL_MOST_OBJECTS = 1000000 };

/* Registers a kind: its metatable (with __name "streamlab.<noun>"), methods, and
 * getters, which are C functions of the object that are called for a field. */
void lsl_define(lua_State *L, lsl_kind kind, const luaL_Reg *meta, const luaL_Reg *methods,
                const luaL_Reg *getters);
/* The same for devices, streams, events, tensors and graphs, which get __gc, __eq and
 * __tostring. */
typedef struct lsl_class {
    lsl_push_text_fn push_text;
    lua_CFunction close; /* __close; NULL: none */
    const luaL_Reg *methods, *getters;
} lsl_class;
void lsl_define_boxes(lua_State *L, lsl_kind kind, const lsl_class *class);
/* Defines get_FIELD, the getter of a field of `self`, which the file's check_self(L, op) gives.
 * `value` is pushed by lua_push##PUSH. */
#define LSL_GETTER(type, field, push, value) \
    static int get_##field(lua_State *L)     \
    {                                        \
        type *self = check_self(L, #field);  \
        lua_push##push(L, value);            \
        return 1;                            \
    }
/* core.nearest(name, names): the key of the table that is spelt most like the name, or
 * nil if none is near. */
int lsl_nearest(lua_State *L);
/* Adds methods to a kind that is defined. */
void lsl_add_methods(lua_State *L, lsl_kind kind, const luaL_Reg *methods);
/* Adds the functions to the table on top of the stack, with the state as upvalue. */
static inline void lsl_set_functions(lua_State *L, const luaL_Reg *functions)
{
    lua_pushlightuserdata(L, lsl_get(L));
    luaL_setfuncs(L, functions, 1);
}
/* Set a field of the table on top of the stack; the second only if the text is not empty. */
static inline void lsl_set_text(lua_State *L, const char *field, const char *text)
{
    lua_pushstring(L, text);
    lua_setfield(L, -2, field);
}
static inline void lsl_set_known(lua_State *L, const char *field, const char *text)
{
    if (*text != '\0') lsl_set_text(L, field, text);
}
static inline void lsl_set_integer(lua_State *L, const char *field, int64_t value)
{
    lua_pushinteger(L, value);
    lua_setfield(L, -2, field);
}
static inline void lsl_set_boolean(lua_State *L, const char *field, bool value)
{
    lua_pushboolean(L, value);
    lua_setfield(L, -2, field);
}
static inline void lsl_set_us(lua_State *L, const char *field, int64_t ns)
{
    lua_pushnumber(L, (double)ns / 1000.0);
    lua_setfield(L, -2, field);
}
/* Pushes a userdata of `kind`, zeroed behind its tag. */
void *lsl_new(lua_State *L, lsl_kind kind, size_t bytes);
/* The userdata at `arg` if it is of `kind`, else NULL. Never raises. Inline, because every
 * call of the module does this, most of them several times. */
void *lsl_to_emptied(lua_State *L, int arg, lsl_kind kind) LSL_COLD;
/* The memory of a userdata that can be one of ours; NULL: it is none. */
const lsl_tag *lsl_memory(lua_State *L, int arg);
static inline void *lsl_to(lua_State *L, int arg, lsl_kind kind)
{
    const lsl_raw_value *value = lsl_layout_fits ? lsl_raw_argument(L, arg) : NULL;
    const lsl_tag *tag = value ? lsl_raw_memory(value->tag, value->value, sizeof(lsl_tag)) : NULL;
    if (!tag) tag = lsl_memory(L, arg);
    return !tag || *tag == &lsl_tags[kind] ? (void *)tag : lsl_to_emptied(L, arg, kind);
}
/* The open box of the kind that a value as Lua lays it out is; NULL: it is none. */
static inline const lsl_box *lsl_raw_box(unsigned char tag, lsl_raw value, lsl_kind kind)
{
    const lsl_box *box = lsl_raw_memory(tag, value, sizeof *box);
    return box && box->tag == &lsl_tags[kind] && lsl_is_open(box) ? box : NULL;
}
/* The kind of the userdata at `idx`; LSL_KINDS for any other value. */
lsl_kind lsl_kind_of(lua_State *L, int idx);
/* Empties the box at index 1 of a finalizer: what was in it, or NULL. */
void *lsl_take(lua_State *L, lsl_kind kind);
/* For __gc of a kind of boxes: releases what is in the box at index 1. */
void lsl_collect(lua_State *L, lsl_kind kind);
/* For close() and __close: the same, and raises if argument 1 is of another kind. Returns 0. While
 * a finalizer or host function of the user runs, a C function of the module may still use the
 * object: then the box is only marked as closed, and keeps the object until it is collected. */
int lsl_close(lua_State *L, lsl_kind kind);
/* Pushes memory of `bytes` zeros. The collector calls `release` with it. */
void *lsl_new_scratch(lua_State *L, size_t bytes, void (*release)(void *));
/* What lsl_new_scratch gave for the value at `idx`. */
void *lsl_scratch_at(lua_State *L, int idx);
/* Pushes scratch memory from malloc, which the collector frees; SL_ENOMEM raises. */
void *lsl_scratch(lua_State *L, size_t count, size_t size, const char *op);
/* Pushes an owner of memory from malloc, which the collector frees: *result, NULL so far. */
void **lsl_new_owner(lua_State *L);
extern const luaL_Reg lsl_scratch_meta[];

/* Whether a finalizer runs. */
bool lsl_in_finalizer(lua_State *L);

/* Pushes an empty box and returns it; the caller fills p. */
lsl_box *lsl_new_box(lua_State *L, lsl_kind kind);

/* An object of the core has one open box, so that it is one key in a script's tables. Registers
 * the box on top of the stack as the one of its object. */
void lsl_remember(lua_State *L);
/* Pushes the open box of `p` if there is one. */
bool lsl_push_known(lua_State *L, lsl_kind kind, const void *p);

#endif

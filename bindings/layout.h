/* layout.h - how Lua 5.4 lays out what the hot paths use of it: the stack of a call and who called,
 * the entries of a table, the start of a userdata. It is no part of Lua's interface, but
 * the same in all releases of Lua 5.4 (lstate.h, lobject.h). The interface gives the same, in more
 * time than the rest of a call takes. Nothing here may be used unless lsl_layout_fits. */
#ifndef LSL_LAYOUT_H
#define LSL_LAYOUT_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the running Lua is laid out so: lsl_check_layout has found out. */
extern bool lsl_layout_fits;
/* To be called in a closure of C with a userdata as its first upvalue. */
void lsl_check_layout(lua_State *L);

typedef union lsl_raw {
    void *p;
    lua_Integer i;
    lua_Number n;
} lsl_raw;

/* A value of Lua's stack. */
typedef struct lsl_raw_value {
    lsl_raw value;
    unsigned char tag;
} lsl_raw_value;

enum {
    LSL_TAG_FALSE = 0x01,
    LSL_TAG_INTEGER = 0x03,
    LSL_TAG_NUMBER = 0x13, /* that is no integer */
    LSL_TAG_TRUE = 0x11,
    LSL_TAG_NAME = 0x44, /* a string of up to 40 characters, of which Lua keeps one copy */
    LSL_TAG_TABLE = 0x45,
    LSL_TAG_FUNCTION = 0x46, /* written in Lua */
    LSL_TAG_CLOSURE = 0x66,  /* written in C, with upvalues */
    LSL_TAG_USERDATA = 0x47
};

/* How the frame of a call begins, which lua_Debug's i_ci is. Arguments follow the function. */
typedef struct lsl_raw_frame {
    lsl_raw_value *function;
    void *top;
    const struct lsl_raw_frame *previous, *next;
    const void *pc; /* of a Lua function: the next instruction */
} lsl_raw_frame;

/* How a lua_State begins. */
typedef struct lsl_raw_thread {
    void *next;
    unsigned char tag, marked, status, hooks;
    unsigned short frames;
    lsl_raw_value *top; /* behind the last value */
    void *global;
    const lsl_raw_frame *frame; /* of what runs */
} lsl_raw_thread;

typedef struct lsl_raw_closure {
    void *next;
    unsigned char tag, marked, n_upvalues;
    void *gray;
    lua_CFunction function;
    lsl_raw_value upvalue[];
} lsl_raw_closure;

typedef struct lsl_raw_name {
    void *next;
    unsigned char tag, marked, extra, length;
    unsigned hash;
} lsl_raw_name;

/* What lua_topointer gives for a table. */
typedef struct lsl_raw_table {
    void *next;
    unsigned char tag, marked, flags, log2_nodes;
    unsigned listed; /* values without a node */
    const lsl_raw_value *list;
    const struct lsl_raw_node {
        lsl_raw value;
        unsigned char tag, key_tag;
        int chain;
        lsl_raw key;
    } * node;
} lsl_raw_table;
typedef struct lsl_raw_node lsl_raw_node;

/* How a userdata begins. */
typedef struct lsl_raw_userdata {
    void *next;
    unsigned char tag, marked;
    unsigned short values;
    size_t bytes;
    void *metatable;
    /* Without user values what lua_touserdata gives the address of. With them that comes behind a
     * link of the collector's and the values, each as large as one of the stack. */
    void *memory[];
} lsl_raw_userdata;

/* The memory of a userdata, at least so many bytes; NULL: it is none. */
static inline const void *lsl_raw_memory(unsigned char tag, lsl_raw value, size_t bytes)
{
    const lsl_raw_userdata *u = value.p;
    if (tag != LSL_TAG_USERDATA || u->bytes < bytes) return NULL;
    return u->values == 0 ? (const void *)u->memory
                          : (const char *)(u->memory + 1) + u->values * sizeof(lsl_raw_value);
}

/* Nil, or no value at all. */
static inline bool lsl_raw_is_nil(unsigned char tag) { return (tag & 0x0f) == LUA_TNIL; }

static inline const lsl_raw_frame *lsl_raw_running(lua_State *L)
{
    return ((const lsl_raw_thread *)(const void *)L)->frame;
}

/* That argument of the C function that runs; NULL: there is none, or `arg` is no such index. */
static inline lsl_raw_value *lsl_raw_argument(lua_State *L, int arg)
{
    lsl_raw_value *value = lsl_raw_running(L)->function + arg;
    return arg > 0 && value < ((const lsl_raw_thread *)(const void *)L)->top ? value : NULL;
}

/* The closure of C that runs; NULL: what runs is none. */
static inline const lsl_raw_closure *lsl_raw_closure_of(lua_State *L)
{
    const lsl_raw_value *function = lsl_raw_running(L)->function;
    return function->tag == LSL_TAG_CLOSURE ? function->value.p : NULL;
}

/* The entry with a name, as LSL_TAG_NAME has it, that is not nil; NULL: there is none. */
static inline const lsl_raw_node *lsl_raw_find(const lsl_raw_table *table, const void *name)
{
    const unsigned mask = (1u << table->log2_nodes) - 1;
    const lsl_raw_node *node = &table->node[((const lsl_raw_name *)name)->hash & mask];
    while (node->key_tag != LSL_TAG_NAME || node->key.p != name) {
        if (node->chain == 0) return NULL;
        node += node->chain;
    }
    return lsl_raw_is_nil(node->tag) ? NULL : node;
}

/* Pushes a value. As with lua_push..., a C function has room for LUA_MINSTACK of them. */
static inline void lsl_raw_push(lua_State *L, lsl_raw value, unsigned char tag)
{
    lsl_raw_value *top = ((lsl_raw_thread *)(void *)L)->top++;
    top->value = value;
    top->tag = tag;
}

/* ---- what Lua's interface does, faster where the layout fits ---- */

/* lua_gettop */
static inline int lsl_top(lua_State *L)
{
    if (!lsl_layout_fits) return lua_gettop(L);
    return (int)(((const lsl_raw_thread *)(const void *)L)->top - lsl_raw_running(L)->function) - 1;
}

/* Whether the argument is an integer, as most whole numbers are. */
static inline bool lsl_read_integer(lua_State *L, int arg, int64_t *integer)
{
    const lsl_raw_value *value = lsl_layout_fits ? lsl_raw_argument(L, arg) : NULL;
    if (!value || value->tag != LSL_TAG_INTEGER) return false;
    *integer = value->value.i;
    return true;
}

/* Whether it is a number that is no integer. */
static inline bool lsl_read_fraction(lua_State *L, int arg, double *number)
{
    const lsl_raw_value *value = lsl_layout_fits ? lsl_raw_argument(L, arg) : NULL;
    if (!value || value->tag != LSL_TAG_NUMBER) return false;
    *number = value->value.n;
    return true;
}

/* lua_istable */
static inline bool lsl_is_table(lua_State *L, int arg)
{
    const lsl_raw_value *value = lsl_layout_fits ? lsl_raw_argument(L, arg) : NULL;
    return value ? value->tag == LSL_TAG_TABLE : lua_istable(L, arg);
}

/* Pushes argument 1, for methods that give their object. Returns 1. */
static inline int lsl_return_first(lua_State *L)
{
    const lsl_raw_value *first = lsl_layout_fits ? lsl_raw_argument(L, 1) : NULL;
    if (first)
        lsl_raw_push(L, first->value, first->tag);
    else
        lua_pushvalue(L, 1);
    return 1;
}

/* The address in upvalue `i` of the closure of C that runs. */
static inline void *lsl_upvalue(lua_State *L, int i)
{
    const lsl_raw_closure *closure = lsl_layout_fits ? lsl_raw_closure_of(L) : NULL;
    return closure ? closure->upvalue[i - 1].value.p : lua_touserdata(L, lua_upvalueindex(i));
}

#endif

/* layout.h - how Lua 5.4 lays out what the hot paths read of it: the frame of a call, the nodes of a
 * table, the start of a userdata. It is no part of Lua's interface, but the same in all releases of
 * Lua 5.4 (lstate.h, lobject.h). The interface gives the same, in more time than the rest of a call
 * takes. */
#ifndef LSL_LAYOUT_H
#define LSL_LAYOUT_H

#include <lua.h>
#include <stddef.h>

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
    LSL_TAG_TRUE = 0x11,
    LSL_TAG_NAME = 0x44,     /* a string of up to 40 characters, of which Lua keeps one copy */
    LSL_TAG_FUNCTION = 0x46, /* written in Lua */
    LSL_TAG_USERDATA = 0x47
};

/* How the frame begins that lua_Debug's i_ci is. */
typedef struct lsl_raw_frame {
    const lsl_raw_value *function;
    void *top, *previous, *next;
    const void *pc; /* of a Lua function: the next instruction */
} lsl_raw_frame;

/* What lua_topointer gives for a table. */
typedef struct lsl_raw_table {
    void *next;
    unsigned char tag, marked, flags, log2_nodes;
    unsigned listed; /* values without a node */
    void *list;
    const struct lsl_raw_node {
        lsl_raw value;
        unsigned char tag, key_tag;
        int chain;
        lsl_raw key;
    } * node;
} lsl_raw_table;
typedef struct lsl_raw_node lsl_raw_node;

/* A userdata that has no values of Lua's. */
typedef struct lsl_raw_userdata {
    void *next;
    unsigned char tag, marked;
    unsigned short values;
    size_t bytes;
    void *metatable;
    void *memory[]; /* what lua_touserdata gives the address of */
} lsl_raw_userdata;

/* Nil, or no value at all. */
static inline int lsl_raw_is_nil(unsigned char tag) { return (tag & 0x0f) == LUA_TNIL; }

#endif

/* l_fields.c - methods and fields of the userdata: their metatables, and the errors for fields
 * that an object does not have.
 *
 * A misspelt field must not read as nil, which a script would go on with. For a name of PyTorch
 * or CUDA the message says what streamlab has instead; for others it suggests the nearest
 * spelling. All of this runs only when the lookup (box_index) has found nothing. */
#include "l_args.h"
#include "l_error.h"

#include <stdio.h>
#include <string.h>

/* ---- names of PyTorch and CUDA ----------------------------------------------------- */

/* Pushes what streamlab has instead of the name: a text, or nil. The names are those of the page
 * docs/api/elsewhere.lua. */
static const char *push_elsewhere(lua_State *L, const char *noun, const char *name)
{
    luaL_checkstack(L, 4, NULL);
    lua_getfield(L, LUA_REGISTRYINDEX, "streamlab.internals");
    lua_getfield(L, -1, "elsewhere");
    lua_pushfstring(L, "%s.%s", noun, name);
    lua_call(L, 1, 1);
    return lua_tostring(L, -1);
}

/* ---- names that are nearly right ----------------------------------------------------- */

enum { NAME_CHARS = 32 }; /* no name of ours is as long; below SL_EDIT_CHARS */

typedef struct nearest {
    const char *name; /* NULL if none is near; kept alive by its table */
    int distance;     /* of the name; at first, more than which is too far */
} nearest;

/* Which of two equally near names is suggested: the one with the first letter that was typed,
 * else the first by alphabet, so that the order of the table does not matter. */
static bool goes_before(const char *a, const char *b, const char *typed)
{
    if ((a[0] == typed[0]) != (b[0] == typed[0])) return a[0] == typed[0];
    return strcmp(a, b) < 0;
}

/* Looks through the keys of the table at `idx`. */
static void find_nearest(lua_State *L, int idx, const char *name, nearest *found)
{
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        lua_pop(L, 1);
        const char *key = lua_tostring(L, -1);
        if (strlen(key) >= NAME_CHARS) continue;
        int distance = sl_edit_distance(name, key);
        bool first = !found->name || goes_before(key, found->name, name);
        if (distance > found->distance || (distance == found->distance && !first)) continue;
        found->name = key;
        found->distance = distance;
    }
}

/* The greatest edit distance of a name that is still suggested. */
static int tolerance(const char *name)
{
    size_t length = strlen(name);
    return length < 3 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3;
}

int lsl_nearest(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    nearest found = { NULL, tolerance(name) };
    if (strlen(name) < NAME_CHARS) find_nearest(L, 2, name, &found);
    lua_pushstring(L, found.name); /* NULL: nil */
    return 1;
}

/* ---- sentences ------------------------------------------------------------------------- */

/* t[1] and t[1] = value: how an element is named here, t:get(1, 1) for a matrix. */
static int fail_index(lua_State *L, bool set)
{
    const lsl_box *box = lsl_to(L, 1, LSL_TENSOR);
    if (!box)
        return lsl_fail(L, SL_EINVAL, "", "%s is not indexed with []",
                        lsl_nouns[lsl_kind_of(L, 1)]);
    int ndim = box->p ? sl_tensor_get_spec(box->p)->ndim : 2;
    char arguments[4 * SL_MAX_DIMS + 8] = "";
    for (int i = 0; i < ndim; i++)
        strcat(arguments, i > 0 ? ", 1" : "1");
    if (set) strcat(arguments, ndim > 0 ? ", value" : "value");
    return lsl_fail(L, SL_EINVAL, "", "a tensor is not indexed with []; use t:%s(%s)",
                    set ? "set" : "get", arguments);
}

/* Raises unless the object at index 1 is of the kind in that upvalue: debug.getmetatable gives the
 * metamethods to a script, which may call them with anything. */
static void check_own(lua_State *L, int kind, const char *op)
{
    const lsl_kind own = (lsl_kind)lua_tointeger(L, kind);
    if (!lsl_to(L, 1, own)) lsl_type_error(L, 1, "self", lsl_nouns[own], op);
}

/* Raises for the key at index 2, which the object at index 1 lacks, given the tables of its
 * methods and fields: says what the name stands for here, or names the nearest spelling. */
LSL_COLD static int fail_get(lua_State *L, int methods, int fields)
{
    check_own(L, lua_upvalueindex(4), "index");
    const char *noun = lsl_type_name(L, 1);
    if (lua_type(L, 2) == LUA_TNUMBER) return fail_index(L, false);
    if (lua_type(L, 2) != LUA_TSTRING)
        return lsl_fail(L, SL_EINVAL, "", "%s has no field [%s]", noun, lsl_type_name(L, 2));
    const char *name = lua_tostring(L, 2), *text = push_elsewhere(L, noun, name);
    if (text)
        return lsl_fail(L, SL_EINVAL, "", "%s has no field or method '%s'; %s", noun, name, text);
    nearest found = { NULL, tolerance(name) };
    if (strlen(name) < NAME_CHARS) {
        find_nearest(L, methods, name, &found);
        find_nearest(L, fields, name, &found);
    }
    if (!found.name)
        return lsl_fail(L, SL_EINVAL, "", "%s has no field or method '%.60s'", noun, name);
    return lsl_fail(L, SL_EINVAL, "", "%s has no field or method '%s'; did you mean '%s'?", noun,
                    name, found.name);
}

/* __newindex of every kind. Upvalues: the state, the kind. */
static int fail_set(lua_State *L)
{
    check_own(L, lua_upvalueindex(2), "newindex");
    if (lua_type(L, 2) == LUA_TNUMBER) return fail_index(L, true);
    if (lua_type(L, 2) == LUA_TSTRING)
        return lsl_fail(L, SL_EINVAL, "", "field '%.60s' cannot be set", lua_tostring(L, 2));
    return lsl_fail(L, SL_EINVAL, "", "field [%s] cannot be set", lsl_type_name(L, 2));
}

/* ---- metatables ------------------------------------------------------------------------ */

/* Whether the key names a method; then pushes it. */
static inline bool raw_method(lua_State *L)
{
    const lsl_raw_value *key = lsl_raw_argument(L, 2);
    const lsl_raw_table *methods = lsl_raw_closure_of(L)->upvalue[1].value.p;
    const lsl_raw_node *node = key->tag == LSL_TAG_NAME ? lsl_raw_find(methods, key->value.p)
                                                        : NULL;
    if (node) lsl_raw_push(L, node->value, node->tag);
    return node != NULL;
}

/* The rest of box_index, apart from what methods need. */
__attribute__((noinline)) static int index_slowly(lua_State *L)
{
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(2)) != LUA_TNIL) return 1;
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(3)) == LUA_TNIL)
        return fail_get(L, lua_upvalueindex(2), lua_upvalueindex(3));
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* __index of every kind: a method, else a getter's value, else an error. Called by Lua
 * with two values on the stack; a method is looked up before each of its calls.
 * Upvalues: the state, the table of methods, the table of getters, the kind. */
static int box_index(lua_State *L)
{
    return lsl_layout_fits && lsl_top(L) == 2 && raw_method(L) ? 1 : index_slowly(L);
}

/* Pushes a new table with the functions; list may be NULL. */
static void push_functions(lua_State *L, const luaL_Reg *list)
{
    int n = 0;
    while (list && list[n].name)
        n++;
    lua_createtable(L, 0, n);
    if (list) lsl_set_functions(L, list);
}

void lsl_define(lua_State *L, lsl_kind kind, const luaL_Reg *meta, const luaL_Reg *methods,
                const luaL_Reg *getters)
{
    lsl_state *state = lsl_get(L);
    luaL_checkstack(L, 10, NULL);
    lua_createtable(L, 0, 16); /* more metamethods than that no kind has */
    lua_pushfstring(L, "streamlab.%s", strchr(lsl_nouns[kind], ' ') + 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__name");
    lua_setfield(L, -2, "__metatable"); /* keeps __gc out of reach */
    lua_pushlightuserdata(L, state);
    lua_pushinteger(L, kind);
    lua_pushcclosure(L, fail_set, 2);
    lua_setfield(L, -2, "__newindex");
    if (meta) lsl_set_functions(L, meta);
    lua_pushlightuserdata(L, state);
    push_functions(L, methods);
    lua_pushvalue(L, -1);
    lua_setfield(L, -4, "__methods"); /* for completion: __index is a function */
    push_functions(L, getters);
    lua_pushvalue(L, -1);
    lua_setfield(L, -5, "__fields");
    lua_pushinteger(L, kind);
    lua_pushcclosure(L, box_index, 4);
    lua_setfield(L, -2, "__index");
    state->metatable[kind] = lua_topointer(L, -1);
    state->metatable_ref[kind] = luaL_ref(L, LUA_REGISTRYINDEX);
}

/* The kind of boxes whose metamethod runs; upvalues: the state, the kind. */
static lsl_kind upvalue_kind(lua_State *L)
{
    return (lsl_kind)lua_tointeger(L, lua_upvalueindex(2));
}

static int box_gc(lua_State *L)
{
    lsl_collect(L, upvalue_kind(L));
    return 0;
}

/* The same object of the core. */
static int box_eq(lua_State *L)
{
    lsl_kind kind = upvalue_kind(L);
    const lsl_box *a = lsl_to(L, 1, kind), *b = lsl_to(L, 2, kind);
    lua_pushboolean(L, a && b && lsl_is_open(a) && lsl_is_open(b) && a->p == b->p);
    return 1;
}

static int box_tostring(lua_State *L)
{
    lsl_kind kind = upvalue_kind(L);
    const lsl_box *box = lsl_to(L, 1, kind);
    if (!box) lsl_type_error(L, 1, "self", lsl_nouns[kind], "tostring");
    lsl_get(L)->push_text[kind](L, box);
    return 1;
}

void lsl_define_boxes(lua_State *L, lsl_kind kind, const lsl_class *class)
{
    static const luaL_Reg meta[] = {
        { "__gc", box_gc },
        { "__eq", box_eq },
        { "__tostring", box_tostring },
        { NULL, NULL },
    };
    const luaL_Reg close[] = { { class->close ? "__close" : NULL, class->close }, { NULL, NULL } };
    lsl_define(L, kind, close, class->methods, class->getters);
    lsl_get(L)->push_text[kind] = class->push_text;
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->metatable_ref[kind]);
    lua_pushlightuserdata(L, lsl_get(L));
    lua_pushinteger(L, kind);
    luaL_setfuncs(L, meta, 2);
    lua_pop(L, 1);
}

void lsl_add_methods(lua_State *L, lsl_kind kind, const luaL_Reg *methods)
{
    lua_rawgeti(L, LUA_REGISTRYINDEX, lsl_get(L)->metatable_ref[kind]);
    lua_getfield(L, -1, "__methods");
    lsl_set_functions(L, methods);
    lua_pop(L, 2);
}

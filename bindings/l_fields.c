/* l_fields.c - what is said about a field that an object does not have.
 *
 * A misspelt field must not read as nil, which a script carries on with. The
 * sentence says what is meant in this laboratory where the name is one of PyTorch
 * or CUDA, and else names the method or field that is spelt most like it. All of
 * this runs only when the lookup (box_index in lsl.c) has found nothing.
 */
#include "lsl.h"

#include <stdio.h>
#include <string.h>

/* ---- names that people bring along ------------------------------------------------ */

typedef struct hint {
    lsl_kind kind;
    const char *name;
    const char *text;       /* the rest of the sentence */
} hint;

#define NO_MINUS "tensors have + * ^; write "

static const hint hints[] = {
    {LSL_TENSOR, "shape", "its sizes are t:size()"},
    {LSL_TENSOR, "dim", "its number of dimensions is t.ndim"},
    {LSL_TENSOR, "dims", "its sizes are t:size(), their number is t.ndim"},
    {LSL_TENSOR, "len", "use t:numel(), or t:size(1)"},
    {LSL_TENSOR, "length", "use t:numel(), or t:size(1)"},
    {LSL_TENSOR, "T", "this version does not transpose"},
    {LSL_TENSOR, "t", "this version does not transpose"},
    {LSL_TENSOR, "mT", "this version does not transpose"},
    {LSL_TENSOR, "transpose", "this version does not transpose"},
    {LSL_TENSOR, "reshape", "use t:view(sizes ...)"},
    {LSL_TENSOR, "flatten", "use t:view(-1)"},
    {LSL_TENSOR, "split", "use t:chunk(n), or t:narrow(dim, start, length)"},
    {LSL_TENSOR, "slice", "use t:narrow(dim, start, length)"},
    {LSL_TENSOR, "select", "use t:narrow(dim, i, 1)"},
    {LSL_TENSOR, "is_contiguous", "it is true of every tensor here, views as well"},
    {LSL_TENSOR, "contiguous", "every tensor is contiguous here, views as well"},
    {LSL_TENSOR, "data", "its values are t:totable()"},
    {LSL_TENSOR, "values", "its values are t:totable()"},
    {LSL_TENSOR, "numpy", "its values are t:totable()"},
    {LSL_TENSOR, "tolist", "its values are t:totable()"},
    {LSL_TENSOR, "clone", "copy it into a new tensor: lab.empty(...):copy_(t)"},
    {LSL_TENSOR, "mm", "use t:matmul(u)"},
    {LSL_TENSOR, "dot", "use t:matmul(u)"},
    {LSL_TENSOR, "sub", NO_MINUS "lab.add(t, lab.mul(u, -1))"},
    {LSL_TENSOR, "div", NO_MINUS "lab.mul(t, lab.pow(u, -1)), or lab.mul with a number"},
    {LSL_TENSOR, "neg", NO_MINUS "lab.mul(t, -1)"},
    {LSL_TENSOR, "is_cuda", "use t.device == \"cuda\""},
    {LSL_TENSOR, "is_pinned", "use t.pinned"},
    {LSL_TENSOR, "get_device", "use t.device_index"},
    {LSL_TENSOR, "element_size", "use t:nbytes() // t:numel()"},
    {LSL_TENSOR, "record_stream", "it is not needed: memory stays until queued work is done"},
    {LSL_STREAM, "sync", "use s:synchronize()"},
    {LSL_STREAM, "wait", "use s:wait_event(e), s:wait_stream(other) or s:synchronize()"},
    {LSL_STREAM, "record", "use s:record_event(e)"},
    {LSL_STREAM, "add_callback", "use s:launch_host_func(f)"},
    {LSL_STREAM, "destroy", "use s:close()"},
    {LSL_STREAM, "done", "use s:query()"},
    {LSL_STREAM, "stream_id", "use s.id"},
    {LSL_STREAM, "cuda_stream", "use s.id"},
    {LSL_EVENT, "sync", "use e:synchronize()"},
    {LSL_EVENT, "wait", "use s:wait_event(e), or e:synchronize() for the host"},
    {LSL_EVENT, "elapsed", "use e:elapsed_time(e2), in milliseconds"},
    {LSL_EVENT, "elapsed_ms", "use e:elapsed_time(e2), in milliseconds"},
    {LSL_EVENT, "enable_timing", "use e.timing"},
    {LSL_EVENT, "destroy", "use e:close()"},
    {LSL_EVENT, "done", "use e:query()"},
    {LSL_DEVICE, "sync", "use lab.synchronize()"},
    {LSL_DEVICE, "synchronize", "use lab.synchronize()"},
    {LSL_DEVICE, "close", "a device stays open until the program ends"},
    {LSL_DEVICE, "type", "use d.backend"},
    {LSL_DEVICE, "total_memory", "use d.memory_bytes"},
    {LSL_DEVICE, "multi_processor_count", "use d.sm_count"},
    {LSL_DEVICE, "major", "use d.compute_capability"},
    {LSL_DEVICE, "minor", "use d.compute_capability"},
    {LSL_TIMELINE, "makespan", "use tl.makespan_us"},
    {LSL_TIMELINE, "duration", "use tl.makespan_us, or tl.wall_us for the host"},
    {LSL_TIMELINE, "wall", "use tl.wall_us"},
    {LSL_TIMELINE, "busy", "use tl:busy_us()"},
    {LSL_TIMELINE, "overlap", "use tl:overlap_us(a, b)"},
    {LSL_TIMELINE, "count", "use tl.span_count"},
    {LSL_TIMELINE, "events", "use tl:spans()"},
    {LSL_TIMELINE, "plot", "use tl:show()"},
    {LSL_TIMELINE, "print", "use tl:show() or tl:summary()"},
    {LSL_TIMELINE, "table", "use tl:summary()"},
    {LSL_TIMELINE, "export_chrome_trace", "use tl:save(\"x.json\")"},
};

static const char *find_hint(lsl_kind kind, const char *name)
{
    for (int i = 0; i < LSL_COUNT(hints); i++)
        if (hints[i].kind == kind && strcmp(hints[i].name, name) == 0) return hints[i].text;
    return NULL;
}

/* ---- names that are nearly right ----------------------------------------------------- */

enum { NAME_CHARS = 32 };   /* no name of ours is as long */

/* Levenshtein distance; `b` is shorter than NAME_CHARS. */
static int edit_distance(const char *a, const char *b)
{
    int row[NAME_CHARS + 1], n = (int)strlen(b);
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

typedef struct nearest {
    const char *name;       /* NULL if none is near; kept alive by its table */
    int distance;           /* of the name; at first, more than which is too far */
} nearest;

/* Looks through the keys of the table at `idx`. Of names equally near the first by
 * alphabet counts, whatever the order of the table is. */
static void find_nearest(lua_State *L, int idx, const char *name, nearest *found)
{
    lua_pushnil(L);
    while (lua_next(L, idx)) {
        lua_pop(L, 1);
        const char *key = lua_tostring(L, -1);
        if (strlen(key) >= NAME_CHARS) continue;
        int distance = edit_distance(name, key);
        bool first = found->name == NULL || strcmp(key, found->name) < 0;
        if (distance > found->distance || (distance == found->distance && !first)) continue;
        found->name = key;
        found->distance = distance;
    }
}

/* How unlike a name may be that is still suggested. */
static int tolerance(const char *name)
{
    size_t length = strlen(name);
    return length < 3 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3;
}

int lsl_nearest(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    nearest found = {NULL, tolerance(name)};
    if (strlen(name) < NAME_CHARS) find_nearest(L, 2, name, &found);
    lua_pushstring(L, found.name);      /* NULL: nil */
    return 1;
}

/* ---- sentences ------------------------------------------------------------------------- */

static const char *article(const char *noun) { return noun[0] == 'e' ? "an" : "a"; }

/* t[1] and t[1] = value: how an element is named here, t:get(1, 1) for a matrix. */
static int fail_index(lua_State *L, bool set)
{
    const char *noun = lsl_type_name(L, 1);
    const lsl_box *box = lsl_to(L, 1, LSL_TENSOR);
    if (box == NULL)
        return lsl_fail(L, SL_EINVAL, "", "%s %s is not indexed with []", article(noun), noun);
    int ndim = box->p != NULL ? sl_tensor_get_spec(box->p)->ndim : 2;
    char arguments[4 * SL_MAX_DIMS + 8] = "";
    for (int i = 0; i < ndim; i++) strcat(arguments, i > 0 ? ", 1" : "1");
    if (set) strcat(arguments, ndim > 0 ? ", value" : "value");
    return lsl_fail(L, SL_EINVAL, "", "a tensor is not indexed with []; use t:%s(%s)",
                    set ? "set" : "get", arguments);
}

int lsl_fail_get(lua_State *L, int methods, int fields)
{
    const char *noun = lsl_type_name(L, 1);
    if (lua_type(L, 2) == LUA_TNUMBER) return fail_index(L, false);
    if (lua_type(L, 2) != LUA_TSTRING)
        return lsl_fail(L, SL_EINVAL, "", "%s has no field [%s]", noun, lsl_type_name(L, 2));
    const char *name = lua_tostring(L, 2), *text = find_hint(lsl_kind_of(L, 1), name);
    if (text != NULL)
        return lsl_fail(L, SL_EINVAL, "", "%s has no field or method '%s'; %s", noun, name, text);
    nearest found = {NULL, tolerance(name)};
    if (strlen(name) < NAME_CHARS) {
        find_nearest(L, methods, name, &found);
        find_nearest(L, fields, name, &found);
    }
    if (found.name == NULL)
        return lsl_fail(L, SL_EINVAL, "", "%s has no field or method '%.60s'", noun, name);
    return lsl_fail(L, SL_EINVAL, "", "%s has no field or method '%s'; did you mean '%s'?", noun,
                    name, found.name);
}

int lsl_fail_set(lua_State *L)
{
    if (lua_type(L, 2) == LUA_TNUMBER) return fail_index(L, true);
    if (lua_type(L, 2) == LUA_TSTRING)
        return lsl_fail(L, SL_EINVAL, "", "field '%.60s' cannot be set", lua_tostring(L, 2));
    return lsl_fail(L, SL_EINVAL, "", "field [%s] cannot be set", lsl_type_name(L, 2));
}

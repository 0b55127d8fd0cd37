/* l_file.c - writing of whole files, for the module's Lua files and the program; scripts have
 * io. */
#include "../core/text/divert.h"
#include "../core/text/temporary_folder.h"
#include "l_box.h"
#include "l_error.h"
#include "l_parts.h"

/* A file of the entry on top of the stack, which keeps its texts; `text` may be an output
 * (l_output.c). */
static void read_entry(lua_State *L, sl_file *file)
{
    lua_getfield(L, -1, "path");
    lua_getfield(L, -2, "text");
    /* The text of a number would not be in the entry. */
    if (lua_type(L, -2) != LUA_TSTRING
        || (lua_type(L, -1) != LUA_TSTRING && !lua_isuserdata(L, -1)))
        luaL_error(L, "no path, or no text");
    file->path = lua_tostring(L, -2);
    if (lua_isuserdata(L, -1)) {
        const sl_text *output = lsl_scratch_at(L, -1);
        if (output->failed) lsl_fail(L, SL_ENOMEM, "save", "no memory for '%.100s'", file->path);
        file->bytes = output->data;
        file->n_bytes = output->len;
    } else {
        file->bytes = lua_tolstring(L, -1, &file->n_bytes);
    }
    lua_pop(L, 2);
}

sl_status lsl_write_files(lua_State *L, int list, sl_error *err)
{
    const size_t n = lua_rawlen(L, list);
    sl_file *files = lua_newuserdatauv(L, (n + 1) * sizeof *files, 0);
    for (size_t i = 0; i < n; i++) {
        lua_rawgeti(L, list, (lua_Integer)i + 1);
        read_entry(L, &files[i]);
        lua_pop(L, 1);
    }
    return sl_files_write(files, n, err);
}

/* After core.close_files every file fails to open. */
static sl_status refuse(lua_State *L, sl_error *err)
{
    if (!lsl_get(L)->files_closed) return SL_OK;
    return sl_fail(err, SL_EUNSUPPORTED, "no files are opened here");
}

static int push_outcome(lua_State *L, sl_status status, const sl_error *err)
{
    if (status == SL_OK) {
        lua_pushboolean(L, 1);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, err->msg);
    return 2;
}

/* core.write_files{{path =, text =}, ...}: writes all of them, as sl_files_write does. True; or
 * nil and a message. Raises if the user stops it. */
static int internal_write_files(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    sl_error err;
    sl_status status = refuse(L, &err);
    if (status == SL_OK) status = lsl_write_files(L, 1, &err);
    if (status == SL_EINTERRUPT) lsl_check(L, status, &err, "write");
    return push_outcome(L, status, &err);
}

/* core.write_state(path, text): writes a file of the user's own, in folders that it makes. Whether
 * it has: not where no files are opened, or for a run that leaves them as they are. */
static int internal_write_state(lua_State *L)
{
    sl_file file = { .path = luaL_checkstring(L, 1) };
    file.bytes = luaL_checklstring(L, 2, &file.n_bytes);
    sl_error err;
    bool may = refuse(L, &err) == SL_OK && !sl_divert_is_diverted();
    if (may) sl_make_folders_above(file.path);
    lua_pushboolean(L, may && sl_files_write(&file, 1, &err) == SL_OK);
    return 1;
}

/* core.try_file(path): whether it could be written: true, and whether it is written in place; or
 * nil and a message. */
static int internal_try_file(lua_State *L)
{
    const char *path = luaL_checkstring(L, 1);
    sl_error err;
    sl_status status = refuse(L, &err);
    bool direct = false;
    if (status == SL_OK) status = sl_file_try(path, &direct, &err);
    if (push_outcome(L, status, &err) == 1) lua_pushboolean(L, direct);
    return 2;
}

const luaL_Reg lsl_file_internals[] = {
    { "write_files", internal_write_files },
    { "write_state", internal_write_state },
    { "try_file", internal_try_file },
    { NULL, NULL },
};

LUAMOD_API bool lsl_write_file(const char *path, const char *bytes, size_t n)
{
    return sl_files_write(&(sl_file){ path, bytes, n }, 1, NULL) == SL_OK;
}

LUAMOD_API bool lsl_try_file(const char *path, char *message, size_t message_bytes)
{
    sl_error err;
    if (sl_file_try(path, NULL, &err) == SL_OK) return true;
    snprintf(message, message_bytes, "%s", err.msg);
    return false;
}

LUAMOD_API int lsl_make_temporary_folder(char *path) { return sl_temporary_folder_make(path); }

LUAMOD_API void lsl_remove_temporary_folder(const char *path) { sl_temporary_folder_remove(path); }

LUAMOD_API void lsl_abandon_files(void) { sl_files_abandon(); }

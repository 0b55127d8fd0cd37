/* folder.c - lists folders, makes them, and says what a path is.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "commands.h"

#include <dirent.h>
#include <errno.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../run/embedded.h"

/* Not by its path, which may be longer than the system takes one. */
static bool is_folder(DIR *reader, const char *name)
{
    struct stat info;
    return fstatat(dirfd(reader), name, &info, 0) == 0 && S_ISDIR(info.st_mode);
}

static int push_failure(lua_State *L, int error)
{
    lua_pushnil(L);
    lua_pushstring(L, strerror(error));
    return 2;
}

/* The next entry that is neither the folder itself nor the one above; NULL: there is none, or
 * errno says what is wrong. */
static const struct dirent *next_entry(DIR *reader)
{
    const struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(reader);
    } while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry;
}

/* Protected, since the folder is to be closed also when memory runs out. Argument: a light
 * userdata that points to what reads it. */
static int push_names(lua_State *L)
{
    DIR **reader = lua_touserdata(L, 1);
    const struct dirent *entry;
    lua_newtable(L);
    for (lua_Integer n = 1; (entry = next_entry(*reader)) != NULL; n++) {
        lua_pushfstring(L, is_folder(*reader, entry->d_name) ? "%s/" : "%s", entry->d_name);
        lua_rawseti(L, -2, n);
    }
    return errno == 0 ? 1 : push_failure(L, errno);
}

static int list(lua_State *L)
{
    DIR *folder = opendir(luaL_checkstring(L, 1));
    if (!folder) return push_failure(L, errno);
    lua_settop(L, 0);
    lua_pushcfunction(L, push_names);
    lua_pushlightuserdata(L, &folder);
    int status = lua_pcall(L, 1, LUA_MULTRET, 0);
    closedir(folder);
    return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

static int make(lua_State *L)
{
    struct stat info;
    const char *path = luaL_checkstring(L, 1);
    int error = mkdir(path, 0777) == 0 ? 0 : errno;
    if (error == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) error = 0;
    if (error == 0) {
        lua_pushboolean(L, true);
        return 1;
    }
    lua_pushnil(L);
    lua_pushfstring(L, "cannot make the folder %s: %s", path,
                    error == EEXIST ? "there is something of that name, and no folder"
                                    : strerror(error));
    return 2;
}

/* Argument: the text, as light userdata. */
static int push_text(lua_State *L)
{
    lua_pushstring(L, lua_touserdata(L, 1));
    return 1;
}

/* The path without links, "." and ".."; nil where it leads to nothing. */
static int real_path(lua_State *L)
{
    char *real = realpath(luaL_checkstring(L, 1), NULL);
    if (!real) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushcfunction(L, push_text);
    lua_pushlightuserdata(L, real);
    int status = lua_pcall(L, 1, 1, 0);
    free(real);
    return status == LUA_OK ? 1 : lua_error(L);
}

static int file_kind(lua_State *L)
{
    struct stat info;
    if (lstat(luaL_checkstring(L, 1), &info) != 0)
        lua_pushnil(L);
    else
        lua_pushstring(L, S_ISREG(info.st_mode)   ? "file"
                          : S_ISDIR(info.st_mode) ? "folder"
                          : S_ISLNK(info.st_mode) ? "link"
                                                  : "other");
    return 1;
}

/* Of what the path leads to, also by a link. */
static int file_bytes(lua_State *L)
{
    struct stat info;
    bool there = stat(luaL_checkstring(L, 1), &info) == 0;
    if (there && S_ISREG(info.st_mode)) {
        lua_pushinteger(L, (lua_Integer)info.st_size);
        return 1;
    }
    lua_pushnil(L);
    lua_pushstring(L, there ? "it is no file" : strerror(errno));
    return 2;
}

void folder_open(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "folder", list },           { "make_folder", make },    { "file_kind", file_kind },
        { "file_bytes", file_bytes }, { "real_path", real_path }, { NULL, NULL },
    };
    embedded_add(L, functions);
}

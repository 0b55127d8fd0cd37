/* folder.c - lists folders, makes them, and says what a path is.
 */
#define _XOPEN_SOURCE 700   /* realpath */

#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "embedded.h"

enum { MOST_FILES = 10000, PATH_BYTES = 4096 };

static bool is_folder(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    struct stat info;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n < PATH_BYTES && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Protected, since the folder is to be closed also when memory runs out. Arguments: its
 * name, and a light userdata that points to what reads it. */
static int push_names(lua_State *L)
{
    const char *folder = luaL_checkstring(L, 1);
    DIR **reader = lua_touserdata(L, 2);
    lua_newtable(L);
    const struct dirent *entry;
    for (lua_Integer n = 1; n <= MOST_FILES && (entry = readdir(*reader)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        lua_pushfstring(L, is_folder(folder, entry->d_name) ? "%s/" : "%s", entry->d_name);
        lua_rawseti(L, -2, n++);
    }
    return 1;
}

static int list(lua_State *L)
{
    DIR *folder = opendir(luaL_checkstring(L, 1));
    if (!folder) {
        lua_pushnil(L);
        return 1;
    }
    lua_settop(L, 1);
    lua_pushcfunction(L, push_names);
    lua_insert(L, 1);
    lua_pushlightuserdata(L, &folder);
    int status = lua_pcall(L, 2, 1, 0);
    closedir(folder);
    return status == LUA_OK ? 1 : lua_error(L);
}

static int make(lua_State *L)
{
    struct stat info;
    const char *path = luaL_checkstring(L, 1);
    int error = mkdir(path, 0777) == 0 ? 0 : errno;
    if (error == EEXIST && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        error = 0;
    if (error == 0) {
        lua_pushboolean(L, true);
        return 1;
    }
    lua_pushnil(L);
    lua_pushfstring(L, "cannot make the folder %s: %s", path, strerror(error));
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
        lua_pushstring(L, S_ISREG(info.st_mode) ? "file" : S_ISDIR(info.st_mode) ? "folder"
                          : S_ISLNK(info.st_mode) ? "link" : "other");
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
        {"folder", list}, {"make_folder", make}, {"file_kind", file_kind},
        {"file_bytes", file_bytes}, {"real_path", real_path}, {NULL, NULL}
    };
    embedded_add(L, functions);
}

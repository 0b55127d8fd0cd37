/* child_start.h - starts one program for children.c with the environment and files that it gets;
 * and finds the path of this program.
 */
#ifndef REPL_CHILD_START_H
#define REPL_CHILD_START_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct child_start {
    char **argv, **environment; /* given: NULL at their ends */
    pid_t pid;                  /* made: the leader of a session */
    int pipes[3];               /* made: its stdout, stderr and report; reading never blocks */
    const char *failed;         /* or what could not be done ("run"), */
    int error;                  /* and its errno */
} child_start;

/* Push a vector made of the list of strings at `index`, and one of the child's environment with
 * the changes of the table there (or nil). The collector frees them. */
char **child_push_arguments(lua_State *L, int index);
char **child_push_environment(lua_State *L, int index);

/* Starts it. False if that failed, for example because there is no such program; nothing is left
 * then. */
bool child_run(child_start *start);

/* The path of this program. */
bool child_own_path(char *path, size_t path_bytes);

#endif

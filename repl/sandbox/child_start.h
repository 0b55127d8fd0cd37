/* child_start.h - starts one program for children.c with the environment and files that it gets;
 * and finds the path of this program.
 */
#ifndef REPL_CHILD_START_H
#define REPL_CHILD_START_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What a child has: stdin, stdout, stderr and its report; and pipes for all but the first. */
enum { CHILD_REPORT = 3, CHILD_FILES = 4, CHILD_PIPES = 3 };

typedef struct child_start {
    char **argv, **environment; /* given: NULL at their ends */
    bool talks; /* given: it has a socket in place of the three pipes, at CHILD_REPORT */
    pid_t pid;  /* made: the leader of a session */
    int pipes[CHILD_PIPES]; /* made: its stdout, stderr and report; reading never blocks */
    const char *failed;     /* or what could not be done ("run"), */
    int error;              /* and its errno */
} child_start;

/* Push a vector made of the list of strings at `index`, and one of the child's environment with
 * the changes of the table there (or nil). The collector frees them. */
char **child_push_arguments(lua_State *L, int index);
char **child_push_environment(lua_State *L, int index);

/* Starts it. False if that failed, for example because there is no such program; nothing is left
 * then. */
bool child_run(child_start *start);

/* The two halves of it, for who forks in another way. Opens the pipes: `files` are the child's
 * ends, to be closed when it has them; after an error too. */
bool child_open(child_start *start, int files[CHILD_FILES]);
void child_close(int *list, int n);

/* In the child: a session of its own, which ends with the parent, and these files under their
 * numbers.
 * False: it does not have them. */
bool child_settle(const int files[CHILD_FILES], pid_t parent);

/* The path of this program. */
bool child_own_path(char *path, size_t path_bytes);

#endif

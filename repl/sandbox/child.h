/* child.h - one program that runs for children.c: its output and its end.
 */
#ifndef REPL_CHILD_H
#define REPL_CHILD_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a pipe brings. */
typedef struct stream {
    int fd; /* -1: closed */
    char *data;
    size_t n, capacity, most;
    bool too_long; /* more came than is kept */
} stream;

enum { OUTPUT, ERRORS, REPORT, N_STREAMS };

typedef struct child {
    lua_Integer id;
    pid_t pid; /* 0: reaped */
    stream streams[N_STREAMS];
    int64_t left_ns;    /* of its wall time */
    int64_t spent_ns;   /* of it, */
    int64_t excused_ns; /* and what of that did not count, as others had the processors */
    bool timed_out;
    bool out_of_memory; /* for its output, none of which is kept then */
    int status;         /* as wait gives it; -1: lost */
    double processor_s;
} child;

/* Reads once from a pipe that is ready. True: there may be more. A child whose report is too long
 * is killed. */
bool child_read(child *c, stream *s);

/* Whether it has ended. If so, it is reaped, its pipes are read, and its process group is
 * killed. */
bool child_has_ended(child *c);

/* Kills it and what it has started. */
void child_kill(const child *c);

/* Kills and reaps it, and frees its output. */
void child_end(child *c);

#endif

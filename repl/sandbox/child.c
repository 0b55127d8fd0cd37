/* child.c - one program that runs for children.c: its output and its end.
 *
 * It is the leader of a session, and its group is killed when it ends: before it is reaped,
 * while its number is still its own.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* wait4 */
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE
#endif
#include "child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../run/growing.h"

enum { READ_BYTES = 64 << 10, MOST_DRAINED_READS = 64 };

static void close_stream(stream *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
}

/* Keeps the bytes up to the stream's limit. False: there is no memory. */
static bool keep(stream *s, const char *bytes, size_t n)
{
    if (n > s->most - s->n) {
        n = s->most - s->n;
        s->too_long = true;
    }
    if (!GROW(s->data, s->capacity, s->n + n)) return false;
    if (n > 0) memcpy(s->data + s->n, bytes, n);
    s->n += n;
    return true;
}

void child_kill(const child *c)
{
    if (c->pid > 0) {
        kill(-c->pid, SIGKILL);
        kill(c->pid, SIGKILL); /* it may have left its group */
    }
}

/* Frees its output so far: it is useless without the rest, and the memory is needed. */
static void forget(child *c)
{
    c->out_of_memory = true;
    for (int i = 0; i < N_STREAMS; i++) {
        stream *s = &c->streams[i];
        free(s->data);
        s->data = NULL;
        s->n = s->capacity = 0;
    }
}

bool child_read(child *c, stream *s)
{
    char bytes[READ_BYTES];
    ssize_t n = read(s->fd, bytes, sizeof bytes);
    if (n < 0) return errno == EINTR;
    if (n == 0) {
        close_stream(s);
        return false;
    }
    if (!c->out_of_memory && !keep(s, bytes, (size_t)n)) forget(c);
    if (c->out_of_memory || (s == &c->streams[REPORT] && s->too_long)) child_kill(c);
    return true;
}

/* Reads what the pipes still hold. Processes that it has started may go on writing into them. */
static void drain(child *c)
{
    for (int i = 0; i < N_STREAMS; i++) {
        for (int reads = 0; reads < MOST_DRAINED_READS && c->streams[i].fd >= 0; reads++) {
            if (!child_read(c, &c->streams[i])) break;
        }
        close_stream(&c->streams[i]);
    }
}

static void reap(child *c)
{
    struct rusage usage;
    pid_t got;
    do {
        got = wait4(c->pid, &c->status, 0, &usage);
    } while (got < 0 && errno == EINTR);
    c->pid = 0;
    if (got < 0) {
        c->status = -1;
        return;
    }
    c->processor_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
                     + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

bool child_has_ended(child *c)
{
    siginfo_t info = { 0 };
    if (c->pid == 0) return true;
    int found = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (found == 0 && info.si_pid == 0) return false;
    if (found == 0) /* otherwise its number may be in use again */
        child_kill(c);
    reap(c);
    drain(c);
    return true;
}

void child_end(child *c)
{
    child_kill(c);
    if (c->pid > 0) reap(c);
    for (int i = 0; i < N_STREAMS; i++) {
        close_stream(&c->streams[i]);
        free(c->streams[i].data);
    }
}

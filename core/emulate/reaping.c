/* reaping.c - processes of a launch that come to their end: waits for them, or ends them. */
#define _POSIX_C_SOURCE 200809L
#include "reaping.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "fences.h"

static pid_t reap(pid_t pid, int *status)
{
    pid_t ended;
    while ((ended = waitpid(pid, status, 0)) < 0 && errno == EINTR)
        ;
    return ended;
}

/* Processes that have run their blocks: nobody needs to wait until the system has ended them. */
static pid_t leaving[EMU_MOST_WORKERS];
static int n_leaving;

void emu_reap_left(void)
{
    for (int status; n_leaving > 0;)
        reap(leaving[--n_leaving], &status);
}

void emu_let_leave(const pid_t *pids, int n)
{
    memcpy(leaving, pids, (size_t)n * sizeof *pids);
    n_leaving = n;
}

void emu_kill_all(const pid_t *pids, int n, int pipe_end)
{
    struct pollfd fd = { .fd = pipe_end, .events = POLLIN };
    int status;
    for (int i = 0; i < n; i++)
        kill(pids[i], SIGKILL);
    for (int i = 0; i < n; i++)
        reap(pids[i], &status);
    while (poll(&fd, 1, -1) < 0 && errno == EINTR)
        ;
}

void emu_reap(const pid_t *pids, int n, emu_report *report)
{
    for (int i = 0; i < n; i++) {
        int status = 0;
        const pid_t ended = reap(pids[i], &status);
        if (ended != pids[i] || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) continue;
        if (report->status == SL_OK) {
            report->status = SL_EKERNEL;
            strcpy(report->text, WIFEXITED(status) && WEXITSTATUS(status) == EMU_NOT_FENCED
                                     ? "the limits of its process cannot be set: it was not run"
                                     : "its process was ended from outside");
        }
    }
}

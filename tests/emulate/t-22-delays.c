/* t-22-delays.c - how long the processes around a stranger's kernel waited for a processor: those that
 * have ended excuse no more than those that live. */
#include "../tap.h"

#ifdef __linux__
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../repl/sandbox/delays.h"

static void compute(double seconds)
{
    while ((double)clock() / CLOCKS_PER_SEC < seconds)
        continue;
}

/* Has computed little itself when it says so, and its child, which has ended, much. */
static pid_t start(int *said)
{
    int ends[2];
    if (pipe(ends) != 0) return -1;
    pid_t pid = fork();

    if (pid == 0) {
        setsid();
        pid_t child = fork();
        if (child == 0) {
            compute(0.5);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        if (write(ends[1], "x", 1) != 1) _exit(1);
        for (;;)
            pause();
    }
    close(ends[1]);
    *said = ends[0];
    return pid;
}

/* The second number of its schedstat; -1: this system has none. */
static double delay_of(pid_t pid)
{
    char path[64];
    double computed, delay = -1;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    if (fscanf(file, "%lf %lf", &computed, &delay) != 2) delay = -1;
    fclose(file);
    return delay;
}

int main(void)
{
    int said = -1;
    char byte;
    plan(0);
    pid_t pid = start(&said);
    ok(pid > 0 && read(said, &byte, 1) == 1, "a process waits, and its child has computed");
    const double delays = (double)delays_of_session(pid), live = delay_of(pid);
    if (live < 0)
        skip(1, "this system does not say how long a process waited");
    else
        ok(delays <= 2 * live + 2, "%g ns are at most twice the %g of the one that lives", delays,
           live);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return done_testing();
}

#else

int main(void)
{
    plan(0);
    skip(1, "only Linux says how long a process waited");
    return done_testing();
}

#endif

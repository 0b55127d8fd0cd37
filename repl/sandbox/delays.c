/* delays.c - how long processes have waited for a processor that others used, from Linux's /proc:
 * proc(5) has stat, and Documentation/scheduler/sched-stats.rst schedstat.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sysconf's names */
#endif
#include "delays.h"

#ifdef __linux__

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sums {
    double computed_ns, delay_ns; /* of those that live */
    double ended_ns;              /* processor time of children that have ended */
} sums;

static bool read_text(long pid, const char *name, char *text, size_t most)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    size_t n = fread(text, 1, most - 1, file);
    fclose(file);
    text[n] = '\0';
    return n > 0;
}

/* Adds what the process has had, if it is of the session. The program's name, which may have blanks
 * and brackets, ends at the last one. */
static void add_process(sums *to, long pid, pid_t session)
{
    char text[1024];
    long of, ended_user, ended_system;
    double computed, delay;
    if (!read_text(pid, "stat", text, sizeof text)) return;
    const char *at = strrchr(text, ')');
    if (!at
        || sscanf(at, ") %*c %*d %*d %ld %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld %ld", &of,
                  &ended_user, &ended_system)
               != 3
        || of != session)
        return;
    if (!read_text(pid, "schedstat", text, sizeof text)
        || sscanf(text, "%lf %lf", &computed, &delay) != 2)
        return;
    to->computed_ns += computed;
    to->delay_ns += delay;
    to->ended_ns += (double)(ended_user + ended_system) / (double)sysconf(_SC_CLK_TCK) * 1e9;
}

int64_t delays_of_session(pid_t session)
{
    sums all = { 0 };
    DIR *folder = opendir("/proc");
    if (!folder) return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0) add_process(&all, pid, session);
    }
    closedir(folder);
    if (all.computed_ns <= 0) return 0;
    const double ended = all.ended_ns / all.computed_ns;
    return (int64_t)(all.delay_ns * (1 + (ended < 1 ? ended : 1)));
}

#else

int64_t delays_of_session(pid_t session)
{
    (void)session;
    return 0;
}

#endif

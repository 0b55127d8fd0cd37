/* timeit.c - runs a command several times and prints what a run takes.
 *
 *   timeit N COMMAND [ARGS]
 *
 * Prints "median_ms min_ms max_ms max_rss_kib" of N whole-process runs, from fork
 * to the end, with the command's stdout thrown away. One run before them warms
 * the caches and is not counted. Fails if a run fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* One run; the largest resident size so far goes to *rss_kib. Negative: it failed. */
static double run_ms(char **command, long *rss_kib)
{
    double start = now_ms();
    pid_t pid = fork();
    if (pid == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        dup2(nothing, STDOUT_FILENO);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (pid < 0) return -1;
    while (wait4(pid, &status, 0, &usage) < 0) {
        if (errno != EINTR) return -1;
    }
    double took = now_ms() - start;
    if (usage.ru_maxrss > *rss_kib) *rss_kib = usage.ru_maxrss;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? took : -1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: timeit N COMMAND [ARGS]\n");
        return 2;
    }
    double *samples = malloc((size_t)n * sizeof *samples);
    long rss_kib = 0;
    if (!samples) return 1;
    for (int i = n > 1 ? -1 : 0; i < n; i++) {
        double took = run_ms(argv + 2, &rss_kib);
        if (took < 0) {
            fprintf(stderr, "timeit: %s failed\n", argv[2]);
            free(samples);
            return 1;
        }
        samples[i < 0 ? 0 : i] = took;
    }
    qsort(samples, (size_t)n, sizeof *samples, compare);
    printf("%.3f %.3f %.3f %ld\n", samples[n / 2], samples[0], samples[n - 1], rss_kib);
    free(samples);
    return 0;
}

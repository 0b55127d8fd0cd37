/* runner.c - runs a script many times, and lets one of its allocations fail in each run.
 *
 *   runner [-r] [-a TRIED]... FAILALLOC.SO PROGRAM SCRIPT [FIRST [LAST]]
 *
 * The k-th allocation of the process fails: first it alone, then it and the next (Lua answers a
 * failure by a collection and a second try), then it and all that follow, as where memory is spent
 * for good. A run must end with status 0, or with status 1 and a message that speaks of memory; it
 * must not crash, hang or leave more blocks behind than an undisturbed run.
 *
 * Which k: some of each call stack (kinds.h), but for those that the scripts TRIED have, such as all
 * of the program's start; where several fail, one of each stack. FIRST and LAST try each k between
 * them, to find a fault again, and FIRST = 1 all there are.
 *
 * Prints TAP: one check for each way of failing, and each bad k as a diagnostic. With -r the script
 * lets the race checker report on stderr, and for some k the checker must have said that it is off.
 * The script's arg[1] is a file in /tmp that it may write, and one with .html behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failalloc.h"
#include "kinds.h"

enum { MAX_SLOTS = 16, MAX_SCRIPTS = 16, LIMIT_S = 20, TEXT_BYTES = 4096, MAX_SHOWN = 20 };
enum { UNDISTURBED = 4 }; /* runs, of which each must leave the same behind */

/* One child process and the memory that it shares with us. */
typedef struct slot {
    pid_t pid; /* 0: free */
    int64_t k;
    int output; /* the end of a pipe: its stderr */
    time_t started_s;
    fail_report *report;
    char report_path[64], trace_path[80], page_path[96];
    char text[TEXT_BYTES]; /* the start of its stderr */
    size_t text_bytes;
} slot;

typedef struct runner {
    char *shim, *program; /* absolute; malloc'ed */
    const char *script;
    slot slots[MAX_SLOTS];
    int n_slots;
    bool reports;               /* -r */
    int64_t switched_off;       /* runs of which the checker said so */
    int64_t fail_count;         /* how many allocations fail in a row */
    int64_t total;              /* allocations of an undisturbed run */
    uint8_t *chosen;            /* which of them fail (kinds.h); malloc'ed */
    uint8_t least;              /* of the choices, in this pass */
    int64_t live;               /* blocks that such a run leaves behind */
    int64_t runs, refused, bad; /* of this pass; refused: ended with status 1 */
} runner;

static bool open_slot(slot *s, int n)
{
    snprintf(s->report_path, sizeof s->report_path, "/tmp/streamlab-oom-%ld-%d", (long)getpid(), n);
    snprintf(s->trace_path, sizeof s->trace_path, "%s.json", s->report_path);
    snprintf(s->page_path, sizeof s->page_path, "%s.html", s->trace_path);
    int fd = open(s->report_path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0) return false;
    bool fine = ftruncate(fd, FAIL_REPORT_BYTES) == 0;
    if (fine) s->report = mmap(NULL, FAIL_REPORT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return fine && s->report != MAP_FAILED;
}

/* In the child: becomes the program. */
static void become_program(const runner *r, const slot *s, int output)
{
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    setenv("LD_PRELOAD", r->shim, 1);
    setenv("FAIL_ALLOC_REPORT", s->report_path, 1);
    setenv("FAIL_ALLOC_PROGRAM", r->program, 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("LC_ALL", "C", 1);
    execl(r->program, r->program, "-E", r->script, s->trace_path, (char *)NULL);
    _exit(126);
}

static void start(const runner *r, slot *s, int64_t k)
{
    int ends[2];
    memset(s->report, 0, sizeof *s->report);
    s->report->fail_at = k;
    s->report->fail_count = r->fail_count;
    s->report->takes_stacks = k == 0;
    s->k = k;
    s->text_bytes = 0;
    s->started_s = time(NULL);
    if (pipe(ends) != 0 || (s->pid = fork()) < 0) {
        perror("runner");
        exit(1);
    }
    if (s->pid == 0) become_program(r, s, ends[1]);
    close(ends[1]);
    s->output = ends[0];
}

/* Reads what is there; false when the child has closed its end. */
static bool read_output(slot *s)
{
    char spare[TEXT_BYTES];
    size_t room = sizeof s->text - 1 - s->text_bytes;
    ssize_t n = read(s->output, room ? s->text + s->text_bytes : spare, room ? room : sizeof spare);
    if (n > 0 && room) s->text_bytes += (size_t)n;
    s->text[s->text_bytes] = '\0';
    return n > 0 || (n < 0 && errno == EINTR);
}

/* A line of stderr has the word; rows of reports, which are indented, do not count. */
static bool speaks_of_memory(const char *text)
{
    while (text) {
        const char *end = strchr(text, '\n'), *word = strstr(text, "memory");
        if (word && *text != ' ' && (!end || word < end)) return true;
        text = end ? end + 1 : NULL;
    }
    return false;
}

/* What is wrong with a run that ended with wait status `status`; NULL: nothing. */
static const char *fault(runner *r, const slot *s, int status)
{
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGKILL ? "it did not end" : "it crashed";
    int code = WEXITSTATUS(status);
    if (code != 0 && code != 1) return "its exit status is neither 0 nor 1";
    if (code == 1 && !speaks_of_memory(s->text)) return "it failed without a word about memory";
    if (code == 0 && s->k == 0 && s->text_bytes > 0 && !r->reports)
        return "an undisturbed run writes to stderr";
    if (s->k > 0 && s->report->live > r->live)
        return "it left more memory behind than an undisturbed run";
    r->refused += code;
    r->switched_off += strstr(s->text, "the race checker ran out of memory and is off") != NULL;
    return NULL;
}

static void finish(runner *r, slot *s)
{
    int status;
    close(s->output);
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    s->pid = 0;
    r->runs++;
    const char *what = fault(r, s, status);
    if (what && ++r->bad <= MAX_SHOWN)
        fprintf(
            stderr, "# allocation %lld: %s (wait status %d, %lld blocks left, %lld usual): %s\n",
            (long long)s->k, what, status, (long long)s->report->live, (long long)r->live, s->text);
}

/* Waits until a child has ended or LIMIT_S are over for one. */
static void step(runner *r)
{
    struct pollfd wait_for[MAX_SLOTS];
    for (int i = 0; i < r->n_slots; i++) {
        wait_for[i].fd = r->slots[i].pid ? r->slots[i].output : -1;
        wait_for[i].events = POLLIN;
        wait_for[i].revents = 0;
    }
    poll(wait_for, (nfds_t)r->n_slots, 1000);
    for (int i = 0; i < r->n_slots; i++) {
        slot *s = &r->slots[i];
        if (s->pid && wait_for[i].revents && !read_output(s))
            finish(r, s);
        else if (s->pid && time(NULL) - s->started_s > LIMIT_S)
            kill(s->pid, SIGKILL);
    }
}

static bool any_busy(const runner *r)
{
    for (int i = 0; i < r->n_slots; i++) {
        if (r->slots[i].pid) return true;
    }
    return false;
}

/* The next one that is chosen, from k on. */
static int64_t next_chosen(const runner *r, int64_t k, int64_t last)
{
    while (k > 0 && k <= last && r->chosen[k - 1] < r->least)
        k++;
    return k;
}

/* Runs those of k = first .. last that are chosen; 0 is an undisturbed run. */
static void run_pass(runner *r, int64_t first, int64_t last)
{
    int64_t k = next_chosen(r, first, last);
    r->runs = r->refused = r->bad = 0;
    while (k <= last || any_busy(r)) {
        for (int i = 0; i < r->n_slots && k <= last; i++) {
            if (r->slots[i].pid) continue;
            start(r, &r->slots[i], k);
            k = next_chosen(r, k + 1, last);
        }
        step(r);
    }
}

/* Undisturbed runs of a script, the last of which gives the numbers to compare with. */
static bool run_undisturbed(runner *r, const char *script)
{
    bool same = true;
    r->script = script;
    for (int i = 0; i < UNDISTURBED; i++) {
        const int64_t before = r->live;
        run_pass(r, 0, 0);
        r->live = r->slots[0].report->live;
        if (i > 0 && r->live != before) same = false;
    }
    r->total = r->slots[0].report->allocations;
    if (!same) fprintf(stderr, "# what %s leaves behind is chance\n", script);
    return same && r->bad == 0 && r->refused == 0 && r->total > 0 && r->total <= FAIL_STACKS;
}

/* Runs a script undisturbed, and keeps its call stacks in a new array. */
static bool note_stacks(runner *r, const char *script, oom_stacks *stacks)
{
    if (!run_undisturbed(r, script)) return false;
    const size_t bytes = (size_t)r->total * sizeof *stacks->stack;
    *stacks = (oom_stacks){ .stack = malloc(bytes), .n = r->total };
    if (stacks->stack) memcpy(stacks->stack, r->slots[0].report->stack, bytes);
    return stacks->stack != NULL;
}

/* Chooses what fails of the last of the scripts. `each`: all. */
static bool choose(runner *r, const char *const *scripts, int n_scripts, bool each)
{
    oom_stacks stacks[MAX_SCRIPTS] = { 0 };
    int64_t kinds = -1;
    bool fine = true;
    for (int i = 0; i < n_scripts && fine; i++)
        fine = note_stacks(r, scripts[i], &stacks[i]);
    printf("%sok 1 - the script runs when no allocation fails\n", fine ? "" : "not ");
    printf("# %lld allocations, %lld blocks left at the end\n", (long long)r->total,
           (long long)r->live);
    r->chosen = fine ? malloc((size_t)r->total) : NULL;
    if (r->chosen) kinds = oom_choose(stacks, n_scripts, r->chosen);
    if (each && kinds >= 0) memset(r->chosen, OOM_FIRST, (size_t)r->total);
    for (int i = 0; i < n_scripts; i++)
        free(stacks[i].stack);
    /* Without tables for unwinding all stacks look the same. */
    fine = kinds > r->total / 10;
    printf("%sok 2 - their call stacks are known\n# of %lld kinds\n", fine ? "" : "not ",
           (long long)kinds);
    return fine;
}

/* How many allocations fail from the k-th on, which are chosen, and what a check calls that. Where
 * several fail a run mostly ends there and then, in the same way for all of a kind. */
static const struct way {
    int64_t fail_count;
    uint8_t least;
    const char *name;
} ways[] = {
    { 1, OOM_ONE_MORE, "alone" },
    { 2, OOM_FIRST, "and the next" },
    { INT64_MAX, OOM_FIRST, "and all that follow" },
};
enum { N_WAYS = sizeof ways / sizeof *ways };

static bool check_pass(runner *r, int number, const struct way *way, int64_t first, int64_t last)
{
    r->fail_count = way->fail_count;
    r->least = way->least;
    run_pass(r, first, last);
    printf("%sok %d - each allocation %s may fail\n", r->bad ? "not " : "", number, way->name);
    printf("# %lld runs, %lld ended with an error, %lld badly\n", (long long)r->runs,
           (long long)r->refused, (long long)r->bad);
    fflush(stdout);
    return r->bad == 0;
}

static bool check_switched_off(const runner *r, int number)
{
    printf("%sok %d - where the race checker fails, it is off and says so\n",
           r->switched_off ? "" : "not ", number);
    printf("# in %lld runs\n", (long long)r->switched_off);
    return r->switched_off > 0;
}

static void tidy(runner *r)
{
    for (int i = 0; i < r->n_slots; i++) {
        unlink(r->slots[i].report_path);
        unlink(r->slots[i].trace_path);
        unlink(r->slots[i].page_path);
    }
    free(r->chosen);
    free(r->shim);
    free(r->program);
}

int main(int argc, char **argv)
{
    static runner r;
    const char *scripts[MAX_SCRIPTS];
    int n_scripts = 0;
    for (int option; (option = getopt(argc, argv, "ra:")) != -1;) {
        if (option == 'r') r.reports = true;
        if (option == 'a' && n_scripts < MAX_SCRIPTS - 1) scripts[n_scripts++] = optarg;
        if (option == '?') argc = 0;
    }
    argc -= optind - 1;
    argv += optind - 1;
    if (argc < 4) {
        fprintf(stderr,
                "usage: runner [-r] [-a TRIED]... FAILALLOC.SO PROGRAM SCRIPT [FIRST [LAST]]\n");
        return 2;
    }
    scripts[n_scripts++] = argv[3];
    r.shim = realpath(argv[1], NULL);
    r.program = realpath(argv[2], NULL);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    r.n_slots = cores < 1 ? 1 : cores > MAX_SLOTS ? MAX_SLOTS : (int)cores;
    bool fine = r.shim && r.program;
    for (int i = 0; i < r.n_slots && fine; i++)
        fine = open_slot(&r.slots[i], i);
    if (!fine) perror("runner: cannot set up");
    printf("1..%d\n", 2 + N_WAYS + r.reports);
    fine = fine && choose(&r, scripts, n_scripts, argc > 4);
    int64_t first = argc > 4 ? atoll(argv[4]) : 1;
    int64_t last = argc > 5 && atoll(argv[5]) < r.total ? atoll(argv[5]) : r.total;
    for (int i = 0; i < N_WAYS && r.chosen; i++)
        fine = check_pass(&r, 3 + i, &ways[i], first, last) && fine;
    if (r.reports) fine = check_switched_off(&r, 3 + N_WAYS) && fine;
    tidy(&r);
    return fine ? 0 : 1;
}

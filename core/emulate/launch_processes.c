/* launch_processes.c - a launch: processes that share the tensors run its blocks, and this one
 * waits for them. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _GNU_SOURCE     /* pipe2 */
#define _DARWIN_C_SOURCE
#include "launch_processes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../base.h"
#include "fences.h"
#include "places.h"
#include "reaping.h"

enum {
    POLL_MS = 20,
    SOON_MS = 100,         /* what may change its tensors in place has ended so soon before, */
    GRACE_MS = 1000,       /* and has so long after Ctrl-C */
    MOST_CHECKED = 65536,  /* threads of a launch that runs in the checked build */
    THREADS_EACH = 1 << 15 /* below this many threads per process one alone is faster */
};

static uint64_t product(const uint32_t n[3]) { return (uint64_t)n[0] * n[1] * n[2]; }

static int count_workers(const emu_run *run)
{
    uint64_t threads = run->blocks * product(run->call->block);
    uint64_t n = threads / THREADS_EACH;
    if (emu_fences()) return 1; /* an untrusted kernel's time and memory have limits */
    if (run->checked || run->call->cooperative) return 1;
    if (run->image->sections.is_ordered) return 1; /* for the same results each time */
    if (n <= 1) return 1;
    n = sl__min_unsigned(n, sl__min_unsigned(run->blocks, EMU_MOST_WORKERS));
    return (int)sl__min_unsigned(n, (uint64_t)sl_host_processors());
}

/* ---- waiting ---- */

/* Until all have closed the pipe, or ended. False: the user interrupted. */
static bool wait_for_end(int pipe_end, const emu_run *run)
{
    struct pollfd fd = { .fd = pipe_end, .events = POLLIN };
    for (int left_ms = run->saves ? 0 : GRACE_MS;;) {
        int n = poll(&fd, 1, POLL_MS);
        if (n > 0) return true;
        if (*run->emulated->kernel->device->interrupted && (left_ms -= POLL_MS) <= 0) return false;
    }
}

/* ---- the launch ---- */

/* The report's text, with the lines in it that emu_fail_at has left out. */
static void expand(const char *text, const int lines[2], char *to, size_t n)
{
    size_t used = 0;
    for (; *text && used + 32 < n; text++) {
        const int line = *text == '\1' ? lines[0] : *text == '\2' ? lines[1] : 0;
        if (line > 0)
            used += (size_t)snprintf(to + used, n - used, " in line %d", line);
        else if (*text != '\1' && *text != '\2')
            to[used++] = *text;
    }
    to[used] = '\0';
}

static sl_status report(const emu_run *run, sl_error *err)
{
    const sl_custom *kernel = run->emulated->kernel;
    char text[sizeof run->report->text + 64];
    int lines[2];
    emu_lines_find(run, run->report->pcs, lines);
    expand(run->report->text, lines, text, sizeof text);
    if (run->report->line > 0) lines[0] = run->report->line;
    if (lines[0] <= 0 || !kernel->file) return sl_fail(err, SL_EKERNEL, "%s", text);
    return sl_fail(err, SL_EKERNEL, "%.60s:%d: %s", kernel->file, lines[0], text);
}

static sl_status report_memory(const emu_run *run, sl_error *err)
{
    if (run->saves) return sl__no_memory(err, "%s", run->report->text);
    return sl_fail(err, SL_EKERNEL, "out of host memory for %s, and what it has written is lost",
                   run->report->text);
}

/* Each process that was started says that it came to its end. */
static sl_status finish(emu_run *run, bool stopped, sl_error *err)
{
    const char *name = run->emulated->kernel->name;
    if (stopped && !run->saves)
        return sl_fail(err, SL_EKERNEL, "it was interrupted, and what it has written is lost");
    if (stopped) return sl_fail(err, SL_EINTERRUPT, "kernel %.100s was interrupted", name);
    run->report->text[sizeof run->report->text - 1] = '\0'; /* the kernel can write there */
    if (run->report->status == SL_ENOMEM) return report_memory(run, err);
    if (run->report->status) return report(run, err);
    if (run->report->ended == run->report->started) return SL_OK;
    return sl_fail(err, SL_EKERNEL, "its process ended before its blocks did");
}

/* How many start the others, so that each starts about as many as there are of them: to start one
 * takes as long as many a launch. Elsewhere they do not end with the one that started them. */
static int count_first(int wanted)
{
#ifdef __linux__
    int n = 1;
    while (n * n < wanted)
        n++;
    return n * 2 < wanted ? n : wanted;
#else
    return wanted;
#endif
}

/* As long as there is something for one more to do. Gives how many it has started by itself. */
static int start_workers(emu_run *run, pid_t *pids, int wanted)
{
    const int first = count_first(wanted);
    int n = 0;
    emu_pages_share(true);
    for (; n < first && (n == 0 || emu_has_blocks_left(run)); n++) {
        pids[n] = fork();
        if (pids[n] == 0) emu_worker(run, (wanted - n + first - 1) / first - 1);
        if (pids[n] < 0) break;
        run->report->started++;
    }
    emu_pages_share(false);
    return n;
}

static sl_status run_workers(emu_run *run, int wanted, sl_error *err)
{
    pid_t pids[EMU_MOST_WORKERS];
    int ends[2];
    emu_reap_left();
    run->chunk = run->blocks / ((uint64_t)wanted * 16);
    if (run->chunk == 0) run->chunk = 1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return sl_fail(err, SL_EUNSUPPORTED, "no pipe for a kernel's process: %s", strerror(errno));
    run->pipe_end = ends[1];
    const int n = start_workers(run, pids, wanted);
    close(ends[1]);
    if (n == 0) {
        close(ends[0]);
        return sl_fail(err, SL_EUNSUPPORTED, "no process for a kernel can be started: %s",
                       strerror(errno));
    }
    bool ended = wait_for_end(ends[0], run);
    if (ended && run->report->ended == run->report->started
        && !emu_fences()) /* an untrusted one could write that itself */
        emu_let_leave(pids, n);
    else if (ended)
        emu_reap(pids, n, run->report);
    else
        emu_kill_all(pids, n, ends[0]);
    close(ends[0]);
    return finish(run, !ended, err);
}

/* Runs the blocks from `first` on, with the tensors as they were before the launch, as far as that
 * is known. */
static sl_status attempt(emu_run *run, int workers, uint64_t first, sl_error *err)
{
    *run->report = (emu_report){ .next_block = first };
    emu_memory_fill(&run->memory);
    emu_memory_hide(&run->memory, true);
    sl_status status = run_workers(run, workers, err);
    emu_memory_hide(&run->memory, false);
    return status;
}

/* The fast build fails where it happens to fault. So that the report is the same each time, the
 * blocks run in their order, and the one that fails again in the checked build, which knows more;
 * but there it may not fail, since no other block has run. */
static sl_status explain(emu_run *run, int workers, sl_error *err)
{
    emu_run one = *run;
    const sl_error found = *err;
    const sl_status again = workers > 1 ? attempt(run, 1, 0, err) : SL_EKERNEL;
    if (again == SL_OK) {
        if (run->saves)
            return sl_fail(err, SL_EKERNEL,
                           "its blocks disturb each other: one failed, and in their "
                           "order none does");
        *err = found; /* they have run on what the failed ones left */
    }
    if (again != SL_EKERNEL) return err->status;
    one.image = &run->emulated->builds[EMU_CHECKED];
    one.checked = true;
    one.blocks = run->report->block + 1;
    sl_error known = *err;
    if (!run->call->cooperative && attempt(&one, 1, run->report->block, err) == SL_OK) *err = known;
    return err->status;
}

/* What the checked build would have seen, with the thread that did it. */
static sl_status check_beside(const emu_run *run, sl_error *err)
{
    const void *stray = emu_memory_find_stray(&run->memory);
    char place[EMU_PLACE_BYTES];
    if (!stray) return SL_OK;
    emu_places_open(run);
    emu_place_of(stray, place);
    return sl_fail(err, SL_EKERNEL, "a thread writes %s", place);
}

static sl_status run_mapped(emu_run *run, const sl_emulate_region *regions, sl_error *err)
{
    const int workers = count_workers(run);
    sl_status status = attempt(run, workers, 0, err);
    if (status == SL_EKERNEL && !run->checked && !*run->emulated->kernel->device->interrupted)
        status = explain(run, workers, err);
    if (!status) status = check_beside(run, err);
    if (status)
        emu_memory_put_back(&run->memory);
    else
        emu_memory_copy_back(&run->memory, regions);
    return status;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static sl_status run_timed(emu_run *run, const sl_emulate_region *regions, uint64_t threads,
                           uint64_t *settled_threads, sl_error *err)
{
    const int64_t began = now_ms();
    sl_status status = run_mapped(run, regions, err);
    if (!status && threads > *settled_threads && now_ms() - began < SOON_MS)
        *settled_threads = threads;
    return status;
}

sl_status sl_emulate_run(sl_emulated *emulated, const sl_custom_call *call,
                         const sl_emulate_region *regions, uint32_t n_regions,
                         const sl_emulate_arg *args, sl_error *err)
{
    emu_run run = { .emulated = emulated, .call = call, .args = args };
    if (emu_is_remote())
        return emu_remote_run(emulated->kernel, emulated->remote.number, call, regions, n_regions,
                              args, err);
    run.blocks = product(call->grid);
    const uint64_t threads = run.blocks * product(call->block);
    /* Untrusted ones always: in a launch of enough idle threads a few could race unseen. */
    run.checked = emu_fences() || threads <= MOST_CHECKED;
    run.saves = run.checked || threads > emulated->settled_threads;
    run.image = &emulated->builds[run.checked ? EMU_CHECKED : EMU_FAST];
    run.report = mmap(NULL, sizeof *run.report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      -1, 0);
    if (run.report == MAP_FAILED) return sl__no_memory(err, "a kernel's run");
    sl_status status = emu_memory_map(&run.memory, emulated->kernel, regions, n_regions, args,
                                      run.saves, err);
    if (!status) {
        status = run_timed(&run, regions, threads, &emulated->settled_threads, err);
        emu_memory_unmap(&run.memory);
    }
    munmap(run.report, sizeof *run.report);
    return status;
}

/* ---- images ---- */

/* What emu_remote_build gave. */
static sl_status open_remote(sl_emulated *emulated, const sl_image *image, sl_error *err)
{
    if (image->bytes != sizeof emulated->remote)
        return sl_fail(err, SL_EIO, "the compiled kernel is broken");
    memcpy(&emulated->remote, image->data, sizeof emulated->remote);
    return SL_OK;
}

static sl_status open_objects(sl_emulated *emulated, const sl_image *image, sl_error *err)
{
    emu_object objects[EMU_BUILDS];
    sl_status status = emu_image_unpack(image, objects, err);
    for (int i = 0; i < EMU_BUILDS && !status; i++) {
        if (emu_fences()) /* the fast build has nothing but what the user wrote */
            status = emu_object_inspect(&objects[i], i == EMU_CHECKED, err);
        if (!status) status = emu_object_load(&objects[i], &emulated->builds[i], err);
    }
    return status;
}

sl_status sl_emulate_open(const sl_custom *kernel, const sl_image *image, sl_emulated **out,
                          sl_error *err)
{
    sl_emulated *emulated = calloc(1, sizeof *emulated);
    *out = NULL;
    if (!emulated) return sl__no_memory(err, "a kernel");
    emulated->kernel = kernel;
    sl_status status = emu_is_remote() ? open_remote(emulated, image, err)
                                       : open_objects(emulated, image, err);
    if (status)
        sl_emulate_close(emulated);
    else
        *out = emulated;
    return status;
}

void sl_emulate_close(sl_emulated *emulated)
{
    emu_reap_left();
    if (emulated && emu_is_remote()) emu_remote_close(emulated->remote.number);
    for (int i = 0; emulated && i < EMU_BUILDS; i++)
        emu_object_unload(&emulated->builds[i]);
    free(emulated);
}

int64_t sl_emulate_shared_bytes(const sl_emulated *emulated)
{
    return emu_is_remote() ? emulated->remote.shared_bytes
                           : (int64_t)emulated->builds[EMU_FAST].sections.shared_bytes;
}

/* block_threads.c - the threads of a block: barriers, blocks, and blocks that wait for each other.
 *
 * When all threads have begun and nobody can go on, all that are left wait: for a barrier, which
 * opens if they are all there, or for what never comes.
 */
#define _DEFAULT_SOURCE /* vdprintf */
#include "waiting.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base.h"
#include "checks.h"
#include "report.h"
#include "sections.h"

/* ---- barriers ---- */

static unsigned barrier(int predicate, int line)
{
    emu_waiter *self = emu_now.running;
    self->predicate = predicate;
    emu_begin_waiting(EMU_AT_BARRIER, line);
    emu_wait();
    return (unsigned)self->result;
}

static void grid_barrier(int line)
{
    emu_begin_waiting(EMU_AT_GRID, line);
    if (!emu_now.run->call->cooperative)
        emu_fail(line, "a grid's sync() needs a launch with cooperative = true");
    emu_wait();
}

static bool all_wait_at(emu_wait_kind kind)
{
    const emu_waiter *first = emu_first_waiting();
    if (emu_now.block->n_waiting < emu_now.n_threads) return false;
    for (unsigned i = 0; i < emu_now.n_threads; i++)
        if (emu_now.block->waiting[i]->waits != kind
            || emu_now.block->waiting[i]->line != first->line)
            return false;
    return true;
}

static void release_all(void)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < emu_now.n_threads; i++)
        count += emu_now.block->waiting[i]->predicate != 0;
    for (unsigned i = 0; i < emu_now.n_threads; i++) {
        emu_now.block->waiting[i]->result = count;
        emu_make_ready(emu_now.block->waiting[i]);
    }
}

static bool open_barrier(void)
{
    if (!all_wait_at(EMU_AT_BARRIER)) return false;
    emu_checks_barrier();
    release_all();
    return true;
}

static void trap(const char *what, int line)
{
    unsigned at[3], in[3];
    emu_current_place(at, in);
    emu_fail(line, "thread (%u,%u,%u) of block (%u,%u,%u) %s", at[0], at[1], at[2], in[0], in[1],
             in[2], what);
}

static int is_shared(const void *address)
{
    return emu_sections_is_shared(&emu_now.run->image->sections, address);
}

/* A GPU's printf has no %n, which writes to memory: nothing would check where. */
static bool has_count(const char *format)
{
    while ((format = strchr(format, '%'))) {
        format += 1 + strspn(format + 1, "0123456789 #+-.*$'IhlLjztq");
        if (*format == 'n') return true;
        format += *format != '\0';
    }
    return false;
}

static int print(const char *format, va_list values)
{
    if (has_count(format)) trap("calls printf with %n, which a GPU's does not have", 0);
    return vdprintf(STDOUT_FILENO, format, values);
}

static void sincos_of(double x, double *sine, double *cosine) { *sine = sin(x), *cosine = cos(x); }
static void sincosf_of(float x, float *sine, float *cosine) { *sine = sinf(x), *cosine = cosf(x); }

const emu_host emu_threads_host = { .barrier = barrier,
                                    .warp = emu_warp_meets,
                                    .gather = emu_warp_gathers,
                                    .grid_barrier = grid_barrier,
                                    .trap = trap,
                                    .is_shared = is_shared,
                                    .access = emu_check_access,
                                    .fence = emu_check_fence,
                                    .misaligned = emu_check_alignment,
                                    .move = memmove,
                                    .fill = memset,
                                    .compare = memcmp,
                                    .sincos = sincos_of,
                                    .sincosf = sincosf_of,
                                    .print = print };

/* ---- blocks ---- */

/* Whether the image may go on to the next block by itself: where nobody looks at blocks, and has
 * nothing to fill. */
static bool may_follow(void)
{
    const emu_sections *sections = &emu_now.run->image->sections;
    return !emu_now.run->checked && sections->n_shared == 0 && !sections->dynamic.data;
}

static void fill_shared(void)
{
    const emu_loaded *image = emu_now.run->image;
    for (uint32_t i = 0; i < image->sections.n_shared; i++)
        memset(image->sections.shared[i].data, 0xFF, image->sections.shared[i].bytes);
    if (image->sections.dynamic.data)
        memset(image->sections.dynamic.data, 0xFF, emu_now.run->call->shared_bytes);
}

/* Until the block has ended, or all of its threads wait for other blocks: false. */
static bool run_until_stopped(void)
{
    for (;;) {
        if (emu_resume_ready()) continue;
        if (!emu_now.block->all_begun) {
            emu_begin_threads();
        } else if (emu_now.block->n_waiting == 0) {
            return true;
        } else if (!emu_open_any_warp() && !open_barrier()) {
            if (all_wait_at(EMU_AT_GRID)) return false;
            emu_report_stuck();
        }
    }
}

static void place_block(emu_block *one, uint64_t number)
{
    const uint32_t *grid = emu_now.run->call->grid;
    one->number = number;
    one->index[0] = (unsigned)(number % grid[0]);
    one->index[1] = (unsigned)(number / grid[0] % grid[1]);
    one->index[2] = (unsigned)(number / grid[0] / grid[1]);
    one->all_begun = false;
}

static bool begin_block(emu_block *one)
{
    emu_now.block = one;
    emu_report_block(one->number);
    emu_checks_block(one->number);
    emu_now.entry->begin_block(one->index, true);
    emu_now.entry->follow(emu_now.following);
    /* What a block finds in shared memory is unknown: the same values each time, not what the one
     * before it has left. */
    fill_shared();
    return run_until_stopped();
}

void emu_threads_run_blocks(uint64_t first, uint64_t n)
{
    static emu_block only;
    for (uint64_t end = first + n; first < end; first = only.number + 1) {
        place_block(&only, first);
        if (may_follow()) emu_now.following = (unsigned)sl__min_unsigned(end - first - 1, UINT_MAX);
        begin_block(&only);
        emu_stay_in_block();
    }
}

/* ---- blocks that wait for each other ---- */

static void copy_shared(char *kept, bool out)
{
    const emu_sections *sections = &emu_now.run->image->sections;
    for (uint32_t i = 0; i <= sections->n_shared; i++) {
        const bool last = i == sections->n_shared;
        char *data = last ? sections->dynamic.data : sections->shared[i].data;
        size_t bytes = last ? emu_now.run->call->shared_bytes : sections->shared[i].bytes;
        if (!data || !bytes) continue;
        memcpy(out ? kept : data, out ? data : kept, bytes);
        kept += bytes;
    }
}

static void keep_shared(emu_block *one)
{
    if (!one->shared)
        one->shared = malloc(emu_now.run->image->sections.shared_bytes
                             + emu_now.run->call->shared_bytes + 1);
    if (!one->shared) emu_fail_memory("the shared memory of all blocks");
    copy_shared(one->shared, true);
}

/* Gives how many blocks have ended. */
static uint64_t run_to_sync(emu_block *all, uint64_t n, bool first)
{
    uint64_t ended = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (first) {
            place_block(&all[i], i);
            if (begin_block(&all[i])) ended++;
        } else {
            emu_now.block = &all[i];
            emu_report_block(i);
            emu_checks_block(i);
            emu_now.entry->begin_block(all[i].index, false);
            copy_shared(all[i].shared, false);
            release_all();
            if (run_until_stopped()) ended++;
        }
        if (emu_now.block->n_waiting) keep_shared(emu_now.block);
    }
    return ended;
}

void emu_threads_run_grid(uint64_t blocks)
{
    /* Address sanitizers end a program that has calloc find the overflow. */
    emu_block *all = blocks > SIZE_MAX / sizeof *all ? NULL : calloc(blocks, sizeof *all);
    uint64_t ended;
    if (!all) emu_fail_memory("%llu blocks", (unsigned long long)blocks);
    for (bool first = true;; first = false) {
        if (!first) emu_checks_grid();
        ended = run_to_sync(all, blocks, first);
        if (ended == blocks) return;
        if (ended > 0)
            emu_fail(0, "%llu blocks have ended, and the others wait at the grid's sync()",
                     (unsigned long long)ended);
    }
}

void emu_threads_open(const emu_run *run, const emu_entry *entry)
{
    emu_now = (emu_running){ .run = run, .entry = entry };
    memcpy(emu_now.size, run->call->block, sizeof emu_now.size);
    emu_now.n_threads = emu_now.size[0] * emu_now.size[1] * emu_now.size[2];
}

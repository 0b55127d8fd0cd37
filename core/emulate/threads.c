/* threads.c - the threads of a block.
 *
 * A thread that does not wait runs from its beginning to its end on the stack of the fiber that
 * began it, which then begins the next one. One that waits keeps its fiber, and another fiber goes
 * on with the threads that have not begun. When there are none, and nobody can go on, all that are
 * left wait: for a barrier, which opens if they are all there, or for what never comes.
 */
#include "threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "fiber.h"
#include "report.h"
#include "sections.h"

enum { MOST_THREADS = 1024, LANES = 32, MOST_GUARDED = 4096 };

typedef enum wait_kind { NOT_WAITING, AT_BARRIER, AT_WARP, AT_GRID } wait_kind;

typedef struct fiber {
    emu_context context;
    struct fiber *next; /* in a list */
    wait_kind waits;
    unsigned thread, at[3]; /* its number, its index */
    int line;
    uint64_t result; /* of what it waited for */
    int predicate;   /* AT_BARRIER */
    int op, lane;    /* AT_WARP */
    unsigned mask;
    uint64_t value;
    unsigned long long *values; /* where a gather puts them, or NULL */
} fiber;

typedef struct block {
    unsigned index[3];
    uint64_t number;
    fiber *waiting[MOST_THREADS]; /* those that wait, by their number */
    unsigned n_waiting;
    bool all_begun;
    char *shared; /* its shared memory while another block runs, or NULL */
} block;

static const emu_run *run;
static const emu_entry *entry;
static unsigned n_threads, size[3];
static block *current;
static fiber *running;
static fiber *ready, **ready_end = &ready; /* in this order */
static fiber *unused;
static emu_context scheduler;
static unsigned n_fibers;

/* ---- places ---- */

unsigned emu_current_thread(void)
{
    unsigned at[3];

    entry->get_thread(at);
    return at[0] + size[0] * (at[1] + size[1] * at[2]);
}

void emu_current_place(unsigned thread[3], unsigned block_index[3])
{
    memset(block_index, 0, 3 * sizeof *block_index);
    if (current) memcpy(block_index, current->index, sizeof current->index);
    memset(thread, 0, 3 * sizeof *thread);
    if (entry) entry->get_thread(thread);
}

static void place_of(unsigned number, unsigned at[3])
{
    at[0] = number % size[0];
    at[1] = number / size[0] % size[1];
    at[2] = number / size[0] / size[1];
}

/* "thread (1,0,0)" */
static const char *thread_text(unsigned number, char text[48])
{
    unsigned at[3];

    place_of(number, at);
    snprintf(text, 48, "thread (%u,%u,%u)", at[0], at[1], at[2]);
    return text;
}

/* ---- fibers ---- */

static void be_fiber(void)
{
    fiber *self = running;

    emu_context_arrived(&self->context);
    for (;;) {
        entry->run_threads();
        current->all_begun = true;
        self->next = unused;
        unused = self;
        emu_context_switch(&self->context, &scheduler);
    }
}

static fiber *new_fiber(void)
{
    fiber *made = calloc(1, sizeof *made);
    char *stack = made ? emu_stack_new(n_fibers < MOST_GUARDED) : NULL;

    if (!stack) emu_fail(0, "there is no memory for %u threads that wait at a time", n_fibers);
    n_fibers++;
    emu_context_begin(&made->context, stack, be_fiber);
    return made;
}

static void resume(fiber *next)
{
    running = next;
    if (next->waits != NOT_WAITING) {
        next->waits = NOT_WAITING;
        entry->set_thread(next->at);
    }
    emu_context_switch(&scheduler, &next->context);
}

static void make_ready(fiber *one)
{
    current->waiting[one->thread] = NULL;
    current->n_waiting--;
    one->next = NULL;
    *ready_end = one;
    ready_end = &one->next;
}

static fiber *take_ready(void)
{
    fiber *first = ready;

    ready = first->next;
    if (!ready) ready_end = &ready;
    return first;
}

static void begin_waiting(wait_kind kind, int line)
{
    running->waits = kind;
    running->line = line;
    running->thread = emu_current_thread();
    entry->get_thread(running->at);
    current->waiting[running->thread] = running;
    current->n_waiting++;
}

static void wait_until_resumed(void) { emu_context_switch(&running->context, &scheduler); }

/* ---- barriers ---- */

static unsigned barrier(int predicate, int line)
{
    fiber *self = running;

    self->predicate = predicate;
    begin_waiting(AT_BARRIER, line);
    wait_until_resumed();
    return (unsigned)self->result;
}

static void grid_barrier(int line)
{
    if (!run->call->cooperative)
        emu_fail(line, "a grid's sync() needs a launch with cooperative = true");
    begin_waiting(AT_GRID, line);
    wait_until_resumed();
}

static fiber *first_waiting(void)
{
    for (unsigned i = 0; i < n_threads; i++)
        if (current->waiting[i]) return current->waiting[i];
    return NULL;
}

static bool all_wait_at(wait_kind kind)
{
    const fiber *first = first_waiting();

    if (current->n_waiting < n_threads) return false;
    for (unsigned i = 0; i < n_threads; i++)
        if (current->waiting[i]->waits != kind || current->waiting[i]->line != first->line)
            return false;
    return true;
}

static void release_all(void)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < n_threads; i++)
        count += current->waiting[i]->predicate != 0;
    for (unsigned i = 0; i < n_threads; i++) {
        current->waiting[i]->result = count;
        make_ready(current->waiting[i]);
    }
}

static bool open_barrier(void)
{
    if (!all_wait_at(AT_BARRIER)) return false;
    emu_checks_barrier();
    release_all();
    return true;
}

/* ---- warps ---- */

static unsigned bit(unsigned lane) { return 1u << lane; }

static unsigned first_of_warp(unsigned thread) { return thread / LANES * LANES; }

static fiber *lane_of(unsigned first, unsigned lane)
{
    return first + lane < n_threads ? current->waiting[first + lane] : NULL;
}

/* The lanes that wait with the same mask as `one`; without a mask, in the same line. */
static unsigned lanes_beside(const fiber *one)
{
    const unsigned first = first_of_warp(one->thread);
    unsigned lanes = 0;

    for (unsigned i = 0; i < LANES; i++) {
        const fiber *other = lane_of(first, i);
        if (!other || other->waits != AT_WARP || other->mask != one->mask) continue;
        if (one->op == EMU_WARP_ACTIVE && other->line != one->line) continue;
        lanes |= bit(i);
    }
    return lanes;
}

/* Lanes that the block does not have; and if nobody can go on, those that have ended. */
static unsigned lanes_gone(const fiber *one, bool idle)
{
    const unsigned first = first_of_warp(one->thread);
    unsigned lanes = 0;

    for (unsigned i = 0; i < LANES; i++)
        if (first + i >= n_threads || (idle && !current->waiting[first + i])) lanes |= bit(i);
    return lanes;
}

static const char *op_name(const fiber *one)
{
    if (one->values) return "a reduction of the warp";
    switch (one->op) {
    case EMU_WARP_SYNC: return "__syncwarp";
    case EMU_WARP_SHUFFLE: return "a shuffle";
    case EMU_WARP_BALLOT: return "a vote";
    case EMU_WARP_MATCH: return "a match";
    default: return "__activemask";
    }
}

static void check_same(const fiber *one, const fiber *other)
{
    char a[48], b[48];

    if (one->op == other->op && !one->values == !other->values) return;
    emu_fail(other->line,
             "%s of block (%u,%u,%u) is in %s, and %s of the same warp and mask in %s in line %d",
             thread_text(other->thread, a), current->index[0], current->index[1], current->index[2],
             op_name(other), thread_text(one->thread, b), op_name(one), one->line);
}

static uint64_t shuffled(const fiber *one, unsigned lanes)
{
    const unsigned first = first_of_warp(one->thread), lane = (unsigned)one->lane % LANES;
    const fiber *source = lane_of(first, lane);
    char text[48];

    if (lanes & bit(lane)) return source->value;
    emu_fail(one->line,
             "%s of block (%u,%u,%u) shuffles a value from lane %u of its warp, which %s",
             thread_text(one->thread, text), current->index[0], current->index[1],
             current->index[2], lane,
             first + lane >= n_threads  ? "the block does not have"
             : !(one->mask & bit(lane)) ? "is not in the mask"
                                        : "has ended");
}

static uint64_t voted(const fiber *one, unsigned lanes, bool match)
{
    const unsigned first = first_of_warp(one->thread);
    uint64_t result = 0;

    for (unsigned i = 0; i < LANES; i++)
        if ((lanes & bit(i))
            && (match ? lane_of(first, i)->value == one->value : lane_of(first, i)->value != 0))
            result |= bit(i);
    return result;
}

static void gather_into(const fiber *one, unsigned lanes)
{
    const unsigned first = first_of_warp(one->thread);

    for (unsigned i = 0; i < LANES; i++)
        one->values[i] = lanes & bit(i) ? lane_of(first, i)->value : 0;
}

static uint64_t result_of(const fiber *one, unsigned lanes)
{
    if (one->values) gather_into(one, lanes);
    switch (one->op) {
    case EMU_WARP_SHUFFLE: return shuffled(one, lanes);
    case EMU_WARP_BALLOT: return voted(one, lanes, false);
    case EMU_WARP_MATCH: return voted(one, lanes, true);
    case EMU_WARP_ACTIVE: return lanes;
    default: return 0;
    }
}

/* All of the lanes are there. */
static void release_lanes(const fiber *one, unsigned lanes)
{
    const unsigned first = first_of_warp(one->thread);

    for (unsigned i = 0; i < LANES; i++)
        if (lanes & bit(i)) check_same(one, lane_of(first, i));
    if (one->op != EMU_WARP_ACTIVE) emu_checks_warp(first / LANES, lanes);
    for (unsigned i = 0; i < LANES; i++)
        if (lanes & bit(i)) lane_of(first, i)->result = result_of(lane_of(first, i), lanes);
    for (unsigned i = 0; i < LANES; i++)
        if (lanes & bit(i)) make_ready(lane_of(first, i));
}

/* If the lanes that `one` waits for are there or gone. Who is active is known when nobody else can
 * go on. */
static bool open_warp(const fiber *one, bool idle)
{
    const unsigned lanes = lanes_beside(one);

    if (one->op == EMU_WARP_ACTIVE && !idle) return false;
    if (one->op != EMU_WARP_ACTIVE && (one->mask & ~lanes_gone(one, idle)) != lanes) return false;
    release_lanes(one, lanes);
    return true;
}

static bool open_any_warp(void)
{
    for (unsigned i = 0; i < n_threads; i++)
        if (current->waiting[i] && current->waiting[i]->waits == AT_WARP
            && open_warp(current->waiting[i], true))
            return true;
    return false;
}

static void meet_lanes(fiber *self, int line)
{
    char text[48];

    begin_waiting(AT_WARP, line);
    if (self->op != EMU_WARP_ACTIVE && !(self->mask & bit(self->thread % LANES)))
        emu_fail(line,
                 "%s of block (%u,%u,%u) is lane %u of its warp, which is not in its mask 0x%x",
                 thread_text(self->thread, text), current->index[0], current->index[1],
                 current->index[2], self->thread % LANES, self->mask);
    open_warp(self, false);
    wait_until_resumed();
}

static unsigned long long warp(int op, unsigned mask, unsigned long long value, int lane, int line)
{
    fiber *self = running;

    self->op = op;
    self->mask = op == EMU_WARP_ACTIVE ? 0 : mask;
    self->value = value;
    self->lane = lane;
    self->values = NULL;
    meet_lanes(self, line);
    return self->result;
}

static void gather(unsigned mask, unsigned long long value, unsigned long long values[32], int line)
{
    fiber *self = running;

    self->op = EMU_WARP_SYNC;
    self->mask = mask;
    self->value = value;
    self->values = values;
    meet_lanes(self, line);
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
    return emu_sections_is_shared(&run->image->sections, address);
}

const emu_host emu_threads_host = { .barrier = barrier,
                                    .warp = warp,
                                    .gather = gather,
                                    .grid_barrier = grid_barrier,
                                    .trap = trap,
                                    .is_shared = is_shared,
                                    .access = emu_check_access,
                                    .fence = emu_check_fence,
                                    .misaligned = emu_check_alignment,
                                    .move = memmove,
                                    .fill = memset };

/* ---- nobody can go on ---- */

/* "256 threads" that wait like `one` */
static unsigned count_like(const fiber *one)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_threads; i++) {
        const fiber *other = current->waiting[i];
        n += other && other->waits == one->waits && other->line == one->line;
    }
    return n;
}

static const char *wait_name(const fiber *one)
{
    return one->waits == AT_WARP   ? op_name(one)
           : one->waits == AT_GRID ? "the grid's sync()"
                                   : "__syncthreads()";
}

static void describe_waiting(const fiber *one, char *text, size_t bytes)
{
    const unsigned n = count_like(one);
    char first[48];

    if (n == 1)
        snprintf(text, bytes, "%s waits at %s in line %d", thread_text(one->thread, first),
                 wait_name(one), one->line);
    else
        snprintf(text, bytes, "%u threads wait at %s in line %d", n, wait_name(one), one->line);
}

static _Noreturn void report_stuck(void)
{
    const fiber *one = first_waiting();
    char waits[160], other[160], text[48];

    describe_waiting(one, waits, sizeof waits);
    for (unsigned i = 0; i < n_threads; i++) {
        const fiber *differs = current->waiting[i];
        if (!differs)
            snprintf(other, sizeof other, "%s has ended", thread_text(i, text));
        else if (differs->waits != one->waits || differs->line != one->line)
            describe_waiting(differs, other, sizeof other);
        else
            continue;
        emu_fail(one->line, "in block (%u,%u,%u) %s, and %s: all threads have to get there",
                 current->index[0], current->index[1], current->index[2], waits, other);
    }
    emu_fail(one->line, "in block (%u,%u,%u) %s, for lanes that never get there", current->index[0],
             current->index[1], current->index[2], waits);
}

/* ---- blocks ---- */

static void fill_shared(void)
{
    const emu_loaded *image = run->image;

    for (uint32_t i = 0; i < image->sections.n_shared; i++)
        memset(image->sections.shared[i].data, 0xFF, image->sections.shared[i].bytes);
    if (image->sections.dynamic.data)
        memset(image->sections.dynamic.data, 0xFF, run->call->shared_bytes);
}

/* Until the block has ended, or all of its threads wait for other blocks: false. */
static bool run_until_stopped(void)
{
    for (;;) {
        if (ready) {
            resume(take_ready());
        } else if (!current->all_begun) {
            fiber *next = unused ? unused : new_fiber();
            if (unused) unused = next->next;
            resume(next);
        } else if (current->n_waiting == 0) {
            return true;
        } else if (!open_any_warp() && !open_barrier()) {
            if (all_wait_at(AT_GRID)) return false;
            report_stuck();
        }
    }
}

static void place_block(block *one, uint64_t number)
{
    const uint32_t *grid = run->call->grid;

    one->number = number;
    one->index[0] = (unsigned)(number % grid[0]);
    one->index[1] = (unsigned)(number / grid[0] % grid[1]);
    one->index[2] = (unsigned)(number / grid[0] / grid[1]);
    one->all_begun = false;
}

static bool begin_block(block *one)
{
    current = one;
    emu_report_block(one->number);
    emu_checks_block(one->number);
    entry->begin_block(one->index, true);
    /* What a block finds in shared memory is unknown: the same values each time, not what the one
     * before it has left. */
    fill_shared();
    return run_until_stopped();
}

void emu_threads_run_block(uint64_t index)
{
    static block only;

    place_block(&only, index);
    begin_block(&only);
}

/* ---- blocks that wait for each other ---- */

static void copy_shared(char *kept, bool out)
{
    const emu_sections *sections = &run->image->sections;

    for (uint32_t i = 0; i <= sections->n_shared; i++) {
        const bool last = i == sections->n_shared;
        char *data = last ? sections->dynamic.data : sections->shared[i].data;
        size_t bytes = last ? run->call->shared_bytes : sections->shared[i].bytes;
        if (!data || !bytes) continue;
        memcpy(out ? kept : data, out ? data : kept, bytes);
        kept += bytes;
    }
}

static void keep_shared(block *one)
{
    if (!one->shared)
        one->shared = malloc(run->image->sections.shared_bytes + run->call->shared_bytes + 1);
    if (!one->shared) emu_fail(0, "there is no memory for the shared memory of all blocks");
    copy_shared(one->shared, true);
}

/* Gives how many blocks have ended. */
static uint64_t run_to_sync(block *all, uint64_t n, bool first)
{
    uint64_t ended = 0;

    for (uint64_t i = 0; i < n; i++) {
        if (first) {
            place_block(&all[i], i);
            if (begin_block(&all[i])) ended++;
        } else {
            current = &all[i];
            emu_report_block(i);
            emu_checks_block(i);
            entry->begin_block(all[i].index, false);
            copy_shared(all[i].shared, false);
            release_all();
            if (run_until_stopped()) ended++;
        }
        if (current->n_waiting) keep_shared(current);
    }
    return ended;
}

void emu_threads_run_grid(uint64_t blocks)
{
    block *all = calloc(blocks, sizeof *all);
    uint64_t ended;

    if (!all) emu_fail(0, "there is no memory for %llu blocks", (unsigned long long)blocks);
    for (bool first = true;; first = false) {
        if (!first) emu_checks_grid();
        ended = run_to_sync(all, blocks, first);
        if (ended == blocks) return;
        if (ended > 0)
            emu_fail(0, "%llu blocks have ended, and the others wait at the grid's sync()",
                     (unsigned long long)ended);
    }
}

void emu_threads_open(const emu_run *the_run, const emu_entry *the_entry)
{
    run = the_run;
    entry = the_entry;
    memcpy(size, run->call->block, sizeof size);
    n_threads = size[0] * size[1] * size[2];
}

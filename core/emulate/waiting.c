/* waiting.c - threads of a block that wait, and those that can go on.
 *
 * A thread that does not wait runs from its beginning to its end on the stack of the fiber that
 * began it, which then begins the next one. One that waits keeps its fiber, and another fiber goes
 * on with the threads that have not begun.
 */
#include "waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { MOST_GUARDED = 4096 };

emu_running emu_now;

/* ---- places ---- */

void emu_stay_in_block(void)
{
    const unsigned left = emu_now.following ? emu_now.entry->stay(emu_now.block->index) : 0;
    emu_now.block->number += emu_now.following - left;
    emu_now.following = 0;
    emu_report_block(emu_now.block->number);
}

unsigned emu_current_thread(void)
{
    unsigned at[3];
    emu_now.entry->get_thread(at);
    return at[0] + emu_now.size[0] * (at[1] + emu_now.size[1] * at[2]);
}

void emu_current_place(unsigned thread[3], unsigned block_index[3])
{
    memset(block_index, 0, 3 * sizeof *block_index);
    if (emu_now.block) {
        emu_stay_in_block();
        memcpy(block_index, emu_now.block->index, sizeof emu_now.block->index);
    }
    memset(thread, 0, 3 * sizeof *thread);
    if (emu_now.entry) emu_now.entry->get_thread(thread);
}

static void place_of(unsigned number, unsigned at[3])
{
    at[0] = number % emu_now.size[0];
    at[1] = number / emu_now.size[0] % emu_now.size[1];
    at[2] = number / emu_now.size[0] / emu_now.size[1];
}

/* "thread (1,0,0)" */
const char *emu_thread_text(unsigned number, char text[48])
{
    unsigned at[3];
    place_of(number, at);
    snprintf(text, 48, "thread (%u,%u,%u)", at[0], at[1], at[2]);
    return text;
}

/* ---- fibers ---- */

static emu_waiter *ready, **ready_end = &ready; /* in this order */
static emu_waiter *unused;
static emu_context scheduler;
static unsigned n_fibers;

static void be_fiber(void)
{
    emu_waiter *self = emu_now.running;
    emu_context_arrived(&self->context);
    for (;;) {
        emu_now.entry->run_threads();
        emu_now.block->all_begun = true;
        self->next = unused;
        unused = self;
        emu_context_switch(&self->context, &scheduler);
    }
}

static emu_waiter *new_fiber(void)
{
    emu_waiter *made = calloc(1, sizeof *made);
    char *stack = made ? emu_stack_new(n_fibers < MOST_GUARDED) : NULL;
    if (!stack) emu_fail_memory("%u threads that wait at a time", n_fibers + 1);
    n_fibers++;
    emu_context_begin(&made->context, stack, be_fiber);
    return made;
}

static void resume(emu_waiter *next)
{
    emu_now.running = next;
    if (next->waits != EMU_NOT_WAITING) {
        next->waits = EMU_NOT_WAITING;
        emu_now.entry->set_thread(next->at);
    }
    emu_context_switch(&scheduler, &next->context);
}

void emu_make_ready(emu_waiter *one)
{
    emu_now.block->waiting[one->thread] = NULL;
    emu_now.block->n_waiting--;
    one->next = NULL;
    *ready_end = one;
    ready_end = &one->next;
}

static emu_waiter *take_ready(void)
{
    emu_waiter *first = ready;
    ready = first->next;
    if (!ready) ready_end = &ready;
    return first;
}

void emu_begin_waiting(emu_wait_kind kind, int line)
{
    emu_stay_in_block();
    emu_now.running->waits = kind;
    emu_now.running->line = line;
    emu_now.running->thread = emu_current_thread();
    emu_now.entry->get_thread(emu_now.running->at);
    emu_now.block->waiting[emu_now.running->thread] = emu_now.running;
    emu_now.block->n_waiting++;
}

void emu_wait(void) { emu_context_switch(&emu_now.running->context, &scheduler); }

bool emu_resume_ready(void)
{
    if (!ready) return false;
    resume(take_ready());
    return true;
}

void emu_begin_threads(void)
{
    emu_waiter *next = unused ? unused : new_fiber();
    if (unused) unused = next->next;
    resume(next);
}

emu_waiter *emu_first_waiting(void)
{
    for (unsigned i = 0; i < emu_now.n_threads; i++)
        if (emu_now.block->waiting[i]) return emu_now.block->waiting[i];
    return NULL;
}

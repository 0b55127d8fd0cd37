/* stuck.c - what is said of threads that wait for what never comes. */
#include "waiting.h"

#include <stdio.h>

#include "report.h"

/* "256 threads" that wait like `one` */
static unsigned count_like(const emu_waiter *one)
{
    unsigned n = 0;
    for (unsigned i = 0; i < emu_now.n_threads; i++) {
        const emu_waiter *other = emu_now.block->waiting[i];
        n += other && other->waits == one->waits && other->line == one->line;
    }
    return n;
}

static const char *wait_name(const emu_waiter *one)
{
    return one->waits == EMU_AT_WARP   ? emu_op_name(one)
           : one->waits == EMU_AT_GRID ? "the grid's sync()"
                                       : "__syncthreads()";
}

static void describe_waiting(const emu_waiter *one, char *text, size_t bytes)
{
    const unsigned n = count_like(one);
    char first[48];
    if (n == 1)
        snprintf(text, bytes, "%s waits at %s in line %d", emu_thread_text(one->thread, first),
                 wait_name(one), one->line);
    else
        snprintf(text, bytes, "%u threads wait at %s in line %d", n, wait_name(one), one->line);
}

_Noreturn void emu_report_stuck(void)
{
    const emu_waiter *one = emu_first_waiting();
    char waits[160], other[160], text[48];
    describe_waiting(one, waits, sizeof waits);
    for (unsigned i = 0; i < emu_now.n_threads; i++) {
        const emu_waiter *differs = emu_now.block->waiting[i];
        if (!differs)
            snprintf(other, sizeof other, "%s has ended", emu_thread_text(i, text));
        else if (differs->waits != one->waits || differs->line != one->line)
            describe_waiting(differs, other, sizeof other);
        else
            continue;
        emu_fail(one->line, "in block (%u,%u,%u) %s, and %s: all threads have to get there",
                 emu_now.block->index[0], emu_now.block->index[1], emu_now.block->index[2], waits,
                 other);
    }
    emu_fail(one->line, "in block (%u,%u,%u) %s, for lanes that never get there",
             emu_now.block->index[0], emu_now.block->index[1], emu_now.block->index[2], waits);
}

/* taken_over.c - whether CUPTI still gives its records to us. It gives them to whoever has
 * registered functions for its buffers last: a profiler in the program, such as PyTorch's, does
 * that where it starts, and CUPTI tells nobody. But calls are noted by callbacks, which it does not
 * take over: where a kernel was launched and waited for, and no buffer comes back, the records are
 * another's. Of a kernel that still runs when the program ends there may be no record.
 */
#include "recorder.h"

#include <stdatomic.h>

#define NEVER UINT32_MAX

static atomic_uint n_buffers;
/* How many had come when the last launch began, and when it was waited for. */
static atomic_uint at_launch = NEVER, at_wait = NEVER;

void taken_over_note_buffer(void) { n_buffers++; }

uint32_t taken_over_buffers(void) { return atomic_load_explicit(&n_buffers, memory_order_relaxed); }

/* It is read by all threads and hardly ever changes. */
static void set(atomic_uint *to, uint32_t buffers)
{
    if (atomic_load_explicit(to, memory_order_relaxed) != buffers)
        atomic_store_explicit(to, buffers, memory_order_relaxed);
}

void taken_over_note_launch(uint32_t buffers) { set(&at_launch, buffers); }

void taken_over_note_wait(void)
{
    const uint32_t buffers = taken_over_buffers();
    if (atomic_load_explicit(&at_launch, memory_order_relaxed) == buffers) set(&at_wait, buffers);
}

const char *taken_over_why(void)
{
    if (at_wait != n_buffers) return NULL;
    if (n_buffers > 0)
        return "another profiler in the program, such as PyTorch's, has taken CUPTI over, and what "
               "came then is not recorded";
    return "CUPTI has given no records: another profiler in the program, such as PyTorch's, may "
           "have taken it over at once";
}

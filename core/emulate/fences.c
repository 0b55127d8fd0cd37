/* fences.c - the fences of this process. They are set once, before the first kernel. */
#include "fences.h"

#include <unistd.h>

static const sl_custom_fences *set;

void emu_set_fences(const sl_custom_fences *fences) { set = fences; }
const sl_custom_fences *emu_fences(void) { return set; }

void emu_fence_compiler(void)
{
    if (set && !set->compiler()) _exit(EMU_NOT_FENCED);
}

void emu_fence_kernel(void)
{
    if (set && !set->kernel()) _exit(EMU_NOT_FENCED);
}

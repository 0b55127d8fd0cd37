/* fences.h - what the one who runs strangers' kernels (sl_custom_serve) has set up around the
 * processes that compile and run them. */
#ifndef SL_EMULATE_FENCES_H
#define SL_EMULATE_FENCES_H

#include "../backend.h"

void emu_set_fences(const sl_custom_fences *fences);
/* NULL: kernels are trusted, and nothing is fenced. */
const sl_custom_fences *emu_fences(void);

enum { EMU_NOT_FENCED = 126 }; /* a process's status: a fence could not be set */

/* In the process that becomes the compiler, or runs a kernel: sets the fence, if there are any, and
 * ends the process with that status if that fails. */
void emu_fence_compiler(void);
void emu_fence_kernel(void);

#endif

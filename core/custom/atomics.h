/* atomics.h - which tensors a kernel touches by atomic functions alone, as far as its source says. */
#ifndef SL_ATOMICS_H
#define SL_ATOMICS_H

#include "../backend.h"

/* Sets SL_ATOMIC in the access of each inout argument of which that is sure: everywhere in the kernel its
 * name is the address in a call of CUDA's atomic functions, atomicAdd(&name[i], x) or atomicAdd(name + i, x).
 * Not where a function of the source gets the pointer, nor with the functions whose names end in _block,
 * nor if the source has a macro or a function of its own that may mean something else. Without a source
 * nothing is known. */
void sl__find_atomics(sl_custom *kernel);

#endif

/* custom_kernel.h - custom kernels, for the rest of the core. */
#ifndef SL_CUSTOM_CUSTOM_KERNEL_H
#define SL_CUSTOM_CUSTOM_KERNEL_H

#include "../backend.h"

/* Frees a kernel that the backend has closed, or never opened. */
void sl__custom_free(sl_custom *kernel);

/* "in", "out" or "inout", of a tensor. */
static inline const char *sl__arg_access(const sl_arg *arg)
{
    return arg->access == SL_READS ? "in" : arg->access == SL_WRITES ? "out" : "inout";
}

/* A launch in words, cut to fit (text_bytes >= 8): "saxpy(2, in f32*[1024], inout f32*[32,32])". */
void sl__custom_describe(const sl_custom_call *call, char *text, size_t text_bytes);

/* atomics.c */
/* Sets SL_ATOMIC in the access of each inout argument of which that is sure: everywhere in the
 * kernel its name is the address in a call of CUDA's atomic functions, atomicAdd(&name[i], x) or
 * atomicAdd(name + i, x). Not where a function of the source gets the pointer, nor with the
 * functions whose names end in _block, nor if the source has a macro or a function of its own that
 * may mean something else. Without a source nothing is known. */
void sl__find_atomics(sl_custom *kernel);

/* registers.c */
/* Sets array_registers: those that the arrays in the kernel's body take, of float, int and their
 * like, with numbers or names of numbers as their sizes; declares_shared; and info.shared_bytes,
 * the bytes that the body declares as shared, if all have known sizes and it has no #if. Arrays of
 * unknown size take no registers. A compiler's figures replace these. */
void sl__find_arrays(sl_custom *kernel);

/* ---- diagnose.c ---- */

/* Makes kernel->log readable, and puts its first error into *err, whose status it returns
 * (SL_ECOMPILE). */
sl_status sl__diagnose(sl_custom *kernel, sl_error *err);

#endif

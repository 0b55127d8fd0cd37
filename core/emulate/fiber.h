/* fiber.h - stacks on which threads of a kernel run, and going from one to another. */
#ifndef SL_EMULATE_FIBER_H
#define SL_EMULATE_FIBER_H

#include <stdbool.h>
#include <stddef.h>

enum { EMU_STACK_BYTES = 128 << 10, EMU_STACK_GUARD = 4096 };

typedef struct emu_context { /* where a fiber goes on */
    void *sp;
    const void *stack; /* for the sanitizer */
    size_t stack_bytes;
    void *fake_stack;
} emu_context;

/* A stack of EMU_STACK_BYTES, with pages below it that fault if `guarded`; NULL: no memory. Lives
 * as long as the process. */
char *emu_stack_new(bool guarded);
/* Whether the address is in the guard below a stack. */
bool emu_stack_is_guard(const void *address);

/* At the first switch to it, `run` is called on the stack, which must never return. */
void emu_context_begin(emu_context *context, char *stack, void (*run)(void));
/* Keeps where the caller is in *from, and goes on with `to`. */
void emu_context_switch(emu_context *from, const emu_context *to);
/* First thing on a stack that was switched to. */
void emu_context_arrived(const emu_context *self);

#endif

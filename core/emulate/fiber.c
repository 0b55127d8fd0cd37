/* fiber.c - stacks, and going from one to another.
 *
 * ucontext's functions ask the system for the signal mask at each switch, which takes a hundred
 * times as long; they are used where the few instructions below are not known. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _DARWIN_C_SOURCE
#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* ---- stacks ---- */

static char *lowest, *highest; /* of all stacks, guards included */
enum { WHOLE = EMU_STACK_GUARD + EMU_STACK_BYTES };
enum { EACH = 32 }; /* stacks that are mapped at a time */
static char *slab;
static int left;

/* Behind the last stack nothing else lies: what is so near above a frame the checked build takes
 * for the stack, and does not look at. */
static bool map_slab(void)
{
    const size_t stacks = (size_t)EACH * WHOLE, bytes = stacks + EMU_STACK_BYTES;
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    mprotect(at + stacks, EMU_STACK_BYTES, PROT_NONE);
    if (!lowest || at < lowest) lowest = at;
    if (at + bytes > highest) highest = at + bytes;
    slab = at;
    left = EACH;
    return true;
}

char *emu_stack_new(bool guarded)
{
    if (left == 0 && !map_slab()) return NULL;
    char *whole = slab + (size_t)--left * WHOLE;
    if (guarded) mprotect(whole, EMU_STACK_GUARD, PROT_NONE);
    return whole + EMU_STACK_GUARD;
}

/* Only guards fault there. */
bool emu_stack_is_guard(const void *address)
{
    const char *at = address;
    return lowest && at >= lowest && at < highest;
}

/* ---- switching ---- */

/* A compiler with the sanitizer of addresses has to know on which stack the program is. */
#if defined __SANITIZE_ADDRESS__
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t bytes);
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *bytes);
#define LEAVE(from, to) \
    __sanitizer_start_switch_fiber(&(from)->fake_stack, (to)->stack, (to)->stack_bytes)
#define ARRIVE(self, bottom, bytes) \
    __sanitizer_finish_switch_fiber((self)->fake_stack, bottom, bytes)
#else
#define LEAVE(from, to) ((void)(to))
#define ARRIVE(self, bottom, bytes) ((void)(self))
#endif

static emu_context *left_behind; /* the fiber from which the switch came */

void emu_context_arrived(const emu_context *self)
{
#if defined __SANITIZE_ADDRESS__
    const void *bottom;
    size_t bytes;

    ARRIVE(self, &bottom, &bytes);
    if (left_behind && !left_behind->stack) {
        left_behind->stack = bottom;
        left_behind->stack_bytes = bytes;
    }
#else
    ARRIVE(self, NULL, NULL);
#endif
}

#if defined __x86_64__ || defined __aarch64__

/* Saves what a called function must keep, on the old stack, and takes it from the new one. */
void emu_switch_stacks(void **from, void *to);

#if defined __x86_64__
enum { SAVED = 7 }; /* words: rbp rbx r12 to r15, and where to return to */
__asm__(".text\n"
        ".globl emu_switch_stacks\n"
        ".hidden emu_switch_stacks\n"
        ".type emu_switch_stacks,@function\n"
        "emu_switch_stacks:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".size emu_switch_stacks,.-emu_switch_stacks\n");
enum { RETURN_TO = 6, ABOVE = 1 }; /* behind the return, sp is as after a call */
#else
enum { SAVED = 20 }; /* words: x19 to x30, d8 to d15 */
__asm__(".text\n"
        ".globl emu_switch_stacks\n"
        ".hidden emu_switch_stacks\n"
        ".type emu_switch_stacks,%function\n"
        "emu_switch_stacks:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp, #0]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n"
        "  str x9, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp, #0]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size emu_switch_stacks,.-emu_switch_stacks\n");
enum { RETURN_TO = 11, ABOVE = 2 };
#endif

void emu_context_begin(emu_context *context, char *stack, void (*run)(void))
{
    void **sp = (void **)(void *)(stack + EMU_STACK_BYTES) - ABOVE - SAVED;
    memset(sp, 0, (SAVED + ABOVE) * sizeof *sp); /* run() has been called by nobody */
    *(void (**)(void))(void *)&sp[RETURN_TO] = run;
    *context = (emu_context){ .sp = sp, .stack = stack, .stack_bytes = EMU_STACK_BYTES };
}

void emu_context_switch(emu_context *from, const emu_context *to)
{
    LEAVE(from, to);
    left_behind = from;
    emu_switch_stacks(&from->sp, to->sp);
    emu_context_arrived(from);
}

#else

#include <ucontext.h>

void emu_context_begin(emu_context *context, char *stack, void (*run)(void))
{
    ucontext_t *made = malloc(sizeof *made);
    *context = (emu_context){ .sp = made, .stack = stack, .stack_bytes = EMU_STACK_BYTES };
    if (!made) return;
    getcontext(made);
    made->uc_stack.ss_sp = stack;
    made->uc_stack.ss_size = EMU_STACK_BYTES;
    makecontext(made, run, 0);
}

void emu_context_switch(emu_context *from, const emu_context *to)
{
    if (!from->sp) from->sp = malloc(sizeof(ucontext_t));
    if (!from->sp) abort();
    LEAVE(from, to);
    left_behind = from;
    swapcontext(from->sp, to->sp);
    emu_context_arrived(from);
}

#endif

/* compiler_calls.c - the functions that a compiler calls around each access when it checks for
 * races (-fsanitize=thread) and for addresses that are not aligned: here the program checks the
 * access. Linked into the checked build of each kernel, whose threads run in one process, one at a
 * time.
 *
 * They are the same for all kernels, and compiling them takes longer than most kernels: so they are
 * compiled with the program, without sanitizers, and are an object among its files. Most accesses
 * are reads of threadIdx and its like, and to the running thread's stack: they are passed over
 * here. */
#include <stdbool.h>

#include "../abi.h"

#define HIDDEN __attribute__((__visibility__("hidden")))
#define CHECK(address, bytes, kind) \
    check(address, bytes, kind, __builtin_return_address(0), __builtin_frame_address(0))

enum { STACK_WINDOW = 128 << 10 }; /* nothing but a stack is so near above its end */

/* Of the kernel's own object (language.h). */
extern HIDDEN const emu_host *emu_the_host;
extern HIDDEN char __start_emu_index[], __stop_emu_index[];

static inline bool is_within(const void *address, const void *begin, size_t bytes)
{
    return (size_t)((const char *)address - (const char *)begin) < bytes;
}

/* One function, not a part of each that calls it: those are many, and all are in each kernel. */
static __attribute__((__noinline__)) void check(const void *address, size_t bytes, int kind,
                                                const void *pc, const void *stack)
{
    if (is_within(address, stack, STACK_WINDOW)) return;
    if (!(kind & EMU_WRITE)
        && is_within(address, __start_emu_index, (size_t)(__stop_emu_index - __start_emu_index)))
        return;
    emu_the_host->access(address, bytes, kind, pc);
}

/* ---- when the object is loaded, and around functions ---- */

HIDDEN void __tsan_init(void) {}
HIDDEN void __tsan_func_entry(void *caller) { (void)caller; }
HIDDEN void __tsan_func_exit(void) {}
HIDDEN void __tsan_ignore_thread_begin(void) {}
HIDDEN void __tsan_ignore_thread_end(void) {}

/* ---- reads and writes ---- */

#define ACCESS(name, bytes, kind) \
    HIDDEN void __tsan_##name(void *address) { CHECK(address, bytes, kind); }
#define ACCESSES(n)                                                             \
    ACCESS(read##n, n, EMU_READ)                                                \
    ACCESS(write##n, n, EMU_WRITE)                                              \
    ACCESS(read_write##n, n, EMU_READ | EMU_WRITE)                              \
    ACCESS(volatile_read##n, n, EMU_READ | EMU_VOLATILE)                        \
    ACCESS(volatile_write##n, n, EMU_WRITE | EMU_VOLATILE)                      \
    ACCESS(unaligned_read##n, n, EMU_READ | EMU_PACKED)                         \
    ACCESS(unaligned_write##n, n, EMU_WRITE | EMU_PACKED)                       \
    ACCESS(unaligned_read_write##n, n, EMU_READ | EMU_WRITE | EMU_PACKED)       \
    ACCESS(unaligned_volatile_read##n, n, EMU_READ | EMU_VOLATILE | EMU_PACKED) \
    ACCESS(unaligned_volatile_write##n, n, EMU_WRITE | EMU_VOLATILE | EMU_PACKED)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

HIDDEN void __tsan_read_range(void *address, unsigned long bytes)
{
    CHECK(address, bytes, EMU_READ | EMU_PACKED);
}
HIDDEN void __tsan_write_range(void *address, unsigned long bytes)
{
    CHECK(address, bytes, EMU_WRITE | EMU_PACKED);
}
HIDDEN void __tsan_vptr_update(void **address, void *value)
{
    (void)value;
    CHECK(address, sizeof *address, EMU_WRITE);
}
HIDDEN void __tsan_vptr_read(void **address) { CHECK(address, sizeof *address, EMU_READ); }

/* The C library's, which compilers call for copies of structures as well; some by other names. */
#define COPY(name)                                          \
    HIDDEN void *name(void *to, const void *from, size_t n) \
    {                                                       \
        CHECK(from, n, EMU_READ | EMU_PACKED);              \
        CHECK(to, n, EMU_WRITE | EMU_PACKED);               \
        return emu_the_host->move(to, from, n);             \
    }
#define FILL(name)                                   \
    HIDDEN void *name(void *to, int value, size_t n) \
    {                                                \
        CHECK(to, n, EMU_WRITE | EMU_PACKED);        \
        return emu_the_host->fill(to, value, n);     \
    }
COPY(memcpy)
COPY(memmove)
FILL(memset)
COPY(__tsan_memcpy)
COPY(__tsan_memmove)
FILL(__tsan_memset)

#define COMPARE_BYTES(name)                                 \
    HIDDEN int name(const void *a, const void *b, size_t n) \
    {                                                       \
        CHECK(a, n, EMU_READ | EMU_PACKED);                 \
        CHECK(b, n, EMU_READ | EMU_PACKED);                 \
        return emu_the_host->compare(a, b, n);              \
    }
#define SINE_AND_COSINE(name, type)                    \
    HIDDEN void name(type x, type *sine, type *cosine) \
    {                                                  \
        CHECK(sine, sizeof *sine, EMU_WRITE);          \
        CHECK(cosine, sizeof *cosine, EMU_WRITE);      \
        emu_the_host->name(x, sine, cosine);           \
    }
COMPARE_BYTES(memcmp)
COMPARE_BYTES(bcmp)
SINE_AND_COSINE(sincos, double)
SINE_AND_COSINE(sincosf, float)
HIDDEN size_t strlen(const char *text)
{
    for (size_t n = 0;; n++) { /* before the host reads it */
        CHECK(text + n, 1, EMU_READ);
        if (((const volatile char *)text)[n] == 0) return n;
    }
}

/* ---- atomics: no two threads run at a time, so plain operations do ---- */

#define UPDATE(bits, type, name, expression)                                           \
    HIDDEN type __tsan_atomic##bits##_##name(volatile type *at, type value, int order) \
    {                                                                                  \
        if (order >= __ATOMIC_RELEASE) emu_the_host->fence();                          \
        CHECK((const void *)at, sizeof value, EMU_READ | EMU_WRITE | EMU_ATOMIC);      \
        const type old = *at;                                                          \
        *at = (type)(expression);                                                      \
        return old;                                                                    \
    }
#define COMPARE(bits, type, name)                                                                \
    HIDDEN bool __tsan_atomic##bits##_compare_exchange_##name(volatile type *at, type *expected, \
                                                              type value, int order, int failed) \
    {                                                                                            \
        (void)failed;                                                                            \
        if (order >= __ATOMIC_RELEASE) emu_the_host->fence();                                    \
        CHECK((const void *)at, sizeof value, EMU_READ | EMU_WRITE | EMU_ATOMIC);                \
        const type old = *at;                                                                    \
        if (old == *expected) {                                                                  \
            *at = value;                                                                         \
            return true;                                                                         \
        }                                                                                        \
        *expected = old;                                                                         \
        return false;                                                                            \
    }
#define ATOMICS(bits, type)                                                                   \
    HIDDEN type __tsan_atomic##bits##_load(const volatile type *at, int order)                \
    {                                                                                         \
        (void)order;                                                                          \
        CHECK((const void *)at, sizeof *at, EMU_READ | EMU_ATOMIC);                           \
        return *at;                                                                           \
    }                                                                                         \
    HIDDEN void __tsan_atomic##bits##_store(volatile type *at, type value, int order)         \
    {                                                                                         \
        if (order >= __ATOMIC_RELEASE) emu_the_host->fence();                                 \
        CHECK((const void *)at, sizeof *at, EMU_WRITE | EMU_ATOMIC);                          \
        *at = value;                                                                          \
    }                                                                                         \
    UPDATE(bits, type, exchange, value)                                                       \
    UPDATE(bits, type, fetch_add, old + value)                                                \
    UPDATE(bits, type, fetch_sub, old - value)                                                \
    UPDATE(bits, type, fetch_and, old &value)                                                 \
    UPDATE(bits, type, fetch_or, old | value)                                                 \
    UPDATE(bits, type, fetch_xor, old ^ value)                                                \
    UPDATE(bits, type, fetch_nand, ~(old & value))                                            \
    COMPARE(bits, type, strong)                                                               \
    COMPARE(bits, type, weak)                                                                 \
    HIDDEN type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected,  \
                                                           type value, int order, int failed) \
    {                                                                                         \
        (void)failed;                                                                         \
        if (order >= __ATOMIC_RELEASE) emu_the_host->fence();                                 \
        CHECK((const void *)at, sizeof value, EMU_READ | EMU_WRITE | EMU_ATOMIC);             \
        const type old = *at;                                                                 \
        if (old == expected) *at = value;                                                     \
        return old;                                                                           \
    }
ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long)

HIDDEN void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    emu_the_host->fence();
}
HIDDEN void __tsan_atomic_signal_fence(int order) { (void)order; }

/* ---- alignment ---- */

typedef struct misaligned {
    const char *file;
    unsigned line, column;
    const void *type;
    unsigned char log_alignment, kind;
} misaligned;

HIDDEN void __ubsan_handle_type_mismatch_v1(void *data, void *address)
{
    const misaligned *what = data;
    if (emu_the_host)
        emu_the_host->misaligned(address, (size_t)1 << what->log_alignment, what->file, what->line);
}
HIDDEN void __ubsan_handle_type_mismatch_v1_abort(void *data, void *address)
{
    __ubsan_handle_type_mismatch_v1(data, address);
}
/* __builtin_assume_aligned of clang. Its data begin with the same place. */
HIDDEN void __ubsan_handle_alignment_assumption(void *data, void *address, size_t alignment,
                                                size_t offset)
{
    const misaligned *what = data;
    (void)offset;
    if (emu_the_host) emu_the_host->misaligned(address, alignment, what->file, what->line);
}
HIDDEN void __ubsan_handle_alignment_assumption_abort(void *data, void *address, size_t alignment,
                                                      size_t offset)
{
    __ubsan_handle_alignment_assumption(data, address, alignment, offset);
}

/* checks.h - the functions that a compiler calls around each access when it is told to look for races
 * (-fsanitize=thread) and for addresses that are not aligned: here the program checks the access.
 * Compiled only into the checked build, whose threads run in one process, one at a time.
 *
 * Most accesses are reads of threadIdx and its like, and to the running thread's stack: they are
 * passed over here. */
#ifdef EMU_CHECKED
#define EMU_CALLED EMU_UNCHECKED __attribute__((__visibility__("hidden")))
#define EMU_CALLER __builtin_return_address(0)
#define EMU_TEXT_(text) #text
#define EMU_TEXT(text) EMU_TEXT_(text)
#define EMU_SYMBOL(name) __asm__(EMU_TEXT(__USER_LABEL_PREFIX__) name)

enum { EMU_STACK_WINDOW = 128 << 10 }; /* nothing but a stack is so near above its end */

extern "C" __attribute__((__visibility__("hidden"))) char __start_emu_index[], __stop_emu_index[];

EMU_UNCHECKED static inline __attribute__((__always_inline__)) bool
emu_is_within(const void *address, const void *begin, size_t bytes)
{
    return (size_t)((const char *)address - (const char *)begin) < bytes;
}

/* One function, not a part of each that calls it: those are many, and take long to compile. */
EMU_UNCHECKED static __attribute__((__noinline__)) void
emu_check(const void *address, size_t bytes, int kind, const void *pc, const void *stack)
{
    if (emu_is_within(address, stack, EMU_STACK_WINDOW)) return;
    if (!(kind & EMU_WRITE)
        && emu_is_within(address, __start_emu_index,
                         (size_t)(__stop_emu_index - __start_emu_index)))
        return;
    emu_the_host->access(address, bytes, kind, pc);
}
#define EMU_CHECK(address, bytes, kind) \
    emu_check(address, bytes, kind, EMU_CALLER, __builtin_frame_address(0))

extern "C" {

/* ---- what is called when the object is loaded, and around functions ---- */

EMU_CALLED void __tsan_init() {}
EMU_CALLED void __tsan_func_entry(void *) {}
EMU_CALLED void __tsan_func_exit() {}
EMU_CALLED void __tsan_ignore_thread_begin() {}
EMU_CALLED void __tsan_ignore_thread_end() {}

/* ---- reads and writes ---- */

#define EMU_ACCESS(name, bytes, kind) \
    EMU_CALLED void __tsan_##name(void *address) { EMU_CHECK(address, bytes, kind); }
#define EMU_ACCESSES(n)                                                             \
    EMU_ACCESS(read##n, n, EMU_READ)                                                \
    EMU_ACCESS(write##n, n, EMU_WRITE)                                              \
    EMU_ACCESS(read_write##n, n, EMU_READ | EMU_WRITE)                              \
    EMU_ACCESS(volatile_read##n, n, EMU_READ | EMU_VOLATILE)                        \
    EMU_ACCESS(volatile_write##n, n, EMU_WRITE | EMU_VOLATILE)                      \
    EMU_ACCESS(unaligned_read##n, n, EMU_READ | EMU_PACKED)                         \
    EMU_ACCESS(unaligned_write##n, n, EMU_WRITE | EMU_PACKED)                       \
    EMU_ACCESS(unaligned_read_write##n, n, EMU_READ | EMU_WRITE | EMU_PACKED)       \
    EMU_ACCESS(unaligned_volatile_read##n, n, EMU_READ | EMU_VOLATILE | EMU_PACKED) \
    EMU_ACCESS(unaligned_volatile_write##n, n, EMU_WRITE | EMU_VOLATILE | EMU_PACKED)
EMU_ACCESSES(1)
EMU_ACCESSES(2)
EMU_ACCESSES(4)
EMU_ACCESSES(8)
EMU_ACCESSES(16)

EMU_CALLED void __tsan_read_range(void *address, unsigned long bytes)
{
    EMU_CHECK(address, bytes, EMU_READ | EMU_PACKED);
}
EMU_CALLED void __tsan_write_range(void *address, unsigned long bytes)
{
    EMU_CHECK(address, bytes, EMU_WRITE | EMU_PACKED);
}
EMU_CALLED void __tsan_vptr_update(void **address, void *)
{
    EMU_CHECK(address, sizeof *address, EMU_WRITE);
}
EMU_CALLED void __tsan_vptr_read(void **address) { EMU_CHECK(address, sizeof *address, EMU_READ); }

/* The C library's, which compilers call for copies of structures as well; some by other names. */
#define EMU_COPY(name, symbol)                                                      \
    EMU_CALLED void *name(void *to, const void *from, size_t n) EMU_SYMBOL(symbol); \
    EMU_CALLED void *name(void *to, const void *from, size_t n)                     \
    {                                                                               \
        EMU_CHECK(from, n, EMU_READ | EMU_PACKED);                                  \
        EMU_CHECK(to, n, EMU_WRITE | EMU_PACKED);                                   \
        return emu_the_host->move(to, from, n);                                     \
    }
#define EMU_FILL(name, symbol)                                               \
    EMU_CALLED void *name(void *to, int value, size_t n) EMU_SYMBOL(symbol); \
    EMU_CALLED void *name(void *to, int value, size_t n)                     \
    {                                                                        \
        EMU_CHECK(to, n, EMU_WRITE | EMU_PACKED);                            \
        return emu_the_host->fill(to, value, n);                             \
    }
EMU_COPY(emu_memcpy, "memcpy")
EMU_COPY(emu_memmove, "memmove")
EMU_FILL(emu_memset, "memset")
EMU_COPY(emu_tsan_memcpy, "__tsan_memcpy")
EMU_COPY(emu_tsan_memmove, "__tsan_memmove")
EMU_FILL(emu_tsan_memset, "__tsan_memset")

#define EMU_COMPARE_BYTES(name, symbol)                                             \
    EMU_CALLED int name(const void *a, const void *b, size_t n) EMU_SYMBOL(symbol); \
    EMU_CALLED int name(const void *a, const void *b, size_t n)                     \
    {                                                                               \
        EMU_CHECK(a, n, EMU_READ | EMU_PACKED);                                     \
        EMU_CHECK(b, n, EMU_READ | EMU_PACKED);                                     \
        return emu_the_host->compare(a, b, n);                                      \
    }
#define EMU_SINE_AND_COSINE(name, host_name, type)                                 \
    EMU_CALLED void name(type x, type *sine, type *cosine) EMU_SYMBOL(#host_name); \
    EMU_CALLED void name(type x, type *sine, type *cosine)                         \
    {                                                                              \
        EMU_CHECK(sine, sizeof *sine, EMU_WRITE);                                  \
        EMU_CHECK(cosine, sizeof *cosine, EMU_WRITE);                              \
        emu_the_host->host_name(x, sine, cosine);                                  \
    }
EMU_COMPARE_BYTES(emu_memcmp, "memcmp")
EMU_COMPARE_BYTES(emu_bcmp, "bcmp")
EMU_SINE_AND_COSINE(emu_sincos, sincos, double)
EMU_SINE_AND_COSINE(emu_sincosf, sincosf, float)
EMU_CALLED size_t emu_strlen(const char *text) EMU_SYMBOL("strlen");
EMU_CALLED size_t emu_strlen(const char *text)
{
    for (size_t n = 0;; n++) { /* before the host reads it */
        EMU_CHECK(text + n, 1, EMU_READ);
        if (((const volatile char *)text)[n] == 0) return n;
    }
}

/* ---- atomics: no two threads run at a time, so plain operations do ---- */

#define EMU_UPDATE(bits, type, name, expression)                                           \
    EMU_CALLED type __tsan_atomic##bits##_##name(volatile type *at, type value, int order) \
    {                                                                                      \
        if (order >= __ATOMIC_RELEASE) emu_the_host->fence();                              \
        EMU_CHECK((const void *)at, sizeof value, EMU_READ | EMU_WRITE | EMU_ATOMIC);      \
        const type old = *at;                                                              \
        *at = (type)(expression);                                                          \
        return old;                                                                        \
    }
#define EMU_COMPARE(bits, type, name)                                                 \
    EMU_CALLED bool __tsan_atomic##bits##_compare_exchange_##name(                    \
        volatile type *at, type *expected, type value, int order, int)                \
    {                                                                                 \
        if (order >= __ATOMIC_RELEASE) emu_the_host->fence();                         \
        EMU_CHECK((const void *)at, sizeof value, EMU_READ | EMU_WRITE | EMU_ATOMIC); \
        const type old = *at;                                                         \
        if (old == *expected) {                                                       \
            *at = value;                                                              \
            return true;                                                              \
        }                                                                             \
        *expected = old;                                                              \
        return false;                                                                 \
    }
#define EMU_ATOMICS(bits, type)                                                                  \
    EMU_CALLED type __tsan_atomic##bits##_load(const volatile type *at, int)                     \
    {                                                                                            \
        EMU_CHECK((const void *)at, sizeof *at, EMU_READ | EMU_ATOMIC);                          \
        return *at;                                                                              \
    }                                                                                            \
    EMU_CALLED void __tsan_atomic##bits##_store(volatile type *at, type value, int order)        \
    {                                                                                            \
        if (order >= __ATOMIC_RELEASE) emu_the_host->fence();                                    \
        EMU_CHECK((const void *)at, sizeof *at, EMU_WRITE | EMU_ATOMIC);                         \
        *at = value;                                                                             \
    }                                                                                            \
    EMU_UPDATE(bits, type, exchange, value)                                                      \
    EMU_UPDATE(bits, type, fetch_add, old + value)                                               \
    EMU_UPDATE(bits, type, fetch_sub, old - value)                                               \
    EMU_UPDATE(bits, type, fetch_and, old &value)                                                \
    EMU_UPDATE(bits, type, fetch_or, old | value)                                                \
    EMU_UPDATE(bits, type, fetch_xor, old ^ value)                                               \
    EMU_UPDATE(bits, type, fetch_nand, ~(old & value))                                           \
    EMU_COMPARE(bits, type, strong)                                                              \
    EMU_COMPARE(bits, type, weak)                                                                \
    EMU_CALLED type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, \
                                                               type value, int order, int)       \
    {                                                                                            \
        if (order >= __ATOMIC_RELEASE) emu_the_host->fence();                                    \
        EMU_CHECK((const void *)at, sizeof value, EMU_READ | EMU_WRITE | EMU_ATOMIC);            \
        const type old = *at;                                                                    \
        if (old == expected) *at = value;                                                        \
        return old;                                                                              \
    }
EMU_ATOMICS(8, unsigned char)
EMU_ATOMICS(16, unsigned short)
EMU_ATOMICS(32, unsigned)
EMU_ATOMICS(64, unsigned long)

EMU_CALLED void __tsan_atomic_thread_fence(int) { emu_the_host->fence(); }
EMU_CALLED void __tsan_atomic_signal_fence(int) {}

/* ---- alignment ---- */

struct emu_misaligned {
    const char *file;
    unsigned line, column;
    const void *type;
    unsigned char log_alignment, kind;
};

EMU_CALLED void __ubsan_handle_type_mismatch_v1(void *data, void *address)
{
    const emu_misaligned *what = (const emu_misaligned *)data;
    if (emu_the_host)
        emu_the_host->misaligned(address, (size_t)1 << what->log_alignment, what->file, what->line);
}
EMU_CALLED void __ubsan_handle_type_mismatch_v1_abort(void *data, void *address)
{
    __ubsan_handle_type_mismatch_v1(data, address);
}
/* __builtin_assume_aligned of clang. Its data begin with the same place. */
EMU_CALLED void __ubsan_handle_alignment_assumption(void *data, void *address, size_t alignment,
                                                    size_t)
{
    const emu_misaligned *what = (const emu_misaligned *)data;
    if (emu_the_host) emu_the_host->misaligned(address, alignment, what->file, what->line);
}
EMU_CALLED void __ubsan_handle_alignment_assumption_abort(void *data, void *address,
                                                          size_t alignment, size_t offset)
{
    __ubsan_handle_alignment_assumption(data, address, alignment, offset);
}

} // extern "C"
#endif

/* memory.h - fences, loads and stores that name a cache, clocks, printf, assert and __trap. */
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

/* No cache is simulated here. */
#define EMU_LOAD(name) \
    template <typename EmuValue> static inline EmuValue name(const EmuValue *from) { return *from; }
#define EMU_STORE(name)                                                                           \
    template <typename EmuValue> static inline void name(EmuValue *to, emu_plain<EmuValue> value) \
    {                                                                                             \
        *to = value;                                                                              \
    }
template <typename EmuValue> struct emu_same {
    typedef EmuValue type;
};
/* A parameter from which no template argument is deduced: 0 is a float for a float pointer. */
template <typename EmuValue> using emu_plain = typename emu_same<EmuValue>::type;
EMU_LOAD(__ldg)
EMU_LOAD(__ldca)
EMU_LOAD(__ldcg)
EMU_LOAD(__ldcs)
EMU_LOAD(__ldcv)
EMU_LOAD(__ldlu)
EMU_STORE(__stwb)
EMU_STORE(__stwt)
EMU_STORE(__stcg)
EMU_STORE(__stcs)

extern "C" void *memcpy(void *to, const void *from, size_t bytes);
extern "C" void *memset(void *to, int byte, size_t bytes);

static inline unsigned __isShared(const void *address) { return emu_is_shared(address); }
static inline unsigned __isGlobal(const void *address) { return !emu_is_shared(address); }

/* ---- time ---- */

static inline long long emu_ticks()
{
#if defined __x86_64__
    return (long long)__builtin_ia32_rdtsc();
#elif defined __aarch64__
    long long ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    static long long ticks;
    return ticks += 100;
#endif
}
static inline long long clock64() { return emu_ticks(); }
typedef long clock_t;
static inline clock_t clock() { return (int)emu_ticks(); }
static inline void __nanosleep(unsigned) {}

/* ---- messages and ends ---- */

namespace emu
{
static inline __attribute__((__format__(__printf__, 1, 2))) int printf(const char *format, ...)
{
    __builtin_va_list values;
    __builtin_va_start(values, format);
    int n = emu_print(format, values);
    __builtin_va_end(values);
    return n;
}
} // namespace emu

static inline void __trap() { emu_trap("__trap() was called"); }
static inline void __brkpt() {}

/* As CUDA's: the message has the block and the thread. */
static inline void emu_assert_fails(const char *text, const char *file, int line,
                                    const char *function)
{
    emu::printf("%s:%d: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
                line, function, blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y,
                threadIdx.z, text);
    emu_trap("an assertion failed");
}
#if defined NDEBUG
#define assert(...) ((void)0)
#else
#define assert(...) \
    ((__VA_ARGS__) ? (void)0 : emu_assert_fails(#__VA_ARGS__, __FILE__, __LINE__, __func__))
#endif

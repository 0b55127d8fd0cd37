/* atomics.h - atomic operations, by real atomic instructions: several processes share the tensors.
 *
 * Of what blocks do with them, some depends on which block is first. So that results are the same
 * each time, a kernel that has one is run by one process: emu_mark_ordered leaves a section
 * "emu_ordered" in its object. EMU_ATOMIC tells the checked build that the access is atomic. */
#ifndef EMU_ATOMIC
#define EMU_ATOMIC(address, bytes)
#endif

static inline __attribute__((always_inline)) void emu_mark_ordered()
{
    __asm__ volatile(".pushsection emu_ordered,\"a\"\n\t.byte 1\n\t.popsection");
}

#define EMU_BEGIN_ATOMIC(address) \
    emu_mark_ordered();           \
    EMU_ATOMIC(address, sizeof *(address))

/* What the address held becomes `change` of it; gives what it held. EmuInt is as wide as EmuValue. */
template <typename EmuInt, typename EmuValue, typename EmuChange>
static inline EmuValue emu_atomic_change(EmuValue *address, EmuChange change)
{
    EmuInt *bits = (EmuInt *)address, old = __atomic_load_n(bits, __ATOMIC_RELAXED), next;
    do
        next = emu_bits_as<EmuInt>(change(emu_bits_as<EmuValue>(old)));
    while (
        !__atomic_compare_exchange_n(bits, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return emu_bits_as<EmuValue>(old);
}

/* For blocks, a GPU and all GPUs: one instruction is all of them. */
#define EMU_SCOPES(name, type)                                                                  \
    static inline type name##_block(type *address, type value) { return name(address, value); } \
    static inline type name##_system(type *address, type value) { return name(address, value); }
#define EMU_FETCH(name, type, operation)                    \
    static inline type name(type *address, type value)      \
    {                                                       \
        EMU_BEGIN_ATOMIC(address);                          \
        return operation(address, value, __ATOMIC_RELAXED); \
    }                                                       \
    EMU_SCOPES(name, type)
#define EMU_CHANGE(name, type, bits, change)                                               \
    static inline type name(type *address, type value)                                     \
    {                                                                                      \
        EMU_BEGIN_ATOMIC(address);                                                         \
        return emu_atomic_change<bits>(address, [=](type old) -> type { return change; }); \
    }                                                                                      \
    EMU_SCOPES(name, type)
#define EMU_SWAP(type)                                                                 \
    static inline type atomicCAS(type *address, type compare, type value)              \
    {                                                                                  \
        EMU_BEGIN_ATOMIC(address);                                                     \
        __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, \
                                    __ATOMIC_RELAXED);                                 \
        return compare;                                                                \
    }                                                                                  \
    static inline type atomicCAS_block(type *address, type compare, type value)        \
    {                                                                                  \
        return atomicCAS(address, compare, value);                                     \
    }                                                                                  \
    static inline type atomicCAS_system(type *address, type compare, type value)       \
    {                                                                                  \
        return atomicCAS(address, compare, value);                                     \
    }

EMU_FETCH(atomicAdd, int, __atomic_fetch_add)
EMU_FETCH(atomicAdd, unsigned, __atomic_fetch_add)
EMU_FETCH(atomicAdd, unsigned long long, __atomic_fetch_add)
EMU_CHANGE(atomicAdd, float, unsigned, old + value)
EMU_CHANGE(atomicAdd, double, uint64_t, old + value)
EMU_FETCH(atomicSub, int, __atomic_fetch_sub)
EMU_FETCH(atomicSub, unsigned, __atomic_fetch_sub)
EMU_FETCH(atomicExch, int, __atomic_exchange_n)
EMU_FETCH(atomicExch, unsigned, __atomic_exchange_n)
EMU_FETCH(atomicExch, unsigned long long, __atomic_exchange_n)
EMU_CHANGE(atomicExch, float, unsigned, value)
EMU_SWAP(int)
EMU_SWAP(unsigned)
EMU_SWAP(unsigned long long)
EMU_SWAP(unsigned short)
EMU_CHANGE(atomicInc, unsigned, unsigned, old >= value ? 0 : old + 1)
EMU_CHANGE(atomicDec, unsigned, unsigned, old == 0 || old > value ? value : old - 1)

#define EMU_BITS_AND_ORDER(type, bits)                           \
    EMU_FETCH(atomicAnd, type, __atomic_fetch_and)               \
    EMU_FETCH(atomicOr, type, __atomic_fetch_or)                 \
    EMU_FETCH(atomicXor, type, __atomic_fetch_xor)               \
    EMU_CHANGE(atomicMin, type, bits, value < old ? value : old) \
    EMU_CHANGE(atomicMax, type, bits, value > old ? value : old)
EMU_BITS_AND_ORDER(int, unsigned)
EMU_BITS_AND_ORDER(unsigned, unsigned)
EMU_BITS_AND_ORDER(unsigned long long, uint64_t)
EMU_CHANGE(atomicMin, long long, uint64_t, value < old ? value : old)
EMU_CHANGE(atomicMax, long long, uint64_t, value > old ? value : old)

/* atomics.h - atomic operations, by real atomic instructions: several processes share the tensors.
 *
 * Of what blocks do with them, some depends on which block is first. So that results are the same
 * each time, a kernel that has one is run by one process: emu_mark_ordered leaves a section
 * "emu_ordered" in its object. */

static inline __attribute__((__always_inline__)) void emu_mark_ordered()
{
    __asm__ volatile(".pushsection emu_ordered,\"a\"\n\t.byte 1\n\t.popsection");
}

/* What the address held becomes `change` of it; gives what it held. EmuInt is as wide as
 * EmuValue. */
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

#define EMU_FETCH(name, type, operation)                    \
    static inline type name(type *address, type value)      \
    {                                                       \
        emu_mark_ordered();                                 \
        return operation(address, value, __ATOMIC_RELAXED); \
    }
#define EMU_CHANGE(name, type, bits, change)                                               \
    static inline type name(type *address, type value)                                     \
    {                                                                                      \
        emu_mark_ordered();                                                                \
        return emu_atomic_change<bits>(address, [=](type old) -> type { return change; }); \
    }
#define EMU_SWAP(type)                                                                 \
    static inline type atomicCAS(type *address, type compare, type value)              \
    {                                                                                  \
        emu_mark_ordered();                                                            \
        __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, \
                                    __ATOMIC_RELAXED);                                 \
        return compare;                                                                \
    }

EMU_FETCH(atomicAdd, int, __atomic_fetch_add)
EMU_FETCH(atomicAdd, unsigned, __atomic_fetch_add)
EMU_FETCH(atomicAdd, unsigned long long, __atomic_fetch_add)
EMU_CHANGE(atomicAdd, float, unsigned, old + emu_as_it_is(value))
EMU_CHANGE(atomicAdd, double, uint64_t, old + emu_as_it_is(value))
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

/* For the block, and for all GPUs: one instruction is all of them. */
#define atomicAdd_block atomicAdd
#define atomicAdd_system atomicAdd
#define atomicSub_block atomicSub
#define atomicSub_system atomicSub
#define atomicExch_block atomicExch
#define atomicExch_system atomicExch
#define atomicMin_block atomicMin
#define atomicMin_system atomicMin
#define atomicMax_block atomicMax
#define atomicMax_system atomicMax
#define atomicInc_block atomicInc
#define atomicInc_system atomicInc
#define atomicDec_block atomicDec
#define atomicDec_system atomicDec
#define atomicCAS_block atomicCAS
#define atomicCAS_system atomicCAS
#define atomicAnd_block atomicAnd
#define atomicAnd_system atomicAnd
#define atomicOr_block atomicOr
#define atomicOr_system atomicOr
#define atomicXor_block atomicXor
#define atomicXor_system atomicXor

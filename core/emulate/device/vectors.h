/* vectors.h - char1 to double4 and make_char1() to make_double4(), with CUDA's alignments. uint3
 * and dim3 are in language.h. */
struct __half; /* of cuda_fp16.h and cuda_bf16.h: named where a kernel lacks them */
struct __nv_bfloat16;

template <typename EmuTo, typename EmuFrom> static inline EmuTo emu_bits_as(EmuFrom from)
{
    EmuTo to;
    static_assert(sizeof to == sizeof from, "bits are taken as another type of the same size");
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

#define EMU_VECTOR_MAKE(name, type)                                                              \
    static inline name##1 make_##name##1(type x) { return name##1 { x }; }                       \
    static inline name##2 make_##name##2(type x, type y) { return name##2 { x, y }; }            \
    static inline name##3 make_##name##3(type x, type y, type z) { return name##3 { x, y, z }; } \
    static inline name##4 make_##name##4(type x, type y, type z, type w)                         \
    {                                                                                            \
        return name##4 { x, y, z, w };                                                           \
    }
#define EMU_VECTOR_124(name, type, align2, align4)   \
    struct name##1 { type x; };                      \
    struct __align__(align2) name##2 { type x, y; }; \
    struct __align__(align4) name##4 { type x, y, z, w; };
#define EMU_VECTOR(name, type, align2, align4) \
    EMU_VECTOR_124(name, type, align2, align4) \
    struct name##3 { type x, y, z; };          \
    EMU_VECTOR_MAKE(name, type)

EMU_VECTOR(char, signed char, 2, 4)
EMU_VECTOR(uchar, unsigned char, 2, 4)
EMU_VECTOR(short, short, 4, 8)
EMU_VECTOR(ushort, unsigned short, 4, 8)
EMU_VECTOR(int, int, 8, 16)
EMU_VECTOR_124(uint, unsigned, 8, 16)
EMU_VECTOR_MAKE(uint, unsigned)
EMU_VECTOR(long, long, 16, 16)
EMU_VECTOR(ulong, unsigned long, 16, 16)
EMU_VECTOR(longlong, long long, 16, 16)
EMU_VECTOR(ulonglong, unsigned long long, 16, 16)
EMU_VECTOR(float, float, 8, 16)
EMU_VECTOR(double, double, 16, 16)

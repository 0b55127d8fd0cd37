/* half.h - cuda_fp16.h: __half and __half2. What they share with bfloat16 is in narrow.h. */
#ifndef EMU_HALF_H
#define EMU_HALF_H

/* To the nearest, and to the even one of two. NaN is the one that GPUs make. */
static inline unsigned short emu_half_nearest(float x)
{
    unsigned bits = emu_bits_as<unsigned>(x), size = bits & 0x7fffffff;
    unsigned normal = (size + 0xfff + (size >> 13 & 1) - (112u << 23)) >> 13;
    /* Beside 0.5 a float's last bit is the last one of the smallest halves: the sum rounds. */
    unsigned small = emu_bits_as<unsigned>(emu_bits_as<float>(size) + 0.5f) - 0x3f000000;
    unsigned half = size < 0x38800000 ? small : normal;
    half = size >= 0x477ff000 ? 0x7c00 : half; /* 65520 */
    half |= bits >> 16 & 0x8000;
    return (unsigned short)(size > 0x7f800000 ? 0x7fff : half);
}
static inline float emu_half_value(unsigned short half)
{
    unsigned size = half & 0x7fffu, sign = (half & 0x8000u) << 16;
    unsigned bits = emu_bits_as<unsigned>(emu_bits_as<float>(size << 13) * 0x1p112f);
    bits = size >= 0x7c00 ? 0x7f800000 : bits;
    return emu_bits_as<float>(size > 0x7c00 ? 0x7fffffff : bits | sign);
}

#define EMU_NARROW __half
#define EMU_NARROW2 __half2
#define EMU_NARROW_RAW __half_raw
#define EMU_NARROW2_RAW __half2_raw
#define EMU_NARROW_NAME(before, after) before##half##after
#define EMU_NARROW2_NAME(before, after) before##half2##after
#define EMU_NARROW_NEAREST emu_half_nearest
#define EMU_NARROW_VALUE emu_half_value
#define EMU_NARROW_BOTH __half2half2
#define EMU_NARROW_EXACT float /* holds a product as it is */
#include "streamlab_narrow.h"

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif

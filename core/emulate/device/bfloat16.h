/* bfloat16.h - cuda_bf16.h: __nv_bfloat16 and __nv_bfloat162. What they share with half is in
 * narrow.h. */
#ifndef EMU_BFLOAT16_H
#define EMU_BFLOAT16_H

/* To the nearest, and to the even one of two. NaN is the one that GPUs make. */
static inline unsigned short emu_bfloat16_nearest(float x)
{
    unsigned bits = emu_bits_as<unsigned>(x);
    unsigned nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (unsigned short)((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : nearest);
}
static inline float emu_bfloat16_value(unsigned short bits)
{
    return emu_bits_as<float>((unsigned)bits << 16);
}

#define EMU_NARROW __nv_bfloat16
#define EMU_NARROW2 __nv_bfloat162
#define EMU_NARROW_RAW __nv_bfloat16_raw
#define EMU_NARROW2_RAW __nv_bfloat162_raw
#define EMU_NARROW_NAME(before, after) before##bfloat16##after
#define EMU_NARROW2_NAME(before, after) before##bfloat162##after
#define EMU_NARROW_NEAREST emu_bfloat16_nearest
#define EMU_NARROW_VALUE emu_bfloat16_value
#define EMU_NARROW_BOTH __bfloat162bfloat162
#define EMU_NARROW_EXACT double /* holds a product as it is */
#include "streamlab_narrow.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#endif

/* source_names.c - the names that the source of an untrusted kernel may have, and its file. */
#include <stdlib.h>
#include <string.h>

#include "source_check.h"

/* CUDA's names with two underscores in front, without them; "*" stands for any rest. All others are
 * a compiler's own, and some of those write assembly or open files: __asm__, __attribute__,
 * __has_include, the macros of the C library's headers. Words of a text, sorted. */
static const char cudas[] =
    "CUDACC__ CUDACC_RTC__ CUDACC_VER_MAJOR__ CUDACC_VER_MINOR__ CUDA_ARCH__ FILE__ LINE__ "
    "NVCC__ VA_ARGS__ VA_OPT__ activemask align__ all_sync any_sync ballot_sync bfloat1* "
    "brev brevll byte_perm clz clzll cluster_dims__ constant__ cosf cplusplus device__ "
    "double2* double_as_longlong dp2a_hi dp2a_lo dp4a exp10f expf fdividef ffs ffsll "
    "float22* float2* float_as_int float_as_uint floats2* fns forceinline__ frsqrt_rn func__ "
    "funnelshift_l funnelshift_lc funnelshift_r funnelshift_rc global__ grid_constant__ "
    "h2div habs* hadd* half half2 half22* half2half2 half2* half_as_* half_raw halves2* "
    "hbeq* hbge* hbgt* hble* hblt* hbne* hdiv* heq* hequ* hfma* hge* hgt* high* "
    "hiloint2double hisinf hisnan* hle* hlt* hmax* hmin* hmul* hne* hneg* host__ hsub* "
    "inline__ int2* int_as_float isGlobal isShared launch_bounds__ ldca ldcg ldcs ldcv ldg "
    "ldlu ll2* log10f log2f logf longlong_as_double low2* lowhigh2highlow lows2* highs2* "
    "managed__ match_all_sync match_any_sync maxnreg__ mul24 mul64hi mulhi nanosleep "
    "noinline__ nv_bfloat16 nv_bfloat162 nv_bfloat162_raw nv_bfloat16_raw popc popcll powf "
    "reduce_add_sync reduce_and_sync reduce_max_sync reduce_min_sync reduce_or_sync "
    "reduce_xor_sync restrict restrict__ rhadd sad saturatef shared__ shfl_down_sync "
    "shfl_sync shfl_up_sync shfl_xor_sync short2* short_as_* sincosf sinf stcg stcs stwb "
    "stwt syncthreads syncthreads_and syncthreads_count syncthreads_or syncwarp tanf tanhf "
    "threadfence threadfence_block threadfence_system trap uhadd uint2* uint_as_float ull2* "
    "umul24 umul64hi umulhi urhadd usad ushort2* ushort_as_* vabsdiff* vadd* vcmp* vmax* "
    "vmin* vsub*";

/* Without underscores: assembly; modules; the owners of attributes, and attributes whose text goes
 * into the assembly, whose function runs when a library is loaded, or whose function is not checked
 * (a macro of a header may have __attribute__ in it); "*" as above. */
static const char refused[] =
    "alias asm clang constructor destructor export gnu ifunc import omp section symver "
    "no_sanitize* no_instrument_function disable_sanitizer_instrumentation weakref";

bool sl__source_is_listed(const char *words, const char *name)
{
    for (size_t n; *words; words += n + strspn(words + n, " ")) {
        n = strcspn(words, " ");
        bool any_rest = words[n - 1] == '*';
        if (strncmp(words, name, n - any_rest) == 0 && (any_rest || !name[n])) return true;
    }
    return false;
}

/* __fadd_rn, __dmul_rz, __fsqrt_ru: what CUDA has for each way of rounding. */
static bool is_rounded(const char *name)
{
    static const char *const kinds[] = { "fadd", "fsub", "fmul", "fmaf", "fdiv", "frcp", "fsqrt",
                                         "dadd", "dsub", "dmul", "fma",  "ddiv", "drcp", "dsqrt" };
    size_t n = strlen(name);
    if (n < 4 || name[n - 3] != '_' || name[n - 2] != 'r' || !strchr("nzud", name[n - 1]))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i]) == n - 3 && strncmp(kinds[i], name, n - 3) == 0) return true;
    return false;
}

/* What the emulator's own names begin with (core/emulate/device): with them a source could switch
 * checks off, or find out whether it is checked. */
bool sl_source_name_is_ours(const char *name)
{
    return sl__source_is_listed("EMU_* emu_* Emu* emu", name);
}

bool sl_source_name_is_fine(const char *name)
{
    if (sl_source_name_is_ours(name)) return false;
    if (name[0] == '_' && name[1] == '_')
        return sl__source_is_listed(cudas, name + 2) || is_rounded(name + 2);
    if (name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z') return false; /* _Pragma */
    return !sl__source_is_listed(refused, name);
}

/* "??" may begin a trigraph. */
bool sl_source_file_is_plain(const char *file)
{
    for (const char *c = file; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f || *c == '"' || *c == '\\'
            || (*c == '?' && c[1] == '?'))
            return false;
    return *file != '\0';
}

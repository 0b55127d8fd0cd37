/* runtime.h - what the run time does for the functions of the other files: it lets the threads of a
 * warp, a block or a grid meet. `line` is the line of the source that calls. */
enum emu_warp_op {
    EMU_WARP_SYNC,
    EMU_WARP_SHUFFLE, /* the value of the lane that is given, 0 to 31 */
    EMU_WARP_BALLOT,  /* a mask of the lanes whose value is not 0 */
    EMU_WARP_MATCH,   /* a mask of the lanes whose value is this one's */
    EMU_WARP_ACTIVE   /* a mask of the lanes that are here; they do not wait */
};

static uint64_t emu_warp(int op, unsigned mask, uint64_t value, int lane, int line);
/* out[lane] is the value of each lane in the mask. */
static void emu_warp_gather(unsigned mask, uint64_t value, uint64_t out[32], int line);
static void emu_syncthreads(int line);
static int emu_syncthreads_count(int predicate, int line);
static void emu_grid_sync(int line);
/* Ends the launch with this sentence. */
static void emu_trap(const char *why) __attribute__((noreturn));
static bool emu_is_shared(const void *address);

/* blocks.h - runs a block. Compiled behind the user's source and emu_bind_kernel(), which gives
 * what calls the kernel once.
 *
 * One fiber runs one thread after another; what is left of the row (the threads along x) is in
 * static variables, since another fiber goes on with it when a thread waits. A compiler that sees
 * that the kernel never waits makes a plain loop of it, and vectors of that. For those it needs to
 * know that an index of 32 bits does not begin again at 0 within a row. */
EMU_STATE static unsigned emu_next_x, emu_row, emu_rows;
EMU_STATE static bool emu_moved; /* another fiber has run: threadIdx may be another row's */

EMU_STATE static unsigned emu_following; /* blocks that run behind this one by themselves */

/* When a thread faults, its number must lie in memory; and each thread reads for itself. */
#ifdef EMU_CHECKED
#define EMU_KEEP(variable) __asm__ volatile("" : "+m"(variable) : : "memory")
#else
#define EMU_KEEP(variable)
#endif

enum { EMU_MOST_THREADS = 1024, EMU_NEAR = 0x70000000 };

/* `near`: indices of threads along x are below EMU_NEAR. */
EMU_UNCHECKED static inline __attribute__((__always_inline__)) void emu_run_rows(bool near)
{
    const auto call_kernel = emu_bind_kernel();
    while (emu_row < emu_rows) {
        const unsigned n = blockDim.x, first = emu_next_x;
        if (n > EMU_MOST_THREADS || first > EMU_MOST_THREADS) __builtin_unreachable();
        if (near && blockIdx.x * blockDim.x > EMU_NEAR) __builtin_unreachable();
        emu_moved = false;
        threadIdx.y = emu_row % blockDim.y;
        threadIdx.z = emu_row / blockDim.y;
        for (unsigned x = first; x < n && !emu_moved; x++) {
            threadIdx.x = x;
            emu_next_x = x + 1;
            EMU_KEEP(threadIdx.x);
            call_kernel();
        }
        if (emu_next_x < blockDim.x) continue;
        emu_row++;
        emu_next_x = 0;
    }
}

/* In the order of their numbers. */
EMU_UNCHECKED static inline void emu_next_block()
{
    emu_following--;
    emu_row = emu_next_x = 0;
    if (++blockIdx.x < gridDim.x) return;
    blockIdx.x = 0;
    if (++blockIdx.y < gridDim.y) return;
    blockIdx.y = 0;
    blockIdx.z++;
}

/* When a thread waits, the host lets no block follow. When one faults, the block's index must lie
 * in memory. */
EMU_UNCHECKED static void emu_run_threads()
{
    for (;; emu_next_block()) {
        __asm__ volatile(""
                         : "+m"(blockIdx.x), "+m"(blockIdx.y), "+m"(blockIdx.z),
                           "+m"(emu_following));
        if ((unsigned long long)blockIdx.x * blockDim.x <= EMU_NEAR)
            emu_run_rows(true);
        else
            emu_run_rows(false);
        if (emu_following == 0) return;
    }
}

EMU_UNCHECKED static void emu_follow(unsigned blocks) { emu_following = blocks; }

EMU_UNCHECKED static unsigned emu_stay(unsigned block[3])
{
    const unsigned left = emu_following;
    emu_following = 0;
    block[0] = blockIdx.x;
    block[1] = blockIdx.y;
    block[2] = blockIdx.z;
    return left;
}

EMU_UNCHECKED static void emu_begin_block(const unsigned block[3], int fresh)
{
    blockIdx.x = block[0];
    blockIdx.y = block[1];
    blockIdx.z = block[2];
    emu_rows = blockDim.y * blockDim.z;
    emu_row = fresh ? 0 : emu_rows;
    emu_next_x = 0;
}

EMU_UNCHECKED static void emu_get_thread(unsigned thread[3])
{
    thread[0] = threadIdx.x;
    thread[1] = threadIdx.y;
    thread[2] = threadIdx.z;
}

EMU_UNCHECKED static void emu_set_thread(const unsigned thread[3])
{
    threadIdx.x = thread[0];
    threadIdx.y = thread[1];
    threadIdx.z = thread[2];
    emu_moved = true;
}

EMU_UNCHECKED static void emu_set_launch(const emu_launch *launch)
{
    emu_the_host = launch->host; /* first: copies call it in the checked build */
    gridDim.x = launch->grid[0];
    gridDim.y = launch->grid[1];
    gridDim.z = launch->grid[2];
    blockDim.x = launch->block[0];
    blockDim.y = launch->block[1];
    blockDim.z = launch->block[2];
    emu_set_args(launch->args);
}

extern "C" __attribute__((__visibility__("default"))) const emu_entry *emu_image_entry()
{
    static const emu_entry entry = { EMU_ABI,        emu_set_launch,  emu_begin_block,
                                     emu_follow,     emu_run_threads, emu_stay,
                                     emu_get_thread, emu_set_thread };
    return &entry;
}

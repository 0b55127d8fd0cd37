/* blocks.h - runs a block. Compiled behind the user's source and emu_call_kernel(), which calls the
 * kernel once.
 *
 * One fiber runs one thread after another; what is left of the row (the threads along x) is in
 * static variables, since another fiber goes on with it when a thread waits. A compiler that sees
 * that the kernel never waits makes a plain loop of it. */
EMU_STATE static unsigned emu_next_x, emu_row, emu_rows;
EMU_STATE static bool emu_moved; /* another fiber has run: threadIdx may be another row's */

static void emu_run_threads()
{
    while (emu_row < emu_rows) {
        emu_moved = false;
        threadIdx.y = emu_row % blockDim.y;
        threadIdx.z = emu_row / blockDim.y;
        while (emu_next_x < blockDim.x && !emu_moved) {
            threadIdx.x = emu_next_x++;
            emu_call_kernel();
        }
        if (emu_next_x < blockDim.x) continue;
        emu_row++;
        emu_next_x = 0;
    }
}

static void emu_begin_block(const unsigned block[3], int fresh)
{
    blockIdx = uint3{ block[0], block[1], block[2] };
    emu_rows = blockDim.y * blockDim.z;
    emu_row = fresh ? 0 : emu_rows;
    emu_next_x = 0;
}

static void emu_get_thread(unsigned thread[3])
{
    thread[0] = threadIdx.x;
    thread[1] = threadIdx.y;
    thread[2] = threadIdx.z;
}

static void emu_set_thread(const unsigned thread[3])
{
    threadIdx = uint3{ thread[0], thread[1], thread[2] };
    emu_moved = true;
}

static void emu_set_launch(const emu_launch *launch)
{
    gridDim = uint3{ launch->grid[0], launch->grid[1], launch->grid[2] };
    blockDim = uint3{ launch->block[0], launch->block[1], launch->block[2] };
    emu_set_args(launch->args);
    emu_the_host = launch->host;
}

extern "C" __attribute__((visibility("default"))) const emu_entry *emu_image_entry()
{
    static const emu_entry entry = { EMU_ABI,         emu_set_launch, emu_begin_block,
                                     emu_run_threads, emu_get_thread, emu_set_thread };
    return &entry;
}

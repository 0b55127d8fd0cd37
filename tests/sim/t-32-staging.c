/* Copies of pageable memory to the device, behind other work of their stream: how much of them the
 * host stages before that is done. It fills 10000 bytes in 1000 ns, and the engine moves them in
 * as much. */
#include "lab.h"

#define PIECES \
    { "stage_bytes", 10000 }, { "h2d_async_bytes", 30000 }

/* Behind a kernel of 10000 ns. */
static void behind_a_kernel(const lab_setup *setup, int64_t bytes, int64_t call_ns, int64_t end_ns,
                            const char *name)
{
    lab l;
    lab_open(&l, setup);
    lab_spin(&l, 1, 10000);
    lab_copy(&l, 1, lab_bytes(&l, SL_ON_DEVICE, bytes), lab_bytes(&l, SL_PAGEABLE, bytes), bytes);
    lab_end(&l);
    is_int(lab_span(&l, 1)->host_end_ns - lab_span(&l, 1)->host_start_ns, call_ns, "%s", name);
    is_int(lab_span(&l, 1)->start_ns, 10000, "the copy itself follows the kernel");
    is_int(lab_span(&l, 1)->end_ns, end_ns, "and ends when the engine has all pieces");
    lab_close(&l);
}

static void an_idle_stream(void)
{
    const lab_setup setup = { LAB_MORE(PIECES, { "stage_buffers", 8 }) };
    lab l;
    lab_open(&l, &setup);
    lab_spin(&l, 1, 10000);
    lab_copy(&l, 2, lab_bytes(&l, SL_ON_DEVICE, 60000), lab_bytes(&l, SL_PAGEABLE, 60000), 60000);
    lab_end(&l);
    is_int(lab_span(&l, 1)->host_end_ns, 6000, "another stream's work does not hold it up");
    is_int(lab_span(&l, 1)->end_ns, 7000, "the engine is a piece behind the host");
    lab_close(&l);
}

int main(void)
{
    const lab_setup many = { LAB_MORE(PIECES, { "stage_buffers", 8 }) };
    const lab_setup few = { LAB_MORE(PIECES, { "stage_buffers", 2 }) };
    plan(0);
    behind_a_kernel(&many, 20000, 2000, 12000, "the host stages a small copy and goes on");
    behind_a_kernel(&many, 30000, 3000, 13000, "so it does one of h2d_async_bytes");
    behind_a_kernel(&many, 40000, 11000, 14000, "a piece more waits for the kernel");
    behind_a_kernel(&many, 60000, 13000, 16000,
                    "three pieces are staged by then, the others while the engine moves those");
    behind_a_kernel(&few, 30000, 12000, 13000, "no more is staged than the buffers hold");
    an_idle_stream();
    return done_testing();
}

/* generate.c - FILL, RAND and RANDN, a piece at a time: random numbers are floats on the stack,
 * then rounded to the dtype. */
#include "elements.h"

#include <string.h>

#include "philox.h"

enum { PIECE = 512 }; /* elements at a time */

static void random_floats(const sl_work *work, uint64_t first, size_t n, float *x)
{
    if (work->kernel == SL_KERNEL_RAND)
        philox_uniform(work->seed, work->sequence, first, n, x);
    else
        philox_normal(work->seed, work->sequence, first, n, x);
}

static void fill(const sl_work *work, size_t n, void *out)
{
    const size_t element_bytes = numbers_dtype_bytes((sl_dtype)work->dtype);
    const size_t piece = n < PIECE ? n : PIECE;
    uint8_t elements[PIECE * sizeof(double)];
    for (size_t i = 0; i < piece; i++)
        numbers_store_number(elements + i * element_bytes, work->scalar, (sl_dtype)work->dtype);
    for (size_t done = 0; done < n; done += PIECE) {
        size_t count = n - done < PIECE ? n - done : PIECE;
        memcpy((uint8_t *)out + done * element_bytes, elements, count * element_bytes);
    }
}

void numbers_generate(const sl_work *work, uint64_t first, size_t n, void *out)
{
    float x[PIECE];
    if (work->kernel == SL_KERNEL_FILL) {
        fill(work, n, out);
        return;
    }
    for (size_t done = 0; done < n; done += PIECE) {
        size_t count = n - done < PIECE ? n - done : PIECE;
        random_floats(work, first + done, count, x);
        numbers_store(out, x, (sl_dtype)work->dtype, (int64_t)done, count);
    }
}

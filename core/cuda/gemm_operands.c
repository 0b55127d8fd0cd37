/* gemm_operands.c - what is multiplied while a shape is measured: sets of operands and results.
 *
 * A product finds its operands in the device's memory or in its L2 cache, and which way of
 * multiplying is the fastest depends on that: for float32 matrices of 1024 x 1024 on an H100 one
 * took 0.95 of cublasSgemm's time with the same matrices again and again, and 0.99 with others each
 * time, another one 0.99 and 0.94. So there are as many copies of the operands as do not fit into
 * the cache.
 */
#include "gemm.h"

#include "../numbers/elements.h"

enum { MOST_SETS = 1024, LEAST_SETS = 2, CACHES = 2 };

static size_t l2_bytes(const cuda_device *dev)
{
    int bytes = 0;
    cuda_use(dev);
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, dev->base.info.index) != cudaSuccess)
        cudaGetLastError();
    return bytes > 0 ? (size_t)bytes : 0;
}

static int64_t elems_of(const plan_key *key, int operand)
{
    return key->count
           * (operand == OF_A   ? key->m * key->k
              : operand == OF_B ? key->k * key->n
                                : key->m * key->n);
}

/* Where an operand of a set is: behind what is there, aligned as it is aligned. */
static size_t place(lt_operands *o, const plan_key *key, int operand)
{
    const uint16_t aligned = key->alignment[operand];
    const size_t at = (o->stride + 255) / 256 * 256 + (aligned < 256 ? aligned : 0);
    o->bytes[operand] = (size_t)elems_of(key, operand) * numbers_dtype_bytes((sl_dtype)key->dtype);
    o->stride = at + o->bytes[operand];
    return at;
}

/* Lays out the sets; `copied`: each has operands of its own, else a result only. */
static void lay_out(lt_operands *o, const plan_key *key, bool copied, size_t cached_bytes)
{
    o->stride = 0;
    o->is_copied = copied;
    for (int i = copied ? OF_A : OF_C; i <= OF_C; i++)
        o->at[i] = place(o, key, i);
    o->stride = (o->stride + 255) / 256 * 256;
    const size_t n = copied ? cached_bytes / o->stride + 1 : 0;
    o->n = (int)(n < LEAST_SETS ? LEAST_SETS : n > MOST_SETS ? MOST_SETS : n);
}

static bool take(lt_operands *o, cuda_device *dev, sl_error *why)
{
    o->block = cuda_block_take(dev, (size_t)o->n * o->stride, why);
    return o->block != NULL;
}

sl_status cuda_operands_take(lt_operands *o, cuda_device *dev, const plan_key *key, const void *a,
                             const void *b, sl_error *err)
{
    const size_t cached_bytes = CACHES * l2_bytes(dev);
    sl_error why = { 0 };
    *o = (lt_operands){ .from = { [OF_A] = a, [OF_B] = b } };
    lay_out(o, key, true, cached_bytes);
    if (o->stride < cached_bytes && take(o, dev, &why)) return SL_OK;
    lay_out(o, key, false, 0);
    if (take(o, dev, &why)) return SL_OK;
    sl_fail(err, why.status, "no %zu bytes for results to measure: %s", (size_t)o->n * o->stride,
            why.msg);
    if (err) err->backend_code = why.backend_code;
    return why.status;
}

static char *address(const lt_operands *o, int operand, int set)
{
    return (char *)o->block->data + (size_t)set * o->stride + o->at[operand];
}

sl_status cuda_operands_fill(const lt_operands *o, cuda_device *dev, cudaStream_t stream,
                             sl_error *err)
{
    cudaError_t code = cudaSuccess;
    for (int set = 0; o->is_copied && set < o->n; set++)
        for (int i = OF_A; i <= OF_B && code == cudaSuccess; i++)
            code = cudaMemcpyAsync(address(o, i, set), o->from[i], o->bytes[i],
                                   cudaMemcpyDeviceToDevice, stream);
    return cuda_check(dev, code, "cudaMemcpyAsync", err);
}

const void *cuda_operands_input(const lt_operands *o, int operand, int set)
{
    return o->is_copied ? address(o, operand, set) : o->from[operand];
}

void *cuda_operands_result(const lt_operands *o, int set) { return address(o, OF_C, set); }

void cuda_operands_give(lt_operands *o, cuda_device *dev)
{
    if (o->block) cuda_block_give(dev, o->block);
    o->block = NULL;
}

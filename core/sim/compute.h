/* compute.h - the kernels on the CPU, on bytes that are there.
 *
 * A sim_job has the fields of a kernel's sl_work that decide the result. Each recipe has one
 * (value_node.h), which runs when the value is read. float64 and int32 are computed as such, every
 * other dtype in float32 and rounded on store (core/numbers/half.h); uint8 saturates.
 */
#ifndef SIM_COMPUTE_H
#define SIM_COMPUTE_H

#include "../backend.h"

typedef struct sim_job {
    int64_t m, n, k;
    int64_t times; /* an elementwise job: how often, with each result as the next first input */
    double scalar;
    union {
        uint64_t seed;
        int64_t outer;
    }; /* as in sl_work */
    union {
        uint64_t sequence;
        int64_t middle;
    };
    uint8_t kernel, dtype, in_dtype, flags; /* flags: of SL_WORK_TF32, SL_WORK_BIAS */
    uint8_t activation;
} sim_job;

/* Only what the kernel reads is copied and the rest, padding included, is zero,
 * so that equal jobs are equal bytes. */
void sim_job_init(sim_job *job, const sl_work *work);

/* The bytes of a side of an operation, 0 if it has none. */

/* How many inputs it has, and the bytes of each side. */
int sim_job_inputs(const sim_job *job);
size_t sim_job_bytes(const sim_job *job, int side);

/* Element i of the output depends on element i of the inputs alone, so the
 * output may be computed over an input, and in pieces. */
bool sim_job_is_elementwise(const sim_job *job);
/* FILL, RAND, RANDN: no inputs. */
bool sim_job_is_generator(const sim_job *job);

/* A rough count, for deciding whether to compute early. */
double sim_job_flops(const sim_job *job);
/* Memory that sim_job_run needs for itself. */
size_t sim_job_scratch_bytes(const sim_job *job);

/* The inputs' bytes, for sim_job_run: SIM_INPUTS(x, y). */
#define SIM_INPUTS(...) ((const void *const[SL_INPUTS]){ __VA_ARGS__ })

/* Computes the whole output. If the job is elementwise `out` may be an input; if it is to be done
 * several times, the first. SL_ENOMEM: no memory for the scratch. SL_EINTERRUPT: the user stopped
 * it (interrupt_flag.h), which is possible in large jobs only, and not if `out` is an input. `out`
 * is undefined after a failure. */
sl_status sim_job_run(const sim_job *job, void *out, const void *const in[SL_INPUTS]);

/* Elements [first, first + n) of a generator. */
void sim_job_generate(const sim_job *job, uint64_t first, size_t n, void *out);

/* elementwise.c: elements [first, first + n) of the output of an elementwise kernel, at most
 * SIM_BLOCK; it may be an input. */
enum { SIM_BLOCK = 512 };
void sim_elementwise(const sim_job *job, int64_t first, size_t n, void *out, const void *in0,
                     const void *in1);

/* host_gemm.c: MATMUL, all products of a stack. SL_ENOMEM, SL_EINTERRUPT. */
sl_status sim_multiply(const sim_job *job, void *out, const void *const in[SL_INPUTS]);

#endif

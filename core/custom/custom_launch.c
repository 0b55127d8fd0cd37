/* custom_launch.c - launching a custom kernel: its arguments are checked against what was declared,
 * the launch against what the device and the kernel allow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../device.h"
#include "../op.h"
#include "../stream.h"
#include "../tensor.h"
#include "custom_kernel.h"

/* ---- arguments ---- */

/* Written out: a launch formats no text. */
static const char *const nouns[SL_MOST_ARGS] = {
    "argument 1",  "argument 2",  "argument 3",  "argument 4",  "argument 5",  "argument 6",
    "argument 7",  "argument 8",  "argument 9",  "argument 10", "argument 11", "argument 12",
    "argument 13", "argument 14", "argument 15", "argument 16", "argument 17", "argument 18",
    "argument 19", "argument 20", "argument 21", "argument 22", "argument 23", "argument 24",
    "argument 25", "argument 26", "argument 27", "argument 28", "argument 29", "argument 30",
    "argument 31", "argument 32",
};

static const int dtypes[SL_ARG_TYPE_COUNT] = {
    [SL_ARG_F32] = SL_FLOAT32,   [SL_ARG_F64] = SL_FLOAT64, [SL_ARG_F16] = SL_FLOAT16,
    [SL_ARG_BF16] = SL_BFLOAT16, [SL_ARG_I32] = SL_INT32,   [SL_ARG_U8] = SL_UINT8,
};

static sl_status refuse_place(size_t i, const sl_arg *arg, sl_error *err)
{
    sl_fail(err, SL_EPLACE, "%s (%s %s*) is on the cpu", nouns[i], sl__arg_access(arg),
            sl_arg_type_name((sl_arg_type)arg->type));
    return sl_advise(err, SL_EPLACE, SL_ADVICE_COPY_TO_GPU, NULL);
}

static sl_status refuse_dtype(size_t i, const sl_arg *arg, sl_dtype dtype, sl_error *err)
{
    sl_fail(err, SL_EDTYPE, "%s is a tensor of %s, and the kernel's is %s %s*", nouns[i],
            sl_dtype_name(dtype), sl__arg_access(arg), sl_arg_type_name((sl_arg_type)arg->type));
    return sl_advise(err, SL_EDTYPE, SL_ADVICE_CAST, sl_dtype_name((sl_dtype)dtypes[arg->type]));
}

static sl_status check_tensor(const sl_custom *kernel, size_t i, const sl_tensor *tensor,
                              sl_error *err)
{
    const sl_arg *arg = &kernel->args[i];
    const sl_tensor_spec *spec = &tensor->spec;
    sl_status status = sl__tensor_check(tensor, nouns[i], err);
    if (status == SL_OK)
        status = sl__device_check_same(tensor->device, nouns[i], kernel->device, "the kernel", err);
    if (status != SL_OK) return status;
    if (spec->place != SL_ON_DEVICE) return refuse_place(i, arg, err);
    return (int)spec->dtype == dtypes[arg->type] ? SL_OK : refuse_dtype(i, arg, spec->dtype, err);
}

static sl_status refuse_number(size_t i, const sl_arg *arg, const char *why, sl_error *err)
{
    return sl_fail(err, SL_EINVAL, "%s (%s) %s", nouns[i], sl_arg_type_name((sl_arg_type)arg->type),
                   why);
}

typedef union number_bits {
    float f32;
    double f64;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t bits;
} number_bits;

static bool in_range(const sl_arg *arg, int64_t value)
{
    switch (arg->type) {
    case SL_ARG_I32: return value >= INT32_MIN && value <= INT32_MAX;
    case SL_ARG_U32: return value >= 0 && value <= UINT32_MAX;
    default: return true; /* an u64 may be given as the same bits, below 0 */
    }
}

static sl_status put_whole(size_t i, const sl_arg *arg, const sl_custom_arg *value,
                           number_bits *out, sl_error *err)
{
    bool is_whole = value->is_integer
                    || (value->number == floor(value->number) && fabs(value->number) < 0x1p63);
    if (!is_whole) return refuse_number(i, arg, "is no whole number", err);
    int64_t whole = value->is_integer ? value->integer : (int64_t)value->number;
    if (!in_range(arg, whole)) return refuse_number(i, arg, "is too large for its type", err);
    if (arg->type == SL_ARG_I32)
        out->i32 = (int32_t)whole;
    else if (arg->type == SL_ARG_U32)
        out->u32 = (uint32_t)whole;
    else
        out->i64 = whole;
    return SL_OK;
}

static sl_status put_number(size_t i, const sl_arg *arg, const sl_custom_arg *value, uint64_t *bits,
                            sl_error *err)
{
    number_bits out = { .bits = 0 };
    double number = value->is_integer ? (double)value->integer : value->number;
    sl_status status = SL_OK;
    if (arg->type == SL_ARG_F32)
        out.f32 = (float)number;
    else if (arg->type == SL_ARG_F64)
        out.f64 = number;
    else
        status = put_whole(i, arg, value, &out, err);
    *bits = out.bits;
    return status;
}

static sl_status put_arg(const sl_custom *kernel, size_t i, const sl_custom_arg *value,
                         sl_operand *out, sl_error *err)
{
    const sl_arg *arg = &kernel->args[i];
    *out = (sl_operand){ .buffer = NULL };
    if (!arg->access && value->tensor)
        return refuse_number(i, arg, "is a tensor, and the kernel's is a number", err);
    if (arg->access && !value->tensor)
        return sl_fail(err, SL_EINVAL, "%s is a number, and the kernel's is %s %s*", nouns[i],
                       sl__arg_access(arg), sl_arg_type_name((sl_arg_type)arg->type));
    if (!arg->access) return put_number(i, arg, value, &out->bits, err);
    sl_status status = check_tensor(kernel, i, value->tensor, err);
    if (status != SL_OK) return status;
    *out = sl__operand_of(value->tensor, arg->access);
    return SL_OK;
}

/* The bytes of its tensors. */
typedef struct tensor_bytes {
    size_t all, read, written;
    size_t largest; /* that is read */
    int64_t numel;  /* of that one */
} tensor_bytes;

static void add_tensor(tensor_bytes *sum, const sl_operand *o, int64_t numel)
{
    sum->all += o->bytes;
    if (o->access & SL_WRITES) sum->written += o->bytes;
    if (!(o->access & SL_READS)) return;
    sum->read += o->bytes;
    if (o->bytes <= sum->largest) return;
    sum->largest = o->bytes;
    sum->numel = numel;
}

static sl_status put_args(sl_custom_call *call, const sl_custom_arg *args, tensor_bytes *sum,
                          sl_error *err)
{
    for (size_t i = 0; i < call->n; i++) {
        const sl_operand *o = &call->arg[i];
        sl_status status = put_arg(call->kernel, i, &args[i], &call->arg[i], err);
        if (status != SL_OK) return status;
        if (o->buffer) add_tensor(sum, o, args[i].tensor->numel);
    }
    return SL_OK;
}

/* ---- the launch ---- */

/* CUDA's own limits ("Technical Specifications per Compute Capability"). */
static const int64_t most_blocks[3] = { INT32_MAX, 65535, 65535 };
static const int64_t most_threads[3] = { 1024, 1024, 64 };

static inline bool sizes_fit(const int64_t size[3], const int64_t most[3])
{
    return size[0] >= 1 && size[0] <= most[0] && size[1] >= 1 && size[1] <= most[1] && size[2] >= 1
           && size[2] <= most[2];
}

SL__RARE static sl_status check_sizes(const char *what, const int64_t size[3],
                                      const int64_t most[3], sl_error *err)
{
    static const char axes[] = "xyz";
    for (int i = 0; i < 3; i++)
        if (size[i] < 1 || size[i] > most[i])
            return sl_fail(err, SL_EINVAL, "the %s's %c is %lld: it can be 1 to %lld", what,
                           axes[i], (long long)size[i], (long long)most[i]);
    return SL_OK;
}

static int64_t volume(const int64_t size[3]) { return size[0] * size[1] * size[2]; }

static sl_status check_threads(const sl_custom *kernel, const int64_t block[3], sl_error *err)
{
    int most = kernel->device->info.max_threads_per_block;
    if (volume(block) > most)
        return sl_fail(err, SL_EINVAL,
                       "a block of %lld x %lld x %lld has %lld threads: it can have %d",
                       (long long)block[0], (long long)block[1], (long long)block[2],
                       (long long)volume(block), most);
    if (volume(block) > kernel->info.max_threads)
        return sl_fail(
            err, SL_EINVAL,
            "a block of %lld threads: with %d registers a thread this kernel can have %d",
            (long long)volume(block), kernel->info.registers, kernel->info.max_threads);
    return SL_OK;
}

static int64_t static_shared(const sl_custom *kernel)
{
    return kernel->info.shared_bytes > 0 ? kernel->info.shared_bytes : 0;
}

static sl_status check_shared(const sl_custom *kernel, int64_t bytes, sl_error *err)
{
    int64_t most = kernel->device->info.max_shared_bytes_per_block;
    if (bytes < 0)
        return sl_fail(err, SL_EINVAL, "shared is %lld: it cannot be negative", (long long)bytes);
    if (bytes > most - static_shared(kernel))
        return sl_fail(err, SL_EINVAL,
                       "shared is %lld bytes, and the kernel has %lld of its own: a block can have "
                       "%lld in all",
                       (long long)bytes, (long long)static_shared(kernel), (long long)most);
    return SL_OK;
}

/* All blocks have to be resident at once. */
SL__RARE static sl_status check_cooperative(sl_custom *kernel, const sl_custom_launch *launch,
                                            sl_error *err)
{
    int per_sm = 0;
    sl_status status = kernel->device->backend->custom_occupancy(
        kernel, (int)volume(launch->block), (size_t)launch->shared_bytes, &per_sm, err);
    if (status != SL_OK) return status;
    int64_t most = (int64_t)per_sm * kernel->device->info.sm_count;
    if (volume(launch->grid) <= most) return SL_OK;
    return sl_fail(err, SL_EINVAL,
                   "a cooperative launch of %lld blocks: at most %lld fit on the device at a time "
                   "(%d on each SM)",
                   (long long)volume(launch->grid), (long long)most, per_sm);
}

static sl_status check_launch(sl_custom *kernel, const sl_custom_launch *launch, sl_error *err)
{
    sl_status status = SL_OK;
    if (!sizes_fit(launch->grid, most_blocks) || !sizes_fit(launch->block, most_threads)) {
        status = check_sizes("grid", launch->grid, most_blocks, err);
        if (status == SL_OK) status = check_sizes("block", launch->block, most_threads, err);
    }
    if (status == SL_OK) status = check_threads(kernel, launch->block, err);
    if (status == SL_OK) status = check_shared(kernel, launch->shared_bytes, err);
    return status == SL_OK && launch->cooperative ? check_cooperative(kernel, launch, err) : status;
}

/* ---- how long it takes, for a simulated GPU ---- */

/* What it moves and computes matters also if its time is given: beside other kernels. Where the
 * bytes are not given, each tensor is moved once. */
static int64_t to_ns(double us) { return (int64_t)(us < 1e15 ? us * 1e3 + 0.5 : 1e18); }

/* Of what it moves, each tensor's elements are written at most once, and all else is read. It reads
 * all its tensors at the same pace, so that those of the largest come one after the other. */
static void set_reads(const tensor_bytes *sum, sl_work *work)
{
    if (sum->largest == 0) return;
    const size_t unread = work->bytes > sum->read ? work->bytes - sum->read : 0;
    const double read = (double)(work->bytes - sl__min(unread, sum->written));
    work->read_bytes = (int64_t)sum->largest;
    work->read_elems = sum->numel;
    work->reads = (int64_t)(read / (double)sum->read * (double)sum->numel);
}

static void set_cost(const sl_custom_launch *launch, const tensor_bytes *sum, sl_work *work)
{
    if (launch->us >= 0) {
        work->flags = SL_WORK_TIMED;
        work->duration_ns = to_ns(launch->us);
        work->cold_ns = launch->cold_us > 0 ? to_ns(launch->cold_us) : 0;
    } else if (launch->bytes < 0 && launch->flops < 0) {
        work->flags = SL_WORK_GUESSED;
    }
    work->bytes = launch->bytes >= 0 ? (size_t)(launch->bytes < 1e18 ? launch->bytes : 1e18)
                                     : sum->all;
    work->flops = launch->flops > 0 ? launch->flops : 0;
    if (launch->us < 0) set_reads(sum, work);
}

static void describe(const sl_custom *kernel, const sl_custom_launch *launch,
                     const tensor_bytes *sum, sl_work *work)
{
    *work = (sl_work){
        .kind = SL_WORK_KERNEL,
        .kernel = SL_KERNEL_CUSTOM,
        .threads = (uint32_t)volume(launch->block),
        .blocks = volume(launch->grid),
        .shared_bytes = (size_t)(launch->shared_bytes + static_shared(kernel)),
        .registers = sl_custom_registers(kernel),
    };
    set_cost(launch, sum, work);
    if (work->shared_bytes > 0 || kernel->declares_shared) work->flags |= SL_WORK_SHARED;
}

/* ---- in all ---- */

static sl_custom_call *new_call(sl_custom *kernel, const sl_custom_launch *launch)
{
    const sl__device_core *core = kernel->device->core;
    sl_custom_call *call = kernel->free_calls;
    if (call)
        kernel->free_calls = call->next;
    else
        call = malloc(sizeof *call + kernel->n_args * sizeof call->arg[0]);
    if (!call) return NULL;
    *call = (sl_custom_call){ .refs = 1,
                              .kernel = sl_custom_retain(kernel),
                              .where = sl__strings_text(&core->strings, core->where),
                              .shared_bytes = (size_t)launch->shared_bytes,
                              .cooperative = launch->cooperative,
                              .n = kernel->n_args };
    for (int i = 0; i < 3; i++) {
        call->grid[i] = (uint32_t)launch->grid[i];
        call->block[i] = (uint32_t)launch->block[i];
    }
    return call;
}

static sl_status enter(sl_custom *kernel, size_t n_args, sl_stream *stream, sl_error *err)
{
    sl_status status = sl__stream_enter(stream, kernel->name, err);
    if (status != SL_OK) return status;
    if (stream->device != kernel->device)
        return sl__device_check_same(stream->device, "the stream", kernel->device, "the kernel",
                                     err);
    if (n_args == kernel->n_args) return SL_OK;
    return sl_fail(err, SL_EINVAL, "%zu argument%s behind grid and block: the kernel has %u",
                   n_args, n_args == 1 ? "" : "s", (unsigned)kernel->n_args);
}

/* ---- launches that are known, as those of core/launch_form.h are ---- */

/* The latest launch of a kernel: what was asked for, and what it is as an operation. The call is
 * not held: its memory stays the kernel's, and the next launch that is not known forgets it. */
struct sl__known_launch {
    uint64_t since; /* core->drops + 1 when it was checked; 0: nothing is known */
    uint32_t where; /* the script's position */
    sl_custom_launch launch;
    sl_work work;
    sl_custom_call *call;
    sl_custom_arg arg[]; /* kernel->n_args */
};

static inline bool is_known(const sl_custom *kernel, const sl_custom_launch *launch,
                            const sl_custom_arg *args)
{
    const struct sl__known_launch *known = kernel->known;
    const sl__device_core *core = kernel->device->core;
    return known && known->since == core->drops + 1 && known->where == core->where
           && memcmp(&known->launch, launch, sizeof *launch) == 0
           && (!kernel->n_args || memcmp(known->arg, args, kernel->n_args * sizeof *args) == 0)
           && (known->call->refs > 0 || kernel->free_calls == known->call);
}

/* A reference to the known call, which operations in flight have, too, or else the kernel's list
 * of free ones has first. */
static inline sl_custom_call *take_known(sl_custom *kernel)
{
    sl_custom_call *call = kernel->known->call;
    if (call->refs++ > 0) return call;
    kernel->free_calls = call->next;
    sl_custom_retain(kernel);
    return call;
}

static void remember(sl_custom *kernel, const sl_custom_launch *launch, const sl_custom_arg *args,
                     const sl_work *work, sl_custom_call *call)
{
    const sl__device_core *core = kernel->device->core;
    const size_t bytes = kernel->n_args * sizeof *args;
    struct sl__known_launch *known = kernel->known;
    if (launch->cooperative) return;
    for (uint32_t i = 0; i < call->n; i++) /* settling that may run anything */
        if (call->arg[i].buffer && call->arg[i].buffer->lender) return;
    if (!known) known = kernel->known = malloc(sizeof *known + bytes);
    if (!known) return;
    *known = (struct sl__known_launch){
        .since = core->drops + 1, .where = core->where, .work = *work, .call = call
    };
    memcpy(&known->launch, launch, sizeof *launch);
    if (bytes) memcpy(known->arg, args, bytes);
}

/* A launch that is not known; apart, as in core/copy.c. */
__attribute__((noinline)) static sl_status launch_new(sl_custom *kernel,
                                                      const sl_custom_launch *launch,
                                                      const sl_custom_arg *args, sl_stream *stream,
                                                      sl_error *err)
{
    tensor_bytes sum = { .all = 0 };
    sl_work work;
    if (kernel->known) kernel->known->since = 0; /* its call may become another one */
    sl_status status = check_launch(kernel, launch, err);
    if (status != SL_OK) return status;
    sl_custom_call *call = new_call(kernel, launch);
    if (!call) return sl__no_memory(err, "a launch");
    status = put_args(call, args, &sum, err);
    if (status == SL_OK) {
        describe(kernel, launch, &sum, &work);
        remember(kernel, launch, args, &work, call);
        status = sl__op_enqueue(stream, &work, &(sl__operands){ .custom = call }, err);
    }
    sl_custom_call_drop(call);
    return status;
}

sl_status sl_custom_launch_in(sl_custom *kernel, const sl_custom_launch *launch,
                              const sl_custom_arg *args, size_t n_args, sl_stream *stream,
                              sl_error *err)
{
    sl_status status = enter(kernel, n_args, stream, err);
    if (status != SL_OK) return status;
    if (!is_known(kernel, launch, args)) return launch_new(kernel, launch, args, stream, err);
    sl_custom_call *call = take_known(kernel);
    const sl__operands operands = { .custom = call, .known = true };
    status = sl__op_enqueue(stream, &kernel->known->work, &operands, err);
    sl_custom_call_drop(call);
    return status;
}

/* ---- how many fit ---- */

sl_status sl_custom_occupancy(sl_custom *kernel, int threads, int64_t shared_bytes, int *blocks,
                              sl_error *err)
{
    sl_device *device = kernel->device;
    sl_status status = sl__device_enter(device, "occupancy", err);
    if (status != SL_OK) return status;
    if (threads < 1 || threads > device->info.max_threads_per_block)
        return sl_fail(err, SL_EINVAL, "%d threads: a block has 1 to %d", threads,
                       device->info.max_threads_per_block);
    if (shared_bytes < 0)
        return sl_fail(err, SL_EINVAL, "shared is %lld: it cannot be negative",
                       (long long)shared_bytes);
    *blocks = 0;
    if (shared_bytes <= device->info.max_shared_bytes_per_block - static_shared(kernel))
        status = device->backend->custom_occupancy(kernel, threads, (size_t)shared_bytes, blocks,
                                                   err);
    return sl__device_leave(device, status, err);
}

/* cuda_queue.c - operations in flight: into CUDA's streams, and out again when they are
 * known to have completed (cuda.h says how that is known). */
#include "driver.h"

/* ---- what an operation is ---- */

static cuda_device *device_of(const sl_op *op) { return cuda_of(op->stream->device); }

static cuda_stream *stream_of(const sl_op *op) { return (cuda_stream *)op->stream; }

static void describe(sl_op *op)
{
    op->engine = op->work.kind == SL_WORK_HOST_FUNC ? SL_ENGINE_HOST : SL_ENGINE_COMPUTE;
    /* A copy within a device is a kernel of the driver's. */
    if (op->work.kind == SL_WORK_MEMCPY && op->work.copy_kind != SL_SPAN_MEMCPY_D2D)
        op->engine = (uint8_t)sl_copy_engine(op->stream->device->info.async_engine_count,
                                             (sl_span_kind)op->work.copy_kind);
}

/* ---- into the stream ---- */

static sl_status zero_in_stream(cuda_device *dev, cuda_stream *stream, const cuda_block *block,
                                sl_error *err)
{
    cuda_use(dev);
    return cuda_check(dev, cudaMemsetAsync(block->data, 0, CUDA_SCRATCH_BYTES, stream->handle),
                      "cudaMemsetAsync", err);
}

/* SUM's memory, made at the stream's first one and zeroed in the stream; before the
 * operation, so that it does not become a part of it in a recording. A graph's is zeroed now,
 * outside of the graph: each sum leaves it as it was. */
SL__RARE static sl_status make_scratch(cuda_device *dev, const sl_op *op, sl_error *err)
{
    cuda_stream *stream = stream_of(op);
    sl_error why = { .status = SL_OK };
    cuda_block *block = op->captured ? cuda_block_take_zeros(dev, CUDA_SCRATCH_BYTES, &why)
                                     : cuda_block_take(dev, CUDA_SCRATCH_BYTES, &why);
    if (!block) {
        if (err) *err = why;
        return why.status;
    }
    sl_status status = op->captured ? SL_OK : zero_in_stream(dev, stream, block, err);
    if (status != SL_OK)
        cuda_block_give(dev, block);
    else
        stream->scratch = block;
    return status;
}

static inline sl_status need_scratch(cuda_device *dev, const sl_op *op, sl_error *err)
{
    if (op->work.kind != SL_WORK_KERNEL || op->work.kernel != SL_KERNEL_SUM
        || stream_of(op)->scratch)
        return SL_OK;
    return make_scratch(dev, op, err);
}

SL__STEP sl_status launch_kernel(cuda_device *dev, sl_op *op, const sl_work *work, sl_error *err)
{
    cuda_stream *stream = stream_of(op);
    if (op->custom) return cuda_custom_launch(dev, op, err);
    void *out = cuda_data(&op->side[SL_OUTPUT]);
    const void *in0 = cuda_data(&op->side[0]);
    const void *in1 = cuda_data(&op->side[1]);
    if (work->kernel == SL_KERNEL_MATMUL)
        return cuda_gemm_enqueue(dev, stream, work, out, in0, in1, cuda_data(&op->side[2]), err);
    return cuda_kernel_launch(dev, work, out, in0, in1,
                              stream->scratch ? stream->scratch->data : NULL, stream->handle,
                              &op->blocks, &op->threads, err);
}

/* CUDA does nothing for no bytes; an empty kernel keeps the operation's place. */
static sl_status launch_nothing(cuda_device *dev, sl_op *op, sl_error *err)
{
    const sl_work nothing = { .kind = SL_WORK_KERNEL, .kernel = SL_KERNEL_FILL, .dtype = SL_UINT8 };
    return launch_kernel(dev, op, &nothing, err);
}

/* Of cudaMemcpy. */
static enum cudaMemcpyKind copy_direction(uint8_t copy_kind)
{
    return copy_kind == SL_SPAN_MEMCPY_H2D   ? cudaMemcpyHostToDevice
           : copy_kind == SL_SPAN_MEMCPY_D2H ? cudaMemcpyDeviceToHost
                                             : cudaMemcpyDeviceToDevice;
}

static CUresult copy_async(void *dst, const void *src, const sl_work *work, cudaStream_t stream)
{
    if (work->copy_kind == SL_SPAN_MEMCPY_H2D)
        return cuda_driver.MemcpyHtoDAsync((CUdeviceptr)dst, src, work->bytes, stream);
    if (work->copy_kind == SL_SPAN_MEMCPY_D2H)
        return cuda_driver.MemcpyDtoHAsync(dst, (CUdeviceptr)src, work->bytes, stream);
    return cuda_driver.MemcpyDtoDAsync((CUdeviceptr)dst, (CUdeviceptr)src, work->bytes, stream);
}

/* cudaMemcpy between GPUs is cudaMemcpyPeer with addresses that say which: it does not begin
 * before all work that either has, and no later work begins before it (Programming Guide,
 * "Peer-to-Peer Memory Copy"). It does not hold the host. */
static sl_status launch_peer_copy(cuda_device *dev, const sl_op *op, void *dst, const void *src,
                                  sl_error *err)
{
    const sl_work *work = &op->work;
    const int to = op->side[SL_OUTPUT].buffer->device->info.index,
              from = op->side[0].buffer->device->info.index;
    if (work->flags & SL_WORK_SYNC)
        return cuda_check(dev, cudaMemcpyPeer(dst, to, src, from, work->bytes), "cudaMemcpyPeer",
                          err);
    return cuda_check(dev,
                      cudaMemcpyPeerAsync(dst, to, src, from, work->bytes, stream_of(op)->handle),
                      "cudaMemcpyPeerAsync", err);
}

static sl_status launch_copy(cuda_device *dev, sl_op *op, sl_error *err)
{
    const sl_work *work = &op->work;
    cudaStream_t stream = stream_of(op)->handle;
    void *dst = cuda_data(&op->side[SL_OUTPUT]);
    const void *src = cuda_data(&op->side[0]);
    cudaError_t code;
    if (work->copy_kind == SL_SPAN_MEMCPY_P2P) return launch_peer_copy(dev, op, dst, src, err);
    if (work->flags & SL_WORK_SYNC) {
        if (work->copy_kind != SL_SPAN_MEMCPY_D2D) op->span_flags |= SL_SPAN_HOST_WAITED;
        CUDA_ASIDE(dev, code, cudaMemcpy(dst, src, work->bytes, copy_direction(work->copy_kind)));
        return cuda_check(dev, code, "cudaMemcpy", err);
    }
    CUDA_ASIDE(dev, code, (cudaError_t)copy_async(dst, src, work, stream));
    return cuda_check(dev, code, "cudaMemcpyAsync", err);
}

/* cudaMemset of device memory returns at once, of pinned memory when it is done. */
static sl_status launch_memset(cuda_device *dev, sl_op *op, sl_error *err)
{
    const sl_work *work = &op->work;
    void *data = cuda_data(&op->side[SL_OUTPUT]);
    if (work->flags & SL_WORK_SYNC) op->span_flags |= SL_SPAN_HOST_WAITED;
    if (op->stream->legacy
        && (op->side[SL_OUTPUT].buffer->place == SL_ON_DEVICE || (work->flags & SL_WORK_SYNC)))
        return cuda_check(dev, cudaMemset(data, work->byte_value, work->bytes), "cudaMemset", err);
    return cuda_check(dev,
                      cudaMemsetAsync(data, work->byte_value, work->bytes, stream_of(op)->handle),
                      "cudaMemsetAsync", err);
}

/* The driver refuses memory of pools, also of cudaMallocAsync, with "invalid value" (H200, CUDA
 * 13.0); that of cudaMalloc it takes. In a capture it takes both. */
static sl_status check_word(const sl_operand *at, sl_error *err)
{
    const cuda_block *block = ((const cuda_buffer *)at->buffer)->block;
    if (at->buffer->place != SL_ON_DEVICE || !block || block->source == CUDA_FROM_MALLOC)
        return SL_OK;
    return sl_fail(err, SL_EPLACE,
                   "the tensor is in memory of a pool, which CUDA's driver does not take here: use "
                   "memory of lab.cuda.malloc, or a pinned tensor");
}

static CUdeviceptr word_at(const sl_operand *at) { return (CUdeviceptr)cuda_data(at); }

static const unsigned comparisons[SL_COMPARES] = {
    [SL_COMPARE_GEQ] = CU_STREAM_WAIT_VALUE_GEQ,
    [SL_COMPARE_EQ] = CU_STREAM_WAIT_VALUE_EQ,
    [SL_COMPARE_AND] = CU_STREAM_WAIT_VALUE_AND,
};

static sl_status write_value(cuda_device *dev, const sl_op *op, cudaStream_t stream, sl_error *err)
{
    const sl_operand *at = &op->side[SL_OUTPUT];
    sl_status status = check_word(at, err);
    if (status != SL_OK) return status;
    CUresult code = cuda_driver.StreamWriteValue32(stream, word_at(at), op->work.word, 0);
    return cuda_check(dev, (cudaError_t)code, "cuStreamWriteValue32", err);
}

static sl_status wait_value(cuda_device *dev, const sl_op *op, cudaStream_t stream, sl_error *err)
{
    const sl_operand *at = &op->side[0];
    sl_status status = check_word(at, err);
    if (status == SL_OK && at->buffer->place == SL_ON_DEVICE && !dev->word && !op->captured)
        status = cuda_host_take(dev, SL_PINNED, sizeof op->work.word, &dev->word, err);
    if (status != SL_OK) return status;
    CUresult code = cuda_driver.StreamWaitValue32(stream, word_at(at), op->work.word,
                                                  comparisons[op->work.compare]);
    return cuda_check(dev, (cudaError_t)code, "cuStreamWaitValue32", err);
}

SL__STEP sl_status launch(cuda_device *dev, sl_op *op, sl_error *err)
{
    cudaStream_t stream = stream_of(op)->handle;
    switch ((sl_work_kind)op->work.kind) {
    case SL_WORK_KERNEL: return launch_kernel(dev, op, &op->work, err);
    case SL_WORK_MEMCPY:
        return op->work.bytes ? launch_copy(dev, op, err) : launch_nothing(dev, op, err);
    case SL_WORK_MEMSET:
        return op->work.bytes ? launch_memset(dev, op, err) : launch_nothing(dev, op, err);
    case SL_WORK_HOST_FUNC:
        return op->captured ? cuda_funcs_capture((cuda_op *)op, dev->capturing, err)
                            : cuda_funcs_launch((cuda_op *)op, err);
    case SL_WORK_EVENT_RECORD:
        return cuda_check(
            dev, (cudaError_t)cuda_driver.EventRecord(((cuda_event *)op->event)->handle, stream),
            "cudaEventRecord", err);
    case SL_WORK_EVENT_WAIT:
        return cuda_check(
            dev,
            (cudaError_t)cuda_driver.StreamWaitEvent(stream, ((cuda_event *)op->event)->handle, 0),
            "cudaStreamWaitEvent", err);
    case SL_WORK_WRITE_VALUE: return write_value(dev, op, stream, err);
    case SL_WORK_WAIT_VALUE: return wait_value(dev, op, stream, err);
    case SL_WORK_GRAPH: return cuda_graph_launch(dev, (cuda_op *)op, err);
    case SL_WORK_COLLECTIVE: break; /* cuda_collective.c */
    }
    return sl_fail(err, SL_EINVAL, "there is no operation of kind %d", op->work.kind);
}

/* Any launch waits when the launch queue is full. A queue has room for 1022 launches
 * (docs/design/simulator.md, section 2), streams share it, and an operation takes up to three: its
 * kernel between two events, or a matmul in parts. A captured operation waits for nothing. */
SL__RARE static bool may_hold_host(const cuda_device *dev, const sl_op *op)
{
    const uint8_t pageable = SL_SPAN_SRC_PAGEABLE | SL_SPAN_DST_PAGEABLE;
    return (op->span_flags & pageable) || (op->work.flags & SL_WORK_SYNC)
           || op->work.copy_kind == SL_SPAN_MEMCPY_P2P || dev->n_in_flight + dev->n_replayed >= 256
           || dev->launches_block
           || (op->graph && cuda_graph_may_hold((const cuda_graph *)op->graph));
}

/* A large result counts for more, so that its memory is known to be free sooner; of a custom kernel
 * all that it is given. */
static uint32_t weight(const sl_op *op)
{
    const size_t large = 8u << 20;
    const size_t bytes = op->side[SL_OUTPUT].buffer ? op->side[SL_OUTPUT].buffer->bytes
                         : op->custom               ? op->work.bytes
                                                    : 0;
    return 1 + (uint32_t)(bytes / large);
}

/* Best effort: without a mark the operations wait for the next one, or for a wait. */
SL__RARE static void mark(cuda_device *dev, cuda_stream *stream, uint64_t seq)
{
    cudaEvent_t event;
    if (stream->n_marks == CUDA_MARKS) return;
    if (cuda_event_take(dev, false, &event) != cudaSuccess) {
        cudaGetLastError();
        return;
    }
    if (cuda_driver.EventRecord(event, stream->handle) != CUDA_SUCCESS) {
        cuda_event_give(dev, false, event);
        return;
    }
    uint32_t at = (stream->first_mark + stream->n_marks++) % CUDA_MARKS;
    stream->marks[at].event = event;
    stream->marks[at].seq = seq;
    stream->unmarked = 0;
}

static void append(cuda_device *dev, cuda_stream *stream, sl_op *op)
{
    op->next = NULL;
    *stream->tail = op;
    stream->tail = &op->next;
    stream->n_in_flight++;
    dev->n_in_flight++;
    stream->unmarked += weight(op);
    if (stream->unmarked >= CUDA_MARK_EVERY || op->work.kind == SL_WORK_WAIT_VALUE)
        mark(dev, stream, op->seq);
}

void cuda_queue_add(sl_op *op)
{
    cuda_use(device_of(op)); /* for a mark */
    append(device_of(op), stream_of(op), op);
}

/* Records and waits become edges, not nodes. */
SL__RARE static sl_status enqueue_captured(cuda_device *dev, sl_op *op, sl_error *err)
{
    cuda_capture *capture = NULL;
    if (!sl_is_work(op)) return launch(dev, op, err);
    sl_status status = cuda_capture_before(op, &capture, err);
    if (status != SL_OK) return status;
    status = need_scratch(dev, op, err);
    if (status == SL_OK) status = launch(dev, op, err);
    cuda_capture_after(op, capture, status == SL_OK);
    return status;
}

sl_status cuda_enqueue(sl_op *op, sl_error *err)
{
    cuda_device *dev = device_of(op);
    sl_status status = SL_OK;
    cuda_use(dev);
    describe(op);
    if (op->captured) return enqueue_captured(dev, op, err);
    if (cuda_funcs_pending > 0 && may_hold_host(dev, op)) status = cuda_funcs_settle(dev, err);
    if (status == SL_OK) status = need_scratch(dev, op, err);
    if (status == SL_OK && dev->recording > 0) status = cuda_activity_before((cuda_op *)op, err);
    if (status != SL_OK) return status;
    if (op->work.kind == SL_WORK_WAIT_VALUE && stream_of(op)->unmarked > 0)
        mark(dev, stream_of(op), op->seq - 1); /* see open_waits.c */
    status = launch(dev, op, err);
    if (dev->recording > 0) cuda_activity_after((cuda_op *)op, status == SL_OK);
    if (status != SL_OK) return status;
    /* A mark of the stream is for all with numbers up to its own: those that were launched
     * before. */
    if (dev->base.threads) dev->base.threads->renumber(&op, 1);
    append(dev, stream_of(op), op);
    return SL_OK;
}

/* ---- out of the stream ---- */

static void take_first(cuda_device *dev, cuda_stream *stream)
{
    sl_op *op = stream->head;
    stream->head = op->next;
    if (!stream->head) stream->tail = &stream->head;
    stream->n_in_flight--;
    dev->n_in_flight--;
    if (op->graph) cuda_graph_launched((cuda_op *)op);
    op->next = NULL;
    *dev->done_tail = op;
    dev->done_tail = &op->next;
}

static void drop_marks(cuda_device *dev, cuda_stream *stream, uint64_t seq)
{
    while (stream->n_marks > 0 && stream->marks[stream->first_mark].seq <= seq) {
        cuda_event_give(dev, false, stream->marks[stream->first_mark].event);
        stream->first_mark = (stream->first_mark + 1) % CUDA_MARKS;
        stream->n_marks--;
    }
    if (!stream->head) stream->unmarked = 0;
}

void cuda_queue_completed(cuda_stream *stream, uint64_t seq)
{
    cuda_device *dev = cuda_of(stream->base.device);
    while (stream->head && stream->head->seq <= seq) {
        cuda_activity_completed((cuda_op *)stream->head);
        take_first(dev, stream);
    }
    drop_marks(dev, stream, seq);
}

void cuda_queue_all(cuda_device *dev, bool lost)
{
    if (lost) cuda_funcs_abandon(dev);
    for (cuda_stream *stream = dev->streams; stream; stream = stream->next) {
        if (!lost) {
            cuda_queue_completed(stream, UINT64_MAX);
            continue;
        }
        while (stream->head) {
            stream->head->lost = true;
            cuda_activity_completed((cuda_op *)stream->head);
            take_first(dev, stream);
        }
        drop_marks(dev, stream, UINT64_MAX);
    }
}

static cudaError_t ask_mark(cudaEvent_t event)
{
    cuda_own_begin();
    cudaError_t code = cudaEventQuery(event);
    cuda_own_end();
    return code;
}

/* Gives false when the device turned out to be lost. */
static bool ask_marks(cuda_device *dev, cuda_stream *stream)
{
    if (stream->n_marks > 0) cuda_use(dev);
    while (stream->n_marks > 0) {
        cudaError_t code = ask_mark(stream->marks[stream->first_mark].event);
        if (code == cudaSuccess) {
            cuda_queue_completed(stream, stream->marks[stream->first_mark].seq);
            continue;
        }
        cudaGetLastError();
        return code == cudaErrorNotReady
               || cuda_check(dev, code, "cudaEventQuery", NULL) != SL_EFAULT;
    }
    return true;
}

static cudaError_t ask_stream(const cuda_stream *stream)
{
    if (cuda_capture_hides(stream)) return cudaErrorNotReady;
    cuda_own_begin();
    cudaError_t code = cudaStreamQuery(stream->handle);
    cuda_own_end();
    return code;
}

void cuda_queue_poll(cuda_device *dev)
{
    cuda_use(dev);
    for (cuda_stream *stream = dev->streams; stream; stream = stream->next) {
        if (!stream->head) continue;
        cudaError_t code = ask_stream(stream);
        if (code == cudaSuccess) {
            cuda_queue_completed(stream, UINT64_MAX);
            continue;
        }
        cudaGetLastError();
        if (code != cudaErrorNotReady && cuda_check(dev, code, "cudaStreamQuery", NULL)) return;
        if (!ask_marks(dev, stream)) return;
    }
}

/* Called after every enqueue, so the marks are asked for only now and then. */
sl_op *cuda_reap(sl_device *device)
{
    cuda_device *dev = cuda_of(device);
    if (cuda_funcs_pending > 0) cuda_funcs_run_all();
    if (dev->n_in_flight > 0 && ++dev->reaps >= CUDA_MARK_EVERY) {
        dev->reaps = 0;
        for (cuda_stream *stream = dev->streams; stream; stream = stream->next)
            if (!ask_marks(dev, stream)) break;
    }
    if (dev->base.fault.status != SL_OK && dev->n_in_flight > 0) cuda_queue_all(dev, true);
    if (!dev->done) return NULL;
    sl_op *chain = dev->done;
    dev->done = NULL;
    dev->done_tail = &dev->done;
    return chain;
}

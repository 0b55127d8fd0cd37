/* open_waits.c - waits for values that nothing can satisfy any more, while the host waits as well.
 *
 * CUDA does not say how far a stream has come. So a wait for a value has a mark before it and one
 * behind it (cuda_queue.c): it has not passed while the second one is not reached. Then it waits
 * for ever if its word is not what it waits for, and if all operations in flight that may write the
 * word come behind such waits themselves. What is in flight and may yet run is taken to end some
 * time; so a wait is found when that has ended, and none that could go on. Not found are waits in
 * graphs, and streams that wait for their hardware channel. */
#include "driver.h"

static cuda_op *of(const sl_op *op) { return (cuda_op *)op; }

/* ---- which operations come behind them ---- */

static cuda_stream *stream_numbered(const sl_device *device, uint32_t id)
{
    cuda_stream *stream = cuda_of(device)->streams;
    while (stream && stream->base.id != id)
        stream = stream->next;
    return stream;
}

static bool awaits_held(const sl_op *op)
{
    const cuda_stream *target = op->work.kind == SL_WORK_EVENT_WAIT && op->wait_target
                                    ? stream_numbered(op->event->device, op->wait_target_stream)
                                    : NULL;
    return target && op->wait_target >= target->held_from;
}

/* The legacy NULL stream's rules. */
static bool is_behind_null(const sl_op *op)
{
    const cuda_stream *other = cuda_of(op->stream->device)->streams;
    for (; other && !op->stream->non_blocking; other = other->next)
        if (!other->base.non_blocking && other->base.legacy != op->stream->legacy
            && op->seq > other->held_from)
            return true;
    return false;
}

/* Whether it has found one more. */
static bool hold(cuda_stream *stream)
{
    for (const sl_op *op = stream->head; op && op->seq < stream->held_from; op = op->next) {
        if (!of(op)->is_endless && !awaits_held(op) && !is_behind_null(op)) continue;
        stream->held_from = op->seq;
        return true;
    }
    return false;
}

/* Of all streams: a stream's operations from `held_from` on never begin. */
static void hold_all(void)
{
    bool found;
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        for (cuda_stream *stream = dev->streams; stream; stream = stream->next)
            stream->held_from = UINT64_MAX;
    do {
        found = false;
        for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
            for (cuda_stream *stream = dev->streams; stream; stream = stream->next)
                found |= hold(stream);
    } while (found);
}

/* ---- who may write a word ---- */

static bool writes(const sl_op *op, const sl_operand *word)
{
    for (uint32_t i = 0; i < op->n_operands; i++) {
        const sl_operand *at = &op->operand[i];
        if (at->buffer == word->buffer && at->access & (SL_WRITES | SL_ATOMIC)
            && at->offset < word->offset + sizeof(uint32_t)
            && word->offset < at->offset + at->bytes)
            return true;
    }
    return false;
}

static bool may_write(const sl_op *op, const sl_operand *word)
{
    if (op->work.kind == SL_WORK_HOST_FUNC) return true;
    if (!op->graph) return writes(op, word);
    for (uint32_t i = 0; i < op->body->n_nodes; i++)
        if (may_write(op->body->nodes[i].op, word)) return true;
    return false;
}

static bool is_yet_written(const sl_operand *word)
{
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        for (cuda_stream *stream = dev->streams; stream; stream = stream->next)
            for (const sl_op *op = stream->head; op && op->seq < stream->held_from; op = op->next)
                if (may_write(op, word)) return true;
    return false;
}

/* ---- the word ---- */

/* Of device memory by a copy in the allocator's stream, where nothing else is. False: not known. */
static bool read_word(const sl_op *op, uint32_t *found)
{
    cuda_device *dev = cuda_of(op->stream->device);
    const sl_operand *at = &op->side[0];
    const bool is_here = at->buffer->place != SL_ON_DEVICE;
    cudaError_t code = is_here || dev->word ? cudaSuccess : cudaErrorInvalidValue;
    if (!is_here && dev->word) {
        cuda_use(dev);
        code = (cudaError_t)cuda_driver.MemcpyDtoHAsync(dev->word->data, (CUdeviceptr)cuda_data(at),
                                                        sizeof *found, dev->memory_stream);
        while (code == cudaSuccess
               && (code = cudaStreamQuery(dev->memory_stream)) == cudaErrorNotReady
               && !*dev->base.interrupted)
            code = cudaSuccess;
        cudaGetLastError(); /* "not ready" stays as the last error otherwise */
    }
    if (code == cudaSuccess)
        *found = __atomic_load_n((const uint32_t *)(is_here ? cuda_data(at) : dev->word->data),
                                 __ATOMIC_ACQUIRE);
    return code == cudaSuccess;
}

static bool is_satisfied(const sl_op *op, uint32_t *found)
{
    return !read_word(op, found)
           || sl_compare_holds((sl_compare)op->work.compare, *found, op->work.word);
}

/* ---- all of them ---- */

static bool is_open(const cuda_stream *stream, const sl_op *op)
{
    for (uint32_t i = 0; i < stream->n_marks; i++)
        if (stream->marks[(stream->first_mark + i) % CUDA_MARKS].seq == op->seq) return true;
    return false;
}

static bool stays_unwritten(const cuda_stream *stream, const sl_op *op)
{
    (void)stream;
    return of(op)->is_endless && !is_yet_written(&op->side[0]);
}

/* Asks of each whether it is one. The first of those that are, or NULL. */
static const sl_op *ask_waits(bool (*is_one)(const cuda_stream *stream, const sl_op *op),
                              bool *changed)
{
    const sl_op *first = NULL;
    *changed = false;
    for (cuda_device *dev = cuda_open_devices(); dev; dev = dev->next_open)
        for (cuda_stream *stream = dev->streams; stream; stream = stream->next)
            for (sl_op *op = stream->head; op; op = op->next) {
                if (op->work.kind != SL_WORK_WAIT_VALUE) continue;
                const bool was = of(op)->is_endless;
                of(op)->is_endless = is_one(stream, op);
                *changed |= of(op)->is_endless != was;
                if (of(op)->is_endless && (!first || op->seq < first->seq)) first = op;
            }
    return first;
}

/* Leaves out those that something writes which may yet run. */
static const sl_op *first_unwritten(void)
{
    const sl_op *first;
    bool changed;
    do {
        hold_all();
        first = ask_waits(stays_unwritten, &changed);
    } while (changed);
    return first;
}

static bool others_run(const cuda_device *dev)
{
    const sl_thread *thread = dev->base.threads ? dev->base.threads->first : NULL;
    int n = 0;
    for (; thread; thread = thread->next)
        n += !thread->ended;
    return n > 1;
}

static const sl_op *find(const cuda_device *dev, uint32_t *found)
{
    bool changed;
    if (others_run(dev) || !ask_waits(is_open, &changed)) return NULL;
    for (cuda_device *open = cuda_open_devices(); open; open = open->next_open)
        cuda_queue_poll(open);
    ask_waits(is_open, &changed);
    const sl_op *first = first_unwritten();
    while (first && is_satisfied(first, found)) {
        of(first)->is_endless = false;
        first = first_unwritten();
    }
    return first;
}

/* ---- for waits of the host ---- */

static bool is_held(const sl_stream *stream, uint64_t last)
{
    const cuda_stream *other = cuda_of(stream->device)->streams;
    for (; other; other = other->next) {
        const bool counts = &other->base == stream || (stream->legacy && !other->base.non_blocking);
        if (counts && other->held_from <= last && other->held_from != UINT64_MAX) return true;
    }
    return false;
}

sl_status cuda_check_endless(const sl_stream *stream, uint64_t last, sl_error *err)
{
    const cuda_device *dev = cuda_of(stream->device);
    uint32_t found;
    const sl_op *op = find(dev, &found);
    return op && is_held(stream, last) ? dev->base.fail_wait(op, found, err) : SL_OK;
}

bool cuda_end_wait(sl_device *device)
{
    uint32_t found;
    const sl_op *op = find(cuda_of(device), &found);
    if (!op) return false;
    cuda_device *dev = cuda_of(op->stream->device);
    void *word = cuda_data(&op->side[0]);
    if (op->side[0].buffer->place != SL_ON_DEVICE) {
        __atomic_store_n((uint32_t *)word, op->work.word, __ATOMIC_RELEASE);
        return true;
    }
    cuda_use(dev);
    return !cuda_driver.StreamWriteValue32(dev->memory_stream, (CUdeviceptr)word, op->work.word, 0);
}

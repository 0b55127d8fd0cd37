/* results.c - what an operation leaves in memory when it ends, and what a stream waits for there: a
 * wait that has come to its turn looks when its buffer changes, and at no other time. */
#include "sim.h"

#include "value_launch.h"

/* ---- waits for values ---- */

sl_status sim_word_look(const sim_op *op, uint32_t *found, bool *holds, sl_error *err)
{
    const sl_operand *at = &op->base.side[0];
    *holds = false;
    /* Of a part no more is computed than it takes. */
    sim_value *word = sim_value_slice(((const sim_buffer *)at->buffer)->value, at->offset,
                                      sizeof *found);
    if (!word) return sl__no_memory(err, "the value of a word");
    sl_status status = sim_value_read(word, 0, sizeof *found, found, err);
    sim_value_release(word);
    *holds = status == SL_OK
             && sl_compare_holds((sl_compare)op->base.work.compare, *found, op->base.work.word);
    return status;
}

bool sim_word_arrived(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    uint32_t found;
    bool holds;
    sl_error err;
    if (op->let_go || (sim_word_look(op, &found, &holds, &err) == SL_OK && holds)) return true;
    op->fifo_next = dev->word_waits;
    dev->word_waits = op;
    return false;
}

/* Comes forward again, now. A write that was issued later is at the same moment: what it came
 * behind is named in its place. */
static void wake(sim_op *op, const sim_op *by)
{
    sim_machine *machine = sim_device_of(op)->machine;
    const bool is_earlier = by && by->base.seq < op->base.seq;
    const bool is_moment = by && !is_earlier && by->base.work.kind == SL_WORK_WRITE_VALUE;
    op->ready_at = machine->now;
    op->base.ready_cause = SL_CAUSE_VALUE;
    op->base.ready_by = is_moment ? by->base.ready_by : by ? by->base.seq : 0;
    op->base.wait_target = 0;
    if (is_earlier && by->base.work.kind == SL_WORK_WRITE_VALUE) {
        op->base.wait_target = by->base.seq;
        op->base.wait_target_stream = by->base.stream->id;
    }
    op->fluid.node.what = SIM_READY;
    sim_heap_set(&machine->heap, &op->fluid.node, machine->now);
}

/* Of the waits of one GPU, wakes those that the buffer's contents satisfy. */
static void wake_waits(sim_device *dev, const sl_buffer *buffer, const sim_op *by)
{
    for (sim_op **at = &dev->word_waits; *at;) {
        sim_op *op = *at;
        uint32_t found;
        bool holds = false;
        sl_error err;
        if (op->base.side[0].buffer == buffer) (void)sim_word_look(op, &found, &holds, &err);
        if (!holds) {
            at = &op->fifo_next;
            continue;
        }
        *at = op->fifo_next;
        op->fifo_next = NULL;
        wake(op, by);
    }
}

/* Nearly always nothing waits for a value: what an operation writes costs a look at each GPU. */
static void wake_all_waits(const sl_buffer *buffer, const sim_op *by)
{
    sim_device *dev = ((const sim_device *)buffer->device)->machine->devices;
    for (; dev; dev = dev->machine_next)
        if (dev->word_waits) wake_waits(dev, buffer, by);
}

bool sim_put(sl_buffer *base, sim_value *value, const sim_op *by)
{
    sim_buffer *buffer = (sim_buffer *)base;
    if (!value) return false;
    sim_value_release(buffer->value);
    buffer->value = value;
    sim_value_drop_hidden(value);
    wake_all_waits(base, by);
    return true;
}

/* Whether each operand is all that its buffer has. */
static bool takes_whole_buffers(const sl_op *op)
{
    for (int i = 0; i < SL_SIDES; i++)
        if (op->side[i].buffer
            && (op->side[i].offset > 0 || op->side[i].bytes != op->side[i].buffer->bytes))
            return false;
    return true;
}

/* Where the contents are computed the buffer gives them up, so that they are written in place; else
 * they stay as they are, which may be unknown, with the word put over them. */
static sim_value *written(const sl_operand *out, const sl_work *work)
{
    sim_buffer *buffer = (sim_buffer *)out->buffer;
    const bool in_place = sim_value_is_computed(buffer->value);
    sim_value *base = in_place ? buffer->value : sim_value_bytes_set(out->bytes, 0);
    sim_value *value = base ? sim_value_write(base, in_place ? out->offset : 0, out->bytes,
                                              &work->word, NULL)
                            : NULL;
    if (in_place) {
        if (value) buffer->value = NULL;
        return value;
    }
    sim_value *whole = value ? sim_value_splice(buffer->value, out->offset, value, 0, out->bytes)
                             : NULL;
    sim_value_release(value ? value : base);
    return whole;
}

void sim_word_end(sim_op *op)
{
    const sl_operand *word = &op->base.side[0];
    sim_put(word->buffer, written(word, &op->base.work), NULL);
    /* Without memory it may not be written, or be there and not be seen. */
    sim_op **at = &sim_device_of(op)->word_waits;
    while (*at && *at != op)
        at = &(*at)->fifo_next;
    if (!*at) return;
    *at = op->fifo_next;
    op->fifo_next = NULL;
    op->let_go = true;
    wake(op, NULL);
}

/* What the output's buffer holds from the operation's end on. NULL: out of memory. */
static sim_value *result(const sim_op *op)
{
    const sl_work *work = &op->base.work;
    const sl_operand *side = op->base.side, *out = &side[SL_OUTPUT];
    sim_value *const *in = op->value;
    sim_value *holds = ((sim_buffer *)out->buffer)->value;
    switch ((sl_work_kind)work->kind) {
    case SL_WORK_MEMCPY:
        return sim_value_splice(holds, out->offset, in[0], side[0].offset, out->bytes);
    case SL_WORK_COLLECTIVE: /* computed when it ended */
        return sim_value_splice(holds, out->offset, in[1], 0, out->bytes);
    case SL_WORK_MEMSET: return sim_value_memset(holds, out->offset, out->bytes, work->byte_value);
    case SL_WORK_KERNEL:
        return takes_whole_buffers(&op->base) ? sim_value_apply(work, out->bytes, in, holds)
                                              : sim_value_apply_part(work, side, holds, in);
    case SL_WORK_WRITE_VALUE: return written(out, work);
    case SL_WORK_WAIT_VALUE:
    case SL_WORK_HOST_FUNC:
    case SL_WORK_EVENT_RECORD:
    case SL_WORK_EVENT_WAIT:
    case SL_WORK_GRAPH: break; /* they have no output */
    }
    return NULL;
}

/* ---- custom kernels ---- */

static sim_value *content_of(const sl_buffer *buffer)
{
    return ((const sim_buffer *)buffer)->value;
}

void sim_capture_custom(sim_op *op)
{
    sl_custom_call *call = op->base.custom;
    op->launched = sim_value_launch_before(call, content_of, op->value);
    op->repeats = op->launched != NULL;
    if (!op->repeats)
        op->launched = sim_value_launch(call, ((sim_custom *)call->kernel)->emulated, content_of);
}

static bool publish_region(const sim_op *op, sim_value *launch, uint32_t i)
{
    sl_buffer *buffer;
    size_t offset, bytes;
    if (!sim_value_launch_region(launch, i, &buffer, &offset, &bytes)) return true;
    sim_value *output = sim_value_output(launch, i, bytes);
    if (!output || bytes == buffer->bytes) return sim_put(buffer, output, op);
    sim_value *value = sim_value_splice(content_of(buffer), offset, output, 0, bytes);
    sim_value_release(output);
    return sim_put(buffer, value, op);
}

static void release_inputs(sim_op *op)
{
    for (int i = 0; i < SL_INPUTS; i++) {
        if (!op->value[i]) continue;
        sim_value_release(op->value[i]);
        op->value[i] = NULL;
    }
}

/* Whether the launch that it repeats does it as well. Else it is one by itself. */
static bool publish_again(sim_op *op)
{
    sl_custom_call *call = op->base.custom;
    sim_value *before = op->launched;
    const bool again = sim_value_launch_again(before, op->value, call->where, content_of);
    sl_buffer *buffer;
    size_t offset, bytes;
    for (uint32_t i = 0; again && i < sim_value_launch_regions(before); i++)
        if (sim_value_launch_region(before, i, &buffer, &offset, &bytes))
            wake_all_waits(buffer, op);
    op->launched = again ? NULL
                         : sim_value_launch_apart(call, ((sim_custom *)call->kernel)->emulated,
                                                  op->value);
    sim_value_release(before);
    release_inputs(op);
    return again;
}

static void publish_custom(sim_op *op)
{
    if (op->repeats && publish_again(op)) return;
    sim_value *launch = op->launched ? sim_value_launch_end(op->launched, content_of) : NULL;
    bool done = launch != NULL;
    for (uint32_t i = 0; done && i < sim_value_launch_regions(launch); i++)
        done = publish_region(op, launch, i);
    if (!done) sim_device_of(op)->out_of_memory = true;
    sim_value_release(launch);
    op->launched = NULL;
}

void sim_publish(sim_op *op)
{
    sl_buffer *out = op->base.side[SL_OUTPUT].buffer;
    if (op->base.custom) {
        publish_custom(op);
        return;
    }
    if (op->base.n_operands == 0) return;
    const bool aborted = op->base.comm && !op->value[1]; /* it has no result */
    sim_value *value = out && !aborted ? result(op) : NULL;
    release_inputs(op);
    if (out && !aborted && !sim_put(out, value, op)) sim_device_of(op)->out_of_memory = true;
}

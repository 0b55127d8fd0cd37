/* sim_comm.c - the simulator's communicators for core/backend.h. All ranks of one are GPUs of one
 * simulated machine, in one process and on one clock. */
#include "cache_state.h"
#include "host.h"
#include "sim_backend.h"
#include "sim_comm.h"

sl_status sim_comm_open(sl_comm_ranks *all, const sl_comm_id *id, sl_error *err)
{
    (void)id;
    for (int i = 1; i < all->n; i++)
        if (!sl_device_are_of_one_machine(all->rank[0]->device, all->rank[i]->device))
            return sl_fail(err, SL_EINVAL, "ranks 0 and %d are GPUs of two simulated machines", i);
    return SL_OK;
}

void sim_comm_close(sl_comm_ranks *all) { (void)all; }

void sim_comm_abort(sl_comm_ranks *all)
{
    sim_device *dev = (sim_device *)all->rank[0]->device;
    (void)sim_host_catch_up(dev, NULL);
    for (int i = 0; i < all->n; i++)
        ((sim_comm *)all->rank[i])->aborted = true;
    sim_meetings_abort(dev->machine, all);
    (void)sim_host_catch_up(dev, NULL);
}

/* ---- enqueueing ---- */

static bool is_pair(const sl_op *op)
{
    return op->work.collective == SL_SEND || op->work.collective == SL_RECV;
}

/* The first SEND or RECV of the group in the same stream and communicator, or the operation
 * itself. */
static sim_op *carrier_of(sim_op *op)
{
    sim_stream *stream = (sim_stream *)op->base.stream;
    sim_op *carrier = stream->carriers;
    if (!is_pair(&op->base)) return op;
    while (carrier && carrier->base.comm != op->base.comm)
        carrier = carrier->part.sides_next;
    if (carrier) return carrier;
    op->part.sides_next = stream->carriers;
    return stream->carriers = op;
}

static void carry(sim_op *op)
{
    sim_op *carrier = carrier_of(op);
    op->part.carrier = carrier;
    carrier->part.meetings_left++;
    if (op == carrier) return;
    op->part.carried_next = carrier->part.carried_next;
    carrier->part.carried_next = op;
}

static sl_status prepare(sim_op *op, sl_error *err)
{
    const sim_device *dev = sim_device_of(op);
    const sim_comm_plan plan = sim_comm_plan_of(&op->base);
    op->base.engine = SL_ENGINE_COMM;
    if (sim_is_aborted(op))
        return sl_fail(
            err, SL_ESTATE,
            "the communicator was ended with the work of a device, because a rank waited "
            "for one that had not come");
    if (plan.us > SIM_LONGEST_US)
        return sl_fail(err, SL_EINVAL, "%s of %zu bytes would take more than eleven days",
                       sl_collective_name((sl_collective)op->base.work.collective),
                       op->base.work.bytes);
    sim_comm_launch(dev, &plan, &op->launch);
    if (sim_chip_blocks_per_sm(dev, &op->launch) < 1)
        return sl_fail(err, SL_EINVAL, "a block of NCCL's kernels does not fit on an SM of %s",
                       dev->profile.name);
    sim_describe_launch(&op->base, &op->launch);
    sim_meeting_join(op);
    carry(op);
    return SL_OK;
}

static void spend_on_call(sim_op *op)
{
    sim_device *dev = sim_device_of(op);
    sim_host_spend_us(dev, sim_call_us(dev, sim_host_enqueue_us(op)));
}

static sl_status prepare_all(sl_op *const *ops, size_t n, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++)
        status = prepare((sim_op *)ops[i], err);
    for (size_t i = 0; i < n; i++)
        ((sim_stream *)ops[i]->stream)->carriers = NULL;
    return status;
}

/* One call of the host launches the kernels of all ranks. */
static sl_status call(sl_op *const *ops, size_t n, sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < n && status == SL_OK; i++) {
        sim_op *op = (sim_op *)ops[i];
        status = sim_host_check_time(sim_device_of(op), err);
        if (status == SL_OK && op->part.carrier == op) status = sim_call_enqueue(op, err);
        if (status != SL_OK) break;
        if (op->part.carrier == op) spend_on_call(op);
        status = sim_wait_for_queue(op, err);
    }
    return status;
}

static void issue(sim_op *op)
{
    sim_look_into_channel(op);
    (void)sim_queue_issue(op); /* all is reserved */
    sim_turns_take(op);
    sim_touch_operands(&op->base);
}

static sl_status give_back(sl_op *const *ops, size_t n, sl_status status)
{
    while (n-- > 0)
        if (((sim_op *)ops[n])->part.carrier) sim_meeting_leave((sim_op *)ops[n]);
    return status;
}

sl_status sim_comm_enqueue(sl_op *const *ops, size_t n, sl_error *err)
{
    const sim_machine *machine = sim_device_of(ops[0])->machine;
    const int64_t start_ns = machine->host_at / SIM_PS_PER_NS;
    sl_status status = prepare_all(ops, n, err);
    if (status == SL_OK) status = call(ops, n, err);
    for (size_t i = 0; i < n && status == SL_OK; i++)
        sim_turns_begin((sim_comm *)ops[i]->comm);
    if (status == SL_OK && !sim_queue_reserve(ops, n)) status = sl__no_memory(err, "the simulator");
    if (status != SL_OK) return give_back(ops, n, status);
    if (machine->threads) machine->threads->renumber(ops, n);
    for (size_t i = 0; i < n; i++) {
        issue((sim_op *)ops[i]);
        ops[i]->host_start_ns = start_ns;
        ops[i]->host_end_ns = machine->host_at / SIM_PS_PER_NS;
    }
    return SL_OK;
}

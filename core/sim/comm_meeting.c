/* comm_meeting.c - what ranks do together (sim_comm.h has the rules).
 *
 * A meeting is under way from the instant at which the last of its sides has all of its blocks on
 * the SMs. Its rate is that of the slowest GPU: on each, kernels that use the memory beside it, and
 * other meetings that use the link, slow it (docs/design/simulator.md, section 4, "Collectives").
 */
#include "sim_comm.h"

/* ---- sides ---- */

void sim_meeting_join(sim_op *op)
{
    sim_machine *machine = sim_device_of(op)->machine;
    sim_meeting *m = sim_meeting_of(op);
    if (m->joined++ == 0) {
        m->fluid.node.what = SIM_MEETING_END;
        m->fluid.node.seq = op->base.seq;
        SL__PUSH(machine->meetings, m, next, link);
    }
    op->part.meeting_next = m->ops;
    m->ops = op;
}

void sim_meeting_leave(sim_op *op)
{
    sim_meeting *m = sim_meeting_of(op);
    sim_op **at = &m->ops;
    if (sim_is_aborted(op)) return; /* it is over, and its other sides may be gone */
    while (*at != op)
        at = &(*at)->part.meeting_next;
    *at = op->part.meeting_next;
    if (--m->joined == 0) SL__UNLINK(m, next, link);
}

sim_device *sim_meeting_device(const sim_meeting *m) { return sim_device_of(m->ops); }

/* ---- rates ---- */

/* How fast it goes as far as this GPU is concerned. */
static double pace_on(const sim_device *dev)
{
    const sim_chip *chip = &dev->chip;
    const double others = chip->memory_share < 1 ? chip->memory_share : 1;
    const double *ways = chip->link_share;
    const double most = ways[0] > ways[1] ? ways[0] : ways[1], link = most > 1 ? most : 1;
    return 1 / (1 + dev->profile.comm_memory_slowdown * others) / link;
}

static void set_rate(sim_meeting *m, const sim_machine *machine)
{
    double rate = 1;
    for (const sim_op *op = m->ops; op; op = op->part.meeting_next) {
        const double pace = pace_on(sim_device_of(op));
        if (pace < rate) rate = pace;
    }
    sim_fluid_set_rate((sim_heap *)&machine->heap, &m->fluid, machine->now, rate);
}

void sim_collectives_set_rates(sim_device *dev)
{
    for (sim_op *op = dev->chip.sides; op; op = op->part.sides_next)
        set_rate(sim_meeting_of(op), dev->machine);
}

/* ---- under way ---- */

/* Bytes go both ways, but for a SEND and a RECV. */
static void use_link(sim_op *op, double sign)
{
    double *ways = sim_device_of(op)->chip.link_share;
    if (op->base.work.collective != SL_RECV) ways[0] += sign * sim_meeting_of(op)->link_share;
    if (op->base.work.collective != SL_SEND) ways[1] += sign * sim_meeting_of(op)->link_share;
}

static void enter_chip(sim_op *op)
{
    sim_chip *chip = &sim_device_of(op)->chip;
    op->part.sides_next = chip->sides;
    chip->sides = op;
    chip->traffic_share += op->part.traffic_share;
    use_link(op, 1);
    chip->rates_dirty = true;
    sim_settle_too(sim_device_of(op));
}

static void leave_chip(sim_op *op)
{
    sim_chip *chip = &sim_device_of(op)->chip;
    sim_op **at = &chip->sides;
    while (*at != op)
        at = &(*at)->part.sides_next;
    *at = op->part.sides_next;
    chip->traffic_share -= op->part.traffic_share;
    use_link(op, -1);
    if (!chip->sides) /* no rounding error stays */
        chip->traffic_share = chip->link_share[0] = chip->link_share[1] = 0;
    chip->rates_dirty = true;
    sim_settle_too(sim_device_of(op));
}

/* The part of the memory's bandwidth that its input and output take in `us`. */
static double traffic_share(const sl_op *op, double us)
{
    const sim_profile *p = &((const sim_device *)op->stream->device)->profile;
    const double bytes = (double)(op->side[0].bytes + op->side[SL_OUTPUT].bytes);
    const double share = us > 0 ? bytes / (p->hbm_gb_per_s * 1e3) / us : 0;
    return share < 1 ? share : 1;
}

static void note_late(sim_op *op, const sim_op *last)
{
    op->base.met_ns = sim_device_of(op)->machine->now / SIM_PS_PER_NS;
    op->base.late_by = last->base.seq;
    op->base.late_rank = last->base.comm->rank;
}

/* All have come, `last` as the last one: it takes as long as the slowest GPU needs. */
static void begin(sim_meeting *m, const sim_op *last)
{
    sim_machine *machine = sim_meeting_device(m)->machine;
    double us = 0;
    for (const sim_op *op = m->ops; op; op = op->part.meeting_next) {
        const sim_comm_plan plan = sim_comm_plan_of(&op->base);
        if (plan.us < us) continue;
        us = plan.us;
        m->link_share = plan.link_share;
    }
    sim_fluid_start(&m->fluid, machine->now, (double)sim_us_to_ps(us));
    for (sim_op *op = m->ops; op; op = op->part.meeting_next) {
        op->part.traffic_share = traffic_share(&op->base, us);
        note_late(op, last);
        enter_chip(op);
    }
    set_rate(m, machine);
}

static void end_kernel_now(sim_op *carrier)
{
    sim_machine *machine = sim_device_of(carrier)->machine;
    carrier->fluid.node.what = SIM_COLLECTIVE_END;
    sim_heap_set(&machine->heap, &carrier->fluid.node, machine->now);
}

/* It captures what it reads, and is there. */
static void come(sim_op *op)
{
    sim_meeting *m = sim_meeting_of(op);
    if (op->base.side[0].buffer && !op->value[0])
        op->value[0] = sim_value_retain(((sim_buffer *)op->base.side[0].buffer)->value);
    if (++m->came == m->base.sides) begin(m, op);
}

void sim_collective_came(sim_op *carrier)
{
    if (sim_is_aborted(carrier)) {
        end_kernel_now(carrier);
        return;
    }
    for (sim_op *op = carrier; op; op = op->part.carried_next)
        come(op);
}

/* ---- over ---- */

void sim_meeting_end(sim_meeting *m)
{
    sim_comm_compute(m);
    for (sim_op *op = m->ops; op;) {
        sim_op *next = op->part.meeting_next;
        leave_chip(op);
        if (--op->part.carrier->part.meetings_left == 0) end_kernel_now(op->part.carrier);
        op = next;
    }
    SL__UNLINK(m, next, link);
}

/* Kernels that are complete on the SMs end now, the others when they are. */
static void abort_side(sim_op *op, bool is_under_way)
{
    sim_op *carrier = op->part.carrier;
    if (is_under_way) leave_chip(op);
    if (carrier->queued && carrier->launch.blocks == 0 && !carrier->fluid.node.slot)
        end_kernel_now(carrier);
}

void sim_meetings_abort(sim_machine *machine, const sl_comm_ranks *all)
{
    for (sim_meeting *m = machine->meetings, *next; m; m = next) {
        next = m->next;
        if (m->base.all != all) continue;
        const bool is_under_way = m->came == m->base.sides;
        sim_heap_remove(&machine->heap, &m->fluid.node);
        for (sim_op *op = m->ops; op; op = op->part.meeting_next)
            abort_side(op, is_under_way);
        SL__UNLINK(m, next, link);
    }
}

/* comm_cost.c - how many blocks a collective has, and how long it takes once all ranks have come.
 *
 * As NCCL's own model (its src/graph/tuning.cc): of two algorithms, a ring and a tree, and three
 * protocols the fastest is taken; each takes a base latency, a latency a step, and the time of its
 * bytes. Those pass through the blocks of the kernel, each of which has a rate, and over the GPU's
 * link: the time is the root of the sum of both squares (measured by the number of channels:
 * docs/design/simulator.md, section 4, "Collectives"). What was measured between two GPUs corrects
 * the model, also for more of them.
 */
#include "sim_comm.h"

#include <math.h>

#include "costs.h"

typedef enum protocol_id { LL, LL128, SIMPLE, PROTOCOLS } protocol_id;
typedef enum algorithm_id { RING, TREE, ALGORITHMS } algorithm_id;

/* A collective of `bytes`, as NCCL counts them: of all ranks' parts together. */
typedef struct job {
    sl_collective collective;
    double bytes;
    int ranks, nodes;
    double channels; /* at most */
} job;

/* ---- what an algorithm does ---- */

typedef struct course {
    double steps, net_steps; /* one after the other: within a node, from node to node */
    double passed;           /* of the bytes, through the blocks of a GPU */
    double sent;             /* of the bytes, over its link, one way */
} course;

/* A block reads what it sends and what it has received: a first step, n - 1 further ones. */
static course ring(const job *j)
{
    const double n = j->ranks, part = (n - 1) / n;
    switch (j->collective) {
    case SL_ALL_REDUCE: return (course){ 2 * (n - 1), 2.0 * j->nodes, 2 * part + 1 / n, 2 * part };
    case SL_ALL_GATHER:
    case SL_REDUCE_SCATTER: return (course){ n - 1, j->nodes - 1, 1, part };
    case SL_BROADCAST: return (course){ n - 1, j->nodes - 1, 1, n > 1 };
    case SL_SEND:
    case SL_RECV:
    case SL_COLLECTIVES: break;
    }
    return (course){ 1, j->nodes > 1, 1, 1 };
}

static double log2_of(int n)
{
    double steps = 0;
    for (int reached = 1; reached < n; reached *= 2)
        steps++;
    return steps;
}

/* Only sums go up a tree and down again. Within a node it is a chain. */
static course tree(const job *j)
{
    const double chain = (double)j->ranks / j->nodes - 1;
    const double net = 2 * log2_of(j->nodes);
    return (course){ 2 * chain + net, net, 3, 2 / 0.92 };
}

/* ---- time ---- */

typedef struct rates {
    double base_us, step_us, net_step_us;
    double channel_gb_per_s, link_gb_per_s;
} rates;

/* NCCL's model has LL128 at 0.92 of what SIMPLE moves. */
static rates rates_of(const sim_profile *p, protocol_id protocol)
{
    const double ll128 = 0.92;
    switch (protocol) {
    case LL:
        return (rates){ p->comm_ll_base_us, p->comm_ll_step_us, p->comm_ll_net_step_us,
                        p->comm_ll_channel_gb_per_s, p->comm_ll_link_gb_per_s };
    case LL128:
        return (rates){ p->comm_ll128_base_us, p->comm_ll128_step_us, p->comm_ll128_net_step_us,
                        p->comm_channel_gb_per_s * ll128, p->comm_link_gb_per_s * ll128 };
    default:
        return (rates){ p->comm_base_us, p->comm_step_us, p->comm_net_step_us,
                        p->comm_channel_gb_per_s, p->comm_link_gb_per_s };
    }
}

enum { MOST_THREADS = 512, LEAST_THREADS = 128, SIMPLE_MORE_THREADS = 32 };

/* Small messages get fewer blocks, and then blocks of fewer threads, until each thread has enough
 * bytes (NCCL's thread thresholds; measured: 1 KiB to 256 KiB). */
static void choose_blocks(const job *j, protocol_id protocol, int32_t *blocks, int32_t *threads)
{
    const double per_thread = protocol == SIMPLE ? 64 : 8.0 * j->ranks;
    const double enough = j->bytes / per_thread;
    *blocks = (int32_t)sl__max(1, sl__min(j->channels, enough / MOST_THREADS));
    *threads = MOST_THREADS;
    while (*threads > LEAST_THREADS && enough < *threads)
        *threads /= 2;
    if (protocol == SIMPLE) *threads = MOST_THREADS + SIMPLE_MORE_THREADS;
}

/* In the node's part of what all of its GPUs send to the next one. */
static double link_gb_per_s(const sim_profile *p, const job *j, const rates *r)
{
    return j->nodes > 1 ? sl__min(r->link_gb_per_s, p->comm_net_gb_per_s) : r->link_gb_per_s;
}

static sim_comm_plan plan_with(const sim_profile *p, const job *j, algorithm_id algorithm,
                               protocol_id protocol)
{
    const course c = algorithm == RING ? ring(j) : tree(j);
    const rates r = rates_of(p, protocol);
    sim_comm_plan plan;
    choose_blocks(j, protocol, &plan.blocks, &plan.threads);
    const double link_us = c.sent * j->bytes / (link_gb_per_s(p, j, &r) * 1e3);
    const double blocks_us = c.passed * j->bytes / (plan.blocks * r.channel_gb_per_s * 1e3);
    const double net_steps = j->nodes > 1 ? c.net_steps : 0;
    plan.us = r.base_us + (c.steps - net_steps) * r.step_us + net_steps * r.net_step_us
              + sqrt(link_us * link_us + blocks_us * blocks_us);
    plan.link_share = plan.us > 0 ? link_us / plan.us : 0;
    return plan;
}

static bool fits(const job *j, algorithm_id algorithm)
{
    return algorithm == RING || (j->collective == SL_ALL_REDUCE && j->ranks > 2);
}

/* The fastest. NCCL chooses before it knows a limit on channels: `channels` of the profile. */
static sim_comm_plan choose(const sim_profile *p, const job *given)
{
    job j = *given;
    int best_algorithm = RING, best_protocol = SIMPLE;
    double least_us = INFINITY;
    j.channels = p->comm_channels;
    for (int a = 0; a < ALGORITHMS; a++)
        for (int b = 0; b < PROTOCOLS && fits(&j, (algorithm_id)a); b++) {
            const double us = plan_with(p, &j, (algorithm_id)a, (protocol_id)b).us;
            if (us >= least_us) continue;
            least_us = us;
            best_algorithm = a;
            best_protocol = b;
        }
    return plan_with(p, given, (algorithm_id)best_algorithm, (protocol_id)best_protocol);
}

/* ---- as measured ---- */

static job between_two(const sim_profile *p, sl_collective collective, double bytes)
{
    return (job){ collective, bytes, 2, 1, p->comm_channels };
}

/* At row i of the table; its times include the gap between two kernels of a stream. */
static double ratio_at(const sim_profile *p, sl_collective collective, size_t i)
{
    const sim_table *table = &p->comm_us[collective];
    const job two = between_two(p, collective, table->x[i]);
    return sl__max(0.1, table->y[i] - p->stream_gap_us) / choose(p, &two).us;
}

/* Measured over modelled, between two GPUs. */
static double ratio(const sim_profile *p, sl_collective collective, double bytes)
{
    const sim_table *table = &p->comm_us[collective];
    size_t i = 0;
    if (table->n == 0) return 1;
    while (i < table->n && table->x[i] <= bytes)
        i++;
    if (i == 0 || i == table->n) return ratio_at(p, collective, i ? i - 1 : 0);
    const double part = (bytes - table->x[i - 1]) / (table->x[i] - table->x[i - 1]);
    const double low = ratio_at(p, collective, i - 1);
    return low + part * (ratio_at(p, collective, i) - low);
}

/* So many ranks are between two GPUs when as many bytes go over a link. */
static double corrected(const sim_profile *p, const job *j)
{
    sl_collective like = j->collective;
    job two = between_two(p, like, j->bytes);
    if (j->ranks < 2 || j->nodes > 1) return 1;
    if (like == SL_SEND || like == SL_RECV) like = SL_BROADCAST; /* estimate: not measured */
    return ratio(p, like, j->bytes * ring(j).sent / ring(&two).sent);
}

/* ---- the interface ---- */

sim_comm_plan sim_comm_plan_of(const sl_op *op)
{
    const sim_profile *p = &((const sim_device *)op->stream->device)->profile;
    const sl_comm_ranks *all = op->comm->all;
    const int ranks = all->size, per_node = (int)p->comm_gpus_per_node;
    job j = { .collective = (sl_collective)op->work.collective,
              .bytes = (double)op->work.bytes,
              .ranks = ranks,
              .nodes = (ranks + per_node - 1) / per_node,
              .channels = all->options.channels > 0 ? all->options.channels : p->comm_channels };
    if (j.collective == SL_SEND || j.collective == SL_RECV)
        j.nodes = op->comm->rank / per_node != (int)op->work.peer / per_node ? 2 : 1;
    sim_comm_plan plan = choose(p, &j);
    const double factor = corrected(p, &j);
    plan.us *= factor;
    plan.link_share = sl__min(1, plan.link_share / factor);
    return plan;
}

/* NCCL 2.28's kernel on an H100. */
enum { REGISTERS_PER_THREAD = 96, SHARED_BYTES = 103808 };

/* Clusters as NCCL has them, where an idle chip has room for all. */
static int32_t cluster_of(const sim_profile *p, int64_t blocks)
{
    const int64_t cluster = (int64_t)p->comm_cluster, gpcs = (int64_t)p->comm_gpcs;
    const int64_t room = (int64_t)p->sm_count / gpcs / cluster * cluster * gpcs;
    return blocks % cluster == 0 && blocks <= room ? (int32_t)cluster : 1;
}

void sim_comm_launch(const sim_device *dev, const sim_comm_plan *plan, sim_launch *launch)
{
    const sim_profile *p = &dev->profile;
    const double shared = sl__min(SHARED_BYTES, p->shared_bytes_per_block);
    *launch = (sim_launch){
        .threads = plan->threads,
        .registers = plan->threads * REGISTERS_PER_THREAD,
        .shared_bytes = (int64_t)shared + (int64_t)p->shared_reserved_bytes,
    };
    const double most = p->sm_count * (double)sim_chip_blocks_per_sm(dev, launch);
    launch->blocks = (int64_t)sl__min(plan->blocks, most);
    launch->grid = (uint32_t)launch->blocks;
    launch->cluster = cluster_of(p, launch->blocks);
    sim_chip_complete(dev, launch);
}

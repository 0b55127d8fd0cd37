/* t-61-phases.c - forward, backward and optimizer: whose part in the backward pass operations are,
 * by the sequence numbers of PyTorch's operators.
 */
#include "foreign.h"

#define OP(tid, name, ts, dur, args)                                                    \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":9,\"tid\":" #tid ",\"name\":\"" name "\"" \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{" args "}},"
#define MAKES(node) "\"Fwd thread id\":0,\"Sequence number\":" #node
#define RUNS(node) "\"Fwd thread id\":1,\"Sequence number\":" #node
#define HOST(cat, name, ts, dur)                                                              \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"pid\":9,\"tid\":9,\"name\":\"" name "\",\"ts\":" #ts \
    ",\"dur\":" #dur "},"
/* Launched by a thread, and the GPU's work. */
#define RUN(tid, name, ts, dur, id)                                                          \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":9,\"tid\":" #tid                         \
    ",\"name\":\"cudaLaunchKernel\",\"ts\":" #ts ",\"dur\":1,\"args\":{\"correlation\":" #id \
    "}},{" K7 "\"name\":\"" name "\",\"ts\":" #id "000,\"dur\":" #dur                        \
    ",\"args\":{\"stream\":7,\"device\":0,\"correlation\":" #id "}},"

/* us       10 .. 20      30   40 .. 48        60 .. 90         100 .. 110   120
 * python   |train 5 ..................................................................140|
 *           |model 10 .. 50: calls the modules|
 * module    |Linear_0|        |ReLU_0|
 * op        |linear 7|   |to|  |relu 8|                        |Optimizer.step|
 * thread 8                                    |relu's |addmm's|grad|         */
/* clang-format off */
static const char training[] = "["
    HOST("python_function", "train.py(3): train", 5, 135)
    HOST("python_function", "model.py(9): forward", 10, 40)
    HOST("python_function", "nn.Module: Linear_0", 10, 10)
    HOST("python_function", "nn.Module: ReLU_0", 40, 8)
    OP(9, "aten::linear", 10, 10, MAKES(7)) OP(9, "aten::t", 11, 1, MAKES(7))
    OP(9, "aten::addmm", 13, 6, MAKES(8)) RUN(9, "gemm", 14, 100, 1)
    OP(9, "aten::to", 30, 5, MAKES(9)) RUN(9, "cast", 31, 10, 2)
    OP(9, "aten::relu", 40, 8, MAKES(9)) RUN(9, "relu", 42, 20, 3)
    OP(8, "autograd::engine::evaluate_function: ReluBackward0", 60, 10, RUNS(9))
    OP(8, "ReluBackward0", 61, 8, RUNS(9)) RUN(8, "relu_back", 62, 30, 4)
    OP(8, "autograd::engine::evaluate_function: AddmmBackward0", 70, 10, RUNS(8))
    OP(8, "AddmmBackward0", 71, 4, RUNS(8)) RUN(8, "gemm_back", 72, 200, 5)
    OP(8, "aten::sum", 76, 3, MAKES(-1)) RUN(8, "sum", 77, 40, 6)
    OP(8, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 82, 8, RUNS(-1))
    RUN(8, "add", 83, 5, 7)
    HOST("user_annotation", "Optimizer.step#SGD.step", 100, 10)
    OP(9, "aten::_foreach_add_", 101, 8, "\"Ev Idx\":4") RUN(9, "sgd", 102, 7, 8)
    RUN(9, "own", 120, 3, 9)
    "{\"ph\":\"X\",\"cat\":\"Trace\",\"pid\":9,\"tid\":9,\"name\":\"t\",\"ts\":5,\"dur\":200}]";
/* clang-format on */

static sl_share *shares;
static size_t n_shares;

static void look(const sl_timeline *tl, sl_by by)
{
    sl_error err;
    free(shares);
    must(sl_timeline_breakdown(tl, by, &shares, &n_shares, &err), &err);
}

static int64_t time_of_id(uint32_t id)
{
    for (size_t i = 0; i < n_shares; i++)
        if (shares[i].id == id) return shares[i].sum_ns;
    return -1;
}

/* Of the row with that name; -1: there is none. */
static int64_t time_of(const sl_timeline *tl, const char *name)
{
    for (size_t i = 0; i < n_shares; i++)
        if (strcmp(sl_timeline_text(tl, shares[i].id), name) == 0) return shares[i].sum_ns;
    return -1;
}

static void test_phases(void)
{
    sl_timeline *tl = events(training);
    look(tl, SL_BY_PHASE);
    is_int(time_of_id(SL_PHASE_FORWARD), 120000, "gemm and relu made nodes, or are in a module");
    is_int(time_of_id(SL_PHASE_BACKWARD), 275000, "all that autograd runs is of the backward pass");
    is_int(time_of_id(SL_PHASE_OPTIMIZER), 7000, "what an optimizer launches is its own");
    is_int(time_of_id(SL_PHASE_OTHER), 13000,
           "an operator whose number is that of the next one's node, and the program, are others");
    sl_timeline_release(tl);
}

static void test_backward(void)
{
    sl_timeline *tl = events(training);
    look(tl, SL_BY_MODULE);
    is_int(time_of(tl, "Linear_0"), 340000,
           "a module has what its operators' nodes ran, and what autograd did with the result");
    is_int(time_of(tl, "ReLU_0"), 50000, "each its own");
    is_int(time_of(tl, ""), 25000, "sums of gradients and the optimizer are in none");
    look(tl, SL_BY_LINE);
    is_int(time_of(tl, "model.py(9): forward"), 400000, "so does a function in Python");
    is_int(time_of(tl, "train.py(3): train"), 15000, "the rest is the caller's");
    sl_timeline_release(tl);
}

/* Two steps: a second graph of nodes begins with the numbers of the first. */
static void test_same_numbers(void)
{
    sl_timeline *tl = events(
        "[" OP(9, "aten::mm", 10, 5, MAKES(0)) HOST("python_function", "nn.Module: First_0", 9, 9)
            OP(8, "MmBackward0", 20, 5, RUNS(0)) RUN(8, "first", 21, 10, 1)
                OP(9, "aten::mm", 30, 5, MAKES(0)) HOST("python_function", "nn.Module: Second_0",
                                                        29, 9) RUN(9, "forward", 31, 3, 2)
                    OP(8, "MmBackward0", 40, 5, RUNS(0)) RUN(8, "second", 41, 20, 3) "{}]");
    look(tl, SL_BY_MODULE);
    is_int(time_of(tl, "First_0"), 10000, "a node is the last one of its number before");
    is_int(time_of(tl, "Second_0"), 23000, "so that each step has its own");
    sl_timeline_release(tl);
}

/* Without a backward pass every operator is forward; without operators nothing is known. */
static void test_inference(void)
{
    sl_timeline *tl = events("[" OP(9, "aten::mm", 10, 5, "\"Ev Idx\":4") RUN(9, "mm", 11, 10, 1)
                                 RUN(9, "own", 20, 4, 2) "{}]");
    look(tl, SL_BY_PHASE);
    is_int(time_of_id(SL_PHASE_FORWARD), 10000, "an operator of an inference is forward");
    is_int(time_of_id(SL_PHASE_OTHER), 4000, "a launch without one is not");
    sl_timeline_release(tl);
}

/* Ranges of NVTX: what is around a node has no number. And lines of a recording. */
static void add(sl_timeline *tl, const char *name, uint32_t thread, int64_t start_ns,
                int64_t end_ns, uint32_t node, bool is_backward)
{
    const sl_host_range range = { .start_ns = start_ns,
                                  .end_ns = end_ns,
                                  .name = text_id(tl, name),
                                  .thread = thread,
                                  .node = node,
                                  .kind = SL_HOST_RANGE_OPERATOR,
                                  .is_backward = is_backward };
    sl_error err;
    must(sl_timeline_add_host_range(tl, &range, &err), &err);
}

static void launch(sl_timeline *tl, uint64_t id, uint32_t thread, int64_t host_ns,
                   const char *where)
{
    sl_error err;
    const sl_span span = { .correlation = id,
                           .name = text_id(tl, "k"),
                           .where = text_id(tl, where),
                           .kind = SL_SPAN_KERNEL,
                           .engine = SL_ENGINE_COMPUTE,
                           .host_start_ns = host_ns,
                           .host_end_ns = host_ns + 2,
                           .start_ns = (int64_t)id * 1000,
                           .end_ns = (int64_t)id * 1000 + 100 };
    const sl_thread_note note = { .correlation = id, .thread = thread };
    must(sl_timeline_add_span(tl, &span, &err), &err);
    if (thread > 0) must(sl_timeline_add_thread(tl, &note, &err), &err);
}

static void test_recorded(void)
{
    sl_timeline *tl = make();
    add(tl, "aten::mm", 0, 10, 20, 6, false);
    launch(tl, 1, 0, 12, "model.py:9 in forward");
    add(tl, "autograd::engine::evaluate_function: MmBackward0", 1, 30, 50, 0, true);
    add(tl, "MmBackward0", 1, 31, 40, 6, true);
    add(tl, "aten::sum", 1, 42, 48, 0, false);
    launch(tl, 2, 1, 33, "train.py:20 in main (other thread)");
    launch(tl, 3, 1, 44, "train.py:20 in main (other thread)");
    sl_timeline_finish(tl, 0, 100);
    look(tl, SL_BY_PHASE);
    is_int(time_of_id(SL_PHASE_BACKWARD), 200, "what autograd runs around a node is backward, too");
    look(tl, SL_BY_LINE);
    is_int(time_of(tl, "model.py:9 in forward"), 300,
           "its line is that at which the forward operator launched");
    sl_timeline_release(tl);
}

static void test_lines_alone(void)
{
    static const char *const where = "train.py:20 in main (other thread)";
    sl_error err;
    sl_timeline *tl = make();
    launch(tl, 1, 0, 10, "train.py:20 in main");
    launch(tl, 2, 1, 20, where);
    must(sl_timeline_set_source(tl, text_id(tl, where), "loss.backward()", &err), &err);
    sl_timeline_finish(tl, 0, 100);
    look(tl, SL_BY_PHASE);
    is_int(time_of_id(SL_PHASE_BACKWARD), 100,
           "without operators it is what another thread launches while backward() waits");
    sl_timeline_release(tl);
}

int main(void)
{
    test_phases();
    test_backward();
    test_same_numbers();
    test_inference();
    test_recorded();
    test_lines_alone();
    free(shares);
    return done_testing();
}

/* t-61-ranges.c - what the host was about in traces of PyTorch's profiler: operators, functions in
 * Python, modules, annotations and steps, and the operations by them.
 */
#include "foreign.h"

#define HOST(cat, tid, name, ts, dur)                                                    \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"pid\":9,\"tid\":" #tid ",\"name\":\"" name "\"" \
    ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"Ev Idx\":1}}"
#define OP(tid, name, ts, dur) HOST("cpu_op", tid, name, ts, dur)
#define WRONG(tid, name, dur)                                                   \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":9,\"tid\":" tid ",\"name\":" name \
    ",\"ts\":1,\"dur\":" dur "}"
#define PYTHON(name, ts, dur) HOST("python_function", 9, name, ts, dur)
#define RUN(name, ts, dur, id)                                  \
    "{" K7 "\"name\":\"" name "\",\"ts\":" #ts ",\"dur\":" #dur \
    ",\"args\":{\"stream\":7,\"device\":0,\"correlation\":" #id "}}"
#define CALL_BY(tid, ts, dur, id)                                    \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"pid\":9,\"tid\":" #tid \
    ",\"name\":\"cudaLaunchKernel\",\"ts\":" #ts ",\"dur\":" #dur    \
    ",\"args\":{\"correlation\":" #id "}}"

#define NAMED(tid, name)                                                                    \
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":9,\"tid\":" #tid ",\"ts\":0,\"args\":{" \
    "\"name\":\"thread " #tid " (" name ")\"}}"

/* us      10 .. 14 .. 20        25            60 .. 70                80
 * step    |ProfilerStep#1 10 to 50          ||ProfilerStep#2 50 to 75|
 * python  |main 10 ................................................90|
 *           |torch/nn 11 .. 22|
 * module    |Linear_0 11 ... 22|
 * op        |linear 12 .. 20|
 *              |addmm 14 .18|
 * calls         15            25            62 (thread 8, autograd)  80
 * thread 8                                |backward 60 .. 70|        */
/* clang-format off */
static const char step_list[] =
    "[" HOST("user_annotation", 9, "ProfilerStep#1", 10, 40) ","
    HOST("user_annotation", 9, "ProfilerStep#2", 50, 25) ","
    HOST("user_annotation", 9, "Optimizer.step#SGD.step", 24, 6) ","
    PYTHON("train.py(3): main", 10, 80) ","
    PYTHON("torch/nn/modules/linear.py(116): forward", 11, 11) ","
    PYTHON("<built-in method linear of type object at 0x7f>", 12, 8) ","
    PYTHON("nn.Module: Linear_0", 11, 11) ","
    OP(9, "aten::linear", 12, 8) "," OP(9, "aten::addmm", 14, 4) ","
    OP(8, "autograd::engine::evaluate_function: AddmmBackward0", 60, 10) ","
    OP(5, "aten::of_a_thread_without_calls", 10, 80) ","
    CALL_BY(9, 15, 2, 1) "," CALL_BY(9, 25, 2, 2) "," CALL_BY(8, 62, 2, 3) ","
    CALL_BY(9, 80, 2, 4) ","
    RUN("gemm", 20, 10, 1) "," RUN("sgd", 40, 5, 2) "," RUN("gemm", 64, 20, 3) ","
    RUN("copy", 90, 3, 4) "," RUN("late", 95, 1, 5) "]";
/* clang-format on */

static sl_share *shares;
static size_t n_shares;

static void look(const sl_timeline *tl, sl_by by)
{
    sl_error err;
    free(shares);
    must(sl_timeline_breakdown(tl, by, &shares, &n_shares, &err), &err);
}

/* Of the row with that name; -1: there is none. */
static int64_t time_of(const sl_timeline *tl, const char *name)
{
    for (size_t i = 0; i < n_shares; i++)
        if (strcmp(sl_timeline_text(tl, shares[i].id), name) == 0) return shares[i].sum_ns;
    return -1;
}

static void test_rows(void)
{
    sl_timeline *tl = events(step_list);
    look(tl, SL_BY_OPERATOR);
    is_int((int64_t)n_shares, 3, "two operators launched work, and nothing did");
    is_int(time_of(tl, "aten::addmm"), 10000, "the innermost operator of a thread counts");
    is_int(time_of(tl, "autograd::engine::evaluate_function: AddmmBackward0"), 20000,
           "that of autograd's thread, too");
    is_int(time_of(tl, ""), 9000, "an operation without a launch in the file has none");
    look(tl, SL_BY_MODULE);
    is_int(time_of(tl, "Linear_0"), 10000, "a module is known by its number");
    look(tl, SL_BY_LINE);
    is_int(time_of(tl, "train.py(3): main"), 38000,
           "functions of PyTorch are passed over; the main thread waits for autograd's");
    look(tl, SL_BY_STEP);
    is_str(sl_timeline_text(tl, shares[0].id), "", "work of no step comes first,");
    is_str(sl_timeline_text(tl, shares[1].id), "ProfilerStep#1", "then the steps in their order");
    is_int(time_of(tl, "ProfilerStep#1"), 15000, "work is of the step in which it was launched,");
    is_int(time_of(tl, "ProfilerStep#2"), 20000, "also by another thread");
    sl_timeline_release(tl);
}

/* Thread 8 works within an operator of thread 9, and beside it: their calls never overlap.
 * us        10 ................... 50
 * thread 9  |train.py(3): main 10 to 90|  |aten::all 10 to 50|   calls at 12, 60
 * thread 8                                |own 30 to 34|         calls at 20, 31            */
static void test_own_thread(void)
{
    /* clang-format off */
    sl_timeline *tl = events("[" PYTHON("train.py(3): main", 10, 80) "," OP(9, "aten::all", 10, 40) ","
                             OP(8, "own", 30, 4) ","
                             NAMED(9, "python3") "," NAMED(8, "python3") ","
                             NAMED(8, "pt_autograd_0") ","
                             CALL_BY(9, 12, 2, 1) "," CALL_BY(8, 20, 2, 2) ","
                             CALL_BY(8, 31, 2, 3) "," CALL_BY(9, 60, 2, 4) ","
                             RUN("k", 100, 1, 1) "," RUN("k", 110, 2, 2) ","
                             RUN("k", 120, 4, 3) "," RUN("k", 130, 8, 4) "]");
    /* clang-format on */
    look(tl, SL_BY_OPERATOR);
    is_int(time_of(tl, "aten::all"), 1000, "an operator has what its own thread launched,");
    is_int(time_of(tl, "own"), 4000, "that of another thread likewise,");
    is_int(time_of(tl, ""), 10000, "and what a thread launched outside of its own has none");
    look(tl, SL_BY_LINE);
    is_int(time_of(tl, "train.py(3): main"), 15000,
           "a function has also what the threads launched that it hands work over to");
    is_int(sl_timeline_thread_count(tl), 2, "the threads are two,");
    is_int(sl_timeline_caller_count(tl), 1, "and one caller");
    is_str(sl_timeline_thread_name(tl, 0), "python3", "the main thread has its name,");
    is_str(sl_timeline_thread_name(tl, 1), "pt_autograd_0",
           "and another not the one that it began with");
    sl_timeline_release(tl);
}

static void test_kinds(void)
{
    static const int expected[SL_HOST_RANGE_KINDS] = {
        [SL_HOST_RANGE_OPERATOR] = 3, [SL_HOST_RANGE_PYTHON] = 1, [SL_HOST_RANGE_LIBRARY] = 2,
        [SL_HOST_RANGE_MODULE] = 1,   [SL_HOST_RANGE_STEP] = 2,   [SL_HOST_RANGE_ANNOTATION] = 1,
    };
    sl_timeline *tl = events(step_list);
    for (int kind = 0; kind < SL_HOST_RANGE_KINDS; kind++) {
        size_t n;
        sl_timeline_host_ranges_of(tl, (sl_host_range_kind)kind, &n);
        is_int((int64_t)n, expected[kind], "ranges of kind %d, without threads that call nothing",
               kind);
    }
    sl_timeline_release(tl);
}

/* In whole microseconds a range and one within it may have the same times. */
static void test_same_times(void)
{
    sl_timeline *tl = events("[" OP(9, "inner", 1, 2) "," OP(9, "outer", 10, 5) "," OP(
        9, "inner", 10, 5) "," CALL_BY(9, 11, 2, 1) "," RUN("gemm", 20, 10, 1) "]");
    look(tl, SL_BY_OPERATOR);
    is_int(time_of(tl, "inner"), 10000, "of ranges with the same times the later one is within");
    sl_timeline_release(tl);
}

/* What is wrong with a range costs that range. */
static void test_wrong(void)
{
    sl_timeline *tl = events("[" WRONG("9", "7", "90") "," WRONG("{}", "\"x\"", "{}") "," WRONG(
        "9", "\"y\"", "-9") "," WRONG("9", "\"\"",
                                      "90") "," OP(9, "aten::mm", 12,
                                                   5) "," CALL_BY(9, 13, 2, 1) "," RUN("gemm", 20,
                                                                                       10, 1) "]");
    look(tl, SL_BY_OPERATOR);
    is_int((int64_t)n_shares, 1, "ranges without times or names are left out");
    is_int(time_of(tl, "aten::mm"), 10000, "and others stay");
    sl_timeline_release(tl);
}

int main(void)
{
    test_rows();
    test_own_thread();
    test_kinds();
    test_same_times();
    test_wrong();
    free(shares);
    return done_testing();
}

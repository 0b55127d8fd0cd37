/* t-61-nvtx-names.c - what ranges of NVTX are called by PyTorch's emit_nvtx() and by programs:
 * operators, annotations, and steps.
 */
#include "make.h"

#include "../../core/timeline/step_names.h"
#include "../../core/traces/torch_nvtx.h"

static sl_host_range range_of(sl_timeline *tl, const char *name)
{
    return (sl_host_range){ .end_ns = 10, .name = text_id(tl, name), .kind = SL_HOST_RANGE_NVTX };
}

/* What is taken of a name: "operator aten::mm". */
static void takes(const char *name, const char *expected, const char *what)
{
    char got[100];
    sl_error err;
    sl_timeline *tl = make();
    sl_host_range range = range_of(tl, name);
    must(sl__torch_nvtx_take(tl, &range, &err), &err);
    snprintf(got, sizeof got, "%s %s", sl_host_range_kind_name((sl_host_range_kind)range.kind),
             sl_timeline_text(tl, range.name));
    is_str(got, expected, "%s", what);
    sl_timeline_release(tl);
}

static void test_operators(void)
{
    takes("aten::linear, op_id = 12", "operator aten::linear", "an operator loses its number");
    takes("aten::addmm, seq = 5, op_id = 3, sizes = [[8], [8, 4], [4, 8]]", "operator aten::addmm",
          "all numbers, and shapes");
    takes("AddmmBackward0, seq = 5", "operator AddmmBackward0",
          "a backward function has no namespace");
    takes("autograd::engine::evaluate_function: AddmmBackward0, op_id = 4",
          "operator autograd::engine::evaluate_function: AddmmBackward0",
          "what autograd runs around it");
    takes("Optimizer.step#Adam.step, op_id = 7", "annotation Optimizer.step#Adam.step",
          "a range of record_function is an annotation, as in PyTorch's profiler");
    takes("CppNode<A, B>, seq = 1", "operator CppNode<A, B>", "a comma may be part of a name");
    takes("step 5", "nvtx step 5", "a range of the program stays as it is");
    takes("load, seq = none", "nvtx load, seq = none", "also with a comma");
    takes(", op_id = 3", "nvtx , op_id = 3", "and what has no name but numbers");
}

static void takes_node(const char *name, uint32_t node, bool is_backward)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_host_range range = range_of(tl, name);
    must(sl__torch_nvtx_take(tl, &range, &err), &err);
    ok(range.node == node && range.is_backward == is_backward, "%s: its node, and whether it runs",
       name);
    sl_timeline_release(tl);
}

static void test_nodes(void)
{
    takes_node("aten::addmm, seq = 5, op_id = 3", 6, false);
    takes_node("AddmmBackward0, seq = 0, op_id = 4", 1, true);
    takes_node("CompiledFunctionBackward, seq = 2", 3, true);
    takes_node("autograd::engine::evaluate_function: AddmmBackward0, op_id = 4", 0, true);
    takes_node("aten::gelu_backward, op_id = 9", 0, false);
    takes_node("BackwardHook, seq = 3", 4, false);
    takes_node("aten::mm, seq = 2147483647", 0, false);
    takes_node("aten::mm, seq = 99999999999999999999999", 0, false);
    takes_node("step 5", 0, false);
}

static void test_other_kinds(void)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_host_range range = range_of(tl, "aten::mm, op_id = 1");
    range.kind = SL_HOST_RANGE_ANNOTATION;
    must(sl__torch_nvtx_take(tl, &range, &err), &err);
    is_int(range.kind, SL_HOST_RANGE_ANNOTATION, "what is no range of NVTX stays, too");
    sl_timeline_release(tl);
}

/* ---- steps ---- */

static size_t steps_of(const sl_timeline *tl)
{
    size_t n;
    sl_timeline_host_ranges_of(tl, SL_HOST_RANGE_STEP, &n);
    return n;
}

/* Of a timeline whose only range has this name and kind. */
static size_t steps_by(const char *name, sl_host_range_kind kind)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_host_range range = range_of(tl, name);
    range.kind = (uint8_t)kind;
    must(sl_timeline_add_host_range(tl, &range, &err), &err);
    sl_timeline_finish(tl, 0, 100);
    const size_t n = steps_of(tl);
    sl_timeline_release(tl);
    return n;
}

static void test_called_step(void)
{
    static const char *const steps[] = { "step 5",       "Step_12",       "ProfilerStep#3",
                                         "iteration: 7", "train_step 40", "Training iter-2",
                                         "step0" };
    static const char *const others[] = {
        "step", "footstep 5", "optimizer step 5", "step 5 of 9",
        "5",    "epoch 3",    "train 3",          "step 5555555555555555555"
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        is_int(steps_by(steps[i], SL_HOST_RANGE_NVTX), 1, "\"%s\" is a step", steps[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        is_int(steps_by(others[i], SL_HOST_RANGE_NVTX), 0, "\"%s\" is none", others[i]);
    is_int(steps_by("step 5", SL_HOST_RANGE_ANNOTATION), 1, "an annotation may be one");
    is_int(steps_by("step 5", SL_HOST_RANGE_PYTHON), 0, "a function is none");
}

static void test_numbers(void)
{
    int64_t number = -1;
    ok(sl_step_number("train_step 40", &number) && number == 40, "a step has its number");
    ok(sl_step_number("ProfilerStep#3", &number) && number == 3, "so has one of the profiler");
    ok(!sl_step_number("step", &number) && !sl_step_number("7", &number)
           && !sl_step_number("", &number),
       "a name without one has none, nor has a number without a name");
}

static void test_steps(void)
{
    sl_error err;
    sl_timeline *tl = make();
    sl_host_range step = range_of(tl, "step 5");
    step.thread = 3;
    must(sl_timeline_add_host_range(tl, &step, &err), &err);
    sl_timeline_finish(tl, 0, 100);
    is_int(steps_of(tl), 1, "a range that is called a step is one,");
    is_int(sl_timeline_host_range_count(tl), 2, "and stays a range of its thread");
    sl_timeline_release(tl);

    tl = make();
    sl_host_range profiled = range_of(tl, "ProfilerStep#1");
    step = range_of(tl, "step 5");
    profiled.kind = SL_HOST_RANGE_STEP;
    must(sl_timeline_add_host_range(tl, &step, &err), &err);
    must(sl_timeline_add_host_range(tl, &profiled, &err), &err);
    sl_timeline_finish(tl, 0, 100);
    is_int(steps_of(tl), 1, "where the profiler has marked steps there are no others");
    sl_timeline_release(tl);
}

int main(void)
{
    test_operators();
    test_nodes();
    test_other_kinds();
    test_called_step();
    test_numbers();
    test_steps();
    return done_testing();
}

/* phases.c - forward, backward, optimizer: by the ranges of the host around a launch. */
#include "timeline.h"

#include <string.h>

#define OPTIMIZER "Optimizer."
#define OTHER_THREAD " (other thread)" /* ends the line of a call that no line of its thread made */

const char *sl_phase_name(sl_phase phase)
{
    switch (phase) {
    case SL_PHASE_FORWARD: return "forward";
    case SL_PHASE_BACKWARD: return "backward";
    case SL_PHASE_OPTIMIZER: return "optimizer";
    case SL_PHASE_OTHER:
    case SL_PHASES: break;
    }
    return "";
}

/* ---- ranges around a launch ---------------------------------------------------------------- */

/* A call that takes no time is one that the file does not have. */
static size_t innermost(const sl_timeline *timeline, const sl_span *span, sl_host_range_kind kind)
{
    if (span->host_start_ns >= span->host_end_ns) return SL_NOT_FOUND;
    return sl_timeline_find_host_range(
        timeline, kind, sl_timeline_thread(timeline, span->correlation), span->host_start_ns);
}

static bool is_in_optimizer(const sl_timeline *timeline, const sl_span *span,
                            sl_host_range_kind kind)
{
    size_t at = innermost(timeline, span, kind);
    for (; at != SL_NOT_FOUND; at = sl_timeline_host_range_around(timeline, at)) {
        const char *name = sl_timeline_text(timeline, sl_timeline_host_range(timeline, at).name);
        if (strncmp(name, OPTIMIZER, strlen(OPTIMIZER)) == 0) return true;
    }
    return false;
}

/* The innermost operator around the launch that is of the backward pass, or is not, and of which
 * the forward one is known if it has to be. */
static size_t find_operator(const sl_timeline *timeline, const sl_span *span, bool is_backward,
                            bool is_linked)
{
    size_t at = innermost(timeline, span, SL_HOST_RANGE_OPERATOR);
    for (; at != SL_NOT_FOUND; at = sl_timeline_host_range_around(timeline, at)) {
        if (sl_timeline_host_range(timeline, at).is_backward == is_backward
            && (!is_linked || sl_timeline_forward_of(timeline, at) != SL_NOT_FOUND))
            break;
    }
    return at;
}

size_t sl_timeline_forward_operator(const sl_timeline *timeline, const sl_span *span)
{
    if (!sl_timeline_has_nodes(timeline)) return SL_NOT_FOUND;
    const size_t at = find_operator(timeline, span, true, true);
    return at == SL_NOT_FOUND ? at : sl_timeline_forward_of(timeline, at);
}

size_t sl_timeline_node_operator(const sl_timeline *timeline, const sl_span *span)
{
    if (!sl_timeline_has_nodes(timeline)) return SL_NOT_FOUND;
    return find_operator(timeline, span, false, true);
}

/* ---- phases -------------------------------------------------------------------------------- */

/* By the line alone: autograd's threads run nothing in Python, while backward() waits for them. */
static bool waits_for_backward(const sl_timeline *timeline, const sl_span *span)
{
    const char *where = sl_timeline_text(timeline, span->where);
    const char *line = sl_timeline_source(timeline, span->where);
    const size_t n = strlen(where), end = strlen(OTHER_THREAD);
    return n > end && strcmp(where + n - end, OTHER_THREAD) == 0
           && (strstr(line, "backward(") || strstr(line, "autograd.grad("));
}

static bool is_backward(const sl_timeline *timeline, const sl_span *span)
{
    if (!sl_timeline_has_backward(timeline)) return waits_for_backward(timeline, span);
    return find_operator(timeline, span, true, false) != SL_NOT_FOUND;
}

static bool is_forward(const sl_timeline *timeline, const sl_span *span)
{
    return find_operator(timeline, span, false, sl_timeline_has_nodes(timeline)) != SL_NOT_FOUND
           || innermost(timeline, span, SL_HOST_RANGE_MODULE) != SL_NOT_FOUND;
}

sl_phase sl_timeline_phase(const sl_timeline *timeline, const sl_span *span)
{
    if (is_in_optimizer(timeline, span, SL_HOST_RANGE_ANNOTATION)
        || is_in_optimizer(timeline, span, SL_HOST_RANGE_OPERATOR))
        return SL_PHASE_OPTIMIZER;
    if (is_backward(timeline, span)) return SL_PHASE_BACKWARD;
    return is_forward(timeline, span) ? SL_PHASE_FORWARD : SL_PHASE_OTHER;
}

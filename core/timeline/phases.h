/* phases.h - which part of a training each operation is of. */
#ifndef SL_TIMELINE_PHASES_H
#define SL_TIMELINE_PHASES_H

#include "spans.h"

typedef enum sl_phase {
    SL_PHASE_OTHER,
    SL_PHASE_FORWARD,
    SL_PHASE_BACKWARD,
    SL_PHASE_OPTIMIZER,
    SL_PHASES
} sl_phase;

const char *sl_phase_name(sl_phase phase); /* "forward"; "" of OTHER */

/* By what the host was about when it launched the operation.
 * OPTIMIZER: in a range that PyTorch's optimizers mark ("Optimizer.step#Adam.step").
 * BACKWARD: in an operator of the backward pass; or, without operators, in no function of Python,
 * while a line that calls backward() waits for it.
 * FORWARD: in an operator that made a node which the backward pass has run, or in a module; where
 * no such nodes are known, in any operator. */
sl_phase sl_timeline_phase(const sl_timeline *timeline, const sl_span *span);

/* Of an operation of the backward pass: the range of the operator that made the node which it is
 * part of. SL_NOT_FOUND: of others, or not known. */
size_t sl_timeline_forward_operator(const sl_timeline *timeline, const sl_span *span);
/* Of one of the forward pass: the range of the operator that launched it and made a node. */
size_t sl_timeline_node_operator(const sl_timeline *timeline, const sl_span *span);

#endif

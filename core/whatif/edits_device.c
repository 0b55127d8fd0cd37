/* edits_device.c - changes of operations of the device: how long they take, and which they are. */
#include "../base.h"
#include "edits_change.h"

bool sl__edit_scale(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    step->work_ns *= c->number;
    step->work_less_ns *= c->number;
    step->work_more_ns *= c->number;
    return true;
}

/* A copy that its call waited for still holds it, unless a synchronisation behind it does. */
bool sl__edit_pin(sl__change *c, uint32_t i)
{
    sl__step *step = &c->p->steps[i];
    const double length_ns = (double)(step->end_ns - step->start_ns);
    const double pinned_ns = (double)sl__pinned_ns(&c->pinned, sl__span_of(c, i));
    if (length_ns > 0) step->work_ns *= sl__min(1.0, pinned_ns / length_ns);
    step->is_pinned = true;
    step->by_host = false;
    if (step->awaits == SL__AWAITS_START) {
        const bool waits = sl__sync_behind(c, i) == SL__NO_STEP;
        step->awaits = waits ? SL__AWAITS_END : SL__AWAITS_NOTHING;
        step->return_ns = waits ? sl__min(step->return_ns, SL__CALL_NS) : 0;
        step->call_ns = sl__min(step->call_ns, SL__CALL_NS);
    }
    return true;
}

bool sl__edit_priority(sl__change *c, uint32_t i)
{
    c->p->steps[i].priority = (int32_t)c->number;
    return true;
}

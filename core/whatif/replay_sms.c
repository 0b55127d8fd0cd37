/* replay_sms.c - kernels that share the SMs of a GPU in a replay, and did not when it was
 * recorded. */
#include "../timeline/store.h"
#include "replay_pass.h"

typedef sl__pass pass;

static int place_of(const pass *p, const sl_span *span)
{
    return sl_timeline_place(p->r->ops->timeline, span->stream);
}

bool sl__fills_gpu(const sl_timeline *timeline, const sl_span *span)
{
    int place = sl_timeline_place(timeline, span->stream);
    int sm_count = sl_timeline_device_at(timeline, place)->sm_count;
    return span->kind == SL_SPAN_KERNEL
           && (span->blocks == 0 || sm_count <= 0 || (int64_t)span->blocks >= sm_count);
}

/* The share of the SMs that it takes with a block on each. */
static double share_of(const pass *p, size_t i)
{
    int sm_count = sl_timeline_device_at(p->r->ops->timeline, sl__item_place(p->r->ops, i))
                       ->sm_count;
    return sm_count > 0 ? (double)sl__item_span(p->r->ops, i)->blocks / sm_count : 1;
}

/* How much longer one that fills the GPU, and lasts `length_ns` alone, takes beside `by`: it lacks
 * that one's SMs until the first of both has ended. */
static int64_t lacking_ns(const pass *p, size_t i, size_t by, int64_t length_ns)
{
    if (by == SL__NO_ITEM || sl__pass_item(p, by)->end_ns > sl__pass_item(p, i)->start_ns) return 0;
    const sl__played *beside = &p->r->played[by];
    int64_t both_ns = beside->end_ns - sl__max(beside->start_ns, p->r->played[i].start_ns);
    double share = share_of(p, by);
    if (both_ns <= 0 || share >= 1) return 0;
    return sl__min((int64_t)((double)both_ns * share),
                   (int64_t)((double)length_ns * share / (1 - share)));
}

int64_t sl__slowed_ns(const pass *p, size_t i, int64_t length_ns)
{
    const sl_span *span = sl__item_span(p->r->ops, i);
    if (!span || !sl__fills_gpu(p->r->ops->timeline, span)) return 0;
    int place = place_of(p, span);
    return lacking_ns(p, i, p->of[place].small, length_ns)
           + lacking_ns(p, i, p->of[place].collective, length_ns);
}

/* Kernels that fill the GPU lack its SMs meanwhile, and end later. They have been played before. */
void sl__squeeze(pass *p, size_t i)
{
    const sl_span *span = sl__item_span(p->r->ops, i);
    int place = place_of(p, span);
    int sm_count = sl_timeline_device_at(p->r->ops->timeline, place)->sm_count;
    if (p->of[place].full_ns == SL__NEVER || sm_count <= 0) return;
    int64_t until_ns = p->of[place].full_ns + p->of[place].squeezed_ns;
    int64_t beside_ns = sl__min(p->r->played[i].end_ns, until_ns) - p->r->played[i].start_ns;
    double taken = (double)sl__min((int64_t)span->blocks, sm_count) / sm_count;
    if (beside_ns <= 0) return;
    p->of[place].squeezed_ns += (int64_t)((double)beside_ns * taken);
    p->last_ns = sl__max(p->last_ns, p->of[place].full_ns + p->of[place].squeezed_ns);
}

/* clock.c - vector clocks: nodes are shared, and copied before one is changed. */
#include "clock.h"

#include <stdlib.h>
#include <string.h>

uint64_t sl__race_looks;

sl__vector *sl__vector_retain(sl__vector *vector)
{
    if (vector) vector->refs++;
    return vector;
}

void sl__vector_release(sl__vector *vector)
{
    if (!vector || --vector->refs > 0) return;
    for (int i = 0; vector->level > 0 && i < SL__VECTOR_WIDTH; i++)
        sl__vector_release(vector->child[i]);
    free(vector);
}

static uint64_t new_id(void)
{
    static uint64_t last;
    return ++last;
}

static bool covers(const sl__vector *vector, const sl__vector *other)
{
    if (!other || other == vector) return true;
    for (int i = 0; vector && i < SL__VECTOR_COVERS; i++)
        if (vector->covers[i] == other->id) return true;
    return false;
}

static void note_covers(sl__vector *vector, uint64_t id)
{
    memmove(&vector->covers[1], &vector->covers[0], sizeof vector->covers - sizeof id);
    vector->covers[0] = id;
}

/* All zero. NULL: out of memory. */
static sl__vector *new_node(uint32_t level)
{
    sl__vector *node = calloc(1, sizeof *node);
    if (!node) return NULL;
    node->refs = 1;
    node->level = level;
    node->id = new_id();
    return node;
}

/* Replaces *vector by a copy if it is shared, so that it can be changed. */
static bool make_own(sl__vector **vector)
{
    sl__vector *old = *vector, *own;
    if (old->refs == 1) {
        old->id = new_id();
        return true;
    }
    own = malloc(sizeof *own);
    if (!own) return false;
    *own = *old;
    own->refs = 1;
    own->id = new_id();
    note_covers(own, old->id);
    for (int i = 0; own->level > 0 && i < SL__VECTOR_WIDTH; i++)
        sl__vector_retain(own->child[i]);
    sl__vector_release(old);
    *vector = own;
    return true;
}

/* The same with a root of at least this level. */
static bool lift(sl__vector **vector, uint32_t level)
{
    while ((*vector)->level < level) {
        sl__vector *root = new_node((*vector)->level + 1);
        if (!root) return false;
        root->child[0] = *vector;
        *vector = root;
    }
    return true;
}

/* The part of a vector for the slots of child `i` of a node of the level. */
static sl__vector *part(sl__vector *vector, uint32_t level, uint32_t i)
{
    if (vector && vector->level < level) return i == 0 ? vector : NULL;
    return vector ? vector->child[i] : NULL;
}

/* ---- joining ---- */

/* For each of the two, whether it is larger than the other in some slot. */
static void compare(const sl__vector *a, const sl__vector *b, bool *a_more, bool *b_more)
{
    *a_more = *b_more = false;
    for (int i = 0; i < SL__VECTOR_WIDTH; i++) {
        *a_more |= a->epoch[i] > b->epoch[i];
        *b_more |= b->epoch[i] > a->epoch[i];
    }
}

static void take_over(sl__vector **vector, sl__vector *other)
{
    sl__vector_retain(other);
    sl__vector_release(*vector);
    *vector = other;
}

static bool join_leaf(sl__vector **leaf, sl__vector *other, bool *raised)
{
    bool more, other_more;
    compare(*leaf, other, &more, &other_more);
    if (!other_more) {
        note_covers(*leaf, other->id);
        return true;
    }
    *raised = true;
    if (!more) {
        take_over(leaf, other);
        return true;
    }
    if (!make_own(leaf)) return false;
    for (int i = 0; i < SL__VECTOR_WIDTH; i++)
        if (other->epoch[i] > (*leaf)->epoch[i]) (*leaf)->epoch[i] = other->epoch[i];
    note_covers(*leaf, other->id);
    return true;
}

static bool join_all(sl__vector **vector, sl__vector *other, bool *raised);

static void put_child(sl__vector *node, uint32_t i, sl__vector *child)
{
    sl__vector_release(node->child[i]);
    node->child[i] = child;
}

/* The node is changed only if its child is. */
static bool join_child(sl__vector **node, uint32_t i, sl__vector *other, bool *raised)
{
    bool grew = false;
    if ((*node)->refs == 1) {
        bool done = join_all(&(*node)->child[i], other, &grew);
        (*node)->id = grew ? new_id() : (*node)->id;
        *raised |= grew;
        return done;
    }
    sl__vector *child = sl__vector_retain((*node)->child[i]);
    if (!join_all(&child, other, &grew) || (grew && !make_own(node))) {
        sl__vector_release(child);
        return false;
    }
    if (grew)
        put_child(*node, i, child);
    else
        sl__vector_release(child);
    *raised |= grew;
    return true;
}

/* Whether the other one is nowhere smaller than the vector; may be false for another number of
 * levels. */
static bool is_more(const sl__vector *other, const sl__vector *vector)
{
    bool more = false, other_more = false;
    sl__race_looks++;
    if (!vector || covers(other, vector)) return true;
    if (!other || other->level != vector->level) return false;
    if (vector->level == 0) {
        compare(vector, other, &more, &other_more);
        return !more;
    }
    for (int i = 0; i < SL__VECTOR_WIDTH && !more; i++)
        more = !is_more(other->child[i], vector->child[i]);
    return !more;
}

/* Both have the same level, and the vector is larger in some slot. */
static bool join_inner(sl__vector **vector, sl__vector *other, bool *raised)
{
    for (uint32_t i = 0; i < SL__VECTOR_WIDTH; i++) {
        sl__vector *from = other->child[i];
        if (from && from != (*vector)->child[i] && !join_child(vector, i, from, raised))
            return false;
    }
    note_covers(*vector, other->id);
    return true;
}

/* The other one has fewer levels: it has only slots of the first child. */
static bool join_lower(sl__vector **vector, sl__vector *other, bool *raised)
{
    sl__vector *lifted = sl__vector_retain(other);
    bool done = lift(&lifted, (*vector)->level - 1) && join_child(vector, 0, lifted, raised);
    sl__vector_release(lifted);
    if (done) note_covers(*vector, other->id);
    return done;
}

/* *vector becomes the maximum of both. Where one of them is nowhere smaller, it is shared. */
static bool join_all(sl__vector **vector, sl__vector *other, bool *raised)
{
    sl__race_looks++;
    if (covers(*vector, other)) return true;
    if (!*vector || covers(other, *vector)) {
        take_over(vector, other);
        *raised = true;
        return true;
    }
    if (!lift(vector, other->level)) return false;
    if ((*vector)->level > other->level) return join_lower(vector, other, raised);
    if (other->level == 0) return join_leaf(vector, other, raised);
    if (!is_more(other, *vector)) return join_inner(vector, other, raised);
    take_over(vector, other);
    *raised = true;
    return true;
}

/* ---- one epoch ---- */

static bool set_epoch(sl__vector **vector, uint32_t slot, uint64_t epoch)
{
    uint32_t level = 0;
    while (sl__vector_index(slot, level) >= SL__VECTOR_WIDTH)
        level++;
    if (!*vector && !(*vector = new_node(level))) return false;
    if (!lift(vector, level)) return false;
    for (level = (*vector)->level;; level--) {
        sl__race_looks++;
        if (!make_own(vector)) return false;
        if (level == 0) break;
        vector = &(*vector)->child[sl__vector_index(slot, level) % SL__VECTOR_WIDTH];
        if (!*vector && !(*vector = new_node(level - 1))) return false;
    }
    (*vector)->epoch[slot % SL__VECTOR_WIDTH] = epoch;
    return true;
}

bool sl__vector_join(sl__vector **vector, sl__vector *other, uint32_t slot, uint64_t epoch,
                     bool *raised)
{
    if (!join_all(vector, other, raised)) return false;
    if (epoch <= sl__vector_at(*vector, slot)) return true;
    if (!set_epoch(vector, slot, epoch)) return false;
    *raised = true;
    return true;
}

/* ---- what is new ---- */

static void each_raised(const sl__vector *before, const sl__vector *after, uint32_t first,
                        sl__vector_fn fn, void *ud)
{
    const uint32_t level = after->level;
    sl__race_looks++;
    for (uint32_t i = 0; i < SL__VECTOR_WIDTH; i++) {
        uint32_t slot = first + (i << level * SL__VECTOR_BITS);
        if (level == 0) {
            if (after->epoch[i] > (before ? before->epoch[i] : 0)) fn(ud, slot, after->epoch[i]);
            continue;
        }
        const sl__vector *old = part((sl__vector *)before, level, i);
        if (after->child[i] && after->child[i] != old)
            each_raised(old, after->child[i], slot, fn, ud);
    }
}

/* `after` was raised from `before`, so that its level is not lower. */
void sl__vector_each_raised(const sl__vector *before, const sl__vector *after, sl__vector_fn fn,
                            void *ud)
{
    if (after && after != before) each_raised(before, after, 0, fn, ud);
}

sl__seen sl__seen_retain(sl__seen seen)
{
    sl__vector_retain(seen.sure);
    sl__vector_retain(seen.likely);
    return seen;
}

void sl__seen_release(sl__seen *seen)
{
    sl__vector_release(seen->sure);
    sl__vector_release(seen->likely);
    seen->sure = seen->likely = NULL;
}

bool sl__seen_join(sl__seen *seen, const sl__point *point, bool sure, bool *raised)
{
    bool same = seen->sure == seen->likely && point->seen.sure == point->seen.likely;
    if (!sure)
        return sl__vector_join(&seen->likely, point->seen.likely, point->slot, point->epoch,
                               raised);
    if (same) { /* one vector for both, and it stays one */
        sl__vector_release(seen->likely);
        seen->likely = NULL;
    }
    bool joined = sl__vector_join(&seen->sure, point->seen.sure, point->slot, point->epoch, raised);
    if (same)
        seen->likely = sl__vector_retain(seen->sure);
    else if (joined)
        joined = sl__vector_join(&seen->likely, point->seen.likely, point->slot, point->epoch,
                                 raised);
    return joined;
}

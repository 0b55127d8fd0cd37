/* foresight.c - what a buffer will hold once work in flight has been done, without letting
 * any virtual time pass: for showing a tensor in the middle of an experiment.
 *
 * The work that a copy in a stream would wait for is applied to the values in order of issue,
 * which agrees with every dependency. That is what the simulation itself will come to, as
 * long as any two operations that touch the same memory, one of them writing, are ordered by
 * streams and events. Where they are not it is a matter of times: such results are told to
 * be uncertain, and so is what is made of them.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OPS = 4096, WORD_BITS = 64 };

typedef struct range { size_t first, end; } range;      /* of bytes in a buffer */

typedef struct held {       /* what a buffer holds at some point of the order */
    sl_buffer *buffer;
    sim_value *value;       /* one reference */
    range uncertain;        /* outside of it all is certain */
} held;

typedef struct foresight {
    sim_op **op;            /* all that are unfinished, in order of issue */
    uint64_t *before;       /* a row of n_words per operation: those that come before it */
    uint64_t *wanted;       /* one row: those that are to be done */
    bool *uncertain;        /* by operation: an input or its place is a matter of times */
    held *held;
    size_t n, n_words, n_held;
    bool host_funcs;        /* some are among them */
} foresight;

/* ---- which operations, and in which order ---- */

static int compare_issue(const void *a, const void *b)
{
    const uint64_t x = (*(sim_op *const *)a)->base.seq, y = (*(sim_op *const *)b)->base.seq;
    return (x > y) - (x < y);
}

static size_t index_of(const foresight *f, const sim_op *op)
{
    size_t low = 0, high = f->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (f->op[middle]->base.seq <= op->base.seq)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t *row(const foresight *f, size_t i) { return f->before + i * f->n_words; }

static bool has(const uint64_t *set, size_t i) { return set[i / WORD_BITS] >> i % WORD_BITS & 1; }

static void add(uint64_t *set, size_t i) { set[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS; }

/* Adds operation i and all that come before it. */
static void add_with_all_before(const foresight *f, uint64_t *set, size_t i)
{
    const uint64_t *earlier = row(f, i);
    for (size_t w = 0; w < f->n_words; w++)
        set[w] |= earlier[w];
    add(set, i);
}

static void collect(foresight *f, const sim_device *dev)
{
    for (const sim_stream *s = dev->streams; s; s = s->all_next)
        for (sim_op *op = s->head; op; op = op->stream_next) {
            f->host_funcs |= op->base.work.kind == SL_WORK_HOST_FUNC;
            f->op[f->n++] = op;
        }
    qsort(f->op, f->n, sizeof *f->op, compare_issue);
}

/* Everything that an operation waits for was issued before it. */
static void order(foresight *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const sim_op *op = f->op[i];
        if (op->stream_next)
            add_with_all_before(f, row(f, index_of(f, op->stream_next)), i);
        for (const sim_edge *edge = op->dependents; edge; edge = edge->next)
            add_with_all_before(f, row(f, index_of(f, edge->op)), i);
    }
}

static void want_stream(foresight *f, const sim_stream *stream)
{
    if (stream && stream->tail)
        add_with_all_before(f, f->wanted, index_of(f, stream->tail));
}

static void want_op(void *foresight_, sim_op *op)
{
    foresight *f = foresight_;
    add_with_all_before(f, f->wanted, index_of(f, op));
}

/* What a copy that is enqueued in `stream` now waits for: null_stream_barriers and
 * call_barriers in queue.c. */
static void want_all_before_copy(foresight *f, const sim_device *dev, const sim_stream *stream)
{
    want_stream(f, stream);
    sim_implicit_each(stream, want_op, f);
    if (stream->base.legacy)
        for (const sim_stream *s = dev->busy; s; s = s->busy_next)
            want_stream(f, s);
    else if (!stream->base.non_blocking)
        want_stream(f, dev->legacy);
}

/* ---- ranges ---- */

static bool overlap(range a, range b)
{
    return a.first < a.end && b.first < b.end && a.first < b.end && b.first < a.end;
}

static bool covers(range outer, range inner)
{
    return inner.first >= inner.end || (outer.first <= inner.first && inner.end <= outer.end);
}

/* The smallest that covers both. */
static range joined(range a, range b)
{
    if (a.first >= a.end)
        return b;
    if (b.first >= b.end)
        return a;
    return (range){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

/* What an operation touches of a side's buffer: input 0 or 1, or 2, its output. */
static range side_of(const sim_op *op, int side)
{
    const sl_work *work = &op->base.work;
    size_t first = side == 2 ? work->out_offset : work->in_offset[side];
    return (range){first, first + sim_work_bytes(work, side)};
}

static bool writes(const sim_op *op, const sl_buffer *buffer, range bytes)
{
    return op->base.out == buffer && overlap(side_of(op, 2), bytes);
}

/* ---- what is a matter of times ---- */

/* Reads what `writer` writes, and later: what has started has what it needs. */
static bool reads_output(const sim_op *op, const sim_op *writer)
{
    for (int i = 0; i < 2; i++)
        if (op->base.in[i] && !op->value[i] && writes(writer, op->base.in[i], side_of(op, i)))
            return true;
    return false;
}

/* i was issued before j, and nothing orders them. */
static void note_race(foresight *f, size_t i, size_t j)
{
    const sim_op *a = f->op[i], *b = f->op[j];
    bool both = a->base.out && writes(b, a->base.out, side_of(a, 2));
    if (both || reads_output(b, a))
        f->uncertain[j] = true;
    if (both || reads_output(a, b))
        f->uncertain[i] = true;
}

static bool reads_host_memory(const sim_op *op)
{
    const sl_buffer *in = op->base.in[0];
    return in && in->place != SL_ON_DEVICE && !op->value[0];
}

static void find_races(foresight *f)
{
    for (size_t j = 0; j < f->n; j++) {
        for (size_t i = 0; i < j; i++)
            if (!has(row(f, j), i))
                note_race(f, i, j);
        if (f->host_funcs && reads_host_memory(f->op[j]))
            f->uncertain[j] = true;     /* a host function may write there */
    }
}

/* ---- applying ---- */

/* What the buffer holds; NULL: out of memory. */
static held *find_held(foresight *f, sl_buffer *buffer)
{
    for (size_t i = 0; i < f->n_held; i++)
        if (f->held[i].buffer == buffer)
            return &f->held[i];
    held *new = &f->held[f->n_held++];
    *new = (held){.buffer = buffer, .value = sim_value_retain(((sim_buffer *)buffer)->value)};
    return new;
}

/* sim_value_apply extends a chain in place when it can; here the old value stays. */
static bool apply(foresight *f, size_t i)
{
    const sim_op *op = f->op[i];
    sim_value *in[2] = {NULL, NULL};
    if (!op->base.out)
        return true;
    bool uncertain = f->uncertain[i];
    for (int k = 0; k < 2; k++) {
        if (!op->base.in[k])
            continue;
        const held *input = find_held(f, op->base.in[k]);
        in[k] = op->value[k] ? op->value[k] : input->value;
        uncertain |= !op->value[k] && overlap(input->uncertain, side_of(op, k));
    }
    held *out = find_held(f, op->base.out);
    sim_value *value = sim_queue_result(op, in, out->value, false);
    if (!value)
        return false;
    sim_value_release(out->value);
    out->value = value;
    if (covers(side_of(op, 2), out->uncertain))
        out->uncertain = (range){0, 0};
    if (uncertain)
        out->uncertain = joined(out->uncertain, side_of(op, 2));
    return true;
}

/* ---- the whole ---- */

static bool open_foresight(foresight *f, size_t n)
{
    memset(f, 0, sizeof *f);
    f->n_words = (n + WORD_BITS - 1) / WORD_BITS;
    f->op = calloc(n, sizeof *f->op);
    f->before = calloc(n * f->n_words, sizeof *f->before);
    f->wanted = calloc(f->n_words, sizeof *f->wanted);
    f->uncertain = calloc(n, sizeof *f->uncertain);
    f->held = calloc(3 * n, sizeof *f->held);       /* no operation has more than three */
    return f->op && f->before && f->wanted && f->uncertain && f->held;
}

static void close_foresight(foresight *f)
{
    for (size_t i = 0; i < f->n_held; i++)
        sim_value_release(f->held[i].value);
    free(f->op);
    free(f->before);
    free(f->wanted);
    free(f->uncertain);
    free(f->held);
}

/* Whether work that is not wanted may write these bytes. */
static bool is_written_later(const foresight *f, const sl_buffer *buffer, range bytes)
{
    for (size_t i = 0; i < f->n; i++)
        if (writes(f->op[i], buffer, bytes) && !has(f->wanted, i))
            return true;
    return false;
}

/* Whether any work in flight does. */
static bool is_written(const sim_device *dev, const sl_buffer *buffer, range bytes)
{
    for (const sim_stream *s = dev->streams; s; s = s->all_next)
        for (const sim_op *op = s->head; op; op = op->stream_next)
            if (writes(op, buffer, bytes))
                return true;
    return false;
}

static sl_status no_memory(sl_error *err)
{
    return sl_fail(err, SL_ENOMEM, "the simulator is out of host memory");
}

/* The value that a copy of the buffer in `stream`, enqueued now, would read, retained; NULL:
 * what it holds now. Sets look->uncertain and look->in_use as these bytes are. SL_ESTATE: too
 * much is in flight. */
static sl_status foresee(const sim_device *dev, sim_buffer *buffer, range bytes,
                         const sim_stream *stream, sim_value **value, sl_look *look, sl_error *err)
{
    foresight f;
    sl_status status = SL_OK;
    if (!stream || dev->unfinished == 0) {
        *value = sim_value_retain(buffer->value);
        look->in_use = dev->unfinished > 0 && is_written(dev, &buffer->base, bytes);
        return SL_OK;
    }
    if (dev->unfinished > MOST_OPS)
        return sl_fail(err, SL_ESTATE, "%lld operations are in flight: too many to foresee what "
                       "they make of it", (long long)dev->unfinished);
    bool enough = open_foresight(&f, (size_t)dev->unfinished + 1);
    if (enough) {
        collect(&f, dev);
        order(&f);
        find_races(&f);
        want_all_before_copy(&f, dev, stream);
    }
    for (size_t i = 0; i < f.n && enough; i++)
        if (has(f.wanted, i))
            enough = apply(&f, i);
    if (enough) {
        const held *result = find_held(&f, &buffer->base);
        *value = sim_value_retain(result->value);
        look->uncertain = overlap(result->uncertain, bytes);
        look->in_use = is_written_later(&f, &buffer->base, bytes);
    } else {
        status = no_memory(err);
    }
    close_foresight(&f);
    return status;
}

/* From the first byte that is looked at to the last. */
static range range_of_parts(const sl_look_parts *parts)
{
    range all = {0, 0};
    for (size_t i = 0; i < parts->n; i++)
        all = joined(all, (range){parts->offset[i], parts->offset[i] + parts->bytes});
    return all;
}

static sl_status read_parts(sim_value *value, const sl_look_parts *parts, void *data,
                            sl_error *err)
{
    sl_status status = SL_OK;
    for (size_t i = 0; i < parts->n && status == SL_OK; i++)
        status = sim_value_read(value, parts->offset[i], parts->bytes,
                                (char *)data + i * parts->bytes, err);
    return status;
}

sl_status sim_look(sl_buffer *base, sl_stream *stream, const sl_look_parts *parts, void *data,
                   sl_look *look, sl_error *err)
{
    const sim_device *dev = (const sim_device *)base->device;
    sim_buffer *buffer = (sim_buffer *)base;
    sim_value *value = NULL;
    sl_status status = foresee(dev, buffer, range_of_parts(parts), (const sim_stream *)stream,
                               &value, look, err);
    if (status != SL_OK)
        return status;
    look->compute_s = sim_value_pending_s(value, parts->most_s);
    look->has_values = !look->uncertain && look->compute_s <= parts->most_s;
    if (look->has_values)
        status = read_parts(value, parts, data, err);
    sim_value_release(value);
    return status;
}

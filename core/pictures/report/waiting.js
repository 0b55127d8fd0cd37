/* waiting.js - what an operation waited for, and the arrows that show it.
 *
 * It waited until it was ready, and then for its engine; each time what is named is that
 * without which it would have gone on earlier (sl_hold in timeline.h).
 */

/* Both ran in one launch of a graph. */
function isEdge(op, by, cause) {
    return data.causes[cause] === "event_wait" && by >= 0 && opLaunch[op] !== 0
        && opLaunch[op] === opLaunch[by];
}

/* At most two {words, ns}, for "waited ns for words". */
function waitsOf(op) {
    const out = [], start = spans.start[op], issued = Math.min(hostEnd[op], start);
    const ready = Math.min(Math.max(spans.ready[op], issued), start);
    const add = (cause, by, ns) => {
        const words = isEdge(op, findOp(by), cause)
            ? `an edge of the graph from ${opTitle(findOp(by))}` : causeWords(cause, findOp(by));
        if (words && ns > 0) out.push({ words, ns });
    };
    add(spans.readyCause[op], spans.readyBy[op], ready - issued);
    add(spans.startCause[op], spans.startBy[op], start - ready);
    return out;
}

let lostBy = null;                      /* of operations before which time was lost: by what */

/* What an operation waited for last, or its engine before it, or a call: an operation, or -1. */
function causeOf(op) {
    if (!isSpan(op)) return waitedFor(op);
    lostBy ??= new Map(Array.from(waits.waiter, (id, i) => [id, waits.by[i]]));
    const by = [spans.startBy[op], spans.readyBy[op], lostBy.get(spans.id[op])].map(findOp);
    return by.find((other) => other >= 0 && other !== op) ?? -1;
}

/* ---- events ----------------------------------------------------------------------- */

function rowOfStream(stream) {
    return deviceRows("streams").find((row) => row.value === stream);
}

/* The last span of a stream that was enqueued before this id, or -1. */
function lastSpanBefore(stream, id) {
    const row = rowOfStream(stream);
    let best = -1;
    for (const lane of row ? row.lanes : []) {
        let from = 0, to = lane.n;
        while (from < to) {
            const middle = (from + to) >>> 1;
            if (spans.id[lane.op[middle]] < id) from = middle + 1; else to = middle;
        }
        if (from > 0) best = Math.max(best, lane.op[from - 1]);
    }
    return best;
}

/* The spans behind the records that an operation's stream waited for right before it. */
function eventSources(op) {
    const stream = opStream[op], previous = lastSpanBefore(stream, opId[op]);
    const first = previous >= 0 ? upperBound(calls.id, opId[previous]) : 0;
    const out = [];
    for (let i = lowerBound(calls.id, opId[op]) - 1; i >= first; i--) {
        if (calls.kind[i] !== CALL.wait || calls.stream[i] !== stream) continue;
        const record = findOp(calls.target[i]);
        const source = record >= 0 ? lastSpanBefore(opStream[record], opId[record]) : -1;
        if (source >= 0) out.push(source);
    }
    return out;
}

/* The span whose end a call of the host waited for, or -1. */
function waitedFor(op) {
    const i = op - spans.n, id = opId[op];
    if (calls.kind[i] === CALL.streamSync) return lastSpanBefore(opStream[op], id);
    if (calls.kind[i] === CALL.eventSync) {
        const record = findOp(calls.target[i]);
        return record >= 0 ? lastSpanBefore(opStream[record], opId[record]) : -1;
    }
    const all = calls.kind[i] === CALL.deviceSync || calls.waited[i];
    let last = -1;
    for (let k = 0; all && k < spans.n && spans.id[k] < id; k++) {
        if (last < 0 || spans.end[k] > spans.end[last]) last = k;
    }
    return last;
}

/* ---- arrows ----------------------------------------------------------------------- */

/* {from, fromHost, fromEnd, to, toHost, toEnd}: from the start or the end of an
 * operation, on the device or of its call on the host. */
function arrowsOf(op) {
    if (!isSpan(op)) {
        const by = waitedFor(op);
        return by < 0 ? [] : [{ from: by, fromEnd: true, to: op, toHost: true, toEnd: true }];
    }
    const arrows = [{ from: op, fromHost: true, to: op }];
    if (spans.flags[op] & FLAG.hostWaited) {
        arrows.push({ from: op, fromEnd: true, to: op, toHost: true, toEnd: true });
    }
    const sources = new Set(eventSources(op));
    sources.add(findOp(spans.readyBy[op])).add(findOp(spans.startBy[op]));
    for (const source of sources) {
        if (source < 0 || source === op || !isSpan(source)) continue;
        arrows.push({ from: source, fromEnd: true, to: op });
    }
    return arrows;
}

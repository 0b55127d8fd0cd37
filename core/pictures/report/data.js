/* data.js - what the page shows: the JSON object that report_data.c wrote, or that of a change.
 *
 * Spans and calls are columns of numbers (core/pictures/columns.h). Together spans and calls are
 * the "operations": operation i is span i, or call i - spans.n. The host's ranges follow them:
 * item OPS + i is range i. Times are ns from the earliest of all; what is shown counts from
 * data.origin, the first span's start.
 */

const parsed = (id) => JSON.parse(document.getElementById(id).textContent);

/* What changes of the program would gain; and the one that is shown, by the address: 0 is the
 * program as recorded. */
const changes = parsed("changes-data");

function changeOfLink() {
    const number = Number(new URLSearchParams(location.hash.slice(1)).get("change"));
    return changes.list[number - 1]?.shown ? number : 0;
}

const shown = changeOfLink();
const data = parsed(shown > 0 ? `data-${shown}` : "data");

/* A column as a typed array: a zero and a count for equal neighbours, else the
 * difference, its sign in the lowest bit. Above 2^31 only doubles are exact, so there
 * is no shifting. */
function decodeColumn(text, n, Type) {
    const bytes = atob(text), out = new Type(n);
    let at = 0, low = 0, high = 0, last = 0;
    const read = () => {
        let byte = bytes.charCodeAt(at++);
        low = byte & 127;
        high = 0;
        for (let scale = 1; byte > 127; scale *= 128) {
            byte = bytes.charCodeAt(at++);
            high += (byte & 127) * scale;
        }
    };
    for (let i = 0; i < n;) {
        read();
        if (low === 0 && high === 0) {
            read();
            const count = low + high * 128 + 1;
            out.fill(last, i, i + count);
            i += count;
        } else {
            const size = (low + (low & 1)) / 2 + high * 64;
            last += low & 1 ? -size : size;
            out[i++] = last;
        }
    }
    return out;
}

const COLUMN_TYPES = {
    kind: Uint8Array, engine: Uint8Array, place: Uint8Array, flags: Uint8Array, waited: Uint8Array,
    readyCause: Uint8Array, startCause: Uint8Array, threads: Uint16Array, stream: Uint32Array,
    name: Uint32Array, where: Uint32Array, symbol: Uint32Array, blocks: Uint32Array,
    finding: Uint32Array, graph: Uint32Array, thread: Uint32Array,
};

/* Columns are texts; anything else of a table stays as it is. */
function decodeTable(table) {
    return Object.fromEntries(Object.entries(table).map(([key, value]) => [key,
        typeof value === "string"
            ? decodeColumn(value, table.n, COLUMN_TYPES[key] || Float64Array) : value]));
}

const spans = decodeTable(data.spans), calls = decodeTable(data.calls);
const OPS = spans.n + calls.n;
const ranges = decodeTable(data.ranges);
ranges.start = ranges.start.map((start) => start + data.rangesFrom);

/* The numbers of timeline.h. */
const KIND = {
    kernel: 0, collective: 1, h2d: 2, d2h: 3, d2d: 4, p2p: 5, memset: 6, hostFunc: 7, count: 8,
};
const FLAG = {
    hostWaited: 1, srcPageable: 2, srcPinned: 4, dstPageable: 8, dstPinned: 16, queueFull: 32,
};
const RANGE = {
    operator: 0, python: 1, library: 2, module: 3, annotation: 4, step: 5, nvtx: 6,
};
const CALL = { record: 0, wait: 1, streamSync: 2, eventSync: 3, deviceSync: 4, plain: 5, work: 6 };

/* ---- searching -------------------------------------------------------------------- */

/* The first index in from..to at which ascending `array` is at least (more than) `x`. */
function lowerBound(array, x, from = 0, to = array.length) {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (array[middle] < x) from = middle + 1; else to = middle;
    }
    return from;
}

function upperBound(array, x, from = 0, to = array.length) {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (array[middle] <= x) from = middle + 1; else to = middle;
    }
    return from;
}

function indexOfId(ids, id) {
    const i = lowerBound(ids, id);
    return i < ids.length && ids[i] === id ? i : -1;
}

/* The operation with this correlation, or -1; no operation has 0. */
function findOp(id) {
    if (!id) return -1;
    const span = indexOfId(spans.id, id);
    if (span >= 0) return span;
    const call = indexOfId(calls.id, id);
    return call >= 0 ? spans.n + call : -1;
}

/* ---- operations ------------------------------------------------------------------- */

function sumOf(starts, lengths) {
    return starts.map((start, i) => start + lengths[i]);
}

/* Both tables' columns of that name one behind the other, by operation. */
function joined(key) {
    const out = new spans[key].constructor(OPS);
    out.set(spans[key]);
    out.set(calls[key], spans.n);
    return out;
}

spans.end = sumOf(spans.start, spans.length);
ranges.end = sumOf(ranges.start, ranges.length);
const hostStart = joined("hostStart");
const hostEnd = sumOf(hostStart, joined("hostLength"));
const opStream = joined("stream"), opWhere = joined("where"), opId = joined("id");
const opThread = data.spans.thread ? joined("thread") : new Uint32Array(OPS);
const opLaunch = joined("launch");     /* of a graph, which ran it without a call of its own */

const isSpan = (op) => op < spans.n;
const isRange = (item) => item >= OPS;

/* The call held the host: until the device was done or had made room, or, to or from
 * pageable memory, because the host had a part in it. */
function isBlocking(op) {
    if (isSpan(op)) {
        const flags = spans.flags[op], pageable = flags & (FLAG.srcPageable | FLAG.dstPageable);
        return (flags & (FLAG.hostWaited | FLAG.queueFull)) !== 0
            || (pageable !== 0 && hostEnd[op] > spans.start[op]);
    }
    const i = op - spans.n, kind = calls.kind[i];
    const syncs = kind === CALL.streamSync || kind === CALL.eventSync || kind === CALL.deviceSync;
    return syncs || calls.waited[i] !== 0;
}

/* ---- explanation ------------------------------------------------------------------ */

const waits = decodeTable(data.explanation.waits);

/* The findings with the same cause together, the costliest first: [{finding, index}]. */
const groups = [];
data.explanation.findings.forEach((finding, index) => {
    const group = groups.find(([first]) => first.finding.group === finding.group);
    if (group) group.push({ finding, index }); else groups.push([{ finding, index }]);
});

/* Calls that held the host while there was work that it could have issued. */
const costly = new Uint8Array(OPS);

/* For each operation 1 + the costliest group in which it waited, or was waited for; 0: none. */
const groupOf = new Uint32Array(OPS);
groups.forEach((group, g) => group.forEach(({ finding, index }) => {
    const blocked = data.causeWords[finding.cause].inCall;
    const to = upperBound(waits.finding, index);
    for (let i = lowerBound(waits.finding, index); i < to; i++) {
        const by = findOp(waits.by[i]);
        for (const op of [findOp(waits.waiter[i]), by]) {
            if (op >= 0 && groupOf[op] === 0) groupOf[op] = g + 1;
        }
        if (blocked && by >= 0) costly[by] = 1;
    }
}));

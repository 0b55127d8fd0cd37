/* rows.js - the chart's rows and what lies in them.
 *
 * A row has lanes, in which nothing overlaps: more than one only where operations of
 * the row ran at the same time. A lane keeps starts, ends and, for each kind in it,
 * the running sum of durations: the busy time of any stretch is a difference of two
 * sums, found by binary search, so that drawing costs the same at every zoom and with
 * any number of operations.
 */

/* Beside the kinds of spans, those of the host's calls. */
const HOST = {
    issue: KIND.count, wait: KIND.count + 1, cost: KIND.count + 2, work: KIND.count + 3,
};
const MARK_WAIT = KIND.count + 4;
const MAX_LANES = 32;

const NARROW = 640;                     /* px: from here on down labels are short */

/* What of each operation is drawn: its time on the device, or its call's on the host. */
const deviceTimes = { start: spans.start, end: spans.end, kind: spans.kind };
const hostTimes = { start: hostStart, end: hostEnd, kind: hostKinds() };

function hostKinds() {
    const kinds = new Uint8Array(OPS);
    for (let op = 0; op < OPS; op++) {
        const works = !isSpan(op) && calls.kind[op - spans.n] === CALL.work;
        kinds[op] = works ? HOST.work : costly[op] ? HOST.cost
            : isBlocking(op) ? HOST.wait : HOST.issue;
    }
    return kinds;
}

/* ---- lanes ------------------------------------------------------------------------ */

function isSorted(items, start) {
    for (let i = 1; i < items.length; i++) {
        if (start[items[i]] < start[items[i - 1]]) return false;
    }
    return true;
}

function sortByStart(items, start) {
    return isSorted(items, start) ? items : items.sort((a, b) => start[a] - start[b] || a - b);
}

/* In which lane each item goes: the first that is free when it starts. */
function assignLanes(items, times) {
    const ends = [], laneOf = new Uint8Array(items.length);
    for (let i = 0; i < items.length; i++) {
        const start = times.start[items[i]];
        let lane = 0;
        while (lane < ends.length && ends[lane] > start) lane++;
        if (lane === MAX_LANES) lane = MAX_LANES - 1;
        ends[lane] = Math.max(ends[lane] || 0, times.end[items[i]]);
        laneOf[i] = lane;
    }
    return { laneOf, n: Math.max(1, ends.length) };
}

/* Items without room in the last lane begin there when their predecessor ends. `name` gives the name
 * of an item that is no operation. */
function makeLane(items, times, name = null) {
    const n = items.length;
    const lane = {
        n, name, op: items, start: new Float64Array(n), end: new Float64Array(n),
        kind: new Uint8Array(n), sums: [],
    };
    let filled = -Infinity;
    for (let i = 0; i < n; i++) {
        const op = items[i];
        lane.start[i] = Math.max(times.start[op], filled);
        filled = lane.end[i] = Math.max(times.end[op], lane.start[i]);
        lane.kind[i] = times.kind[op];
    }
    for (const kind of new Set(lane.kind)) lane.sums.push({ kind, upTo: runningSum(lane, kind) });
    return lane;
}

function runningSum(lane, kind) {
    const sum = new Float64Array(lane.n + 1);
    for (let i = 0; i < lane.n; i++) {
        sum[i + 1] = sum[i] + (lane.kind[i] === kind ? lane.end[i] - lane.start[i] : 0);
    }
    return sum;
}

/* `items` are operations; they are sorted in place. */
function makeLanes(items, times, name) {
    sortByStart(items, times.start);
    const { laneOf, n } = assignLanes(items, times);
    if (n === 1) return [makeLane(items, times, name)];
    return Array.from({ length: n }, (_, lane) =>
        makeLane(items.filter((_, i) => laneOf[i] === lane), times, name));
}

/* ---- rows ------------------------------------------------------------------------- */

/* `value` is the stream (an index), or the engine. */
function makeRow(title, items, times, value) {
    const lanes = makeLanes(items, times);
    return {
        title, lanes, times, value, host: times === hostTimes,
        busy: times === hostTimes ? 0 : unionLength(unionOf(lanes)),
        y: 0, height: 0, bar: 0,        /* px; of a bar: its height. layOut sets them */
    };
}

/* The spans of each value of a column, in order of value. */
function rowsBy(column, n, title) {
    const counts = new Uint32Array(n);
    for (let i = 0; i < spans.n; i++) counts[column[i]]++;
    const items = Array.from(counts, (size) => new Uint32Array(size));
    counts.fill(0);
    for (let i = 0; i < spans.n; i++) items[column[i]][counts[column[i]]++] = i;
    return items.map((list, value) => [list, value]).filter(([list]) => list.length > 0)
        .map(([list, value]) => makeRow(title(value), list, deviceTimes, value));
}

const hostRow = makeRow("host",
    Uint32Array.from({ length: OPS }, (_, op) => op).filter((op) => !opLaunch[op]), hostTimes);
const rowSets = {};                     /* made when they are first shown */

/* Every device has engines of its own. */
const engineRows = data.gpus
    ? Uint32Array.from({ length: spans.n },
        (_, i) => spans.place[i] * data.engines.length + spans.engine[i])
    : spans.engine;

function engineName(row, names = ENGINE_NAMES) {
    const n = data.engines.length;
    return (data.gpus ? data.gpus[Math.floor(row / n)] : "") + names[row % n];
}

/* In the order of the GPUs' numbers: the current one has place 0, whatever its number. */
function inOrder(rows) {
    return data.gpus ? data.gpu_order.flatMap((place) => rows.filter(
        ({ value }) => Math.floor(value / data.engines.length) === place)) : rows;
}

function deviceRows(mode) {
    if (!rowSets[mode]) {
        rowSets[mode] = mode === "streams"
            ? rowsBy(spans.stream, data.streams.length, streamName)
            : inOrder(rowsBy(engineRows, data.engines.length * (data.gpus || [""]).length,
                (row) => engineName(row)));
    }
    return rowSets[mode];
}

/* ---- intervals -------------------------------------------------------------------- */

/* The times at which a row was busy, as disjoint ascending intervals. */
function unionOf(lanes) {
    const starts = [], ends = [], next = lanes.map(() => 0);
    for (;;) {
        let first = -1;
        for (let l = 0; l < lanes.length; l++) {
            if (next[l] < lanes[l].n &&
                (first < 0 || lanes[l].start[next[l]] < lanes[first].start[next[first]])) first = l;
        }
        if (first < 0) return { start: Float64Array.from(starts), end: Float64Array.from(ends) };
        const start = lanes[first].start[next[first]], end = lanes[first].end[next[first]++];
        const last = ends.length - 1;
        if (last >= 0 && start <= ends[last]) {
            ends[last] = Math.max(ends[last], end);
        } else if (end > start) {
            starts.push(start);
            ends.push(end);
        }
    }
}

function unionLength(union) {
    let length = 0;
    for (let i = 0; i < union.start.length; i++) length += union.end[i] - union.start[i];
    return length;
}

/* The part of a union within from..to. */
function clipUnion(union, from, to) {
    const i = upperBound(union.end, from), j = lowerBound(union.start, to);
    const start = union.start.slice(i, Math.max(i, j)), end = union.end.slice(i, Math.max(i, j));
    if (start.length) {
        start[0] = Math.max(start[0], from);
        end[end.length - 1] = Math.min(end[end.length - 1], to);
    }
    return { start, end };
}

function overlapLength(a, b) {
    let length = 0;
    for (let i = 0, j = 0; i < a.start.length && j < b.start.length;) {
        const common = Math.min(a.end[i], b.end[j]) - Math.max(a.start[i], b.start[j]);
        if (common > 0) length += common;
        if (a.end[i] < b.end[j]) i++; else j++;
    }
    return length;
}

/* ---- looking up ------------------------------------------------------------------- */

/* Where an operation is drawn in one of these rows, or null. */
function locate(op, rows, times) {
    for (const row of rows) {
        if (row.times !== times || op >= times.start.length) continue;
        for (let l = 0; l < row.lanes.length; l++) {
            const lane = row.lanes[l];
            for (let i = lowerBound(lane.start, times.start[op]);
                i < lane.n && lane.start[i] === times.start[op]; i++) {
                if (lane.op[i] === op) return { row, lane: l, index: i };
            }
        }
    }
    return null;
}

/* The same lanes with nothing in them but operations for which `belongs` holds. */
function subset(row, belongs) {
    return row.lanes.map((lane) => makeLane(lane.op.filter(belongs), row.times, lane.name));
}

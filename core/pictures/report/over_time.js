/* over_time.js - what is drawn over time beside operations: the ranges of the host, a row a depth,
 * and counters, a row each.
 */

const SHOWN_DEPTHS = 8;                 /* deeper rows are shown where something is found in them */
const MOST_DEPTHS = 64;
const COUNTER_HEIGHT = 44;

/* ---- ranges ----------------------------------------------------------------------- */

const flameTimes = {
    start: ranges.start, end: ranges.end, kind: new Uint8Array(ranges.n).fill(HOST.work),
};
const rangeName = (range) => data.texts[ranges.name[range]];
const rangeKind = (range) => RANGE_KINDS[ranges.kind[range]];

/* How many ranges of its thread each range lies in. */
const depths = (() => {
    const order = Array.from({ length: ranges.n }, (_, i) => i).sort((a, b) =>
        ranges.thread[a] - ranges.thread[b] || ranges.start[a] - ranges.start[b]
            || ranges.end[b] - ranges.end[a] || a - b);
    const out = new Uint8Array(ranges.n), open = [];
    let thread = -1;
    for (const i of order) {
        if (ranges.thread[i] !== thread) open.length = 0;
        thread = ranges.thread[i];
        while (open.length && open[open.length - 1] <= ranges.start[i]) open.pop();
        out[i] = Math.min(open.length, MOST_DEPTHS - 1);
        open.push(ranges.end[i]);
    }
    return out;
})();

/* Rows as those of operations, whose items are ranges. */
function makeFlameRows() {
    const byDepth = [];
    for (let i = 0; i < ranges.n; i++) (byDepth[depths[i]] ??= []).push(i);
    return byDepth.map((items, depth) => ({
        title: depth === 0 ? "host ranges" : "", times: flameTimes, value: depth, host: true,
        lanes: makeLanes(Uint32Array.from(items), flameTimes, rangeName),
        ranges: true, busy: 0, y: 0, height: 0, bar: 0,
    }));
}

let flameRows = null;                   /* made when they are first shown */

function shownFlames() {
    if (!state.flames) return [];
    flameRows ??= makeFlameRows();
    const deepest = isRange(state.selected) ? depths[state.selected - OPS] : 0;
    return keptRows(flameRows.filter((_, depth) => depth < SHOWN_DEPTHS || depth === deepest
        || (state.found && state.found.depths.has(depth))));
}

function toggleFlames() {
    if (ranges.n === 0) return;
    state.flames = !state.flames;
    limits = limitsOf(state.flames);
    setView(view.from, view.to);
    byId("flames").setAttribute("aria-pressed", state.flames);
    state.hovered = null;
    layOut();
    refreshMarks();
}

/* So that the selected range has its row. */
function showSelectedRange() {
    if (!isRange(state.selected) || selectedPlace()) return;
    if (!state.flames) {
        toggleFlames();
    } else {
        layOut();
        refreshMarks();
    }
}

function threadName(thread) {
    const name = data.texts[ranges.threadName[thread] || 0];
    return `thread ${thread}` + (name ? ` (${name})` : "");
}

/* Threads that hand the work over to each other are one caller. */
function callerOf(thread) { return ranges.threadCaller[thread] ?? thread; }

/* The ranges around a time of a thread, the outermost first. Steps are of all threads. */
function rangesAround(ns, thread) {
    flameRows ??= makeFlameRows();
    return flameRows.flatMap(({ lanes }) => lanes.flatMap((lane) => {
        const i = upperBound(lane.start, ns) - 1, range = i < 0 ? -1 : lane.op[i];
        const holds = range >= 0 && ranges.end[range] > ns
            && (callerOf(ranges.thread[range]) === callerOf(thread) || ranges.kind[range] === RANGE.step);
        return holds ? [range] : [];
    }));
}

/* {n, ns}: the operations that were issued within a range, and their time on the device. */
function issuedIn(range) {
    const within = (op) => hostStart[op] >= ranges.start[range] && hostStart[op] < ranges.end[range]
        && (callerOf(opThread[op]) === callerOf(ranges.thread[range])
            || ranges.kind[range] === RANGE.step);
    let n = 0, ns = 0;
    for (let i = 0; i < spans.n; i++) {
        const launch = opLaunch[i] ? findOp(opLaunch[i]) : i;
        if (launch < 0 || !within(launch)) continue;
        n++;
        ns += spans.length[i];
    }
    return { n, ns };
}

function rangeHeading(range) {
    const thread = ranges.thread[range] ? ` of ${threadName(ranges.thread[range])}` : "";
    return el("p", { class: "title" }, swatch(HOST_STYLES[HOST.work - HOST.issue]),
        el("b", {}, rangeName(range)), " ",
        el("span", { class: "muted" }, rangeKind(range) + thread));
}

function rangeFacts(range, time) {
    return [["Duration", time(ranges.length[range])], ["Start", since(ranges.start[range])]];
}

/* ---- counters --------------------------------------------------------------------- */

const UNIT = { count: 0, bytes: 1, bytesPerSecond: 2 };

function counterValue(counter, value) {
    if (counter.unit === UNIT.bytes) return bytes(value);
    return counter.unit === UNIT.count ? value.toLocaleString("en-US") : bytesPerSecond(value);
}

const counterRows = data.counters.map((counter) => {
    const { at, value } = decodeTable({ n: counter.points.n, ...counter.points });
    return { ...counter, title: counter.prefix + counter.title, at, value, y: 0 };
});

/* "gpu1: H2D copies", or where that has no room "gpu1: H2D" or "1: H2D". */
function counterTitle({ name, prefix, title }, room) {
    const short = name.startsWith("memcpy_") ? name.slice(7).toUpperCase() : name;
    const least = prefix.replace(/^gpu/, "") + short;
    return [title, prefix + short, least].find((text) => textWidth(text) <= room)
        ?? fitted(least, room, true);
}

/* The value from a time on. */
function counterAt(counter, ns) {
    const i = upperBound(counter.at, ns) - 1;
    return i < 0 ? 0 : counter.value[i];
}

/* The outline of a counter: of each pixel the largest value. One path is drawn in a fraction of the
 * time that as many rectangles take. */
function traceCounter(counter, bottom, room) {
    let i = upperBound(counter.at, view.from), last = 0;
    pen.beginPath();
    pen.moveTo(view.gutter, bottom);
    for (let x = view.gutter; x < view.width; x++) {
        const to = toTime(x + 1);
        let most = i > 0 ? counter.value[i - 1] : 0;
        for (; i < counter.at.length && counter.at[i] < to; i++) {
            most = Math.max(most, counter.value[i]);
        }
        const height = most > 0 ? Math.max(1, most / counter.most * room) : 0;
        if (height === last) continue;
        pen.lineTo(x, bottom - last);
        pen.lineTo(x, bottom - height);
        last = height;
    }
    pen.lineTo(view.width, bottom - last);
    pen.lineTo(view.width, bottom);
}

/* Its largest value, without a word before it where that has no room. */
function mostText(counter, room) {
    const value = counterValue(counter, counter.most), text = `max ${value}`;
    return textWidth(text) <= room ? text : fitted(value, room);
}

function paintCounter(counter) {
    const top = counter.y - chart.scrollTop, room = COUNTER_HEIGHT - 12;
    if (top + COUNTER_HEIGHT < AXIS || top > view.height) return;
    line(0, Math.round(top) + 0.5, view.width, Math.round(top) + 0.5, colours.line);
    const labels = view.gutter - 16, middle = top + COUNTER_HEIGHT / 2;
    write(counterTitle(counter, labels), 2, middle - 6, colours.ink);
    write(mostText(counter, labels), 2, middle + 8, colours.muted, "left", SMALL_FONT);
    clipToRows();
    pen.fillStyle = colours.muted;
    pen.globalAlpha = 0.55;
    traceCounter(counter, top + 6 + room, room);
    pen.fill();
    pen.globalAlpha = 1;
    pen.restore();
}

/* The largest value within from..to. */
function mostWithin(counter, from, to) {
    const end = lowerBound(counter.at, to);
    let most = counterAt(counter, from);
    for (let i = upperBound(counter.at, from); i < end; i++) {
        most = Math.max(most, counter.value[i]);
    }
    return most;
}

/* {counter, at}: that at x, y of the chart, or null. */
function hitCounter(x, y) {
    const below = y + chart.scrollTop, inRows = x >= view.gutter && y > AXIS;
    const counter = inRows
        && counterRows.find((row) => below >= row.y && below < row.y + COUNTER_HEIGHT);
    return counter ? { counter, at: toTime(x) } : null;
}

function counterTip({ counter, at }) {
    return [el("p", { class: "title" }, el("b", {}, counter.title)),
        factList([["At", since(at)], ["Value", counterValue(counter, counterAt(counter, at))],
            ["Most", counterValue(counter, counter.most)]])];
}

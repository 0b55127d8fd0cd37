/* over_time.js - what is drawn over time beside operations: the ranges of the host, a row a depth,
 * and counters, a row each.
 */

const MOST_DEPTHS = 8;
const COUNTER_HEIGHT = 44;
const ranges = decodeTable(data.ranges);
ranges.end = sumOf(ranges.start, ranges.length);

/* ---- ranges ----------------------------------------------------------------------- */

/* How many ranges of its thread each range lies in; `order` is by thread, start, and the longer
 * one first. */
function depthsOf(order) {
    const depths = new Uint8Array(ranges.n), open = [];
    let thread = -1;
    for (const i of order) {
        if (ranges.thread[i] !== thread) open.length = 0;
        thread = ranges.thread[i];
        while (open.length && open[open.length - 1] <= ranges.start[i]) open.pop();
        depths[i] = Math.min(open.length, MOST_DEPTHS);
        open.push(ranges.end[i]);
    }
    return depths;
}

/* Rows as those of operations, whose items are ranges. */
function makeFlameRows() {
    const order = Array.from({ length: ranges.n }, (_, i) => i).sort((a, b) =>
        ranges.thread[a] - ranges.thread[b] || ranges.start[a] - ranges.start[b]
            || ranges.end[b] - ranges.end[a] || a - b);
    const depths = depthsOf(order);
    const times = {
        start: ranges.start, end: ranges.end, kind: new Uint8Array(ranges.n).fill(HOST.work),
    };
    const rows = [];
    for (let depth = 0; depth < MOST_DEPTHS; depth++) {
        const items = Uint32Array.from(order.filter((i) => depths[i] === depth));
        if (items.length === 0) break;
        const lanes = makeLanes(items, times);
        for (const lane of lanes) lane.name = (i) => data.texts[ranges.name[lane.op[i]]];
        rows.push({ title: depth === 0 ? "host ranges" : "", lanes, times, value: depth, host: true,
            ranges: true, busy: 0, y: 0, height: 0, bar: 0 });
    }
    return rows;
}

let flameRows = null;                   /* made when they are first shown */

function shownFlames() {
    if (!state.flames) return [];
    flameRows = flameRows || makeFlameRows();
    return flameRows;
}

function toggleFlames() {
    if (ranges.n === 0) return;
    state.flames = !state.flames;
    byId("flames").setAttribute("aria-pressed", state.flames);
    state.hovered = null;
    layOut();
}

/* {place, name, took}: the range at a place of the content, or null; as hit(). */
function hitRange(x, y) {
    const row = state.flameRows.find((r) => y >= r.y && y < r.y + r.height);
    if (!row) return null;
    const l = laneAt(row, y), lane = row.lanes[l];
    const at = toTime(x), i = lowerBound(lane.end, at);
    return i < lane.n && lane.start[i] <= toTime(x + NEAR)
        ? { place: { row, lane: l, index: i }, range: lane.op[i] } : null;
}

function rangeTip({ range }) {
    return [el("p", { class: "title" }, el("b", {}, data.texts[ranges.name[range]]), " ",
        el("span", { class: "muted" }, ranges.thread[range]
            ? `range of thread ${ranges.thread[range]}` : "range of the host")),
        factList([["Duration", duration(ranges.length[range])],
            ["Start", since(ranges.start[range])]])];
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
    write(fitted(counter.title, labels, counter.prefix !== ""), 2, middle - 6, colours.ink);
    write(mostText(counter, labels), 2, middle + 8, colours.muted, "left", SMALL_FONT);
    clipToRows();
    pen.fillStyle = colours.muted;
    pen.globalAlpha = 0.55;
    traceCounter(counter, top + 6 + room, room);
    pen.fill();
    pen.globalAlpha = 1;
    pen.restore();
}

/* {counter, at}: that at a place of the content, or null. */
function hitCounter(x, y) {
    const counter = counterRows.find((row) => y >= row.y && y < row.y + COUNTER_HEIGHT);
    return counter ? { counter, at: toTime(x) } : null;
}

function counterTip({ counter, at }) {
    return [el("p", { class: "title" }, el("b", {}, counter.title)),
        factList([["At", since(at)], ["Value", counterValue(counter, counterAt(counter, at))],
            ["Most", counterValue(counter, counter.most)]])];
}

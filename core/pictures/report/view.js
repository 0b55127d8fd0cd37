/* view.js - which rows and which stretch of time the chart shows, and what is marked.
 *
 * Everything that changes the picture ends in repaint(), which draws once before the
 * next frame, however often it was called.
 */

const byId = (id) => document.getElementById(id);
const chart = byId("chart"), content = byId("content"), canvas = byId("canvas");

const AXIS = 40;                        /* px above the rows: overview and ticks */
const OVERVIEW = 10;
const ROW_PADDING = 14;
const FLAME_BAR = 18;                   /* px, of a range of the host */
const LEAST_NS = 20;                    /* the shortest stretch that is shown */
const STILL = matchMedia("(prefers-reduced-motion: reduce)");

const state = {
    mode: "streams",
    rows: [],
    flames: false,                      /* the ranges of the host are shown, */
    flameRows: [],                      /* which these rows have */
    selected: -1,                       /* an operation, or a range of the host: see isRange */
    host: false,                        /* it is its call on the host that is selected */
    arrows: [],                         /* of the selected one, see arrowsOf */
    hovered: null,                      /* what hit() gave */
    group: -1,                          /* of findings */
    found: null,                        /* by name, see findMatches */
    only: false,                        /* nothing else is drawn */
    marks: null,                        /* of these findings, or what was found: see markGroup */
    flameMarks: null,                   /* of flameRows */
    range: null,                        /* that is measured: {from, to} */
};

const view = { from: 0, to: 1, width: 0, height: 0, gutter: 0 };

/* ---- time ------------------------------------------------------------------------- */

/* Everything, with a little room on both sides; of a change what the program takes without it; the ranges of the host only while they are shown:
 * they may begin long before the first call. */
function limitsOf(withRanges) {
    let from = Infinity, to = -Infinity;
    for (let op = 0; op < OPS; op++) {
        from = Math.min(from, hostStart[op]);
        to = Math.max(to, hostEnd[op]);
    }
    for (let i = 0; i < spans.n; i++) {
        from = Math.min(from, spans.start[i]);
        to = Math.max(to, spans.end[i]);
    }
    for (let i = 0; withRanges && i < ranges.n; i++) {
        from = Math.min(from, ranges.start[i]);
        to = Math.max(to, ranges.end[i]);
    }
    if (from > to) from = to = 0;
    if (shown > 0) to = Math.max(to, from + changes.extent);
    const room = Math.max((to - from) * 0.01, LEAST_NS);
    return { from: from - room, to: to + room };
}

let limits = limitsOf(false);

const perPixel = () => (view.to - view.from) / (view.width - view.gutter);
const toX = (ns) => view.gutter + (ns - view.from) / perPixel();
const toTime = (x) => view.from + (x - view.gutter) * perPixel();

function setView(from, to) {
    const whole = limits.to - limits.from;
    const length = Math.min(whole, Math.max(LEAST_NS, to - from));
    view.from = Math.max(limits.from, Math.min(limits.to - length, from));
    view.to = view.from + length;
    viewChanged();
    repaint();
}

/* The point at `at` stays where it is. */
function zoomed(from, to, factor, at) {
    return [at - (at - from) * factor, at + (to - at) * factor];
}

function zoom(factor, at = (view.from + view.to) / 2) {
    const whole = limits.to - limits.from, length = view.to - view.from;
    const bounded = Math.max(LEAST_NS / length, Math.min(whole / length, factor));
    setView(...zoomed(view.from, view.to, bounded, at));
}

function pan(ns) {
    setView(view.from + ns, view.to + ns);
}

let moving = 0;                         /* the animation's frame request */

function stopMoving() {
    cancelAnimationFrame(moving);
    moving = 0;
}

/* Moves there in a fifth of a second, evenly in the logarithm of the zoom. */
function moveTo(from, to) {
    stopMoving();
    if (STILL.matches) {
        setView(from, to);
        return;
    }
    const start = performance.now(), first = { from: view.from, to: view.to };
    const a = first.to - first.from, b = to - from;
    const step = (now) => {
        const part = Math.min(1, Math.max(0, (now - start) / 200));
        const eased = 1 - (1 - part) ** 3;
        const length = a * (b / a) ** eased;
        const share = Math.abs(b - a) > a / 1e6 ? (length - a) / (b - a) : eased;
        const middle = (first.from + first.to) / 2 * (1 - share) + (from + to) / 2 * share;
        moving = part < 1 ? requestAnimationFrame(step) : 0;
        if (part < 1) setView(middle - length / 2, middle + length / 2); else setView(from, to);
    };
    moving = requestAnimationFrame(step);
}

function showAll() {
    moveTo(limits.from, limits.to);
}

/* So that it fills `part` of the chart. */
function moveToStretch(from, to, part) {
    const length = Math.max((to - from) / part, LEAST_NS), middle = (from + to) / 2;
    moveTo(middle - length / 2, middle + length / 2);
}

/* ---- layout ----------------------------------------------------------------------- */

const within = (x, least, most) => Math.max(least, Math.min(most, x));

/* All rows from top to bottom: the first of state.rows is the host's. */
function allRows() {
    const [host, ...others] = state.rows;
    return [host, ...state.flameRows, ...others];
}

/* Rows get lower as there are more of them, lanes thinner. */
function layOut() {
    state.rows = [keptRow(hostRow), ...keptRows(deviceRows(state.mode))];
    state.flameRows = shownFlames();
    const single = within(Math.round(290 / state.rows.length) - ROW_PADDING, 22, 36);
    let y = AXIS;
    for (const row of allRows()) {
        const n = row.lanes.length;
        row.bar = row.ranges ? FLAME_BAR : n === 1 ? single
            : within(Math.floor(4 * single / n), 5, single - 4);
        row.y = y;
        row.height = lanesHeight(row) + (row.ranges ? 4 : ROW_PADDING);
        y += row.height;
    }
    for (const counter of counterRows) {
        counter.y = y;
        y += COUNTER_HEIGHT;
    }
    content.style.height = `${y + 8}px`;
    chart.style.height = `${Math.min(y + 8, Math.max(320, innerHeight * 0.62))}px`;
    resize();
}

/* The canvas has as many pixels as the screen. */
function resize() {
    const scale = devicePixelRatio || 1;
    view.width = content.clientWidth;
    view.height = chart.clientHeight;
    view.gutter = view.width < NARROW ? 76 : 132;
    canvas.width = Math.round(view.width * scale);
    canvas.height = Math.round(view.height * scale);
    canvas.style.width = `${view.width}px`;
    canvas.style.height = `${view.height}px`;
    repaint();
}

function setMode(mode) {
    state.mode = mode;
    for (const button of document.querySelectorAll("[data-rows]")) {
        button.setAttribute("aria-pressed", button.dataset.rows === mode);
    }
    state.hovered = null;
    layOut();
    refreshMarks();
}

function lanesHeight(row) {
    return row.lanes.length * (row.bar + 2) - 2;
}

/* The y of a lane's bars, in the content. */
function laneY(row, lane) {
    return row.y + (row.height - lanesHeight(row)) / 2 + lane * (row.bar + 2);
}

/* ---- what is marked --------------------------------------------------------------- */

function select(item, host = false) {
    state.selected = item;
    state.host = item >= 0 && (host || !isSpan(item));
    state.arrows = item >= 0 && !isRange(item) ? arrowsOf(item) : [];
    showSelectedRange();
    showInspector();
    showMatches();
    viewChanged();
    repaint();
}

function clearMarks() {
    state.range = null;
    setGroup(-1);
    select(-1);
}

/* Where the selected operation is drawn, or null. */
function selectedPlace() {
    const { selected } = state;
    if (selected < 0) return null;
    return isRange(selected) ? locate(selected - OPS, state.flameRows, flameTimes)
        : locate(selected, state.rows, state.host ? hostTimes : deviceTimes);
}

/* The waits of a group's findings, as indices. */
function waitsOfGroup(group) {
    return groups[group].flatMap(({ index }) => {
        const from = lowerBound(waits.finding, index), to = upperBound(waits.finding, index);
        return Array.from({ length: to - from }, (_, i) => from + i);
    });
}

/* For each row its lanes with nothing in them but the group's operations, and the waits. */
function markGroup(group) {
    const members = new Set(), waiting = new Map(state.rows.map((row) => [row, []]));
    for (const i of waitsOfGroup(group)) {
        const waiter = findOp(waits.waiter[i]);
        members.add(waiter).add(findOp(waits.by[i]));
        waiting.get(rowOf(waiter)).push(i);
    }
    const times = {
        start: waits.from, end: waits.to, kind: new Uint8Array(waits.n).fill(MARK_WAIT),
    };
    return state.rows.map((row) => ({
        lanes: subset(row, (op) => members.has(op)),
        waits: makeLanes(Uint32Array.from(waiting.get(row)), times),
    }));
}

/* The row that shows an operation. */
function rowOf(op) {
    const place = op < 0 || !isSpan(op) ? null : locate(op, state.rows, deviceTimes);
    return place ? place.row : state.rows[0];
}

function refreshMarks() {
    const found = state.only || state.group >= 0 ? null : state.found;
    state.marks = state.group >= 0 ? markGroup(state.group) : found && markFound(found, state.rows);
    state.flameMarks = found && markFound(found, state.flameRows);
    repaint();
}

function setGroup(group) {
    state.group = group;
    refreshMarks();
    for (const [i, card] of findingCards().entries()) {
        card.firstChild.setAttribute("aria-pressed", i === group);
    }
}

/* Shows the longest wait of a group's costliest finding, and what was waited for. */
function goToGroup(group) {
    if (state.only) toggleOnly();
    const { finding } = groups[group][0], by = findOp(finding.by);
    setGroup(group);
    select(by >= 0 ? by : findOp(finding.waiter), CAUSES[finding.cause].ofHost);
    moveToStretch(finding.from, finding.to, 0.5);
    chart.scrollIntoView({ block: "nearest", behavior: STILL.matches ? "auto" : "smooth" });
}

/* input.js - mouse, touch and keys; the theme; and the start of the page. */

/* ---- what is under the pointer ---------------------------------------------------- */

const NEAR = 3;                         /* px by which one may miss a thin operation */

function laneAt(row, y) {
    for (let l = 0; l < row.lanes.length; l++) {
        if (y < laneY(row, l) + row.bar + 1) return l;
    }
    return row.lanes.length - 1;
}

/* Numbered as what can be selected. */
function itemAt({ row, lane, index }) {
    return row.lanes[lane].op[index] + (row.ranges ? OPS : 0);
}

/* {place, item, host, crowd}: the operation or range at x, y of the chart, and how many of the
 * row lie within that pixel; or null. */
function hit(x, y) {
    const inRows = x >= view.gutter && y > AXIS;
    y += chart.scrollTop;
    const row = inRows && allRows().find((r) => y >= r.y && y < r.y + r.height);
    if (!row) return null;
    const l = laneAt(row, y), lane = row.lanes[l];
    const from = toTime(x - NEAR), to = toTime(x + NEAR), at = toTime(x);
    const i = lowerBound(lane.end, from), j = upperBound(lane.start, to);
    let best = -1, least = Infinity;
    for (let k = i; k < j && k < i + 1000; k++) {
        const away = Math.max(lane.start[k] - at, at - lane.end[k], 0);
        if (away < least) {
            least = away;
            best = k;
        }
    }
    if (best < 0) return null;
    const crowd = upperBound(lane.start, toTime(x + 0.5)) - lowerBound(lane.end, toTime(x - 0.5));
    const found = { row, lane: l, index: best };
    return { place: found, item: itemAt(found), host: row.host, crowd };
}

const tip = byId("tip");

function showTip(found, x, y) {
    if (!found) {
        tip.hidden = true;
        return;
    }
    tip.replaceChildren(...(found.counter ? counterTip(found)
        : [heading(found.item, found.host), factList(facts(found.item, found.host, duration))]));
    if (found.crowd > 2) {
        const what = isRange(found.item) ? "ranges" : "operations";
        tip.append(el("p", { class: "muted" },
            `${found.crowd.toLocaleString("en-US")} ${what} here: zoom in to tell them apart`));
    }
    tip.hidden = false;
    const right = x + 16 + tip.offsetWidth > innerWidth;
    const below = y + 16 + tip.offsetHeight > innerHeight;
    tip.style.left = `${Math.max(4, right ? x - 12 - tip.offsetWidth : x + 16)}px`;
    tip.style.top = `${Math.max(4, below ? y - 12 - tip.offsetHeight : y + 16)}px`;
}

function hover(event) {
    const { x, y } = pointOf(event);
    const found = hit(x, y) || hitCounter(x, y);
    const same = found && state.hovered && found.item === state.hovered.item
        && found.host === state.hovered.host;
    state.hovered = found;
    showTip(found, event.clientX, event.clientY);
    canvas.style.cursor = found && found.place ? "pointer" : "";
    for (const [i, card] of findingCards().entries()) {
        card.classList.toggle("touched", found !== null && groupOf[found.item] === i + 1);
    }
    if (!same) repaint();
}

function leave() {
    state.hovered = null;
    showTip(null);
    for (const card of findingCards()) card.classList.remove("touched");
    repaint();
}

/* ---- pointers --------------------------------------------------------------------- */

const pointers = new Map();             /* that are down: id -> {x, y} in the chart */
let drag = null;                        /* {kind, x, y, moved, ...} */

function pointOf(event) {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function pointerDown(event) {
    if (event.button !== 0) return;
    stopMoving();
    const point = pointOf(event);
    pointers.set(event.pointerId, point);
    canvas.setPointerCapture(event.pointerId);
    const kind = event.shiftKey ? "measure" : point.y < OVERVIEW ? "overview" : "pan";
    drag = { kind, x: point.x, y: point.y, start: toTime(point.x), moved: false };
    if (kind === "overview") moveOverview(point.x);
}

function moveOverview(x) {
    const share = (x - view.gutter) / (view.width - view.gutter);
    const middle = limits.from + share * (limits.to - limits.from);
    const half = (view.to - view.from) / 2;
    setView(middle - half, middle + half);
}

function measureTo(x) {
    const at = toTime(Math.max(view.gutter, Math.min(view.width, x)));
    const ends = [Math.round(drag.start), Math.round(at)].sort((a, b) => a - b);
    state.selected = -1;
    state.range = ends[1] > ends[0] ? { from: ends[0], to: ends[1] } : null;
    showInspector();
    repaint();
}

/* Two fingers: the times under them stay there. */
function pinch(before, after) {
    const [a, b] = before, [c, d] = after;
    const apart = Math.max(8, Math.abs(a.x - b.x)), now = Math.max(8, Math.abs(c.x - d.x));
    pan(((a.x + b.x) - (c.x + d.x)) / 2 * perPixel());
    zoom(apart / now, toTime((c.x + d.x) / 2));
}

function pointerMove(event) {
    const point = pointOf(event), before = pointers.get(event.pointerId);
    if (!before) {
        hover(event);
        return;
    }
    const old = [...pointers.values()];
    pointers.set(event.pointerId, point);
    if (pointers.size === 2) {
        pinch(old, [...pointers.values()]);
        drag.moved = true;
        return;
    }
    drag.moved = drag.moved || Math.hypot(point.x - drag.x, point.y - drag.y) > 3;
    if (!drag.moved) return;
    showTip(null);
    if (drag.kind === "measure") measureTo(point.x);
    else if (drag.kind === "overview") moveOverview(point.x);
    else {
        pan((before.x - point.x) * perPixel());
        chart.scrollTop += before.y - point.y;
    }
}

function pointerUp(event) {
    if (!pointers.delete(event.pointerId) || !drag) return;
    if (!drag.moved && drag.kind === "pan" && event.type === "pointerup") {
        const found = hit(drag.x, drag.y);
        if (found) select(found.item, found.host); else clearMarks();
    }
    if (pointers.size === 0) drag = null;
}

/* Horizontal scrolling moves, vertical scrolling zooms. When all is in view, zooming out scrolls
 * the page. */
function wheel(event) {
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const across = (event.shiftKey ? event.deltaY || event.deltaX : event.deltaX) * unit;
    const along = event.shiftKey ? 0 : event.deltaY * unit;
    const all = view.to - view.from >= 0.999 * (limits.to - limits.from);
    if (all && along >= 0 && !event.ctrlKey) return;
    event.preventDefault();
    stopMoving();
    if (Math.abs(across) > Math.abs(along)) pan(across * perPixel());
    else zoom(Math.exp(along * (event.ctrlKey ? 0.01 : 0.002)), toTime(pointOf(event).x));
}

/* ---- keys ------------------------------------------------------------------------- */

function zoomToSelected() {
    const place = selectedPlace();
    if (!place) return;
    const lane = place.row.lanes[place.lane];
    moveToStretch(lane.start[place.index], lane.end[place.index], 0.5);
}

function keepInView(place) {
    const lane = place.row.lanes[place.lane];
    const from = lane.start[place.index], to = lane.end[place.index];
    const length = view.to - view.from;
    const middle = (from + to) / 2;
    if (from < view.from || to > view.to) setView(middle - length / 2, middle + length / 2);
    if (place.row.y - AXIS < chart.scrollTop) chart.scrollTop = place.row.y - AXIS;
    const below = place.row.y + place.row.height - view.height;
    if (below > chart.scrollTop) chart.scrollTop = below;
}

function selectPlace(place) {
    select(itemAt(place), place.row.host);
    keepInView(place);
}

/* To the operation before or after the selected one in its lane. */
function stepInRow(by) {
    const place = selectedPlace();
    if (!place) return;
    const index = place.index + by;
    if (index >= 0 && index < place.row.lanes[place.lane].n) selectPlace({ ...place, index });
}

/* To the operation or range of the next lane, above or below, that is nearest in time. */
function stepToLane(by) {
    const place = selectedPlace();
    if (!place) return;
    const at = place.row.lanes[place.lane].start[place.index];
    const all = allRows().flatMap((row) => row.lanes.map((lane, i) => ({ row, lane: i, n: lane.n })))
        .filter(({ n }) => n > 0);
    const next = all[by + all.findIndex(({ row, lane }) =>
        row === place.row && lane === place.lane)];
    if (!next) return;
    const { row, lane, n } = next;
    selectPlace({ row, lane, index: Math.min(lowerBound(row.lanes[lane].end, at), n - 1) });
}

function selectFirst() {
    for (const row of [...state.rows.slice(1), ...state.flameRows, state.rows[0]]) {
        const index = lowerBound(row.lanes[0].start, view.from);
        if (index < row.lanes[0].n && row.lanes[0].start[index] < view.to) {
            selectPlace({ row, lane: 0, index });
            return;
        }
    }
}

function panBy(part) {
    pan(part * (view.to - view.from));
}

function toggleKeys() {
    const keys = byId("keys");
    keys.hidden = !keys.hidden;
    byId("help").setAttribute("aria-expanded", !keys.hidden);
}

function clearAll() {
    clearMarks();
    clearSearch();
}

/* To what the selected operation waited for, or else to its call. */
function goToCause() {
    const { selected, host } = state;
    if (selected < 0 || isRange(selected) || (host && isSpan(selected))) return;
    const by = causeOf(selected);
    if (by >= 0) goTo(by, !isSpan(by));
    else if (isSpan(selected) && !opLaunch[selected]) goTo(selected, true);
}

/* To the next of the causes of lost time, or the one before. */
function stepToGroup(by) {
    const n = groups.length, from = state.group < 0 && by < 0 ? 0 : state.group;
    if (n > 0) goToGroup((from + by + n) % n);
}

function measureView() {
    select(-1);
    state.range = { from: Math.round(view.from), to: Math.round(view.to) };
    showInspector();
}

const selected = () => state.selected >= 0;
const KEYS = {
    w: () => zoom(1 / 1.4), "+": () => zoom(1 / 1.4), "=": () => zoom(1 / 1.4),
    s: () => zoom(1.4), "-": () => zoom(1.4), "_": () => zoom(1.4),
    a: () => panBy(-0.15), d: () => panBy(0.15),
    arrowleft: () => selected() ? stepInRow(-1) : panBy(-0.15),
    arrowright: () => selected() ? stepInRow(1) : panBy(0.15),
    arrowup: () => selected() ? stepToLane(-1) : chart.scrollBy(0, -40),
    arrowdown: () => selected() ? stepToLane(1) : chart.scrollBy(0, 40),
    enter: selectFirst, f: zoomToSelected, 0: showAll, home: showAll, escape: clearAll,
    "/": focusSearch, l: copyLink, o: toggleFlames, h: toggleOnly, c: goToCause,
    n: () => stepToGroup(1), p: () => stepToGroup(-1), m: measureView,
    e: () => setMode(state.mode === "streams" ? "engines" : "streams"), "?": toggleKeys,
};

/* Letters work everywhere; what scrolls or presses something does only in the chart. */
function keyDown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === field) return;
    const key = event.key.toLowerCase();
    const inChart = document.activeElement === chart;
    const everywhere = key.length === 1 || key === "escape";
    if (!KEYS[key] || !(inChart || everywhere)) return;
    event.preventDefault();
    stopMoving();
    showTip(null);
    KEYS[key]();
}

/* ---- theme ------------------------------------------------------------------------ */

const DARK = matchMedia("(prefers-color-scheme: dark)");
const THEMES = { auto: "Theme: automatic", light: "Theme: light", dark: "Theme: dark" };
let theme = "auto", printing = false;

function applyTheme() {
    const dark = !printing && (theme === "dark" || (theme === "auto" && DARK.matches));
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = THEMES[theme];
    readColours();
    repaint();
}

/* Paper is white; and nothing repaints between beforeprint and the print. */
function print(now) {
    printing = now;
    applyTheme();
    resize();
    paint();
}

function nextTheme() {
    const names = Object.keys(THEMES);
    theme = names[(names.indexOf(theme) + 1) % names.length];
    applyTheme();
}

/* ---- start ------------------------------------------------------------------------ */

function listen() {
    chart.addEventListener("scroll", repaint);
    canvas.addEventListener("pointerdown", pointerDown);
    canvas.addEventListener("pointermove", pointerMove);
    canvas.addEventListener("pointerup", pointerUp);
    canvas.addEventListener("pointercancel", pointerUp);
    canvas.addEventListener("pointerleave", leave);
    canvas.addEventListener("dblclick", zoomToSelected);
    canvas.addEventListener("wheel", wheel, { passive: false });
    document.addEventListener("keydown", keyDown);
    for (const node of document.querySelectorAll("[data-rows]")) {
        node.addEventListener("click", () => setMode(node.dataset.rows));
    }
    byId("zoom-in").addEventListener("click", () => zoom(1 / 1.6));
    byId("zoom-out").addEventListener("click", () => zoom(1.6));
    byId("fit").addEventListener("click", showAll);
    byId("help").addEventListener("click", toggleKeys);
    byId("flames").addEventListener("click", toggleFlames);
    byId("flames").hidden = ranges.n === 0;
    byId("theme").addEventListener("click", nextTheme);
    operations.addEventListener("toggle", showOperations);
    DARK.addEventListener("change", applyTheme);
    addEventListener("resize", layOut);
    // A frame's page may be ready before it has a width, which comes without an event of the window.
    new ResizeObserver(() => content.clientWidth !== view.width && layOut()).observe(content);
    addEventListener("beforeprint", () => print(true));
    addEventListener("afterprint", () => print(false));
}

function start() {
    applyTheme();
    showHeader();
    showHeadline();
    showLegend();
    showTables();
    showParts();
    showFindings();
    showChanges();
    showInspector();
    chart.setAttribute("aria-label", `${count(spans.n, "operation", "operations")} in `
        + `${count(deviceRows("streams").length, "stream", "streams")} over `
        + `${duration(data.makespan)}. Enter selects, arrows step, Escape leaves; `
        + "the question mark shows all keys. A table of the operations is below.");
    setView(limits.from, limits.to);
    layOut();
    listen();
    listenToSearch();
    listenToLinks();
    goToLink(setView);
}

start();

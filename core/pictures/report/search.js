/* search.js - operations and ranges of the host found by their names: marked, counted, gone through,
 * or alone in the chart.
 */

const field = byId("search");
const SEARCH_PAUSE = 120;               /* ms without a key, after which is searched */

/* ---- finding ---------------------------------------------------------------------- */

/* Whether a text has all of the words, and none of those behind a "-"; asked once for each key. */
function textMatcher(words) {
    const isOut = (word) => word.length > 1 && word.startsWith("-");
    const needed = words.filter((word) => !isOut(word));
    const unwanted = words.filter(isOut).map((word) => word.slice(1));
    const known = new Map();
    return (key, textOf) => {
        let matches = known.get(key);
        if (matches === undefined) {
            const text = textOf().toLowerCase();
            matches = needed.every((word) => text.includes(word))
                && !unwanted.some((word) => text.includes(word));
            known.set(key, matches);
        }
        return matches;
    };
}

function nameMatcher(words) {
    const matches = textMatcher(words);
    return (op) => {
        const i = op - spans.n;
        const key = isSpan(op) ? spans.name[op] * KIND.count + spans.kind[op]
            : -1 - (calls.name[i] * 16 + calls.kind[i]);
        return matches(key, () => `${opName(op)} ${isSpan(op) ? data.texts[spans.name[op]] : ""}`);
    };
}

/* Two ascending lists of items as one. */
function merged(a, b, startOf) {
    const out = new Uint32Array(a.length + b.length);
    for (let i = 0, j = 0; i + j < out.length;) {
        const first = j === b.length || (i < a.length && startOf(a[i]) <= startOf(b[j]));
        out[i + j] = first ? a[i] : b[j];
        if (first) i++; else j++;
    }
    return out;
}

const startOf = (item) => isRange(item) ? ranges.start[item - OPS]
    : isSpan(item) ? spans.start[item] : hostStart[item];

/* What is found: {is: by item, order: operations and ranges, or else calls, by start, start: theirs,
 * ns: the operations' sum; how many operations, calls and ranges; depths: those of the ranges; kept:
 * the rows with nothing else in them, by row}. */
function findMatches(words) {
    const matches = nameMatcher(words), matchesRange = textMatcher(words);
    const is = new Uint8Array(OPS + ranges.n), operations = [], hostCalls = [], found = [];
    let ns = 0;
    for (let op = 0; op < OPS; op++) {
        if (!matches(op)) continue;
        is[op] = 1;
        if (isSpan(op)) ns += spans.length[op];
        (isSpan(op) ? operations : hostCalls).push(op);
    }
    for (let i = 0; i < ranges.n; i++) {
        if (!matchesRange(ranges.name[i], () => rangeName(i))) continue;
        is[OPS + i] = 1;
        found.push(i);
    }
    const depthsFound = new Set(found.map((range) => depths[range]));
    const theirs = sortByStart(Uint32Array.from(found), ranges.start).map((range) => range + OPS);
    const order = operations.length + found.length === 0
        ? sortByStart(Uint32Array.from(hostCalls), hostStart)
        : merged(sortByStart(Uint32Array.from(operations), spans.start), theirs, startOf);
    return { is, order, start: Float64Array.from(order, startOf), ns, depths: depthsFound,
        operations: operations.length, calls: hostCalls.length, ranges: found.length,
        kept: new Map() };
}

/* ---- showing ---------------------------------------------------------------------- */

/* The lanes of a row with nothing in them but what was found. */
function foundIn(row, { is }) {
    const first = row.ranges ? OPS : 0;
    return subset(row, (op) => is[first + op] === 1);
}

/* As markGroup. */
function markFound(found, rows) {
    return rows.map((row) => ({ lanes: foundIn(row, found), waits: [] }));
}

/* The row, or while nothing else is to be shown the same with what was found. */
function keptRow(row) {
    if (!state.only || !state.found) return row;
    const { kept } = state.found;
    if (!kept.has(row)) {
        const lanes = foundIn(row, state.found).filter(({ n }) => n > 0);
        if (lanes.length === 0) lanes.push(makeLane(new Uint32Array(0), row.times));
        kept.set(row, { ...row, lanes, busy: row.host ? 0 : unionLength(unionOf(lanes)) });
    }
    return kept.get(row);
}

/* Without those that are empty then. */
function keptRows(rows) {
    const shown = rows.map(keptRow);
    return state.only ? shown.filter(({ lanes }) => lanes[0].n > 0) : shown;
}

function showMatches() {
    const { found } = state, parts = [];
    if (found && found.operations) {
        parts.push(`${found.operations.toLocaleString("en-US")} of `
            + `${count(spans.n, "operation", "operations")}, ${duration(found.ns)}`);
    }
    if (found && found.calls) parts.push(count(found.calls, "call", "calls"));
    if (found && found.ranges) parts.push(count(found.ranges, "host range", "host ranges"));
    const at = found ? found.order.indexOf(state.selected) : -1;
    if (at >= 0) parts.push(`at ${(at + 1).toLocaleString("en-US")}`);
    if (found && !parts.length) parts.push("nothing found");
    if (found && data.rangesLeftOut && !found.operations) {
        parts.push(`${count(data.rangesLeftOut, "shorter host range is", "shorter host ranges are")} `
            + "not in this page");
    }
    byId("matches").textContent = parts.join("; ");
    byId("only").hidden = !found;
    byId("only").setAttribute("aria-pressed", state.only);
}

function find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    state.found = words.length ? findMatches(words) : null;
    state.only = state.only && state.found !== null;
    state.hovered = null;
    layOut();
    refreshMarks();
    showMatches();
    viewChanged();
}

function toggleOnly() {
    if (!state.found) return;
    state.only = !state.only;
    state.hovered = null;
    layOut();
    refreshMarks();
    showMatches();
    viewChanged();
}

let searchTimer = 0;

function findSoon() {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => find(field.value), SEARCH_PAUSE);
}

function findNow() {
    clearTimeout(searchTimer);
    find(field.value);
}

function clearSearch() {
    field.value = "";
    findNow();
}

/* ---- from one to the next --------------------------------------------------------- */

/* Where a jump begins: at the selected one, or what is in view. */
function nextMatch({ order, start }, by) {
    const at = order.indexOf(state.selected);
    if (at >= 0) return at + by;
    const first = lowerBound(start, view.from);
    return by > 0 ? first : first - 1;
}

const LEAST_WIDTH = 4;                  /* px: what is narrower is zoomed to */

/* Selects an item, and moves to where it is seen. */
function goTo(item, host) {
    stopMoving();
    select(item, host);
    if (state.only && !selectedPlace()) toggleOnly();
    const place = selectedPlace();
    if (!place) return;
    keepInView(place);
    const lane = place.row.lanes[place.lane];
    const from = lane.start[place.index], to = lane.end[place.index];
    if ((to - from) / perPixel() < LEAST_WIDTH) moveToStretch(from, to, 0.1);
}

function jump(by) {
    const { found } = state, n = found ? found.order.length : 0;
    if (n === 0) return;
    const item = found.order[(nextMatch(found, by) + n) % n];
    goTo(item, !isSpan(item));
}

function searchKey(event) {
    if (event.key === "Enter") {
        findNow();
        jump(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
        clearSearch();
        chart.focus();
    } else {
        return;
    }
    event.preventDefault();
}

function focusSearch() {
    field.focus();
    field.select();
}

function listenToSearch() {
    field.addEventListener("input", findSoon);
    field.addEventListener("keydown", searchKey);
    byId("only").addEventListener("click", toggleOnly);
}

/* search.js - operations found by their names, and links to what is in view. */

const field = byId("search");
const SEARCH_PAUSE = 120;               /* ms without a key, after which is searched */

/* ---- finding ---------------------------------------------------------------------- */

/* Whether an operation's name has all of the words: asked once for each name. */
function nameMatcher(words) {
    const known = new Map();
    return (op) => {
        const i = op - spans.n;
        const key = isSpan(op) ? spans.name[op] * KIND.count + spans.kind[op]
            : -1 - (calls.name[i] * 16 + calls.kind[i]);
        let matches = known.get(key);
        if (matches === undefined) {
            const whole = isSpan(op) ? data.texts[spans.name[op]] : "";
            const text = `${opName(op)} ${whole}`.toLowerCase();
            matches = words.every((word) => text.includes(word));
            known.set(key, matches);
        }
        return matches;
    };
}

/* {is: by operation, order: the operations, or else the calls, by start, ns: their sum, calls} */
function findMatches(words) {
    const matches = nameMatcher(words), is = new Uint8Array(OPS);
    const operations = [], hostCalls = [];
    let ns = 0;
    for (let op = 0; op < OPS; op++) {
        if (!matches(op)) continue;
        is[op] = 1;
        if (isSpan(op)) ns += spans.length[op];
        (isSpan(op) ? operations : hostCalls).push(op);
    }
    const start = operations.length ? spans.start : hostStart;
    const order = sortByStart(Uint32Array.from(operations.length ? operations : hostCalls), start);
    return { is, order, start: order.length ? Float64Array.from(order, (op) => start[op]) : order,
        ns, operations: operations.length, calls: hostCalls.length };
}

/* As markGroup: the rows with nothing in them but what was found. */
function markFound({ is }) {
    return state.rows.map((row) => ({ lanes: subset(row, (op) => is[op] === 1), waits: [] }));
}

function showMatches() {
    const { found } = state, parts = [];
    if (found && found.operations) {
        parts.push(`${found.operations.toLocaleString("en-US")} of `
            + `${count(spans.n, "operation", "operations")}, ${duration(found.ns)}`);
    }
    if (found && found.calls) parts.push(count(found.calls, "call", "calls"));
    const at = found ? found.order.indexOf(state.selected) : -1;
    if (at >= 0) parts.push(`at ${(at + 1).toLocaleString("en-US")}`);
    byId("matches").textContent = found && !parts.length ? "nothing found" : parts.join("; ");
}

function find(text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    state.found = words.length ? findMatches(words) : null;
    refreshMarks();
    showMatches();
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

function jump(by) {
    const { found } = state, n = found ? found.order.length : 0;
    if (n === 0) return;
    const op = found.order[(nextMatch(found, by) + n) % n];
    stopMoving();
    select(op, !isSpan(op));
    showMatches();
    const place = selectedPlace();
    if (!place) return;
    keepInView(place);
    const lane = place.row.lanes[place.lane];
    const from = lane.start[place.index], to = lane.end[place.index];
    if ((to - from) / perPixel() < LEAST_WIDTH) moveToStretch(from, to, 0.1);
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

/* ---- links ------------------------------------------------------------------------ */

/* "#view=1000,2500": ns from the first operation's start; "" for all. */
function fragment() {
    if (view.to - view.from > 0.999 * (limits.to - limits.from)) return "";
    return `#view=${Math.floor(view.from - data.origin)},${Math.ceil(view.to - data.origin)}`;
}

function viewOfLink() {
    const [, from, to] = /^#view=(-?\d{1,16}),(-?\d{1,16})$/.exec(location.hash) || [];
    return Number(from) < Number(to)
        ? { from: data.origin + Number(from), to: data.origin + Number(to) } : null;
}

/* A page in a frame may have no address that can change. */
function noteView() {
    try {
        history.replaceState(null, "", fragment() || location.href.split("#")[0]);
    } catch {
        /* then the button alone has the link */
    }
}

function goToLink() {
    const linked = viewOfLink();
    if (linked) moveTo(linked.from, linked.to);
}

/* Without the clipboard of secure pages, through a field that is selected. */
function copyBySelection(text) {
    const area = el("textarea", { "aria-hidden": "true" }), focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    focused.focus();
    return copied;
}

function sayCopied(copied) {
    const link = byId("link");
    link.textContent = copied ? "Copied" : "Not copied: see the address";
    setTimeout(() => { link.textContent = "Copy link"; }, 1500);
}

function copyLink() {
    const text = location.href.split("#")[0] + fragment();
    const bySelection = () => sayCopied(copyBySelection(text));
    noteView();
    if (!navigator.clipboard) bySelection();
    else navigator.clipboard.writeText(text).then(() => sayCopied(true), bySelection);
}

function listenToSearch() {
    field.addEventListener("input", findSoon);
    field.addEventListener("keydown", searchKey);
    byId("link").addEventListener("click", copyLink);
    addEventListener("hashchange", goToLink);
}

/* panels.js - everything of the page but the chart: figures, explanation, tables.
 *
 * Texts become text nodes and nothing else, whatever is in them.
 */

/* el("p", {class: "x"}, "text", node): an attribute that is null is left out. */
function el(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== null) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
}

function swatch(kind) {
    const node = el("span", { class: kind === "wait" ? "swatch hatched" : "swatch" });
    if (kind !== "wait") node.style.background = `var(--${kind})`;
    return node;
}

const KIND_STYLES = data.kinds;
const HOST_STYLES = data.hostStyles, HOST_WORDS = data.hostLabels;

/* A bar of `share` of the room, as part of a table. */
function meter(share, kind) {
    const fill = el("span");
    fill.style.width = `${Math.max(0, Math.min(100, 100 * share)).toFixed(2)}%`;
    if (kind) fill.style.background = `var(--${kind})`;
    return el("span", { class: "meter", "aria-hidden": "true" }, fill);
}

/* ---- header ----------------------------------------------------------------------- */

function showHeader() {
    const { name, simulated, profile, backend } = data.device;
    byId("device").textContent = name || "Timeline";
    byId("recorded").textContent = (data.name ? `${data.name} · ` : "") + (simulated
        ? `Simulated GPU${profile ? `, profile ${profile}` : ""}; times are virtual`
        : backend ? "Recorded on the GPU" : "Read from a trace");
    byId("footer").textContent = `streamlab ${data.version}`;
}

function fact(label, value) {
    return el("div", {}, el("dt", {}, label), el("dd", {}, value));
}

/* makespan / bound large, and both lengths as one bar. */
function showHeadline() {
    const { makespan, bounds } = data, lower = bounds.lower;
    const ratio = lower > 0 ? [threeFigures(makespan / lower), el("small", {}, "×")] : ["–"];
    const bar = el("div", { class: "against", role: "img", "aria-label":
        `lower bound ${duration(lower)} of a makespan of ${duration(makespan)}` });
    const bound = el("span", { class: "bound" }), above = makespan - lower;
    bound.style.width = `${above > 0 ? 100 * lower / makespan : 100}%`;
    bound.classList.toggle("reached", above <= 0);
    bar.append(bound);
    const kept = data.verdict.gain > above
        ? "lower bound, for this order of the work and these copies" : "lower bound";
    byId("headline").append(
        el("div", { class: "hero" },
            el("p", { class: "ratio" }, ...ratio),
            el("p", { class: "muted" }, "makespan / lower bound")),
        el("div", { class: "facts" }, ...(spans.n === 0 ? [] : [bar,
            el("p", { class: "muted caption" }, el("span", {}, kept),
                el("span", {}, above > 0 ? `${duration(above)} above it` : ""))]),
            el("dl", {},
                fact("Makespan", data.range ?? duration(makespan)),
                fact("Lower bound", duration(lower)),
                fact("Host wall time", duration(data.wall)),
                fact("Operations", spans.n.toLocaleString("en-US")))));
}

function showLegend() {
    const kinds = new Set(spans.kind), host = new Set(hostTimes.kind);
    const items = [];
    KIND_STYLES.forEach((style, kind) => {
        if (kinds.has(kind)) items.push([style, KIND_NAMES[kind]]);
    });
    HOST_STYLES.forEach((style, i) => {
        if (host.has(HOST.issue + i)) items.push([style, HOST_WORDS[i]]);
    });
    byId("legend").append(...items.map(([style, name]) => el("li", {}, swatch(style), name)),
        el("li", { class: data.bounds.lower > 0 ? null : "absent" },
            el("span", { class: "swatch dotted" }), "lower bound"));
}

/* ---- tables ----------------------------------------------------------------------- */

function row(cells, tag = "td") {
    return el("tr", {}, ...cells.map((cell, i) =>
        i === 0 ? el("th", { scope: tag === "th" ? "col" : "row" }, cell) : el(tag, {}, cell)));
}

function fill(table, heads, rows) {
    table.replaceChildren(el("thead", {}, row(heads, "th")),
        el("tbody", {}, ...rows.map((cells) => row(cells))));
}

function withSwatch(style, text) {
    return el("span", {}, swatch(style), text);
}

const ENGINE_STYLES = [
    "kernel", "collective", "memcpy_h2d", "memcpy_d2h", "memcpy_p2p", "memcpy_h2d", "host_func",
];

/* An engine that had more than one kind of work has a row for each. */
function showBusy() {
    const rows = [];
    for (const { engine, busy, kinds } of data.busy) {
        const n = kinds.reduce((sum, kind) => sum + kind.spans, 0);
        const style = kinds.length === 1 ? KIND_STYLES[kinds[0].kind] : ENGINE_STYLES[engine];
        const line = (title, ns, spanCount, look) => rows.push([title, duration(ns),
            percent(ns, data.makespan), meter(ns / data.makespan, look),
            spanCount.toLocaleString("en-US")]);
        line(withSwatch(style, ENGINE_NAMES[engine]), busy, n, style);
        if (kinds.length < 2) continue;
        for (const part of kinds) {
            const look = KIND_STYLES[part.kind];
            const title = withSwatch(look, KIND_NAMES[part.kind]);
            title.className = "part";
            line(title, part.busy, part.spans, look);
        }
    }
    fill(byId("busy"), ["Engine", "Busy", "Of makespan", "", "Spans"], rows);
}

function showOverlap() {
    const rows = data.overlaps.map(({ of, common, shortest, place }) => [
        (data.gpus ? data.gpus[place] : "") + of.map((engine) => data.engines[engine]).join(" & "),
        duration(common),
        percent(common, shortest), meter(common / shortest, "muted"),
    ]);
    if (rows.length === 0) {
        byId("overlap").replaceChildren(el("caption", {},
            `Only one engine ${data.gpus ? "of each GPU " : ""}had work: there is nothing to overlap with.`));
        return;
    }
    fill(byId("overlap"), ["Engines", "Together", "Of the shorter", ""], rows);
}

function showBounds() {
    const { serial, engine, busiest, criticalPath, lower, unblocked } = data.bounds;
    const times = (bound) => bound > 0 ? `${threeFigures(data.makespan / bound)}×` : "–";
    fill(byId("bounds"), ["Bound", "Time", "Makespan / bound"], [
        ["all one after the other", duration(serial), times(serial)],
        [`busiest engine (${engine})`, duration(busiest), times(busiest)],
        ["critical path", duration(criticalPath), times(criticalPath)],
        [el("b", {}, "at best, in the same streams, with your host waits"), el("b", {}, duration(lower)),
            el("b", {}, times(lower))],
        ["at best, in the same streams, without any host wait", duration(unblocked), times(unblocked)],
    ]);
}

/* How long k engines were busy at once; and k kernels, if they ever were more than one. */
function showAtOnce() {
    const lines = (list, noun) => list.map((ns, k) => [
        k === 0 ? `no ${noun}` : `${k} ${noun}${k > 1 ? "s" : ""}`, duration(ns),
        percent(ns, data.makespan), meter(ns / data.makespan, k ? "muted" : "line"),
    ]);
    const { engines, kernels } = data.concurrency;
    const rows = lines(engines, "engine");
    if (kernels.length > 2) rows.push(...lines(kernels, "kernel").slice(1));
    fill(byId("at-once"), ["Busy at once", "Time", "Of makespan", ""], rows);
}

function showTables() {
    byId("tables").hidden = spans.n === 0;
    showBusy();
    showOverlap();
    showBounds();
    showAtOnce();
}

/* ---- explanation ------------------------------------------------------------------ */

/* "puzzler.lua:63", and the line itself where it is known. */
function scriptLine(op) {
    if (op < 0 || !place(op)) return [];
    const line = source(op);
    return [el("p", { class: "line" }, el("span", { class: "muted" }, place(op)),
        ...(line ? [el("code", {}, line)] : []))];
}

/* Text between backquotes is code. */
function withCode(text) {
    return text.split("`").map((part, i) => i % 2 ? el("code", {}, part) : part);
}

/* What else the cause of the group's first finding held up, a line an engine. */
function alsoHeldUp([first, ...others]) {
    return ENGINE_TITLES.map((title, engine) => {
        const same = others.filter(({ finding }) => finding.idle && finding.engine === engine);
        const sum = (field) => same.reduce((n, { finding }) => n + finding[field], 0);
        const more = first.finding.idle && first.finding.engine === engine ? " more" : "";
        const gaps = sum("waits") > 1 ? ` (${sum("waits").toLocaleString("en-US")} gaps)` : "";
        return same.length === 0 ? "" : el("span", {}, `The ${title} engine was idle `
            + `${duration(sum("lost"))}${more}${gaps} for the same reason.`);
    }).concat(others.filter(({ finding }) => !finding.idle && finding.engine !== COMM)
        .map(({ finding }) => el("span", {},
            `Kernels had room beside what ran for ${duration(finding.lost)} for the same reason.`)))
        .filter((line) => line);
}

/* What ending this cause alone gains; not known of all. */
function gainOf(finding) {
    const { gain, lost } = finding, known = gain >= 0;
    return el("span", { class: "lost" }, el("b", {}, duration(known ? gain : lost)),
        meter((known ? gain : lost) / data.makespan, "accent"),
        el("span", { class: "muted" },
            known ? `to gain, ${percent(gain, data.makespan)}` : "lost, gain not known"));
}

function findingCard(group, g) {
    const { finding } = group[0], by = findOp(finding.by);
    const card = el("button", { type: "button", "aria-pressed": "false" },
        gainOf(finding),
        el("span", { class: "words" },
            el("span", { class: "cause" }, CAUSES[finding.cause].title),
            ...(finding.sentence ? [el("span", {}, ...withCode(finding.sentence), ".")] : []),
            ...alsoHeldUp(group),
            ...scriptLine(by >= 0 && place(by) ? by : findOp(finding.waiter)),
            ...(finding.remedy ? [el("span", { class: "remedy" },
                ...withCode(finding.remedy), ".")] : [])));
    card.addEventListener("click", () => {
        if (state.group === g) clearMarks(); else goToGroup(g);
    });
    return el("li", {}, card);
}

const SHOWN_FINDINGS = 5, LEAST_SHARE = 0.005;

/* The first is shown, and others that matter; a click opens the rest. */
function showFindings() {
    const { inferred, leftOut } = data.explanation;
    byId("findings").hidden = groups.length === 0;
    byId("doubts").replaceChildren(...data.verdict.doubts.split("\n").filter(Boolean)
        .map((doubt) => el("li", {}, doubt)));
    byId("verdict").textContent = data.verdict.sentence;
    byId("verdict").classList.toggle("good", data.verdict.good);
    byId("origin").textContent = spans.n === 0 ? "Nothing ran, so nothing waited."
        : groups.length === 0 ? "No engine stood still before work that came to it."
        : inferred ? "Inferred from the records. Choose one to see it in the chart."
        : "Known exactly: the GPU is simulated. Choose one to see it in the chart.";
    const isSmall = (group, g) => g > 0 &&
        (g >= SHOWN_FINDINGS || Math.max(group[0].finding.gain, group[0].finding.lost)
            < LEAST_SHARE * data.makespan);
    const small = groups.filter(isSmall);
    groups.forEach((group, g) =>
        byId(isSmall(group, g) ? "small-findings" : "findings").append(findingCard(group, g)));
    const n = small.length + leftOut;
    byId("small").hidden = n === 0;
    byId("small-title").textContent = `${count(n, "smaller cause", "smaller causes")}`
        + (leftOut ? `, of which ${leftOut.toLocaleString("en-US")} are left out` : "");
}

/* By group: the small ones come last in either list. */
function findingCards() {
    return [...byId("findings").children, ...byId("small-findings").children];
}

/* ---- the makespan's parts --------------------------------------------------------- */

function partWords(part) {
    const op = findOp(part.waiter), cause = data.causes.indexOf(part.cause);
    if (part.cause === "none")
        return op >= 0 ? `${opTitle(op, part.manyWaiters)} running` : "running";
    if (part.cause === "latency") return "launch latency between operations";
    return `waiting for ${causeWords(cause, findOp(part.by), part.manyBy)}`;
}

/* The script's line of what ran, or of what was waited for. */
function partPlace(part) {
    const op = findOp(part.cause === "none" ? part.waiter : part.by);
    return op >= 0 ? place(op) : "";
}

function partStyle(part) {
    const op = findOp(part.waiter);
    return part.cause !== "none" ? "cost"
        : op >= 0 && isSpan(op) ? KIND_STYLES[spans.kind[op]] : "muted";
}

/* The chain of waits from the end back to the start, as one bar and its legend. */
function showParts() {
    const { chain, rest } = data.explanation;
    const lines = chain.filter((part, i) => i < 6 && part.lost >= 0.002 * data.makespan);
    const shown = lines.reduce((sum, part) => sum + part.lost, 0);
    const others = chain.reduce((sum, part) => sum + part.lost, rest) - shown;
    const all = lines.map((part) => [part.lost, partStyle(part), partWords(part),
        part.cause === "none", partPlace(part)]);
    if (others > 0) all.push([others, "issue", "other parts", true, ""]);
    byId("parts").hidden = lines.length === 0;
    byId("parts-bar").append(...all.map(([ns, style, , runs]) => {
        const piece = el("span", { class: runs ? null : "waiting" });
        piece.style.width = `${100 * ns / data.makespan}%`;
        piece.style.backgroundColor = `var(--${style})`;
        return piece;
    }));
    byId("parts-list").append(...all.map(([ns, style, words, runs, at]) => {
        const sign = swatch(style);
        sign.classList.toggle("waiting", !runs);
        return el("li", {}, el("b", {}, duration(ns)), sign,
            el("span", {}, words, " ", el("span", { class: "muted" }, at)));
    }));
}

/* ---- inspector -------------------------------------------------------------------- */

/* Of what a graph ran: 'graph "step"', "graph 1" of one that was given no name. */
function graphName(op) {
    const name = data.texts[spans.graph[op]];
    return !name ? "a graph" : name.startsWith("graph ") ? name : `graph "${name}"`;
}

/* What is known of an operation, as [label, text] pairs; `time` writes durations. */
function spanFacts(op, time) {
    const length = spans.length[op], moved = spans.bytes[op], out = [];
    out.push(["Duration", time(length)], ["Start", since(spans.start[op])]);
    if (moved > 0) {
        const rate = length > 0 ? `, ${bytesPerSecond(1e9 * moved / length)}` : "";
        const ends = copyEnds(op);
        out.push(["Moved", `${bytes(moved)}${rate}${ends && `, ${ends}`}`]);
    }
    if (spans.blocks[op] > 0) {
        out.push(["Grid", `${count(spans.blocks[op], "block", "blocks")} × `
            + count(spans.threads[op], "thread", "threads")]);
    }
    if (spans.node[op]) {
        out.push(["Node", `${(spans.node[op] - 1).toLocaleString("en-US")} of ${graphName(op)}`]);
    }
    if (spans.symbol[op]) out.push(["Symbol", data.texts[spans.symbol[op]]]);
    for (const wait of waitsOf(op)) out.push(["Waited", `${time(wait.ns)} for ${wait.words}`]);
    return out;
}

function callFacts(op, time) {
    const out = [["Took", time(hostEnd[op] - hostStart[op])], ["Called", since(hostStart[op])]];
    if (isSpan(op)) out.push(["Enqueues", opTitle(op)]);
    else if (isBlocking(op)) {
        const by = waitedFor(op);
        if (by >= 0) out.push(["Waited", `for ${opTitle(by)}`]);
    }
    return out;
}

function facts(op, host, time) {
    if (isRange(op)) return rangeFacts(op - OPS, time);
    const out = host ? callFacts(op, time) : spanFacts(op, time);
    if (!host) out.push([opLaunch[op] ? "Launch" : "Call took", time(hostEnd[op] - hostStart[op])
        + (isBlocking(op) ? ", which held the host" : "")]);
    if (place(op)) out.push(["Script", source(op) ? `${place(op)}  ${source(op)}` : place(op)]);
    if (groupOf[op]) {
        const { finding } = groups[groupOf[op] - 1][0];
        out.push(["Cost time", `${CAUSES[finding.cause].title}: ${duration(finding.lost)} in all`]);
    }
    return out;
}

function heading(op, host) {
    if (isRange(op)) return rangeHeading(op - OPS);
    const kind = host ? hostTimes.kind[op] - HOST.issue : spans.kind[op];
    const style = host ? HOST_STYLES[kind] : KIND_STYLES[kind];
    const what = host ? HOST_WORDS[kind]
        : `${KIND_NAMES[kind]} in ${streamName(spans.stream[op])}`;
    return el("p", { class: "title" }, swatch(style),
        el("b", {}, host ? callName(op) : opName(op)), " ",
        el("span", { class: "muted" }, what));
}

function factList(pairs) {
    return el("dl", {}, ...pairs.map(([label, value]) => fact(label, value)));
}

function button(text, action) {
    const node = el("button", { type: "button" }, text);
    node.addEventListener("click", action);
    return node;
}

/* Busy and common time of the engines within a range, and the most of each counter. */
function measuredFacts({ from, to }) {
    const out = [["From", `${since(from)} to ${since(to)}`]];
    const parts = deviceRows("engines").map((engine) => {
        engine.union = engine.union || unionOf(engine.lanes);
        return { title: engineName(engine.value, data.engines), part: clipUnion(engine.union, from, to) };
    });
    for (const { title, part } of parts) {
        const busy = unionLength(part);
        out.push([title, `${duration(busy)}, ${percent(busy, to - from)}`]);
    }
    parts.forEach((a, i) => parts.slice(i + 1).forEach((b) =>
        out.push([`${a.title} & ${b.title}`, duration(overlapLength(a.part, b.part))])));
    for (const counter of counterRows) {
        out.push([counter.title, `at most ${counterValue(counter, mostWithin(counter, from, to))}`]);
    }
    return out;
}

function inspect(title, pairs, zoomToIt) {
    title.append(el("span", { class: "space" }), button("Zoom to it", zoomToIt),
        button("Clear", clearMarks));
    byId("inspector").replaceChildren(title, factList(pairs));
}

function itemButton(item, host, text) {
    return button(text, () => goTo(item, host));
}

/* The ranges of the host around a time, each a button; none: nothing. */
function aroundFacts(label, list) {
    const steps = list.flatMap((range, i) =>
        [i ? " › " : "", itemButton(OPS + range, true, rangeName(range))]);
    return list.length ? [[label, el("span", {}, ...steps)]] : [];
}

/* All that is known of a range of the host. */
function allRangeFacts(range) {
    const issued = issuedIn(range), out = rangeFacts(range, exactly);
    const around = rangesAround(ranges.start[range], ranges.thread[range]);
    out.push(["Issued", issued.n === 0 ? "no operation" : `${count(issued.n, "operation", "operations")}, `
        + `${duration(issued.ns)} on the device`]);
    return out.concat(aroundFacts("Within", around.slice(0, around.indexOf(range))));
}

/* All that is known, to the ns. */
function allFacts(op) {
    if (isRange(op)) return allRangeFacts(op - OPS);
    const out = facts(op, state.host, exactly), name = isSpan(op) && data.texts[spans.name[op]];
    const by = state.host && isSpan(op) ? -1 : causeOf(op);
    if (name && name !== opName(op)) out.push(["Name", name]);
    if (by >= 0) out.push(["Held up by", itemButton(by, !isSpan(by), opTitle(by))]);
    const launch = opLaunch[op] ? findOp(opLaunch[op]) : op;
    return launch < 0 || ranges.n === 0 ? out
        : out.concat(aroundFacts("Called in", rangesAround(hostStart[launch], opThread[launch])));
}

function showInspector() {
    const op = state.selected, { range } = state;
    if (op >= 0) {
        inspect(heading(op, state.host), allFacts(op), zoomToSelected);
    } else if (range) {
        const title = el("p", { class: "title" }, el("b", {}, duration(range.to - range.from)),
            " ", el("span", { class: "muted" }, "measured"));
        inspect(title, measuredFacts(range), () => moveToStretch(range.from, range.to, 1));
    } else {
        byId("inspector").replaceChildren(el("p", { class: "muted" }, spans.n
            ? "Click an operation to see what it waited for. Scroll to zoom, drag to move, "
                + "Shift + drag to measure." : "Nothing ran on the device."));
    }
}

/* ---- operations as a table -------------------------------------------------------- */

const TABLE_ROWS = 200;
const operations = byId("operations");

/* The spans that begin or run within the view, by row. */
function spansInView(most) {
    const out = [];
    let n = 0;
    for (const { lanes } of keptRows(deviceRows("streams"))) {
        for (const lane of lanes) {
            const i = lowerBound(lane.end, view.from), j = upperBound(lane.start, view.to);
            n += Math.max(0, j - i);
            for (let k = i; k < j && k < i + most; k++) out.push(lane.op[k]);
        }
    }
    out.sort((a, b) => spans.start[a] - spans.start[b] || a - b);
    return { n, ops: out.slice(0, most) };
}

function showOperations() {
    if (!operations.open) return;
    const { n, ops } = spansInView(TABLE_ROWS);
    byId("operations-note").textContent = n > ops.length
        ? `The first ${ops.length} of ${n.toLocaleString("en-US")}: zoom in to see others.`
        : `${count(n, "operation", "operations")}.`;
    fill(operations.querySelector("table"),
        ["Operation", "Kind", "Stream", "Start", "Duration", "Bytes", "Script"],
        ops.map((op) => [
            button(opName(op), () => select(op)), KIND_NAMES[spans.kind[op]],
            streamName(spans.stream[op]), since(spans.start[op]), duration(spans.length[op]),
            spans.bytes[op] ? bytes(spans.bytes[op]) : "", place(op),
        ]));
}

let viewTimer = 0;

function viewRests() {
    showOperations();
    noteView();
}

/* The range above the chart at once, the table and the address when the view rests. */
function viewChanged() {
    byId("range").textContent = `${duration(view.to - view.from)} in view`;
    clearTimeout(viewTimer);
    viewTimer = setTimeout(viewRests, 300);
}

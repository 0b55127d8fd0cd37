/* paint.js - draws the chart on its canvas.
 *
 * What is wider than a few pixels is drawn as a bar of its own. What is narrower is
 * drawn pixel by pixel, in the colour of the kind that fills most of the pixel and as
 * strong as the pixel is full; equal neighbours are drawn together.
 */

const pen = canvas.getContext("2d");
const WIDE = 2.5;                       /* px from which an operation has its own bar */
const LABEL_ROOM = 30;                  /* px from which a bar has a label */
const STRENGTHS = 12;
const FAINTEST = 0.3;                   /* what ran leaves a mark, however short */
const DIMMED = 0.25;                    /* what has no part in the chosen finding */
const FONT = "12px system-ui, sans-serif", SMALL_FONT = "11px system-ui, sans-serif";

let colours = null;                     /* of the theme; readColours sets them */

function readColours() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue(`--${name}`).trim();
    const kinds = [...data.kinds, ...data.hostStyles, "cost"]
        .map((name) => ({ fill: get(name), text: get(`on-${name}`) }));
    colours = {
        ink: get("ink"), muted: get("muted"), line: get("line"), paper: get("paper"),
        stripe: get("stripe"), kinds,
    };
}

let pending = 0;

function repaint() {
    if (!pending) pending = requestAnimationFrame(paint);
}

/* ---- texts ------------------------------------------------------------------------ */

const widths = new Map();               /* of texts in FONT */

function textWidth(text) {
    let width = widths.get(text);
    if (width === undefined) {
        pen.font = FONT;
        width = pen.measureText(text).width;
        if (widths.size > 5000) widths.clear();
        widths.set(text, width);
    }
    return width;
}

/* As much of the text as fits, with an ellipsis, or "". Names of rows are cut in the middle: they
 * mostly differ at their ends. */
function fitted(text, room, inMiddle = false) {
    const width = textWidth(text);
    if (width <= room) return text;
    const letters = Array.from(text);
    let kept = Math.floor(letters.length * (room - textWidth("…")) / width);
    for (; kept >= 2; kept--) {
        const head = inMiddle ? Math.floor(kept / 2) : kept, tail = letters.length - (kept - head);
        const cut = letters.slice(0, head).join("") + "…" + letters.slice(tail).join("");
        if (textWidth(cut) <= room) return cut;
    }
    return "";
}

function write(text, x, y, colour, align = "left", font = FONT) {
    pen.font = font;
    pen.fillStyle = colour;
    pen.textAlign = align;
    pen.textBaseline = "middle";
    pen.fillText(text, x, y);
}

function line(x0, y0, x1, y1, colour) {
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
}

/* What is drawn until pen.restore() stays right of the titles. */
function clipToRows() {
    pen.save();
    pen.beginPath();
    pen.rect(view.gutter, AXIS - 6, view.width - view.gutter, view.height);
    pen.clip();
}

/* ---- bars ------------------------------------------------------------------------- */

function bar(x0, x1, y, height) {
    const left = Math.max(x0, view.gutter - 8), right = Math.min(x1, view.width + 8);
    const width = Math.max(right - left - (x1 - x0 > 4 ? 1 : 0), 1);
    pen.beginPath();
    if (width > 6) pen.roundRect(left, y, width, height, 2); else pen.rect(left, y, width, height);
}

/* A copy whose name does not fit: "D2H 4 MiB". */
function bestName(op, host, room) {
    const name = opName(op), { kind } = spans;
    if (host || kind[op] < KIND.h2d || kind[op] > KIND.p2p || textWidth(name) <= room) return name;
    const short = KIND_NAMES[kind[op]].replace("copy ", "");
    const sized = `${short} ${bytes(spans.bytes[op])}`;
    return spans.bytes[op] > 0 && textWidth(sized) <= room ? sized : short;
}

/* The name, and how long it took if there is room for both. */
function label(lane, i, host, x0, x1, y, height, colour) {
    const op = lane.op[i];
    const left = Math.max(x0, view.gutter) + 5, room = Math.min(x1, view.width) - left - 5;
    if (room < LABEL_ROOM - 10 || height < 12) return;
    const name = lane.name ? lane.name(op) : bestName(op, host, room);
    const took = duration(lane.name ? lane.end[i] - lane.start[i]
        : host ? hostEnd[op] - hostStart[op] : spans.length[op]);
    const both = textWidth(name) + textWidth(took) + 8 <= room;
    write(fitted(name, room), left, y + height / 2 + 0.5, colour);
    if (!both) return;
    pen.globalAlpha *= 0.72;
    write(took, left + textWidth(name) + 8, y + height / 2 + 0.5, colour);
    pen.globalAlpha /= 0.72;
}

/* Lost time, and a host that waits, are hatched. */
function hatch(x0, x1, y, height, colour) {
    const left = Math.max(x0, view.gutter), right = Math.min(x1, view.width);
    if (right - left < 4) return;
    pen.save();
    pen.beginPath();
    pen.rect(left, y, right - left, height);
    pen.clip();
    pen.beginPath();
    const first = Math.floor((left - height) / 7) * 7;
    for (let x = first; x < right; x += 7) {
        pen.moveTo(x, y + height);
        pen.lineTo(x + height, y);
    }
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.stroke();
    pen.restore();
}

/* The host's waits have paler stripes, so that a label can be read on them, and an edge. */
function paintHatched(x0, x1, y, height, colour, waits) {
    const alpha = pen.globalAlpha;
    pen.globalAlpha = alpha * 0.16;
    pen.fillStyle = colour;
    bar(x0, x1, y, height);
    pen.fill();
    pen.globalAlpha = waits ? alpha * 0.35 : alpha;
    hatch(x0, x1, y, height, colour);
    pen.globalAlpha = alpha;
    if (!waits) return;
    bar(x0 + 0.5, x1 - 0.5, y + 0.5, height - 1);
    pen.strokeStyle = colour;
    pen.lineWidth = 1;
    pen.stroke();
}

function paintWide(lane, i, x0, x1, y, height, host) {
    const look = colours.kinds[lane.kind[i]];
    const marks = lane.kind[i] === MARK_WAIT, waits = lane.kind[i] === HOST.wait;
    if (marks || waits) paintHatched(x0, x1, y, height, look.fill, waits);
    if (marks) return;
    if (!waits) {
        pen.fillStyle = look.fill;
        bar(x0, x1, y, height);
        pen.fill();
    }
    const dimmed = pen.globalAlpha <= DIMMED;
    if (x1 - x0 > LABEL_ROOM && !dimmed) label(lane, i, host, x0, x1, y, height, look.text);
}

/* ---- lanes ------------------------------------------------------------------------ */

/* Which kind fills most of items i..j-1 of a lane within from..to, and how much of it
 * all of them fill. */
function filling(lane, i, j, from, to) {
    let kind = lane.kind[i], most = -1, busy = 0;
    const before = Math.max(0, from - lane.start[i]), after = Math.max(0, lane.end[j - 1] - to);
    for (const sum of lane.sums) {
        let time = sum.upTo[j] - sum.upTo[i];
        if (lane.kind[i] === sum.kind) time -= before;
        if (lane.kind[j - 1] === sum.kind) time -= after;
        busy += time;
        if (time > most && time > 0) {
            most = time;
            kind = sum.kind;
        }
    }
    return { kind, share: Math.min(1, Math.max(0, busy / (to - from))) };
}

/* Draws runs of pixels of the same look. */
function makeRun(y, height) {
    let from = 0, to = 0, kind = 0, strength = -1;
    const alpha = pen.globalAlpha;
    const flush = () => {
        if (to > from) {
            pen.globalAlpha = alpha * (FAINTEST + (1 - FAINTEST) * strength / STRENGTHS);
            pen.fillStyle = colours.kinds[kind].fill;
            pen.fillRect(from, y, to - from, height);
            pen.globalAlpha = alpha;
        }
        to = from;
    };
    const add = (x, newKind, share) => {
        const newStrength = Math.ceil(share * STRENGTHS);
        if (x !== to || newKind !== kind || newStrength !== strength) {
            flush();
            from = x;
            kind = newKind;
            strength = newStrength;
        }
        to = x + 1;
    };
    return { add, flush };
}

function paintLane(lane, y, height, host) {
    const ns = perPixel(), run = makeRun(y, height);
    let i = lowerBound(lane.end, view.from);
    let x = view.gutter;
    while (i < lane.n && lane.start[i] < view.to) {
        x = Math.max(x, Math.floor(toX(lane.start[i])));
        if ((lane.end[i] - lane.start[i]) / ns >= WIDE) {
            run.flush();
            paintWide(lane, i, toX(lane.start[i]), toX(lane.end[i]), y, height, host);
            x = Math.max(x, Math.floor(toX(lane.end[i])));
            i++;
            continue;
        }
        const from = toTime(x), to = toTime(x + 1);
        let j = Math.max(i + 1, lowerBound(lane.start, to, i, lane.n));
        if (j - 1 > i && (lane.end[j - 1] - lane.start[j - 1]) / ns >= WIDE) j--;
        const { kind, share } = filling(lane, i, j, from, to);
        run.add(x, kind, share);
        x++;
        i = lane.end[j - 1] > to ? j - 1 : j;
    }
    run.flush();
}

/* ---- axis ------------------------------------------------------------------------- */

/* Round times that are at least `room` px apart, and so far that labels do not touch, of which the
 * last may be moved to the left by half its width. */
function tickStep(room) {
    for (let power = 1; ; power *= 10) {
        for (const step of [power, 2 * power, 5 * power]) {
            const px = step / perPixel();
            if (px < room) continue;
            const label = tickLabel(Math.round((view.to - data.origin) / step) * step, step);
            if (px >= 1.5 * textWidth(label) + 8) return step;
        }
    }
}

/* All ticks have the unit and the decimals that the step needs. */
function tickLabel(ns, step) {
    const greatest = Math.max(Math.abs(view.from - data.origin), Math.abs(view.to - data.origin));
    let u = UNITS.length - 1;
    while (u > 0 && UNITS[u][0] > greatest) u--;
    const [unit, name] = UNITS[u];
    let places = 0;
    while (places < u * 3 && (step * 10 ** places) % unit !== 0) places++;
    return `${(ns / unit).toFixed(places).replace("-", "−")} ${name}`;
}

function paintAxis() {
    const step = tickStep(view.width < NARROW ? 80 : 100);
    const first = Math.ceil((view.from - data.origin) / step);
    for (let i = first; data.origin + i * step <= view.to; i++) {
        const x = Math.round(toX(data.origin + i * step)) + 0.5;
        line(x, AXIS - 6, x, view.height, colours.line);
        const text = tickLabel(i * step, step), half = textWidth(text) / 2;
        write(text, Math.min(x, view.width - half), AXIS - 16, colours.muted, "center", SMALL_FONT);
    }
}

/* Which part of the whole is in view. */
function paintOverview() {
    const whole = limits.to - limits.from, room = view.width - view.gutter;
    pen.fillStyle = colours.stripe;
    pen.fillRect(view.gutter, 3, room, 4);
    if (view.to - view.from > 0.999 * whole) return;
    const left = view.gutter + (view.from - limits.from) / whole * room;
    pen.fillStyle = colours.muted;
    pen.fillRect(left, 3, Math.max(8, (view.to - view.from) / whole * room), 4);
}

/* The time at which the work could have ended. */
function paintBound() {
    const x = Math.round(toX(data.origin + data.bounds.lower)) + 0.5;
    if (data.bounds.lower <= 0 || x < view.gutter || x > view.width) return;
    pen.setLineDash([2, 3]);
    line(x, AXIS - 6, x, view.height, colours.ink);
    pen.setLineDash([]);
}

/* ---- rows ------------------------------------------------------------------------- */

/* "s 84" of "stream 84", where one of such names has no room: they differ by what stands around
 * the word. */
const NUMBERED = /\bstream (?=\d)/;

function rowTitle(row, room) {
    const isBrief = state.rows.some(({ title }) => NUMBERED.test(title) && textWidth(title) > room);
    return fitted(isBrief ? row.title.replace(NUMBERED, "s ") : row.title, room, true);
}

function paintTitle(row, y) {
    const room = view.gutter - 16, middle = y + row.height / 2;
    const share = row.host ? "" : percent(row.busy, data.makespan);
    write(rowTitle(row, room), 2, share ? middle - 6 : middle, colours.ink);
    if (share) write(share, 2, middle + 8, colours.muted, "left", SMALL_FONT);
}

function paintRow(row, index) {
    const scroll = chart.scrollTop, y = row.y - scroll;
    if (y + row.height < AXIS || y > view.height) return;
    line(0, Math.round(y) + 0.5, view.width, Math.round(y) + 0.5, colours.line);
    paintTitle(row, y);
    clipToRows();
    const marks = row.ranges ? state.flameMarks : state.marks;
    pen.globalAlpha = marks ? DIMMED : 1;
    row.lanes.forEach((lane, l) =>
        paintLane(lane, laneY(row, l) - scroll, row.bar, row.host));
    pen.globalAlpha = 1;
    if (marks) paintMarks(row, marks[index], scroll);
    pen.restore();
}

function paintMarks(row, marks, scroll) {
    const top = laneY(row, 0) - scroll;
    for (const lane of marks.waits) paintLane(lane, top, lanesHeight(row), row.host);
    marks.lanes.forEach((lane, l) => paintLane(lane, laneY(row, l) - scroll, row.bar, row.host));
}

function outline(place, colour, width) {
    const lane = place.row.lanes[place.lane], y = laneY(place.row, place.lane) - chart.scrollTop;
    const x0 = Math.max(toX(lane.start[place.index]), view.gutter - 8);
    const x1 = Math.min(toX(lane.end[place.index]), view.width + 8);
    if (x1 < view.gutter || x0 > view.width || y < AXIS - 20) return;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    pen.roundRect(x0 - 1, y - 1, Math.max(x1 - x0 + 1, 3), place.row.bar + 2, 3);
    pen.stroke();
}

/* ---- arrows ----------------------------------------------------------------------- */

/* A point of an operation: its start or end, at the middle of its bar. */
function anchor(op, host, atEnd) {
    const place = locate(op, state.rows, host ? hostTimes : deviceTimes);
    if (!place) return null;
    const lane = place.row.lanes[place.lane];
    return {
        x: toX(atEnd ? lane.end[place.index] : lane.start[place.index]),
        y: laneY(place.row, place.lane) - chart.scrollTop + place.row.bar / 2,
    };
}

function paintArrow(arrow) {
    const a = anchor(arrow.from, arrow.fromHost, arrow.fromEnd);
    const b = anchor(arrow.to, arrow.toHost, arrow.toEnd);
    if (!a || !b) return;
    const far = 2 * view.width;         /* what is far outside has no say in the curve */
    a.x = within(a.x, -far, far * 2);
    b.x = within(b.x, -far, far * 2);
    const bend = within(Math.abs(b.x - a.x) / 2, 14, 60);
    for (const [width, colour] of [[4, colours.paper], [1.5, colours.ink]]) {
        pen.lineWidth = width;
        pen.strokeStyle = pen.fillStyle = colour;
        pen.beginPath();
        pen.moveTo(a.x, a.y);
        pen.bezierCurveTo(a.x + bend, a.y, b.x - bend, b.y, b.x - 5, b.y);
        pen.stroke();
    }
    pen.beginPath();
    pen.moveTo(b.x, b.y);
    pen.lineTo(b.x - 8, b.y - 4);
    pen.lineTo(b.x - 8, b.y + 4);
    pen.fill();
}

/* ---- all -------------------------------------------------------------------------- */

function paintRange() {
    if (!state.range) return;
    const x0 = toX(state.range.from), x1 = toX(state.range.to);
    pen.globalAlpha = 0.12;
    pen.fillStyle = colours.ink;
    pen.fillRect(x0, AXIS - 6, x1 - x0, view.height);
    pen.globalAlpha = 1;
    pen.fillRect(x0, AXIS - 6, 1, view.height);
    pen.fillRect(x1, AXIS - 6, 1, view.height);
    write(duration(state.range.to - state.range.from), (x0 + x1) / 2, AXIS + 4, colours.ink,
        "center");
}

function paint() {
    pending = 0;
    if (view.width <= view.gutter) return;      // a frame that has no size yet: resize() comes
    const scale = canvas.width / view.width;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    paintAxis();
    state.rows.forEach(paintRow);
    state.flameRows.forEach(paintRow);
    counterRows.forEach(paintCounter);
    clipToRows();
    paintBound();
    paintRange();
    if (state.hovered && state.hovered.place) outline(state.hovered.place, colours.ink, 1);
    const place = selectedPlace();
    if (place) {
        state.arrows.forEach(paintArrow);
        outline(place, colours.ink, 2);
    }
    pen.restore();
    paintOverview();
}

/* words.js - times, sizes, names and positions as texts. */

/* ---- numbers ---------------------------------------------------------------------- */

const UNITS = [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]];

/* Three significant figures, as the program's tables have them: "56.7 ms". */
function duration(ns) {
    const sign = ns < 0 ? "−" : "";
    ns = Math.abs(ns);
    if (ns === 0) return "0";
    if (ns < 999.5) return `${sign}${Math.round(ns)} ns`;
    for (const [unit, name] of UNITS.slice(1)) {
        for (const places of [2, 1, 0]) {
            const figures = Math.round(ns / unit * 10 ** places);
            if (figures < 1000) return `${sign}${(figures / 10 ** places).toFixed(places)} ${name}`;
        }
    }
    return `${sign}${Math.round(ns / 1e9)} s`;
}

/* To the nanosecond: "56.701 234 ms". */
function exactly(ns) {
    const size = Math.abs(ns);
    let u = UNITS.length - 1;
    while (u > 0 && UNITS[u][0] > size) u--;
    const whole = Math.floor(size / UNITS[u][0]);
    const rest = String(size - whole * UNITS[u][0]).padStart(u * 3, "0").replace(/0+$/, "");
    const places = u > 0 && rest ? "." + rest.replace(/(\d{3})(?=\d)/g, "$1\u2009") : "";
    return `${ns < 0 ? "−" : ""}${whole}${places} ${UNITS[u][1]}`;
}

/* When, counted from the first operation's start. */
const since = (ns) => exactly(ns - data.origin);

function threeFigures(x) {
    return x.toFixed(x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
}

function scaled(n, step, names) {
    let u = 0;
    while (n >= step && u < names.length - 1) {
        n /= step;
        u++;
    }
    return `${u ? threeFigures(n) : Math.round(n)} ${names[u]}`;
}

const bytes = (n) => scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
const bytesPerSecond = (n) => scaled(n, 1000, ["B/s", "kB/s", "MB/s", "GB/s"]);

function percent(part, whole) {
    return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "–";
}

function count(n, one, many) {
    return `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
}

/* ---- names ------------------------------------------------------------------------ */

const KIND_NAMES = data.labels;
const ENGINE_NAMES = [
    "compute", "communication", "H2D copies", "D2H copies", "P2P copies", "copies", "host functions",
];
const COMM = 1;                         /* of these */
const ENGINE_TITLES = ["compute", "communication", "H2D", "D2H", "P2P", "copy", "host"];
const CALL_NAMES = [
    "event record", "wait for event", "stream synchronize", "event synchronize",
    "device synchronize", "call", "host work",
];
const RANGE_KINDS = [
    "operator", "function in Python", "function of PyTorch", "module", "annotation", "step",
    "range of NVTX",
];

/* By the code of a cause: its title, what an operation waited for ({} is the other operation), and
 * whether it holds the host in a call or is what the host did (causes.h). */
const CAUSES = data.causeWords;

function streamName(lane) {
    const stream = data.streams[lane];
    return stream.name || `stream ${stream.id}`;
}

/* Without its return type, namespaces, arguments and what templates were given, of which
 * most of a C++ name consists (sl_label_kernel has the same rule). Where that would be the
 * same for several kernels, data.kernels has the name. */
function shortName(name) {
    const [, plain] = /^(?:void )?(?:[^<(]*\(anonymous namespace\)::)*(.*)$/s.exec(name);
    const [, base, more] = /^([^<(]*)(<[^<>(){}, ]*>)?/.exec(plain);
    return base ? base.replace(/^.*::(?=.)/s, "") + (more || "") : plain;
}

const shortNames = new Map();           /* of kernels, by text */

function opName(op) {
    if (isSpan(op)) {
        const id = spans.name[op];
        if (spans.kind[op] > KIND.collective) return data.texts[id] || KIND_NAMES[spans.kind[op]];
        if (!shortNames.has(id)) shortNames.set(id, data.kernels[id] || shortName(data.texts[id]));
        return shortNames.get(id) || KIND_NAMES[spans.kind[op]];
    }
    const i = op - spans.n;
    return data.texts[calls.name[i]] || CALL_NAMES[calls.kind[i]];
}

/* Of the host's call: a span's has enqueued it. */
function callName(op) {
    return isSpan(op) ? data.spanCalls[spans.kind[op]] : opName(op);
}

/* "matmul_f32 in compute"; `many`: there are others with other names or streams. */
function opTitle(op, many) {
    const i = op - spans.n;
    const ofStream = isSpan(op) || calls.kind[i] <= CALL.streamSync;
    const others = many ? " and other operations" : "";
    return ofStream ? `${opName(op)} in ${streamName(opStream[op])}${others}` : opName(op);
}

function place(op) {
    return data.texts[opWhere[op]];
}

function source(op) {
    return (data.sources[opWhere[op]] || "").trim();
}

/* "pageable → device", for copies. */
function copyEnds(op) {
    const flags = spans.flags[op], kind = spans.kind[op];
    const end = (pageable, pinned) =>
        flags & pageable ? "pageable" : flags & pinned ? "pinned" : "device";
    const copies = kind >= KIND.h2d && kind <= KIND.p2p;
    if (!copies) return "";
    return `${end(FLAG.srcPageable, FLAG.srcPinned)} → ${end(FLAG.dstPageable, FLAG.dstPinned)}`;
}

function causeWords(cause, by, many) {
    const words = CAUSES[data.causes[cause]].short;
    if (!words) return "";
    const works = by >= 0 && !isSpan(by) && calls.kind[by - spans.n] === CALL.work;
    if (works) return `the host, busy in ${opName(by)}`;
    const title = by >= 0 ? opTitle(by, many) : "other work";
    return words.replace("{}", () => title);    /* as it is */
}

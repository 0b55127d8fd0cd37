// output.js - what a program shows, as elements of the page. Whatever a script, a trace or a link
// contains becomes a text, an image or a frame of its own: never a part of this page. A script can write
// to /dev/display what it likes, so an event's kinds are those that are known here, and nothing else of
// it is believed.
"use strict";

const byId = (id) => document.getElementById(id);
const output = byId("output");
function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

// ---- what is kept ----------------------------------------------------------------------------

// A page that grew without end would freeze. Of the parts the first ones stay, of the others the newest,
// up to a cost of KEPT in all. What was left out between them is counted.
const KEPT = 1 << 20, FIRST_KEPT = 1 << 17, BLOCK = 1 << 14;
const MOST_ERRORS = 1 << 16;            // characters of stderr, in which errors are looked for
let parts, cost, firstCost, gap, errors;

const some = (n, one, many) => n > 0 ? [`${n.toLocaleString("en-US")} ${n === 1 ? one : many}`] : [];

function inWords({ lines, characters, pictures }) {
    const what = [...some(lines, "line", "lines"), ...some(pictures, "picture", "pictures")];
    return `... ${what.concat(what.length ? [] : some(characters, "character", "characters")).join(" and ")} left out ...`;
}

// Beside an element: its cost, what it shows, and the link to its file.
function add(node, { kind, price, amount, link }) {
    const part = { node, kind, price: PART_COST + price, amount, link };
    output.append(node);
    cost += part.price;
    parts.push(part);
    makeRoom();
    return part;
}

function makeRoom() {
    while (firstCost < FIRST_KEPT && parts.length > 1) firstCost += parts.shift().price;
    while (cost > KEPT && parts.length > 1) {
        const part = parts.shift();
        gap ??= { amount: nothing(), node: element("p", { className: "left-out" }) };
        if (!gap.node.isConnected) part.node.before(gap.node);
        gap.amount = sumOf(gap.amount, part.amount);
        gap.node.textContent = inWords(gap.amount);
        cost -= part.price;
        remove(part.node);
        if (part.link) remove(part.link);
    }
}

// An element, and what its addresses hold.
function remove(node) {
    for (const held of [node, ...node.querySelectorAll("*")]) {
        const address = held.dataset.page ?? held.href ?? held.src ?? "";
        if (address.startsWith("blob:")) URL.revokeObjectURL(address);
        held.onload?.();                // nothing waits for a frame that has gone
    }
    node.remove();
}

function clear() {
    for (const node of [...output.children, ...byId("files").children]) remove(node);
    parts = [];
    cost = firstCost = 0;
    gap = undefined;
    errors = "";
}

// A line of a chart, which is never broken: of tl:show(), or in ASCII, as `lab check` has it.
const CHART = /[│┤┼╵]|\|.*\| +\d+%|\+-[-+]*\+/;

// ---- what is shown -----------------------------------------------------------------------------

function print(stream, text) {
    if (stream === "err") errors = (errors + text).slice(-MOST_ERRORS);
    let last = parts.at(-1);
    if (last?.kind !== stream || last.price > BLOCK) {
        const pre = element("pre", { className: stream });
        last = add(pre, { kind: stream, price: 0, amount: nothing() });
    }
    last.node.append(text);
    last.price += textCost(text);
    cost += textCost(text);
    last.amount = sumOf(last.amount, { lines: linesIn(text), characters: text.length, pictures: 0 });
    if (CHART.test(text)) last.node.classList.add("chart");
    makeRoom();
}

// How many columns of text fit, up to the 80 of a terminal; fewer than 40 would be of no use.
function columns() {
    const row = element("span", {}, "0".repeat(80)), pre = element("pre", { className: "chart" }, row);
    output.append(pre);
    const fit = Math.floor(80 * pre.clientWidth / row.getBoundingClientRect().width);
    pre.remove();
    return Math.max(40, Math.min(80, fit || 80));
}

// What the program's thread has left out before it came here.
function leaveOut(amount) {
    add(element("p", { className: "left-out" }, inWords(amount)), { kind: "gap", price: 0, amount });
}

const blobAddress = (content, type) => URL.createObjectURL(new Blob([content], { type }));

// A page in a frame loads when it comes near the view, and one at a time: many at once would freeze this
// page, whose thread they share.
let loaded = Promise.resolve();
const near = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        loaded = loaded.then(() => target.isConnected && new Promise((then) => {
            target.onload = then;
            target.src = target.dataset.page;
        }));
    }
}, { rootMargin: "300px" });

// The elements of the program's own pictures. Others can cost a browser any time: ten <use> of ten <use>.
const OF_PICTURES = new Set(["?xml", "svg", "g", "path", "rect", "line", "circle", "polyline", "polygon", "text",
    "tspan", "title", "desc", "style", "defs", "clipPath"]);
const isPicture = (svg) => [...svg.matchAll(/<\/?([^\s>/]*)/g)].every(([, name]) => OF_PICTURES.has(name));

// As the browser shows them: nothing in an image runs; a frame's page has an origin of its own, and of
// its scripts the policy in index.html allows that of the program's pages alone.
const KINDS = {
    "image/svg+xml": {
        file: "plot.svg",
        show: (svg, text) => isPicture(svg)
            ? element("img", { src: blobAddress(svg, "image/svg+xml"), alt: text })
            : element("p", { className: "left-out" }, "A picture that is no plot is not shown."),
    },
    "text/html": {
        file: "timeline.html",
        show(page) {
            const frame = element("iframe", { title: "Timeline" });
            frame.setAttribute("sandbox", "allow-scripts");
            frame.dataset.page = blobAddress(page, "text/html");
            near.observe(frame);
            return frame;
        },
    },
};

const textIn = (data, kind) => typeof data?.[kind] === "string" ? data[kind] : "";

// The data of an event: texts by MIME type.
function display(data) {
    const kind = Object.keys(KINDS).find((name) => textIn(data, name));
    if (!kind) return;
    const { show, file } = KINDS[kind];
    add(element("figure", {}, show(data[kind], textIn(data, "text/plain"))), {
        kind: "figure", price: pictureCost(data), amount: { ...nothing(), pictures: 1 }, link: offer(file, data[kind]),
    });
}

// The type keeps browsers from opening the file in this page's origin.
function offer(name, content) {
    const link = element("a", { href: blobAddress(content, "application/octet-stream"),
                                download: name.replace(/.*\//, "") }, `Download ${name}`);
    const item = element("li", {}, link);
    byId("files").append(item);
    return item;
}

clear();

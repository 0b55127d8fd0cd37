// output.js - what a program shows, as elements of the page. Whatever a script, a trace or a link
// contains becomes a text, an image or a frame of its own: never a part of this page. A script can write
// to /dev/display what it likes, so an event's kinds are those that are known here, and nothing else of
// it is believed.
"use strict";

const byId = (id) => document.getElementById(id);
const output = byId("output");
let printed, errors;

function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
}

function print(stream, text) {
    if (stream === "err") errors += text;
    if (printed?.stream !== stream) {
        const pre = element("pre", { className: stream });
        output.append(pre);
        printed = { stream, pre };
    }
    printed.pre.append(text);
    if (/[│┤┼╵]/.test(text)) printed.pre.classList.add("chart");
}

const blobAddress = (content, type) => URL.createObjectURL(new Blob([content], { type }));

// As the browser shows them: nothing in an image runs; a frame's page has an origin of its own, and of
// its scripts the policy in index.html allows that of the program's pages alone.
const KINDS = {
    "image/svg+xml": {
        file: "plot.svg",
        show: (svg, text) => element("img", { src: blobAddress(svg, "image/svg+xml"), alt: text }),
    },
    "text/html": {
        file: "timeline.html",
        show(page) {
            const frame = element("iframe", { title: "Timeline", loading: "lazy" });
            frame.setAttribute("sandbox", "allow-scripts");
            frame.src = blobAddress(page, "text/html");
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
    output.append(element("figure", {}, show(data[kind], textIn(data, "text/plain"))));
    offer(file, data[kind]);
    printed = undefined;
}

// The type keeps browsers from opening the file in this page's origin.
function offer(name, content) {
    const link = element("a", { href: blobAddress(content, "application/octet-stream"),
                                download: name.replace(/.*\//, "") }, `Download ${name}`);
    byId("files").append(element("li", {}, link));
}

function clear() {
    for (const place of [output, byId("files")]) {
        for (const held of place.querySelectorAll("[href^='blob:'], [src^='blob:']"))
            URL.revokeObjectURL(held.href ?? held.src);
        place.replaceChildren();
    }
    printed = undefined;
    errors = "";
}

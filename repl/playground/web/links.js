// links.js - a script in a link: "#script=...&gpu=h200&of=scripts/guide/overlap.lua", deflated, then base64
// with the letters of addresses; and of which listed script it is a copy.
"use strict";

const MOST_SCRIPT = 1 << 20;            // bytes: a short link could hold gigabytes

// What the stream makes of the bytes, `most` at most; more is an error.
async function through(bytes, stream, most = Infinity) {
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), parts = [];
    for (let size = 0; ;) {
        const { done, value } = await reader.read();
        if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
        size += value.length;
        if (size > most) {
            reader.cancel();
            throw new Error(`it has more than ${most} bytes`);
        }
        parts.push(value);
    }
}

async function toFragment(text) {
    const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
    let letters = "";
    for (const byte of packed) letters += String.fromCharCode(byte);
    return btoa(letters).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function fromFragment(fragment) {
    const letters = atob(fragment.replace(/-/g, "+").replace(/_/g, "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const text = await through(packed, new DecompressionStream("deflate-raw"), MOST_SCRIPT);
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
}

// What the address holds: {script, gpu, of, problem}. A GPU is one of `gpus`, and `of` one of `entries`.
// A problem is a sentence.
async function readFragment(hash, gpus, entries) {
    const fields = new URLSearchParams(hash.slice(1)), found = {};
    try {
        if (fields.get("script")) found.script = await fromFragment(fields.get("script"));
    } catch {
        found.problem = "The link's script is damaged: it may have been cut off.";
    }
    found.gpu = gpus.find((name) => name === fields.get("gpu"));
    found.of = entries.find(({ path }) => path === fields.get("of"));
    if (fields.has("gpu") && !found.gpu) found.problem ??= "The link names a GPU that is not in the list.";
    if (fields.has("of") && !found.of) found.problem ??= "The link names a script that is not in the list.";
    return found;
}

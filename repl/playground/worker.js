// worker.js - runs one command at a time, in a thread of its own, which the page ends for Stop.
//
// Messages from the page: {module}, once; {args, files, input, environment}. To the page: {text, stream},
// {display}, {status, made}, and {broken} if the program itself failed.
"use strict";
importScripts("streamlab.js", "program.js");

let run;
const decoders = {};

// Of a script that prints much, lines are gathered for as long as a frame lasts: a message for each
// would take longer than the program. The first ones of each frame are shown at once.
const FRAME_MS = 30, AT_ONCE = 20;
let gathered = "", stream = "out", since = 0, sent = 0;

function flush() {
    if (gathered) postMessage({ text: gathered, stream });
    gathered = "";
}

function print(which, bytes) {
    const decoder = decoders[which] ??= new TextDecoder();
    if (which !== stream) flush();
    stream = which;
    gathered += decoder.decode(bytes, { stream: true });
    const now = performance.now();
    if (now - since > FRAME_MS) {
        since = now;
        sent = 0;
    }
    if (sent++ < AT_ONCE) flush();
}

function obey({ args, files, input, environment }) {
    try {
        const ended = run(args, {
            files, input, environment, print,
            display: (data) => {
                flush();
                postMessage({ display: data });
            },
        });
        flush();
        postMessage(ended);
    } catch (reason) {
        flush();
        postMessage({ broken: String(reason.message ?? reason) });
    }
}

onmessage = ({ data }) => {
    if (data.module) run = makeProgram(streamlab, data.module);
    else obey(data);
};

// worker.js - runs one command at a time, in a thread of its own, which the page ends for Stop.
//
// Messages from the page: {module}, once; {args, files, input, environment}. To the page: {text, stream},
// {display}, {leftOut}, {status, made, leftOut}, and {broken} if the program itself failed.
"use strict";
importScripts("streamlab.js", "cost.js", "program.js");

let run;
const decoders = {};

// ---- what the page can take -----------------------------------------------------------------

// While a command runs, nothing reaches this thread, so that it cannot know how far the page is. What
// it sends has a cost (cost.js): at once at most BURST, then RATE a second. Of what is more the newest
// TAIL is kept, for when there is room and for the end; and how much was left out is counted.
const BURST = 1 << 19, RATE = 1 << 16, TAIL = 1 << 15;
let allowance, refilled, tail, tailCost, leftOut;

function begin() {
    allowance = BURST;
    refilled = performance.now();
    tail = [];
    tailCost = 0;
    leftOut = nothing();
}

function leave({ text = "", display }) {
    leftOut = sumOf(leftOut, { lines: linesIn(text), characters: text.length, pictures: display ? 1 : 0 });
}

function keep(message, cost) {
    tail.push({ message, cost });
    tailCost += cost;
    while (tailCost > TAIL && tail.length > 1) {
        const oldest = tail.shift();
        tailCost -= oldest.cost;
        leave(oldest.message);
    }
}

function release() {
    if (leftOut.characters || leftOut.pictures) postMessage({ leftOut });
    leftOut = nothing();
    for (const { message } of tail) postMessage(message);
    allowance -= tailCost;
    tail = [];
    tailCost = 0;
}

function send(message) {
    const now = performance.now();
    allowance = Math.min(BURST, allowance + (now - refilled) / 1000 * RATE);
    refilled = now;
    const cost = message.display ? pictureCost(message.display) : textCost(message.text);
    keep(message, Math.min(BURST, PART_COST + cost));
    if (tailCost <= allowance) release();
}

// ---- what a command shows ----------------------------------------------------------------------

// Of a script that prints much, lines are gathered for as long as a frame lasts: a message for each
// would take longer than the program. The first ones of each frame are shown at once.
const FRAME_MS = 30, AT_ONCE = 20, GATHERED = 8192;
let gathered = "", stream = "out", since = 0, sent = 0;

function flush() {
    if (gathered) send({ text: gathered, stream });
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
    if (sent++ < AT_ONCE || gathered.length > GATHERED) flush();
}

function obey({ args, files, input, environment }) {
    begin();
    try {
        const ended = run(args, {
            files, input, environment, print,
            display: (data) => {
                flush();
                if (data) send({ display: data });
                if (data === null) leftOut.pictures++;
            },
        });
        flush();
        release();
        postMessage(ended, Object.values(ended.made).map(({ buffer }) => buffer));
    } catch (reason) {
        flush();
        release();
        postMessage({ broken: String(reason.message ?? reason) });
    }
}

onmessage = ({ data }) => {
    if (data.module) run = makeProgram(streamlab, data.module);
    else obey(data);
};

// playground.js - the page: an editor, a program that runs in a worker, and what it shows.
"use strict";

const SCRIPT = "script.lua", FIRST_GPU = "h200";
const LAB_READY = "Write your solution, then check the lab: its visible tests run here.";
const FIRST = `-- What overlaps with what? Ctrl+Enter runs it; click on a bar.
local lab = require "streamlab"

local up = lab.stream{ name = "up" }
local work = lab.stream{ name = "work" }
local a, b = lab.rand(2048, 2048), lab.rand(2048, 2048)
local next_a = lab.empty(2048, 2048)
-- What changes with { device = "cpu", pinned = true }?
local host = lab.rand(2048, 2048, { device = "cpu" })

local tl = lab.profile(function()
    for i = 1, 4 do
        lab.matmul(a, b, { stream = work })
        next_a:copy_(host, { non_blocking = true, stream = up })
    end
end)
tl:show()
tl:explain()
`;

// ---- the program ---------------------------------------------------------------------------

// A command is run by a worker that is ready; when it is ended, the next one is made at once.
const compiled = WebAssembly.compileStreaming(fetch("streamlab.wasm"));

// Where the browser knows trusted types, the page's policy lets scripts come from here alone.
const workers = window.trustedTypes?.createPolicy("worker", { createScriptURL: () => "worker.js" });

class Program {
    constructor() { this.prepare(); }

    prepare() {
        this.worker = new Worker(workers?.createScriptURL("") ?? "worker.js");
        this.ready = compiled.then((module) => this.worker.postMessage({ module }));
    }

    // take(message) for each of worker.js's messages.
    async run(command, take) {
        await this.ready;
        return new Promise((end) => {
            this.end = end;
            this.worker.onmessage = ({ data }) => {
                take(data);
                if ("status" in data || data.broken) end(data);
            };
            this.worker.onerror = (event) => {
                event.preventDefault();
                end({ broken: event.message });
            };
            this.worker.postMessage(command);
        });
    }

    stop() {
        this.worker.onmessage = null;   // what it has sent is of no interest any more
        this.worker.terminate();
        this.prepare();
        this.end?.({ stopped: true });
    }
}

const program = new Program();
let helper;                             // for completion, while a script runs

// ---- the editor ----------------------------------------------------------------------------

// Asks the program as notebooks do (docs/notebook.md).
async function ask(request) {
    let answer;
    helper ??= new Program();
    await helper.run({
        args: ["--backend", "sim", "--server=0,1"], files: {}, input: JSON.stringify(request) + "\n",
    }, ({ text }) => {
        for (const line of (text ?? "").split("\n"))
            if (line.startsWith("{") && line.includes('"ok"')) answer = JSON.parse(line);
    });
    return answer ?? { ok: false };
}

// The script is not run for it: what a name is, the text before it says.
async function complete(editor) {
    const at = editor.getCursor(), code = editor.getRange({ line: 0, ch: 0 }, at);
    const answer = await ask({ request: "complete", code });
    if (!answer.ok) return { list: [], from: at, to: at };
    const typed = [...code].slice(answer.from, answer.to).join("");     // characters, as the program counts
    return { list: answer.words, from: editor.posFromIndex(code.length - typed.length), to: at };
}

const editor = CodeMirror.fromTextArea(byId("code"), {
    mode: "lua", lineNumbers: true, indentUnit: 4, matchBrackets: true, autoCloseBrackets: true,
    extraKeys: {
        "Ctrl-Enter": () => runScript(), "Cmd-Enter": () => runScript(), "Ctrl-.": () => stop(),
        // Tab indents within a line's beginning and completes behind a name; Esc leaves the editor.
        Tab: (e) => {
            const { line, ch } = e.getCursor();
            if (e.somethingSelected()) e.indentSelection("add");
            else if (/[\w.:"{(]$/.test(e.getLine(line).slice(0, ch))) e.showHint({ hint: complete, completeSingle: true });
            else e.replaceSelection(" ".repeat(4 - ch % 4));
        },
        "Shift-Tab": "indentLess",
        "Ctrl-Space": (e) => e.showHint({ hint: complete }),
        Esc: () => byId("run").focus(),
    },
});
const MOST_MARKS = 100;
let marks = [];

function unmark() {
    for (const mark of marks) mark.clear();
    marks = [];
}

// The line has a mark, and what is wrong stands below it.
function mark(number, text) {
    const line = Math.min(number, editor.lineCount()) - 1;
    const problem = document.createElement("div");
    problem.className = "problem";
    problem.textContent = text;
    editor.addLineClass(line, "background", "wrong");
    marks.push({ clear: () => editor.removeLineClass(line, "background", "wrong") },
               editor.addLineWidget(line, problem, { noHScroll: true }));
    return line;
}

// "streamlab: script.lua:7: ..." up to the line that it quotes; "streamlab: race: ... at script.lua:7 ..."
function markAll(errors) {
    const name = pathOf(chosen).replace(/.*\//, "").replace(/\W/g, "\\$&");
    const error = errors.match(new RegExp(`^streamlab: ${name}:(\\d+): ([^]*?)(?=\\n *\\d+ \\||\\nstack|\\n?$)`, "m"));
    const lines = error ? [mark(Number(error[1]), error[2])] : [];
    const races = errors.matchAll(new RegExp(`^streamlab: (race: .*? at ${name}:(\\d+)\\b.*)$`, "gm"));
    for (const [, text, number] of [...races].slice(0, MOST_MARKS)) lines.push(mark(Number(number), text));
    if (lines.length) editor.scrollIntoView({ line: lines[0], ch: 0 }, 80);
}

// ---- the output ----------------------------------------------------------------------------

function show(message) {
    if (message.text) print(message.stream, message.text);
    if (message.display) display(message.display);
    if (message.leftOut && !("status" in message)) leaveOut(message.leftOut);
}

function say(text, bad = false) {
    byId("state").textContent = text;
    byId("state").classList.toggle("bad", bad);
}

// ---- running -------------------------------------------------------------------------------

let running = false;

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

// Of a lab's tests, as TAP has them; nothing if they did not run.
function describeTests(since) {
    const text = output.textContent, total = Number(text.match(/^1\.\.(\d+)$/m)?.[1] ?? 0);
    const failed = text.match(/^not ok \d/gm)?.length ?? 0;
    if (!total) return undefined;
    if (failed) return `${failed} of ${total} visible tests failed in ${since}: see below.`;
    return `All ${total} visible tests passed in ${since}.`;
}

function describe(ended, since, tested) {
    const tests = tested && ended.status <= 1 && describeTests(seconds(since));
    if (tests) return say(tests, ended.status === 1);
    if (ended.stopped) return say(`Stopped after ${seconds(since)}.`);
    if (ended.broken) return say(`The program failed: ${ended.broken}`, true);
    const races = errors.match(/^streamlab: (\d+ races?)\b/m) ?? (/^streamlab: race:/m.test(errors) && ["", "a race"]);
    if (ended.status === 0 && races) return say(`Done in ${seconds(since)}, with ${races[1]}: see below.`, true);
    if (ended.status === 0) return say(`Done in ${seconds(since)}.`);
    return say(`Ended with an error after ${seconds(since)}.`, true);
}

async function runCommand(args, files, tested = false) {
    if (running) await stop();
    running = true;
    clear();
    unmark();
    byId("run").disabled = !(byId("stop").disabled = false);
    const since = performance.now();
    say("Running ...");
    const clock = setInterval(() => say(`Running for ${seconds(since)}; Stop ends it.`), 200);
    const environment = { COLUMNS: String(columns()) };
    const ended = await program.run({ args, files, input: "", environment }, show);
    clearInterval(clock);
    describe(ended, since, tested);
    for (const [path, bytes] of Object.entries(ended.made ?? {})) offer(path, bytes);
    if (ended.leftOut) byId("files").append(element("li", {}, `${ended.leftOut} more that are not kept`));
    markAll(errors);
    byId("run").disabled = !(byId("stop").disabled = true);
    running = false;
    return ended;
}

function stop() {
    if (!running) return;
    program.stop();
    return new Promise((then) => setTimeout(then));
}

const shown = () => ["--backend", "sim", "--profile", byId("profile").value, "--display", "/dev/display",
                     ...(byId("races").checked ? ["--check"] : [])];

// A listed script has its own name, as in a terminal; a solution of a lab has that of one's own.
const pathOf = ({ path, lab }) => lab || !path ? SCRIPT : path;

function runScript() {
    const path = pathOf(chosen), held = chosen.lab ? {} : chosen.held;
    return runCommand([...shown(), ...chosen.options ?? [], path], { ...held, [path]: editor.getValue() });
}

function checkLab() {
    return runCommand(["lab", "check", chosen.lab, SCRIPT], { ...chosen.held, [SCRIPT]: editor.getValue() }, true);
}

async function explain(file) {
    const name = file.name.replace(/[^\w.-]/g, "_").replace(/^\.+/, "_");
    return runCommand(["--display", "/dev/display", "-e", `local lab = require "streamlab"
        local tl = lab.load(${JSON.stringify(name)})
        tl:show() tl:summary() tl:explain()`], { [name]: new Uint8Array(await file.arrayBuffer()) });
}

// ---- scripts, labs, links ------------------------------------------------------------------

let chosen = {}, listed, own = false;   // own: somebody here has typed or chosen the script
const entries = [];

async function load(path) {
    const answer = await fetch(`files/${path}`);
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer.arrayBuffer();
}

function showSnippets(snippets) {
    const place = byId("snippets");
    place.replaceChildren();
    byId("same").hidden = !snippets;
    for (const [kind, title] of [["python", "PyTorch"], ["cuda", "CUDA C++"]]) {
        if (!snippets?.[kind]) continue;
        const heading = document.createElement("h2"), pre = document.createElement("pre");
        heading.textContent = title;
        pre.textContent = snippets[kind];
        place.append(heading, pre);
    }
}

// A lab is graded on a GPU of its own; who leaves it has the one from before.
let gpuBefore = FIRST_GPU;

function setGpu({ gpu }) {
    if (!chosen.gpu) gpuBefore = byId("profile").value;
    if (gpu) byId("profile").value = gpu;
    else if (chosen.gpu) byId("profile").value = gpuBefore;
}

// The entry's files are loaded once, before its script can run.
async function setScript(entry, text) {
    if (!entry.held) {
        const held = {};
        for (const path of entry.files ?? []) held[path] = new Uint8Array(await load(path));
        entry.held = held;
    }
    if (running) await stop();
    setGpu(entry);
    chosen = entry;
    own = false;
    editor.setValue(text);
    byId("check").hidden = !entry.lab;
    showSnippets(entry.snippets);
    showTask(entry);
    clear();
    unmark();
}

async function choose(index) {
    const entry = entries[index];
    try {
        await setScript(entry, new TextDecoder().decode(await load(entry.path)));
    } catch (reason) {
        return say(`${entry.title} cannot be loaded: ${reason.message}`, true);
    }
    keepDraft();
    const options = entry.options ? ` It runs with ${entry.options.join(" ")}.` : "";
    say(entry.lab ? LAB_READY : `Ready.${options}`);
}

async function listScripts() {
    const groups = await (await fetch("scripts.json")).json();
    const list = byId("scripts");
    list.append(new Option("choose one ...", "", true));
    for (const { group, list: scripts } of groups) {
        const options = document.createElement("optgroup");
        options.label = group;
        for (const entry of scripts) {
            if (entry.path) options.append(new Option(entry.title, entries.push(entry) - 1));
            else options.append(element("option", { disabled: true }, `${entry.title}: ${entry.why}`));
        }
        list.append(options);
    }
}

async function copyLink() {
    const script = await toFragment(editor.getValue()), gpu = byId("profile").value;
    const of = chosen.path ? `&of=${chosen.path}` : "";
    history.replaceState(null, "", `#script=${script}&gpu=${gpu}${of}`);
    try {
        await navigator.clipboard.writeText(location.href);
        say("The link is copied: it holds the script.");
    } catch {
        say("The link is in the address bar: it holds the script.");
    }
}

// The script of a link is untrusted: it is shown, and runs when somebody asks for it.
async function readLink() {
    await listed;
    const { script, gpu, of, problem } = await readFragment(location.hash, PROFILES, entries);
    if (script === undefined && !problem) return false;
    await setScript(of ?? {}, script ?? FIRST);
    if (gpu) byId("profile").value = gpu;
    if (problem) say(problem, true);
    else say("This script came with the link. Read it, then run it.");
    return true;
}

// ---- what was typed ------------------------------------------------------------------------

// What somebody has typed or chosen here stays when the page is loaded again: in this tab, else the last in
// any. It is shown then, and not run.
const DRAFT = "streamlab.script";

function keepDraft() {
    own = true;
    const draft = JSON.stringify({ text: editor.getValue(), of: chosen.path, gpu: byId("profile").value });
    try {
        sessionStorage.setItem(DRAFT, draft);
        localStorage.setItem(DRAFT, draft);
    } catch {
        // The browser keeps nothing for this page.
    }
}

// The draft, or undefined.
function readDraft() {
    try {
        const draft = JSON.parse(sessionStorage.getItem(DRAFT) ?? localStorage.getItem(DRAFT));
        return typeof draft?.text === "string" ? draft : undefined;
    } catch {
        return undefined;
    }
}

// From then on it is one's own script, which the address does not hold.
function typed(_, { origin }) {
    if (origin === "setValue") return;
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    keepDraft();
}

async function restoreDraft() {
    const draft = readDraft();
    if (!draft) return false;
    await listed;
    await setScript(entries.find(({ path }) => path === draft.of) ?? {}, draft.text);
    if (PROFILES.includes(draft.gpu)) byId("profile").value = draft.gpu;
    own = true;
    say("Your script, as you left it. Ctrl+Enter runs it.");
    return true;
}

// ---- the beginning -------------------------------------------------------------------------

function listen() {
    byId("run").onclick = runScript;
    byId("stop").onclick = stop;
    byId("check").onclick = checkLab;
    byId("link").onclick = copyLink;
    byId("scripts").onchange = (event) => event.target.value && choose(event.target.value);
    byId("trace").onchange = (event) => event.target.files[0] && explain(event.target.files[0]);
    document.onkeydown = (event) => {
        if (event.ctrlKey && event.key === ".") stop();
        if (event.ctrlKey && event.key === "Enter" && !editor.hasFocus()) runScript();
    };
    for (const kind of ["dragover", "dragleave", "drop"]) {
        document.addEventListener(kind, (event) => {
            event.preventDefault();
            byId("drop").classList.toggle("over", kind === "dragover");
            if (kind === "drop" && event.dataTransfer.files[0]) explain(event.dataTransfer.files[0]);
        });
    }
    window.onhashchange = readLink;
    editor.on("change", typed);
    byId("profile").onchange = () => own && keepDraft();
}

async function begin() {
    for (const name of PROFILES) byId("profile").append(new Option(name));
    byId("profile").value = FIRST_GPU;
    listen();
    listed = listScripts().catch(({ message }) => say(`The scripts cannot be listed: ${message}`, true));
    if (await readLink() || await restoreDraft()) return;
    await setScript({}, FIRST);
    await program.ready;
    runScript();
}

begin();

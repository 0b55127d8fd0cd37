// program.js - runs commands of the program: each in an instance of its own, as a shell would. It is
// used by the worker, and by the tests in node.
"use strict";

// The files that a command finds, and those that it leaves, lie below this folder.
const HOME = "/home/web_user";

const MOST_LINE = 1 << 14, MOST_EVENT = 1 << 26;        // bytes of text at once, and of an event
const MOST_CHILD = 1 << 20;                             // and of what a "child" prints
const DISPLAYED = ["text/plain", "image/svg+xml", "text/html"];
const MOST_FILES = 100, MOST_BYTES = 1 << 28;           // that are kept of those that a command leaves

// `factory` is what emscripten wrote, `module` the compiled WebAssembly.
function makeProgram(factory, module) {
    // Copies the folder's files from one file system into another.
    function copyTree(from, to, folder) {
        to.mkdirTree(folder);
        for (const name of from.readdir(folder)) {
            if (name === "." || name === "..") continue;
            const path = `${folder}/${name}`;
            if (from.isDir(from.stat(path).mode)) copyTree(from, to, path);
            else to.writeFile(path, from.readFile(path));
        }
    }

    // The paths of all files below the folder, with their times of change.
    function list(FS, folder, found = new Map()) {
        for (const name of FS.readdir(folder)) {
            if (name === "." || name === "..") continue;
            const path = `${folder}/${name}`, stat = FS.stat(path);
            if (FS.isDir(stat.mode)) list(FS, path, found);
            else found.set(path, stat.mtime.getTime() + stat.size / 1e9);
        }
        return found;
    }

    // A stream of bytes, passed on line by line. Of a line of more than `most` bytes comes a part of
    // that many at a time; or undefined, once, if it is of use as a whole alone.
    function sink(take, most, whole = false) {
        let bytes = new Uint8Array(4096), n = 0, over = false;
        const flush = () => {
            if (over || n) take(over ? undefined : bytes.slice(0, n));
            n = 0;
            over = false;
        };
        const grow = () => {
            const larger = new Uint8Array(Math.min(2 * bytes.length, most));
            larger.set(bytes);
            bytes = larger;
        };
        const write = (byte) => {
            if (byte === null) return;
            if (n === bytes.length && n < most) grow();
            if (n < most) bytes[n++] = byte;
            else over = whole;
            if (byte === 10 || n === most && !whole) flush();
        };
        return { write, flush };
    }

    // What a line of /dev/display shows, texts by kind; null if it is too long, undefined if it is no
    // event: scripts can write there, too.
    function dataOf(bytes) {
        if (!bytes) return null;
        try {
            const event = JSON.parse(new TextDecoder().decode(bytes)), texts = {};
            for (const kind of DISPLAYED)
                if (typeof event.data[kind] === "string") texts[kind] = event.data[kind];
            return event.event === "display" ? texts : undefined;
        } catch {
            return undefined;
        }
    }

    function makeInstance(options) {
        const instance = {
            noInitialRun: true,
            instantiateWasm(imports, receive) {
                imports.env._dlopen_js = () => 0;       // emscripten's ends the program
                const made = new WebAssembly.Instance(module, imports);
                receive(made, module);
                return made.exports;
            },
            quit(status, reason) { throw reason; },
            ...options,
        };
        factory(instance);
        return instance;
    }

    function call(instance, args) {
        try {
            return instance.callMain(args) ?? 0;
        } catch (reason) {
            if (typeof reason.status === "number") return reason.status;
            throw reason;
        }
    }

    // The files that are new or changed: {made: {path: bytes}, leftOut: how many more there are}.
    function kept(FS, before) {
        const made = {};
        let n = 0, size = 0, leftOut = 0;
        for (const [path, change] of list(FS, HOME)) {
            if (before.get(path) === change) continue;
            const bytes = FS.stat(path).size;
            if (n === MOST_FILES || size + bytes > MOST_BYTES) {
                leftOut++;
                continue;
            }
            made[path.slice(HOME.length + 1)] = FS.readFile(path);
            n++;
            size += bytes;
        }
        return { made, leftOut };
    }

    // A "child" of a command: it sees the same files, and its report is the file that is opened first.
    function runAgain(args, parent) {
        const output = [], errors = [];
        const into = (list) => (byte) => byte !== null && list.length < MOST_CHILD && list.push(byte);
        const child = makeInstance({
            stdin: () => null, stdout: into(output), stderr: into(errors),
            runAgain: () => ({ status: 1, output: "", errors: "", report: "" }),
        });
        copyTree(parent, child.FS, HOME);
        child.FS.chdir(HOME);
        child.FS.open("/tmp/report", "w");
        const status = call(child, args);
        return { status, output: new Uint8Array(output), errors: new Uint8Array(errors),
                 report: child.FS.readFile("/tmp/report") };
    }

    // Runs `args`. files: {path: text or bytes}; input: text for stdin; print(stream, bytes);
    // display(data); environment: {NAME: text}. Gives {status, made, leftOut}: the
    // files that it has left or changed.
    return function run(args, { files = {}, input = "", print, display, environment = {} }) {
        const typed = new TextEncoder().encode(input);
        let at = 0;
        const out = sink((bytes) => print("out", bytes), MOST_LINE);
        const err = sink((bytes) => print("err", bytes), MOST_LINE);
        const instance = makeInstance({
            stdin: () => at < typed.length ? typed[at++] : null,
            stdout: out.write, stderr: err.write, runAgain,
            preRun: (started) => Object.assign(started.ENV, environment),
        });
        const { FS } = instance;
        if (display) {
            const events = sink((bytes) => {
                out.flush();
                err.flush();
                display(dataOf(bytes));
            }, MOST_EVENT, true);
            FS.createDevice("/dev", "display", null, events.write);
        }
        for (const [path, text] of Object.entries(files)) {
            const full = `${HOME}/${path}`;
            FS.mkdirTree(full.slice(0, full.lastIndexOf("/")));
            FS.writeFile(full, text);
        }
        FS.mkdirTree(`${HOME}/build`);  // where the guide's scripts write
        FS.chdir(HOME);
        const before = list(FS, HOME);
        const status = call(instance, args);
        out.flush();
        err.flush();
        return { status, ...kept(FS, before) };
    };
}

if (typeof module === "object") module.exports = { makeProgram };

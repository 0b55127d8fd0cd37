// program.js - runs commands of the program: each in an instance of its own, as a shell would. It is
// used by the worker, and by the tests in node.
"use strict";

// The files that a command finds, and those that it leaves, lie below this folder.
const HOME = "/home/web_user";

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

    // A stream of bytes, passed on line by line, of at most so many bytes each.
    function sink(take, most = 65536) {
        let bytes = [];
        const flush = () => {
            if (bytes.length) take(new Uint8Array(bytes));
            bytes = [];
        };
        const write = (byte) => {
            if (byte === null) return;
            bytes.push(byte);
            if (byte === 10 || bytes.length >= most) flush();
        };
        return { write, flush };
    }

    // What a line of /dev/display shows; undefined if it is no event: scripts can write there, too.
    function dataOf(bytes) {
        try {
            const event = JSON.parse(new TextDecoder().decode(bytes));
            return event?.event === "display" ? event.data : undefined;
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

    // A "child" of a command: it sees the same files, and its report is the file that is opened first.
    function runAgain(args, parent) {
        const output = [], errors = [];
        const child = makeInstance({
            stdin: () => null,
            stdout: (byte) => byte !== null && output.push(byte),
            stderr: (byte) => byte !== null && errors.push(byte),
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
    // display(data); environment: {NAME: text}. Gives {status, made: {path: bytes}}: the files that it has left or changed.
    return function run(args, { files = {}, input = "", print, display, environment = {} }) {
        const typed = new TextEncoder().encode(input);
        let at = 0;
        const out = sink((bytes) => print("out", bytes)), err = sink((bytes) => print("err", bytes));
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
            }, Infinity);
            FS.createDevice("/dev", "display", null, events.write);
        }
        for (const [path, text] of Object.entries(files)) {
            const full = `${HOME}/${path}`;
            FS.mkdirTree(full.slice(0, full.lastIndexOf("/")));
            FS.writeFile(full, text);
        }
        FS.chdir(HOME);
        const before = list(FS, HOME);
        const status = call(instance, args);
        out.flush();
        err.flush();
        const made = {};
        for (const [path, change] of list(FS, HOME))
            if (before.get(path) !== change) made[path.slice(HOME.length + 1)] = FS.readFile(path);
        return { status, made };
    };
}

if (typeof module === "object") module.exports = { makeProgram };

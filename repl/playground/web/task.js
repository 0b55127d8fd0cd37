// task.js - the text of a lab's task, from its README.md: of Markdown what these files use. All of
// it becomes text of elements that are made here.
"use strict";

// `code`, **bold** and *emphasis* within a line.
function inline(text) {
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*)/).map((part) => {
        if (part.startsWith("`")) return element("code", {}, part.slice(1, -1));
        if (part.startsWith("**")) return element("b", {}, ...inline(part.slice(2, -2)));
        if (part.startsWith("*")) return element("em", {}, part.slice(1, -1));
        return part.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    });
}

function table(lines) {
    const rows = lines.filter((line) => !/^[|\s:-]+$/.test(line));
    const cell = (text) => element("td", {}, ...inline(text.trim()));
    const row = (line) => element("tr", {}, ...line.split("|").slice(1, -1).map(cell));
    return element("table", {}, ...rows.map(row));
}

// Of items each begins with a line of its own; other lines are filled.
function paragraph(lines) {
    const items = lines.join("\n").split(/\n(?=(?:-|\d+\.) )/);
    const filled = (item) => item.replace(/\s*\n\s*/g, " ");
    return element("div", {}, ...items.map((item) => element("div", {}, ...inline(filled(item)))));
}

function block(text) {
    const lines = text.split("\n");
    if (text.startsWith("```")) return element("pre", {}, lines.slice(1, -1).join("\n"));
    if (text.startsWith("#")) return element("h2", {}, ...inline(text.replace(/^#+ /, "")));
    return text.startsWith("|") ? table(lines) : paragraph(lines);
}

// Blocks are separated by empty lines, but for those of code.
function blocks(markdown) {
    const found = markdown.match(/^```[^]*?^```$|^#.*$|(?:^(?!```|#).+\n?)+/gm) ?? [];
    return found.map((text) => block(text.trimEnd()));
}

// Of an entry that is a lab; PyTorch and CUDA C++ have a place of their own.
function showTask({ lab, gpu, held }) {
    byId("task").hidden = !lab;
    byId("text").replaceChildren();
    if (!lab) return;
    const text = new TextDecoder().decode(held[`${lab}/README.md`]);
    byId("task").open = true;
    byId("text").replaceChildren(
        paragraph(["On this page the script is `submission.lua`, and **Check the lab** is",
                   `\`streamlab lab check\`: it grades on the GPU \`${gpu}\`.`]),
        ...blocks(text.replace(/^## The same in PyTorch[^]*?(?=^## |$(?![^]))/m, "")));
}

/* changes.js - what changes of the program would gain, and how the page goes to one of them. */

/* The page is loaded again: all of it is about one timeline. Back goes back. */
function showChange(number) {
    location.hash = number > 0 ? `change=${number}` : "";
}

const changeRange = ({ low, high }) => `between ${duration(low)} and ${duration(high)}`;

/* A choice, or of what the page does not have, only its line. */
function changeCard(number, time, range, ...words) {
    const has = number === 0 || changes.list[number - 1].shown;
    const card = el(has ? "button" : "div", has
        ? { type: "button", "aria-pressed": String(number === shown) } : { class: "card" },
    el("span", { class: "lost" }, el("b", {}, duration(time)),
        meter(time / changes.before, number === 0 ? "muted" : "accent"),
        el("span", { class: "muted" }, range)),
    el("span", { class: "words" }, ...words));
    if (has) card.addEventListener("click", () => showChange(number));
    return el("li", {}, card);
}

/* From the program as recorded on; a card that is no button cannot be chosen. */
const changesOf = () => [...byId("changes-list").querySelectorAll("button")];

function showWhich() {
    const back = el("button", { type: "button" }, "Show it as recorded");
    const change = changes.list[shown - 1];
    back.addEventListener("click", () => showChange(0));
    byId("shown").hidden = shown === 0;
    if (shown > 0) {
        byId("shown").append(el("b", {}, `As predicted with ${change.what}: `
            + `${duration(change.after)} instead of ${duration(changes.before)}`),
        ` (${changeRange(change)}). `, back);
    }
}

function showChanges() {
    const n = changes.list.filter((change) => change.shown).length;
    byId("changes-note").textContent = n === 0 ? ""
        : `Choose ${n === 1 ? "the first" : `one of the first ${n}`} to see it as predicted.`;
    byId("changes").hidden = changes.list.length === 0;
    byId("changes-list").append(
        changeCard(0, changes.before, "", el("span", {}, "The program as recorded")),
        ...changes.list.map((change, i) => changeCard(i + 1, change.after, changeRange(change),
            el("span", {}, change.what), el("code", { class: "line" }, change.command))));
    showWhich();
}

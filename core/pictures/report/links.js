/* links.js - the page's address says what is shown: "#view=1000,2500&find=gemm&op=12".
 *
 * change: the program with that change, as predicted.
 * view: ns from the first operation's start; without it all is in view. find: what is searched for;
 * only: nothing else is drawn. ranges: those of the host are shown. op, call, range: what is selected,
 * by the correlation of an operation or of its call on the host, or by the number of a range of the
 * host in this page.
 */

/* ---- what is shown, as a link ----------------------------------------------------- */

function selectionOfLink() {
    const { selected, host } = state;
    if (selected < 0) return [];
    if (isRange(selected)) return [`range=${selected - OPS}`];
    return [`${host ? "call" : "op"}=${opId[selected]}`];
}

/* "" for all, and nothing selected. */
function fragment() {
    const all = view.to - view.from > 0.999 * (limits.to - limits.from), parts = [];
    if (shown > 0) parts.push(`change=${shown}`);
    if (!all) {
        parts.push(`view=${Math.floor(view.from - data.origin)},${Math.ceil(view.to - data.origin)}`);
    }
    if (state.found) parts.push(`find=${encodeURIComponent(field.value)}`);
    if (state.only) parts.push("only");
    if (state.flames) parts.push("ranges");
    parts.push(...selectionOfLink());
    return parts.length ? `#${parts.join("&")}` : "";
}

/* A page in a frame may have no address that can change. */
function noteView() {
    try {
        history.replaceState(null, "", fragment() || location.href.split("#")[0]);
    } catch {
        /* then the button alone has the link */
    }
}

/* ---- a link, as what is shown ----------------------------------------------------- */

function viewOfLink(link) {
    const [, from, to] = /^(-?\d{1,16}),(-?\d{1,16})$/.exec(link.get("view")) || [];
    return Number(from) < Number(to)
        ? { from: data.origin + Number(from), to: data.origin + Number(to) } : null;
}

/* The item, or -1. */
function itemOfLink(link) {
    const number = (key) => /^\d{1,16}$/.test(link.get(key)) ? Number(link.get(key)) : NaN;
    if (number("range") < ranges.n) return OPS + number("range");
    return findOp(number("op") || number("call"));
}

/* What the address does not have, or has wrong, stays as it is. `move` is given the view. */
function goToLink(move) {
    const link = new URLSearchParams(location.hash.slice(1));
    const linked = viewOfLink(link), item = itemOfLink(link);
    if (link.has("ranges") && !state.flames) toggleFlames();
    if (link.has("find")) {
        field.value = link.get("find");
        findNow();
    }
    if (link.has("only") && !state.only) toggleOnly();
    if (item >= 0) select(item, link.has("call"));
    if (linked) move(linked.from, linked.to);
    else if (item >= 0) goTo(item, state.host);
}

/* ---- copying ---------------------------------------------------------------------- */

/* Without the clipboard of secure pages, through a field that is selected. */
function copyBySelection(text) {
    const area = el("textarea", { "aria-hidden": "true" }), focused = document.activeElement;
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    focused.focus();
    return copied;
}

function sayCopied(copied) {
    const link = byId("link");
    link.textContent = copied ? "Copied" : "Not copied: see the address";
    setTimeout(() => { link.textContent = "Copy link"; }, 1500);
}

function copyLink() {
    const text = location.href.split("#")[0] + fragment();
    const bySelection = () => sayCopied(copyBySelection(text));
    noteView();
    if (!navigator.clipboard) bySelection();
    else navigator.clipboard.writeText(text).then(() => sayCopied(true), bySelection);
}

function listenToLinks() {
    byId("link").addEventListener("click", copyLink);
    addEventListener("hashchange", () => {
        if (changeOfLink() !== shown) location.reload();
        else goToLink(moveTo);
    });
}

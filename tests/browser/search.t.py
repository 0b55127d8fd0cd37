# search.t.py - what a page's search, its keys and its links reach: operations and ranges of the host.
import os
import sys
import time

sys.dont_write_bytecode = True          # no folder beside the tests
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import equal, main, ok, rest, text  # noqa: E402


NAME_OF_SELECTED = "const op = state.selected; return isRange(op) ? rangeName(op - OPS) : op < 0 ? '' : opName(op)"


def blocking(browser, folder):
    browser.open(os.path.join(folder, "blocking.html"))


def operations_are_found(browser, folder):
    browser.run("setView(limits.from, limits.to); chart.focus()")
    browser.press("/")
    equal(browser.run("return document.activeElement.id"), "search", "/ goes to the search")
    browser.press("d", "t", "o", "h", " ", "M", "e", "m")
    equal(browser.run("return state.mode"), "streams", "there letters are no keys of the chart")
    browser.press("Enter")
    n, ns = browser.run("""
        const copies = Array.from(spans.kind, (kind, i) => kind === KIND.d2h ? i : -1)
            .filter((i) => i >= 0);
        return [copies.length, duration(copies.reduce((sum, i) => sum + spans.length[i], 0))]""")
    shown = text(browser, "#matches")
    ok(shown.startswith(f"{n} of 1,200 operations, {ns}"), "all words count, whatever their case", shown)
    first = browser.run("return state.selected")
    equal(browser.run("return spans.kind[state.selected] === KIND.d2h && state.selected"), first,
          "Enter selects the first")
    browser.press("Enter")
    second = browser.run("return state.selected")
    equal(browser.run("return state.found.order.indexOf(state.selected)"), 1, "then the next")
    ok("at 2" in text(browser, "#matches"), "which is counted")
    browser.run("""field.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", shiftKey: true}))""")
    equal(browser.run("return state.selected"), first, "Shift and Enter go back")
    ok(second != first and browser.run("""
        const place = selectedPlace(), lane = place.row.lanes[place.lane];
        return lane.start[place.index] >= view.from && lane.end[place.index] <= view.to"""),
       "to what is then in view")
    equal(browser.run("return state.marks.map(({lanes}) => lanes[0].n).slice(1)"), [0, n, 0],
          "what was not found is grey")
    browser.press("e")
    equal(browser.run("return field.value"), "dtoh Meme", "the field has the keys")
    browser.press("Escape")
    equal(browser.run("return [field.value, state.marks, document.activeElement.id]"),
          ["", None, "chart"], "Esc ends the search")
    browser.run("find('no such name')")
    equal(text(browser, "#matches"), "nothing found", "where nothing is found, that is said")
    browser.run("find('synchronize')")
    ok(browser.run("return state.found.calls > 0") and "call" in text(browser, "#matches"),
       "calls of the host are found as well")
    browser.press("Escape")
    equal(browser.run("return [state.found, state.selected]"), [None, -1], "so Esc in the chart")


def a_link_has_the_view(browser, folder):
    browser.run("setView(data.origin + 20e6, data.origin + 21e6)")
    time.sleep(0.5)
    equal(browser.run("return location.hash"), "#view=20000000,21000000",
          "the address has what is in view")
    browser.run("copyLink()")
    time.sleep(0.2)
    ok("opied" in text(browser, "#link") or "address" in text(browser, "#link"),
       "a button copies it", text(browser, "#link"))
    browser.open(os.path.join(folder, "nonblocking.html"))
    browser.open(os.path.join(folder, "blocking.html") + "#view=20000000,21000000")
    equal(browser.run("return [view.from - data.origin, view.to - data.origin]"), [20e6, 21e6],
          "opened there, the page shows that")
    browser.run("location.hash = '#view=5000000,6000000'")
    time.sleep(0.4)
    rest(browser)
    equal(browser.run("return view.from - data.origin"), 5e6, "and goes where the address goes")
    for wrong in ["#view=9,3", "#view=a,b", "#view=1", "#x"]:
        browser.run("location.hash = arguments[0]", wrong)
    time.sleep(0.3)
    equal(browser.run("return view.from - data.origin"), 5e6, "what is no range changes nothing")
    browser.run("setView(limits.from, limits.to)")
    time.sleep(0.5)
    equal(browser.run("return location.hash"), "", "without a part the address is the page's")


def ranges_of_the_host(browser, folder):
    browser.open(os.path.join(folder, "operators.html"))
    equal(browser.run("return state.flameRows.length"), 0, "ranges of the host are hidden at first")
    browser.press("o")
    equal(browser.run("return [state.flameRows.length, byId('flames').ariaPressed]"), [3, "true"],
          "O shows them, a row a depth")
    ok(browser.run("""
        const [host, ...others] = state.rows, [first] = state.flameRows;
        return host.y < first.y && others.every((row) => row.y > first.y)"""),
       "between the host's calls and the streams")
    equal(browser.run("return state.flameRows.map(({lanes}) => lanes[0].name(lanes[0].op[lanes[0].n - 1]))"),
          ["aten::to", "aten::_to_copy", "aten::copy_"], "an operator lies in the one that called it")
    ok(browser.run("""
        return state.flameRows.slice(1).every(({lanes: [lane]}, depth) => {
            const around = state.flameRows[depth].lanes[0];
            return lane.start.every((start, i) => {
                const k = upperBound(around.start, start) - 1;
                return k >= 0 && lane.end[i] <= around.end[k];
            });
        })"""), "all the time")
    shown = browser.run("""
        const row = state.flameRows[0], lane = row.lanes[0], at = lane.n - 1;
        showTip(hit(toX(lane.start[at]) + 1, laneY(row, 0) + 5 - chart.scrollTop), 100, 100);
        const shown = tip.innerText;
        showTip(null);
        return shown""")
    ok("aten::to" in shown and "Duration" in shown, "hovering one shows its name and time", shown)
    browser.run("find('dtoh')")
    equal(browser.run("return state.flameMarks.map(({lanes}) => lanes[0].n)"), [0, 0, 0],
          "what has not the words of a search is grey")
    browser.run("clearSearch()")
    browser.press("o")
    equal(browser.run("return state.flameRows.length"), 0, "O hides them")
    browser.open(os.path.join(folder, "steps.html"))
    browser.press("o")
    equal(browser.run("return state.flameRows.map(({lanes}) => lanes[0].name(lanes[0].op[0]))"),
          ["step 1", "forward"], "a step that has a range of its own is drawn once")


def host_ranges_are_found(browser, folder):
    browser.open(os.path.join(folder, "ranges.html"))
    browser.press("/", "o", "p", ":", ":", "1", "0", "Enter")
    equal(text(browser, "#matches"), "1 host range; at 1", "the search finds ranges of the host")
    equal(browser.run(NAME_OF_SELECTED), "op::10", "Enter selects them")
    equal(browser.run("return [state.flames, state.flameRows.length, selectedPlace() !== null]"),
          [True, 9, True], "and shows their rows, also of one that lies deeper than others are shown")
    shown = text(browser, "#inspector")
    ok("operator" in shown and "70 us" in shown, "with kind and time", shown)
    ok("1 operation, 40.0 us on the device" in shown, "what was issued in it", shown)
    ok("ProfilerStep#1 › Linear_0 › op::0" in shown and "op::9" in shown, "and what it lies in", shown)
    browser.run("""[...document.querySelectorAll("#inspector dd button")]
        .find(({innerText}) => innerText === "Linear_0").click()""")
    equal(browser.run(NAME_OF_SELECTED), "Linear_0", "each of which a click selects")
    ok("module" in text(browser, "#inspector"), "a module is called one")
    browser.run("find('op -op::1')")
    equal(browser.run("return [state.found.ranges, state.flameMarks.map(({lanes}) => lanes[0].n)]"),
          [9, [0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1]], "names with a word behind a - are left out")
    browser.run("find('add')")
    browser.press("Escape", "/", "a", "d", "d", "Enter")
    equal(text(browser, "#matches"), "1 of 2 operations, 40.0 us; at 1", "or operations")
    shown = text(browser, "#inspector")
    ok("Called in" in shown and "aten::<img src=x>" in shown and "op::" not in shown,
       "an operation says in which ranges of its thread it was called", shown)
    equal(browser.run("return document.images.length"), 0, "whose names are no HTML")
    browser.run("find('Step'); jump(1); showAll()")
    rest(browser)
    shown = text(browser, "#inspector")
    ok("200 us" in shown and "−45 us" in shown and "2 operations" in shown,
       "a range that begins before all operations has its whole time", shown)
    ok(browser.run("return view.from <= ranges.start[state.selected - OPS]"), "and can be seen whole")
    browser.run("chart.focus()")
    browser.press("o")
    equal(browser.run("return view.from < Math.min(...hostStart) - 1000"), False,
          "while ranges are hidden, operations alone are all")


def what_is_not_found_is_hidden(browser, folder):
    browser.open(os.path.join(folder, "ranges.html"))
    browser.run("toggleOnly()")
    equal(browser.run("return [state.only, byId('only').hidden]"), [False, True],
          "without a search nothing can be hidden")
    browser.run("field.value = 'add'; find('add'); chart.focus()")
    browser.press("o", "h")
    equal(browser.run("return state.rows.map(({title, lanes}) => [title, lanes[0].n])"),
          [["host", 1], ["stream 8", 1]], "H hides all but what was found")
    equal(browser.run("return [state.flameRows.length, state.marks, byId('only').ariaPressed]"),
          [0, None, "true"], "also ranges of the host")
    browser.press("Enter", "Right")
    equal(browser.run(NAME_OF_SELECTED), "add", "keys reach nothing else")
    browser.run("operations.open = true; showOperations()")
    equal(browser.run("return operations.querySelectorAll('tbody tr').length"), 1,
          "nor does the table have it")
    browser.run("operations.open = false; goTo(0, false)")
    equal(browser.run("return [state.only, state.rows.length]"), [False, 3],
          "what leads to something hidden shows all again")
    browser.press("h")
    browser.run("find('linear')")
    equal(browser.run("return [state.rows.length, state.flameRows.map(({lanes}) => lanes[0].n)]"),
          [1, [1]], "where ranges are found, these remain")
    browser.press("Escape")
    equal(browser.run("return [state.only, state.rows.length]"), [False, 3], "Esc ends it")


def keys_reach_everything(browser, folder):
    browser.open(os.path.join(folder, "ranges.html"))
    browser.run("chart.focus()")
    browser.press("o", "Enter")
    names = [browser.run(NAME_OF_SELECTED)]
    for _ in range(12):
        browser.press("Up")
        names.append(browser.run(NAME_OF_SELECTED))
    browser.press(*["Down"] * 13)
    equal(names, ["gemm", "op::5", "op::4", "op::3", "op::2", "op::1", "op::0", "Linear_0",
                  "aten::<img src=x>", "ProfilerStep#1", "add", "gemm", "gemm"],
          "up leads through the ranges of the host, each lane, to the calls")
    equal(browser.run(NAME_OF_SELECTED), "add", "and down to the last stream")
    browser.press("c")
    equal(browser.run("return [state.selected, state.host]"), [1, True],
          "C goes to what it waited for: its call, which came last")
    browser.press("c")
    equal(browser.run("return [state.selected, state.host]"), [1, True], "where that ends")
    browser.press("m")
    shown = text(browser, "#inspector")
    ok("kernels at once" in shown and "at most 2" in shown, "M measures what is in view", shown)
    browser.open(os.path.join(folder, "blocking.html"))
    browser.run("chart.focus()")
    n = browser.run("return groups.length")
    seen = []
    for key in ["n", "n", "p", "p", "p"]:
        browser.press(key)
        rest(browser)
        seen.append(browser.run("return state.group"))
    equal(seen, [0, 1 % n, 0, n - 1, (n - 2) % n], "N and P go through the causes")
    browser.run("select(groups[0][0].finding && findOp(groups[0][0].finding.waiter), false)")
    by = browser.run("return causeOf(state.selected)")
    browser.press("c")
    equal(browser.run("return state.selected"), by, "C from there to what held it up")
    ok(by >= 0 and browser.run("return selectedPlace() !== null"), "which is shown", by)


def links_have_what_is_found(browser, folder):
    browser.open(os.path.join(folder, "ranges.html"))
    browser.run("field.value = 'op::1 & <b>'; find('op::10'); jump(1)")
    time.sleep(0.5)
    number = browser.run("return state.selected - OPS")
    found = "find=op%3A%3A1%20%26%20%3Cb%3E"
    linked = browser.run("return location.hash")
    ok(linked.endswith(f"&{found}&ranges&range={number}"), "the address has search and selection", linked)
    browser.run("field.value = 'op::10'; noteView()")
    linked = browser.run("return location.hash")
    browser.open(os.path.join(folder, "steps.html"))
    browser.open(os.path.join(folder, "ranges.html") + linked)
    equal([browser.run(NAME_OF_SELECTED), text(browser, "#matches"), browser.run("return state.flames")],
          ["op::10", "1 host range; at 1", True], "opened there, the page shows the range")
    browser.run("location.hash = '#find=add&only&op=' + opId[1]")
    time.sleep(0.3)
    equal(browser.run("return [field.value, state.only, state.selected, state.rows.length]"),
          ["add", True, 1, 2], "or the operation, and nothing else")
    browser.run("location.hash = '#call=' + opId[0]")
    time.sleep(0.3)
    rest(browser)
    equal(browser.run("return [state.selected, state.host]"), [0, True], "or its call")
    for wrong in ["#range=99", "#range=-1", "#op=x", "#op=1e9", "#call=", "#find=%", "#&&=", "#view=&op=7"]:
        browser.run("location.hash = arguments[0]", wrong)
        time.sleep(0.05)
    equal(browser.run("return [state.selected, field.value]"), [0, "%"],
          "what is not there changes nothing")
    browser.run("location.hash = '#find=<img src=x onerror=document.title=1>'")
    time.sleep(0.2)
    equal(browser.run("return [document.images.length, state.found.order.length]"), [0, 0],
          "a word of the address is no HTML")


sys.exit(main(["puzzler", "operators", "steps", "ranges"],
              [blocking, operations_are_found,
               a_link_has_the_view,
               ranges_of_the_host,
               host_ranges_are_found,
               what_is_not_found_is_hidden,
               keys_reach_everything,
               links_have_what_is_found]))

# page.t.py - the .html report in headless Chromium, used as a person would use it.
#
# Pages are written by the program ($STREAMLAB) on the simulated GPU. Nothing is timed
# against a limit; frame times are printed for those who want to know.
import os
import sys
import time

sys.dont_write_bytecode = True          # no folder beside the tests
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from checks import diag, equal, main, middle, ok, rest, scrolled, text, view  # noqa: E402


def blocking(browser, folder):
    browser.open(os.path.join(folder, "blocking.html"))


def it_loads(browser, folder):
    equal(text(browser, "h1"), "textbook GPU", "the page names the device")
    ok("Simulated GPU, profile textbook" in text(browser, "#recorded"), "and that it is simulated")
    ratio = browser.run("return data.makespan / data.bounds.lower")
    equal(text(browser, ".ratio"), f"{ratio:.2f}×", "makespan / bound is the headline")
    equal(browser.run("return spans.n"), 1200, "all operations are there")
    equal(browser.run("return state.rows.map((row) => row.title)"),
          ["host", "first", "second", "third"], "with a row for the host and each stream")
    drawn = browser.run("""
        const row = state.rows[1], scale = canvas.width / view.width;
        const x = toX(row.lanes[0].start[500]), y = laneY(row, 0) + row.bar / 2;
        return Array.from(pen.getImageData(x * scale, y * scale, 1, 1).data);""")
    ok(drawn[3] == 255 and drawn[1] > drawn[0], "a kernel is drawn, in green", drawn)


def numbers_arrive_exactly(browser, folder):
    equal(browser.run("return unionLength(unionOf(state.rows[1].lanes)) === data.busy[0].busy"),
          True, "the compute row's busy time is the core's, to the ns")
    equal(browser.run("""
        const rows = deviceRows("engines").map((row) => unionOf(row.lanes));
        return data.overlaps.slice(0, 3).every(({of, common}) =>
            overlapLength(...of.map((engine) => rows[
                data.busy.findIndex((use) => use.engine === engine)])) === common);"""),
          True, "so are the overlaps of the engines")
    equal(browser.run("""
        return Math.max(...spans.end) - Math.min(...spans.start) === data.makespan"""),
          True, "and the makespan")
    equal(browser.run("return [0, 7, 999.4, 999.5, 1234, 55600000, 999500, 2e12].map(duration)"),
          ["0", "7 ns", "999 ns", "1.00 us", "1.23 us", "55.6 ms", "1.00 ms", "2000 s"],
          "durations have three figures")
    equal(browser.run("return [0, 1, 1000, 1000001, -1500, 12345678].map(exactly)"),
          ["0 ns", "1 ns", "1 us", "1.000\u2009001 ms", "−1.5 us", "12.345\u2009678 ms"],
          "or all of them")


def kernels_have_short_names(browser, folder):
    for name, short in [
            ("matmul_f32", "matmul_f32"), ("", ""), ("<lambda>(int)", "<lambda>(int)"),
            ("void at::native::(anonymous namespace)::softmax<float, std::less<int> >(float*)",
             "softmax"),
            ("void cutlass::Kernel2<cutlass_80_sgemm>(cutlass_80_sgemm::Params)",
             "Kernel2<cutlass_80_sgemm>"),
            ("at::native::fill(int, (anonymous namespace)::T<3>)", "fill")]:
        equal(browser.run("return shortName(arguments[0])", name), short,
              f"'{name}' is '{short}' for short")


def it_zooms_and_moves(browser, folder):
    x, y, _ = middle(browser, 2)
    before = view(browser)
    at = browser.run("return toTime(arguments[0] - canvas.getBoundingClientRect().left)", x)
    browser.wheel(x, y, -300)
    after = view(browser)
    ok(after[1] - after[0] < 0.7 * (before[1] - before[0]), "the wheel zooms in", before, after)
    now = browser.run("return toTime(arguments[0] - canvas.getBoundingClientRect().left)", x)
    ok(abs(now - at) < (after[1] - after[0]) / 500, "at the pointer", at, now)
    browser.press("w")
    zoomed = view(browser)
    ok(zoomed[1] - zoomed[0] < after[1] - after[0], "W zooms in")
    browser.press("d")
    moved = view(browser)
    ok(moved[0] > zoomed[0] and abs((moved[1] - moved[0]) - (zoomed[1] - zoomed[0])) < 1,
       "D moves on")
    browser.drag(x, y, x + 200, y)
    dragged = view(browser)
    shift = 200 * browser.run("return perPixel()")
    ok(abs(moved[0] - dragged[0] - shift) < shift / 50, "dragging moves by as many pixels",
       moved, dragged, shift)
    browser.wheel(x, y, 0, 120)
    ok(view(browser)[0] > dragged[0], "scrolling sideways moves as well")
    browser.press("s", "-", "+", "a", "0")
    rest(browser)
    equal(view(browser), before, "0 shows all again")
    browser.wheel(x, y, 100)
    equal(view(browser), before, "zooming out of the whole changes nothing")
    browser.run("for (let i = 0; i < 200; i++) zoom(0.5)")
    ok(19 < view(browser)[1] - view(browser)[0] < 21, "zooming in ends at 20 ns")
    browser.run("setView(limits.from, limits.to)")


def details_are_shown(browser, folder):
    browser.run("setView(data.origin + 20e6, data.origin + 21e6)")
    x, y, op = middle(browser, 2)
    browser.move(x, y)
    tip = text(browser, "#tip")
    for part in ["Memcpy DtoH (Device -> Pageable)", "copy D2H in second", "4.00 MiB", "GB/s",
                 "device → pageable", "puzzler.lua:", "non_blocking = false", "Host blocked"]:
        ok(part in tip, f"hovering a copy shows '{part}'", tip)
    browser.click(x, y)
    equal(browser.run("return state.selected"), op, "a click selects it")
    ok("Memcpy DtoH" in text(browser, "#inspector"), "its details are below the chart")
    equal(browser.run("return state.arrows.length"), 2,
          "its arrows: from its call, and to the call that waited for it")
    browser.run("chart.focus()")
    browser.press("Right")
    equal(browser.run("return lastSpanBefore(spans.stream[state.selected],"
                      " spans.id[state.selected])"), op, "the right arrow goes to the next one")
    browser.press("Left", "Up")
    equal(browser.run("return spans.kind[state.selected]"), 0, "up goes to the row of kernels")
    ok("matmul_f32" in text(browser, "#inspector"), "with their details")
    ok("blocks" in text(browser, "#inspector"), "and their grid")
    browser.press("f")
    rest(browser)
    ok(abs(browser.run("return spans.length[state.selected] / (view.to - view.from)") - 0.5) < 0.01,
       "F zooms to it")
    browser.press("Escape")
    equal(browser.run("return state.selected"), -1, "Esc clears the selection")
    browser.press("Enter")
    ok(browser.run("return state.selected") >= 0, "Enter selects the first in view")
    browser.press("Escape")


def a_range_is_measured(browser, folder):
    browser.run("setView(data.origin + 20e6, data.origin + 30e6)")
    x, y, _ = middle(browser, 1)
    browser.drag(x, y, x + 300, y, shift=True)
    length = browser.run("return state.range && state.range.to - state.range.from")
    ok(length and abs(length - 300 * browser.run("return perPixel()")) < 2,
       "Shift + drag measures", length)
    shown = text(browser, "#inspector")
    ok("compute & d2h" in shown and "measured" in shown, "busy and common times are shown", shown)
    equal(browser.run("""
        const {from, to} = state.range;
        let busy = 0;
        for (let i = 0; i < spans.n; i++) {
            if (spans.kind[i] === KIND.d2h) {
                busy += Math.max(0, Math.min(to, spans.end[i]) - Math.max(from, spans.start[i]));
            }
        }
        return duration(busy)"""),
          browser.run("return measuredFacts(state.range)[3][1].split(',')[0]"), "and are right")
    browser.press("Escape")
    equal(browser.run("return state.range"), None, "Esc clears the range")


def findings_lead_to_the_chart(browser, folder):
    browser.run("setView(limits.from, limits.to)")
    whole = view(browser)
    first = browser.run("""
        const card = document.querySelector("#findings button");
        card.scrollIntoView({block: "center"});
        const box = card.getBoundingClientRect();
        return [box.left + 40, box.top + 20]""")
    shown = text(browser, "#findings button")
    ok("data_on_gpu[i]:to(\"cpu\", { non_blocking = false })" in shown,
       "the first finding quotes the line of the script", shown)
    ok("pinned" in shown, "and has a remedy")
    browser.click(*first)
    rest(browser)
    now = view(browser)
    ok(now[1] - now[0] < 0.2 * (whole[1] - whole[0]), "a click on it zooms", whole, now)
    wait = browser.run("const f = groups[0][0].finding; return [f.from, f.to]")
    ok(now[0] < wait[0] and wait[1] < now[1], "to its longest wait")
    equal(text(browser, "#findings [aria-pressed=true] .cause"), "Host blocked", "it is marked")
    ok(browser.run("return state.marks.some((row) => row.waits[0].n > 0)"),
       "and its waits are drawn")
    scrolled(browser)
    browser.click(*browser.run("""
        const card = document.querySelector("#findings [aria-pressed=true]");
        card.scrollIntoView({block: "center"});
        const box = card.getBoundingClientRect();
        return [box.left + 40, box.top + 20]"""))
    equal(browser.run("return state.group"), -1, "a second click lets go of it")


def rows_and_theme(browser, folder):
    browser.run("setView(limits.from, limits.to)")
    browser.run("document.querySelector('[data-rows=engines]').click()")
    equal(browser.run("return state.rows.map((row) => row.title)"),
          ["host", "compute", "H2D copies", "D2H copies"], "rows may be the engines")
    browser.press("e")
    equal(browser.run("return state.mode"), "streams", "E changes them back")
    paper = "return getComputedStyle(document.body).backgroundColor"
    light = browser.run(paper)
    browser.run("byId('theme').click(); byId('theme').click()")
    ok(light == "rgb(255, 255, 255)" and browser.run(paper) != light, "there is a dark theme")
    browser.run("byId('theme').click()")
    equal(browser.run(paper), light, "and the system's choice is kept otherwise")
    browser.run("operations.open = true; showOperations()")
    equal(browser.run("return operations.querySelectorAll('tbody tr').length"), 200,
          "a table has the operations in view")
    browser.run("operations.open = false")
    browser.press("?")
    ok("Shift" in text(browser, "#keys"), "? shows the keys")
    browser.press("?")
    browser.resize(700, 800)
    time.sleep(0.2)
    equal(browser.run("return [view.width === content.clientWidth,"
                      " document.documentElement.scrollWidth <= innerWidth]"), [True, True],
          "the page fits a narrow window")
    equal(browser.run("return fitted('a stream with number 17', 80, true)")[-2:], "17",
          "there names of rows are cut in the middle")
    equal(browser.run("""
        document.querySelector('.words p').textContent = 'x'.repeat(300);
        return document.documentElement.scrollWidth <= innerWidth"""), True,
          "and a kernel's name of 300 letters is broken")
    browser.resize(1280, 800)


def counters_are_drawn(browser, folder):
    browser.run("setView(limits.from, limits.to)")
    equal(browser.run("return counterRows.map(({title}) => title)"),
          ["kernels at once", "queue length", "H2D copies", "D2H copies"],
          "below the streams there is a row for each counter")
    equal(browser.run("""
        const row = counterRows[1];
        let most = 0;
        for (let i = 0; i < spans.n; i += 7) {
            const at = hostStart[i];
            const n = spans.start.reduce((n, start, k) => n + (hostStart[k] <= at && start > at), 0);
            if (counterAt(row, at) !== n) return [i, counterAt(row, at), n];
            most = Math.max(most, n);
        }
        return most <= row.most"""), True, "whose values are those of the operations")
    shown = browser.run("""
        const row = counterRows[1], y = row.y + 30 - chart.scrollTop;
        showTip(hitCounter(toX(data.origin + 8e6), y), 100, 100);
        const shown = tip.innerText;
        showTip(null);
        return shown""")
    ok("queue length" in shown and "Most" in shown, "hovering one shows its value", shown)
    equal(browser.run("return [counterValue({unit: 1}, 1048576), counterValue({unit: 2}, 2.5e10),"
                      " counterValue({unit: 2}, 4800000), counterValue({unit: 0}, 1200)]"),
          ["1.00 MiB", "25.0 GB/s", "4.80 MB/s", "1,200"], "with its unit")
    equal(browser.run("return [0, 4, 999, 2345.6].map(bytesPerSecond)"),
          ["0 B/s", "4 B/s", "999 B/s", "2.35 kB/s"], "slow copies have theirs")
    equal(browser.run("""
        const counter = {unit: 1, most: 368 << 20};
        return [100, textWidth("368 MiB")].map((room) => mostText(counter, room))"""),
          ["max 368 MiB", "368 MiB"], "in a narrow window the largest value is whole")
    equal(browser.run("""
        const counter = {name: "memcpy_h2d", prefix: "gpu1: ", title: "gpu1: H2D copies"};
        return ["gpu1: H2D copies", "gpu1: H2D", "1: H2D"].map((text) =>
            counterTitle(counter, textWidth(text)))"""), ["gpu1: H2D copies", "gpu1: H2D", "1: H2D"],
          "and titles get shorter there, but keep the GPU's number")
    equal(browser.run("return [ranges.n, byId('flames').hidden]"), [0, True],
          "without ranges of the host there is no button for them")


def the_bar_keeps_its_order(browser, folder):
    for page in ["operators", "host-trace", "blocking"]:
        browser.open(os.path.join(folder, f"{page}.html") + "#find=cop&only")
        equal(browser.run("""
            const box = (selector) => document.querySelector(selector).getBoundingClientRect();
            const [bar, zoom, legend] = [box(".bar"), box("#help"), box("#legend")];
            return [Math.abs(zoom.right - bar.right) < 2, legend.top >= zoom.bottom]"""),
              [True, True], f"{page}: buttons for the view are at the right, above the colours")


def waits_are_told(browser, folder):
    browser.open(os.path.join(folder, "events.html"))
    words = browser.run("return waitsOf(1).map(({words}) => words)")
    ok(words and words[0] == "an event behind Memcpy HtoD (Pinned -> Device) in load",
       "an operation behind a wait for an event says what the event was for", words)
    equal(browser.run("return arrowsOf(1).map(({from, fromHost}) => [from, Boolean(fromHost)])"),
          [[1, True], [0, False]], "with arrows from its call and from there")
    browser.run("chart.focus()")
    browser.press("Enter", "Down")
    equal(browser.run("return state.selected"), 1, "down goes to the stream below")


def the_host_is_shown(browser, folder):
    browser.open(os.path.join(folder, "host.html"))
    equal(browser.run("return document.title"), "pages.lua – textbook GPU (simulated)",
          "the page is titled by the script")
    ok(text(browser, "#recorded").startswith("pages.lua · "), "whose name stands in its head")
    names = browser.run("""
        const lane = hostRow.lanes[0];
        return Array.from(lane.op, (op, i) => [opName(op), lane.kind[i]])
            .filter(([, kind]) => kind === HOST.work).map(([name]) => name)""")
    equal(names, ["rand_f32 on the CPU", "pinned allocation", "fill_f32 on the CPU"],
          "what the host computes and page-locks is in its row, by name")
    shown = text(browser, "#parts-list")
    ok("the host, busy in fill_f32 on the CPU" in shown, "and in the makespan's parts", shown)
    browser.run("setView(limits.from, limits.to)")
    x, y, op = middle(browser, 0)
    browser.click(x, y)
    equal(text(browser, "#inspector .title b"), "rand_f32 on the CPU", "a click shows it")
    browser.run("select(0, true)")
    equal(text(browser, "#inspector .title b"), "cudaMemcpyAsync",
          "a call that enqueues is titled by the call")
    ok("Memcpy HtoD" in text(browser, "#inspector dl"), "and says what it enqueues")
    browser.run("select(0)")
    equal(text(browser, "#inspector .title b"), "Memcpy HtoD (Pageable -> Device)",
          "the operation by its own name")
    browser.open(os.path.join(folder, "host-trace.html"))
    equal(browser.run("return document.title"),
          "worker-17_of_256.1763900000000000000.pt.trace.json – textbook GPU (simulated)",
          "that of a trace by the trace's file")


def a_page_of_another_program(browser, folder):
    browser.open(os.path.join(folder, "foreign.html"))
    shown = text(browser, "#parts-list")
    ok("waiting for the host, which issued no work" in shown,
       "what the host did between its calls is not claimed", shown)
    shown = text(browser, ".cause")
    equal(shown, "Host issued no work", "nor in the list of losses")


def changes_are_shown(browser, folder):
    browser.open(os.path.join(folder, "changes.html"))
    before = browser.run("return [data.makespan, limits.to - limits.from]")
    equal(browser.run("return changesOf().map((card) => card.getAttribute('aria-pressed'))"),
          ["true"] + ["false"] * 3, "changes are listed, below the program as recorded")
    number = 1 + browser.run("return changes.list.findIndex(({what}) => what.startsWith('prefetch'))")
    shown = text(browser, f"#changes-list li:nth-child({number + 1})")
    ok("prefetch and non-blocking" in shown and "streamlab whatif --prefetch" in shown,
       "each with the command that tries it", shown)
    ok("Choose one of the first 3 " in text(browser, "#changes p"), "and which can be chosen")
    click_change(browser, number)
    after = browser.run("return [data.makespan, limits.to - limits.from, spans.n, shown]")
    equal(after[0], browser.run("return changes.list[shown - 1].after"), "a click shows it as predicted")
    ok(after[0] < 0.7 * before[0] and after[1] >= before[1], "on the axis of the recorded one", after)
    equal(browser.run("return state.rows.map((row) => row.title)"), ["host", "stream 7", "prefetch"],
          "with the streams that it has then")
    ok(" instead of 33.5 ms" in text(browser, "#shown"), "which is said above it")
    ok("not measured" in text(browser, "#doubts"), "and that nobody measured it")
    browser.press("w")
    rest(browser)
    time.sleep(0.5)
    ok(f"change={number}&view=" in browser.run("return location.hash"), "its address has the change and the view")
    click_change(browser, 0)
    equal(browser.run("return [data.makespan, document.getElementById('shown').hidden]"),
          [before[0], True], "and there is a way back")


def click_change(browser, number):
    browser.run("changesOf()[arguments[0]].click()", number)
    for _ in range(100):
        time.sleep(0.1)
        try:
            if browser.run("return shown") == number:
                return
        except Exception:               # the page is being loaded
            continue


def it_fits_a_phone(browser, folder):
    for page in ["blocking", "host-trace", "events", "changes"]:
        browser.open(os.path.join(folder, f"{page}.html"))
        for width in [420, 320]:
            browser.resize(width, 800)
            time.sleep(0.2)
            browser.run("operations.open = true; showOperations(); select(0, true)")
            equal(browser.run("return document.documentElement.scrollWidth"), width,
                  f"{page}: nothing is wider than a window of {width} pixels")
    shown = browser.run("""
        state.rows.push({...state.rows[0], title: "1095 stream 84"});
        const shown = ["1095 stream 84", "stream 7", "my downstream"].map((title) =>
            rowTitle({title}, textWidth("1095 s 84")));
        state.rows.pop();
        return [...shown, rowTitle({title: "stream 7"}, textWidth("stream 7"))];""")
    equal(shown[:2] + shown[3:], ["1095 s 84", "s 7", "stream 7"],
          "where names have no room they keep their numbers, and are alike")
    ok("…" in shown[2] and shown[2].endswith("am"), "other names are cut in their middle", shown[2])
    browser.resize(1280, 800)


def names_do_no_harm(browser, folder):
    browser.open(os.path.join(folder, "hostile.html"))
    ok("</script><img src=x onerror=" in browser.run("return state.rows[1].title"),
       "a name that looks like HTML is a name")
    browser.run("select(0); operations.open = true; showOperations()")
    x, y, _ = middle(browser, 1)
    browser.move(x, y)
    time.sleep(0.2)
    ok("<img" in text(browser, "#tip"), "also where details are shown")
    equal(browser.run("return document.images.length"), 0, "there is no image")
    ok(browser.run("return document.title") != "caught", "and nothing of it runs")


def parts_in_several_streams(browser, folder):
    browser.open(os.path.join(folder, "shared.html"))
    shown = text(browser, "#parts-list")
    ok(" and other operations" in shown, "a part of the makespan says that it stands for others", shown)


def an_empty_page(browser, folder):
    browser.open(os.path.join(folder, "empty.html"))
    ok("Nothing ran" in text(browser, "#inspector"), "an empty timeline says so")
    equal(browser.run("return document.querySelector('.against')"), None,
          "and has no bar that compares nothing with nothing")
    browser.press("w", "e", "0", "Enter", "Escape")


def a_frame_without_room(browser, folder):
    """A frame may have no width yet when its page is ready."""
    with open(os.path.join(folder, "frame.html"), "w") as file:
        file.write("<title>frame</title><iframe src='blocking.html' style='width: 60px; height: 400px'></iframe>")
    browser.open(os.path.join(folder, "frame.html"))
    time.sleep(0.5)
    equal(browser.run("return document.title"), "frame", "a page without room draws nothing, and ends")
    browser.run("document.querySelector('iframe').style.width = '700px'")
    time.sleep(0.5)
    browser.call("POST", "/frame", {"id": 0})
    width = browser.run("return canvas.width")
    browser.call("POST", "/frame", {"id": None})
    ok(width > 500, "it is drawn when there is room", width)


def a_large_page(browser, folder):
    path = os.path.join(folder, "100000.html")
    diag(f"100,000 operations: {os.path.getsize(path) / 1e6:.1f} MB")
    browser.open(path)
    equal(browser.run("return spans.n"), 100000, "100,000 operations are there")
    times = browser.run("""
        const out = [], all = limits.to - limits.from;
        for (let i = 0; i < 100; i++) {
            const length = all * 0.9 ** i, at = limits.from + all * (0.5 + 0.3 * Math.sin(i / 9));
            setView(at - length / 2, at + length / 2);
            const start = performance.now();
            paint();
            out.push(performance.now() - start);
        }
        return out.sort((a, b) => a - b)""")
    diag(f"frames of a zoom: median {times[50]:.1f} ms, longest {times[-1]:.1f} ms")
    equal(browser.run("""
        const lane = state.rows[1].lanes[0], {share} = filling(lane, 0, lane.n, 0, limits.to);
        let busy = 0;
        for (let i = 0; i < lane.n; i++) busy += lane.end[i] - lane.start[i];
        return Math.abs(share * limits.to - busy) < 1"""), True,
          "a pixel's share is what all its operations sum up to")


sys.exit(main(["puzzler", "operators", "events", "host", "foreign", "shared", "hostile", "empty",
               "changes", "100000"],
              [blocking, it_loads,
               numbers_arrive_exactly,
               kernels_have_short_names,
               it_zooms_and_moves,
               details_are_shown,
               a_range_is_measured,
               findings_lead_to_the_chart,
               rows_and_theme,
               counters_are_drawn,
               the_bar_keeps_its_order,
               waits_are_told,
               the_host_is_shown,
               a_page_of_another_program,
               changes_are_shown,
               it_fits_a_phone,
               names_do_no_harm,
               parts_in_several_streams,
               an_empty_page,
               a_frame_without_room,
               a_large_page]))

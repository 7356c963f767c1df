#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Test the pages that "sifive-trace export" draws, in a headless Chromium or Firefox.

    browser.py PAGE.html FLAME.svg    checks the trace that output_test.c generates
    browser.py --shown PAGE.html...   prints what each page shows, one line of JSON per page
    browser.py --samples PAGE.html    checks the calls and samples of loss_test.c
    browser.py --records PAGE.html    checks the calls and records of joined_test.c
    browser.py --selected PAGE.html   selects the whole trace, and prints its table as JSON
    browser.py --picture OUT.png [--size 1200x800] FILE

--browser selects chromium (default) or firefox. The checks are the same; browsers.py drives
the browser. Anything that the page prints to the console, or throws, is an error.
"""

import argparse
import base64
import json
import pathlib
import re
import sys
import zlib

import page_calls
from browsers import BROWSERS

# Return the position and size, in the window, of the n-th element that matches.
def place(browser, selector, n=0):
    return browser.value(f"""(function () {{
        var e = document.querySelectorAll({json.dumps(selector)})[{n}];
        e.scrollIntoView({{ block: "center" }});
        var r = e.getBoundingClientRect();
        return [r.left, r.top, r.width, r.height]; }}())""")


# Return the number of pixels of a canvas that have this colour or, if no colour is given, that are
# drawn.
def pixels(browser, n, colour=None):
    return browser.value(f"""(function () {{
        var c = document.querySelectorAll("canvas")[{n}], i, sum = 0;
        var d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        var wanted = {json.dumps(colour)};
        for (i = 0; i < d.length; i += 4)
            sum += wanted ? d[i] === wanted[0] && d[i + 1] === wanted[1] &&
                d[i + 2] === wanted[2] : d[i + 3] !== 0;
        return sum; }}())""")


# Return the content of a canvas as text, for comparison.
def drawing(browser, n):
    return browser.value(f"document.querySelectorAll('canvas')[{n}].toDataURL()")


def text(browser, selector):
    return browser.value(f"document.querySelector('{selector}').textContent")


def expect(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, expected {wanted!r}")


FOUND = [221, 102, 255]
RULER, CALLS, PLOT, FLAME = range(4)
# Heights of a thread's name and of one level of its calls in the timeline.
LABEL, ROW = 15, 17


def check_page(browser, path):
    """main takes 17 us, and calls fib twice, which takes 8 us in total."""
    browser.open(path)
    browser.wait("document.body.dataset.ready === 'yes'")
    expect(text(browser, "#status"), "0 ns to 17 us of 17 us", "times")
    for n, what in enumerate(("ruler", "calls", "counter", "flame graph")):
        if not pixels(browser, n):
            raise AssertionError(f"nothing drawn: {what}")
    expect(browser.value("Array.from(document.querySelectorAll('#functions"
                         " tbody tr')).map(function (r) { return r.innerText"
                         ".split('\\t'); })"),
           [["1", "17 us", "9 us", "52.94%", "5", "main"],
            ["2", "8 us", "8 us", "47.06%", "200", "fib"]], "functions")

    # The tooltip describes the element under the mouse pointer.
    left, top, width, height = place(browser, "canvas", CALLS)
    browser.move(left + width / 2, top + 24)
    browser.wait("document.querySelector('#tip').textContent ==="
                 " 'main\\n17 us from 0 ns\\ncycles: 205'")

    # The wheel zooms around the mouse pointer, and dragging moves the view.
    drawn = RULER, CALLS, PLOT
    before = [drawing(browser, n) for n in drawn]
    browser.wheel(left + width / 2, top + 24, -100)
    browser.wait("document.querySelector('#status').textContent ==="
                 " '1.96154 us to 15.0385 us of 17 us'")
    zoomed = [drawing(browser, n) for n in drawn]
    for n in drawn:
        if zoomed[n] == before[n]:
            raise AssertionError(f"zoomed, and canvas {n} is not redrawn")
    browser.drag(*((left + width * part, top + 24) for part in (0.5, 0.9, 1)))
    browser.wait("document.querySelector('#status').textContent ==="
                 " '0 ns to 13.0769 us of 17 us'")
    for n in drawn:
        if drawing(browser, n) in (before[n], zoomed[n]):
            raise AssertionError(f"moved, and canvas {n} is not redrawn")
    browser.key("-")
    browser.value("document.querySelector('#home').click()")
    expect(text(browser, "#status"), "0 ns to 17 us of 17 us", "whole trace")
    for n in drawn:
        if drawing(browser, n) != before[n]:
            raise AssertionError(f"the whole trace, but canvas {n} differs")

    # A double click zooms to one call: the first fib, at 5 of 17 us.
    browser.double_click(left + width * 7 / 17, top + 41)
    browser.wait("document.querySelector('#status').textContent ==="
                 " '4.8 us to 9.2 us of 17 us'")
    browser.value("document.querySelector('#home').click()")

    # The search highlights functions and shows their costs.
    for n in CALLS, FLAME:
        expect(pixels(browser, n, FOUND), 0, "marked before the search")
    left, top, width, height = place(browser, "#search")
    browser.click(left + width / 2, top + height / 2)
    browser.type("^fi")
    expect(text(browser, "#found"),
           "found 1 function, 2 calls, itself 8 us (47.06%)", "search")
    for n in CALLS, FLAME:
        if not pixels(browser, n, FOUND):
            raise AssertionError("the search marks nothing")
    browser.type("(")
    expect(browser.value("document.querySelector('#search').className"),
           "wrong", "half an expression")
    browser.value("PAGE.find('')")
    expect(text(browser, "#found"), "", "no search")

    # A click on fib, which is half as wide as the flame graph, enlarges it to the full width.
    browser.value("PAGE.find('fib')")
    before = pixels(browser, FLAME, FOUND)
    left, top, width, height = place(browser, "#flame")
    browser.click(left + width / 5, top + 17 * 3 + 8)
    if not pixels(browser, FLAME, FOUND) > 1.8 * before:
        raise AssertionError("the flame graph does not zoom")
    browser.value("PAGE.find('')")
    check_search(browser)
    check_selection(browser)
    check_comparison(browser)
    check_surroundings(browser)


def check_search(browser):
    """The search selects the next or previous call: fib begins at 5 and at 13 of 17 us."""
    browser.value("PAGE.find('fib'); document.activeElement.blur();")
    for key, found in (("n", "fib at 5 us"), ("n", "fib at 13 us"), ("n", "no later call"),
                       ("p", "fib at 5 us"), ("p", "no earlier call")):
        browser.key(key)
        browser.wait("document.querySelector('#found').textContent ==="
                     f" {json.dumps(found)}")
    browser.value("PAGE.find(''); document.querySelector('#home').click()")


def check_selection(browser):
    """Select 7 to 15 us: 4 us of main itself, and 2 us of each call to fib."""
    left, top, width, height = place(browser, "canvas", RULER)
    browser.drag(*((left + width * time / 17, top + 5) for time in (7, 10, 15)))
    browser.wait("(document.querySelector('#selection') || { dataset: {} }).dataset.ready")
    rows = browser.value("Array.from(document.querySelectorAll('#range tbody tr')).map("
                         "function (r) { return r.innerText.split('\\t'); })")
    rounded = [[row[0], *(round(float(cell.split()[0]), 1) for cell in row[2:4]), row[4]]
               for row in rows]
    expect(sorted(rounded, key=lambda row: row[-1]),
           [["2", 4, 4, "fib"], ["1", 8, 4, "main"]], "functions of the selection")
    count = re.search(r", cycles ~(\d+)", text(browser, "#selection"))
    if not count or abs(int(count.group(1)) - 100) > 2:
        raise AssertionError(f"counts of the selection: {text(browser, '#selection')}")
    browser.key("Escape")
    expect(browser.value("document.querySelector('#range')"), None, "no selection")
    # After the whole trace is selected with the keyboard, the statistics equal the table of
    # functions.
    browser.key("s")
    browser.wait("(document.querySelector('#selection') || { dataset: {} }).dataset.ready")
    expect(browser.value("Array.from(document.querySelectorAll('#range tbody tr')).map("
                         "function (r) { return r.innerText.split('\\t'); })"),
           [["1", "0", "17 us", "9 us", "main"], ["2", "0", "8 us", "8 us", "fib"]],
           "all selected")
    browser.key("Escape")


def check_comparison(browser):
    """Compare with a page that has two functions fib, together 2 us faster, and another one."""
    browser.value("""(function () {
        var other = JSON.parse(JSON.stringify(DATA)), fib = DATA.functions.indexOf("fib");
        other.tree.forEach(function (n) { if (n[1] === fib) n[4] -= 3; });
        other.functions.push("gone", "fib");
        other.tree.push([0, other.functions.length - 2, 1, 0, 2]);
        other.tree.push([0, other.functions.length - 1, 1, 0, 1, 1]);
        PAGE.compare(other); }())""")
    expect(browser.value("Array.from(document.querySelectorAll('#functions tbody tr')).map("
                         "function (r) { var c = r.innerText.split('\\t');"
                         " return [c[2], c[4], c[5], c[7]]; })"),
           [["8 us", "~6 us", "~+2 us", "fib"], ["9 us", "9 us", "0 ns", "main"],
            ["0 ns", "2 us", "-2 us", "gone"]], "comparison")
    expect(browser.value("""(function () {
        var other = JSON.parse(JSON.stringify(DATA));
        other.hz = 0;
        try { PAGE.compare(other); } catch (error) { return error.message.split(":")[0]; } }())"""),
           "the length of a tick is known in only one of the pages", "ticks and seconds")
    browser.value("""(function () {
        DATA.functions[DATA.functions.indexOf("main")] = "fib";
        PAGE.compare(JSON.parse(JSON.stringify(DATA))); }())""")
    expect(browser.value("Array.from(document.querySelectorAll('#functions tbody tr')).map("
                         "function (r) { return r.innerText.split('\\t').slice(0, 7); })"),
           [["3", "17 us", "17 us", "100.00%", "17 us", "0 ns", "205"]], "one name for all")


def check_surroundings(browser):
    """Check the page at a phone's width, in dark mode, and the names for screen readers."""
    light = browser.value("getComputedStyle(document.body).backgroundColor")
    browser.dark(True)
    browser.wait("getComputedStyle(document.body).backgroundColor !=="
                 f" {json.dumps(light)} && PAGE.theme.text !== '#222'")
    browser.dark(False)
    browser.resize(390, 800, mobile=True)
    browser.wait("innerWidth === 390 &&"
                 " document.querySelector('canvas').getBoundingClientRect().width < 390")
    expect(browser.value("document.documentElement.scrollWidth <= innerWidth"), True,
           "fits the width of a telephone")
    expect(browser.value("Array.from(document.querySelectorAll('canvas, input, button'))"
                         ".filter(function (e) { return !e.getAttribute('aria-label') &&"
                         " !e.textContent; }).length"), 0, "elements without a name")
    expect(browser.value("document.querySelectorAll('th[aria-sort=descending]').length > 0"),
           True, "a sorted column is marked")


def check_samples(browser, path):
    """main calls fib three times, with two samples in each call; one sample is elsewhere."""
    browser.open(path)
    browser.wait("document.body.dataset.ready === 'yes'")
    rows = browser.value("Array.from(document.querySelectorAll('#functions tr')).map("
                         "function (r) { return r.innerText.split('\\t'); })")
    expect(rows[0][:3], ["calls", "samples", "total"], "headings")
    expect(sorted(row[:2] for row in rows[1:]), [["0", "1"], ["1", "0"], ["3", "6"]],
           "calls and samples")
    browser.value("PAGE.find('fib')")
    expect(text(browser, "#found").split(", itself")[0],
           "found 1 function, 3 calls, 6 samples", "search")


def check_records(browser, path):
    """The pointer shows the counts since the previous record, if they are known."""
    page = page_calls.load(path)
    browser.open(path)
    browser.wait("document.body.dataset.ready === 'yes'")
    left, top, width, _ = place(browser, "canvas", CALLS)
    shown = []
    for point in page["points"]:
        browser.move(left + width / 2, top + 4)
        browser.wait("document.querySelector('#tip').textContent === ''")
        at = width * point["begin"] / (page["last"] - page["first"])
        browser.move(left + min(at, width - 1),
                      top + LABEL + ROW * point["depth"] + ROW / 2)
        if point["counts"][0] is not None:
            browser.wait("/cycles/.test(document.querySelector('#tip').textContent)")
        shown.append(text(browser, "#tip"))
    expect([re.sub("at .*", "at", tip) for tip in shown],
           ["enter main\nrecord at", "manual plain+0x4\nrecord at\ncycles: +50",
            "exit main\nrecord at\ncycles: +7"], "records")
    expect([(plot["counter"], round(sum(plot["count"]))) for plot in page["plots"]],
           [("cycles between records", 57)], "plots")


def check_flame(browser, path):
    browser.open(path)
    widths = """Array.from(document.querySelectorAll('.b')).filter(
        function (g) { return g.style.display !== 'none'; }).map(
        function (g) { return [g.dataset.n,
            Math.round(g.querySelector('rect').getAttribute('width'))]; })"""
    expect(browser.value(widths), [["all", 1180], ["source 0", 1180],
                                   ["main", 1180], ["fib", 555]], "boxes")
    left, top, width, height = place(browser, ".b", 3)
    browser.click(left + width / 2, top + height / 2)
    expect(browser.value(widths)[3], ["fib", 1180], "zoom")
    expect(browser.value("document.getElementById('reset')"
                         ".getAttribute('visibility')"), "visible", "reset")
    left, top, width, height = place(browser, "#reset")
    browser.click(left + width / 2, top + height / 2)
    expect(browser.value(widths)[3], ["fib", 555], "reset")
    browser.answer = "^fib$"
    left, top, width, height = place(browser, "#search")
    browser.click(left + width / 2, top + height / 2)
    expect(text(browser, "#found"), "matched: 47.1%", "search")


def check_complaints(browser):
    """Check that the browser reports what a page prints or throws."""
    wanted = ["printed", "rejected", "thrown"]
    browser.value("""(function () {
        console.log("printed");
        Promise.reject(new Error("rejected"));
        setTimeout(function () { window.late = true; throw new Error("thrown"); }); }())""")
    browser.wait("window.late")
    found = json.dumps(browser.complaints())
    expect([said for said in wanted if said in found], wanted, "complaints found")


def selected(browser, path):
    """Select the whole trace, and return the table of its functions."""
    browser.open(path)
    browser.wait("document.body.dataset.ready === 'yes'")
    browser.key("s")
    browser.wait("(document.querySelector('#selection') || { dataset: {} }).dataset.ready")
    return browser.value("Array.from(document.querySelectorAll('#range tbody tr')).map("
                         "function (r) { return r.innerText.split('\\t'); })")


def check_many(browser, path):
    """Redrawing a view reloads no chunks, even if the view has more than the page usually keeps."""
    page = pathlib.Path(path).read_text()
    chunk = re.search(r'<script type="text/plain" class="calls">[^<]*</script>\n', page).group()
    entry = re.search(r'id="chunks">\[(\[.*?\]\])', page, re.S).group(1)
    page = page.replace(chunk, chunk * 901, 1)
    page = page.replace(entry, ",".join([entry] * 901), 1)
    many = pathlib.Path(path + ".many.html")
    many.write_text(page)
    browser.open(many)
    browser.wait("document.body.dataset.ready === 'yes'")
    browser.value("""PAGE.draw(); PAGE.settled().then(function () {
        var load = CALLS.load;
        window.loads = 0;
        CALLS.load = function (chunk) { window.loads++; return load(chunk); };
        PAGE.draw();
        window.drawn = true; });""")
    browser.wait("window.drawn")
    expect(browser.value("window.loads"), 0, "chunks to load again")


def varint(number):
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes(parts) + bytes([number])


def large_page(path, chunks):
    """Write a page like the file's, with chunks of 2048 calls by main, and return its path.

    Calls of 2 ticks are 4 ticks apart, so a view of all chunks has far more of them than pixels.
    Each chunk has sums of its one function.
    """
    page = pathlib.Path(path).read_text()
    calls, spacing = 2048, 4
    columns = [[0] + [spacing] * (calls - 1), [2] * calls, [0] * calls, [0] * calls,
               [0] * calls, [0] * calls, [4] * calls, [0] * calls]
    packed = zlib.compress(b"".join(map(varint, sum(columns, []))))
    chunk = ('<script type="text/plain" class="calls">' + base64.b64encode(packed).decode() +
             "</script>\n")
    sums = b"".join(map(varint, [0, calls, 0, 2 * calls, 2 * calls, 0, 0]))
    block = ('<script type="text/plain" class="sums">' +
             base64.b64encode(zlib.compress(sums)).decode() + "</script>\n")
    period = calls * spacing
    index = [[1, i * period, i * period + period - spacing + 2, calls, len(packed), 0, 0,
              [0, 0, 0, calls], 1, 0, 0] for i in range(chunks)]
    page = re.sub(r'<script type="text/plain" class="(calls|sums)">[^<]*</script>\n', "", page)
    page = re.sub(r'(id="chunks">).*?(</script>)',
                  lambda found: found.group(1) + json.dumps(index) + found.group(2), page, 1, re.S)
    page = page.replace("</body>", block + chunk * chunks + "</body>")
    made = pathlib.Path(f"{path}.{chunks}.html")
    made.write_text(page)
    return made


# Open a page, and return the number of chunks that the page loads.
def open_counted(browser, path):
    page = pathlib.Path(path)
    page.write_text(page.read_text().replace("PAGE.start();", """
        window.loaded = new Set();
        (function () {
            var load = CALLS.load;
            CALLS.load = function (chunk) { window.loaded.add(chunk); return load(chunk); };
        }());
        PAGE.start();"""))
    browser.open(page)
    browser.wait("document.body.dataset.ready === 'yes'")
    return browser.value("window.loaded.size")


# Draw the whole trace, and then smaller and smaller parts. Return the maximum number of boxes in a
# drawing, and the minimum time in ms to draw the whole trace five times. Each of the many
# measurements is so short that some are not interrupted even on a busy machine.
DRAWINGS = """(function () {
    var to = CanvasRenderingContext2D.prototype, fill = to.fillRect, drawn = 0, most = 0;
    var whole = PAGE.times.view(), best = Infinity, part, start, i;
    to.fillRect = function () { drawn++; fill.apply(this, arguments); };
    for (part = 1; part < 1e5; part *= 4) {
        PAGE.times.show(0, whole[1] / part);
        drawn = 0;
        PAGE.draw();
        most = Math.max(most, drawn);
    }
    to.fillRect = fill;
    PAGE.times.show(whole[0], whole[1]);
    for (i = 0; i < 100; i++) {
        start = performance.now();
        for (part = 0; part < 5; part++)
            PAGE.draw();
        best = Math.min(best, performance.now() - start);
    }
    return [most, best]; }())"""


def check_large(browser, path):
    """The work to open, draw and select does not grow with the number of calls."""
    boxes, times = [], []
    for chunks in 20, 2000:
        opened = open_counted(browser, large_page(path, chunks))
        if opened > 8:
            raise AssertionError(f"opening a page of {chunks} chunks reads {opened} of them")
        most, time = browser.value(DRAWINGS)
        boxes.append(most)
        times.append(time)
        browser.value("PAGE.settled().then(function () { window.loaded.clear(); })")
        browser.wait("window.loaded.size === 0")
        browser.value("document.querySelector('#home').click()")
        browser.key("s")
        browser.wait("(document.querySelector('#selection') || { dataset: {} }).dataset.ready")
        expect(browser.value("window.loaded.size"), 0, "chunks read to select everything")
        expect(browser.value("document.querySelector('#range td').textContent"),
               str(2048 * chunks), "calls selected")
    width = browser.value("document.querySelector('canvas').clientWidth")
    if max(boxes) > 8 * width:
        raise AssertionError(f"{max(boxes)} boxes drawn in {width} pixels")
    if times[1] > 3 * max(times[0], 1.25):
        raise AssertionError(f"drawing takes {times[1]} ms instead of {times[0]} ms, because"
                             " there are 100 times the calls")


def check_places(browser, path):
    """Missing parts are drawn in their place: after 17 us of trace, 3 us are missing."""
    page = pathlib.Path(path).read_text()
    for was, becomes in (
            (r'"coverage":\{"part":"\w+","trace_seconds":[0-9.]+',
             '"coverage":{"part":"first","trace_seconds":0.000017,"run_seconds":0.000020'),
            (r'"losses":\[\]', '"losses":[[0,4]]'),
            (r'"states":\[[^]]*\]', '"states":["runs","sleeps"]'),
            (r'"spans":\[\]', '"spans":[[0,0,0,6],[0,1,6,4]]')):
        page, count = re.subn(was, becomes, page, 1)
        expect(count, 1, f"{was} in the page")
    made = pathlib.Path(path + ".places.html")
    made.write_text(page)
    browser.open(made)
    browser.wait("document.body.dataset.ready === 'yes'")
    # A function that returns the times at the left and right edges of a colour's area.
    where = f"""(function (name, part) {{
        var c = document.querySelectorAll("canvas")[{CALLS}], view = PAGE.times.view(), i, xs = [];
        var probe = document.createElement("canvas").getContext("2d"), wanted, d;
        probe.fillStyle = PAGE.theme[name];
        probe.fillRect(0, 0, 1, 1);
        wanted = probe.getImageData(0, 0, 1, 1).data;
        d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        for (i = 0; i < d.length; i += 4)
            if (d[i] === wanted[0] && d[i + 1] === wanted[1] && d[i + 2] === wanted[2])
                xs.push(i / 4 % c.width);
        return [Math.min.apply(null, xs), Math.max.apply(null, xs)].map(function (x) {{
            return Math.round((view[0] + x / c.width * (view[1] - view[0])) * 10) / 10;
        }}); }})"""
    for name, wanted in (("loss", [4, 4]), ("runs", [0, 6]), ("sleeps", [6, 10]),
                         ("uncovered", [17, 17.7])):
        found = browser.value(f"{where}('{name}')")
        if any(abs(at - right) > 0.1 for at, right in zip(found, wanted)):
            raise AssertionError(f"{name}: drawn from {found[0]} to {found[1]} us,"
                                 f" expected {wanted}")
    for _ in range(3):
        browser.key("-")
    expect(text(browser, "#status"), "0 ns to 20 us of 17 us", "all of the run")


def check_keys(browser, path):
    """The keyboard zooms, moves and searches; a click on a heading sorts; scrolling adds rows."""
    page = pathlib.Path(path).read_text()
    page = re.sub(r'("functions":\[)', r"\1" + "".join(f'"f{i:03}",' for i in range(450)), page, 1)
    nodes = "".join(f",[0,{i},1,0,{i + 1}]" for i in range(450))
    start = page.index('"tree":[')
    end = page.index("],\n", start)
    page = page[:start] + '"tree":[[0,-1,0,0,0]' + nodes + "]" + page[end + 1:]
    page = re.sub(r'"counts":\[.*?\]\],\n', '"counts":[],\n', page, 1, re.S)
    page = re.sub(r'"counters":\[.*?\]', '"counters":[]', page, 1)
    made = pathlib.Path(path + ".keys.html")
    made.write_text(page)
    browser.open(made)
    browser.wait("document.body.dataset.ready === 'yes'")
    browser.key("+")
    expect(text(browser, "#status"), "1.96154 us to 15.0385 us of 17 us", "+ zooms")
    browser.key("ArrowRight")
    expect(text(browser, "#status"), "3.26923 us to 16.3462 us of 17 us", "an arrow moves")
    browser.key("ArrowLeft")
    expect(text(browser, "#status"), "1.96154 us to 15.0385 us of 17 us", "an arrow moves back")
    first = "document.querySelector('#functions tbody tr td:last-child').textContent"
    expect(browser.value(first), "f449", "first by time")
    left, top, width, height = place(browser, "#functions th:last-child button")
    browser.click(left + width / 2, top + height / 2)
    expect(browser.value(first), "f000", "first by name")
    expect(browser.value("document.querySelectorAll('#functions tbody tr').length"), 200, "rows")
    browser.value("scrollTo(0, document.body.scrollHeight)")
    browser.wait("document.querySelectorAll('#functions tbody tr').length > 200")
    left, top, width, height = place(browser, "#search")
    browser.click(left + width / 2, top + height / 2)
    browser.type("f001")
    browser.key("Enter")
    browser.wait("document.querySelector('#found').textContent === 'no later call'")


# Check the table of functions and all drawn text: threads' names above their calls, and functions'
# names in boxes.
def shown(browser, path):
    browser.open(path)
    browser.wait("document.body.dataset.ready === 'yes'")
    browser.value("""(function () {
        var to = CanvasRenderingContext2D.prototype, draw = to.fillText;
        window.drawn = [];
        to.fillText = function (text) {
            window.drawn.push(text);
            draw.apply(this, arguments); }; }())""")
    # Resizing the window redraws the whole page.
    browser.value("dispatchEvent(new Event('resize'))")
    return {"table": browser.value(
                "Array.from(document.querySelectorAll('#functions tbody tr'))"
                ".map(function (r) { return r.innerText.split('\\t'); })"),
            "drawn": browser.value("window.drawn")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--browser", choices=BROWSERS, default="chromium")
    parser.add_argument("--picture")
    parser.add_argument("--shown", action="store_true")
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("--records", action="store_true")
    parser.add_argument("--selected", action="store_true")
    parser.add_argument("--size", default="1200x800")
    parser.add_argument("--script", help="run in the page before the picture")
    parser.add_argument("file", nargs="+")
    arguments = parser.parse_args()
    browser = BROWSERS[arguments.browser](*map(int, arguments.size.split("x")))
    try:
        if arguments.picture:
            browser.open(arguments.file[0])
            if arguments.script:
                browser.value(arguments.script)
            browser.picture(arguments.picture)
        elif arguments.shown:
            for path in arguments.file:
                print(json.dumps(shown(browser, path)))
        elif arguments.selected:
            print(json.dumps(selected(browser, arguments.file[0])))
        elif arguments.samples:
            check_samples(browser, arguments.file[0])
        elif arguments.records:
            check_records(browser, arguments.file[0])
        else:
            check_page(browser, arguments.file[0])
            check_many(browser, arguments.file[0])
            check_large(browser, arguments.file[0])
            check_places(browser, arguments.file[0])
            check_keys(browser, arguments.file[0])
            check_flame(browser, arguments.file[1])
        expect(browser.complaints(), [], "errors on the console")
        check_complaints(browser)
    except (AssertionError, EOFError, RuntimeError, TimeoutError) as error:
        sys.exit(f"browser.py: {error}")
    finally:
        browser.close()


main()

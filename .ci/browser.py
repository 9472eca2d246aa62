"""Uses the page of a report in headless Chromium, driven by chromedriver over the WebDriver protocol (W3C).

browser.py PAGE.html PICTURES REPORT.json: fails with what is wrong. Standard library only.
browser.py --hostile REPORT.json OUT.json: the report with tags and quotes in its strings and enormous numbers.
browser.py --gallery PAGE.html PICTURES: the same for a page of several machines, made with --other.
browser.py --other REPORT.json OUT.json: the report as that of a faster machine with tags in its core design.
browser.py --large REPORT.json OUT.json POINTS: the report with POINTS points.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import base64


class Browser:
    """One window; ends with the program."""

    def __init__(self, downloads):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.rsplit("port", 1)[1].strip(" .\n")
                break
        self.base = f"http://127.0.0.1:{port}"
        options = {
            "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"],
            "prefs": {"download.default_directory": downloads},
        }
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}}
        session = self.call("POST", "/session", wanted)
        self.session = "/session/" + session["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read().decode()[:600]}") from error

    def post(self, path, **body):
        return self.call("POST", self.session + path, body)

    def run(self, script):
        """The value of a JavaScript expression in the page."""
        return self.post("/execute/sync", script="return (" + script + ");", args=[])

    def until(self, script, what):
        """Waits until an expression is true."""
        for _ in range(200):
            if self.run(script):
                return
            time.sleep(0.05)
        raise AssertionError(f"{what}: never true: {script}")

    def size(self, width, height):
        self.post("/goog/cdp/execute", cmd="Emulation.setDeviceMetricsOverride",
                  params={"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700})

    def picture(self, path):
        """Saves a picture of the visible part of the page."""
        shot = self.post("/goog/cdp/execute", cmd="Page.captureScreenshot", params={"captureBeyondViewport": False})
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        log = self.post("/se/log", type="browser")
        return [entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")]

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.driver.terminate()


def check(condition, what):
    if not condition:
        raise AssertionError(what)


FIRST = "document.querySelectorAll('figure.drawn')[{}]"


def keys(browser, *pressed):
    """Presses keys one after the other."""
    actions = [{"type": kind, "value": key} for key in pressed for kind in ("keyDown", "keyUp")]
    browser.post("/actions", actions=[{"type": "key", "id": "keys", "actions": actions}])


def mouse(browser, *steps):
    """Moves to places, presses and lets go of the button, in this order."""
    kinds = {"down": {"type": "pointerDown", "button": 0}, "up": {"type": "pointerUp", "button": 0}}
    actions = [kinds[s] if isinstance(s, str) else {"type": "pointerMove", "x": int(s[0]), "y": int(s[1]), "duration": 50} for s in steps]
    browser.post("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}])


def view(browser, figure):
    """The visible part of a chart: ends of its horizontal axis, then of its vertical axis."""
    return json.loads(browser.run(f"{figure}.querySelector('.chart').dataset.view"))


def frame(browser, figure):
    """Where the plot of a chart lies in the window: left, top, width, height."""
    return browser.run(f"""(() => {{
        {figure}.querySelector('.chart').scrollIntoView({{block: 'center', behavior: 'instant'}});
        const box = {figure}.querySelector('.frame').getBoundingClientRect();
        return [box.x, box.y, box.width, box.height];
    }})()""")


def hover(browser, figure, picture):
    """The keyboard tells a point; under the mouse the same point tells the same."""
    chart = f"{figure}.querySelector('.chart')"
    frame(browser, figure)
    browser.run(f"({chart}.focus(), document.activeElement === {chart})")
    keys(browser, "\ue014", "\ue014")
    told = browser.run(f"{figure}.querySelector('.told').textContent")
    check(told, "arrow keys tell nothing")
    seen = browser.run(f"""(() => {{
        const ring = {figure}.querySelector('svg > g:last-of-type > .ring:last-of-type');
        const box = ring.getBoundingClientRect();
        return ring.getAttribute('visibility') === 'visible' ? [box.x + box.width / 2, box.y + box.height / 2] : null;
    }})()""")
    keys(browser, "\ue00c")
    check(browser.run(f"{figure}.querySelector('.tip').hidden"), "Escape leaves the words of a point")
    if seen is None:
        return
    mouse(browser, (5, 5), (seen[0] - 2, seen[1] + 2))
    browser.until(f"!{figure}.querySelector('.tip').hidden", "a point under the mouse tells its numbers")
    words = browser.run(f"{figure}.querySelector('.tip').textContent")
    plain = lambda text: "".join(c for c in text if c.isalnum())
    # If several points lie on the same pixel, the text is about one of them.
    check(plain(words) == plain(told) or "samples" in words, f"the hover text: {words} for {told}")
    box = browser.run(f"""(() => {{
        const [tip, chart] = ['.tip', '.chart'].map((one) => {figure}.querySelector(one).getBoundingClientRect());
        return tip.left >= chart.left - 1 && tip.right <= chart.right + 1;
    }})()""")
    check(box, "the words of a point stick out of the chart")
    browser.picture(picture)
    mouse(browser, (5, 5))


def zoom(browser, figure, picture):
    """Dragging enlarges a part, a double click shows all; so do keys, and Ctrl with the wheel."""
    left, top, width, height = frame(browser, figure)
    before = view(browser, figure)
    ticks = f"[...{figure}.querySelectorAll('.tick')].map(t => t.textContent).join()"
    labels = browser.run(ticks)
    at = lambda x, y: (left + x * width, top + y * height)
    inside = lambda a, b: min(b[:2]) - 1e-9 <= min(a[:2]) and max(a[:2]) <= max(b[:2]) + 1e-9 and min(b[2:]) - 1e-9 <= min(a[2:]) and max(a[2:]) <= max(b[2:]) + 1e-9
    mouse(browser, at(0.3, 0.3), "down", at(0.5, 0.5), at(0.7, 0.7), "up")
    after = view(browser, figure)
    check(after != before and inside(after, before), f"dragging enlarges nothing: {before} {after}")
    share = (after[1] - after[0]) / (before[1] - before[0])
    check(0.37 < share < 0.43, f"a part of 0.4 became one of {share}")
    check(browser.run(ticks) != labels, "the numbers on the axes stay as they were")
    browser.picture(picture)
    mouse(browser, at(0.5, 0.5), "down", "up", "down", "up")
    check(view(browser, figure) == before, "a double click does not show all")
    browser.run(f"{figure}.querySelector('.chart').focus()")
    keys(browser, "+", "+")
    check(inside(view(browser, figure), before) and view(browser, figure) != before, "plus enlarges nothing")
    keys(browser, "0")
    check(view(browser, figure) == before, "0 does not show all")
    x, y = at(0.5, 0.5)
    browser.post("/actions", actions=[
        {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": "\ue009"}, {"type": "pause"}, {"type": "keyUp", "value": "\ue009"}]},
        {"type": "wheel", "id": "wheel", "actions": [{"type": "pause"}, {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": -120}, {"type": "pause"}]}])
    browser.until(f"!{figure}.querySelector('.tools button:last-child').disabled", "Ctrl and the wheel enlarge")
    check(inside(view(browser, figure), before), "Ctrl and the wheel show another part")
    browser.run(f"{figure}.querySelector('.tools button:last-child').click()")
    check(view(browser, figure) == before, "the button All does not show all")


def switches(browser, figure):
    """A name below a chart takes its series away and gives it back; a double click leaves one alone."""
    drawn = f"{figure}.querySelectorAll('.interval').length"
    all_series = browser.run(drawn)
    box = f"{figure}.querySelector('.series input')"
    browser.run(f"{box}.click()")
    check(browser.run(drawn) == all_series - 1, "a series that is switched off is drawn")
    browser.run(f"{box}.click()")
    check(browser.run(drawn) == all_series, "a series that is switched on is not drawn")
    browser.run(f"{figure}.querySelector('.series label').dispatchEvent(new MouseEvent('dblclick', {{bubbles: true}}))")
    check(browser.run(drawn) == 1, "a double click leaves more than one series")
    browser.run(f"{figure}.querySelector('.series label').dispatchEvent(new MouseEvent('dblclick', {{bubbles: true}}))")
    check(browser.run(drawn) == all_series, "a second double click does not bring all series back")
    samples = f"[...{figure}.querySelectorAll('.series svg')].map(s => s.innerHTML)"
    looks = browser.run(samples)
    # Marks and dashes distinguish at most 64 series.
    check(len(set(looks)) == len(looks) or len(looks) > 64, "two series look alike")


def use(browser, page, pictures, report, downloads):
    browser.size(1300, 1000)
    started = time.monotonic()
    browser.post("/url", url=page.resolve().as_uri())
    browser.until("document.documentElement.dataset.ready === 'yes'", "the charts are drawn")
    opened = time.monotonic() - started
    charts = browser.run("document.querySelectorAll('figure.drawn .chart').length")
    check(charts > 0, "no chart on the page")
    empty = browser.run("[...document.querySelectorAll('figure.drawn')].filter(f => !f.querySelector('.interval, .cells')).length")
    check(empty == 0, f"{empty} charts are empty")
    browser.picture(pictures / (page.stem + "-wide.png"))
    browser.run("document.getElementById('charts-part').scrollIntoView()")
    browser.picture(pictures / (page.stem + "-wide-charts.png"))

    # One chart of each kind: series over numbers, series over names, heat maps.
    kinds = browser.run("""(() => {
        const data = JSON.parse(document.getElementById('charts').textContent).charts, found = {};
        data.forEach((c, i) => { found[c.heat ? 'map' : c.lines.x.names ? 'names' : 'lines'] ??= i; });
        return found;
    })()""")
    for kind, number in kinds.items():
        figure = FIRST.format(number)
        hover(browser, figure, pictures / f"{page.stem}-{kind}-hover.png")
        zoom(browser, figure, pictures / f"{page.stem}-{kind}-zoom.png")
    several = browser.run("[...document.querySelectorAll('figure.drawn')].findIndex(f => f.querySelectorAll('.series input').length > 1)")
    if several >= 0:
        switches(browser, FIRST.format(several))

    # The charts do not draw a report that is not picked.
    if browser.run("document.querySelectorAll('.machine').length") > 1:
        drawn = "document.querySelectorAll('.interval, figure:not([hidden]) .cells').length"
        before = browser.run(drawn)
        browser.run("document.querySelectorAll('.machine')[1].click()")
        check(browser.run(drawn) < before, "a report that is not picked is drawn")
        browser.run("document.querySelectorAll('.machine')[1].click()")
        check(browser.run(drawn) == before, "a report that is picked again is not drawn")

    browser.run("document.querySelector('.download').click()")
    saved = pathlib.Path(downloads) / "memgauge-report-0.json"
    for _ in range(600):
        if saved.exists() and saved.stat().st_size >= report.stat().st_size:
            break
        time.sleep(0.1)
    check(saved.exists(), "the button downloads nothing")
    check(saved.read_bytes() == report.read_bytes(), "the downloaded report is not the report")

    # Printing must leave the page as it was before.
    printed = browser.post("/print", background=True, shrinkToFit=True)
    (pictures / (page.stem + ".pdf")).write_bytes(base64.b64decode(printed))
    check(printed.startswith("JVBERi0"), "the page cannot be printed")
    wide = "document.querySelector('figure.drawn .chart').clientWidth"
    browser.until(f"Math.abs(document.querySelector('figure.drawn .chart svg').viewBox.baseVal.width - {wide}) < 5", "charts are as wide as before")

    # With the other colours, then on a screen as narrow as a phone's, nothing may be wider than the page.
    browser.run("document.getElementById('theme').click()")
    browser.run("document.getElementById('charts-part').scrollIntoView()")
    browser.picture(pictures / (page.stem + "-other-theme.png"))
    browser.size(390, 844)
    browser.post("/refresh")
    browser.until("document.documentElement.dataset.ready === 'yes'", "the charts are drawn on a phone")
    check(browser.run("document.documentElement.scrollWidth <= window.innerWidth + 1"), "the page is wider than a phone")
    browser.picture(pictures / (page.stem + "-narrow.png"))
    browser.run("document.querySelector('figure.drawn').scrollIntoView()")
    browser.picture(pictures / (page.stem + "-narrow-charts.png"))
    complaints = browser.complaints()
    check(not complaints, "the console has complaints: " + "; ".join(complaints)[:2000])
    check(not browser.run("'owned' in window"), "something of a report was executed")
    return charts, opened


EVIL = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1>\"'`<!--"


def hostile(value, key=""):
    """A report with tags and quotes in every string that a program did not choose."""
    if isinstance(value, dict):
        return {k: hostile(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [hostile(v, key) for v in value]
    free = ("level", "kernel", "pages", "text", "advice", "source", "name", "experiment", "value", "command_line", "seed", "relation")
    return value + EVIL if isinstance(value, str) and key in free else value


def enormous(report):
    """Numbers that no machine reaches at some of the points."""
    for i, point in enumerate(p for d in report["datasets"] for p in d["points"]):
        if point["outcome"]["status"] == "measured" and i % 5 == 0:
            point["outcome"]["summary"].update(median=1.7e308 if i % 10 else 5e-324, ci_low=0.0, ci_high=1.7e308)
            point["coordinates"]["size_bytes"] = 2**64 - 1
    return report


def large(report, points):
    """The largest dataset until it has so many points, at sizes of their own, without their samples."""
    measured = lambda dataset: [p for p in dataset["points"] if p["outcome"]["status"] == "measured"]
    dataset = max(report["datasets"], key=lambda d: len(measured(d)))
    own = measured(dataset)
    for p in own:
        p["outcome"].update(samples=[], choice=None)
    report["datasets"] = [dict(dataset, auxiliary=False, points=[
        dict(own[i % len(own)], id=i, coordinates=dict(own[i % len(own)]["coordinates"], size_bytes=4096 + 512 * (i // len(own))))
        for i in range(points)])]
    return report


def other(report):
    """The report of another machine: twice as fast, of a hostile core design, and without a latency of its last level."""
    report["provenance"]["host"]["system"]["hostname"]["value"] = "other"
    report["provenance"]["host"]["cpu"]["microarchitecture"]["value"] = EVIL
    for dataset in report["datasets"]:
        better = dataset["quantity"]["higher_is_better"]
        for point in dataset["points"]:
            for figure in ("median", "ci_low", "ci_high"):
                if "summary" in point["outcome"]:
                    point["outcome"]["summary"][figure] *= 2 if better else 0.5
            if dataset["experiment"] == "latency" and point["coordinates"].get("level") == "DRAM":
                point["outcome"] = {"status": "skipped", "reason": "no time" + EVIL}
    return report


def gallery(browser, page, pictures):
    """Sorts and filters a table of machines."""
    browser.size(1300, 1000)
    browser.post("/url", url=page.resolve().as_uri())
    names = "[...document.querySelectorAll('#gallery tbody tr:not([hidden]) th')].map(t => t.textContent).join()"
    charts = "[...document.querySelectorAll('.machines figure:not([hidden]) figcaption')].map(t => t.textContent).join()"
    first = browser.run(names).split(",")
    check(len(first) > 1, "the gallery has less than two machines")
    browser.picture(pictures / "gallery.png")
    heads = browser.run("document.querySelectorAll('th[data-column]').length")
    check(heads == browser.run("document.querySelector('#gallery tbody tr').cells.length"), "columns without a heading")
    for number in range(heads):
        head = f"document.querySelector('th[data-column=\"{number}\"]')"
        for _ in range(2):
            browser.run(f"{head}.querySelector('button').click()")
            way = browser.run(f"{head}.getAttribute('aria-sort')")
            values = browser.run(f"[...document.querySelectorAll('#gallery tbody tr')].map(r => r.cells[{number}].dataset.sort)")
            given = [v for v in values if v != ""]
            check(values[:len(given)] == given, f"column {number}: a machine without a value is not the last: {values}")
            if browser.run(f"{head}.dataset.kind") == "number":
                given = [float(v) for v in given]
                check(given == sorted(given, reverse=way == "descending"), f"column {number}, {way}: {given}")
    check(browser.run("document.querySelectorAll('[aria-sort]').length") == 1, "several columns are sorted")
    order = browser.run(names)
    check(browser.run(charts).startswith(order), "charts are in another order than machines")
    blank = browser.run("[...document.querySelectorAll('#gallery td:empty')].filter(t => !t.title).length")
    check(blank == 0, f"{blank} blank cells without a reason")
    choice = "document.querySelector('#filter select')"
    browser.run(f"({choice}.selectedIndex = 1, {choice}.dispatchEvent(new Event('change')))")
    check(len(browser.run(names).split(",")) < len(first), "the filter hides no machine")
    check(browser.run("document.getElementById('shown').textContent").startswith("1 of"), "the number of machines is wrong")
    browser.run(f"({choice}.selectedIndex = 0, {choice}.dispatchEvent(new Event('change')))")
    check(browser.run(names) == order, "the filter does not show all again")
    browser.run("document.querySelector('#gallery tbody a').click()")
    browser.until("document.querySelectorAll('details[open] > section').length === 1", "a link opens the machine")
    printed = browser.post("/print", background=True, shrinkToFit=True)
    (pictures / "gallery.pdf").write_bytes(base64.b64decode(printed))
    browser.size(390, 844)
    check(browser.run("document.documentElement.scrollWidth <= window.innerWidth + 1"), "the gallery is wider than a phone")
    complaints = browser.complaints()
    check(not complaints, "the console has complaints: " + "; ".join(complaints)[:2000])
    check(not browser.run("'owned' in window"), "something of a report was executed")
    print(f"{page.name}: {len(first)} machines, {page.stat().st_size / 1e3:.0f} kB")


def main():
    if sys.argv[1] == "--other":
        report = other(json.loads(pathlib.Path(sys.argv[2]).read_text()))
        pathlib.Path(sys.argv[3]).write_text(json.dumps(report, separators=(",", ":")))
        return
    if sys.argv[1] == "--gallery":
        with tempfile.TemporaryDirectory() as downloads:
            browser = Browser(downloads)
            try:
                gallery(browser, *map(pathlib.Path, sys.argv[2:4]))
            finally:
                browser.close()
        return
    if sys.argv[1] in ("--hostile", "--large"):
        report = json.loads(pathlib.Path(sys.argv[2]).read_text())
        changed = enormous(hostile(report)) if sys.argv[1] == "--hostile" else large(report, int(sys.argv[4]))
        pathlib.Path(sys.argv[3]).write_text(json.dumps(changed, separators=(",", ":")))
        return
    page, pictures, report = map(pathlib.Path, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as downloads:
        browser = Browser(downloads)
        try:
            charts, opened = use(browser, page, pictures, report, downloads)
        finally:
            browser.close()
    size = page.stat().st_size / 1e3
    check(size < 400 or page.stem != "one", f"the page of a small report has {size:.0f} kB, 400 are allowed")
    print(f"{page.name}: {charts} charts, {size:.0f} kB, open in {opened:.2f} s")


if __name__ == "__main__":
    main()

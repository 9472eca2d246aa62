"""Uses the page of a report in headless Chromium, driven by chromedriver over the WebDriver protocol (W3C).

browser.py PAGE.html PICTURES REPORT.json: fails with what is wrong. Standard library only.
browser.py --hostile REPORT.json OUT.json: the report with tags and quotes in its strings and enormous numbers.
browser.py --large REPORT.json OUT.json POINTS: the report with so many points.
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
        """The whole page, as far as it is reasonable."""
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


def use(browser, page, pictures, report, downloads):
    browser.size(1300, 1000)
    started = time.monotonic()
    browser.post("/url", url=page.resolve().as_uri())
    browser.until("document.documentElement.dataset.ready === 'yes'", "the charts are drawn")
    opened = time.monotonic() - started
    charts = browser.run("document.querySelectorAll('figure.drawn .chart').length")
    check(charts > 0, "no chart on the page")
    check(browser.run("[...document.querySelectorAll('figure.drawn .chart')].every(c => c.querySelector('.main-svg') && c.data.length > 0)"),
          "a chart is empty")
    browser.picture(pictures / (page.stem + "-wide.png"))
    browser.run("document.getElementById('charts-part').scrollIntoView()")
    time.sleep(0.5)
    browser.picture(pictures / (page.stem + "-wide-charts.png"))

    # Hover over a point of the first chart: what is shown is what the data says.
    place = browser.run("""(() => {
        const chart = document.querySelector('figure.drawn .chart');
        chart.scrollIntoView({block: 'center'});
        const point = chart.querySelector('.points path, .hm image').getBoundingClientRect();
        return [point.x + point.width / 2, point.y + point.height / 2];
    })()""")
    for dx in (20, 0):
        move = {"type": "pointerMove", "x": int(place[0]) + dx, "y": int(place[1]), "duration": 50}
        browser.post("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": [move]}])
        time.sleep(0.3)
    browser.until("document.querySelector('figure.drawn .chart .hovertext') !== null", "a point under the mouse tells its value")
    check("samples" in browser.run("document.querySelector('figure.drawn .chart .hovertext').textContent"), "the hover text")
    browser.picture(pictures / (page.stem + "-hover.png"))

    # A switch under a chart takes its series away, and gives it back.
    switch = "document.querySelector('figure.drawn .series input')"
    if browser.run(f"{switch} !== null"):
        visible = "document.querySelector('figure.drawn .series input').closest('figure').querySelector('.chart').data[0].visible"
        browser.run(f"{switch}.click()")
        browser.until(f"{visible} === 'legendonly'", "a switched off series is hidden")
        browser.run(f"{switch}.click()")
        browser.until(f"{visible} !== 'legendonly'", "a switched on series is back")

    # The same by keys: the next point is told in words.
    chart = "document.querySelector('figure.drawn .chart')"
    browser.run(f"({chart}.focus(), document.activeElement === {chart})")
    told = "document.querySelector('figure.drawn .told').textContent"
    words = set()
    for key in ("\ue014", "\ue014", "\ue015"):
        browser.post("/actions", actions=[{"type": "key", "id": "keys", "actions": [
            {"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}])
        words.add(browser.run(told))
    check("" not in words and any(":" in word for word in words), f"arrow keys tell points: {words}")

    # A report that is not picked is not drawn.
    if browser.run("document.querySelectorAll('.machine').length") > 1:
        browser.run("document.querySelectorAll('.machine')[1].click()")
        browser.until("[...document.querySelectorAll('figure.drawn .chart')].every(c => c.data.every(t => t.meta !== 1 || t.visible === false))",
                      "a report that is not picked is hidden")
        browser.run("document.querySelectorAll('.machine')[1].click()")

    # Zoom, and what the button gives back.
    browser.run("Plotly.relayout(document.querySelector('figure.drawn .chart'), {'yaxis.range[0]': 1, 'yaxis.range[1]': 2}) && true")
    browser.run("document.querySelector('.download').click()")
    saved = pathlib.Path(downloads) / "memgauge-report-0.json"
    for _ in range(600):
        if saved.exists() and saved.stat().st_size >= report.stat().st_size:
            break
        time.sleep(0.1)
    check(saved.exists(), "the button downloads nothing")
    check(saved.read_bytes() == report.read_bytes(), "the downloaded report is not the report")

    # On paper: dark letters, however the screen looks.
    printed = browser.post("/print", background=True, shrinkToFit=True)
    (pictures / (page.stem + ".pdf")).write_bytes(base64.b64decode(printed))
    check(printed.startswith("JVBERi0"), "the page cannot be printed")
    wide = "document.querySelector('figure.drawn .chart').offsetWidth"
    browser.until(f"Math.abs(document.querySelector('figure.drawn .main-svg').clientWidth - {wide}) < 5", "charts are as wide as before")

    # The other colours, then a phone: nothing sticks out to the side.
    browser.run("document.getElementById('theme').click()")
    time.sleep(0.5)
    browser.picture(pictures / (page.stem + "-other-theme.png"))
    browser.size(390, 844)
    browser.post("/refresh")
    browser.until("document.documentElement.dataset.ready === 'yes'", "the charts are drawn on a phone")
    check(browser.run("document.documentElement.scrollWidth <= window.innerWidth + 1"), "the page is wider than a phone")
    browser.picture(pictures / (page.stem + "-narrow.png"))
    browser.run("document.querySelector('figure.drawn').scrollIntoView()")
    time.sleep(0.5)
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
    dataset = max(report["datasets"], key=lambda d: len(d["points"]))
    own = [p for p in dataset["points"] if p["outcome"]["status"] == "measured"]
    for p in own:
        p["outcome"].update(samples=[], choice=None)
    report["datasets"] = [dict(dataset, auxiliary=False, points=[
        dict(own[i % len(own)], id=i, coordinates=dict(own[i % len(own)]["coordinates"], size_bytes=4096 + 512 * (i // len(own))))
        for i in range(points)])]
    return report


def main():
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
    size = page.stat().st_size / 1e6
    check(size < 6 or page.stem != "one", f"the page has {size:.1f} MB, 6 are allowed")
    print(f"{page.name}: {charts} charts, {size:.1f} MB, open in {opened:.2f} s")


if __name__ == "__main__":
    main()

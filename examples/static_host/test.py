#!/usr/bin/python3
"""
The page as a person uses it, in headless Chromium: test.py FOLDER, which build.sh made.

A host serves byte ranges 50 ms late. What the page says it fetched is compared with what the host
sent, and its rows with what the sqlite3 module finds in the file. Screenshots go to FOLDER. Ends with
`N passed, N failed`.
"""
import os
import random
import sqlite3
import statistics
import sys
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_log
import serve

FOLDER = sys.argv[1]
LOG = sqlite3.connect(f"file:{FOLDER}/log.db?mode=ro", uri=True)
NUM = {"passed": 0, "failed": 0}


def check(title, condition, said=""):
    NUM["passed" if condition else "failed"] += 1
    if not condition:
        print(f"FAILED {title}: {said}")


def start_browser():
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--disable-sync"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


class Page:
    def __init__(self, browser, host):
        self.browser, self.host = browser, host

    def load(self, query=""):
        self.browser.get(f"{self.host.url}index.html{query}")
        self.wait(lambda: "Opening" not in self.text("state"))

    def wait(self, condition):
        WebDriverWait(self.browser, 600, 0.1).until(lambda _: condition())

    def find(self, identity):
        return self.browser.find_element(By.ID, identity)

    def text(self, identity):
        return self.find(identity).text

    def is_idle(self):
        return self.find("search").get_attribute("aria-busy") == "false"

    def fill(self, **fields):
        self.browser.execute_script("""
            for (const id of ["text", "trace", "from", "until"]) document.getElementById(id).value = arguments[0][id] ?? ""
            """, fields)

    def search(self, button="by-index", **fields):
        """The last row of the table of ways, as texts, and the rows that are shown."""
        self.fill(**fields)
        self.find(button).click()
        self.wait(self.is_idle)
        return self.browser.execute_script("""
            return [[...document.querySelector("#ways tbody tr").cells].map((cell) => cell.textContent),
                    [...document.querySelectorAll("#rows li")].map((item) => item.textContent)]""")


def number(text):
    return int(text.replace(",", ""))


def rows_of(condition, *parameters):
    return [f"{i}  {at}  {trace}  {message}" for i, at, trace, message in LOG.execute(
        f"SELECT id, datetime(ts, 'unixepoch'), trace_id, message FROM log WHERE {condition} ORDER BY id", parameters)]


def test_ways(page):
    """Each way finds the table's rows, and says what the host counted."""
    host = page.host
    id12 = page.find("pick-id").get_attribute("data-text")[-12:]
    trace = page.find("pick-trace").get_attribute("data-trace")
    minutes = {"from": "2026-10-01T12:00:00", "until": "2026-10-01T12:10:00"}
    start = 1_790_856_000
    cases = [
        ("by-index", {"text": id12}, ("message LIKE ?", f"%{id12}%"), 600),
        ("by-fts", {"text": id12}, ("message LIKE ?", f"%{id12}%"), 2000),
        ("by-index", {"trace": trace}, ("trace_id = ?", trace), 300),
        ("by-index", minutes, ("ts >= ? AND ts < ?", start, start + 600), 2000),
        ("by-index", {"text": "could not parse", **minutes}, ("message LIKE '%could not parse%' AND ts >= ? AND ts < ?", start, start + 600), 2000),
        ("by-scan", {"text": id12}, ("message LIKE ?", f"%{id12}%"), 10**6),
    ]
    for button, fields, (condition, *parameters), most in cases:
        requests, sent = host.requests, host.sent
        got, shown = page.search(button, **fields)
        wanted = rows_of(condition, *parameters)
        title = f"{button} {fields}"
        check(f"{title}: rows", shown == wanted[:20] and number(got[2]) == len(wanted) > 0, (got, len(wanted)))
        check(f"{title}: requests are those that the host saw", number(got[3]) == host.requests - requests, (got, host.requests - requests))
        check(f"{title}: kilobytes", (host.sent - sent) / os.path.getsize(f"{FOLDER}/log.db") < most / 1000 and host.sent > sent, host.sent - sent)
        print(f"note: {title}: {got[3]} requests, {got[4]}, {got[6]}", flush=True)
    got, _ = page.search("by-fts", trace=trace)
    check("FTS5 knows no trace ids", "FTS5" in page.text("error"), page.text("error"))
    page.search(text="")
    check("nothing to search for", "Write what to search for" in page.text("error"), page.text("error"))


def absent_needles():
    """80 needles of 8 characters that are in no row, each made of two halves that are in rows."""
    draw = random.Random(80)
    some = [row[3].lower() for row in make_log.rows(3000)]
    found = []
    while len(found) < 80:
        halves = [(message, draw.randrange(len(message) - 4)) for message in (draw.choice(some), draw.choice(some))]
        needle = "".join(message[at:at + 4] for message, at in halves)
        if not set(needle) & set("%_'") and needle == needle.strip() and needle not in found:
            found.append(needle)
    text = "\n".join(message for message, in LOG.execute("SELECT message FROM log")).lower()
    return [needle for needle in found if needle not in text]


def test_absent(page):
    """How many requests an absent needle takes, with a page of 4 KB each and no reading ahead."""
    needles = absent_needles()
    page.host.delay = 0 # which requests there are does not depend on it
    page.load("?unit=4096&ahead=1")
    for button, name in (("by-index", "bloom_index"), ("by-fts", "FTS5")):
        found = [(number(got[3]), number(got[2]), needle)
                 for needle in needles for got, _ in [page.search(button, text=needle)]]
        found.sort()
        requests = [count for count, _, _ in found]
        most_of_95 = requests[-(-len(requests) * 95 // 100) - 1]
        check(f"absent needles are in no row, {name}", not any(rows for _, rows, _ in found), found)
        if name == "bloom_index":
            check("half take 20 requests at most", statistics.median(requests) <= 20, requests)
            check("95 of 100 take 40 at most", most_of_95 <= 40, requests)
        print(f"note: {len(needles)} absent needles, 4 KB a request, {name}: median {statistics.median(requests):.0f}, "
              f"95 of 100 at most {most_of_95}, most {', '.join(f'{count} ({needle})' for count, _, needle in found[-4:])}", flush=True)


def test_units(page):
    """What a person waits for, by the unit of a request, beside what the page does by itself."""
    needles = absent_needles()[:16]
    page.host.delay = 0.05
    requests = {}
    for address in ("?unit=4096&ahead=1", "?unit=4096&ahead=512", "", "?unit=32768&ahead=64", "?unit=65536&ahead=32"):
        page.load(address)
        before = page.host.requests, page.host.sent
        times = []
        for needle in needles:
            began = time.monotonic()
            page.search(text=needle)
            times.append(time.monotonic() - began)
        requests[address] = (page.host.requests - before[0]) / len(needles)
        print(f"note: {address or 'as it is'}: {requests[address]:.0f} requests, "
              f"{(page.host.sent - before[1]) / len(needles) / 1000:.0f} KB, {statistics.median(times):.2f} s", flush=True)
    check("larger requests save a quarter of them", requests[""] < requests["?unit=4096&ahead=1"] * 3 / 4, requests)


def test_faults(page):
    """Each fault of a host or a network has a clear word, and the page goes on."""
    host = page.host
    host.has_ranges = False
    page.load()
    check("a host without ranges", "no range requests" in page.text("error"), page.text("error"))
    host.has_ranges = True
    page.load("?db=none.db")
    check("no such file", "404" in page.text("error"), page.text("error"))
    page.load("?db=index.html")
    check("no database", "no SQLite database" in page.text("error"), page.text("error"))
    for host.encoding in ("gzip", "compress"):  # Chromium refuses the first, and does not know the second
        page.load()
        check(f"a host that compresses by {host.encoding}", "HTTP compression" in page.text("error"), page.text("error"))
    host.encoding = None
    page.load()
    host.status = 503
    page.search(text="upstream")
    check("the host has an error", "the host says 503" in page.text("error").lower(), page.text("error"))
    host.status = 206
    host.fails = True
    page.search(text="upstream")
    check("the network fails", "network failed" in page.text("error"), page.text("error"))
    host.fails = False
    got, _ = page.search(text="job 0123")
    check("and comes back", page.text("error") == "" and number(got[3]) > 0, page.text("error"))
    host.version = "2"
    page.search(text="job 4567")
    check("the file changes", "has changed" in page.text("error"), page.text("error"))
    page.load()
    got, _ = page.search(text="job 4567")
    check("the new one is read", page.text("error") == "", page.text("error"))


def test_waiting(page):
    """What happens is said while it happens, and a search can be stopped."""
    page.load()
    page.host.delay = 0.2
    page.fill(text="not there at all")
    page.find("by-scan").click()
    page.wait(lambda: "so far" in page.text("progress"))
    first = page.text("progress")
    page.wait(lambda: page.text("progress") != first)
    check("progress is shown", "Searching by reading it all" in first, first)
    page.find("stop").click()
    page.host.delay = 0.05
    page.wait(page.is_idle)
    check("a stopped search leaves the page usable", number(page.search(trace="0")[0][2]) == 0)


def test_keyboard_and_sizes(page):
    for width, height in ((1280, 800), (360, 640)):
        page.browser.set_window_size(width, height)
        page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        page.load()
        top = page.browser.execute_script("return document.getElementById('by-index').getBoundingClientRect().bottom")
        check(f"the first screen of {width} x {height} has the button", top <= height, top)
        page.browser.save_screenshot(f"{FOLDER}/page-{width}.png")
        page.find("text").click()
        page.browser.switch_to.active_element.send_keys(page.find("pick-id").get_attribute("data-text"), Keys.ENTER)
        page.wait(lambda: page.is_idle() and "found by bloom_index" in page.text("progress"))
        wide = page.browser.execute_script("return document.documentElement.scrollWidth")
        check(f"nothing is wider than {width}", wide <= width, wide)
        shown = page.browser.execute_script("return document.getElementById('progress').getBoundingClientRect().bottom")
        check(f"what was found is in sight at {width}", 0 < shown <= height, shown)
        page.browser.save_screenshot(f"{FOLDER}/found-{width}.png")
        seen = []
        for _ in range(30):
            page.browser.switch_to.active_element.send_keys(Keys.TAB)
            seen.append(page.browser.switch_to.active_element.get_attribute("id"))
        check(f"the keyboard reaches all at {width}", {"trace", "by-index", "by-fts", "by-scan"} <= set(seen), seen)
    page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def main():
    host = serve.start(FOLDER)
    host.delay = 0.05
    browser = start_browser()
    try:
        page = Page(browser, host)
        page.load()
        state = page.text("state")
        check("the file is open", "SQLite 3." in state and "bloom" in state, state)
        check("to open it takes little", host.sent < 10**6, host.sent)
        print(f"note: {state}")
        for test in (test_ways, test_keyboard_and_sizes, test_faults, test_waiting, test_absent, test_units):
            test(page)
        host.delay = 0.05
        severe = [entry["message"] for entry in browser.get_log("browser")
                  if entry["level"] == "SEVERE" and "ERR_EMPTY_RESPONSE" not in entry["message"]
                  and "status of 404" not in entry["message"] and "status of 503" not in entry["message"]]
        check("the console has no errors", not severe, severe[:3])
    finally:
        browser.quit()
    print(f"{NUM['passed']} passed, {NUM['failed']} failed")
    sys.exit(NUM["failed"] > 0)


if __name__ == "__main__":
    main()

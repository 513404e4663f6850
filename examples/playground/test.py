"""What a user does with the page, in headless Chromium: python3 test.py FOLDER [TEST ...].

Types SQL, clicks, moves sliders, uses the keyboard alone, at phone and desktop width, and
reads what the page shows.  Bits are compared with those of the BLOBs that bloom_build gives
to the page's own console.  Screenshots go to FOLDER, the page's.  Ends with `N passed,
N failed`.
"""
import functools
import http.server
import json
import pathlib
import re
import sys
import threading
import time
import traceback

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

FOLDER = pathlib.Path(sys.argv[1]).resolve()
NUM_PASSED = NUM_FAILED = 0


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves the page's folder, as any file server would."""

    def log_message(self, *args):
        pass


def serve():
    handler = functools.partial(QuietHandler, directory=FOLDER)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


def start_browser():
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


class Page:
    """The page, and how a user's hands and eyes reach it."""

    def __init__(self, browser, url):
        self.browser, self.url = browser, url

    def load(self):
        self.browser.get(self.url)
        self.wait(lambda: "with bloom" in self.text("versions"))
        self.settle()

    def wait(self, condition):
        WebDriverWait(self.browser, 30, 0.05).until(lambda _: condition())

    def settle(self):
        """Until all that is to be measured was."""
        self.wait(lambda: not self.script("return document.getElementById('bits').hasAttribute('aria-busy')"))

    def script(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def find(self, identity):
        return self.browser.find_element("id", identity)

    def text(self, identity):
        return self.find(identity).text

    def type(self, identity, text):
        field = self.find(identity)
        field.clear()
        field.send_keys(text)
        return field

    def rows(self):
        """The cells of the last result."""
        return self.script("""
            return [...([...document.querySelectorAll('#sql-results tbody')].pop()?.rows ?? [])]
              .map((row) => [...row.cells].map((cell) => cell.textContent))""")

    def run(self, sql):
        """Pastes statements and clicks Run."""
        self.script("document.getElementById('sql-text').value = arguments[0]", sql)
        self.find("sql-run").click()
        return self.rows()

    def select(self, identity, text):
        Select(self.find(identity)).select_by_visible_text(text)
        self.settle()

    def choose(self, identity, value):
        Select(self.find(identity)).select_by_value(value)

    def slide(self, identity, value):
        """As a finger drags a slider."""
        self.script("""
            const slider = document.getElementById(arguments[0]);
            slider.value = arguments[1];
            slider.dispatchEvent(new Event('input', {bubbles: true}))""", identity, value)
        self.settle()

    def figures(self):
        """The table of figures: {title: [LevelDB's, Parquet's]}."""
        return {row[0]: row[1:] for row in self.script("""
            return [...document.querySelectorAll('#bits-figures tbody tr')]
              .map((row) => [...row.cells].map((cell) => cell.textContent))""")}

    def drawn_bits(self, encoding):
        """The marks in the drawing of a key's way, and those that are filled."""
        marks = self.script("""
            return [...document.querySelectorAll(`#key-${arguments[0]} [data-bit]`)]
              .map((mark) => [Number(mark.dataset.bit), !mark.classList.contains('miss')])""", encoding)
        return {bit for bit, _ in marks}, {bit for bit, is_set in marks if is_set}

    def colored_bits(self, encoding, num_bits):
        """The squares of a picture that have the color of its encoding."""
        return set(self.script("""
            const canvas = document.getElementById(`bits-${arguments[0]}`), context = canvas.getContext('2d');
            const square = Number(canvas.dataset.square), inset = Number(canvas.dataset.inset), set = [];
            const probe = document.createElement('canvas').getContext('2d');
            probe.fillStyle = getComputedStyle(canvas).getPropertyValue(`--${arguments[0]}`);
            probe.fillRect(0, 0, 1, 1);
            const wanted = probe.getImageData(0, 0, 1, 1).data.join();
            for (let bit = 0; bit < arguments[1]; bit++) {
              const block = bit >> 8, place = bit & 255;
              const [column, row] = arguments[0] === 'leveldb' ? [bit % 64, bit >> 6]
                : [33 * (block & 1) + (place & 31), 9 * (block >> 1) + (place >> 5)];
              const middle = inset + Math.floor(square / 2) - 1;
              const color = context.getImageData(column * square + middle, row * square + middle, 1, 1).data.join();
              if (color === wanted) set.push(bit);
            }
            return set""", encoding, num_bits))

    def size(self, width, theme, height=900):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": theme},
                         {"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 2 if width < 600 else 1, "mobile": False})
        time.sleep(0.3)  # until the page has seen it

    def keys(self, *keys):
        """To whatever has the focus."""
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)

    def focus(self):
        return self.script("return document.activeElement.id || document.activeElement.tagName.toLowerCase()")


def bits_of(blob_hex, encoding):
    """The bits of a filter, as ext/FORMATS.md describes it."""
    blob = bytes.fromhex(blob_hex)
    data = blob[:-1] if encoding == "leveldb" else blob[len(blob) % 32:]
    return {i for i in range(8 * len(data)) if data[i // 8] >> i % 8 & 1}, 8 * len(data)


def equal(wanted, got):
    assert wanted == got, f"wanted {wanted!r}, got {got!r}"


def sql_in_the_editor(page):
    page.load()
    equal([["user77@example.org", "maybe"], ["nobody@example.org", "no"], ["somebody@example.org", "no"]], page.rows())
    page.type("sql-text", "SELECT hex(bloom_build(column1)) FROM (VALUES ('hello'), ('world'))")
    page.find("sql-run").click()
    equal([["114000414410401006"]], page.rows())
    equal([["NULL", "x'00ff'", "9007199254740993", "ä<b>"]],
          page.run("SELECT NULL, x'00ff', 9007199254740993, 'ä<b>'"))
    assert page.text("sql-status").startswith("1 row in "), page.text("sql-status")
    equal([["5000", "200", "200"]], page.run("""SELECT (SELECT count(*) FROM customers), count(*), count(DISTINCT s.email)
        FROM sales s JOIN customers c ON c.email = s.email"""))


def errors_are_shown(page):
    page.load()
    equal([], page.run("SELECT bloom_build(email, 0) FROM customers"))
    equal("bloom_build(): argument 2 (bits_per_key) must be a number in 1..100, or a rate above 0 and below 1, not 0", page.text("sql-error"))
    equal("alert", page.find("sql-error").get_attribute("role"))
    page.run("SELEC")
    assert "syntax error" in page.text("sql-error")
    equal([["1"]], page.run("SELECT 1"))
    assert not page.find("sql-error").is_displayed()
    # The page is not dead, and says what happened.
    page.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    equal("interrupted, after 10 seconds", page.text("sql-error"))
    equal(200, len(page.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")))
    assert "The first 200 rows." in page.text("sql-results")


def every_example_runs(page):
    page.load()
    select = Select(page.find("sql-example"))
    titles = [option.text for option in select.options]
    assert len(titles) >= 8
    for title in titles:
        select.select_by_visible_text(title)
        equal((title, title == "An error"), (title, page.find("sql-error").is_displayed()))
        assert title == "An error" or page.rows(), title
    select.select_by_visible_text("A join, with the filter in front")
    first = page.script("return document.querySelector('#sql-results table').rows.length - 1")
    equal(4, first)
    assert 200 <= int(page.rows()[0][0]) < 600, page.rows()
    select.select_by_visible_text("Which shards may hold this key?")
    assert ["7"] in page.rows(), page.rows()


# Of each kind the page's keys, as SQL makes them from their numbers.
KINDS = {
    "E-mail addresses": "'user' || value || '@example.org'",
    "Sequential string keys": "printf('cust-%011d', value)",
    "Integers": "value",
}


def series(first, num):
    return (f"(WITH RECURSIVE n(value) AS (SELECT {first} UNION ALL SELECT value + 1 FROM n "
            f"WHERE value < {first + num - 1}) SELECT value FROM n)")


def figures_are_the_librarys(page):
    page.load()
    for kind, key in KINDS.items():
        for bits_per_key, capacity, added in ((10, 200, 200), (6, 120, 200), (14, 300, 33)):
            page.select("bits-kind", kind)
            page.slide("bits-per-key", bits_per_key)
            page.slide("bits-capacity", capacity)
            page.slide("bits-added", added)
            equal(f"{added}", page.text("bits-added-value"))
            figures = page.figures()
            for i, encoding in enumerate(("leveldb", "parquet")):
                sql = (f"SELECT hex(f), num_bytes, num_bits, num_probes, bits_set, expected_fpr, "
                       f"(SELECT sum(bloom_may_contain(f, {key})) FROM {series(1000, 10000)}) FROM "
                       f"(SELECT bloom_build({key}, {bits_per_key}, {capacity}, '{encoding}') AS f "
                       f"FROM {series(1, added)}), bloom_info(f)")
                row, = page.run(sql)
                blob, (num_bytes, num_bits, num_probes, bits_set) = row[0], map(int, row[1:5])
                bits, length = bits_of(blob, encoding)
                equal((num_bits, bits_set), (length, len(bits)))
                equal([f"{number:,}" for number in (num_bytes, num_bits, num_probes, bits_set)],
                      [figures[title][i] for title in ("Bytes", "Bits", "Bits that a key sets", "Bits set")])
                passed = int(row[6])
                equal(f"{passed:,}", figures["Of 10,000 absent keys passed"][i])
                shown = float(figures["Rate by bloom_info, for these bits"][i].strip(" %<"))
                assert abs(shown - 100 * float(row[5])) <= 0.006 * max(1, shown), (shown, row[5])
                equal(bits, page.colored_bits(encoding, num_bits))


def rates_follow_theory(page):
    """Where the filter is full of keys, chance is small beside the rates."""
    page.load()
    for kind in ("Texts at random", *KINDS):
        page.select("bits-kind", kind)
        page.slide("bits-added", 400)
        figures = page.figures()
        for i in (0, 1):
            theory = float(figures["Rate in theory, for so many keys"][i].strip(" %"))
            measured = float(figures["Measured rate"][i].strip(" %"))
            assert 0.7 < measured / theory < 1.4, (kind, i, theory, measured)
    marks = page.script("return document.querySelectorAll('#bits-chart .measured').length")
    assert marks >= 20, marks


def keys_are_added(page):
    page.load()
    page.find("bits-empty").click()
    equal(["0", "0"], page.figures()["Bits set"])
    equal("No key was added yet.", page.text("bits-last"))
    page.find("bits-add-1").click()
    assert page.text("bits-last").startswith("Key 1 is "), page.text("bits-last")
    assert "LevelDB: 6 bits, 6 of them new. Parquet: 8 bits, 8 of them new." in page.text("bits-last")
    equal(["6", "8"], page.figures()["Bits set"])
    page.find("bits-add-10").click()
    equal("11", page.text("bits-added-value"))
    for _ in range(3):
        page.slide("bits-added", 400)
        page.find("bits-add-10").click()
    equal("400", page.text("bits-added-value"))
    alternative = page.find("bits-leveldb").get_attribute("aria-label")
    assert "of 400 keys: 2,000 bits. The last key has " in alternative, alternative


KEYS = ["'hello'", "''", "42", "'42'", "42.0", "-7", "9223372036854775807", "-9223372036854775808", "1e300", "0.5",
        "-0.0", "9007199254740993", "x''", "x'ff00'", "'süß €'", "char(97, 0, 1)", "printf('%.40c', 'x')", "zeroblob(100)",
        "'0123456789012345678901234567890'", "'01234567890123456789012345678901'",
        "(SELECT email FROM customers WHERE id = 7)"]


def a_keys_bits_are_the_librarys(page):
    page.load()
    page.choose("key-type", "sql")
    for bits_per_key, capacity in ((10, 200), (16, 320), (2, 40)):
        page.slide("bits-per-key", bits_per_key)
        page.slide("bits-capacity", capacity)
        above = page.run("SELECT 1")
        for key in KEYS if bits_per_key == 10 else KEYS[:6]:
            page.script("""
                const field = document.getElementById('key-value');
                field.value = arguments[0];
                field.dispatchEvent(new Event('input', {bubbles: true}))""", key)
            assert not page.find("key-error").is_displayed(), (key, page.text("key-error"))
            for encoding in ("leveldb", "parquet"):
                (blob,), = page.run(f"SELECT hex(bloom_build({key}, {bits_per_key}, {capacity}, '{encoding}'))")
                drawn, filled = page.drawn_bits(encoding)
                bits, num_bits = bits_of(blob, encoding)
                equal((key, encoding, sorted(bits)), (key, encoding, sorted(drawn)))
                equal(filled, drawn & page.colored_bits(encoding, num_bits))
                words = page.text(f"key-{encoding}")
                assert "✓ bloom_build sets exactly these bits" in words, (key, words)
                assert ("maybe: all" if filled == drawn else "no: surely not there") in words, (key, words)
        equal([["1"]], above)


def a_key_that_is_in_it(page):
    page.load()
    page.select("bits-kind", "Integers")
    page.choose("key-type", "sql")
    page.type("key-value", "200")
    for encoding in ("leveldb", "parquet"):
        assert "maybe: all" in page.text(f"key-{encoding}")
    page.find("bits-empty").click()
    for encoding in ("leveldb", "parquet"):
        assert "no: surely not there" in page.text(f"key-{encoding}")
    # 1 and '1' are one key of LevelDB's, and two of Parquet's.
    page.type("key-value", "'200'")
    page.slide("bits-added", 200)
    assert "maybe: all" in page.text("key-leveldb")
    assert "no: surely not there" in page.text("key-parquet")
    page.type("key-value", "NULL")
    assert "NULL is no key" in page.text("key-error")
    page.type("key-value", "hello")
    equal("no such column: hello. Write texts in quotes: 'hello'.", page.text("key-error"))
    for button in page.browser.find_elements("css selector", "#key-picks button")[:2]:
        button.click()
        assert not page.find("key-error").is_displayed()
    assert "34 32" in page.text("key-leveldb") and "2a 00 00 00 00 00 00 00" in page.text("key-parquet")


def whatever_is_typed_does_no_harm(page):
    """As a text everything is a key; as SQL it is a value, or a message."""
    page.load()
    for text in ("'", "''", "", "o'neil", '"', "hello'); DROP TABLE customers; --", "\\", "%s", "?1", "<b>"):
        page.script("""
            const field = document.getElementById('key-value');
            field.value = arguments[0];
            field.dispatchEvent(new Event('input', {bubbles: true}))""", text)
        assert not page.find("key-error").is_displayed(), (text, page.text("key-error"))
        literal = "'" + text.replace("'", "''") + "'"
        for encoding in ("leveldb", "parquet"):
            (blob,), = page.run(f"SELECT hex(bloom_build({literal}, 10, 200, '{encoding}'))")
            equal((text, sorted(bits_of(blob, encoding)[0])), (text, sorted(page.drawn_bits(encoding)[0])))
    page.choose("key-type", "sql")
    for wrong in ("'", "", "  ", "1); DROP TABLE customers; --", "1)) SELECT 1; DROP TABLE customers; --", "1, 2", "--", "1;", ")"):
        page.script("""
            const field = document.getElementById('key-value');
            field.value = arguments[0];
            field.dispatchEvent(new Event('input', {bubbles: true}))""", wrong)
        message = page.text("key-error")
        assert page.find("key-error").is_displayed() and "encoding" not in message, (wrong, message)
    page.type("key-value", "(SELECT email FROM customers WHERE id = 7)")
    assert not page.find("key-error").is_displayed(), page.text("key-error")
    equal([["5000"]], page.run("SELECT count(*) FROM customers"))


def run_twice_is_the_same(page):
    page.load()
    select = Select(page.find("sql-example"))
    for title in [option.text for option in select.options]:
        select.select_by_visible_text(title)
        first = page.script("return document.getElementById('sql-results').textContent"), page.text("sql-error")
        page.find("sql-run").click()
        equal((title, first), (title, (page.script("return document.getElementById('sql-results').textContent"), page.text("sql-error"))))
    select.select_by_visible_text("A filter that stays up to date")
    equal([["maybe"]], page.rows())


def cells(page, identity):
    return page.script("""
        return [...document.querySelectorAll(`#${arguments[0]} tbody tr`)]
          .map((row) => [...row.cells].map((cell) => cell.textContent))""", identity)


def a_join_is_timed(page):
    page.load()
    for _ in range(2):
        page.find("join-run").click()
        page.wait(lambda: page.find("join-run").is_enabled())
        (plain, plain_ms, plain_asked, plain_found), (_, ms, asked, found) = cells(page, "join-figures")
        equal(("Without the filter", "300,000", "3,000", "3,000"), (plain, plain_asked, plain_found, found))
        number = lambda text: float(text.replace(",", "").removesuffix(" ms"))
        # The others that pass are one in a hundred or so.
        assert 3000 <= number(asked) < 9000, asked
        assert number(ms) < number(plain_ms), (ms, plain_ms)
        assert page.text("join-verdict").endswith("times as fast, and the same answer."), page.text("join-verdict")


def sequential_keys_show_their_weakness(page):
    page.load()
    page.find("many-run").click()
    page.wait(lambda: page.find("many-run").is_enabled())
    rates = {row[0]: [float(cell.strip(" %")) for cell in row[1:]] for row in cells(page, "many-figures")}
    assert all(rate < 2 for rate in rates["Texts at random"]), rates
    leveldb, parquet = rates["Sequential string keys"]
    assert leveldb > 8 and parquet < 2, rates


def squares(page):
    """The blocks of the second picture: (first id, last id, is it filled, is it marked)."""
    return [(*(int(word.replace(",", "")) for word in title.split(": rows ")[1].split(" to ")), "read" in names, "found" in names)
            for title, names in page.script("""
                return [...document.querySelectorAll('#blocks-picture > *')].map((one) => [one.title, [...one.classList]])""")]


def searched(page, column, value):
    """Types it.  The squares, and the numbers of the sentence: blocks read, blocks, rows found, rows looked at, rows."""
    page.choose("blocks-column", column)
    page.script("""
        const field = document.getElementById('blocks-value');
        field.value = arguments[0];
        field.dispatchEvent(new Event('input', {bubbles: true}))""", value)
    assert not page.find("blocks-error").is_displayed(), (value, page.text("blocks-error"))
    verdict = page.text("blocks-verdict")
    numbers = re.fullmatch(r"([\d,]+) of ([\d,]+) blocks read, ([\d,]+) rows? found\. SQLite looked at ([\d,]+) of ([\d,]+) rows\.", verdict)
    assert numbers, verdict
    return squares(page), [int(number.replace(",", "")) for number in numbers.groups()]


# Column, what is typed, and the most of the blocks that may be read, as a share.
SEARCHES = [("trace_id", "0123456789ABCDEF", 0.03), ("trace_id", "", 0.03), ("trace_id", "o'neil", 0.03), ("trace_id", "'", 0.03),
            ("trace_id", "' OR 1 --", 0.03), ("trace_id", "\U0001f600", 0.03), ("message", "%request 8ee06837 %", 0.1),
            ("message", "%LOCKED%", 0.1), ("message", "%declined%", 0.5), ("message", "%no such words%", 0.03),
            ("message", "request 8ee06837 of user 5 took 1 ms", 0.1), ("message", "%it's%", 0.5), ("message", "", 1), ("message", "%", 1),
            ("message", "%re%", 1), ("message", "%'; DROP TABLE log; --%", 0.03), ("message", "\\", 1), ("message", "%\"%", 1)]


def blocks_are_those_that_were_read(page):
    """Beside them a log of the same rows, which the page's own database has, without an index and with one."""
    page.load()
    tables = page.script("return logTables")
    page.run(re.sub(r"note_read\(id, (\w+)\)", r"\1", tables))
    (num_rows, shift), = page.run("SELECT covered, hex(substr(layout, 61, 1)) FROM log_index_state")
    num_blocks = (int(num_rows) >> int(shift, 16)) + 1
    assert num_blocks > 50, num_blocks
    (known,), = page.run("SELECT trace_id FROM log WHERE id = 4242")
    for column, value, share in [("trace_id", known, 0.03), *SEARCHES]:
        literal = "'" + value.replace("'", "''") + "'"
        operator = "=" if column == "trace_id" else "LIKE"
        (ids,), = page.run(f"SELECT json_group_array(id) FROM log WHERE {column} {operator} {literal}")
        wanted = json.loads(ids)
        blocks, (num_read, num_squares, num_found, num_seen, num_log_rows) = searched(page, column, value)
        equal((value, num_blocks, int(num_rows)), (value, num_squares, num_log_rows))
        equal(num_squares, len(blocks))
        equal((1, int(num_rows)), (blocks[0][0], blocks[-1][1]))
        equal([], [pair for pair in zip(blocks, blocks[1:]) if pair[1][0] != pair[0][1] + 1])
        read = [block for block in blocks if block[2]]
        equal((value, num_read), (value, len(read)))
        # SQLite looked at all rows of the blocks that are filled, and at no other.
        equal((value, num_seen), (value, sum(last - first + 1 for first, last, _, _ in read)))
        equal((value, num_found), (value, len(wanted)))
        hits = {(first, last) for first, last, _, _ in blocks if any(first <= id <= last for id in wanted)}
        equal((value, hits), (value, {(first, last) for first, last, is_read, is_found in blocks if is_read and is_found}))
        equal((value, len(hits)), (value, sum(is_found for *_, is_found in blocks)))
        assert len(read) - len(hits) <= share * len(blocks), (value, len(read), len(blocks))
        equal((value, bool(wanted)), (value, page.find("blocks-rows").is_displayed()))
        equal((value, [str(id) for id in wanted[:5]]), (value, [row[0] for row in cells(page, "blocks-rows")]))
        if num_read == num_squares:
            equal(1, share)


def blocks_by_hand(page):
    """By picks and by keyboard, and what is read aloud."""
    page.load()
    for button in page.browser.find_elements("css selector", "#blocks-picks button"):
        button.click()
        assert page.text("blocks-verdict") and not page.find("blocks-error").is_displayed(), button.text
    page.browser.find_element("css selector", "#blocks-picks button").click()
    known = page.find("blocks-value").get_attribute("value")
    equal([known] * 2, [row[1] for row in cells(page, "blocks-rows")])  # its tenth row has it too
    page.script("document.getElementById('blocks-column').focus()")
    page.keys(Keys.ARROW_DOWN)
    assert ", 0 rows found." in page.text("blocks-verdict"), page.text("blocks-verdict")
    page.keys(Keys.TAB)
    equal("blocks-value", page.focus())
    page.keys(Keys.CONTROL + "a" + Keys.NULL, "%locked%", Keys.ENTER)
    assert ", 5 rows found." in page.text("blocks-verdict"), page.text("blocks-verdict")
    blocks = squares(page)
    alternative = page.find("blocks-picture").get_attribute("aria-label")
    assert alternative.startswith(f"{len(blocks)} blocks in the order of the rows. Read: "), alternative
    marked = ", ".join(str(i + 1) for i, block in enumerate(blocks) if block[3])
    assert alternative.endswith(f" With rows that were found: {marked}."), (alternative, marked)
    searched(page, "trace_id", "0123456789ABCDEF")
    assert page.find("blocks-picture").get_attribute("aria-label").endswith("found: none.")


def the_picture_is_on_the_first_screen(page):
    page.size(1280, "light", 800)
    page.load()
    equal(0, page.script("return scrollY"))
    for encoding in ("leveldb", "parquet"):
        bottom = page.script("return document.getElementById(`bits-${arguments[0]}`).getBoundingClientRect().bottom", encoding)
        assert bottom <= 800, (encoding, bottom)
    page.browser.save_screenshot(str(FOLDER / "first-screen.png"))


def by_keyboard_alone(page):
    page.load()
    page.script("document.activeElement.blur()")
    page.browser.find_element("tag name", "body").send_keys(Keys.TAB)
    equal("Skip to the SQL editor", page.script("return document.activeElement.textContent"))
    page.keys(Keys.ENTER)
    equal("sql-text", page.focus())
    page.keys(Keys.CONTROL + "a" + Keys.NULL, "SELECT 6 * 7", Keys.CONTROL + Keys.ENTER)
    equal([["42"]], page.rows())
    page.keys(Keys.CONTROL + "a" + Keys.NULL, "SELECT 6 * 8", Keys.TAB)
    equal("sql-run", page.focus())
    page.keys(Keys.ENTER)
    equal([["48"]], page.rows())

    # Forward through everything: each stop is seen, none is a trap, none is met twice.
    page.load()
    stops = []
    while True:
        page.keys(Keys.TAB)
        stop = page.script("""
            const at = document.activeElement, box = at.getBoundingClientRect(), style = getComputedStyle(at);
            return [at.id || at.textContent || at.tagName, at === document.body, style.outlineStyle, parseFloat(style.outlineWidth),
                    box.width, box.height]""")
        if stop[1] or len(stops) > 60:
            break
        assert stop[2] == "solid" and stop[3] >= 2, f"no focus to be seen: {stop}"
        assert stop[4] > 0 and stop[5] > 0, stop
        stops.append(stop[0])
    equal(len(stops), len(set(stops)))
    for wanted in ("bits-kind", "bits-per-key", "bits-capacity", "bits-added", "bits-add-1", "bits-empty", "join-run", "blocks-column",
                   "blocks-value", "many-run", "key-type", "key-value"):
        assert wanted in stops, (wanted, stops)
    equal(sorted(("bits-kind", "bits-added", "key-value"), key=stops.index), ["bits-kind", "bits-added", "key-value"])

    page.script("document.getElementById('bits-kind').focus()")
    page.keys(Keys.TAB, Keys.ARROW_RIGHT)
    equal("11", page.text("bits-per-key-value"))
    page.keys(Keys.TAB, Keys.ARROW_LEFT)
    equal("180 keys", page.text("bits-capacity-value"))
    page.keys(Keys.TAB, Keys.HOME)
    equal("0", page.text("bits-added-value"))
    page.keys(Keys.TAB, Keys.SPACE, Keys.SPACE)
    equal("2", page.text("bits-added-value"))
    page.script("document.getElementById('sql-example').focus()")
    page.keys(Keys.ARROW_DOWN)
    equal([["5000"]], [row[:1] for row in page.rows()])


def everything_has_a_name(page):
    page.load()
    nameless = page.script("""
        return [...document.querySelectorAll('input, select, textarea, button, canvas, svg, [role=region], section')]
          .filter((one) => !(one.labels && one.labels.length) && !one.getAttribute('aria-label')
            && !one.getAttribute('aria-labelledby') && !(one.tagName === 'BUTTON' && one.textContent.trim()))
          .map((one) => one.outerHTML.slice(0, 80))""")
    equal([], nameless)
    equal("status", page.find("sql-status").get_attribute("role"))
    equal("en", page.script("return document.documentElement.lang"))
    headings = page.script("return [...document.querySelectorAll('h1, h2, h3, h4')].map((one) => Number(one.tagName[1]))")
    equal([], [pair for pair in zip(headings, headings[1:]) if pair[1] > pair[0] + 1])


def contrast_is_enough(page):
    """WCAG AA: 4.5 for text, 3 for what a picture tells."""
    page.load()
    for theme in ("light", "dark"):
        page.size(1280, theme)
        for name, behind, least in (("ink", "page", 7), ("quiet", "page", 4.5), ("quiet", "panel", 4.5), ("leveldb", "page", 4.5),
                                    ("parquet", "page", 4.5), ("error", "error-page", 4.5), ("on-accent", "accent", 4.5),
                                    ("leveldb", "empty", 3), ("parquet", "empty", 3), ("quiet", "page", 3)):
            ratio = page.script("""
                const style = getComputedStyle(document.documentElement), context = document.createElement('canvas').getContext('2d');
                const light = (name) => {
                  context.fillStyle = style.getPropertyValue(`--${name}`);
                  context.fillRect(0, 0, 1, 1);
                  const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((value) => {
                    const share = value / 255;
                    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
                  });
                  return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
                };
                const pair = arguments.length && [light(arguments[0]), light(arguments[1])];
                return Math.max(...pair) / Math.min(...pair)""", name, behind)
            assert ratio >= least, f"{theme}: {name} on {behind} has {ratio:.2f}"


def fits_phone_and_desktop(page):
    for width in (320, 375, 768, 1280, 1920):
        page.size(width, "light")
        page.load()
        for title in [option.text for option in Select(page.find("sql-example")).options]:
            page.select("sql-example", title)
            equal((width, title, width), (width, title, page.script("return document.documentElement.scrollWidth")))
        page.run("SELECT * FROM filters, bloom_info(filter)")
        page.slide("bits-capacity", 320)
        page.slide("bits-per-key", 16)
        page.script("document.getElementById('key-value').value = \"'a key that is rather long, ' || printf('%.60c', 'x')\"")
        page.find("key-value").send_keys(" ")
        equal(width, page.script("return document.documentElement.scrollWidth"))
        beyond = page.script("""
            return [...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll, svg')
              && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))""")
        equal([], beyond)


def screenshots(page):
    for width, name in ((375, "phone"), (1280, "desktop")):
        for theme in ("light", "dark"):
            page.size(width, theme)
            page.load()
            height = page.script("return document.documentElement.scrollHeight")
            page.size(width, theme, height)
            path = FOLDER / f"{name}-{theme}.png"
            page.browser.save_screenshot(str(path))
            assert path.stat().st_size > 50000, path


def works_from_the_disk(page):
    Page(page.browser, (FOLDER / "index.html").as_uri()).load()
    equal([["1"]], page.run("SELECT bloom_may_contain(bloom_build('a'), 'a')"))


def asks_the_server_for_its_files_alone(page):
    """Of all the tests above."""
    wanted = {page.url + name for name in ("", "playground.css", "playground.js", "sqlite-bloom.js")}
    asked = set()
    for entry in page.browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(message["params"]["request"]["url"].split("#")[0])
    asked = {url for url in asked if not url.startswith(("data:", FOLDER.as_uri()))}
    equal(wanted, asked)


def logs_no_error(page):
    """Of all the tests above, which read pixels more often than a page should."""
    equal([], [entry["message"] for entry in page.browser.get_log("browser") if entry["source"] != "rendering"])


TESTS = [sql_in_the_editor, errors_are_shown, every_example_runs, figures_are_the_librarys, rates_follow_theory,
         keys_are_added, a_join_is_timed, sequential_keys_show_their_weakness, a_keys_bits_are_the_librarys, a_key_that_is_in_it,
         whatever_is_typed_does_no_harm, run_twice_is_the_same,
         blocks_are_those_that_were_read, blocks_by_hand, the_picture_is_on_the_first_screen, by_keyboard_alone, everything_has_a_name,
         contrast_is_enough, fits_phone_and_desktop, screenshots, works_from_the_disk, asks_the_server_for_its_files_alone,
         logs_no_error]

page = Page(start_browser(), serve())
try:
    for test in [test for test in TESTS if test.__name__ in (sys.argv[2:] or test.__name__)]:
        if test not in (fits_phone_and_desktop, screenshots):
            page.size(1280, "light")
        start = time.time()
        try:
            test(page)
            NUM_PASSED += 1
            print(f"ok {test.__name__}, {time.time() - start:.1f} s")
        except Exception:  # whatever it was, the others go on
            NUM_FAILED += 1
            print(f"FAILED {test.__name__}")
            traceback.print_exc(file=sys.stdout)
finally:
    page.browser.quit()
print(f"{NUM_PASSED} passed, {NUM_FAILED} failed")
sys.exit(NUM_FAILED != 0)

#!/usr/bin/python3
"""
The pictures of the benchmarks' results, drawn by gnuplot.

    make plots                            test/bench/results, from the results that are kept there
    plots.py RESULTS FOLDER               from RESULTS/*.tsv, as a run of the benchmarks does
    plots.py --keep RESULTS               the same to test/bench/results, with the rows that are shown
    plots.py --check                      were the kept pictures drawn from the kept results?

Each picture is a function below, which says what is shown of which results. A picture whose
results are missing is left out, with a word; --keep leaves the one that is there. Each SVG names its
results, and the checksum of all that gnuplot was given, by which --check knows it without gnuplot.
Where the gnuplot that drew it is installed, the whole picture is compared.
"""
import hashlib
import math
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
KEPT = os.path.join(HERE, "results")

# Light pages, dark pages. The lines' colours are those of Okabe and Ito, which all eyes can tell
# apart; where one is hard to read as text, it is darker or lighter here.
COLOURS = {
    "paper": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "soft": ("#59636e", "#9198a1"),
    "grid": ("#d9dee3", "#2d333b"),
    "blue": ("#0072b2", "#56b4e9"),
    "vermilion": ("#c04f00", "#e69f00"),
    "green": ("#008060", "#2bbf95"),
}
FONT = "-apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
WIDTH, SIZE = 720, 15  # pixels, the text's too: still legible where a page is 360 wide
CIRCLE, SQUARE, TRIANGLE, DIAMOND = 7, 5, 9, 13  # gnuplot's filled points


class Missing(Exception):
    """These results were not measured."""


class Results:
    """What fold.py wrote into a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.shown = {}  # the lines of each file that were

    def rows(self, benchmark, /, has=None, **where):
        """
        The rows of one benchmark where columns have these values, each one or a tuple of them, as dicts: of
        one run and SQLite, the full run if there is one, and it has this value in a column.
        """
        path = os.path.join(self.folder, benchmark + ".tsv")
        if not os.path.exists(path):
            raise Missing(benchmark)
        with open(path, encoding="utf-8") as file:
            text = file.read().splitlines()
        notes = [line for line in text if line[0] == "#"]
        header, *lines = text[len(notes):]
        runs = {}
        for line in lines:
            row = dict(zip(header.split("\t"), line.split("\t")))
            if all(row[name] in (value if isinstance(value, tuple) else (value,)) for name, value in where.items()):
                runs.setdefault((("full", "medium", "quick").index(row["run"]), row["sqlite"]), []).append((row, line))
        for _, rows in sorted(runs.items()):
            if has is None or any(has in row.values() for row, _ in rows):
                # A note names the runs that it is of.
                run = f"{rows[0][0]['run']} {rows[0][0]['sqlite']}"
                its_notes = [note for note in notes if run in note.split(":")[0]]
                shown = self.shown.setdefault(benchmark, [*its_notes, header])
                shown += [line for _, line in rows if line not in shown]
                return [row for row, _ in rows]
        raise Missing(" ".join([benchmark, *map(str, where.values())]))

    def keep(self, folder):
        for what, lines in self.shown.items():
            with open(os.path.join(folder, what + ".tsv"), "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in lines)


def least(rows, column, /, **where):
    """Of a time: on a shared machine others only add to it."""
    values = [float(row.get(column + "_min", row[column])) for row in rows if all(row[name] == value for name, value in where.items())]
    if len(values) != 1:
        raise Missing(", ".join(where.values()))
    return values[0]


class Line:
    def __init__(self, label, points, colour, point=CIRCLE, dashed=False):
        self.label = label.format(points[-1][1]) if label and points else None  # {} is the last value
        self.points, self.colour, self.point, self.dashed = points, colour, point, dashed


class Panel:
    """Axes with lines. x and y are ranges, ticks (text, value), log the logarithmic axes."""

    def __init__(self, lines, x, y, xlabel, ylabel, xticks, yticks, log="", height=240):
        self.lines = [line for line in lines if line.points]  # what was measured
        if not any(line.point for line in self.lines):
            raise Missing(ylabel)
        self.x, self.y, self.xlabel, self.ylabel = x, y, xlabel, ylabel
        self.xticks, self.yticks, self.log, self.height = xticks, yticks, log, height

    def share(self, axis, value):
        """How far along its axis a value is, 0 to 1."""
        scale = math.log if axis in self.log else float
        first, last = map(scale, getattr(self, axis))
        return (scale(value) - first) / (last - first)


def apart(wanted, least):
    """Places close to those wanted, and at least so far apart."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups = []  # (sum of the first place each member wants, number of members)
    for rank, i in enumerate(order):
        groups.append([wanted[i] - rank * least, 1])
        while len(groups) > 1 and groups[-2][0] / groups[-2][1] > groups[-1][0] / groups[-1][1]:
            last = groups.pop()
            groups[-1] = [groups[-1][0] + last[0], groups[-1][1] + last[1]]
    starts = [total / count for total, count in groups for _ in range(count)]
    places = [0.0] * len(wanted)
    for rank, i in enumerate(order):
        places[i] = starts[rank] + rank * least
    return places


def gnuplot_version():
    """Empty if there is none."""
    if not shutil.which("gnuplot"):
        return ""
    return subprocess.run(["gnuplot", "--version"], stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()


def quoted(text):
    return "'" + text.replace("'", "''").replace("_", r"\_") + "'"  # _ alone lowers what follows


def colour(name):
    return f"rgb '{COLOURS[name][0]}'"


def width(texts):
    """Pixels, in a wide font."""
    return max(map(len, texts), default=0) * 0.575 * SIZE


def script(title, panels):
    """What gnuplot is given: the panels below each other."""
    top, above, below = 36, 36, 50  # pixels: the title; of each panel
    left = 24 + width(text for panel in panels for text, _ in panel.yticks)
    right = 20 + width(line.label for panel in panels for line in panel.lines
                       if line.label and line.points[-1][0] == panel.x[1])
    height = top + sum(above + panel.height + below for panel in panels)
    out = [f"set terminal svg size {WIDTH},{height} fixed enhanced font 'sans-serif,{SIZE}'",
           "set encoding utf8", "set multiplot", "unset key", "set tics scale 0", "set border 0",
           f"set grid ytics lt 1 lw 1 lc {colour('grid')}",
           f"set lmargin at screen {left / WIDTH:.5f}", f"set rmargin at screen {1 - right / WIDTH:.5f}"]
    base = height - top

    def label(text, x, y, where, ink, more=""):
        """At x pixels from the left, y from the bottom."""
        out.append(f"set label {quoted(text)} at screen {x / WIDTH:.5f},{y / height:.5f} {where} textcolor {colour(ink)}{more}")

    label("{/:Bold " + title + "}", 9, height - 22, "left", "ink", " font ',18'")
    for panel in panels:
        upper, base = base - above, base - above - panel.height
        out += [f"set tmargin at screen {upper / height:.5f}", f"set bmargin at screen {base / height:.5f}",
                "unset logscale", f"set logscale {panel.log}" if panel.log else "",
                f"set xrange [{panel.x[0]}:{panel.x[1]}]", f"set yrange [{panel.y[0]}:{panel.y[1]}]"]
        for axis, ticks in (("x", panel.xticks), ("y", panel.yticks)):
            out.append(f"set {axis}tics (" + ", ".join(f"{quoted(text.replace('%', '%%'))} {value:g}" for text, value in ticks) +
                       f") textcolor {colour('soft')}" + (" offset 0,0.3" if axis == "x" else ""))
        label(panel.ylabel, 9, upper + 20, "left", "soft")
        label(panel.xlabel, (left + WIDTH - right) / 2, base - 37, "center", "soft")
        plots = []
        lines = [line for line in panel.lines if line.label]
        ends = [(left + panel.share("x", line.points[-1][0]) * (WIDTH - right - left),
                 panel.share("y", line.points[-1][1]) * panel.height) for line in lines]
        for line, (x, _), y in zip(lines, ends, apart([y for _, y in ends], 20)):
            label(line.label, x + 12, base + y, "left", line.colour)
        for i, line in enumerate(panel.lines):
            out += [f"$data{i} << END"] + [f"{x:.6g} {y:.6g}" for x, y in line.points] + ["END"]
            ink = colour(line.colour)
            plots.append(f"$data{i} with lines lw {1.5 if line.colour == 'soft' else 2.5} dt {'(8,5)' if line.dashed else 1} lc {ink}")
            if line.point:
                plots.append(f"$data{i} with points pt {line.point} ps 0.8 lc {ink}")
        base -= below
        out += ["plot " + ", ".join(plots), "unset label"]
    return "\n".join(line for line in out if line) + "\n"


def svg(title, text, results):
    """gnuplot's picture, for light pages and dark ones, with a title, and what it was drawn from."""
    drawn = subprocess.run(["gnuplot"], input=text, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    names = {tuple(int(light[i:i + 2], 16) for i in (1, 3, 5)): name for name, (light, _) in COLOURS.items()}

    def themed(match):
        name = names.get(tuple(map(int, match.group(2).split(","))))
        return match.group(0) if name is None else f'{match.group(0)} style="{match.group(1)}:var(--{name})"'

    drawn = re.sub(r"""(stroke|fill|color)=['"]rgb\(([ \d,]+)\)['"]""", themed, drawn)
    drawn = re.sub(r' font-family="sans-serif" ?', " ", drawn)
    theme = ["".join(f"--{name}:{pair[i]};" for name, pair in COLOURS.items()) for i in (0, 1)]
    head = (f"<title>{escaped(title)}</title>\n<desc>{escaped(description(text, results))} {gnuplot_version()}</desc>\n"
            f"<style>svg{{{theme[0]}background:var(--paper);font-family:{FONT}}}"
            f"@media(prefers-color-scheme:dark){{svg{{{theme[1]}}}}}</style>")
    drawn = re.sub(r"<title>.*?</desc>", lambda _: head, tidy(drawn), count=1, flags=re.DOTALL)
    return drawn


def tidy(drawn):
    """An SVG without what draws nothing, in one line."""
    drawn = re.sub(r"\s*\n\s*", " ", re.sub(r">\s+<", "><", drawn.strip()))
    nothing = (r"<title>(\$data|gnuplot_plot_)\w*</title>|<filter .*?</filter>|<g\b[^>]*></g>|<text></text>"
               r"|<path [^>]*d='(M[\d.,]+ +)+'/>")
    before = None
    while before != drawn:
        before = drawn
        drawn = re.sub(nothing, "", drawn)
        for element, name in re.findall(r"(<[^<>]* id='(gp\w+)'[^<>]*/>)", drawn):
            if f"#{name}'" not in drawn:
                drawn = drawn.replace(element, "")
    return drawn + "\n"


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def description(text, results):
    return (f"Drawn by test/bench/plots.py from {', '.join(f'results/{what}.tsv' for what in sorted(results.shown))}."
            f" Checksum: {hashlib.sha256(text.encode()).hexdigest()}.")


# -- The pictures ------------------------------------------------------------------------------
# Each returns its title and its panels.

PERCENT = [("all", 100), ("50 %", 50), ("10 %", 10), ("1 %", 1), ("0.1 %", 0.1)]
KEYS = {10**3: "1,000", 10**4: "10,000", 10**5: "100,000", 10**6: "1 million", 10**7: "10 million", 10**8: "100 million"}
KEY_TICKS = [(text, keys) for keys, text in KEYS.items()]


def times(*values):
    return [(f"{value:g}x", value) for value in values]


def level(y, x, label):
    """A thin line across."""
    return Line(label, [(x[0], y), (x[1], y)], "soft", point=None)


def gains(results, keys, size, contestant):
    """Points: per cent of the rows that match, and how many times faster the join is; none if not measured."""
    try:
        rows = results.rows("joins", keys=keys, rows=str(size), cache="warm", form="join", contestant=("plain", "kept", "built"))
    except Missing:
        return []
    return [(float(percent), least(rows, "seconds", percent=percent, contestant="plain") /
             least(rows, "seconds", percent=percent, contestant=contestant))
            for percent in sorted({row["percent"] for row in rows}, key=float, reverse=True)]


def joins(results):
    x = (130, 0.1)
    panels = []
    for size, text in ((10**6, "1 million"), (10**7, "10 million")):
        lines = []
        for kind, its, ink, point in (("hex", "texts", "blue", CIRCLE), ("integer", "integers", "vermilion", SQUARE)):
            for contestant in ("kept", "built"):
                lines.append(Line(f"{{:.2g}}x  {its}, {contestant}", gains(results, kind, size, contestant),
                                  ink, point, contestant == "built"))
        panels.append(Panel(lines + [level(1, x, "1x  as without")], x=x, y=(0.7, 16), log="xy", xticks=PERCENT,
                            yticks=times(1, 2, 4, 8, 16), xlabel="share of the rows that match",
                            ylabel=f"times faster than without a filter, table of {text} rows"))
    return "A small table can build its filter in the query; for a large one, keep it", panels


def per_row(results):
    contestants = {name: (f"may_contain(parquet, {name})", f"may_contain(handle, {name})", f"noop(handle, {name})", "empty scan") for name in "ks"}
    rows = results.rows("per-row", has="may_contain(parquet, k)", contestant=contestants["k"] + contestants["s"],
                        group=tuple(f"scan: {column}, filter of {size}" for column in ("INTEGER", "TEXT") for size in ("125 KB", "1 MB", "12 MB")))
    panels = []
    for column, name in (("INTEGER", "k"), ("TEXT", "s")):
        def of(contestant):
            points = [(size, least(rows, "time", group=f"scan: {column}, filter of {text}", contestant=contestant))
                      for size, text in ((125, "125 KB"), (1000, "1 MB"), (12000, "12 MB"))]
            return points

        parquet, leveldb, nothing, scan = map(of, contestants[name])
        lines = [Line("Parquet's", parquet, "green", DIAMOND), Line("LevelDB's", leveldb, "blue", CIRCLE),
                 Line("function that does nothing", nothing, "soft", SQUARE, dashed=True), Line("scan alone", scan, "soft", None)]
        panels.append(Panel(lines, x=(110, 12000), y=(0, 220), log="x", height=200, xlabel="size of the filter",
                            ylabel=f"ns for each row of a scan, {column} keys",
                            xticks=[("125 KB", 125), ("1 MB", 1000), ("12 MB", 12000)],
                            yticks=[(str(ns), ns) for ns in (0, 50, 100, 150, 200)]))
    return "A filter in the cache costs a row about as much again as the call itself", panels


def kernels(results):
    best = "avx2"  # a kernel that most machines have
    panels = []
    for what, text, contestants in (("build", "building", (f"bloom {best}", f"parquet {best}")), ("probe misses", "testing an absent key", ("bloom", "parquet"))):
        def of(contestant):
            its = results.rows("kernels", what=what, key="text16", contestant=contestant)
            return [(n, least(its, "ns_per_key", n=str(n))) for n in sorted({int(row["n"]) for row in its})]

        lines = [Line("LevelDB's library", of("leveldb"), "soft", SQUARE),
                 Line("ours, LevelDB's encoding", of(contestants[0]), "blue", CIRCLE),
                 Line("ours, Parquet's encoding", of(contestants[1]), "green", DIAMOND)]
        x = lines[0].points
        most = max(y for line in lines for _, y in line.points)
        panels.append(Panel(lines, x=(x[0][0] / 1.2, x[-1][0]), y=(0, 1.05 * most), log="x", height=180,
                            xlabel="keys in the filter", ylabel=f"ns a key, {text}",
                            xticks=[tick for tick in KEY_TICKS if tick[1] <= x[-1][0]],
                            yticks=[(str(ns), ns) for ns in range(0, int(1.05 * most), 10 if most < 80 else 40)]))
    return "Both encodings are built and tested faster than by LevelDB's library", panels


def by_rows(results, what, contestant, unit, factor=lambda num_rows: 1):
    rows = results.rows("index_keys", what=what, contestant=contestant, unit=unit)
    return sorted((int(row["rows"]), factor(int(row["rows"])) * float(row["value"])) for row in rows)


def index(results):
    def megabytes(contestant):
        return by_rows(results, "key, space", contestant, "bytes a row", lambda num_rows: num_rows / 1e6)

    lines = [Line("bloom_index, a key", by_rows(results, "key, present", "bloom_index", "pages"), "blue", CIRCLE),
             Line("bloom_index, absent", by_rows(results, "key, absent", "bloom_index", "pages"), "blue", CIRCLE, dashed=True),
             Line("B-tree, a key", by_rows(results, "key, present", "index", "pages"), "vermilion", TRIANGLE),
             Line("B-tree, absent", by_rows(results, "key, absent", "index", "pages"), "vermilion", TRIANGLE, dashed=True)]
    most = max(n for n, _ in lines[0].points)
    shared = {"x": (80_000, most), "xlabel": "rows", "xticks": [tick for tick in KEY_TICKS if 10**5 <= tick[1] <= most]}
    return "A ninth of the size of an index, and twice its pages", [
        Panel(lines, y=(0, 20), log="x", ylabel="pages of 4 KB that a look-up reads, cold: median",
              yticks=[(str(n), n) for n in range(0, 21, 5)], **shared),
        Panel([Line("B-tree index", megabytes("index"), "vermilion", TRIANGLE),
               Line("bloom_index", megabytes("bloom_index"), "blue", CIRCLE)],
              y=(0.1, 4e-5 * most), log="xy", ylabel="size, 16 hexadecimal digits",
              yticks=[("100 KB", 0.1), ("1 MB", 1), ("10 MB", 10), ("100 MB", 100), ("1 GB", 1000)], height=180, **shared)]


def index_texts(results):
    """Pages by size: a line for each text, through bloom_index and FTS5."""
    marks = {"bloom_index": ("blue", CIRCLE), "fts5 none": ("green", DIAMOND), "fts5 full": ("vermilion", TRIANGLE)}
    lines = []
    for text, kind in (("log", "halves"), ("descriptions", "halves"), ("documents", "halves")):
        points = []
        for contestant, mark in marks.items():
            try:
                size = results.rows("index_texts", what=f"text {text}, size", contestant=contestant, unit="share")
                pages = results.rows("index_texts", what=f"text {text}, {kind}", contestant=contestant, unit="pages")
            except Missing:
                continue
            points.append((100 * float(size[0]["value"]), float(pages[0]["value"])))
            name = contestant.replace("fts5 ", "FTS5, detail=")
            lines.append(Line(name if text == "log" else "", [points[-1]], *mark))
        lines.insert(0, Line("" if len(points) < 2 else text, points[:2][::-1], "soft"))
    return "An eighth of the text, and fewer pages than FTS5", [
        Panel(lines, x=(8, 700), y=(3, 1000), log="xy", height=260, xlabel="size, % of the text",
              ylabel="pages that 8 bytes in no row read, cold: median", xticks=[(f"{n} %", n) for n in (10, 20, 50, 100, 200, 500)],
              yticks=[(f"{n:,}", n) for n in (3, 10, 30, 100, 300, 1000)])]


PICTURES = {"joins": joins, "per-row": per_row, "kernels": kernels, "index": index, "index-texts": index_texts}


def main():
    check, keep = sys.argv[1:] == ["--check"], sys.argv[1:2] == ["--keep"]
    if len(sys.argv) not in (1, 3) and not check:
        sys.exit(__doc__)
    results_folder, folder = (sys.argv[2], KEPT) if keep else sys.argv[1:] if len(sys.argv) == 3 else (KEPT, KEPT)
    if not check and not gnuplot_version():
        print("no plots: gnuplot is missing")
        sys.exit(folder == KEPT)
    wrong, kept = [], Results(results_folder)
    for name, picture in PICTURES.items():
        path = os.path.join(folder, name + ".svg")
        results = Results(results_folder)
        try:
            title, panels = picture(results)
        except Missing as missing:
            print(f"no {name}.svg: not measured: {missing}")
            wrong.append(name)
            continue
        for what, lines in results.shown.items():
            shown = kept.shown.setdefault(what, lines[:])
            shown += [line for line in lines if line not in shown]
        text = script(title, panels)
        if check:
            with open(path, encoding="utf-8") as file:
                drawn = file.read()
            if escaped(description(text, results)) not in drawn or (
                    f"{gnuplot_version()}</desc>" in drawn and gnuplot_version() and svg(title, text, results) != drawn):
                print(f"FAILED {os.path.relpath(path)} shows other results than those kept: make plots")
                wrong.append(name)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(svg(title, text, results))
            print(f"wrote {os.path.relpath(path)}")
    if keep:
        kept.keep(KEPT)
    if check:
        print(f"{len(PICTURES) - len(wrong)} passed, {len(wrong)} failed")
    sys.exit(folder == KEPT and not keep and len(wrong) > 0)


if __name__ == "__main__":
    main()

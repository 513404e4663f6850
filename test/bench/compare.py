#!/usr/bin/python3
"""
What `make bench` printed beside what it printed of the releases: what | before | now | ratio.

    make bench >build/bench/now.txt
    compare.py KEPT build/bench/now.txt [PERCENT]      beside the last release that is kept
    compare.py KEPT 1.0.0 [PERCENT]                    the last one beside that
    compare.py KEPT build/bench/now.txt --keep 1.2.0   KEPT with one release more

KEPT is test/bench/results/epyc/make-bench.tsv: figures alone.  Its first line names the releases, and
each other line has a section, what was measured, and `contestant: value value` of each, a value a
release, or - where it had none.  First comes a line a benchmark, with the geometric mean of all
ratios; then the figures that differ by more than PERCENT (20).  Below 1 it takes less now.
"""
import math
import re
import sys

RENAMED = {"digest": "hash"}
# The first figures of a line, where it has several that are times; else the first one is.
FIGURES = {"joins": ("plain", "kept", "built", "kept parquet", "built parquet"),
           "traps": ("plain", "in the trap", "as it should be"), "star": ("plain", "filtered", "hinted", "parquet")}


def figures(path, release=-1):
    """{(section, what, which of these): value}; of a file of figures, those of a release."""
    found, seen, section, group, query, is_first = {}, {}, "", "", "", True
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(("== ", "#", "generating ", "\n")):
                section = line[3:].strip() if line.startswith("== ") else section
                group, query, is_first = "", "", True
                continue
            its = {f"{line.split()[0]}, {name}": value for name, value in re.findall(r"\| ([^|]*?): ([\d.]+)", line)}
            if "\t" in line:
                section, what, *cells = line.rstrip("\n").split("\t")
                its = {f"{what} {name}".strip(): values.split()[release] for name, values in (cell.rsplit(": ", 1) for cell in cells)}
            elif not its:
                words = re.sub(r"\(\s*([\d.]+x?)\)", r"\1", line).split()
                last = max((i for i, word in enumerate(words) if not re.fullmatch(r"[\d.,-]+[x%]?|%", word)), default=-1)
                values = [word for word in words[last + 1:] if re.fullmatch(r"[\d.]+", word) and word.count(".") < 2]
                what = " ".join(RENAMED.get(word, word) for word in words[:last + 1])
                if is_first and (last < 0 or not values):
                    group = re.split(r"\s{2,}", line.strip())[0]
                if section.startswith("applications") and not line.startswith(" "):
                    query = re.split(r"\s{2,}", line)[0]
                elif query:
                    what = f"{query} {what}"
                names = FIGURES.get(section.split(",")[0], ("",))
                its = {f"{what} {name}".strip(): value for name, value in zip(names, values)} if last >= 0 and values else {}
            is_first = False
            for what, value in its.items():
                name = section, f"{group}: {what}" if group and not group.startswith("SQLite") else what
                seen[name] = seen.get(name, 0) + 1
                if value != "-":
                    found[(*name, seen[name])] = float(value)
    return found


def with_one_more(path, now, release):
    """The lines of a file of figures, with those of a run behind them."""
    seen = {}
    with open(path, encoding="utf-8") as lines:
        for i, line in enumerate(line.rstrip("\n") for line in lines):
            if line.startswith("#"):
                yield line + (" " + release if i == 0 else "")
                continue
            section, what, *cells = line.split("\t")
            for n, cell in enumerate(cells):
                name = section, f"{what} {cell.rsplit(': ', 1)[0]}".strip()
                seen[name] = seen.get(name, 0) + 1
                cells[n] += f" {now[(*name, seen[name])]:g}" if (*name, seen[name]) in now else " -"
            yield "\t".join([section, what, *cells])


def main(kept, run, option="20", release=None):
    with open(kept, encoding="utf-8") as file:
        releases = file.readline().split(":")[-1].split()
    if release:
        return print(*with_one_more(kept, figures(run), release), sep="\n")
    before, now = (figures(kept, releases.index(run)), figures(kept)) if run in releases else (figures(kept), figures(run))
    both = {name: now[name] / before[name] for name in before if now.get(name, 0) > 0 and before[name] > 0}
    for section in dict.fromkeys(name[0] for name in both):
        ratios = [ratio for name, ratio in both.items() if name[0] == section]
        print(f"{section:32} | {len(ratios):4} figures | ratio {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    for name, ratio in both.items():
        if abs(ratio - 1) > float(option) / 100:
            print(f"{name[0]}: {name[1]} | {before[name]:g} | {now[name]:g} | {ratio:.2f}")


if len(sys.argv) not in (3, 4, 5):
    sys.exit(__doc__)
main(*sys.argv[1:])

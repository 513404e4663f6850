"""Random histories of databases with filters that stay up to date, each beside a twin without.

    python3 test/vtab/histories.py [--load ./bloom] [--seed N] [--histories N] [--statements N]
        [--seconds N] [--jobs N]
        [--ignore PATTERN ...] [--without KIND ...]
        [--shrink SECONDS] [--replay FILE]

A history makes databases and connections, and mixes all that may happen to a filter: rows
change with every OR clause and in triggers of every kind; savepoints, rollbacks; tables, columns
and filters are made, renamed, dropped and made again; files are attached, detached, copied,
deserialized and restored under names that are in use; statements and queries stay
open; the extension is loaded again.  The connections may share a cache, and some of them
keep their statements (Python does so by itself), others none.

After each step every key of every source table must be found, by look-up and by handle,
through statements that are new and through those that were prepared long before, in this
connection and in another; now and then, and in the end, in a fresh one.  Every statement of
the user's must do what it does without a filter: see history_twins.py.  Absent keys
must be ruled out, unless the filter's note says why not.

A history that fails is shortened to the steps that matter, and written to
build/histories/, from where --replay plays it again.  --ignore passes over what is known
already, --without leaves out a kind of step.
"""
import argparse
import ast
import collections
import json
import math
import os
import random
import re
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback

import history_steps
import history_twins
from history_twins import CRASH, FALSE_NEGATIVE, KINDS_OF_FAULTS, Fault, Twins

HANGS = "it hangs"
MOST_SECONDS = 200  # of one history; if it takes longer, it hangs


def steps_drawn(seed, setup, options, twins):
    """Draws step after step, each when those before it have been played."""
    r = random.Random("steps %s" % seed)
    generator = history_steps.Generator(r, twins, setup, options.without)
    number = 0
    for step in history_steps.begin_with(generator):
        number += 1
        yield number, True, step
    for _ in range(r.choice([40, 120, 250])):
        step = generator.next()
        number += 1
        yield number, r.random() < 0.1, step


def play(setup, options, choose_steps, log):
    """Plays one history; its result, as a dictionary."""
    folder = tempfile.mkdtemp(prefix="bloom-history-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    twins = Twins(folder, setup, options.load, options.ignore)
    fault = None
    try:
        for number, is_quiet, step in choose_steps(twins):
            log((number, is_quiet, step))
            twins.step(number, is_quiet, step)
            if twins.is_abandoned:
                break
        if not twins.is_abandoned:
            twins.finish()
    except Fault as error:
        fault = [error.kind, error.text]
    except Exception:
        fault = ["the model itself", traceback.format_exc()]
    shutil.rmtree(folder, ignore_errors=True)
    return {"fault": fault, "notes": twins.notes, "statements": twins.num_statements, "abandoned": twins.is_abandoned}


class Child:
    """A process that plays a history, since it may crash."""

    def __init__(self, setup, options, choose_steps, most_seconds=MOST_SECONDS):
        self.setup = setup
        self.log = tempfile.TemporaryFile("w+")
        self.result = tempfile.TemporaryFile("w+")
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            signal.alarm(most_seconds)
            def log(entry):
                self.log.write(repr(entry) + "\n")
                self.log.flush()
            try:
                json.dump(play(setup, options, choose_steps, log), self.result)
                self.result.flush()
            except BaseException:
                traceback.print_exc()
            os._exit(0)

    def ended(self, status):
        """The history's steps, and its result."""
        self.log.seek(0)
        steps = [ast.literal_eval(line) for line in self.log if line.endswith("\n")]
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            what = HANGS if number == signal.SIGALRM else signal.Signals(number).name
            result = {"fault": [CRASH, what], "notes": {}, "statements": len(steps), "abandoned": False}
        else:
            self.result.seek(0)
            result = json.load(self.result)
        self.log.close()
        self.result.close()
        return steps, result

    def wait(self):
        return self.ended(os.waitpid(self.pid, 0)[1])


def replay(setup, options, steps, most_seconds=MOST_SECONDS):
    return Child(setup, options, lambda twins: iter(steps), most_seconds).wait()[1]


def signature(fault):
    """What a fault that was found again must have in common with it."""
    kind, text = fault
    if kind == FALSE_NEGATIVE or (kind == CRASH and text != HANGS):
        return kind
    text = text.split(" (code")[0].split("\n")[0]
    return kind + re.sub(r"\"[^\"]*\"|'[^']*'|\b(main|aux|two)\.\w+|\w*_(before|after|keys)\w*|\d+|\b[a-z]\b", "~", text)[:60]


def shrink(setup, options, steps, fault):
    """Leaves out looks and steps as long as that fault remains."""
    end = time.monotonic() + options.shrink
    def fails(some):
        found = replay(setup, options, some, 20)["fault"]
        return found is not None and signature(found) == signature(fault)
    if not fails(steps):
        return steps, False
    without_looks = [(number, True, step) for number, _, step in steps[:-1]] + steps[-1:]
    if fails(without_looks):
        steps = without_looks
    size = max(1, len(steps) // 2)
    while time.monotonic() < end:
        i, is_shorter = 0, False
        while i < len(steps) and time.monotonic() < end:
            # From the end: what came last is seldom what it is about, or all of it.
            stop = len(steps) - i
            some = steps[:max(0, stop - size)] + steps[stop:]
            if some and fails(some):
                steps, is_shorter = some, True
            else:
                i += size
        if size > 1:
            size = max(1, size // 2)
        elif not is_shorter:
            break
    return steps, True


def keep(seed, setup, steps):
    os.makedirs("build/histories", exist_ok=True)
    path = "build/histories/%s.py" % seed
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join("%r\n" % (entry,) for entry in [setup] + steps))
    return path


def report(seed, setup, options, steps, fault):
    print("FAILED: seed %s, step %d: %s: %s" % (seed, len(steps), *fault), flush=True)
    is_again = True
    if options.shrink > 0:
        steps, is_again = shrink(setup, options, steps, fault)
    if not is_again:
        print("  played again, it does not fail")
    else:
        fault = replay(setup, options, steps)["fault"] or fault
        print("  with %d steps: %s: %s" % (len(steps), *fault))
    print("  %r" % {key: value for key, value in setup.items() if key != "without"})
    for number, is_quiet, step in steps if len(steps) < 80 else []:
        print("  " + history_twins.shown(number, step) + (" -- and no look" if is_quiet else ""))
    print("  %s --load %s --replay %s" % (sys.argv[0], options.load, keep(seed, setup, steps)), flush=True)


def play_again(options):
    with open(options.replay, encoding="utf-8") as file:
        setup, *steps = [ast.literal_eval(line) for line in file]
    fault = replay(setup, options, steps)["fault"]
    if fault and options.shrink:
        report(os.path.basename(options.replay).split(".")[0], setup, options, steps, fault)
    else:
        for number, is_quiet, step in steps:
            print(history_twins.shown(number, step) + (" -- and no look" if is_quiet else ""))
        if fault:
            print("FAILED: %s: %s" % tuple(fault))
    return 1 - bool(fault), int(bool(fault))


def processor_seconds():
    return sum(os.times()[:4])


def play_many(options):
    start = time.monotonic()
    seeds = iter(range(options.seed, options.seed + (options.histories or 10**9)))
    running = {}
    notes = collections.Counter()
    num_passed = num_failed = num_statements = num_abandoned = 0
    while True:
        is_time = time.monotonic() - start < options.seconds
        if is_time and num_statements < (options.statements or math.inf) and num_failed < options.most_failures and len(running) < options.jobs:
            seed = next(seeds, None)
            if seed is not None:
                setup = history_steps.draw_setup(random.Random("setup %d" % seed))
                child = Child(setup, options, lambda twins, seed=seed, setup=setup: steps_drawn(seed, setup, options, twins))
                running[child.pid] = seed, child
                continue
        if not running:
            break
        pid, status = os.wait()
        seed, child = running.pop(pid)
        steps, result = child.ended(status)
        num_statements += result["statements"]
        notes.update(result["notes"])
        if result["fault"] and any(re.search(pattern, "%s: %s" % tuple(result["fault"])) for pattern in options.ignore):
            result = dict(result, fault=None, abandoned=True)  # a crash
        num_abandoned += result["abandoned"]
        if not result["fault"]:
            num_passed += not result["abandoned"]
            continue
        num_failed += 1
        notes["faults: " + result["fault"][0]] += 1
        print("note: seed %d fails after %.1f s of processor time" % (seed, processor_seconds()))
        if num_failed <= options.most_shown:
            report(seed, child.setup, options, steps, result["fault"])
        else:
            print("FAILED: seed %d, step %d: %s: %s" % (seed, len(steps), *result["fault"]), flush=True)
            keep(seed, child.setup, steps)
    for what, count in sorted(notes.items()):
        print("%d %s" % (count, what))
    print("note: %d statements in %.0f s (%.0f s of processor time)%s" % (
        num_statements, time.monotonic() - start, processor_seconds(),
        num_abandoned and "; %d histories ended early, where the two worlds may differ" % num_abandoned or ""))
    return num_passed, num_failed


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--load", default="./bloom")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("BLOOM_TEST_SEED") or time.time()))
    parser.add_argument("--histories", type=int, help="at most so many")
    parser.add_argument("--statements", type=int, help="until there were so many")
    parser.add_argument("--seconds", type=float, help="at most so long; 20 if nothing else is said")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--ignore", action="append", default=[], metavar="PATTERN",
                        help="pass over faults that are described so; a kind is a pattern, too: " + ", ".join(KINDS_OF_FAULTS))
    parser.add_argument("--without", action="append", default=[], choices=sorted(history_steps.NAMES), metavar="KIND",
                        help="draw no steps of that kind: " + ", ".join(sorted(history_steps.NAMES)))
    parser.add_argument("--shrink", type=float, metavar="SECONDS", help="for each failure, 30 s if not said; with --replay: shorten it further")
    parser.add_argument("--most-failures", type=int, default=5, help="then it stops")
    parser.add_argument("--most-shown", type=int, default=5, help="so many of them are shortened and shown")
    parser.add_argument("--replay", metavar="FILE")
    options = parser.parse_args()
    if options.shrink is None:
        options.shrink = 0 if options.replay else 30
    if options.seconds is None:
        options.seconds = 20 if options.statements is None and options.histories is None else math.inf
    if options.replay:
        num_passed, num_failed = play_again(options)
    else:
        print("note: seed %d; BLOOM_TEST_SEED=%d draws the same; SQLite %s" % (options.seed, options.seed, sqlite3.sqlite_version))
        num_passed, num_failed = play_many(options)
    print("%d passed, %d failed" % (num_passed, num_failed))
    return 1 if num_failed or not num_passed else 0


if __name__ == "__main__":
    sys.exit(main())

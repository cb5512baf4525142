"""How long a person waits for the page, on a file of 100,000 x 9: wall seconds, on a real server, by plain requests.

    python benchmarks/ui.py             # 100,000 records
    python benchmarks/ui.py --large 2   # also a Parquet file of some 2 GB, opened with --memory 1GB

open: from sending the path to the page of columns. role: a changed role, until the page is drawn. candidate: one
candidate in the page, and the same by `compare` in a process that has the file open, taking turns. Each after a first
time, with kernels compiled; the least of several counts.
"""

from __future__ import annotations

import argparse
import http.client
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


def table(n):
    """Four numbers, two whole ones, two columns of categories, and a confidential one."""
    rng = np.random.default_rng(0)
    columns = {f"size{j}": np.round(rng.lognormal(3, 1, n), 3) for j in range(4)}
    columns |= {"age": rng.integers(18, 90, n), "visits": rng.integers(0, 60, n)}
    columns |= {"region": pa.array(rng.choice(list("abcdefgh"), n)), "trade": pa.array(rng.choice(list("klmno"), n))}
    return pa.table(columns | {"income": np.round(rng.lognormal(8, 1, n), 2)})


class Person:
    """Somebody at the page, without a browser."""

    def __init__(self, root, *options):
        command = [sys.executable, "-m", "coterie", "ui", "--no-browser", "--root", str(root), *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        link = next(line for line in self.process.stderr if line.startswith("http://"))
        self.port, token = re.search(r":(\d+)/\?token=(\S+)", link).groups()
        answer = self.ask("GET", f"/?token={token}")
        self.cookie = answer.getheader("set-cookie").split(";")[0]

    def ask(self, method, path, form=None):
        """A request, and its answer, read."""
        host = f"127.0.0.1:{self.port}"
        headers = {"Host": host, "Origin": f"http://{host}", "Cookie": getattr(self, "cookie", "")}
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = http.client.HTTPConnection(host, timeout=3_600)
        connection.request(method, path, None if form is None else urlencode(form, doseq=True), headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        return answer

    def send(self, path, form, until):
        """Send a form, and look at the page until something is there; the seconds."""
        began = time.perf_counter()
        answer = self.ask("POST", path, form)
        at = answer.getheader("location") or path
        while until not in (text := self.ask("GET", at.split("#")[0]).text):
            if 'class="job failed' in text:
                raise SystemExit(re.search(r'class="words">(.*?)<', text)[1])
            time.sleep(0.1)
        return time.perf_counter() - began

    def close(self):
        self.process.terminate()
        self.process.wait(30)


def opened(person, file):
    """From the path to the columns."""
    began = time.perf_counter()
    person.send("/open", {"path": file}, "Go on to the columns")
    assert "What each column is" in person.ask("GET", "/columns").text
    return time.perf_counter() - began


def compared(source):
    """One candidate by `compare`, of a file that is open: wall seconds."""
    import coterie as ct

    roles = {"quasi": [f"size{j}" for j in range(4)] + ["age", "visits", "region", "trade"], "confidential": ["income"]}
    began = time.perf_counter()
    ct.compare(source, [5], ["mdav"], **roles)
    return time.perf_counter() - began


def small(root, times=3):
    """The waits of one who works on 100,000 records."""
    pyarrow.csv.write_csv(table(100_000), root / "t.csv")
    pyarrow.csv.write_csv(table(1_000), root / "first.csv")
    person = Person(root)
    try:
        opened(person, "first.csv")
        found = {"open to columns": min(opened(person, "t.csv") for _ in range(times)), "target": 2.0}
        print(f"open to columns   {found['open to columns']:.2f} s (target 2)")
        turns = [
            person.send("/columns", {"set": "0", "role-0": role}, "What each column is")
            for role in ("other", "quasi") * times
        ]
        print(f"a changed role    {min(turns):.3f} s, at most {max(turns):.3f} (target 0.3)")
        person.send("/columns", {"action": "confirm-all"}, "Go on to the promise")
        import coterie as ct

        source, spent = ct.open_source(root / "t.csv"), []
        for _ in range(times + 1):  # the first reads what the others find
            person.ask("POST", "/candidates/drop", {"all": "yes"})
            here = person.send("/candidates", {"k": "5", "method": "mdav"}, "best for k = 5")
            spent.append((here, compared(source)))
        mine, theirs = (min(turn[j] for turn in spent[1:]) for j in (0, 1))
        print(f"a candidate       {mine:.2f} s, by compare {theirs:.2f} s: {mine / theirs:.2f} times")
    finally:
        person.close()


def peak(pid, most, stop):
    """The largest resident memory of a process and its children, looked at again and again."""
    while not stop.is_set():
        pids = [str(pid)]
        children = Path(f"/proc/{pid}/task/{pid}/children")
        pids += children.read_text().split() if children.exists() else []
        total = 0
        for one in pids:
            try:
                total += int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{one}/status").read_text())[1])
            except (OSError, TypeError):
                continue
        most[0] = max(most[0], total / 1024)
        time.sleep(0.2)


def large(root, size):
    """A Parquet file of so many GB, with a memory limit of 1 GB."""
    path = root / "large.parquet"
    with pyarrow.parquet.ParquetWriter(path, table(1).schema, compression="none") as writer:
        millions = 0
        while path.stat().st_size < size * 1e9:
            writer.write_table(table(1_000_000))
            millions += 1
    person = Person(root, "--memory", "1GB")
    most, stop = [0.0], threading.Event()
    watch = threading.Thread(target=peak, args=(person.process.pid, most, stop))
    watch.start()
    try:
        seconds = opened(person, "large.parquet")
        what = f"a Parquet file of {path.stat().st_size / 1e9:.1f} GB, {millions} million records, with --memory 1GB"
        print(f"{what}: open to columns {seconds:.0f} s, peak memory of server and worker {most[0]:,.0f} MB")
    finally:
        stop.set()
        watch.join()
        person.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", type=float, metavar="GB")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small(Path(folder))
        if given.large:
            large(Path(folder), given.large)

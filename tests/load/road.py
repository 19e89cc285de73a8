#!/usr/bin/env python3
"""The whole road under load: 1,000 Markdown documents from a cold start of the program, then queries over HTTP.

    cargo build --release && python3 tests/load/road.py [--quarry target/release/quarry] [--documents DIR] [--queries FILE]

Without --documents it writes 1,000 documents of its own. Beside quarry, in the same run, SQLite FTS5 (through Python's
sqlite3) indexes and searches the same text: the ratio is what travels between machines. Prints one JSON object.
"""
import argparse
import http.client
import json
import os
import platform
import random
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

WORDS = ("valve pump river station current pressure winter archive council harbour signal bridge engine copper meadow letter window "
         "garden market silver travel morning station north village record island forest paper number colour music border summer "
         "metal school teacher kitchen doctor history science language animal mountain railway theatre factory hospital").split()


def write_documents(folder, count):
    """Documents of 3 to 6 sections with Zipf-like words and a rare name each."""
    chance = random.Random(7)
    queries = []
    for n in range(count):
        name = f"{chance.choice(WORDS)}-{chance.choice(WORDS)}-{n:04d}"
        lines = [f"# {name.replace('-', ' ').title()}", ""]
        for section in range(chance.randint(3, 6)):
            lines += [f"## {chance.choice(WORDS).title()} and {chance.choice(WORDS)} {section + 1}", ""]
            for _ in range(chance.randint(2, 4)):
                words = [WORDS[min(int(chance.paretovariate(0.7)) - 1, len(WORDS) - 1)] for _ in range(chance.randint(40, 80))]
                words[chance.randrange(len(words))] = f"N{n:04d}{section}"
                lines += [" ".join(words).capitalize() + ".", ""]
        (folder / f"{name}.md").write_text("\n".join(lines))
        if n % 10 == 0:
            queries.append(f"{name.split('-')[0]} {chance.choice(WORDS)} N{n:04d}1")
    return queries


class Memory(threading.Thread):
    """The largest sum of proportional memory (pages shared by several processes count once) over a process and all it
    started, in bytes, sampled ten times a second."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.peak, self.over = pid, 0, False

    def run(self):
        while not self.over:
            parents = {}
            for entry in filter(str.isdigit, os.listdir("/proc")):
                try:
                    parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
                except OSError:
                    continue
            total = 0
            for pid in parents:
                up = pid
                while up not in (0, 1, self.pid):
                    up = parents.get(up, 0)
                if up == self.pid:
                    try:
                        total += next(int(line.split()[1]) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() if line.startswith("Pss:")) * 1024
                    except (OSError, StopIteration):
                        continue
            self.peak = max(self.peak, total)
            time.sleep(0.1)


def ingest(quarry, documents, data):
    start = time.perf_counter()
    process = subprocess.Popen([quarry, "ingest", str(documents), "--data", str(data), "--wait", "--json"], stdout=subprocess.PIPE, text=True)
    memory = Memory(process.pid)
    memory.start()
    out, _ = process.communicate()
    memory.over = True
    if process.returncode:
        sys.exit(f"quarry ingest ended with {process.returncode}: {out[-500:]}")
    return time.perf_counter() - start, memory.peak


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask_over_http(quarry, data, queries, rounds):
    """Latencies in seconds of warm queries over one connection; the first pass over all queries is not counted."""
    port = free_port()
    server = subprocess.Popen([quarry, "serve", "--port", str(port), "--data", str(data)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                connection.request("GET", "/health")
                connection.getresponse().read()
                break
            except OSError:
                time.sleep(0.05)
        latencies, empty = [], 0
        for turn in range(rounds + 1):
            for n, query in enumerate(queries):
                # A different top_k each round, so that no answer comes from the cache.
                body = json.dumps({"query": query, "top_k": 10 + turn})
                start = time.perf_counter()
                connection.request("POST", "/v1/retrieval/query", body, {"Content-Type": "application/json", "Authorization": "Bearer sk_local"})
                answer = json.loads(connection.getresponse().read())
                if turn:
                    latencies.append(time.perf_counter() - start)
                empty += not answer.get("results")
        return sorted(latencies), empty
    finally:
        server.terminate()
        server.wait()


def peer(documents, queries):
    """SQLite FTS5 over the same files, one row a paragraph: seconds to build, and sorted latencies of top 10."""
    start = time.perf_counter()
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE t USING fts5(name, body, tokenize='porter unicode61')")
    for path in sorted(documents.iterdir()):
        for paragraph in path.read_text().split("\n\n"):
            base.execute("INSERT INTO t VALUES (?, ?)", (path.name, paragraph))
    base.commit()
    built = time.perf_counter() - start
    latencies = []
    for query in queries * 2:
        words = " OR ".join('"' + w.replace('"', "") + '"' for w in query.split())
        start = time.perf_counter()
        base.execute("SELECT name, body FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (words,)).fetchall()
        latencies.append(time.perf_counter() - start)
    return built, sorted(latencies)


def machine():
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), platform.processor())
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release()}"


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--quarry", default="target/release/quarry")
    ap.add_argument("--documents", type=Path)
    ap.add_argument("--queries", type=Path, help="one JSON object with a `query` a line")
    ap.add_argument("--count", type=int, default=1000)
    ap.add_argument("--rounds", type=int, default=5)
    a = ap.parse_args()
    work = Path(tempfile.mkdtemp(prefix="quarry-load-"))
    try:
        documents = a.documents
        if documents is None:
            documents = work / "documents"
            documents.mkdir()
            queries = write_documents(documents, a.count)
        else:
            queries = [json.loads(line)["query"] for line in a.queries.open()]
        seconds, peak = ingest(a.quarry, documents, work / "data")
        latencies, empty = ask_over_http(a.quarry, work / "data", queries, a.rounds)
        built, theirs = peer(documents, queries)
        at = lambda values, share: round(values[min(int(len(values) * share), len(values) - 1)] * 1e3, 2)
        count = sum(1 for _ in documents.iterdir())
        print(json.dumps({
            "machine": machine(), "documents": count, "megabytes": round(sum(p.stat().st_size for p in documents.iterdir()) / 1e6, 2),
            "ingest_seconds": round(seconds, 2), "documents_per_second": round(count / seconds, 1), "peak_megabytes": round(peak / 1e6, 1),
            "queries": len(latencies), "queries_without_results": empty, "http_p50_ms": at(latencies, 0.5), "http_p99_ms": at(latencies, 0.99),
            "fts5_build_seconds": round(built, 2), "fts5_p50_ms": at(theirs, 0.5), "fts5_p99_ms": at(theirs, 0.99),
            "ingest_over_fts5_build": round(seconds / built, 1),
        }, indent=2))
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()

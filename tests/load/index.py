#!/usr/bin/env python3
"""The index under load: build, size and warm top-10 of three channels, beside SQLite FTS5 and bm25s on the same text.

    cargo build --release -p quarry-index --example load
    python3 tests/load/index.py --data DIR [--chunks 10000 100000 1000000] [--peers-most 100000]

DIR holds folders with `docs/` of Markdown files whose words are used: the text is made of them by a seeded generator
(`common/index/examples/load/text.rs`), the same on every machine. FTS5 comes with Python's sqlite3; bm25s is measured where
it is installed. The peers answer one channel, without substrings; they ask the same questions. Prints one JSON object for
each size.
"""
import argparse
import json
import os
import platform
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def quantiles(times):
    times = sorted(1000 * t for t in times)
    return {name: round(times[int((len(times) - 1) * share)], 3) for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))}


def timed(ask, queries):
    """Asks every question once untimed, then once timed."""
    times = []
    for query in queries:
        ask(query)
    for query in queries:
        start = time.perf_counter()
        ask(query)
        times.append(time.perf_counter() - start)
    return quantiles(times)


def fts5(rows, queries, folder):
    path = folder / "fts5.db"
    db = sqlite3.connect(path)
    db.execute("PRAGMA cache_size = -1000000")
    start = time.perf_counter()
    db.execute("CREATE VIRTUAL TABLE chunks USING fts5(path, content)")
    db.executemany("INSERT INTO chunks VALUES (?, ?)", rows)
    db.commit()
    built = time.perf_counter() - start

    def ask(query):
        words = " OR ".join(f'"{word}"' for word in query.split())
        return db.execute("SELECT rowid FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT 10", (words,)).fetchall()

    warm = timed(ask, queries)
    db.close()
    return {"build_chunks_per_s": round(len(rows) / built), "size_mb": round(os.path.getsize(path) / 1e6, 1), "warm_ms": warm}


def bm25s(rows, queries):
    try:
        import bm25s as library
    except ImportError:
        return None
    words = re.compile(r"\w\w+")
    start = time.perf_counter()
    tokens = library.tokenize([f"{path} {content}" for path, content in rows], show_progress=False)
    index = library.BM25()
    index.index(tokens, show_progress=False)
    built = time.perf_counter() - start

    def ask(query):
        return index.retrieve([words.findall(query.lower())], k=10, show_progress=False)

    return {"build_chunks_per_s": round(len(rows) / built), "warm_ms": timed(ask, queries)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="../shared/eval/retrieval")
    parser.add_argument("--program", default="target/release/examples/load")
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--peers-most", type=int, default=100_000, help="larger corpora are not given to the peers")
    options = parser.parse_args()
    if not Path(options.data).is_dir():
        sys.exit(f"{options.data} is not here: nothing to write text with")
    for chunks in options.chunks:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            text, asked = folder / "text.tsv", folder / "queries.txt"
            files = [text, asked] if chunks <= options.peers_most else []
            run = subprocess.run([options.program, options.data, str(chunks), *map(str, files)], check=True, stdout=subprocess.PIPE)
            out = json.loads(run.stdout)
            out["machine"] = {"processor": platform.processor() or platform.machine(), "load": os.getloadavg()[0]}
            if files:
                rows = [line.split("\t", 1) for line in text.read_text().splitlines()]
                queries = asked.read_text().splitlines()
                out["fts5"] = fts5(rows, queries, folder)
                out["bm25s"] = bm25s(rows, queries)
            print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Agentic queries without a model over namespaces of 50 and of 500 documents: the large one may take twice as long.

    cargo build --release && python3 tests/load/agentic.py [--quarry target/release/quarry] [--documents DIR --queries FILE]

Writes documents of its own (as road.py does); with --documents and --queries (a JSONL file, field `query`) it measures these as a
third namespace. Every query is asked once after a warm-up, so that no answer comes out of the cache. Prints one JSON object; exits
with 1 when a limit is missed.
"""
import argparse
import http.client
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from road import write_documents

QUERIES = 60
P99_MS = 150.0


def questions(folder, names):
    """Comparisons, lists and single questions about documents that are there."""
    chance = random.Random(11)
    titles = [path.read_text().splitlines()[0][2:] for path in sorted(folder.iterdir())]
    out = []
    for n in range(QUERIES):
        first, second = chance.sample(titles, 2)
        out.append([f"Which is older, {first} or {second}?", f"What does {first} say about the {names[n % len(names)].split()[1]}?",
                    f"Who built {first} and where is {second}?"][n % 3])
    return out


def ask(port, namespace, query):
    body = json.dumps({"query": query, "namespace": namespace, "use_agentic": True, "top_k": 10})
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    start = time.perf_counter()
    connection.request("POST", "/v1/retrieval/query", body, {"Content-Type": "application/json", "Authorization": "Bearer sk_local"})
    answer = json.loads(connection.getresponse().read())
    elapsed = (time.perf_counter() - start) * 1e3
    connection.close()
    assert answer["router_used"].startswith("workflow"), answer
    return elapsed


def measure(port, namespace, queries):
    ask(port, namespace, "warm up")
    times = sorted(ask(port, namespace, query) for query in queries)
    return {"queries": len(times), "p50_ms": round(times[len(times) // 2], 2), "p99_ms": round(times[int((len(times) - 1) * 0.99)], 2)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quarry", default="target/release/quarry")
    parser.add_argument("--documents", type=Path)
    parser.add_argument("--queries", type=Path)
    arguments = parser.parse_args()
    result = {}
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        data = str(work / "data")
        sets = {}
        for count in (50, 500):
            folder = work / str(count)
            folder.mkdir()
            names = write_documents(folder, count)
            sets[f"own{count}"] = (folder, questions(folder, names))
        if arguments.documents:
            sets["given"] = (arguments.documents, [json.loads(line)["query"] for line in arguments.queries.read_text().splitlines()])
        for namespace, (folder, _) in sets.items():
            subprocess.run([arguments.quarry, "--data", data, "ingest", str(folder), "--namespace", namespace], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = subprocess.Popen([arguments.quarry, "--data", data, "--json", "serve", "--port", "18461"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                try:
                    ask(18461, "own50", "ready")
                    break
                except OSError:
                    time.sleep(0.1)
            for namespace, (_, queries) in sets.items():
                result[namespace] = measure(18461, namespace, queries)
        finally:
            server.terminate()
            server.wait()
    result["ratio_500_to_50"] = round(result["own500"]["p50_ms"] / result["own50"]["p50_ms"], 2)
    print(json.dumps(result, indent=2))
    slow = [name for name, one in result.items() if isinstance(one, dict) and one["p99_ms"] > P99_MS]
    if result["ratio_500_to_50"] > 2.0 or slow:
        sys.exit(f"too slow: {slow or 'ratio'}")


if __name__ == "__main__":
    main()

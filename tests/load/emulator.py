"""A thousand mixed documents through the deployed stack on the emulator: what becomes of them, and how fast.

    localstack/start && localstack/deploy
    target/venv-emulator/bin/python tests/load/emulator.py --state target/emulator/stack.json [--documents 1000]

Of the documents one in a hundred is poison (a damaged file) and one in ten is dropped twice. In the end every good document must be found by its own word,
exactly once; every bad one must have failed with its code; no job may be under way; no dead letter may lie anywhere; no log line may name a document.
"""

import argparse
import collections
import io
import json
import os
import random
import re
import secrets
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3
from botocore.config import Config

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "localstack"))
from smoke import docx  # noqa: E402


# The emulator evaluates a query's condition on every record of a partition, whatever its limit: one large corpus measures that.
NAMESPACES = 10


class Api:
    """The deployed API. Its host name does not resolve here, so it travels in the Host header."""

    def __init__(self, stack: dict):
        self.endpoint = os.environ["AWS_ENDPOINT_URL"]
        port = urllib.parse.urlsplit(self.endpoint).port
        self.headers = {
            "Host": f"{stack['ApiId']}.execute-api.localhost:{port}",
            "Authorization": f"Bearer {stack['AdminKey']}",
            "Content-Type": "application/json",
        }

    def call(self, method: str, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(5):
            request = urllib.request.Request(self.endpoint + path, data=data, headers=self.headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=120) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code < 500 or attempt == 4:
                    sys.exit(f"{method} {path}: {error.code}: {error.read().decode(errors='replace')[:1000]}")
            time.sleep(1)
        raise AssertionError


def word(run: str, n: int) -> str:
    """One word that stands in this document only: letters alone, so that it is one word in every analysis."""
    letters = "bcdfghjklmnpqrstvwxz"
    out = "quarry"
    for _ in range(4):
        out += letters[n % 20] + "aeiou"[(n // 7) % 5]
        n //= 20
    return out + run


SENTENCES = [
    "The {} runs at fourteen hundred revolutions a minute and is looked after every nine weeks.",
    "Each {} is greased with lithium grease of the second class and never with the first.",
    "When the pressure of the {} falls below two bar the valve closes and the operator is called.",
    "What was seen at the {} is written into the log of the station, with the date and the name.",
    "A {} whose bolts were loosened is balanced again before it is used.",
]


def sentence(chance: random.Random) -> str:
    """A sentence about one of some thousand things: documents of one corpus share some words and not all."""
    thing = "".join(chance.choice("bdfgklmnprstv") + chance.choice("aeiou") for _ in range(3))
    return chance.choice(SENTENCES).format(thing)


def text_of(run: str, n: int, chance: random.Random) -> list[str]:
    own = f"The {word(run, n)} device has the number {n} and stands in hall {n % 13}."
    return [own] + [sentence(chance) for _ in range(chance.randrange(3, 30))]


def document(run: str, n: int, chance: random.Random) -> tuple[str, bytes]:
    lines = text_of(run, n, chance)
    kind = n % 8
    if kind in (0, 1):
        return f"manual-{n}.docx", docx(f"Device {n}", *lines)
    if kind in (2, 3):
        body = "\n\n".join(lines)
        return f"note-{n}.md", f"# Device {n}\n\n{body}\n\n## Parts\n\n| Part | Number |\n|---|---|\n| Bolt | {n} |\n".encode()
    if kind in (4, 5):
        body = "".join(f"<p>{line}</p>" for line in lines)
        return f"page-{n}.html", f"<!DOCTYPE html><html><body><h1>Device {n}</h1>{body}</body></html>".encode()
    if kind == 6:
        return f"plain-{n}.txt", ("\n\n".join(lines) + "\n").encode()
    rows = "\n".join(f"{word(run, n)},{i},{chance.randrange(1000)}" for i in range(20))
    return f"table-{n}.csv", f"device,row,value\n{rows}\n".encode()


def poison(n: int) -> tuple[str, bytes, set[str]]:
    """A document that cannot be read, and the codes that say so."""
    if n % 3 == 0:
        return f"poison-{n}.docx", b"PK\x03\x04" + bytes(range(200)), {"CORRUPT", "UNSUPPORTED"}
    if n % 3 == 1:
        return f"poison-{n}.md", b"", {"EMPTY"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types")
        archive.writestr("word/document.xml", "<w:document")
    return f"poison-{n}.docx", buffer.getvalue(), {"CORRUPT"}


class Memory(threading.Thread):
    """The peak of what the emulator and its functions hold together, by /proc, in MB."""

    def __init__(self, root: int):
        super().__init__(daemon=True)
        self.root, self.peak, self.over = root, 0, False

    def run(self) -> None:
        while not self.over:
            children, resident = collections.defaultdict(list), {}
            for entry in Path("/proc").iterdir():
                if entry.name.isdigit():
                    try:
                        stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                        children[int(stat[1])].append(int(entry.name))
                        resident[int(entry.name)] = int(stat[21]) * 4096
                    except (OSError, IndexError):
                        pass
            open_, total = [self.root], 0
            while open_:
                one = open_.pop()
                total += resident.get(one, 0)
                open_ += children[one]
            self.peak = max(self.peak, total / 1e6)
            time.sleep(1)


def jobs_of(api: Api, namespace: str) -> list[dict]:
    jobs, page = [], 1
    while True:
        answer = api.call("GET", f"/v1/jobs?namespace={namespace}&page={page}&page_size=100")
        jobs += answer["jobs"]
        if len(jobs) >= answer["total"] or not answer["jobs"]:
            return jobs
        page += 1


def documents_of(api: Api, namespace: str) -> list[dict]:
    documents, page = [], 1
    while True:
        answer = api.call("GET", f"/v1/documents?namespace={namespace}&page={page}&page_size=100")
        documents += answer["documents"]
        if len(answer["documents"]) < 100:
            return documents
        page += 1


def percentiles(values: list[float]) -> str:
    """How long things took, in a few words."""
    values = sorted(values)
    at = lambda share: values[min(len(values) - 1, int(share * len(values)))]
    return f"p50 {at(0.5):.2f} s, p95 {at(0.95):.2f} s, max {values[-1]:.2f} s"


def bulk(api: Api, stack: dict, s3, sqs, count: int, seconds: float) -> None:
    run = "".join(random.choice("bcdfghjk") for _ in range(4))
    home = lambda name: f"load-{run}-{int(name.split('-')[1].split('.')[0]) % NAMESPACES}"
    homes = [f"load-{run}-{n}" for n in range(NAMESPACES)]
    chance = random.Random(7)
    good: dict[str, str] = {}
    bad: dict[str, set[str]] = {}
    drops: list[tuple[str, bytes]] = []
    for n in range(count):
        if n % 100 == 37:
            name, body, codes = poison(n // 100)
            bad[name] = codes
        else:
            name, body = document(run, n, chance)
            good[name] = word(run, n)
        drops.append((name, body))
    doubled = [drop for n, drop in enumerate(drops) if n % 10 == 3]
    chance.shuffle(drops)
    begun = time.monotonic()

    def drop(one: tuple[str, bytes]) -> None:
        s3.put_object(Bucket=stack["BucketName"], Key=f"inbox/{home(one[0])}/{one[0]}", Body=one[1])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(drop, drops))
        list(pool.map(drop, doubled))
    print(f"{len(drops)} documents and {len(doubled)} doubled ones are in the bucket after {time.monotonic() - begun:.1f} s", flush=True)
    end, jobs, reported = begun + seconds, [], 0.0
    while time.monotonic() < end:
        time.sleep(5)
        jobs = [job for home_ in homes for job in jobs_of(api, home_)]
        states = collections.Counter(job["status"] for job in jobs)
        if time.monotonic() - reported > 30:
            reported = time.monotonic()
            print(f"  {time.monotonic() - begun:.0f} s: {dict(states)}", flush=True)
        names = {job["file_name"] for job in jobs}
        if len(names) == len(drops) and not set(states) - {"done", "failed"}:
            break
    took = time.monotonic() - begun
    faults = []
    ends = collections.defaultdict(set)
    for job in jobs:
        ends[job["file_name"]].add((job["status"], (job.get("error") or {}).get("code")))
    for name in good:
        if ends[name] != {("done", None)}:
            faults.append(f"{name}: {ends[name]}")
    for name, codes in bad.items():
        if not ends[name] or any(status != "failed" or code not in codes for status, code in ends[name]):
            faults.append(f"{name}: {ends[name]}, not one of {codes}")
    documents = [document for home_ in homes for document in documents_of(api, home_)]
    twice = [name for name, times in collections.Counter(d["source_file_name"] for d in documents).items() if times > 1]
    faults += [f"{name} is there more than once" for name in twice]
    if len(documents) != len(good):
        faults.append(f"{len(documents)} documents instead of {len(good)}")

    def found(one: tuple[str, str]) -> str | None:
        answer = api.call("POST", "/v1/retrieval/query", {"query": one[1], "namespace": home(one[0]), "top_k": 3})
        names = [result["source"]["source_file_name"] for result in answer["results"]]
        return None if names and names[0] == one[0] else f"{one[0]}: {one[1]} finds {names}"

    with ThreadPoolExecutor(4) as pool:
        faults += [fault for fault in pool.map(found, good.items()) if fault]
    faults += told(set(good) | set(bad) | set(good.values()))
    for key, url in stack.items():
        if key.endswith("DeadLettersUrl"):
            attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])["Attributes"]
            if attributes["ApproximateNumberOfMessages"] != "0":
                faults.append(f"{key}: {attributes['ApproximateNumberOfMessages']} dead letters")
    print(f"{len(good)} good and {len(bad)} bad documents ended after {took:.1f} s ({len(drops) / took:.1f} documents a second), {len(jobs)} jobs")
    if faults:
        print("\n".join(faults[:30]))
        sys.exit(f"{len(faults)} faults")
    print("every good document is found first by its word and once only, every bad one has its code, nothing is under way, no dead letters")


def told(names: set[str]) -> list[str]:
    """Lines of the functions' logs that name a document or repeat its word."""
    logs, faults = boto3.client("logs"), []
    groups = [group["logGroupName"] for group in logs.describe_log_groups(logGroupNamePrefix="/quarry/")["logGroups"]]
    for group in groups:
        # The emulator gives no token to go on with: the next page begins at the last moment of this one.
        since, seen = 0, set()
        while True:
            events = logs.filter_log_events(logGroupName=group, limit=10000, startTime=since)["events"]
            fresh = [event for event in events if (event["timestamp"], event["message"]) not in seen]
            for event in fresh:
                parts = set(re.split(r"[^\w.-]+", event["message"]))
                if parts & names:
                    faults.append(f"a log line names {sorted(parts & names)[:3]}: {event['message'][:200]}")
            if not fresh:
                break
            seen, since = {(event["timestamp"], event["message"]) for event in fresh}, max(event["timestamp"] for event in fresh)
    return faults


def latency(api: Api, stack: dict, s3, runs: int) -> None:
    """One DOCX of about ten pages at a time: from the object to the first answer that cites it."""
    namespace = f"latency-{secrets.token_hex(3)}"
    chance = random.Random(3)
    took, searches = [], []
    for n in range(runs):
        own = word(secrets.token_hex(2).translate(str.maketrans("0123456789", "bcdfghjklm")), n)
        paragraphs = [f"Paragraph {i} of the {own} device. " + " ".join(sentence(chance) for _ in range(5)) for i in range(60)]
        s3.put_object(Bucket=stack["BucketName"], Key=f"inbox/{namespace}/ten-pages-{n}.docx", Body=docx("Device", *paragraphs))
        begun = time.monotonic()
        while True:
            asked = time.monotonic()
            answer = api.call("POST", "/v1/retrieval/query", {"query": own, "namespace": namespace, "top_k": 1})
            now = time.monotonic()
            searches.append(now - asked)
            if answer["results"]:
                took.append(now - begun)
                break
            if now - begun > 60:
                sys.exit("not found within a minute")
    print(f"from the object to the answer, a DOCX of ten pages, {runs} times: {percentiles(took)}")
    print(f"a search over HTTP meanwhile: {percentiles(searches)}")
    cold(api, namespace, own)


def cold(api: Api, namespace: str, question: str, runs: int = 7) -> None:
    """A question to a search function that has just been started anew, and the next one beside it."""
    functions, first, second = boto3.client("lambda"), [], []
    name = next(f["FunctionName"] for f in functions.list_functions()["Functions"] if f["FunctionName"].endswith("-search"))
    timeout = functions.get_function_configuration(FunctionName=name)["Timeout"]
    for run in range(runs):
        functions.update_function_configuration(FunctionName=name, Timeout=timeout + 1 + run % 2)
        time.sleep(2)
        for times, more in ((first, ""), (second, " again")):
            begun = time.monotonic()
            # Each question is another one: the cache of answers outlives a function.
            api.call("POST", "/v1/retrieval/query", {"query": f"{question} {run}{more}", "namespace": namespace, "top_k": 5})
            times.append(time.monotonic() - begun)
    functions.update_function_configuration(FunctionName=name, Timeout=timeout)
    print(f"a search on a function just started, {runs} times: {percentiles(first)}; the next one: {percentiles(second)}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--state", type=Path, required=True)
    arguments.add_argument("--documents", type=int, default=1000)
    arguments.add_argument("--seconds", type=float, default=1500)
    arguments.add_argument("--latency-runs", type=int, default=20)
    given = arguments.parse_args()
    stack = json.loads(given.state.read_text())
    settings = Config(max_pool_connections=16)
    s3, sqs, api = boto3.client("s3", config=settings), boto3.client("sqs"), Api(stack)
    memory = Memory(int((given.state.parent / "pid").read_text()))
    memory.start()
    if given.latency_runs:
        latency(api, stack, s3, given.latency_runs)
    if given.documents:
        bulk(api, stack, s3, sqs, given.documents, given.seconds)
    memory.over = True
    print(f"emulator and functions together: {memory.peak:.0f} MB at most")


if __name__ == "__main__":
    main()

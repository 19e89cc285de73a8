"""What users do: every format in, both kinds of search, archive, delete, retry, webhooks."""

import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from stack import Stack, docx, expect, waited

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def every_format(stack: Stack, run: str) -> None:
    """One file of each format, every other one through a presigned address, the rest dropped in: all are read."""
    namespace, files = f"formats-{run}", {}
    for folder in sorted(GOLDEN.iterdir()):
        for source in sorted(folder.glob("*/input.*"))[:1]:
            # A fragment is told by its parser's caller, not by its bytes.
            if folder.name != "fragment":
                files[f"{folder.name}{source.suffix}"] = source.read_bytes()
    for n, (name, body) in enumerate(files.items()):
        (stack.upload if n % 2 else stack.drop)(namespace, name, body)
    jobs = stack.all_ended(namespace, set(files))
    failed = {name: job.get("error") for name, job in jobs.items() if job["status"] != "done"}
    expect(not failed, failed)
    names = sorted(document["source_file_name"] for document in stack.documents(namespace))
    expect(names == sorted(files), names)
    print(f"  {len(files)} formats")


def a_documents_life(stack: Stack, run: str) -> None:
    """Found by classic and by agentic search, archived, deleted, gone; a failed job is tried again and ends the same."""
    namespace = f"life-{run}"
    name, other = f"kestrel-{run}.docx", f"plover-{run}.docx"
    first = stack.upload(namespace, name, docx("Turbine", f"The impeller of kestrel{run} is balanced every nine weeks."))
    second = stack.upload(namespace, other, docx("Reservoir", f"Reservoir plover{run} holds four hundred cubic metres."))
    for job in (first, second):
        expect(stack.ended(job["job_id"])["status"] == "done", job)
    for agentic in (False, True):
        question = {"query": f"How often is kestrel{run} balanced?", "namespace": namespace, "use_agentic": agentic}
        answer = stack.call("POST", "/v1/retrieval/query", question)
        expect("nine weeks" in answer["evidence_text"], answer)
        expect(answer["referenced_chunks"][0] is not None, answer)
    stack.call("POST", f"/v1/documents/{first['document_id']}/archive")
    waited("an archived document is gone", lambda: name not in stack.found(namespace, f"kestrel{run}"))
    stack.call("DELETE", f"/v1/documents/{second['document_id']}")
    waited("a deleted document is gone", lambda: stack.ask("GET", f"/v1/documents/{second['document_id']}")[0] == 404)
    expect(stack.found(namespace, f"plover{run}") == [], "a deleted document is found")

    broken = stack.upload(namespace, f"broken-{run}.docx", b"PK\x03\x04" + bytes(200))
    before = stack.ended(broken["job_id"])
    expect(before["status"] == "failed", before)
    stack.call("POST", f"/v1/jobs/{broken['job_id']}/retry")
    after = stack.ended(broken["job_id"])
    expect(after["status"] == "failed" and after["error"]["code"] == before["error"]["code"], (before, after))


class Receiver(BaseHTTPRequestHandler):
    """Takes webhooks, the first one only at the second try."""

    got: list = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.got.append((dict(self.headers), body))
        self.send_response(503 if len(Receiver.got) == 1 else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


def webhooks(stack: Stack, run: str) -> None:
    """The end of a job is told over a signed request; a receiver that is down is asked again."""
    secret = stack.environment("notifier")["QUARRY_WEBHOOK_SECRET"].encode()
    Receiver.got = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/hook"
        job = stack.upload(f"hooks-{run}", "heron.md", b"# Heron\n\nIt stands.\n", webhook={"url": address})
        expect(stack.ended(job["job_id"])["status"] == "done", job)

        def told():
            stack.invoke("notifier")
            return len(Receiver.got) >= 2

        waited("the webhook after a refusal", told, 90, 5)
        for headers, body in Receiver.got:
            signature = next(value for name, value in headers.items() if "signature" in name.lower())
            moment, code = signature.removeprefix("t=").split(",v1=")
            expect(abs(time.time() - int(moment)) < 300, signature)
            right = hmac.new(secret, moment.encode() + b"." + body, hashlib.sha256).hexdigest()
            expect(hmac.compare_digest(right, code), signature)
            expect(job["job_id"] in json.dumps(json.loads(body)), body)
    finally:
        server.shutdown()

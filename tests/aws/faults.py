"""What goes wrong: events doubled and out of order, poison, dead letters, killed functions, lost messages, a service that fails."""

import json
import os
import random
import signal
import threading
import time
from pathlib import Path

from proxy import Failing
from stack import PATIENCE, Stack, expect, waited


# Of one service: the emulator puts its own address into the name of all.
ENDPOINTS = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SQS"]


def note(run: str, n: int, version: int = 1) -> bytes:
    return f"# Note {n}\n\nThe gauge number {n} of run{run} shows {version} bar.\n".encode()


def event(stack: Stack, key: str, size: int, tag: str, sequence: int) -> str:
    """What the bucket says of one object."""
    return json.dumps({"Records": [{
        "eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "eventTime": f"2026-11-30T10:00:00.{sequence:03}Z",
        "s3": {"bucket": {"name": stack.bucket}, "object": {"key": key, "size": size, "eTag": tag, "sequencer": f"{sequence:016X}"}},
    }]})


def state_of(stack: Stack, namespace: str) -> dict[str, tuple]:
    """Everything that must be equal however the events came."""
    state = {}
    for document in stack.documents(namespace):
        chunks = stack.call("GET", f"/v1/documents/{document['document_id']}/chunks")["chunks"]
        expect(document["source_file_name"] not in state, f"{document['source_file_name']} is there twice")
        state[document["source_file_name"]] = (document["status"], [chunk["chunk_id"] for chunk in chunks])
    return state


def doubled_and_shuffled_events(stack: Stack, run: str, count: int = 20) -> None:
    """Each event once and in order, and each five times in any order: the same in the end."""
    queue, chance = stack.queue("profile"), random.Random(11)
    states = []
    # The bucket is silent meanwhile: the test says what has happened.
    told = stack.s3.get_bucket_notification_configuration(Bucket=stack.bucket)
    told.pop("ResponseMetadata", None)
    for kind, times in (("once", 1), ("five", 5)):
        namespace, events = f"{kind}-{run}", []
        stack.s3.put_bucket_notification_configuration(Bucket=stack.bucket, NotificationConfiguration={})
        try:
            for n in range(count):
                # Every fourth is replaced before anybody looks.
                for version in range(1, 3 if n % 4 == 0 else 2):
                    body, key = note(run, n, version), f"inbox/{namespace}/note-{n}.md"
                    tag = stack.s3.put_object(Bucket=stack.bucket, Key=key, Body=body)["ETag"].strip('"')
                    events.append(event(stack, key, len(body), tag, len(events) + 1))
        finally:
            stack.s3.put_bucket_notification_configuration(Bucket=stack.bucket, NotificationConfiguration=told)
        events *= times
        if times > 1:
            chance.shuffle(events)
        for first in range(0, len(events), 10):
            entries = [{"Id": str(n), "MessageBody": body} for n, body in enumerate(events[first:first + 10])]
            stack.sqs.send_message_batch(QueueUrl=queue, Entries=entries)
        names = {f"note-{n}.md" for n in range(count)}
        waited("the events are taken", lambda: stack.waiting("profile") == 0)
        stack.all_ended(namespace, names)
        waited("every document is published", lambda: len(stack.documents(namespace)) == count)
        states.append(state_of(stack, namespace))
    expect(states[0] == states[1], [pair for pair in zip(sorted(states[0].items()), sorted(states[1].items())) if pair[0] != pair[1]])


def poison_in_a_batch(stack: Stack, run: str) -> None:
    """Nine of ten messages are done at once; the tenth becomes a dead letter that the operator sees and removes."""
    namespace = f"poison-{run}"
    with stack.impatient("profile"):
        for n in range(9):
            stack.drop(namespace, f"note-{n}.md", note(run, n))
        stack.sqs.send_message(QueueUrl=stack.queue("profile"), MessageBody='{"Records": "nonsense')
        jobs = stack.all_ended(namespace, {f"note-{n}.md" for n in range(9)})
        expect(all(job["status"] == "done" for job in jobs.values()), jobs)
        waited("the poison is a dead letter", lambda: stack.waiting("profile-dead") == 1)
    look = stack.quarry("redrive", "profile", "--dry-run")
    expect(look["found"] == 1 and look["queues"][0]["letters"][0]["about"] == "unreadable", look)
    stack.sqs.purge_queue(QueueUrl=stack.queue("profile-dead"))


def a_dead_letter_is_redriven(stack: Stack, run: str) -> None:
    """A parser without its table gives two documents up; once that is mended one is redriven by its job, then the rest."""
    namespace = f"redrive-{run}"
    with stack.impatient("parse-json"):
        with stack.configured("parse-json", QUARRY_TABLE="quarry-gone"):
            jobs = [stack.upload(namespace, f"wells-{n}.json", json.dumps({"well": n, "of": run}).encode()) for n in range(2)]
            waited("two dead letters", lambda: stack.waiting("parse-json-dead") == 2)
        look = stack.quarry("redrive", "--dry-run")
        expect((look["found"], look["moved"]) == (2, 0), look)
        one = stack.quarry("redrive", "--job", jobs[0]["job_id"])
        expect((one["found"], one["moved"]) == (1, 1), one)
        expect(stack.ended(jobs[0]["job_id"])["status"] == "done", "the redriven job is not done")
        expect(stack.job(jobs[1]["job_id"])["status"] not in ("done", "failed"), "the other was moved as well")
        rest = stack.quarry("redrive", "parse-json", "--limit", "5")
        expect(rest["moved"] == 1, rest)
        expect(stack.ended(jobs[1]["job_id"])["status"] == "done", "the second job is not done")
        expect(stack.quarry("redrive", "--dry-run")["found"] == 0, "dead letters are left")


def processes(function: str) -> list[int]:
    """The processes of a function that the emulator runs."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            environment = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
            program = os.readlink(entry / "exe") if environment else ""
        except OSError:
            continue
        if program.endswith("/bootstrap") and f"-{function}\0".encode() in environment.replace(b"AWS_LAMBDA_FUNCTION_NAME=", b"-"):
            found.append(int(entry.name))
    return found


def killed_in_the_middle(stack: Stack, run: str) -> None:
    """A parser that is killed at every try, after it has begun: the job ends as CRASHED, and the next document is read."""
    large = b"{\\rtf1 " + b"".join(b"The gauge %d of %s shows two bar.\\par " % (n, run.encode()) for n in range(200_000)) + b"}"
    over, kills = threading.Event(), []

    def kill(job: str) -> None:
        # As soon as an attempt is on record: who dies before that has not taken the message.
        key = {"pk": {"S": f"JOB#{job}"}, "sk": {"S": "TRY#parse-rtf"}}
        while not over.wait(0.03):
            begun = stack.records.get_item(TableName=stack.table, Key=key).get("Item", {}).get("started_at")
            if begun and begun not in kills:
                kills.append(begun)
                for process in processes("parse-rtf"):
                    os.kill(process, signal.SIGKILL)

    with stack.impatient("parse-rtf"), stack.configured("parse-rtf", QUARRY_VISIBILITY_SECONDS="2"):
        job = stack.upload(f"killed-{run}", "large.rtf", large)["job_id"]
        killer = threading.Thread(target=kill, args=(job,), daemon=True)
        killer.start()
        try:
            ended = stack.ended(job)
        finally:
            over.set()
            killer.join()
        expect(ended["status"] == "failed" and ended["error"]["code"] == "CRASHED", (ended, kills))
        # The third delivery is kept for the verdict.
        expect(len(kills) == 2, kills)
        well = stack.ended(stack.upload(f"killed-{run}", "small.rtf", b"{\\rtf1 All is well.\\par}")["job_id"])
        expect(well["status"] == "done", well)


def a_lost_message(stack: Stack, run: str) -> None:
    """A job whose message is gone and that nobody reads is ended as CRASHED by the sweeper, and done after a retry."""
    function = f"quarry-{stack.stage}-parse-rtf"
    mapping = stack.functions.list_event_source_mappings(FunctionName=function)["EventSourceMappings"][0]["UUID"]
    stack.functions.update_event_source_mapping(UUID=mapping, Enabled=False)
    try:
        job = stack.upload(f"lost-{run}", "lost.rtf", b"{\\rtf1 All is well.\\par}")["job_id"]
        waited("the parser's message", lambda: stack.waiting("parse-rtf") == 1)
        stack.sqs.purge_queue(QueueUrl=stack.queue("parse-rtf"))
    finally:
        stack.functions.update_event_source_mapping(UUID=mapping, Enabled=True)
    age(stack, job, hours=5)
    stack.invoke("sweeper")
    record = stack.records.get_item(TableName=stack.table, Key={"pk": {"S": f"JOB#{job}"}, "sk": {"S": "JOB"}})["Item"]
    expect(record["state"]["S"] == "failed", record)
    expect(stack.job(job)["error"]["code"] == "CRASHED", record)
    stack.call("POST", f"/v1/jobs/{job}/retry")
    expect(stack.ended(job)["status"] == "done", "a retry does not end it well")


def age(stack: Stack, job_id: str, hours: int) -> None:
    """Makes a job look as if nobody had touched it for so long."""
    then = time.time() - hours * 3600
    written = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(then))
    key = {"pk": {"S": f"JOB#{job_id}"}, "sk": {"S": "JOB"}}
    stack.records.update_item(TableName=stack.table, Key=key, UpdateExpression="SET updated_at = :then",
                              ExpressionAttributeValues={":then": {"S": written}})
    due = int(then * 1000)
    stack.records.put_item(TableName=stack.table, Item={
        "pk": {"S": "WATCH"}, "sk": {"S": f"{due:015}#{job_id}"}, "job_id": {"S": job_id}, "schema_version": {"N": "1"}, "due_millis": {"N": str(due)}})


def services_that_fail(stack: Stack, run: str) -> None:
    """Every fourth answer of the services is 503 or breaks off in the middle: all documents are read and found, once."""
    namespace, functions = f"storm-{run}", ("profiler", "parse-text", "publisher", "search")
    with Failing(stack.endpoint) as proxy, stack.configured(*functions, **dict.fromkeys(ENDPOINTS, proxy.url)):
        for n in range(6):
            stack.drop(namespace, f"note-{n}.md", note(run, n))
        jobs = stack.all_ended(namespace, {f"note-{n}.md" for n in range(6)}, 2 * PATIENCE)
        expect(all(job["status"] == "done" for job in jobs.values()), jobs)
        for n in range(6):
            expect(stack.found(namespace, f"gauge number {n} run{run}")[:1] == [f"note-{n}.md"], f"note-{n}.md is not found first")
        expect(proxy.failed > 10 and proxy.broken > 0, f"only {proxy.failed} refused and {proxy.broken} broken off")
        print(f"  {proxy.failed} of {proxy.served} calls refused, {proxy.broken} answers broken off")
    names = [document["source_file_name"] for document in stack.documents(namespace)]
    expect(len(names) == 6 == len(set(names)), names)

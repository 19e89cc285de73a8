"""The deployed stack as the tests see it: its API, its stores, its functions, and the operator's program."""

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import boto3
from botocore.config import Config

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "localstack"))
from smoke import docx  # noqa: E402, F401

PATIENCE = 120.0


class Fault(Exception):
    """The stack did not do what it promises."""


def expect(holds: bool, otherwise: object) -> None:
    if not holds:
        raise Fault(str(otherwise)[:2000])


def waited(what: str, look, seconds: float = PATIENCE, pause: float = 0.5):
    """What `look` gives, once it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(pause)
    raise Fault(f"{what}: not within {seconds:.0f} s")


class Stack:
    """One deployed installation on the emulator."""

    def __init__(self, state: dict, stage: str, program: Path | None):
        self.state, self.stage, self.program = state, stage, program
        self.bucket, self.table = state["BucketName"], state["TableName"]
        self.endpoint = os.environ["AWS_ENDPOINT_URL"]
        self.host = f"{state['ApiId']}.execute-api.localhost:{urllib.parse.urlsplit(self.endpoint).port}"
        settings = Config(max_pool_connections=16)
        self.s3, self.sqs = boto3.client("s3", config=settings), boto3.client("sqs")
        self.functions, self.records = boto3.client("lambda"), boto3.client("dynamodb")

    def ask(self, method: str, path: str, body: dict | None = None, key: str | None = None) -> tuple[int, dict]:
        """A request to the API. Its host name does not resolve here, so it travels in the header."""
        headers = {"Host": self.host, "Authorization": f"Bearer {key or self.state['AdminKey']}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.endpoint + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")

    def call(self, method: str, path: str, body: dict | None = None) -> dict:
        status, answer = self.ask(method, path, body)
        expect(status < 300, f"{method} {path}: {status}: {answer}")
        return answer

    def drop(self, namespace: str, name: str, body: bytes) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=f"inbox/{namespace}/{name}", Body=body)

    def upload(self, namespace: str, name: str, body: bytes, **more) -> dict:
        """Makes a job and puts the file to its presigned address; the job as it was made."""
        job = self.call("POST", "/v1/jobs", {"source_type": "file", "file_name": name, "namespace": namespace, **more})
        put = urllib.request.Request(job["upload_url"], data=body, headers=job["upload_headers"], method="PUT")
        with urllib.request.urlopen(put, timeout=60) as answer:
            expect(answer.status == 200, answer.status)
        return job

    def job(self, job_id: str) -> dict:
        return self.call("GET", f"/v1/jobs/{job_id}")

    def ended(self, job_id: str, seconds: float = PATIENCE) -> dict:
        """The job, once it has ended."""
        def look():
            job = self.job(job_id)
            return job if job["status"] in ("done", "failed") else None
        return waited(f"the end of {job_id}", look, seconds)

    def jobs(self, namespace: str) -> list[dict]:
        return self.call("GET", f"/v1/jobs?namespace={namespace}&page_size=100")["jobs"]

    def all_ended(self, namespace: str, names: set[str], seconds: float = PATIENCE) -> dict[str, dict]:
        """The last job of each of these files, once all have one and no job of the namespace is under way."""
        def look():
            jobs = self.jobs(namespace)
            done = {job["file_name"] for job in jobs} >= names and all(job["status"] in ("done", "failed") for job in jobs)
            return {job["file_name"]: job for job in reversed(jobs)} if done else None
        return waited(f"the end of {len(names)} jobs in {namespace}", look, seconds, 1.0)

    def documents(self, namespace: str) -> list[dict]:
        return self.call("GET", f"/v1/documents?namespace={namespace}&page_size=100")["documents"]

    def found(self, namespace: str, query: str, **more) -> list[str]:
        answer = self.call("POST", "/v1/retrieval/query", {"query": query, "namespace": namespace, "top_k": 5, **more})
        return [result["source"]["source_file_name"] for result in answer["results"]]

    def queue(self, name: str) -> str:
        return self.sqs.get_queue_url(QueueName=f"quarry-{self.stage}-{name}")["QueueUrl"]

    def waiting(self, name: str) -> int:
        """Messages in a queue, those in work included."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        attributes = self.sqs.get_queue_attributes(QueueUrl=self.queue(name), AttributeNames=names)["Attributes"]
        return sum(int(attributes[name]) for name in names)

    def invoke(self, function: str) -> dict:
        answer = self.functions.invoke(FunctionName=f"quarry-{self.stage}-{function}", Payload=b"{}")
        expect("FunctionError" not in answer, answer)
        return json.loads(answer["Payload"].read() or b"null")

    def environment(self, function: str) -> dict[str, str]:
        name = f"quarry-{self.stage}-{function}"
        return self.functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]

    @contextlib.contextmanager
    def configured(self, *functions: str, **variables: str):
        """These functions with other variables, for a while."""
        before = {function: self.environment(function) for function in functions}
        set_ = lambda function, to: self.functions.update_function_configuration(
            FunctionName=f"quarry-{self.stage}-{function}", Environment={"Variables": to})
        for function in functions:
            set_(function, {**before[function], **variables})
        try:
            yield
        finally:
            for function in functions:
                set_(function, before[function])

    @contextlib.contextmanager
    def impatient(self, *queues: str):
        """These queues give a message again after two seconds, so that a test need not wait a quarter of an hour."""
        before = {}
        for name in queues:
            attributes = self.sqs.get_queue_attributes(QueueUrl=self.queue(name), AttributeNames=["VisibilityTimeout"])
            before[name] = attributes["Attributes"]["VisibilityTimeout"]
            self.sqs.set_queue_attributes(QueueUrl=self.queue(name), Attributes={"VisibilityTimeout": "2"})
        try:
            yield
        finally:
            for name, seconds in before.items():
                self.sqs.set_queue_attributes(QueueUrl=self.queue(name), Attributes={"VisibilityTimeout": seconds})

    def quarry(self, *arguments: str) -> dict:
        """The operator's program on this installation; its answer."""
        command = [str(self.program), arguments[0], "--stage", self.stage, "--json", *arguments[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        expect(done.returncode == 0, f"{command}: {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

"""The commands of infra/runbooks.md, taken from the page itself, done on the emulator.

Each is read from the page, its words in capitals are replaced by this installation's, and what it does is checked. A command of the
page that nothing here does is a fault: a runbook is read when there is no time to find out that it is wrong.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from stack import Stack, docx, expect, waited

PAGE = Path(__file__).resolve().parents[2] / "infra" / "runbooks.md"
# The service only: the emulator keeps no older states of a table.
NOT_HERE = ["aws dynamodb restore-table-to-point-in-time"]


def page() -> list[str]:
    """Every command of the page, on one line each."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.strip()]


class Operator:
    """Does the page's commands and remembers which."""

    def __init__(self, stack: Stack):
        self.stack, self.left = stack, [line for line in page() if not line.startswith(tuple(NOT_HERE))]

    def does(self, beginning: str, **words: str) -> str:
        """The first command left that begins so, with these words for those in capitals; what it prints."""
        line = next((line for line in self.left if line.startswith(beginning)), None)
        expect(line is not None, f"the page has no more command {beginning!r}")
        self.left.remove(line)
        words = {"STAGE": self.stack.stage, "BUCKET": self.stack.bucket, "ADMIN": self.stack.state["AdminKey"], **words}
        for word in sorted(words, key=len, reverse=True):
            line = re.sub(rf"(?<![A-Z]){re.escape(word)}(?![A-Z])", lambda _: words[word], line)
        # The API's host name does not resolve here, so it travels in the header.
        line = re.sub(r"\bAPI/", f"-sS -H {shlex.quote('Host: ' + self.stack.host)} {self.stack.endpoint}/", line)
        # Where queues are, the command line takes from nowhere else.
        line = re.sub(r"^aws ", f"aws --endpoint-url {self.stack.endpoint} ", line)
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, env=self.environment())
        expect(done.returncode == 0, f"{line}: {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    def environment(self) -> dict[str, str]:
        folders = [str(self.stack.program.parent), str(Path(sys.executable).parent)]
        return {**os.environ, "PATH": os.pathsep.join([*folders, os.environ["PATH"]]), "AWS_PAGER": ""}


def commands(stack: Stack, run: str) -> None:
    """Dead letters, rebuild, key rotation, as the page says; the rest of its commands at least succeeds."""
    operator = Operator(stack)
    operator.does("aws logs filter-log-events")
    dead_letters(stack, operator, run)
    rebuild(stack, operator, run)
    key_rotation(stack, operator, run)
    expect(not operator.left, f"nothing here does {operator.left}")


def dead_letters(stack: Stack, operator: Operator, run: str) -> None:
    dead, job = stack.queue("parse-docx-dead"), stack.upload(f"runbook-{run}", "a.docx", docx("A", f"Text {run}."))["job_id"]
    expect(stack.ended(job)["status"] == "done", job)
    stack.sqs.purge_queue(QueueUrl=dead)
    stack.sqs.send_message(QueueUrl=dead, MessageBody="unreadable")
    looked = operator.does("aws sqs receive-message", **{"QUEUE-dead-URL": dead})
    expect("unreadable" in looked, looked)
    expect("would be moved" in operator.does("quarry redrive"), "no dry run")
    expect("0 dead letters moved" in operator.does("quarry redrive --stage STAGE --job", JOB=job), "a job without dead letters has some")
    with stack.impatient("parse-docx"):
        for beginning in ("quarry redrive --stage STAGE parse-docx", "quarry redrive --stage STAGE"):
            expect("dead letter" in operator.does(beginning), "nothing is said of dead letters")
        waited("the poison is dead again", lambda: stack.waiting("parse-docx-dead") == 1)
    stack.sqs.purge_queue(QueueUrl=dead)


def rebuild(stack: Stack, operator: Operator, run: str) -> None:
    namespace = f"rebuild-{run}"
    stack.drop(namespace, "first.md", f"# First\n\nThe heron{run} stands.\n".encode())
    waited("the first document", lambda: stack.found(namespace, f"heron{run}"))
    head = operator.does("aws dynamodb get-item", OWNER="local", NAMESPACE=namespace)
    expect("manifest" in head, head)
    operator.does("aws lambda invoke")
    listed = stack.s3.list_objects_v2(Bucket=stack.bucket, Prefix=f"index/local/{namespace}/splits/")["Contents"]
    note = Path("note.md")
    for split in listed:
        damaged = split["Key"].rsplit("/", 1)[1]
    operator.does("aws s3 rm", OWNER="local", NAMESPACE=namespace, SPLIT=damaged)
    try:
        note.write_text(f"# Second\n\nThe plover{run} stands.\n")
        operator.does("aws s3 cp", NAMESPACE=namespace)
    finally:
        note.unlink(missing_ok=True)
    waited("both are found after the rebuild", lambda: stack.found(namespace, f"heron{run}") and stack.found(namespace, f"plover{run}"))


def key_rotation(stack: Stack, operator: Operator, run: str) -> None:
    made = json.loads(operator.does("curl -X POST API/v1/auth/create"))
    new = next(value for value in made.values() if isinstance(value, str) and value.startswith(("sk_", "qk_")))
    expect(stack.ask("GET", "/v1/documents", key=new)[0] == 200, made)
    operator.does("curl -X POST API/v1/auth/revoke", **{"KEY-ID": made.get("api_key_id") or made.get("id")})
    waited("the revoked key is refused", lambda: stack.ask("GET", "/v1/documents", key=new)[0] in (401, 403), 70, 3)

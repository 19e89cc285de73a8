"""Invokes every function with each of its events through `cargo lambda`, against the deployed stack's stores.

A function is started as the service starts it: the release binary, with the environment that the template gave it. The event must be
answered, and the key in the events of HTTP becomes the stack's own; which outcome each has is the stages' own tests' matter. Events of
functions that are not deployed (no webhooks without a secret) are left out and said so.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import boto3


EXAMPLE_KEY = "sk_example"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def deployed(stage: str) -> dict[str, dict[str, str]]:
    """Each deployed function and its environment."""
    functions = {}
    for page in boto3.client("lambda").get_paginator("list_functions").paginate():
        for function in page["Functions"]:
            name = re.fullmatch(rf"quarry-{stage}-(.+)", function["FunctionName"])
            if name:
                functions[name[1]] = function.get("Environment", {}).get("Variables", {})
    return functions


class Emulator:
    """`cargo lambda watch` without building: it only speaks the runtime's protocol; the binary is started beside it."""

    def __init__(self, cargo_lambda: Path, name: str, binary: Path, environment: dict[str, str]):
        self.cargo_lambda, self.name, self.port = cargo_lambda, name, free_port()
        self.watch = subprocess.Popen(
            [cargo_lambda, "lambda", "watch", "--only-lambda-apis", "-A", "127.0.0.1", "-P", str(self.port)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        self.ready()
        plain = {**os.environ, **environment, "AWS_LAMBDA_RUNTIME_API": f"http://127.0.0.1:{self.port}/.rt/{name}", "AWS_LAMBDA_FUNCTION_NAME": name,
                 "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "2048", "AWS_LAMBDA_FUNCTION_VERSION": "1"}
        self.function = subprocess.Popen([binary], env=plain, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ready(self) -> None:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit(f"cargo lambda does not listen for {self.name}")

    def invoke(self, event: str) -> subprocess.CompletedProcess:
        command = [self.cargo_lambda, "lambda", "invoke", self.name, "-A", "127.0.0.1", "-P", str(self.port), "--data-ascii", event]
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 1, "", "no answer within a minute")

    def stop(self) -> None:
        for process in (self.function, self.watch):
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binaries", type=Path, required=True)
    arguments.add_argument("--cargo-lambda", type=Path, required=True)
    arguments.add_argument("--state", type=Path, required=True)
    arguments.add_argument("--stage", default="local")
    given = arguments.parse_args()
    functions = deployed(given.stage)
    key = json.loads(given.state.read_text())["AdminKey"]
    failed = 0
    for folder in sorted(Path("events").iterdir()):
        name = folder.name
        if name not in functions:
            print(f"{name}: not deployed here")
            continue
        emulator = Emulator(given.cargo_lambda.resolve(), name, (given.binaries / name).resolve(), functions[name])
        try:
            for event in sorted(folder.glob("*.json")):
                begun = time.monotonic()
                answer = emulator.invoke(event.read_text().replace(EXAMPLE_KEY, key))
                well = answer.returncode == 0 and not re.search(r'"statusCode": ?(401|5\d\d)', answer.stdout)
                failed += not well
                said = answer.stdout.strip()[:100] if well else (answer.stderr.strip() or answer.stdout.strip())[-600:]
                print(f"{name}/{event.name}: {'ok' if well else 'FAILED'} in {time.monotonic() - begun:.2f} s: {said}", flush=True)
        finally:
            emulator.stop()
    if failed:
        sys.exit(f"{failed} events were not answered")


if __name__ == "__main__":
    main()

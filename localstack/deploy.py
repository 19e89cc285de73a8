"""Puts template.yaml into the emulator: zips the binaries, uploads them, runs a CloudFormation change set."""

import argparse
import hashlib
import io
import json
import platform
import re
import secrets
import sys
import time
import zipfile
from pathlib import Path

import boto3
from botocore.exceptions import ClientError

CODE_BUCKET = "quarry-code"
CODE_URI = re.compile(r"^(\s+CodeUri: )target/lambda/([a-z-]+)/$", re.MULTILINE)
CONCURRENCY = re.compile(r"^(\s+MaximumConcurrency: )!Ref (\w+)$", re.MULTILINE)
BUILD_SECONDS = 120


def bootstrap_zip(binary: Path) -> bytes:
    """A function's zip: the binary as `bootstrap`, executable, the same bytes for the same binary."""
    entry = zipfile.ZipInfo("bootstrap", date_time=(1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o100755 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(entry, binary.read_bytes())
    return buffer.getvalue()


def with_uploaded_code(template: str, binaries: Path) -> str:
    """The template with each CodeUri pointing at an uploaded zip."""
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=CODE_BUCKET)

    def uploaded(found: re.Match) -> str:
        name = found[2]
        binary = binaries / name
        if not binary.is_file():
            sys.exit(f"{binary} is missing; build it: cargo build --release --workspace --bins")
        body = bootstrap_zip(binary)
        key = f"{name}/{hashlib.sha256(body).hexdigest()}.zip"
        s3.put_object(Bucket=CODE_BUCKET, Key=key, Body=body)
        print(f"{name}: {len(body) / 1e6:.1f} MB zipped")
        return f"{found[1]}s3://{CODE_BUCKET}/{key}"

    return CODE_URI.sub(uploaded, template)


def with_plain_numbers(template: str) -> str:
    """The emulator compares a concurrency given by parameter as text and then feeds no function: give it as a number."""

    def default(found: re.Match) -> str:
        number = re.search(rf"^  {found[2]}:\n    Type: Number\n    Default: (\d+)$", template, re.MULTILINE)
        return f"{found[1]}{number[1]}"

    return CONCURRENCY.sub(default, template)


def uploaded_template(template: str) -> str:
    """The template's address: it is longer than what a request may carry."""
    s3 = boto3.client("s3")
    key = f"template/{hashlib.sha256(template.encode()).hexdigest()}.yaml"
    s3.put_object(Bucket=CODE_BUCKET, Key=key, Body=template.encode())
    return f"{s3.meta.endpoint_url}/{CODE_BUCKET}/{key}"


def waited(what: str, look, seconds: float = BUILD_SECONDS):
    """What `look` gives, once it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.3)
    sys.exit(f"{what}: nothing after {seconds} s")


def fail(cloudformation, stack: str, why: str) -> None:
    events = cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
    for event in events:
        if "FAILED" in event["ResourceStatus"]:
            print(f"  {event['LogicalResourceId']}: {event.get('ResourceStatusReason')}", file=sys.stderr)
    sys.exit(why)


def deploy(stack: str, template: str, parameters: dict) -> dict:
    """Creates or updates the stack from the template at this address; its outputs."""
    cloudformation = boto3.client("cloudformation")
    try:
        cloudformation.describe_stacks(StackName=stack)
        kind = "UPDATE"
    except ClientError:
        kind = "CREATE"
    change = f"change-{secrets.token_hex(4)}"
    cloudformation.create_change_set(
        StackName=stack,
        ChangeSetName=change,
        ChangeSetType=kind,
        TemplateURL=template,
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()],
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
    )

    def planned():
        answer = cloudformation.describe_change_set(StackName=stack, ChangeSetName=change)
        return answer if answer["Status"] in ("CREATE_COMPLETE", "FAILED") else None

    plan = waited("the change set", planned)
    if plan["Status"] == "FAILED" and "didn't contain changes" in plan.get("StatusReason", ""):
        print("nothing has changed since the last deployment")
        return outputs(cloudformation.describe_stacks(StackName=stack)["Stacks"][0])
    if plan["Status"] == "FAILED":
        fail(cloudformation, stack, f"the change set failed: {plan.get('StatusReason')}")
    cloudformation.execute_change_set(StackName=stack, ChangeSetName=change)

    def settled():
        found = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]
        return None if found["StackStatus"].endswith("IN_PROGRESS") else found

    done = waited("the stack", settled)
    if done["StackStatus"] != f"{kind}_COMPLETE":
        fail(cloudformation, stack, f"the stack ended as {done['StackStatus']}: {done.get('StackStatusReason')}")
    return outputs(done)


def webhook_secret(stage: str) -> str:
    """The name of the secret that signs webhooks, made when there is none."""
    name, secrets_manager = f"quarry-{stage}-webhooks", boto3.client("secretsmanager")
    try:
        secrets_manager.describe_secret(SecretId=name)
    except ClientError:
        secrets_manager.create_secret(Name=name, SecretString=secrets.token_hex(32))
    return name


def outputs(stack: dict) -> dict:
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--binaries", type=Path, required=True)
    arguments.add_argument("--state", type=Path, required=True)
    arguments.add_argument("--stage", default="local")
    arguments.add_argument("--webhooks", action="store_true", help="sign webhooks with a new secret; this machine may receive them")
    given = arguments.parse_args()

    begun = time.monotonic()
    known = json.loads(given.state.read_text()) if given.state.is_file() else {}
    key = known.get("AdminKey") or f"qk_{secrets.token_hex(24)}"
    template = with_plain_numbers(with_uploaded_code(Path("template.yaml").read_text(), given.binaries))
    webhooks = {"WebhookSecretName": webhook_secret(given.stage), "AllowedAddresses": "127.0.0.1"} if given.webhooks else {}
    made = deploy(
        f"quarry-{given.stage}",
        uploaded_template(template),
        {
            "Stage": given.stage,
            "Architecture": "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64",
            "AdminKeySha256": hashlib.sha256(key.encode()).hexdigest(),
            **webhooks,
        },
    )
    given.state.write_text(json.dumps({**made, "AdminKey": key}, indent=2) + "\n")
    given.state.chmod(0o600)
    print(f"deployed in {time.monotonic() - begun:.1f} s")
    for name, value in sorted(made.items()):
        print(f"  {name}: {value}")


if __name__ == "__main__":
    main()

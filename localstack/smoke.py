"""Two documents take the whole road on the deployed stack, from the bucket to an answer that cites them."""

import argparse
import io
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path

import boto3

PATIENCE = 120.0

CONTENT_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
</Types>"""
RELATIONSHIPS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>
</Relationships>"""


def docx(*paragraphs: str) -> bytes:
    """The smallest DOCX with these paragraphs, the first as a heading."""
    texts = [f"<w:p><w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr><w:r><w:t>{paragraphs[0]}</w:t></w:r></w:p>"]
    texts += [f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in paragraphs[1:]]
    document = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
        + "".join(texts)
        + "</w:body></w:document>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("_rels/.rels", RELATIONSHIPS)
        archive.writestr("word/document.xml", document)
    return buffer.getvalue()


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
        request = urllib.request.Request(self.endpoint + path, data=data, headers=self.headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            sys.exit(f"{method} {path}: {error.code}: {error.read().decode(errors='replace')[:1000]}")


def waited(what: str, look):
    """What `look` gives, once it gives something; how long that took."""
    begun = time.monotonic()
    while time.monotonic() - begun < PATIENCE:
        found = look()
        if found:
            print(f"{what}: after {time.monotonic() - begun:.1f} s")
            return found
        time.sleep(0.5)
    sys.exit(f"{what}: not within {PATIENCE} s")


def uploaded(api: Api, namespace: str, name: str, body: bytes) -> str:
    """Uploads through a presigned address and waits for the job; the document's id."""
    job = api.call("POST", "/v1/jobs", {"source_type": "file", "file_name": name, "namespace": namespace})
    put = urllib.request.Request(job["upload_url"], data=body, headers=job["upload_headers"], method="PUT")
    with urllib.request.urlopen(put, timeout=60) as answer:
        assert answer.status == 200, answer.status

    def ended():
        now = api.call("GET", f"/v1/jobs/{job['job_id']}")
        if now["status"] == "failed":
            sys.exit(f"the job failed: {now.get('error')}")
        return now if now["status"] == "done" else None

    waited(f"{name} uploaded and published", ended)
    return job["document_id"]


def cited(api: Api, namespace: str, query: str) -> list[str]:
    answer = api.call("POST", "/v1/retrieval/query", {"query": query, "namespace": namespace, "top_k": 5})
    return [result["source"]["source_file_name"] for result in answer["results"]]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--state", type=Path, required=True)
    stack = json.loads(arguments.parse_args().state.read_text())
    api = Api(stack)
    run = secrets.token_hex(4)
    namespace = f"smoke-{run}"

    dropped = f"gefallen ü+{run}.docx"
    key = f"inbox/{namespace}/2026 {run}/{dropped}"
    text = docx("Turbine maintenance", f"The impeller of turbine kestrel{run} is balanced every nine weeks.")
    boto3.client("s3").put_object(Bucket=stack["BucketName"], Key=key, Body=text)
    waited("a dropped DOCX is found", lambda: dropped in cited(api, namespace, f"How often is kestrel{run} balanced?"))

    sent = f"sent-{run}.docx"
    document = uploaded(api, namespace, sent, docx("Reservoir", f"Reservoir plover{run} holds four hundred cubic metres."))
    found = cited(api, namespace, f"How much does plover{run} hold?")
    assert found and found[0] == sent, f"the uploaded DOCX is not found first: {found}"

    listed = api.call("GET", f"/v1/documents?namespace={namespace}")
    assert len(listed["documents"]) == 2, listed
    assert cited(api, f"other-{run}", f"kestrel{run}") == [], "another namespace sees nothing"
    api.call("POST", f"/v1/documents/{document}/archive")
    waited("an archived document is gone", lambda: sent not in cited(api, namespace, f"plover{run}"))
    print("the stack works")


if __name__ == "__main__":
    main()

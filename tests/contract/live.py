#!/usr/bin/env python3
"""The official Python client, unmodified, against a running quarry server.

    pip install knowhere-python-sdk==0.5.0        (and, in another environment, ==2.2.1)
    python live.py --url http://127.0.0.1:8080 --documents examples/documents [--admin-key sk_...]

Every step says what it checks; the first difference ends the run with exit code 1.
"""
import argparse
import importlib.metadata
import json
import sys
import time
import uuid
from pathlib import Path

import httpx
import knowhere
from knowhere import Knowhere

VERSION = importlib.metadata.version("knowhere-python-sdk")
NEW = int(VERSION.split(".")[0]) >= 2
PASSED = 0


def check(condition, what):
    global PASSED
    if not condition:
        print(f"FAILED: {what}", file=sys.stderr)
        sys.exit(1)
    PASSED += 1


def raises(error, call, what):
    try:
        call()
    except error as e:
        check(True, what)
        return e
    except Exception as e:  # another error than the client should raise
        check(False, f"{what}: raised {type(e).__name__}: {e}")
    check(False, f"{what}: raised nothing")


def parse_all(client, documents, namespace):
    """parse(file) for every format of the examples, checksum verification on."""
    done = {}
    for path in sorted(documents.iterdir()):
        result = client.parse(file=path, namespace=namespace, data_id=f"live-{path.stem}-{uuid.uuid4().hex[:6]}",
                              verify_checksum=True, poll_interval=0.2, poll_timeout=120)
        check(result.manifest is not None, f"{path.name}: manifest")
        check(result.manifest.source_file_name == path.name, f"{path.name}: its name in the manifest")
        check(result.chunks, f"{path.name}: has chunks")
        statistics = result.manifest.statistics
        check(statistics.total_chunks == len(result.chunks), f"{path.name}: counts agree")
        for chunk in result.chunks:
            check(chunk.type in ("text", "image", "table"), f"{path.name}: chunk type {chunk.type}")
            check(bool(chunk.chunk_id) and bool(chunk.path), f"{path.name}: chunk has id and path")
        check(len(result.image_chunks) == statistics.image_chunks, f"{path.name}: image chunks")
        for image in result.image_chunks:
            check(len(image.data) > 0, f"{path.name}: image bytes are in the zip")
        for table in result.table_chunks:
            check("<table" in table.html, f"{path.name}: table HTML is in the zip")
        check(result.full_markdown.strip() != "", f"{path.name}: full.md")
        done[path.name] = result
    return done


def bytes_and_update(client, namespace):
    """parse(bytes) with a name; then a new revision of the same document."""
    first = client.parse(file=b"# Note\n\nThe gate opens at six.\n", file_name="note.md", namespace=namespace,
                         poll_interval=0.2, poll_timeout=60)
    document = next(d for d in client.documents.list(namespace=namespace).documents if d.source_file_name == "note.md")
    client.parse(file=b"# Note\n\nThe gate opens at seven.\n", file_name="note.md", namespace=namespace,
                 document_id=document.document_id, poll_interval=0.2, poll_timeout=60)
    chunks = client.documents.list_chunks(document.document_id).chunks
    check([c.content for c in chunks if "gate" in (c.content or "")] == ["The gate opens at seven."], "a new revision replaces the old one")
    names = [d.source_file_name for d in client.documents.list(namespace=namespace).documents]
    check(names.count("note.md") == 1, "an update makes no second document")
    return first


def documents_of(client, namespace, expected):
    listing = client.documents.list(namespace=namespace)
    check(listing.namespace == namespace, "list: namespace")
    by_name = {d.source_file_name: d for d in listing.documents}
    check(set(expected) <= set(by_name), f"list: all documents ({set(expected) - set(by_name)} missing)")
    manual = by_name["pump-station-manual.docx"]
    check(manual.status == "active" and manual.created_at is not None, "list: status and times")
    one = client.documents.get(manual.document_id)
    check(one.document_id == manual.document_id and one.namespace == namespace, "get: the same document")
    page = client.documents.list_chunks(manual.document_id, page=1, page_size=3, include_asset_urls=True)
    check(len(page.chunks) == 3 and page.pagination.page_size == 3 and page.pagination.total > 3, "chunks: paging")
    everything = client.documents.list_chunks(manual.document_id, page_size=200, include_asset_urls=True)
    check([c.sort_order for c in everything.chunks] == sorted(c.sort_order for c in everything.chunks), "chunks: in reading order")
    images = client.documents.list_chunks(manual.document_id, chunk_type="image", include_asset_urls=True).chunks
    check(len(images) == 1 and images[0].chunk_type == "image", "chunks: by type")
    picture = httpx.get(images[0].asset_url)
    check(picture.status_code == 200 and picture.content[:4] == b"\x89PNG", "chunks: the asset's address serves it without a key")
    single = client.documents.get_chunk(manual.document_id, images[0].id, include_asset_urls=True)
    check(single.chunk.chunk_id == images[0].chunk_id, "chunk: by its row id")
    if NEW:
        source = client.documents.get_page_citation_source(manual.document_id)
        check(httpx.get(source.url).status_code == 200, "page citation source: served")
    return by_name


def query_all(client, namespace, by_name):
    answer = client.retrieval.query(query="What torque do the coupling bolts need?", namespace=namespace, top_k=5)
    check(answer.router_used == "classic_topk", f"query: route {answer.router_used}")
    check(any("48 Nm" in r.content for r in answer.results), "query: finds the torque")
    for result in answer.results:
        check(isinstance(result.score, float), "query: every result has a score")
        check(result.source.document_id and result.source.source_file_name, "query: every result names its source")
    if NEW:
        check(answer.evidence and any(p.type == "text" and "48 Nm" in p.text for p in answer.evidence), "query: evidence parts")
        check(answer.referenced_chunks, "query: referenced chunks in the classic route")
    tables = client.retrieval.query(query="interlock delay", namespace=namespace, top_k=5, data_type=4)
    check(tables.results and all(r.chunk_type == "table" for r in tables.results), "query: data_type 4 gives tables")
    every = dict(query="水泵 轴承 温度", namespace=namespace, top_k=3, use_agentic=False, data_type=1, signal_paths=["no such section"],
                 filter_mode="delete", channels=["path", "content", "term"], channel_weights={"path": 1.0, "content": 2.0, "term": 1.5},
                 rerank=False, threshold=0.0, internal_recall_k=50, exclude_document_ids=[by_name["fr-consignes-hiver.md"].document_id],
                 exclude_sections=[{"document_id": by_name["incident-log.md"].document_id, "section_path": "incident-log.md"}])
    if NEW:
        every |= dict(chunk_types=["text", "table"], include_document_ids=[d.document_id for d in by_name.values()])
    answer = client.retrieval.query(**every)
    check(answer.results and any("95" in r.content for r in answer.results), "query: every parameter at once, in Chinese")
    kept = client.retrieval.query(query="Findings of the crane", namespace=namespace, signal_paths=["Overhead crane"], filter_mode="keep")
    check(kept.results and all("Overhead crane" in (r.source.section_path or "") for r in kept.results), "query: signal_paths keep")
    without = client.retrieval.query(query="torque of the coupling bolts", namespace=namespace,
                                     exclude_document_ids=[by_name["commissioning-guide.md"].document_id])
    check(all(r.source.source_file_name != "commissioning-guide.md" for r in without.results), "query: exclude_document_ids")
    agentic = client.retrieval.query(query="Compare the torque of the coupling bolts with the torque of the hot terminal in field 3",
                                     namespace=namespace, use_agentic=True)
    check(agentic.results, "query: agentic answers")
    check(client.retrieval.query(query="   ", namespace=namespace).router_used == "empty_query_filtered", "query: empty")


def errors(client, url, namespace, by_name):
    raises(knowhere.NotFoundError, lambda: client.documents.get("doc_000000000000"), "404: unknown document")
    raises(knowhere.NotFoundError, lambda: client.jobs.get("job_000000000000"), "404: unknown job")
    bad = raises(knowhere.BadRequestError, lambda: client.retrieval.query(query="x", namespace=namespace, top_k=100000), "400: top_k")
    check(bad.code == "INVALID_ARGUMENT" and bad.request_id, "400: code and request id")
    raises(knowhere.BadRequestError, lambda: client.retrieval.query(query="x", namespace=namespace, channels=["vector"]), "400: channel")
    raises(knowhere.BadRequestError, lambda: client.jobs.create(source_type="file", file_name=None), "400: no file name")
    failed = raises(knowhere.JobFailedError, lambda: client.parse(file=b"", file_name="empty.md", namespace=namespace, poll_interval=0.2, poll_timeout=60),
                    "a job that fails")
    check("EMPTY" in (failed.code or ""), f"the failed job says why: {failed.code}")
    failed = raises(knowhere.JobFailedError, lambda: client.parse(file=b"PK\x03\x04 not really a zip", file_name="broken.docx", namespace=namespace,
                                                                 poll_interval=0.2, poll_timeout=60), "a damaged file")
    check(failed.code in ("CORRUPT", "UNSUPPORTED"), f"a damaged file is called {failed.code}")
    waiting = client.jobs.create(source_type="file", file_name="later.md", namespace=namespace)
    raises(knowhere.PollingTimeoutError, lambda: client.jobs.wait(waiting.job_id, poll_interval=0.1, poll_timeout=0.5), "polling times out")
    with Knowhere(api_key="sk_local", base_url=url, max_retries=0) as hasty:
        # The 0.5 client does not read `document_id` off a new job; the API tells it.
        document = httpx.get(f"{url}/v1/jobs/{waiting.job_id}", headers={"Authorization": "Bearer sk_local"}).json()["document_id"]
        conflict = raises(knowhere.ConflictError, lambda: hasty.jobs.create(source_type="file", file_name="later.md", namespace=namespace,
                                                                            document_id=document), "409: the document has a job at work")
        check(conflict.code == "ABORTED", f"409: ABORTED, not {conflict.code}")
    raw = httpx.put(f"{url}/v1/retrieval/query", json={})
    check(raw.status_code == 405 and raw.json()["success"] is False, "405 stays 405, in the envelope")
    check(httpx.get(f"{url}/v1/nowhere").json()["error"]["code"] == "NOT_FOUND", "unrouted paths answer in the envelope")
    raw = httpx.post(f"{url}/v1/jobs", content=b"{", headers={"Content-Type": "application/json"})
    check(raw.status_code == 400 and raw.json()["error"]["code"] == "INVALID_ARGUMENT", "broken JSON is 400")


def archive(client, namespace, by_name):
    victim = by_name["incident-log.md"]
    question = dict(query="rag around the impeller", namespace=namespace, top_k=5)
    check(any(r.source.document_id == victim.document_id for r in client.retrieval.query(**question).results), "archive: found before")
    archived = client.documents.archive(victim.document_id)
    check(archived.status == "archived", "archive: status")
    check(client.documents.archive(victim.document_id).status == "archived", "archive: again is no error")
    check(all(r.source.document_id != victim.document_id for r in client.retrieval.query(**question).results), "archive: gone from the very next query")
    check(victim.document_id not in [d.document_id for d in client.documents.list(namespace=namespace).documents], "archive: not listed")


def keys(url):
    """Keys once they exist: 401 without one, 403 beyond its scopes. Last, for afterwards no call works without a key."""
    made = httpx.post(f"{url}/v1/auth/create", json={"name": "live admin", "scopes": ["admin"]}, headers={"Authorization": "Bearer sk_local"})
    check(made.status_code in (200, 201), f"keys: create ({made.status_code} {made.text[:200]})")
    admin = made.json()["api_key"]
    check(admin.startswith("sk_"), "keys: form")
    head = {"Authorization": f"Bearer {admin}"}
    reader = httpx.post(f"{url}/v1/auth/create", json={"name": "live reader", "scopes": ["query"]}, headers=head).json()["api_key"]
    with Knowhere(api_key="sk_wrong", base_url=url, max_retries=0) as stranger:
        raises(knowhere.AuthenticationError, lambda: stranger.documents.list(), "401: unknown key")
    with Knowhere(api_key=reader, base_url=url, max_retries=0) as limited:
        limited.documents.list()
        raises(knowhere.PermissionDeniedError, lambda: limited.jobs.create(source_type="file", file_name="a.md"), "403: a query key cannot ingest")
    listed = httpx.get(f"{url}/v1/auth/list", headers=head).json()
    check(listed["total"] >= 2 and admin not in json.dumps(listed), "keys: listed without their secrets")
    for key in listed["api_keys"]:
        if key["name"] == "live reader":
            httpx.post(f"{url}/v1/auth/revoke", json={"api_key_id": key["id"]}, headers=head).raise_for_status()
    with Knowhere(api_key=reader, base_url=url, max_retries=0) as revoked:
        deadline = time.monotonic() + 65
        while True:
            try:
                revoked.documents.list()
            except knowhere.AuthenticationError:
                break
            check(time.monotonic() < deadline, "keys: a revoked key is refused within 60 s")
            time.sleep(1)
    for key in httpx.get(f"{url}/v1/auth/list", headers=head).json()["api_keys"]:
        httpx.post(f"{url}/v1/auth/revoke", json={"api_key_id": key["id"]}, headers=head)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--url", required=True)
    ap.add_argument("--documents", required=True, type=Path)
    ap.add_argument("--skip-keys", action="store_true")
    a = ap.parse_args()
    namespace = f"live-{VERSION}-{uuid.uuid4().hex[:6]}"
    with Knowhere(api_key="sk_local", base_url=a.url) as client:
        done = parse_all(client, a.documents, namespace)
        bytes_and_update(client, namespace)
        by_name = documents_of(client, namespace, done)
        query_all(client, namespace, by_name)
        errors(client, a.url, namespace, by_name)
        archive(client, namespace, by_name)
    if not a.skip_keys:
        keys(a.url)
    print(f"knowhere-python-sdk {VERSION}: {PASSED} checks passed")


if __name__ == "__main__":
    main()

"""The two example retrievers against a running server, each in the environment of its framework.

    retrievers.py langchain|llamaindex --url http://127.0.0.1:8080 --documents examples/documents
"""

import argparse
import json
import pathlib
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

QUESTION = "Why did the flow of P-12 fall?"
ANSWER = "wrapped around the impeller"


def ask(url, path, body=None, **headers):
    headers = {"Authorization": "Bearer sk_local", **headers}
    with urllib.request.urlopen(urllib.request.Request(url + path, body, headers), timeout=30) as response:
        return json.load(response)


def ingest(url, documents, namespace):
    """Uploads two documents and answers the id of the first."""
    ids = []
    for name in ("incident-log.md", "spare-parts.html"):
        path = f"/v1/documents?namespace={namespace}"
        job = ask(url, path, (documents / name).read_bytes(), **{"X-File-Name": urllib.parse.quote(name)})
        for _ in range(100):
            job = ask(url, f"/v1/jobs/{job['job_id']}?wait=5")
            if job["status"] in ("done", "failed"):
                break
            time.sleep(0.1)
        assert job["status"] == "done", job
        ids.append(job["document_id"])
    return ids


def langchain(url, log, prices):
    from langchain_retriever import QuarryRetriever

    for agentic in (False, True):
        found = QuarryRetriever(url=url, namespace="langchain", top_k=3, agentic=agentic).invoke(QUESTION)
        assert 1 <= len(found) <= 3, found
        assert any(ANSWER in document.page_content for document in found), found
        first = found[0]
        assert first.metadata["source"] == "incident-log.md" and first.metadata["document_id"] == log, first
        assert first.id.startswith(log + "#") and first.metadata["score"] > 0, first
        assert set(first.metadata) >= {"section_path", "page_nums", "chunk_id", "chunk_type"}, first
    only = QuarryRetriever(url=url, namespace="langchain", document_ids=[prices]).invoke(QUESTION)
    assert only and all(document.metadata["document_id"] == prices for document in only), only
    retriever = QuarryRetriever(url=url, namespace="langchain", api_key="sk_secret")
    assert "sk_secret" not in repr(retriever)
    # As a step of a chain.
    texts = (retriever | (lambda documents: [document.page_content for document in documents])).batch([QUESTION, QUESTION])
    assert len(texts) == 2 and texts[0] == texts[1], texts


def llamaindex(url, log, prices):
    from llama_index.core.schema import MetadataMode
    from llamaindex_retriever import QuarryRetriever

    for agentic in (False, True):
        found = QuarryRetriever(url=url, namespace="llamaindex", top_k=3, agentic=agentic).retrieve(QUESTION)
        assert 1 <= len(found) <= 3, found
        assert any(ANSWER in node.text for node in found), found
        first = found[0]
        assert first.score > 0 and first.node.ref_doc_id == log and first.node_id.startswith(log + "#"), first
        assert first.metadata["file_name"] == "incident-log.md", first
        shown = first.node.get_content(MetadataMode.LLM)
        assert "section_path" in shown and "chunk_id" not in shown, shown
    only = QuarryRetriever(url=url, namespace="llamaindex", document_ids=[prices]).retrieve(QUESTION)
    assert only and all(node.node.ref_doc_id == prices for node in only), only


def refused(url, retrieve):
    """A wrong request is an error that says so, not an empty answer."""
    try:
        retrieve(url)
    except urllib.error.HTTPError as error:
        assert error.code == 400, error
        return
    raise AssertionError("a wrong request was answered")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("framework", choices=["langchain", "llamaindex"])
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--documents", type=pathlib.Path, required=True)
    given = arguments.parse_args()
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples"))
    log, prices = ingest(given.url, given.documents, given.framework)
    if given.framework == "langchain":
        langchain(given.url, log, prices)
        from langchain_retriever import QuarryRetriever

        refused(given.url, lambda url: QuarryRetriever(url=url, top_k=1000).invoke(QUESTION))
    else:
        llamaindex(given.url, log, prices)
        from llamaindex_retriever import QuarryRetriever

        refused(given.url, lambda url: QuarryRetriever(url=url, top_k=1000).retrieve(QUESTION))
    print(f"{given.framework}: ok")


if __name__ == "__main__":
    main()

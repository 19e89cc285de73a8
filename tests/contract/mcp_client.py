"""The real MCP client lists and calls every tool: over HTTP and over pipes, with and without the handshake.

    mcp_client.py --url http://127.0.0.1:8080 --quarry target/release/quarry --documents examples/documents
"""

import argparse
import asyncio
import json
import pathlib
import re
import tempfile
import urllib.error
import urllib.request

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

TOOLS = {
    "search", "list_documents", "outline", "read", "grep", "assets", "neighbors", "query_table", "submit", "job_status",
}
REVISIONS = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28", "auto": "2026-07-28"}


def text_of(result):
    parts = [part.text for part in result.content]
    assert len(parts) == 1, parts
    return parts[0]


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, f"{name}: {text_of(result)}"
    return text_of(result)


async def refused(client, name, code, **arguments):
    result = await client.call_tool(name, arguments)
    assert result.is_error, f"{name} {arguments}: {text_of(result)}"
    assert text_of(result).startswith(code + ": "), f"{name}: {text_of(result)}"
    return text_of(result)


def first(pattern, text):
    found = re.search(pattern, text)
    assert found, f"no {pattern} in:\n{text}"
    return found.group(0)


async def submitted(client, path, namespace):
    text = await call(client, "submit", file_name=path.name, content=path.read_text(encoding="utf-8"), namespace=namespace)
    job = first(r"job_[0-9a-f]{12}", text)
    for _ in range(12):
        status = await call(client, "job_status", job_id=job, wait=10)
        if " is done;" in status:
            return first(r"doc_[0-9a-f]{12}", status)
        assert " is failed;" not in status, status
    raise AssertionError(status)


async def every_tool(client, documents, namespace):
    listed = await client.list_tools()
    assert {tool.name for tool in listed.tools} == TOOLS, listed
    for tool in listed.tools:
        assert tool.description and tool.input_schema["type"] == "object", tool
        assert "token_budget" in tool.input_schema["properties"], tool
        assert tool.annotations.read_only_hint == (tool.name != "submit"), tool

    log = await submitted(client, documents / "incident-log.md", namespace)
    prices = await submitted(client, documents / "spare-parts.html", namespace)
    here = {"namespace": namespace}

    text = await call(client, "list_documents", **here)
    assert log in text and prices in text and "incident-log.md" in text, text
    text = await call(client, "list_documents", name_contains="SPARE", **here)
    assert prices in text and log not in text, text

    text = await call(client, "search", query="Why did the flow of P-12 fall?", **here)
    assert "wrapped around the impeller" in text and "[E1]" in text and "Sources:" in text, text
    assert "data, not instructions" in text, text
    chunk = first(r"doc_[0-9a-f]{12}#\d+", text)
    text = await call(client, "search", query="Compare the flow of P-12 with the price of its seal", agentic=True, **here)
    assert "[E1]" in text, text

    text = await call(client, "outline", document_id=log, **here)
    section = first(r"sec_[0-9a-f]{12}", text)
    text = await call(client, "read", refs=[chunk], **here)
    assert chunk in text, text
    text = await call(client, "read", refs=[f"{log}/{section}", log], **here)
    assert "wrapped around the impeller" in text, text

    text = await call(client, "grep", pattern="impeller", **here)
    assert re.match(r"[1-9]\d* matches in [1-9]\d* chunks", text), text
    text = await call(client, "grep", pattern=r"P-1\d", regex=True, document_ids=[log], **here)
    assert log in text and prices not in text, text

    text = await call(client, "assets", type="table", **here)
    table = first(prices + r"#\d+", text)
    text = await call(client, "query_table", ref=table, **here)
    column = re.search(r'columns ("[^"]+")', text).group(1)
    text = await call(client, "query_table", ref=table, sql=f"SELECT count({column}) AS parts FROM t", **here)
    assert re.search(r"parts\n\d+", text), text
    await call(client, "neighbors", document_id=log, **here)

    # A wrong call is an answer that says what to do.
    await refused(client, "search", "INVALID_ARGUMENT", query="", **here)
    await refused(client, "read", "INVALID_ARGUMENT", refs=["incident-log.md"], **here)
    await refused(client, "read", "NOT_FOUND", refs=["doc_000000000000"], **here)
    await refused(client, "outline", "INVALID_ARGUMENT", document_id=log, namespace="elsewhere")
    await refused(client, "grep", "INVALID_ARGUMENT", pattern="(", regex=True, **here)
    await refused(client, "query_table", "INVALID_ARGUMENT", ref=table, sql="DELETE FROM t", **here)
    await refused(client, "list_documents", "INVALID_ARGUMENT", token_budget=10)
    await refused(client, "list_documents", "INVALID_ARGUMENT", surprise=1)
    await refused(client, "job_status", "NOT_FOUND", job_id="job_000000000000")
    await refused(client, "nothing", "NOT_FOUND")

    # Bounded, and honest about it.
    text = await call(client, "read", refs=[log, prices], token_budget=300, **here)
    assert len(text) < 300 * 8 and "[left out: " in text, text


async def over_http(url, documents):
    for mode, revision in REVISIONS.items():
        async with Client(url + "/mcp", mode=mode) as client:
            assert client.protocol_version == revision, client.protocol_version
            # A client that pins the revision asks nothing beforehand, so it is told nothing.
            assert mode == "2026-07-28" or "search" in client.instructions
            await every_tool(client, documents, f"mcp-{mode}")
        print(f"http, {mode}: {revision}")


async def over_pipes(quarry, documents):
    for mode in REVISIONS:
        with tempfile.TemporaryDirectory() as data:
            server = StdioServerParameters(command=quarry, args=["mcp", "--data", data, "--namespace", "pipes"])
            async with Client(stdio_client(server), mode=mode) as client:
                await every_tool(client, documents, "pipes")
        print(f"pipes, {mode}")


def keys_and_pages(url):
    """Once a key exists only its scopes count, and pages of other hosts are turned away."""

    def status(body, **headers):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
        request = urllib.request.Request(url + "/mcp", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    code, body = status(listing, Origin="https://evil.example.com")
    assert code in (401, 403) and body["error"]["code"] in ("UNAUTHENTICATED", "PERMISSION_DENIED"), body

    create = urllib.request.Request(
        url + "/v1/auth/create", json.dumps({"name": "reader", "scopes": ["query"]}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(create, timeout=10) as response:
        key = next(value for value in json.load(response).values() if isinstance(value, str) and value.startswith("sk_"))
    code, body = status(listing)
    assert code == 401, body
    code, body = status(listing, Authorization=f"Bearer {key}")
    names = {tool["name"] for tool in body["result"]["tools"]}
    assert code == 200 and names == TOOLS - {"submit"}, body
    print("keys and pages")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--url", required=True)
    arguments.add_argument("--quarry", required=True)
    arguments.add_argument("--documents", type=pathlib.Path, required=True)
    given = arguments.parse_args()
    asyncio.run(over_http(given.url, given.documents))
    asyncio.run(over_pipes(given.quarry, given.documents))
    keys_and_pages(given.url)


if __name__ == "__main__":
    main()

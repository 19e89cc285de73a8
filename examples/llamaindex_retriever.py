"""A LlamaIndex retriever over Quarry: `QuarryRetriever(url="http://127.0.0.1:8080").retrieve("…")`.

Needs `llama-index-core` and nothing else. Each hit is a scored node: its text, and in `metadata` everything that a
citation needs (document, file, section, pages, chunk). `agentic=True` breaks complex questions into steps.
"""

import json
import urllib.request
from typing import List, Optional

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode


class QuarryRetriever(BaseRetriever):
    """Finds passages and tables in the documents of one namespace."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        api_key: str = "sk_local",
        namespace: str = "default",
        top_k: int = 10,
        agentic: bool = False,
        document_ids: Optional[List[str]] = None,
        timeout: float = 30.0,
    ) -> None:
        super().__init__()
        self._url = url.rstrip("/") + "/v2/retrieval/query"
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {api_key}"}
        self._asked = {"namespace": namespace, "top_k": top_k, "use_agentic": agentic}
        if document_ids is not None:
            self._asked["include_document_ids"] = document_ids
        self._timeout = timeout

    def _retrieve(self, query_bundle: QueryBundle) -> List[NodeWithScore]:
        body = json.dumps({"query": query_bundle.query_str, **self._asked}).encode()
        request = urllib.request.Request(self._url, body, self._headers)
        with urllib.request.urlopen(request, timeout=self._timeout) as response:
            answer = json.load(response)
        return [self._node(result) for result in answer["results"]]

    @staticmethod
    def _node(result: dict) -> NodeWithScore:
        source, metadata = result["source"], result["metadata"]
        node = TextNode(
            id_=f"{source['document_id']}#{metadata['ordinal']}",
            text=result["content"],
            metadata={
                "file_name": source["source_file_name"],
                "section_path": source["section_path"],
                "page_nums": metadata["page_nums"],
                "chunk_id": result["chunk_id"],
                "chunk_type": result["chunk_type"],
            },
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source["document_id"])},
        )
        # Ids and types help a program, not the model that reads the text.
        node.excluded_llm_metadata_keys = ["chunk_id", "chunk_type"]
        return NodeWithScore(node=node, score=result["score"])

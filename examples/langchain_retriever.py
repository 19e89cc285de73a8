"""A LangChain retriever over Quarry: `QuarryRetriever(url="http://127.0.0.1:8080").invoke("…")`.

Needs `langchain-core` and nothing else. Each hit is a `Document`: its text, and in `metadata` everything that a
citation needs (document, file, section, pages, chunk) with the score. `agentic=True` breaks complex questions into steps.
"""

import json
import urllib.request
from typing import List, Optional

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import SecretStr


class QuarryRetriever(BaseRetriever):
    """Finds passages and tables in the documents of one namespace."""

    url: str = "http://127.0.0.1:8080"
    api_key: SecretStr = SecretStr("sk_local")
    namespace: str = "default"
    top_k: int = 10
    agentic: bool = False
    document_ids: Optional[List[str]] = None
    timeout: float = 30.0

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> List[Document]:
        asked = {"query": query, "namespace": self.namespace, "top_k": self.top_k, "use_agentic": self.agentic}
        if self.document_ids is not None:
            asked["include_document_ids"] = self.document_ids
        request = urllib.request.Request(
            self.url.rstrip("/") + "/v2/retrieval/query",
            json.dumps(asked).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {self.api_key.get_secret_value()}"},
        )
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            answer = json.load(response)
        return [self._document(result) for result in answer["results"]]

    @staticmethod
    def _document(result: dict) -> Document:
        source, metadata = result["source"], result["metadata"]
        return Document(
            id=f"{source['document_id']}#{metadata['ordinal']}",
            page_content=result["content"],
            metadata={
                "source": source["source_file_name"],
                "document_id": source["document_id"],
                "section_path": source["section_path"],
                "page_nums": metadata["page_nums"],
                "chunk_id": result["chunk_id"],
                "chunk_type": result["chunk_type"],
                "score": result["score"],
            },
        )

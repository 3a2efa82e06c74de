"""The scripted model as a check sees it."""

from __future__ import annotations

from barry_cli.contract.proof import NotShown
from barry_cli.verify.models import ModelServer, Script


class Model:
    """The scripted model of one run."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server

    def url(self, api: str) -> str:
        urls = {str(name): url for name, url in self.server.urls().items()}
        if api not in urls:
            raise ValueError(f"no API named {api}; there are {', '.join(urls)}")
        return urls[api]

    def script(self, rules: list[dict[str, object]]) -> None:
        """Replace the script: rules of ``when`` and ``then``."""
        self.server.play(Script.parse({"rules": rules}))

    def texts(self) -> list[str]:
        return self.server.texts()

    def tool_results(self) -> list[str]:
        return [result.text for result in self.server.tool_results()]

    def offered_tools(self) -> list[str]:
        for request in reversed(self.server.model_requests()):
            if request.tools:
                return list(request.tools)
        return []

    def wait_for_text(self, text: str, *, seconds: float = 60) -> None:
        """Wait until a request carries the text. Raises NotShown when none does."""
        try:
            self.server.wait_for(lambda request: request.contains(text), seconds)
        except TimeoutError:
            raise NotShown(f"no request to the model carried {text!r} in {seconds:g} s") from None

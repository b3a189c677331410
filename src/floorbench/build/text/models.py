"""Models for writing and judging, named by settings that any process reads alike."""

from __future__ import annotations

from floorbench.errors import UsageError
from floorbench.systems.llm.chat import ChatModel
from floorbench.systems.llm.gemini import GOOGLE, GeminiChat
from floorbench.systems.llm.gemini import KEY as GEMINI_KEY
from floorbench.systems.llm.openai_api import KEY as OPENAI_KEY
from floorbench.systems.llm.openai_api import OPENAI
from floorbench.systems.llm.openai_chat import OpenAIChat
from floorbench.systems.llm.recorded import Replies
from floorbench.systems.llm.retrying import Policy
from floorbench.systems.llm.rows import embedded_model
from floorbench.systems.llm.served import ServedModel

SERVICES = ("openai", "gemini", "embedded")


def chat_model(
    *,
    service: str,
    model: str = "",
    base_url: str | None = None,
    key_env: str | None = None,
    timeout: float = 120.0,
    attempts: int = 5,
    replies: str | None = None,
    replay: bool = False,
) -> ChatModel:
    """Return a chat model; nothing is loaded and nothing is sent.

    Parameters
    ----------
    service : {'openai', 'gemini', 'embedded'}
        Any server that speaks the OpenAI API; Google's; a GGUF file served by this process.
    model : str
        The service's name of the model; for ``embedded`` the path of the file, SmolLM2-135M of the
        assets where empty.
    base_url : str or None
        Address of the service; its public one by default.
    key_env : str or None
        Name of the environment variable that holds the key; the key itself is no setting.
    timeout : float
        Seconds that one call may take.
    attempts : int
        Calls at most for one answer.
    replies : str or None
        Folder of recorded replies.
    replay : bool
        Answer from recorded replies only; needs no key.

    Raises
    ------
    UsageError
        FB861 for an unknown service or no name of a model; FB513 for other values out of range.
    """
    if service not in SERVICES:
        raise UsageError(
            "FB861", f"no service {service!r}", hint=f"there are: {', '.join(SERVICES)}"
        )
    if not isinstance(model, str) or (not model and service != "embedded"):
        raise UsageError("FB861", f"model {model!r} is not a model's name")
    policy = Policy(timeout=timeout, attempts=attempts)
    recorded = Replies(replies, replay=replay)
    match service:
        case "openai":
            return OpenAIChat(
                model=model,
                base_url=base_url or OPENAI,
                key_env=key_env if key_env is not None else OPENAI_KEY,
                replies=recorded,
                policy=policy,
            )
        case "gemini":
            return GeminiChat(
                model=model,
                base_url=base_url or GOOGLE,
                key_env=key_env if key_env is not None else GEMINI_KEY,
                replies=recorded,
                policy=policy,
            )
        case _:
            return ServedModel(model=embedded_model(model or None, context=8192, slots=1))

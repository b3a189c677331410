"""What clients of paid services share: address, key, policy, and that the key is never shown."""

from __future__ import annotations

import os
import weakref
from typing import Any

from floorbench.core.vocab import Level
from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.systems.llm.http import check_url
from floorbench.systems.llm.protocol import ModelInfo
from floorbench.systems.llm.retrying import Policy, Refused

HIDDEN = "<key>"


class Service:
    """A model at an address.

    Parameters
    ----------
    model : str
        The server's name of the model.
    base_url : str
        Address of the API.
    home : str
        Address of the vendor's own service, which needs a key; others may do without.
    key_env : str
        Name of the environment variable that holds the key. The key itself is no parameter, and
        is kept out of specs, messages and predictions.
    policy : Policy or None
        Time-out and repeats.
    """

    def __init__(
        self, *, model: str, base_url: str, home: str, key_env: str, policy: Policy | None
    ) -> None:
        if not model:
            raise UsageError("FB513", "model is empty")
        self._url = check_url("base_url", base_url)
        self._home = home
        self._key_env = key_env
        self._policy = policy or Policy()
        self._secret = ""
        self._client: Any = None
        self.info = ModelInfo(
            name=model,
            level=Level.REAL_CODE_PATH,
            licence="service",
            parameters={
                "base_url": self._url,
                "model": model,
                "timeout": self._policy.timeout,
                "attempts": self._policy.attempts,
            },
        )

    def key(self) -> str:
        """Return the key, or a word that stands for none (``FB421`` where one is needed)."""
        self._secret = os.environ.get(self._key_env, "")
        if not self._secret and self._url == self._home:
            raise EnvironmentProblem(
                "FB421",
                f"the environment variable {self._key_env} is not set",
                hint=f"put the key into {self._key_env}, or name another server with base_url; "
                "recorded replies need none",
            )
        return self._secret or "none"

    def opened(self, client: Any) -> Any:
        """Return a vendor's client, whose connections are closed when nobody has this any more."""
        weakref.finalize(self, client.close)
        return client

    def clean(self, refused: Refused) -> Refused:
        """Take the key out of what a server or a client says."""
        if self._secret:
            refused.reason = refused.reason.replace(self._secret, HIDDEN)
        return refused

from importlib.metadata import version

import pytest

import floorbench
from floorbench.run.provenance import REDACTED, code, hardware, packages, redact, scrub


@pytest.mark.parametrize(
    "name",
    ["key", "api_key", "apiKey", "APIKey", "api-key", "hf_token", "OPENAI_API_KEY", "client_secret",
     "password", "Authorization"],
)  # fmt: skip
def test_secrets_are_replaced(name: str) -> None:
    found = redact({name: "s3cr3t", "model": "m"})
    assert found.parameters == {name: REDACTED, "model": "m"}
    assert found.secrets == ("s3cr3t",)


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_tokens", "5"), ("keyword", "x"), ("token", 5), ("token", None), ("key", ""),
     ("monkey", "x"), ("tokenizer", "x")],
)  # fmt: skip
def test_what_is_no_secret_stays(name: str, value: object) -> None:
    assert redact({name: value}).parameters == {name: value}


def test_secrets_are_found_deep_down_and_by_their_shape() -> None:
    given = {
        "client": {"headers": [{"token": "abc"}], "keys": ["x"]},
        "url": "https://h/?k=sk-abcdefghijklmnop",
        "secret": ["one", {"two": "three"}],
    }
    assert redact(given).parameters == {
        "client": {"headers": [{"token": REDACTED}], "keys": ["x"]},
        "url": REDACTED,
        "secret": [REDACTED, {"two": "three"}],
    }


def test_messages_are_cleaned() -> None:
    assert scrub("401 for s3cr3t", ("s3cr3t",)) == f"401 for {REDACTED}"
    assert scrub("bad key sk-abcdefghijklmnop.", ()) == f"bad key {REDACTED}."
    assert scrub("nothing here", ()) == "nothing here"


def test_versions_are_those_installed() -> None:
    found = packages()
    assert found["numpy"] == version("numpy")
    assert list(found) == sorted(found, key=str.lower)


def test_code_names_version_and_revision() -> None:
    found = code()
    assert found["version"] == floorbench.__version__
    assert found["revision"] is None or len(found["revision"]) == 40


def test_hardware_names_no_host_or_user() -> None:
    import getpass
    import platform

    found = hardware()
    assert found["cores"] >= 1
    assert found["python"] == platform.python_version()
    assert platform.node() not in found.values()
    assert getpass.getuser() not in found.values()

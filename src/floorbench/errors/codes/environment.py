"""FB4xx: environment: extras, assets, files on this machine."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB401": Code(
        "missing extra",
        "An optional library is not installed.",
        "Run the install line of the message.",
    ),
    "FB402": Code(
        "file cannot be read or written",
        "The operating system refused a file: missing, no permission, disk full.",
        "Check the path and the permissions named in the message.",
    ),
    "FB411": Code(
        "asset not on this machine",
        "Model weights that a system needs have not been fetched yet.",
        "Run `floorbench assets get NAME` once, with a network.",
    ),
    "FB412": Code(
        "asset has another hash",
        "A file that should be known weights differs from them by its SHA-256.",
        "Delete the file and fetch it again.",
    ),
    "FB413": Code(
        "asset cannot be fetched",
        "No source of the asset could be reached.",
        "Check the network, or put the file in place by hand as the message says.",
    ),
    "FB414": Code(
        "asset cannot be stored",
        "The cache folder cannot be written: no permission or no space.",
        "Free space, or set FLOORBENCH_CACHE to another folder.",
    ),
    "FB421": Code(
        "no key for a service",
        "A remote model needs a key, and its environment variable is not set.",
        "Put the key into the named variable; keys are never parameters and are never written.",
    ),
}

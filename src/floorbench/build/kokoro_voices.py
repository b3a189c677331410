"""The voices of the build voice: which roles they speak in which language, and what babble says."""

from __future__ import annotations

# Roles never share a voice within a language; "a+b" is the mean of two voices.
VOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "user": (
            "af_heart",
            "am_michael",
            "bf_emma",
            "am_fenrir",
            "af_bella",
            "am_puck",
            "af_kore",
            "bm_george",
        ),
        "third_party": ("af_sarah", "am_echo", "bf_isabella", "bm_fable"),
        "background": ("af_nova", "am_eric", "bf_alice", "am_liam"),
        "babble": ("af_river", "am_adam", "bf_lily", "bm_daniel"),
    },
    "zh": {
        "user": ("zf_xiaoxiao", "zm_yunjian", "zf_xiaoyi", "zm_yunyang"),
        "third_party": ("zf_xiaobei", "zm_yunxi"),
        "background": ("zm_yunxia", "zf_xiaoni"),
        "babble": (
            "zf_xiaobei+zf_xiaoni",
            "zm_yunxi+zm_yunxia",
            "zf_xiaoni+zm_yunxi",
            "zf_xiaobei+zm_yunxia",
        ),
    },
}

# Held-out sentences that only the babble uses.
BABBLE = {
    "en": (
        "The committee will look at the second proposal after the summer break.",
        "She carried the old wooden chairs down to the cellar one by one.",
        "Every morning the ferry brings newspapers and fresh bread to the island.",
        "They painted the fence twice and it still needs another coat in spring.",
    ),
    "zh": (
        "委员会会在暑假之后再讨论第二个方案。",
        "她把那些旧木椅一把一把地搬到了地下室。",
        "每天早上渡轮都会把报纸和新鲜面包送到岛上。",
        "他们把篱笆刷了两遍，春天还得再刷一遍。",
    ),
}


def voice_language(voice: str) -> str:
    """Return the phoneme language of a voice name: ``en-us``, ``en-gb`` or ``zh``.

    Examples
    --------
    >>> [voice_language(v) for v in ("af_heart", "bm_george", "zf_xiaoni+zm_yunxi")]
    ['en-us', 'en-gb', 'zh']
    """
    return {"a": "en-us", "b": "en-gb", "z": "zh"}[voice[0]]

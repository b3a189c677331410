"""Causal language models of a few thousand random numbers, in the real classes of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]
VOCABULARY = len(SPECIAL) + 256  # every byte is a token
TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }} : {{ m['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}system : {% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}" + TEMPLATE
)
SIZES = {
    "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
    "num_key_value_heads": 2, "vocab_size": VOCABULARY, "max_position_embeddings": 1024,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip
KINDS = {
    "qwen2": ("Qwen2Config", {}),
    "llama": ("LlamaConfig", {}),
    "gemma2": ("Gemma2Config", {"head_dim": 8, "query_pre_attn_scalar": 8}),
    "phi3": ("Phi3Config", {}),
    "mistral": ("MistralConfig", {}),
}


def model(folder: Path, kind: str, *, template: str = TEMPLATE) -> Path:
    """Write a model with its tokenizer, as a folder from the hub has them."""
    import torch
    import transformers

    name, more = KINDS[kind]
    torch.manual_seed(7)
    config = getattr(transformers, name)(**SIZES, **more)
    net = transformers.AutoModelForCausalLM.from_config(config)
    where = folder / kind
    net.save_pretrained(where)
    tokenizer(template=template).save_pretrained(where)
    return where


def tokenizer(*, template: str | None) -> Any:
    """Return a tokenizer in which every byte is a token."""
    import tokenizers
    import transformers

    signs = [*SPECIAL, *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    words = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={sign: n for n, sign in enumerate(signs)}, merges=[])
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, bos_token="<s>", eos_token="</s>", pad_token="<pad>",
        unk_token="<unk>", chat_template=template,
    )  # fmt: skip

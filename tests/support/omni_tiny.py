"""Qwen3-Omni of a few thousand random numbers, in the real classes of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import hf_tiny

MARKS = {
    "audio_token": "<|audio_pad|>", "audio_bos_token": "<|audio_start|>",
    "audio_eos_token": "<|audio_end|>", "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>", "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
}  # fmt: skip
IDS = {
    "audio_token": "audio_token", "image_token": "image_token", "video_token": "video_token",
    "audio_start_token": "audio_bos_token", "vision_start_token": "vision_bos_token",
}  # fmt: skip
TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.content is string %}{{ m.content }}{% else %}{% for part in m.content %}"
    "{% if part.type == 'audio' %}<|audio_start|><|audio_pad|><|audio_end|>"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}{{ '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def model(folder: Path) -> Path:
    """Write the whole model (talker and all) with its processor, as a folder from the hub."""
    import torch
    import transformers

    where = folder / "omni"
    words = hf_tiny.tokenizer(template=None)
    words.add_special_tokens({"additional_special_tokens": list(MARKS.values())})
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words.backend_tokenizer, eos_token="</s>", pad_token="<pad>",
        extra_special_tokens=MARKS, chat_template=TEMPLATE,
    )  # fmt: skip
    fast.save_pretrained(where)
    transformers.WhisperFeatureExtractor(feature_size=16).save_pretrained(where)
    torch.manual_seed(7)
    net = transformers.Qwen3OmniMoeForConditionalGeneration(_config(transformers, fast))
    net.generation_config.eos_token_id = fast.eos_token_id
    net.save_pretrained(where)
    return where


def _config(transformers: Any, words: Any) -> Any:
    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
    text = {
        "vocab_size": len(words), "hidden_size": 16, "intermediate_size": 16,
        "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8,
        "moe_intermediate_size": 8, "num_experts": 2, "num_experts_per_tok": 1,
        "max_position_embeddings": 2048, "rope_parameters": rope,
    }  # fmt: skip
    audio = {
        "d_model": 16, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 16,
        "num_mel_bins": 16, "output_dim": 16, "downsample_hidden_size": 4,
    }  # fmt: skip
    sight = {
        "depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2,
        "out_hidden_size": 16, "deepstack_visual_indexes": [0],
    }  # fmt: skip
    thinker = {
        "text_config": text, "audio_config": audio, "vision_config": sight,
        **{f"{name}_id": words.convert_tokens_to_ids(MARKS[mark]) for name, mark in IDS.items()},
    }  # fmt: skip
    return transformers.Qwen3OmniMoeConfig(thinker_config=thinker, enable_audio_output=False)

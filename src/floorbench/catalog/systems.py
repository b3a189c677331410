"""The systems that ship with floorbench, one entry each."""

from __future__ import annotations

from floorbench.registry import Entry, Registry

SYSTEMS = Registry(
    "system",
    {
        "always-maintain": Entry(
            "floorbench.systems.baselines:always_maintain",
            "always keeps talking",
            level="measured",
        ),
        "always-stop": Entry(
            "floorbench.systems.baselines:always_stop",
            "always stops to listen",
            level="measured",
        ),
        "always-takeover": Entry(
            "floorbench.systems.baselines:always_takeover",
            "always takes the turn",
            level="measured",
        ),
        "always-dismiss": Entry(
            "floorbench.systems.baselines:always_dismiss",
            "never takes the turn",
            level="measured",
        ),
        "always-yield": Entry(
            "floorbench.systems.baselines:always_yield",
            "gives way to every insertion",
            level="measured",
        ),
        "always-keep": Entry(
            "floorbench.systems.baselines:always_keep",
            "gives way to no insertion",
            level="measured",
        ),
        "backchannel-words": Entry(
            "floorbench.systems.stream_words:BackchannelWords",
            "streams: yields at the first reference word that begins no backchannel",
            level="measured",
        ),
        "barge-in-energy": Entry(
            "floorbench.systems.stream_rules:barge_in_energy",
            "streams: yields to loud enough, long enough user sound",
            level="measured",
        ),
        "barge-in-silero": Entry(
            "floorbench.systems.stream_rules:barge_in_silero",
            "streams: yields to long enough user speech, Silero VAD",
            extra="onnx",
            level="measured",
        ),
        "coin": Entry(
            "floorbench.systems.coin:Coin",
            "a fair coin between yield and keep",
            level="measured",
        ),
        "vad-detector": Entry(
            "floorbench.systems.stream_classifier:vad_detector",
            "streams: any turn detector, asked at each pause (parameter detector)",
            extra="onnx",
            level="measured",
        ),
        "vad-smart-turn": Entry(
            "floorbench.systems.stream_classifier:vad_smart_turn",
            "streams: Smart-Turn after each pause, complete takes the floor",
            extra="onnx",
            level="measured",
        ),
        "constant": Entry(
            "floorbench.systems.baselines:Constant",
            "one label for everything (parameter label)",
            level="measured",
        ),
        "constant-per-state": Entry(
            "floorbench.systems.baselines:ConstantPerState",
            "one label while speaking, one while idle",
            level="measured",
        ),
        "silence-frames": Entry(
            "floorbench.systems.frames:SilenceFrames",
            "turn over after a silence, in every frame (parameter timeout)",
            level="measured",
        ),
        "persistence": Entry(
            "floorbench.systems.frames:PersistenceFrames",
            "who speaks now goes on speaking",
            level="measured",
        ),
        "constant-frames": Entry(
            "floorbench.systems.frames:ConstantFrames",
            "the same score in every frame (parameter signal)",
            level="measured",
        ),
        "frame-probe": Entry(
            "floorbench.systems.frames_probe:FrameProbe",
            "trained here: activity and words so far (parameter artefact)",
            level="measured",
        ),
        "smart-turn-v3.0": Entry(
            "floorbench.systems.smart_turn:smart_turn_v3_0",
            "P(turn complete) from the last 8 s of audio",
            extra="onnx",
            level="measured",
        ),
        "smart-turn-v3.1": Entry(
            "floorbench.systems.smart_turn:smart_turn_v3_1",
            "P(turn complete) from the last 8 s of audio",
            extra="onnx",
            level="measured",
        ),
        "smart-turn-v3.2": Entry(
            "floorbench.systems.smart_turn:smart_turn_v3_2",
            "P(turn complete) from the last 8 s of audio",
            extra="onnx",
            level="measured",
        ),
        "roles-smollm2": Entry(
            "floorbench.systems.role_texts:roles_smollm2",
            "names the role of an insertion from the dialogue's text, embedded model",
            extra="llama",
            level="measured",
        ),
        "roles-openai": Entry(
            "floorbench.systems.role_texts:roles_openai",
            "names the role of an insertion, OpenAI-compatible server (parameter model)",
            extra="openai",
            level="real code path",
        ),
        "roles-ollama": Entry(
            "floorbench.systems.role_texts:roles_ollama",
            "names the role of an insertion, Ollama (parameter model)",
            level="real code path",
        ),
        "silence-silero": Entry(
            "floorbench.systems.endpointers:silence_silero",
            "complete after enough silence, Silero VAD",
            extra="onnx",
            level="measured",
        ),
        "silence-webrtc": Entry(
            "floorbench.systems.endpointers:silence_webrtc",
            "complete after enough silence, WebRTC VAD",
            extra="webrtc",
            level="measured",
        ),
        "boundary-smollm2": Entry(
            "floorbench.systems.trp_models:boundary_smollm2",
            "P(sentence ends next), embedded SmolLM2-135M",
            extra="llama",
            level="measured",
        ),
        "yesno-smollm2": Entry(
            "floorbench.systems.trp_models:yesno_smollm2",
            "P(yes) against P(no), embedded SmolLM2-135M",
            extra="llama",
            level="measured",
        ),
        "generate-smollm2": Entry(
            "floorbench.systems.trp_models:generate_smollm2",
            "writes its answer, embedded SmolLM2-135M",
            extra="llama",
            level="measured",
        ),
        "boundary-openai": Entry(
            "floorbench.systems.trp_models:boundary_openai",
            "P(sentence ends next), OpenAI-compatible server (parameter model)",
            extra="openai",
            level="real code path",
        ),
        "yesno-openai": Entry(
            "floorbench.systems.trp_models:yesno_openai",
            "P(yes) against P(no), OpenAI-compatible server (parameter model)",
            extra="openai",
            level="real code path",
        ),
        "generate-openai": Entry(
            "floorbench.systems.trp_models:generate_openai",
            "writes its answer, OpenAI-compatible server (parameter model)",
            extra="openai",
            level="real code path",
        ),
        "boundary-ollama": Entry(
            "floorbench.systems.trp_models:boundary_ollama",
            "P(sentence ends next), Ollama (parameter model)",
            level="real code path",
        ),
        "yesno-ollama": Entry(
            "floorbench.systems.trp_models:yesno_ollama",
            "P(yes) against P(no), Ollama (parameter model)",
            level="real code path",
        ),
        "generate-ollama": Entry(
            "floorbench.systems.trp_models:generate_ollama",
            "writes its answer, Ollama (parameter model)",
            level="real code path",
        ),
        "generate-gpt-4o": Entry(
            "floorbench.systems.trp_models:generate_gpt_4o",
            "GPT-4 Omni of the within-turn TRP study, OpenAI's service",
            extra="openai",
            level="real code path",
        ),
        "generate-phi3-3.8b": Entry(
            "floorbench.systems.trp_models:generate_phi3_4b",
            "phi3:3.8b of the within-turn TRP study, through Ollama",
            level="real code path",
        ),
        "generate-phi3-14b": Entry(
            "floorbench.systems.trp_models:generate_phi3_14b",
            "phi3:14b of the within-turn TRP study, through Ollama",
            level="real code path",
        ),
        "generate-gemma2-9b": Entry(
            "floorbench.systems.trp_models:generate_gemma2_9b",
            "gemma2:9b of the within-turn TRP study, through Ollama",
            level="real code path",
        ),
        "generate-gemma2-27b": Entry(
            "floorbench.systems.trp_models:generate_gemma2_27b",
            "gemma2:27b of the within-turn TRP study, through Ollama",
            level="real code path",
        ),
        "generate-llama3.1-8b": Entry(
            "floorbench.systems.trp_models:generate_llama31_8b",
            "llama3.1:8b of the within-turn TRP study, through Ollama",
            level="real code path",
        ),
        "generate-mistral-7b": Entry(
            "floorbench.systems.trp_models:generate_mistral_7b",
            "mistral:7b of the within-turn TRP study, through Ollama",
            level="real code path",
        ),
        "prompted-smollm2": Entry(
            "floorbench.systems.prompted_rows:prompted_smollm2",
            "reads the dialogue, embedded SmolLM2-135M over HTTP in this process",
            extra="llama,openai",
            level="measured",
        ),
        "prompted-openai": Entry(
            "floorbench.systems.prompted_rows:prompted_openai",
            "reads or hears the dialogue, OpenAI-compatible server (parameter model)",
            extra="openai",
            level="real code path",
        ),
        "prompted-gemini": Entry(
            "floorbench.systems.prompted_rows:prompted_gemini",
            "reads or hears the dialogue, Gemini API (parameter model)",
            extra="gemini",
            level="real code path",
        ),
        "gpt-4o-audio": Entry(
            "floorbench.systems.prompted_rows:gpt_4o_audio",
            "GPT-4o-audio of CoDeTT, OpenAI's service",
            extra="openai",
            level="real code path",
        ),
        "qwen3-omni": Entry(
            "floorbench.systems.prompted_rows:qwen3_omni",
            "Qwen3-Omni of CoDeTT, behind a vLLM server of yours",
            extra="openai",
            level="real code path",
        ),
        "qwen3-omni-hf": Entry(
            "floorbench.systems.hf_omni:qwen3_omni_hf",
            "Qwen3-Omni of CoDeTT, transformers in this process (parameter model)",
            extra="hf",
            level="real code path",
        ),
        "gemini-3-pro": Entry(
            "floorbench.systems.prompted_rows:gemini_3_pro",
            "Gemini 3 Pro of CoDeTT, Google's service",
            extra="gemini",
            level="real code path",
        ),
        "gemini-3.1-pro": Entry(
            "floorbench.systems.prompted_rows:gemini_31_pro",
            "Gemini 3.1 Pro of ECHO, on words, Google's service",
            extra="gemini",
            level="real code path",
        ),
        "command": Entry(
            "floorbench.systems.worker:CommandSystem",
            "any program that answers over a pipe (parameter command)",
            level="real code path",
        ),
        "command-stream": Entry(
            "floorbench.systems.worker_stream:CommandStream",
            "streams: any program, step by step over a pipe (parameter command)",
            level="real code path",
        ),
        "endpoint": Entry(
            "floorbench.systems.worker_http:EndpointSystem",
            "any server of yours that answers over HTTP (parameter url)",
            level="real code path",
        ),
        "external-stream": Entry(
            "floorbench.systems.stream_socket:SocketStream",
            "streams: any program that joins over a WebSocket",
            extra="stream",
            level="real code path",
        ),
        "easy-turn": Entry(
            "floorbench.systems.worker_rows:easy_turn",
            "Easy Turn of CoDeTT and ECHO, in an environment of its own",
            level="contract",
        ),
        "minicpm-o-4.5": Entry(
            "floorbench.systems.worker_rows:minicpm_o",
            "MiniCPM-o 4.5 of CoDeTT, in an environment of its own",
            level="contract",
        ),
        "minicpm-o-4.5-duplex": Entry(
            "floorbench.systems.worker_rows:minicpm_o_duplex",
            "streams: MiniCPM-o 4.5 of ECHO, in an environment of its own",
            level="contract",
        ),
        "soulx-duplug": Entry(
            "floorbench.systems.worker_rows:soulx_duplug",
            "streams: SoulX-Duplug of ECHO, in an environment of its own",
            level="contract",
        ),
        "lychee-fd": Entry(
            "floorbench.systems.worker_rows:lychee_fd",
            "streams: Lychee-FD of ECHO, in an environment of its own",
            level="contract",
        ),
        "dualturn": Entry(
            "floorbench.systems.worker_rows:dualturn",
            "DualTurn's frame scores, in an environment of its own",
            level="contract",
        ),
        "vap-stereo": Entry(
            "floorbench.systems.worker_rows:vap_stereo",
            "VAP on two channels, in an environment of its own",
            level="contract",
        ),
        "firered-turn": Entry(
            "floorbench.systems.text_onnx:FireRed",
            "FireRedChat's turn detector of CoDeTT, on words (parameter model)",
            extra="text",
            level="real code path",
        ),
        "namo-turn": Entry(
            "floorbench.systems.text_onnx:Namo",
            "NAMO turn detector of CoDeTT, on words (parameter model)",
            extra="text",
            level="real code path",
        ),
        "ten-turn": Entry(
            "floorbench.systems.hf_turn:TenTurn",
            "TEN Turn Detection of CoDeTT, on words (parameter model)",
            extra="hf",
            level="real code path",
        ),
        "ke-semanticvad": Entry(
            "floorbench.systems.hf_turn:KeSemanticVad",
            "KE-SemanticVAD of CoDeTT, on words (parameter model)",
            extra="hf",
            level="real code path",
        ),
        "boundary-hf": Entry(
            "floorbench.systems.trp_models:boundary_hf",
            "P(sentence ends next), transformers in this process (parameter model)",
            extra="hf",
            level="real code path",
        ),
        "yesno-hf": Entry(
            "floorbench.systems.trp_models:yesno_hf",
            "P(yes) against P(no), transformers in this process (parameter model)",
            extra="hf",
            level="real code path",
        ),
        "generate-hf": Entry(
            "floorbench.systems.trp_models:generate_hf",
            "writes its answer, transformers in this process (parameter model)",
            extra="hf",
            level="real code path",
        ),
    },
)

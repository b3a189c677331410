"""All targets, and what is left out with the reason why.

A test reads the package's source for functions that decode something (JSON, CSV, XML, arrays,
Parquet, audio, numbers out of text); each must be exercised by a target or stand in ``LEFT_OUT``.
"""

from __future__ import annotations

from torture.fuzz import (
    of_answers,
    of_audio,
    of_builds,
    of_formats,
    of_manifests,
    of_options,
    of_packed,
    of_pages,
    of_run,
    of_sessions,
    of_stimuli,
    of_tables,
    of_texts,
    of_traces,
)
from torture.fuzz.target import Target

TARGETS: dict[str, Target] = {
    t.name: t
    for module in (
        of_formats,
        of_answers,
        of_tables,
        of_manifests,
        of_stimuli,
        of_sessions,
        of_audio,
        of_packed,
        of_run,
        of_traces,
        of_options,
        of_pages,
        of_builds,
        of_texts,
    )
    for t in module.TARGETS
}

_SHIPPED = "a file that ships with the package"
_PIPE = "a private pipe or port to a process of our own"
_MADE = "bytes that the same function or process has just made"
_CACHE = "a cache of our own, written whole or not at all, of a run of one recipe"

LEFT_OUT: dict[str, str] = {
    "floorbench.audio.ref:ArrayAudio.from_wire": _PIPE,
    "floorbench.build.echo_texts:read_texts": _SHIPPED,
    "floorbench.build.g2p_process:PhonemeClient.ask": _PIPE,
    "floorbench.build.g2p_process:_serve": _PIPE,
    "floorbench.build.kokoro:Kokoro.__init__": "an asset whose hash was checked",
    "floorbench.build.kokoro_lines:SpokenLines.say": _CACHE,
    "floorbench.build.pipeline.pool:ProcessPool.collect": _PIPE,
    "floorbench.build.pipeline.ray_pool:RayPool.collect": _PIPE,
    "floorbench.build.pipeline.store:ResultCache.put": _MADE,
    "floorbench.build.pipeline.worker:Maker.make": _PIPE,
    "floorbench.build.pipeline.worker:main": _PIPE,
    "floorbench.build.sound.line:through_line": _MADE,
    "floorbench.build.speech.caching:_heard": _CACHE,
    "floorbench.build.speech.caching:_spoken": _CACHE,
    "floorbench.build.speech.local_models:IndexTTS2.synthesize": _MADE,
    "floorbench.build.speech_assets:assemble": "an asset whose hash was checked",
    "floorbench.build.starter_codett:encode": _MADE,
    "floorbench.tasks.units:Units.scored": _MADE,
    "floorbench.build.starter_codett:write_licences": _SHIPPED,
    "floorbench.build.starter_compare:_clips": _SHIPPED,
    "floorbench.build.starter_compare:_read": _SHIPPED,
    "floorbench.build.starter_render:Renderer._noise": _CACHE,
    "floorbench.build.starter_render:Renderer.render": _CACHE,
    "floorbench.build.starter_texts:read_texts": _SHIPPED,
    "floorbench.build.text.grammar:texts_of": _SHIPPED,
    "floorbench.build.text.prompts:_parts": _SHIPPED,
    "floorbench.build.text.similarity:trigrams": _MADE,
    "floorbench.cli.console:data_json": _MADE,
    "floorbench.datasets.starter_digest:pcm_sha256": _SHIPPED,
    "floorbench.datasets.starter_digest:starter_digest": _SHIPPED,
    "floorbench.events.traces:trace_values": "a trace that trace_problem has passed",
    "floorbench.report.published:rows": _SHIPPED,
    "floorbench.run.pending:unpacked": _PIPE,
    "floorbench.run.processes:ProcessExecutor._messages": _PIPE,
    "floorbench.run.processes:ProcessExecutor.start": _PIPE,
    "floorbench.run.ray_cluster:Crew.events": _PIPE,
    "floorbench.run.ray_cluster:_worker_class": _PIPE,
    "floorbench.run.ray_workers:RayExecutor.start": _PIPE,
    "floorbench.run.signature:as_json": _MADE,
    "floorbench.run.worker:main": _PIPE,
    "floorbench.systems.build:check_spec": _MADE,
    "floorbench.systems.kit.floorbench_worker:_Pipe.messages": "floorbench itself at the other end",
    "floorbench.systems.llm.chat:samples_of": _MADE,
    "floorbench.systems.llm.embedded:EmbeddedModel._post": _PIPE,
    "floorbench.tasks.dualturn:DualTurnTask._actions_of": _MADE,
    "floorbench.tasks.vap:VapTask._events": _MADE,
    "floorbench.web.listen_export:forget": "a set that the export of the same session wrote",
}

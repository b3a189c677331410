"""Inputs that once got past a reader, or took it down: each goes through its laws again."""

import pytest
from torture.fuzz.engine import repeat
from torture.fuzz.registry import TARGETS

HEAD = b"id,group,kind,words,from,to,end,before,said\n"
ROW = b"s1,g1,int,wait,1000,1800,3000,,so I"
NPY = b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': ("
SAMPLE = (
    b'{"key": "000000000", "json": [512, 9, ""], "sample": {"id": "a", "cluster": "a", '
    b'"observation": {"language": "und"}, %s}}'
)
CALL = b'{"steps": [{"key": "k", "item": "a", "stage": "s", "notes": [{"kind": "call", %s}]}]}'

SPHERE = (
    b"NIST_1A\n   1024\nchannel_count -i 1\nsample_count -i 0\nsample_rate -i 8000\n"
    b"sample_n_bytes -i 2\nsample_coding -s3 pcm\nend_head\n"
)

JOINED = (
    b'{"event": "joined", "id": "p1", "list": "A", "reversed": false, "mode": "k", "consent": "c", '
    b'"at": ""}\n'
)
PRESSED = b'{"event": "key", "item": 0, "visit": 1, "time": 1.5, "at": "x"}\n'
TINY = b"RIFF\xa4\x0c\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0=\x80>\0\0\2\0\x10\0data\x0c\0\0\0\1\6"

FOUND = [
    # a column per channel that is one for both; a sound of a billionth of a second
    ("data-frames-mapping", b'{"vad": "session_id"}'),
    ("audio-pool", TINY),
    # who joined twice began anew, and what had been pressed before was lost
    ("web-listening-log", JOINED + PRESSED + JOINED),
    # a chunk of negative length brought more bytes than were asked for
    ("storage-http", b"HTTP/1. 206\nTransfer-Encoding:chunked\n\n-1\nde\r\n0\r"),
    # a path of a thousand folders took the square of their number; one that no file can have broke
    ("data-clips-csv", b"path,label,text\na." + b"<a></a>" * 3000 + b"wav,complete,yes\n"),
    ("run-import-csv", b"time,,:\n6,0,3\n808,7,1"),
    ("web-review-log", b'{"item":\r"a","label":"","heard":true,"at":""}\n'),
    ("web-listening-log", b'{"event": {"a": 1}, "at": "x"}\n'),
    ("web-listening-log", JOINED.replace(b"}", b"\r}")),
    # tags that are opened and never closed took the square of their number
    ("answer-codett", b"<|SystemSpeaking|Speakin" * 4000),
    ("answer-codett", b"stop" + b" " * 30000),
    # the law took a vertical tab for a blank, which no format does
    ("format-rttm", b"SPEAKER l 1 5 5 < < >\n\x0bE"),
    # a quotation mark that never closes took all rows after it into one cell
    ("data-echo-their-csv", HEAD + b's1,g1,int,"wait,1000,1800,3000,,so I\n' + ROW + b"\n"),
    ("data-echo-their-csv", HEAD + ROW + b'\ns2,g1,bc,uh,1000,1800,3000,,"so\n' + ROW + b"\n"),
    ("data-echo-their-pairs", b'pair\tgroup\ta\tb\np1\tg1\ts1\t"s2\np2\tg1\ts2\ts3\n'),
    ("data-clips-csv", b'path,label,text\na.wav,complete,"yes\nb.wav,incomplete,so\n'),
    ("data-clips-tsv", b'path\tlabel\ttext\na.wav\tcomplete\t"yes\nb.wav\twait\tso\n'),
    # cells beyond the columns were dropped without a word; a line end in a cell was a traceback
    ("data-echo-their-csv", HEAD + ROW + b",more\n"),
    ("data-echo-their-csv", HEAD.replace(b"\n", b"\r", 1) + ROW + b"\r2"),
    ("data-echo-their-csv", b"\n,"),
    ("data-echo-their-csv", HEAD.replace(b"said", b"id") + ROW + b"\n"),
    # numbers that are none: infinite, in digits of other scripts, with underscores
    ("data-echo-their-csv", HEAD + ROW.replace(b"1800", b"inf") + b"\n"),
    ("data-echo-their-csv", HEAD + ROW.replace(b"1800", b"1_800") + b"\n"),
    ("run-predictions-csv", "sample_id,trial,wall\na,0,١٢\n".encode()),
    ("run-predictions-csv", b"sample_id,score.x\na,1_5\n"),
    ("run-import-csv", b"time_sec,eot:user\n0.08,1_0\n0.16,0.5\n"),
    ("request-whole", "１".encode()),
    ("request-seconds", b"1_2"),
    # a header that promises no sample, and sound behind it
    ("audio-sphere", SPHERE.ljust(1024) + b"\0" * 320),
    ("data-candor", b"turn_id,speaker,start,stop,utterance\n0,a,0,1e99999999,x\n1,b,1,2,y\n"),
    ("data-candor", b"turn_id,speaker,start,stop,utterance\n0,a,1e-99999999,2,x\n1,b,1,2,y\n"),
    ("data-fisher", b"0 " + b"1" * 400 + b" A: x\n1 2 B: y\n"),
    ("format-seglst", b'[{"session_id": "x", "speaker": "a", "start_time": 0, "words": "", '
                      b'"end_time": 1e9999999}]'),
    ("format-words", b'{"segments": [{"words": [{"word": "", "start": 1e99999999}]}]}'),
    ("answer-json", b'{"decision": 1, "confidence": ' + b"1" * 400 + b"}"),
    ("service-openai-chat", b'{"choices": [{"message": {"content": ""}}], "usage": '
                            b'{"prompt_tokens": 1e999}}'),
    ("service-openai-text", b'{"choices":[{"text":""}],"usage":{"prompt_tokens":Infinity}}'),
    ("service-ollama", b'{"message":{"content":""},"logprobs":[{"top_logprobs":[{"token":"",'
                       b'"logprob":1e999}]}]}'),
    ("service-gemini", b'{"text":0,"finish":"","blocked":null,"tool":false}'),
    ("service-gemini-wait", b'{"error":{"details":1}}'),
    ("retry-after", b"1 Dec 3854775808 3:9"),
    ("audio-sphere-header", b"NIST_1A\n   1024\nchannel_count -i 1\nsample_n_bytes -i 2\n"
                            b"sample_count -i " + b"9" * 5000 + b"\nend_head\n"),
    # archives and headers of arrays raise almost anything when they are damaged
    ("run-import-npy", b"\x93NUMPY\x01\x00v\x00'f4', 'e': (12, 2), }  $" + b" " * 90),
    ("run-import-npy", NPY + b"9999999999, 2), }".ljust(60) + b"\n"),
    # speech before the beginning; a header line that doubled every tier
    ("data-switchboard", b"sw2001A-ms98-a-0001 -1 0 hi\nsw2001A-ms98-a-0001 0 3 so\n"),
    ("format-chat", b"@UTF8\n@Begin\n" + b"@Participants:\tA Ann A\n" * 2 + b"*A:\thi .\n@End\n"),
    # names of columns are filled in by a template
    ("data-frames-mapping", b'{"vad": "vad_ch{channel}}", "session": "session_id"}'),
    ("data-frames-mapping", b'{"vad": "{0}", "session": "session_id"}'),
    ("build-verdicts", b'{"id": true, "verdict": "reject"}\n'),
    ("text-model-config", b"[1]"),
    ("text-model-config", b"[" * 5000),
    ("data-pcm-cache", b'{"a":' * 1200),
    ("audio-credits", b"[" * 5000),
    ("build-verdicts", b"[" * 5000),
    ("packed-index", SAMPLE % b'"target": 1, "tags": {}'),
    ("packed-index", SAMPLE % b'"target": {}, "tags": []'),
    ("packed-index", SAMPLE % b'"target": {}, "tags": {}, "more": 1'),
    ("packed-interrupted", b'{"file":"","size":0,"sha256":"","index":"s","index_size":9,'
                           b'"index_sha256":"","samples":3}\n'),
    ("packed-interrupted", b"\0" * 100 + b"\n"),
    ("data-checksums", b"0" * 64 + b"  a\0b\n" + b"0" * 64 + b"  " + b"a" * 5000 + b"\n"),
    ("data-checksums", b"\r\0"),
    ("plan-build-lineage", b"false"),
    ("plan-build-lineage", b'{"steps": [{"key": [], "item": "a", "stage": "s", "notes": []}]}'),
    ("plan-build-lineage", CALL % b'"prompt_tokens": "x"'),
    ("plan-build-lineage", CALL % b'"tokens": {"prompt": -1}'),
    ("web-wave", b"null"),
    ("web-wave", b'{"": 0}'),
    ("request-cell", b"\xf2"),
    ("option-settings", b"a=\xf2"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data"), FOUND)
@pytest.mark.filterwarnings("ignore")
def test_what_was_found_stays_found(name, data, tmp_path):
    tally = repeat(TARGETS[name], data, tmp_path)
    assert tally.tried == 1
    assert not tally.findings, [f.what for f in tally.findings]

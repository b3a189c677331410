import io
import wave

import numpy as np

from floorbench.systems.llm.chat import form_of, schema_of, sound


def test_sound_is_a_wav_file_of_16_bits_at_16_khz():
    made = sound(np.array([0.0, 1.0, -1.0, 2.0], dtype=np.float32))
    with wave.open(io.BytesIO(made.wav)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        pcm = np.frombuffer(file.readframes(9), dtype="<i2")
    assert pcm.tolist() == [0, 32767, -32767, 32767]
    assert made.seconds == 4 / 16_000


def test_a_schema_allows_the_answers_only():
    found = schema_of(["a", "b"])
    assert found["properties"]["answer"]["enum"] == ["a", "b"]
    assert found["additionalProperties"] is False


def test_a_list_of_answers_goes_before_a_schema_and_neither_is_free():
    schema = {"type": "object", "properties": {}}
    assert form_of(["a"], schema) == schema_of(["a"])
    assert form_of(None, schema) == schema
    assert form_of(None, None) is None

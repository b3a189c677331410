from floorbench.build.kokoro_voices import BABBLE, VOICES, voice_language


def test_roles_have_disjoint_voices():
    for roles in VOICES.values():
        names = [name for pool in roles.values() for name in pool]
        assert len(set(names)) == len(names)


def test_every_voice_speaks_the_language_it_is_listed_under():
    for language, roles in VOICES.items():
        for name in (
            name for pool in roles.values() for blend in pool for name in blend.split("+")
        ):
            assert voice_language(name).startswith(language)


def test_every_voice_of_the_babble_has_its_sentence():
    assert {k: len(v) for k, v in BABBLE.items()} == {
        k: len(v["babble"]) for k, v in VOICES.items()
    }

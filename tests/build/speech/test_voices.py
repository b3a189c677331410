import pytest

from floorbench.build.speech import voices
from floorbench.errors import UsageError


@pytest.mark.parametrize("language", sorted(voices.KOKORO))
def test_no_embedded_voice_is_in_two_roles(language):
    pools = voices.KOKORO[language]
    assert set(pools) == set(voices.ROLES)
    voices.disjoint(pools)
    people = [v for role in voices.ROLES[:3] for v in pools[role]]
    assert len(set(people)) == len(people)


def test_a_voice_in_two_roles_is_named_also_within_a_blend():
    with pytest.raises(UsageError, match=r"FB875.*'b'.*user.*background"):
        voices.disjoint({"user": ("a+b",), "background": ("b",)})


def test_siblings_hear_one_speaker_and_a_retry_another():
    pool = ("a", "b", "c", "d")
    first = voices.choose(pool, seed=1, family="f", role="user")
    assert voices.choose(pool, seed=1, family="f", role="user") == first
    turns = [voices.choose(pool, seed=1, family="f", role="user", turn=t) for t in range(4)]
    assert sorted(turns) == list(pool)
    drawn = {voices.choose(pool, seed=1, family=f"f{i}", role="user") for i in range(40)}
    assert drawn == set(pool)


def test_casts_share_no_voice_not_even_within_a_blend():
    for pools in voices.KOKORO.values():
        casts = voices.casts_of(pools)
        heard = {}
        for number in range(60):
            family = f"f{number}"
            part = frozenset(
                part
                for role in voices.ROLES[:3]
                for turn in range(9)
                for part in voices.choose(
                    pools[role], seed=1, family=family, role=role, turn=turn, casts=casts
                ).split("+")
            )
            heard.setdefault(part, []).append(family)
        assert len(heard) == casts > 1
        assert sum(map(len, heard)) == len(frozenset().union(*heard))


def test_an_empty_pool_is_refused():
    with pytest.raises(UsageError, match="FB875"):
        voices.choose((), seed=1, family="f", role="user")


def test_a_role_of_a_recipes_own_shares_no_voice_either():
    with pytest.raises(UsageError, match=r"FB875.*af_heart.*user and assistant"):
        voices.disjoint({"assistant": ("af_heart",), "user": ("af_heart+af_bella",)})

from floorbench.systems.llm.openai_api import OpenAIModel
from floorbench.systems.llm.protocol import Usage
from floorbench.systems.llm.spending import Spending


def test_tokens_are_told_once_and_systems_do_not_share_them():
    one, other = Spending(), Spending()
    one.usage += Usage(prompt=9, evaluated=7, generated=2)
    assert (one.spent(), one.spent()) == ((7, 2), (0, 0))
    one.usage += Usage(prompt=1, evaluated=1, generated=0)
    assert (one.spent(), other.spent()) == ((1, 0), (0, 0))


def test_a_service_bills_what_it_still_knew():
    made = Spending()
    made.model = OpenAIModel(model="m")
    made.usage += Usage(prompt=9, evaluated=2, generated=1)
    assert made.spent() == (9, 1)

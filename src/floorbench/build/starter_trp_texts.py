"""Turns of the synthetic within-turn TRP set, written for it.

Notation: ``|`` after a word where a unit is complete (the listeners of the response model may
respond), ``~`` where one could already be complete, ``_`` for a hesitation pause inside a unit,
``=`` for a completion that the speaker rushes through without a pause. Punctuation is what a
transcriber would write; it is stored apart from the words.
"""

from __future__ import annotations

TURNS = {
    "allotment": """
So we finally got the allotment,| the one behind the old station,| and honestly it's a
complete jungle.| There are brambles up to my shoulders~ and somebody left a bathtub in the
middle of it.| My brother came over on Sunday~ with his big strimmer,| and we cleared maybe _
a quarter of it.= And then it started raining,| obviously.| But I found three apple trees at
the back~ that nobody knew about,| so I'm thinking we leave those alone~ and put the beans
along the fence.|""",
    "bus": """
I missed the bus again this morning,| which was entirely my own fault,| because I was looking
for my other glove.| And you know that driver,| the one with the beard,| he actually saw me
running.| He looked straight at me~ in the mirror~ and then he just drove off.| So I walked~
the whole way to the office,| and by the time I got there _ the meeting was basically over.=
They'd already voted on the new rota,| and guess who's got the early shift.|""",
    "knee": """
The doctor says it isn't the ligament,| which is good news,| I suppose.| It's just worn down~
from all the running~ I did in my twenties.| She wants me to go swimming~ twice a week~ and
to stay off the stairs,| but we live on the _ on the fourth floor.| There's no lift.| So I
asked her what she had in mind exactly,= and she laughed~ and said well,| maybe take them
slowly.| I mean it's fine,| it's only a knee.|""",
    "wedding": """
My cousin's wedding was lovely,| really lovely,| apart from the tent.| They'd put it up on the
lower field~ because of the view,| and then on Friday night the river came up.| So by the time
we arrived~ there was water~ over the dance floor,| and all the uncles were standing there
with _ with brooms.| Nobody minded though.| The band just moved into the barn~ and played in
there,= and my grandmother danced until two.| She's eighty nine.|""",
    "course": """
I signed up for that pottery course,| the one at the community centre on Thursdays.| The
teacher is brilliant,| she used to make tiles for the underground,| and she never ever says
that something is wrong.| She just looks at it~ for a while~ and goes hmm.| My first bowl
collapsed~ on the wheel.| My second one _ also collapsed.| But the third one has got a sort of
shape,= and I'm bringing it home next week~ whether you like it or not.|""",
    "phone": """
Right,| so the thing with my phone is that it only charges upside down.| I know how that
sounds.| I took it to the shop on the corner,| and the man plugged it in~ and it worked,| of
course it did.| Then I got home~ and nothing,| not even the little light.| So now it lives on
its back~ on the kitchen table~ with a spoon under it,| and if anybody moves the spoon _ I
lose everything.= I should probably just buy a new one.|""",
    "cat": """
You won't believe what the cat has done.| She's moved in with the neighbours.| Properly moved
in,| she sleeps there,| she eats there,| she comes home to us~ on Wednesdays~ for some reason.|
And they've given her a different name,| they call her Duchess.| I went round to talk about
it~ and she was lying on their sofa~ and she looked at me as if _ as if I'd come to read the
meter.= So I said hello~ and had a cup of tea~ and left without her.|""",
    "train": """
We took the night train in the end.| It was cheaper than flying,| not by much,| but you do
save a night in a hotel.| The beds are about as wide as a bookshelf~ and there were six of us
in there,| and one man had brought an entire cheese.| I didn't sleep at all.| But then around
five~ the sun came up over the mountains~ and everybody was standing in the corridor _ in
their pyjamas,| just looking.= Nobody said a word.| It was worth it.|""",
    "job": """
So they've offered me the job.| I haven't said yes yet,| I've got until Monday.| It's more
money,| quite a bit more,| and the people seemed nice.| But it would mean driving~ an hour
each way,| and I've just got used to walking~ with the dog~ in the mornings.| My sister thinks
I'm mad to hesitate.| She says dogs adapt.| And maybe she's right,= maybe I'm only _ looking
for a reason to stay where I am.| I do that.|""",
    "boiler": """
The boiler went on Saturday night,| naturally,| right before the frost.| I rang the number on
the side of it~ and they said Tuesday,| at the earliest.| So we put the children in our bed~
with all the coats on top,| and we lit the stove in the front room,| which we hadn't done for
years.| It was actually rather nice.| We played cards.| When the engineer came~ he pressed one
button~ and it _ it started.= He didn't even take his jacket off.|""",
    "film": """
I saw that film you told me about.| I liked the first half~ very much,| the bit on the island~
with the lighthouse,| but I don't think I understood the ending.| Was she there all along?| Or
had he made her up?| Because if he'd made her up~ then who was _ who was feeding the goat?=
I asked everybody on the way out~ and nobody could tell me.| One woman said it's about grief.|
I said yes,| but the goat.|""",
    "bread": """
My bread keeps coming out flat.| I've tried everything,| I've tried the expensive flour,| I've
tried leaving it overnight,| I even bought a thermometer.| My neighbour makes these enormous
round loaves~ and she says she doesn't measure anything.| She just knows.| So I watched her
do it~ last week~ and I wrote it all down,| every single step,| and then I went home and _ did
exactly the same thing.= And it came out flat.| I think it's my oven.|""",
    "marathon": """
I wasn't going to run it this year.| I'd told everybody,| I'd told my wife,| I'd even sold my
number.| And then on the Thursday before~ my old coach rang up~ and said they were one short
for the relay.| Only ten kilometres,| she said.| So I said fine,| ten kilometres,| why not.|
What she hadn't told me~ was that my part was _ the hill.= All of it.| I was overtaken by a man
dressed as a fridge.|""",
    "library": """
They're closing the little library at the end of our road.| Not for good,| they say,| just
until they find somebody to run it.| So a few of us thought we could do it ourselves,| you
know,| in turns,| two afternoons each.| I've never worked in a library~ in my life.| But how
hard can it be?| You stamp the books~ and you tell people to be quiet.| Well it turns out
there's a computer,= and a course,| and an exam _ at the end of it.|""",
}
"""Name of the turn to its text."""

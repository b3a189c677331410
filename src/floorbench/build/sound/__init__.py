"""How a built item sounds: noise, babble, rooms, levels, telephone lines, and what was measured."""

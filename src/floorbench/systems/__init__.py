"""Systems under test and their front ends."""

"""Definitions of the field on two-channel time; pure, numpy only."""

"""Builders of small datasets that tests of several rooms share."""

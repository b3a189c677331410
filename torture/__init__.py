"""The fault campaign: what floorbench does when everything around it goes wrong.

``python -m torture`` runs every part and prints figures; ``--campaign`` chooses one, ``--short``
takes a small sample of it. The tests under ``tests/torture`` run the short form.
"""

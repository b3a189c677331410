"""The recipe ``echo``: one insertion, rewritten contexts, other floor actions."""

"""A local page over stored runs: see the numbers, hear the items behind them."""

"""Text models as systems: clients of several runtimes, and three ways to ask them."""

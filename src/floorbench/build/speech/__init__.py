"""Speech for construction: voices, recognisers and aligners behind protocols, and what gates them."""

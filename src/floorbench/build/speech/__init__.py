"""Speech for construction: voices, recognisers, aligners, and the gate between them."""

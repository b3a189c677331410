"""Stage E: candidates out of real two-channel recordings, labelled only after people heard them."""

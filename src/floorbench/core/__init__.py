"""Values shared by every room; standard library only."""

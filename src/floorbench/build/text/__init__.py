"""Writing dialogues: the embedded grammar, models behind an API, judges and near-duplicates."""

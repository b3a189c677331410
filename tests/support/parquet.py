"""Predictions as a Parquet table, made of a journal without floorbench's own reader."""

from pathlib import Path

import duckdb

from floorbench.run.store import RunFolder

# JSON null stands for an empty mapping or list, as an empty cell does.
_TO_PARQUET = """
COPY (
    SELECT sample_id, condition, trial, decision.outcome, decision.label,
           nullif(CAST(decision.scores AS VARCHAR), '{}') AS scores,
           nullif(CAST(decision.events AS VARCHAR), '[]') AS events,
           nullif(CAST(decision.trace AS VARCHAR), 'null') AS trace,
           nullif(CAST(decision.served AS VARCHAR), 'null') AS served,
           decision.commit, decision.raw, decision.reason,
           compute.wall, compute.cpu, compute.tokens_in, compute.tokens_out, compute.batch,
           observed
    FROM read_json($1, format = 'newline_delimited', maximum_object_size = 268435456, columns = {
        sample_id: 'VARCHAR', condition: 'VARCHAR', trial: 'BIGINT', observed: 'VARCHAR',
        decision: 'STRUCT(outcome VARCHAR, label VARCHAR, scores JSON, events JSON, trace JSON,
                          "commit" DOUBLE, raw VARCHAR, reason VARCHAR, served JSON)',
        compute: 'STRUCT(wall DOUBLE, cpu DOUBLE, tokens_in BIGINT, tokens_out BIGINT,
                         batch BIGINT)'})
) TO $2 (FORMAT parquet, COMPRESSION zstd)
"""


def write_parquet(folder: RunFolder) -> Path:
    """Write the predictions of a run, in the order of its journal."""
    target = folder.path / "predictions.parquet"
    with duckdb.connect() as connection:
        connection.execute(_TO_PARQUET, [str(folder.journal), str(target)])
    return target

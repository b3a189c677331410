"""A real Ray cluster on this machine, as small as it gets."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

from floorbench.run.ray_start import LOOPBACK, OBJECT_STORE, hush, library

NODE = {
    "node_ip_address": LOOPBACK,
    "object_store_memory": OBJECT_STORE,
    "include_dashboard": False,
}
# A node that is gone is missed after two or three seconds.
SOON = {"health_check_initial_delay_ms": 500, "health_check_period_ms": 500}

# The GPU is one on paper: Ray counts it and names it to the workers.
HEAD = {"num_cpus": 2, "num_gpus": 1, "_system_config": SOON}


@contextlib.contextmanager
def cluster() -> Iterator[Any]:
    ray = library()
    hush(ray)
    from ray.cluster_utils import Cluster

    try:
        started = Cluster(initialize_head=True, head_node_args={**NODE, **HEAD})
    except Exception:  # Ray gives a node half a minute to start; a busy machine needs another
        started = Cluster(initialize_head=True, head_node_args={**NODE, **HEAD})
    try:
        ray.init(address=started.address, log_to_driver=False, logging_level=logging.ERROR)
        yield started
    finally:
        ray.shutdown()
        started.shutdown()

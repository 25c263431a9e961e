# ruff: noqa
"""The part of networkx that the exact core uses, for the browser.

Stands in for the `__init__` of networkx, which loads 285 modules; all other files are unchanged.
"""

from networkx.exception import *
from networkx import utils
from networkx.utils import _clear_cache, _dispatchable
from networkx import classes
from networkx.classes import *
from networkx.generators.classic import empty_graph
from networkx.algorithms.components.connected import connected_components
from networkx.algorithms.components.strongly_connected import strongly_connected_components
from networkx.algorithms.dag import (
    is_directed_acyclic_graph,
    topological_generations,
    transitive_reduction,
)
from networkx.algorithms.traversal.depth_first_search import dfs_edges
from networkx.algorithms.flow.maxflow import maximum_flow

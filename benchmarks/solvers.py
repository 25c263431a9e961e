"""The max-margin problem by solvers that others wrote, called directly, set-up and solve apart.

The problem is to minimize |w|^2 / 2 with w_a - w_b >= 1 for every pair, equation (3) of the first
paper. All tokens without a pair are left out beforehand, and matrices are ready before the clock
starts. Parametric pseudoflow solves it by another way: from the source to each optimal token goes
an arc of capacity x, from each other token to the sink one of 1 - x. As x grows, a block of k
optimal and m other tokens changes sides of a smallest cut at x = m / (k + m), the score of its
optimal tokens.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Work:
    """How a solver is used.

    Attributes:
        set_up: what it does once the matrices are ready.
        solve: the scores of `Pairs.used`, from what `set_up` returned.
    """

    set_up: Callable[[], Any]
    solve: Callable[[Any], Floats]


@dataclass(frozen=True, eq=False)
class Pairs:
    """A graph whose entries are numbered without gaps.

    Attributes:
        used: the entries that have a pair, increasing.
        upper, lower: (E,), places in `used` of the ends of each pair.
    """

    used: Integers
    upper: Integers
    lower: Integers

    @property
    def margins(self) -> Any:
        """The matrix G with rows w_a - w_b, by columns."""
        import scipy.sparse as sp

        number, rows = len(self.upper), np.arange(len(self.upper))
        values = np.concatenate([np.ones(number), -np.ones(number)])
        places = np.tile(rows, 2), np.concatenate([self.upper, self.lower])
        return sp.csc_matrix((values, places), shape=(number, len(self.used)))

    @property
    def identity(self) -> Any:
        """The matrix of the objective."""
        import scipy.sparse as sp

        return sp.identity(len(self.used), format="csc")


def pairs_of(upper: Integers, lower: Integers) -> Pairs:
    """A graph in this form."""
    used, ends = np.unique(np.concatenate([upper, lower]), return_inverse=True)
    return Pairs(used, ends[: len(upper)], ends[len(upper) :])


def _clarabel(pairs: Pairs, *, method: str = "qdldl", tight: bool = False) -> Work:
    """Clarabel, an interior-point method."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.direct_solve_method = False, method
    settings.max_threads = 1
    if tight:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    P, A, number = pairs.identity, (-pairs.margins).tocsc(), len(pairs.upper)
    q, b, cones = np.zeros(len(pairs.used)), -np.ones(number), [clarabel.NonnegativeConeT(number)]
    return Work(
        lambda: clarabel.DefaultSolver(P, q, A, b, cones, settings),
        lambda solver: np.array(solver.solve().x),
    )


def _piqp(pairs: Pairs, *, kkt: str = "sparse_ldlt", tight: bool = False) -> Work:
    """PIQP, a proximal interior-point method."""
    import piqp

    P, G, number = pairs.identity, pairs.margins, len(pairs.upper)
    q, least = np.zeros(len(pairs.used)), np.ones(number)

    def set_up() -> Any:
        solver = piqp.SparseSolver()
        solver.settings.verbose = False
        solver.settings.kkt_solver = getattr(piqp.KKTSolver, kkt)
        if tight:
            solver.settings.eps_abs = solver.settings.eps_rel = 1e-12
        solver.setup(P, q, None, None, G, least, None, None, None)
        return solver

    def solve(solver: Any) -> Floats:
        solver.solve()
        return np.array(solver.result.x)

    return Work(set_up, solve)


def _osqp(pairs: Pairs, *, polishing: bool = True, eps: float = 1e-8) -> Work:
    """OSQP, an operator splitting, whose result is polished."""
    import osqp

    P, A, number = pairs.identity, pairs.margins, len(pairs.upper)
    q, least, most = np.zeros(len(pairs.used)), np.ones(number), np.full(number, np.inf)

    def set_up() -> Any:
        solver = osqp.OSQP()
        settings = {"eps_abs": eps, "eps_rel": eps, "max_iter": 200_000, "polishing": polishing}
        solver.setup(P, q, A, least, most, verbose=False, **settings)
        return solver

    return Work(set_up, lambda solver: np.array(solver.solve().x))


def _proxqp(pairs: Pairs) -> Work:
    """ProxQP, a proximal augmented Lagrangian."""
    import proxsuite

    P, C, number = pairs.identity, pairs.margins, len(pairs.upper)
    q, least, most = np.zeros(len(pairs.used)), np.ones(number), np.full(number, 1e20)

    def set_up() -> Any:
        solver = proxsuite.proxqp.sparse.QP(len(pairs.used), 0, number)
        solver.settings.eps_abs = 1e-8
        solver.init(P, q, None, None, C, least, most)
        return solver

    def solve(solver: Any) -> Floats:
        solver.solve()
        return np.array(solver.results.x)

    return Work(set_up, solve)


def _pseudoflow(pairs: Pairs, *, scale: float = 1.0) -> Work:
    """Parametric pseudoflow, its C library called without its Python wrapper.

    Args:
        pairs: the graph.
        scale: capacities are multiplied by it.
    """
    found = importlib.util.find_spec("pseudoflow")
    if found is None or found.origin is None:
        raise ImportError("there is no pseudoflow")
    library = ctypes.CDLL(str(next(Path(found.origin).parent.glob("libhpf*.so"))))
    arcs, nodes = _arcs(pairs, scale), len(pairs.used) + 2
    numbers = ctypes.POINTER(ctypes.c_double)

    def set_up() -> Any:
        return arcs.ctypes.data_as(numbers)

    def solve(arcs_as_c: Any) -> Floats:
        cuts, breaks = ctypes.POINTER(ctypes.c_int)(), numbers()
        count = ctypes.c_int(0)
        library.hpf_solve(
            nodes,
            len(arcs),
            nodes - 2,
            nodes - 1,
            arcs_as_c,
            (ctypes.c_double * 2)(0.0, 1.0),
            0,
            ctypes.byref(count),
            ctypes.byref(cuts),
            ctypes.byref(breaks),
            (ctypes.c_int * 5)(),
            (ctypes.c_double * 3)(),
        )
        within = np.ctypeslib.as_array(cuts, (count.value, nodes))[:, : nodes - 2]
        ends = np.ctypeslib.as_array(breaks, (count.value,))
        # an interval ends at each breakpoint; a token changes sides where one ends before it
        at = np.concatenate([[0.0], ends])[(within == 0).sum(axis=0)]
        library.libfree(breaks)
        library.libfree(cuts)
        at[pairs.lower] -= 1.0
        return at

    return Work(set_up, solve)


def _arcs(pairs: Pairs, scale: float) -> Floats:
    """The arcs of the parametric graph: from, to, constant capacity, and its slope."""
    upper, lower = np.unique(pairs.upper), np.unique(pairs.lower)
    source, sink = len(pairs.used), len(pairs.used) + 1
    blank = np.zeros(len(pairs.upper))
    enough = scale * (len(upper) + 1.0)
    kinds = (
        (np.full(len(upper), source), upper, np.zeros(len(upper)), np.full(len(upper), scale)),
        (lower, np.full(len(lower), sink), np.full(len(lower), scale), np.full(len(lower), -scale)),
        (pairs.upper, pairs.lower, blank + enough, blank),
    )
    return np.concatenate([np.column_stack(kind) for kind in kinds]).astype(float)


SOLVERS: dict[str, Callable[[Pairs], Work]] = {
    "Clarabel": _clarabel,
    "Clarabel, faer": partial(_clarabel, method="faer"),
    "Clarabel, 1e-12": partial(_clarabel, tight=True),
    "PIQP": _piqp,
    "PIQP, 1e-12": partial(_piqp, tight=True),
    "PIQP, condensed": partial(_piqp, kkt="sparse_ldlt_ineq_cond"),
    "PIQP, condensed, 1e-12": partial(_piqp, kkt="sparse_ldlt_ineq_cond", tight=True),
    "OSQP, polished": _osqp,
    "OSQP, polished, 1e-5": partial(_osqp, eps=1e-5),
    "ProxQP": _proxqp,
    "pseudoflow": _pseudoflow,
}

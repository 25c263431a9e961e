"""Least-norm points by a solver that shares nothing with ours: Clarabel, called by cvxpy.

SciPy's `nnls` does not serve: on one of sixty random systems it stops at a point that is 3 % off,
with the arithmetic of some processors and not of others.
"""

import numpy as np


def least_norm(rows: np.ndarray) -> np.ndarray:
    """The w of least norm with rows @ w >= 1, within 1e-5.

    The distance to the optimum is at most the root of the gap between the objectives, some 1e-12.
    """
    import cvxpy as cp

    w = cp.Variable(rows.shape[1])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w)), [rows @ w >= 1])
    within = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
    problem.solve(solver=cp.CLARABEL, **within)
    assert problem.status == cp.OPTIMAL
    return np.asarray(w.value)

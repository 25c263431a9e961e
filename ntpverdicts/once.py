"""Results that are kept: a cache that does not care how a call is written."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar, cast

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def once(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Like `functools.cache`, with one result for one call, however its arguments are given.

    A page writes `runs(seed)` where a check calls `runs(seed=7, steps=100)`; to `functools.cache`
    these are two calls, and everything runs twice.
    """
    signature, found = inspect.signature(function), cache(function)

    @wraps(function)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return found(*bound.args, **bound.kwargs)

    return cast("Callable[Arguments, Result]", cache(call))

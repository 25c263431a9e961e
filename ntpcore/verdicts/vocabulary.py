"""The vocabulary in which checks are written: a check says its mathematics, and this the rest.

    @check(
        "euler-thm-1",
        over="numbers n",
        instances=lambda most=40: range(most),
        says="n^2 + n + 41 is prime for all {tried} numbers n.",
        planted={"The constant 42.": {"constant": 42}},
    )
    def check_euler_thm_1(n, constant=41):
        # n^2 + n + 41 is prime for 0 <= n < 40
        yield holds(is_prime(n * n + n + constant), f"n = {n}")

The body compares on one instance; it yields what `ntpcore.verdicts.compare` and `arrays` give. By
construction every planted error runs through the same body, a NaN is an error, instances that are
left out are counted, and a verdict is computed.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from string import Formatter
from typing import Any

from ntpcore.verdicts.claims import (
    AGAINST,
    NOTHING_TRIED,
    Check,
    Control,
    How,
    Number,
    Reading,
    Result,
    Shown,
    Step,
    Verdict,
)
from ntpcore.verdicts.compare import Compared, LeftOut, NotANumberError, Said, Tally, Undecided
from ntpcore.verdicts.numbers import amount

Body = Callable[..., Iterable[Said] | Said]
Parameters = Mapping[str, int | float | str]
Known = dict[tuple[Callable[..., Iterable[Shown]], tuple[Any, ...]], tuple[Shown, ...]]


@dataclass(frozen=True)
class Variant:
    """A change of a check: a planted error, or another reading of a statement.

    Attributes:
        changes: arguments of the body, and of executed steps that take them, by name.
        instances: what makes other instances; None for those of the check.
        expected: what the check must answer to a planted error.
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    instances: Callable[..., Iterable[Any]] | None = None
    expected: Verdict = Verdict.REFUTED


@dataclass(frozen=True)
class Executed:
    """A step of a proof that runs: a function that returns the relations it showed."""

    text: str
    function: Callable[..., Iterable[Shown]]
    how: How = How.EXECUTED


def executed(text: str, function: Callable[..., Iterable[Shown]]) -> Executed:
    """A step that a function runs, in symbols or in exact numbers."""
    return Executed(text, function)


def enclosed(text: str, function: Callable[..., Iterable[Shown]]) -> Executed:
    """A step that a function runs in interval or ball arithmetic."""
    return Executed(text, function, How.ENCLOSED)


def cited(text: str, theorem: str) -> Step:
    """A step that is a named theorem of somebody else."""
    return Step(text, How.CITED, theorem)


def by_hand(text: str) -> Step:
    """A step that no machine checked; the page shows it."""
    return Step(text, How.BY_HAND)


@dataclass(frozen=True)
class Outcome:
    """What running over instances gave."""

    tried: int
    points: int
    failed: Compared | None
    worst: Compared | None
    left_out: Mapping[str, int]
    undecided: Mapping[str, int]
    numbers: Mapping[str, Result]
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Checked:
    """A check: call it for its verdict with all planted errors, or `judge` other instances.

    Attributes:
        label: label of the claim.
        body: compares on one instance.
        over: what one instance is, in the plural.
        instances: makes the instances; its arguments are the parameters of the check.
        says: the evidence when nothing fails.
        fails: the evidence when something fails.
        tolerance: how far below zero rounding alone may push a slack.
        proof: the steps that cover every instance of the hypotheses; without any nothing is proved.
        planted: changes that the check must notice, each in words.
        readings: plausible readings of a damaged statement, from the likeliest on, each in words.
        observes: whether the claim is about data or random runs, and not a mathematical statement.
        shows: for a definition or an assumption what the check shows ("well posed, can be met").
        name: an instance in words.
        size: how many instances one stands for.
        vacuous: for a bound that says nothing at this scale, from where it would.
    """

    label: str
    body: Body
    over: str
    instances: Callable[..., Iterable[Any]] | None
    says: str
    fails: str
    tolerance: float
    proof: tuple[Executed | Step, ...]
    planted: Mapping[str, Variant]
    readings: Mapping[str, Variant]
    observes: bool
    shows: str
    name: Callable[[Any], str]
    size: Callable[[Any], int]
    vacuous: str

    @property
    def defaults(self) -> dict[str, int | float | str]:
        """The parameters of the check and their values."""
        if self.instances is None:
            return {}
        known = inspect.signature(self.instances).parameters.values()
        return {one.name: one.default for one in known if one.default is not one.empty}

    def __call__(self, **parameters: int | float | str) -> Check:
        """Run the check, its readings and its planted errors.

        Args:
            parameters: those of the instances that differ from their defaults.

        Raises:
            ValueError: a planted error was not noticed.
            NotANumberError: a comparison met a NaN or an infinity.
        """
        unknown = sorted(set(parameters) - set(self.defaults))
        if unknown:
            there = ", ".join(self.defaults) or "none"
            raise ValueError(f"{self.label} has no parameter {unknown[0]!r}; it has {there}")
        made, known = self._made(self.instances, parameters), Known()
        found = self._judged(made, {**self.defaults, **parameters}, {}, known)
        controls = [
            Control(words, one.expected, self._verdict_of(one, made, parameters, known))
            for words, one in self.planted.items()
        ]
        return found.with_control(*controls)

    def judge(
        self, instances: Iterable[Any], *, parameters: Parameters | None = None, **changes: Any
    ) -> Check:
        """The verdict on these instances, with some arguments of the body changed.

        Of several readings one that holds decides, then one that is open or says nothing of these
        instances, and a refuted one only when all are refuted.
        """
        return self._judged(list(instances), parameters or {}, changes, Known())

    def _judged(
        self, made: list[Any], parameters: Parameters, changes: Mapping[str, Any], known: Known
    ) -> Check:
        """The verdict, with steps of the proof that are known already."""
        main = self._run(made, changes, known)
        readings = []
        if self.readings and not changes:
            outcomes = {
                words: self._run(self._of(one, made, parameters), one.changes, known)
                for words, one in self.readings.items()
            }
            readings = [Reading(words, self._verdict(one)) for words, one in outcomes.items()]
            main = min(outcomes.values(), key=_standing)
        return self._check(main, tuple(readings), parameters)

    def _made(
        self, instances: Callable[..., Iterable[Any]] | None, parameters: Parameters
    ) -> list[Any]:
        """Instances with those parameters that their maker knows."""
        if instances is None:
            return []
        known = inspect.signature(instances).parameters
        return list(instances(**{key: one for key, one in parameters.items() if key in known}))

    def _of(self, variant: Variant, made: list[Any], parameters: Parameters) -> list[Any]:
        """The instances of a variant."""
        if variant.instances is None:
            return made
        return self._made(variant.instances, parameters)

    def _verdict_of(
        self, variant: Variant, made: list[Any], parameters: Parameters, known: Known
    ) -> Verdict:
        """What the check says of a planted error; it stops at the first failure."""
        found = self._run(self._of(variant, made, parameters), variant.changes, known, stop=True)
        verdict = self._verdict(found)
        both = {Verdict.PROVED, Verdict.CONSISTENT, Verdict.SHOWN, Verdict.SEEN}
        against = {Verdict.REFUTED, Verdict.NOT_SEEN}
        for group in (both, against):
            if verdict in group and variant.expected in group:
                return variant.expected  # a planted error asks for or against, in whatever words
        return verdict

    def _run(
        self, made: Iterable[Any], changes: Mapping[str, Any], known: Known, stop: bool = False
    ) -> Outcome:
        """Compare on all instances, or until the first failure."""
        steps = tuple(self._step(one, changes, known) for one in self.proof)
        failed = _broken(steps)
        tried, points = 0, 0
        worst: Compared | None = None
        left, open_, tallies = Counter[str](), Counter[str](), dict[str, Tally]()
        names = inspect.signature(self.body).parameters
        used = {key: value for key, value in changes.items() if key in names}
        for one in made:
            if stop and failed:
                break
            compared = 0
            for said in _listed(self.body(one, **used)):
                if isinstance(said, LeftOut):
                    left[said.reason] += 1
                elif isinstance(said, Undecided):
                    open_[said.reason] += 1
                elif isinstance(said, Tally):
                    _gather(tallies, said)
                else:
                    said = self._placed(said, one)
                    compared += said.points
                    if worst is None or said.slack < worst.slack:
                        worst = said
                    if failed is None and said.slack < (0 if said.exact else -self.tolerance):
                        failed = said
            tried += self.size(one) if compared else 0
            points += compared
        if self.instances is None and steps:
            tried = points = sum(len(one.shown) for one in steps)
        numbers = {name: _result(one) for name, one in tallies.items()}
        return Outcome(tried, points, failed, worst, left, open_, numbers, steps)

    def _step(self, step: Executed | Step, changes: Mapping[str, Any], known: Known) -> Step:
        """A step, run if it can run, and once only with the same arguments in one call."""
        if isinstance(step, Step):
            return step
        names = inspect.signature(step.function).parameters
        used = {key: value for key, value in changes.items() if key in names}
        source = f"{step.function.__module__}.{step.function.__qualname__}"
        key = (step.function, tuple(sorted(used.items())))
        shown = known[key] = known.get(key) or tuple(step.function(**used))
        if not shown:
            raise ValueError(f"{self.label}: the step {step.text!r} showed nothing")
        return Step(step.text, step.how, source, shown)

    def _placed(self, said: Compared, one: Any) -> Compared:
        """A comparison with the instance in its place."""
        if said.slack != said.slack or said.slack in (float("inf"), float("-inf")):
            raise NotANumberError(f"{self.label}, {self.name(one)}: a slack of {said.slack}")
        name = self.name(one)
        where = f"{name}, {said.where}" if name and said.where else name or said.where
        return replace(said, where=where)

    def _verdict(self, found: Outcome) -> Verdict:
        """In the words that fit the kind of claim."""
        if found.failed is not None:
            return Verdict.NOT_SEEN if self.observes else Verdict.REFUTED
        if not found.points or found.undecided:
            return Verdict.UNDECIDED if self.observes else Verdict.OPEN
        if self.observes:
            return Verdict.SEEN
        if self.shows:
            return Verdict.SHOWN
        return Verdict.PROVED if self.proof else Verdict.CONSISTENT

    def _check(
        self, found: Outcome, readings: tuple[Reading, ...], parameters: Parameters
    ) -> Check:
        """The outcome as a check."""
        verdict = self._verdict(found)
        numbers = dict(found.numbers)
        words = {name: one.shown for name, one in numbers.items()}
        words |= {"tried": str(found.tried), "compared": str(found.points)}
        words["worst"] = f"{float(found.worst.slack):.2g}" if found.worst else ""
        witness = ""
        if found.failed is not None:
            witness = _witness(found.failed)
            evidence = self._filled(self.fails or f"This fails: {self.says}", words)
        elif found.undecided:
            evidence = "Not decided: " + "; ".join(
                f"{reason} ({times})" for reason, times in found.undecided.items()
            )
        elif not found.points:
            evidence = f"Not decided: nothing was compared on any of the {self.over}."
        else:
            evidence = self._filled(self.says, words)
        for one in readings:
            if verdict in NOTHING_TRIED and one.verdict in AGAINST:
                evidence += f" It fails as read: {one.text}"
        for reason, times in found.left_out.items():
            evidence += f" Left out: {times} ({reason})."
        if self.shows and verdict is Verdict.SHOWN:
            evidence = f"{self.shows[0].upper()}{self.shows[1:]}. {evidence}"
        numbers.setdefault("tried", Result(found.tried))
        if found.points != found.tried:
            numbers.setdefault("compared", Result(found.points))
        return Check(
            self.label,
            verdict,
            found.tried if found.failed is None else max(found.tried, 1),
            self.over,
            evidence,
            witness=witness,
            slack=self._slack(found.worst),
            numbers=numbers,
            parameters=dict(parameters),
            readings=readings,
            vacuous=self._from_where(words) if found.points else "",
            repeat=self.command(parameters),
            left_out=dict(found.left_out),
            proof=found.steps,
        )

    def _filled(self, text: str, words: Mapping[str, str]) -> str:
        """A sentence with the numbers that it names.

        Raises:
            ValueError: it names a number that no instance gave.
        """
        for name in _names(text):
            if name not in words:
                raise ValueError(
                    f"{self.label}: the evidence names {{{name}}}, which the body yielded on none "
                    f"of the {self.over}; it has {', '.join(words)}"
                )
        return text.format(**words)

    def _from_where(self, words: Mapping[str, str]) -> str:
        """From where a bound says something; nothing where no instance has such a place."""
        known = all(name in words for name in _names(self.vacuous))
        return self.vacuous.format(**words) if known else ""

    def _slack(self, worst: Compared | None) -> str:
        """The worst slack and its place; what is rounding alone says so."""
        if worst is None or worst.exact:
            return ""
        if abs(float(worst.slack)) <= max(self.tolerance, 1e-12):
            return f"rounding alone, below {max(self.tolerance, 1e-12):g}"
        return f"{float(worst.slack):.2g} ({worst.where})"

    def command(self, parameters: Parameters) -> str:
        """The command that repeats the check with these parameters."""
        words = ["ntpcore verify", self.label]
        words += [
            f"--{key.replace('_', '-')} {value}" if key == "seed" else f"--set {key}={value}"
            for key, value in parameters.items()
            if self.defaults.get(key) != value
        ]
        return " ".join(words)


def check(
    label: str,
    *,
    over: str,
    says: str,
    instances: Callable[..., Iterable[Any]] | None = None,
    fails: str = "",
    tolerance: float = 0.0,
    proof: tuple[Executed | Step, ...] = (),
    planted: Mapping[str, Variant | Mapping[str, Any]],
    readings: Mapping[str, Variant | Mapping[str, Any]] | None = None,
    observes: bool = False,
    shows: str = "",
    name: Callable[[Any], str] | None = None,
    size: Callable[[Any], int] | None = None,
    vacuous: str = "",
) -> Callable[[Body], Checked]:
    """Make a check of what a function compares on one instance; see `Checked` for the arguments.

    Raises:
        ValueError: no error is planted, or a mathematical statement is called an observation, too.
    """
    if not planted:
        raise ValueError(f"{label}: a check needs a planted error that it must notice")
    if observes and (shows or proof):
        raise ValueError(f"{label}: what is observed is neither proved nor well posed")

    def make(body: Body) -> Checked:
        made = Checked(
            label,
            body,
            over,
            instances,
            says,
            fails,
            tolerance,
            proof,
            {words: _variant(one) for words, one in planted.items()},
            {words: _variant(one) for words, one in (readings or {}).items()},
            observes,
            shows,
            name or _name,
            size or (lambda one: 1),
            vacuous,
        )
        object.__setattr__(made, "__doc__", body.__doc__)
        object.__setattr__(made, "__wrapped__", body)
        return made

    return make


def _variant(one: Variant | Mapping[str, Any]) -> Variant:
    """Changes alone are a variant."""
    return one if isinstance(one, Variant) else Variant(one)


def _standing(found: Outcome) -> int:
    """Whether a reading holds (0), is open or said nothing (1), or fails (2)."""
    if found.failed is not None:
        return 2
    return 0 if found.points and not found.undecided else 1


def _name(one: Any) -> str:
    """What an instance calls itself."""
    return str(getattr(one, "name", "") or getattr(one, "where", ""))


def _listed(said: Iterable[Said] | Said) -> Iterable[Said]:
    """What a body said, one by one."""
    return (said,) if isinstance(said, Compared | LeftOut | Undecided | Tally) else said


def _gather(tallies: dict[str, Tally], one: Tally) -> None:
    """Add to a named number."""
    old = tallies.get(one.name)
    value = one.value if old is None else one.gather(old.value, one.value)
    tallies[one.name] = Tally(one.name, value, one.gather, one.digits, one.origin, one.unit)


def _result(one: Tally) -> Result:
    """The gathered number with its accuracy."""
    return Result(one.value, one.digits, one.origin, one.unit)


def _broken(steps: Iterable[Step]) -> Compared | None:
    """The first relation of a proof that does not hold."""
    for step in steps:
        for one in step.shown:
            if not one.holds:
                where = f"{one.name}: {one.left} {one.relation} {one.right} fails by {one.rest}"
                return Compared(-1, where, exact=True, fact=True)
    return None


def _names(text: str) -> list[str]:
    """The numbers that a sentence names."""
    return [name for _, name, _, _ in Formatter().parse(text) if name is not None]


def _witness(failed: Compared) -> str:
    """Where a statement fails, and by how much."""
    if failed.fact:
        return failed.where or "the statement itself"
    by = amount(-Fraction(failed.slack)) if failed.exact else f"{-float(failed.slack):.3g}"
    return f"{failed.where or 'the statement itself'}: violated by {by}"


def relation(name: str, left: object, sign: str, right: object, rest: Number) -> Shown:
    """An exact relation between numbers, with the difference of its sides."""
    truth = {"=": rest == 0, "<=": rest <= 0, ">=": rest >= 0, "<": rest < 0, ">": rest > 0}
    return Shown(name, str(left), sign, str(right), str(rest), truth[sign])

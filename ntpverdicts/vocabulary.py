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

The body compares on one instance; it yields what `ntpverdicts.compare` and `arrays` give. By
construction every planted error runs through the same body, a NaN is an error, instances that are
left out are counted, and a verdict is computed. Every executed step of a proof has a planted error
that it notices, and every bound one that is a tenth sharper.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from string import Formatter
from typing import Any

from ntpverdicts.claims import (
    AGAINST,
    NOTHING_TRIED,
    SOUND,
    Check,
    Control,
    How,
    Number,
    Reading,
    Result,
    Shown,
    Step,
    Verdict,
    WitnessKind,
)
from ntpverdicts.compare import Assumed, Compared, LeftOut, NotANumberError, Said, Tally, Undecided
from ntpverdicts.maths import few_digits, filled, in_words, outside, plain
from ntpverdicts.numbers import amount, counted, singular

Body = Callable[..., Iterable[Said] | Said]
Parameters = Mapping[str, int | float | str]
UNCONDITIONAL = ("no hypothesis",)  # of a statement that is made of everything
SHARPER = "1.1 times sharper"  # what the words of a planted error say of a bound
# Words before a number of the evidence that make it a bound, which is rounded to its own side. With
# a word between, as in "up to step {last}", they say how far something went.
BOUNDS = {
    1: re.compile(
        r"\b(?:(?:at most|within|below|less than|smaller than)"
        r"(?:(?![.;]\s)[^{}]){0,40}|up to )\{(\w+)\}"
    ),
    -1: re.compile(r"\b(?:at least|more than|above|exceeds?)(?:(?![.;]\s)[^{}]){0,40}\{(\w+)\}"),
}
# In the same clause before them, this makes of one kind the other: "no run loses more than {most}".
NEGATION = re.compile(
    r"\b(?:no|none|never|not|nor|neither|cannot)\b(?:(?!\b(?:and|but|if|where)\b)[^,.;:])*$", re.I
)
Known = dict[tuple[Callable[..., Iterable[Shown]], tuple[Any, ...]], tuple[Shown, ...]]


@dataclass(frozen=True)
class Variant:
    """A change of a check: a planted error, or another reading of a statement.

    Attributes:
        changes: arguments of the body, and of executed steps that take them, by name.
        instances: what makes other instances; None for those of the check.
        expected: the verdict that the check must give on a planted error.
        covered: whether the steps of the proof cover this reading, too; without proof, the best
            verdict of a reading is "not contradicted".
    """

    changes: Mapping[str, Any] = field(default_factory=dict)
    instances: Callable[..., Iterable[Any]] | None = None
    expected: Verdict = Verdict.REFUTED
    covered: bool = False


@dataclass(frozen=True)
class Executed:
    """A step of a proof that runs.

    Attributes:
        text: what the step says.
        function: returns the relations that it showed.
        how: the kind of numbers: `EXECUTED` or `ENCLOSED`.
        planted: errors of this step alone: for each in words the arguments of the function that
            make it. Errors that are planted in the whole check reach the step, too, if its function
            has an argument of that name.
    """

    text: str
    function: Callable[..., Iterable[Shown]]
    how: How = How.EXECUTED
    planted: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def executed(
    text: str,
    function: Callable[..., Iterable[Shown]],
    *,
    planted: Mapping[str, Mapping[str, Any]] | None = None,
) -> Executed:
    """A step that a function runs, in symbols or in exact numbers; see `Executed`."""
    return Executed(text, function, How.EXECUTED, planted or {})


def enclosed(
    text: str,
    function: Callable[..., Iterable[Shown]],
    *,
    planted: Mapping[str, Mapping[str, Any]] | None = None,
) -> Executed:
    """A step that a function runs in ball arithmetic; see `Executed`."""
    return Executed(text, function, How.ENCLOSED, planted or {})


def cited(text: str, key: str, number: str) -> Step:
    """A step that is a named theorem of somebody else.

    Args:
        text: what the step says.
        key: key of the reference in the bibliography of the book.
        number: what the reference calls the theorem, such as "Theorem 4.2.2".

    Raises:
        ValueError: key or number is missing.
    """
    if not key or not number:
        raise ValueError(f"the cited step {text!r} needs the key of a reference and a number")
    return Step(text, How.CITED, f"{key}, {number}")


def uses(label: str, text: str) -> Step:
    """A step that uses another claim of this book and inherits the steps by hand of that claim."""
    return Step(text, How.USES, label)


def by_hand(text: str, at: str) -> Step:
    """A step that is an argument written on the page.

    Args:
        text: what the step says.
        at: name of the argument: the anchor `step-<label>-<at>` stands at it, inside the proof of
            the claim, and serves no other step.
    """
    return Step(text, How.BY_HAND, at=at)


@dataclass(frozen=True)
class Outcome:
    """The result of running a check over its instances."""

    tried: int
    points: int
    failed: Compared | None
    worst: Compared | None
    left_out: Mapping[str, int]
    undecided: Mapping[str, int]
    numbers: Mapping[str, Result]
    steps: tuple[Step, ...]
    bounds: bool = False

    @property
    def broken(self) -> frozenset[str]:
        """The texts of the steps that showed a relation which does not hold."""
        return frozenset(
            step.text for step in self.steps if not all(one.holds for one in step.shown)
        )


@dataclass(frozen=True)
class Checked:
    """A check: call it for its verdict with all planted errors, or `judge` other instances.

    Attributes:
        label: label of the claim.
        body: function that compares on one instance.
        over: what one instance is, in the plural.
        instances: makes the instances; its arguments are the parameters of the check.
        says: the evidence when nothing fails.
        fails: the evidence when something fails.
        tolerance: how far below zero rounding alone may push a slack.
        proof: the steps that cover every instance of the hypotheses; without any nothing is proved.
        planted: changes that the check must notice, each in words.
        readings: readings beside the one that the box states and the body compares, each in words.
        observes: whether the claim is about data or random runs, and not a mathematical statement.
        shows: for a definition or an assumption what the check shows ("well posed, can be met").
        name: function that names an instance in words.
        size: function that says how many instances one instance stands for.
        vacuous: for a bound that says nothing at this scale, from where it says something.
        loose: for a bound of which a named search found no instance within a tenth, how far from
            tight it stays; a wrong exponent and a missing factor are planted instead.
        hypotheses: those in force at that line of the paper, standing facts included. A refutation
            needs them: its body yields `assume` for each on every instance that it compares.
            `UNCONDITIONAL` where there are none.
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
    loose: str
    hypotheses: tuple[str, ...]

    @property
    def defaults(self) -> dict[str, int | float | str]:
        """The parameters and their values: numbers and texts, as a command takes them."""
        if self.instances is None:
            return {}
        known = inspect.signature(self.instances).parameters.values()
        return {one.name: one.default for one in known if type(one.default) in (int, float, str)}

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
        found = self._judged(made, {**self.defaults, **parameters}, {}, known, strict=True)
        if found.verdict is Verdict.REFUTED and not self.hypotheses:
            raise ValueError(
                f"{self.label}: a refutation names the hypotheses in force at that line of the "
                "paper (`hypotheses`), or UNCONDITIONAL where there are none"
            )
        controls, noticed = [], set[str]()
        for words, one in self.planted.items():
            outcome = self._run(self._of(one, made, parameters), one.changes, known, stop=True)
            controls.append(Control(words, one.expected, self._answer(one, outcome)))
            noticed |= outcome.broken
        for step in self.proof:
            if isinstance(step, Executed):
                controls += self._step_controls(step)
                noticed |= {step.text} if step.planted else set()
        self._refuse_blind_steps(noticed)
        return found.with_control(*controls)

    def _step_controls(self, step: Executed) -> Iterator[Control]:
        """What a step answers to the errors that are planted in it alone."""
        for words, changes in step.planted.items():
            holds = all(one.holds for one in step.function(**changes))
            answer = Verdict.PROVED if holds else Verdict.REFUTED
            yield Control(words, Verdict.REFUTED, answer)

    def _refuse_blind_steps(self, noticed: set[str]) -> None:
        """Refuse an executed step that noticed none of the planted errors.

        Raises:
            ValueError: there is one.
        """
        for step in self.proof:
            if isinstance(step, Executed) and step.text not in noticed:
                raise ValueError(
                    f"{self.label}: no planted error breaks the executed step {step.text!r}; give "
                    "it one of its own (planted={...})"
                )

    def judge(
        self,
        instances: Iterable[Any],
        *,
        parameters: Parameters | None = None,
        known: Known | None = None,
        **changes: Any,
    ) -> Check:
        """The verdict on these instances, with some arguments of the body changed.

        The body as it stands decides: it compares what the box of the claim states. Readings are
        listed beside that verdict and do not change it.

        Args:
            instances: what to compare on.
            parameters: those of the instances, for the record.
            known: executed steps that ran already, and to which others are added. Steps do not look
                at instances, so that a caller with many data sets runs each once.
            changes: arguments of the body and of executed steps, by name.
        """
        known = Known() if known is None else known
        return self._judged(list(instances), parameters or {}, changes, known)

    def judge_data(self, instances: Iterable[Any], *, known: Known | None = None) -> Check:
        """The verdict on a reader's data.

        Readings that have instances of their own do not concern these data and are left out.

        Args:
            instances: what to compare on.
            known: as for `judge`.
        """
        readings = {words: one for words, one in self.readings.items() if one.instances is None}
        return replace(self, readings=readings).judge(instances, known=known)

    def _judged(
        self,
        made: list[Any],
        parameters: Parameters,
        changes: Mapping[str, Any],
        known: Known,
        strict: bool = False,
    ) -> Check:
        """The verdict, with steps of the proof that are known already."""
        main = self._run(made, changes, known, strict=strict)
        readings = []
        for words, one in self.readings.items() if not changes else ():
            outcome = self._run(self._of(one, made, parameters), one.changes, known)
            witness = _witness(outcome.failed) if outcome.failed is not None else ""
            verdict = self._verdict(outcome)
            if verdict is Verdict.PROVED and not one.covered:
                verdict = Verdict.NOT_CONTRADICTED
            readings.append(Reading(words, verdict, witness))
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

    def _answer(self, variant: Variant, found: Outcome) -> Verdict:
        """What the check says of a planted error."""
        verdict = self._verdict(found)
        for group in (SOUND, AGAINST):
            if verdict in group and variant.expected in group:
                return variant.expected  # a planted error asks for or against, in whatever words
        return verdict

    def _run(
        self,
        made: Iterable[Any],
        changes: Mapping[str, Any],
        known: Known,
        stop: bool = False,
        strict: bool = False,
    ) -> Outcome:
        """Compare on all instances, or until the first failure.

        Args:
            made: the instances.
            changes: arguments of the body and of executed steps, by name.
            known: steps that ran already.
            stop: at the first failure.
            strict: whether to ask what a verdict of the book needs. Planted errors and readings
                may drop a hypothesis, and a reader's own data need not meet any.

        Raises:
            ValueError: an instance breaks a hypothesis in force, or one was not tested; or the body
                compares with a bound that was never made sharper.
        """
        steps = tuple(self._step(one, changes, known) for one in self.proof)
        failed = _broken(steps)
        tried, points = 0, 0
        worst: Compared | None = None
        worst_on: Any = None
        bounds = False
        left, open_, tallies = Counter[str](), Counter[str](), dict[str, Tally]()
        names = _arguments(self.body)
        used = {key: value for key, value in changes.items() if key in names}
        for one in made:
            if stop and failed:
                break
            compared, met = 0, set(UNCONDITIONAL)
            for said in _listed(self.body(one, **used)):
                if isinstance(said, LeftOut):
                    left[said.reason] += 1
                elif isinstance(said, Undecided):
                    open_[said.reason] += 1
                elif isinstance(said, Tally):
                    _gather(tallies, said)
                elif isinstance(said, Assumed):
                    met |= {said.name}
                    if strict and not said.holds:
                        raise ValueError(
                            f"{self.label}, {self.name(one)}: the instance breaks the hypothesis "
                            f"{plain(said.name)!r}, so it is no witness; choose another or "
                            "leave it out"
                        )
                else:
                    self._refuse_infinite(said, one)
                    compared += said.points
                    bounds |= said.bound
                    if worst is None or said.slack < worst.slack:
                        worst, worst_on = said, one
                    if failed is None and said.slack < (0 if said.exact else -self.tolerance):
                        failed = self._placed(said, one)
            if compared and strict:
                self._refuse_untested(set(self.hypotheses) - met, self.name(one))
            tried += self.size(one) if compared else 0
            points += compared
        if self.instances is None and steps:
            tried = points = sum(len(one.shown) for one in steps)
        if worst is not None:  # here, since a check compares hundreds of thousands of times
            worst = self._placed(worst, worst_on)
        numbers = {name: _result(one) for name, one in tallies.items()}
        if bounds and strict and not self.loose:
            self._refuse_blunt_bounds()
        return Outcome(tried, points, failed, worst, left, open_, numbers, steps, bounds)

    def _refuse_untested(self, missing: set[str], where: str) -> None:
        """Refuse an instance on which a hypothesis in force was not tested.

        Raises:
            ValueError: there is one.
        """
        if missing:
            raise ValueError(
                f"{self.label}, {where}: the body tests nothing of "
                f"{plain(', '.join(sorted(missing)))}; "
                "yield assume(name, holds) for every hypothesis in force"
            )

    def _refuse_blunt_bounds(self) -> None:
        """Refuse a check of a bound that was never asked whether it notices a tenth.

        Raises:
            ValueError: no planted error says that it is 1.1 times sharper.
        """
        words = [*self.planted, *(one for step in self.proof if isinstance(step, Executed)
                                  for one in step.planted)]  # fmt: skip
        if not any(SHARPER in one for one in words):
            raise ValueError(
                f"{self.label}: it compares with a bound; plant an error whose words hold "
                f"{SHARPER!r}, or say in `loose` how far from tight a named search stays"
            )

    def _step(self, step: Executed | Step, changes: Mapping[str, Any], known: Known) -> Step:
        """A step, run if it can run, and once only with the same arguments in one call."""
        if isinstance(step, Step):
            return step
        names = _arguments(step.function)
        used = {key: value for key, value in changes.items() if key in names}
        source = f"{step.function.__module__}.{step.function.__qualname__}"
        key = (step.function, tuple(sorted(used.items())))
        if key not in known:
            known[key] = tuple(_in_few_digits(one) for one in step.function(**used))
        shown = known[key]
        if not shown:
            raise ValueError(f"{self.label}: the step {step.text!r} showed nothing")
        return Step(step.text, step.how, source, shown)

    def _refuse_infinite(self, said: Compared, one: Any) -> None:
        """Refuse a comparison whose slack is no number.

        Raises:
            NotANumberError: its slack is a NaN or an infinity.
        """
        if said.slack != said.slack or said.slack in (float("inf"), float("-inf")):
            raise NotANumberError(f"{self.label}, {self.name(one)}: a slack of {said.slack}")

    def _placed(self, said: Compared, one: Any) -> Compared:
        """A comparison with the instance in its place."""
        name = self.name(one)
        where = f"{name}, {said.where}" if name and said.where else name or said.where
        return replace(said, where=few_digits(where, words=False))

    def _verdict(self, found: Outcome) -> Verdict:
        """In the words that fit the kind of claim."""
        if found.failed is not None:
            return Verdict.NOT_SEEN if self.observes else Verdict.REFUTED
        if not found.points or found.undecided:
            return Verdict.UNDECIDED if self.observes else Verdict.OPEN
        if self.observes:
            return Verdict.SEEN
        if self.shows:
            return Verdict.WELL_POSED
        return Verdict.PROVED if self.proof else Verdict.NOT_CONTRADICTED

    def _check(
        self,
        found: Outcome,
        readings: tuple[Reading, ...],
        parameters: Parameters,
    ) -> Check:
        """The outcome as a check."""
        verdict = self._verdict(found)
        numbers = self._to_their_sides(found.numbers)
        words = {name: one.shown for name, one in numbers.items()}
        words |= {"tried": str(found.tried), "compared": str(found.points)}
        words["worst"] = f"{float(found.worst.slack):.2g}" if found.worst else ""
        witness = ""
        if found.failed is not None:
            witness = _witness(found.failed)
            evidence = self._filled(self.fails or f"This fails: {self.says}", words)
        elif found.undecided:
            reasons = [
                reason if times == 1 else f"{reason} ({times} times)"
                for reason, times in found.undecided.items()
            ]
            evidence = f"Not decided: {'; '.join(reasons)}."
        elif not found.points:
            evidence = f"Not decided: nothing was compared on any of the {self.over}."
        else:
            evidence = self._filled(self.says, words)
        against = [one.text.rstrip(".") for one in readings if one.verdict in AGAINST]
        if against and verdict in NOTHING_TRIED:
            evidence += f" The statement fails if it is read in another way: {'; '.join(against)}."
        for reason, times in found.left_out.items():
            evidence += f" Left out in {counted(times, 'cases')}: {reason}."
        if self.shows and verdict is Verdict.WELL_POSED:
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
            witness_kind=self._witness_kind(found),
            loose=self.loose,
            hypotheses=self.hypotheses if self.hypotheses != UNCONDITIONAL else (),
            vacuous=self._from_where(words) if found.points else "",
            repeat=self.command(parameters),
            left_out=dict(found.left_out),
            proof=found.steps,
        )

    def _to_their_sides(self, numbers: Mapping[str, Result]) -> dict[str, Result]:
        """The numbers, those rounded up or down that the evidence calls bounds."""
        sides = {
            found[1]: -side if NEGATION.search(text[: found.start()]) else side
            for side, words in BOUNDS.items()
            for text in (self.fails, self.says)
            for found in words.finditer(text)
        }
        return {name: replace(one, side=sides.get(name, 0)) for name, one in numbers.items()}

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
        sentence = filled(text, words)
        if words.get("tried") == "1":
            one = singular(self.over)
            sentence = sentence.replace(f"all 1 {self.over}", f"the one {one}")
            sentence = sentence.replace(f"1 {self.over}", f"1 {one}")
        return sentence

    def _witness_kind(self, found: Outcome) -> WitnessKind | None:
        """In which numbers a counterexample was found."""
        if self._verdict(found) is not Verdict.REFUTED or found.failed is None:
            return None
        if any(step.how is How.ENCLOSED for step in found.steps):
            return WitnessKind.ENCLOSED
        return WitnessKind.EXACT if found.failed.exact else WitnessKind.FLOATING_POINT

    def _from_where(self, words: Mapping[str, str]) -> str:
        """From where a bound says something; nothing where no instance has such a place."""
        known = all(name in words for name in _names(self.vacuous))
        return filled(self.vacuous, words) if known else ""

    def _slack(self, worst: Compared | None) -> str:
        """The worst slack and its place; what is rounding alone says so."""
        if worst is None or worst.exact:
            return ""
        if abs(float(worst.slack)) <= max(self.tolerance, 1e-12):
            return f"rounding alone, below {in_words(f'{max(self.tolerance, 1e-12):g}')}"
        return f"{in_words(f'{float(worst.slack):.2g}')} ({worst.where})"

    def command(self, parameters: Parameters) -> str:
        """The command that repeats the check with these parameters."""
        words = ["ntpcore verify", self.label]
        words += [
            f"--{key.replace('_', '-')} {value}" if key == "seed" else f"--set {key}={value}"
            for key, value in parameters.items()
            if self.defaults.get(key) != value
        ]
        return " ".join(words)


registered: dict[str, Checked] = {}  # every check of the modules loaded so far, by its label


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
    loose: str = "",
    hypotheses: tuple[str, ...] = (),
) -> Callable[[Body], Checked]:
    """Make a check of what a function compares on one instance; see `Checked` for the arguments.

    Raises:
        ValueError: no error is planted, one changes an argument that nothing has, or a mathematical
            statement is called an observation, too.
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
            loose,
            hypotheses,
        )
        object.__setattr__(made, "__doc__", body.__doc__)
        object.__setattr__(made, "__wrapped__", body)
        _refuse_unknown_arguments(made)
        _register(made)
        return made

    return make


def _refuse_unknown_arguments(one: Checked) -> None:
    """Refuse a change that would change nothing, such as one with a misspelt argument.

    Raises:
        ValueError: neither the body nor an executed step has an argument of that name.
    """
    steps = [step for step in one.proof if isinstance(step, Executed)]
    of_steps = [_arguments(step.function) for step in steps]
    everywhere = _arguments(one.body).union(*of_steps)
    asked = [(variant.changes, everywhere) for variant in one.planted.values()]
    asked += [(variant.changes, everywhere) for variant in one.readings.values()]
    for step, there in zip(steps, of_steps, strict=True):
        asked += [(changes, there) for changes in step.planted.values()]
    for changes, there in asked:
        if unknown := sorted(set(changes) - there):
            raise ValueError(
                f"{one.label}: nothing has the argument {unknown[0]!r} that a planted error or a "
                f"reading changes; there are {', '.join(sorted(there))}"
            )


def _arguments(function: Callable[..., Any]) -> set[str]:
    """The names of the arguments of a function."""
    return set(inspect.signature(function).parameters)


def _register(one: Checked) -> None:
    """Keep a check under its label.

    Raises:
        ValueError: another module has one for this label.
    """
    before = registered.get(one.label)
    if before is not None and before.body.__module__ != one.body.__module__:
        raise ValueError(
            f"{one.label} is checked in {before.body.__module__} and in {one.body.__module__}"
        )
    registered[one.label] = one


def _variant(one: Variant | Mapping[str, Any]) -> Variant:
    """Changes alone are a variant."""
    return one if isinstance(one, Variant) else Variant(one)


def _name(one: Any) -> str:
    """What an instance calls itself."""
    return str(getattr(one, "name", "") or getattr(one, "where", ""))


def _listed(said: Iterable[Said] | Said) -> Iterable[Said]:
    """What a body said, one by one."""
    return (said,) if isinstance(said, Said) else said


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
    """The numbers that a sentence names outside of its formulas."""
    return [name for _, name, _, _ in Formatter().parse(outside(text)) if name is not None]


def _witness(failed: Compared) -> str:
    """Where a statement fails, and by how much."""
    if failed.fact:
        return failed.where or "the statement itself"
    by = (
        amount(-Fraction(failed.slack)) if failed.exact else in_words(f"{-float(failed.slack):.3g}")
    )
    return f"{failed.where or 'the statement itself'}: violated by {by}"


def _in_few_digits(one: Shown) -> Shown:
    """A relation as pages show it: its numbers have few digits, and powers of ten are formulas."""
    left, right, rest = map(few_digits, (one.left, one.right, one.rest))
    return replace(one, name=few_digits(one.name), left=left, right=right, rest=rest)


def relation(name: str, left: object, sign: str, right: object, rest: Number) -> Shown:
    """An exact relation between numbers, with the difference of its sides.

    A fraction with a denominator above a million is shown in decimals.
    """
    truth = {"=": rest == 0, "<=": rest <= 0, ">=": rest >= 0, "<": rest < 0, ">": rest > 0}
    return Shown(name, _value(left), sign, _value(right), _value(rest), truth[sign])


def _value(value: object) -> str:
    """A number of a relation in six digits, or exact where it is short."""
    if isinstance(value, Fraction) and value.denominator > 10**6:
        return f"{float(value):.6g}"
    return str(value)

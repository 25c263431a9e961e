"""Five claims of Euler's, with their checks, as text for a project of their own."""

CLAIMS = """
[euler-thm-1]
number = "Theorem 1"
title = "n^2 + n + 41 is prime for n below 40"
where = "letter to Bernoulli"

[euler-thm-2]
number = "Theorem 2"
title = "every even perfect number is 2^(p-1) (2^p - 1)"
where = "De numeris amicabilibus"

[euler-lem-1]
number = "Lemma 1"
title = "sigma is multiplicative"
where = "De numeris amicabilibus"
paper_page = 86

[euler-prop-1]
number = "Proposition 1"
title = "2^(2^n) + 1 is prime, as Fermat believed"
where = "E26"
about = ["euler-thm-1"]

[euler-cor-1]
number = "Corollary 1"
title = "sigma of a prime p is p + 1"
where = "De numeris amicabilibus"
uses = ["euler-lem-1"]
"""

CHECKS = """
from verdicts.claims import Verdict
from verdicts.compare import assume, equal, holds, left_out
from verdicts.vocabulary import Variant, by_hand, check, executed, relation, uses


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def numbers(most=40):
    return range(most)


@check("euler-thm-1", over="numbers", instances=numbers, name=str,
       says="The value is prime for all {tried} numbers.",
       planted={"The constant 42.": {"constant": 42},
                "One number more.": Variant(instances=lambda most=40: range(most + 1))})
def check_euler_thm_1(n, constant=41):
    yield holds(is_prime(n * n + n + constant), f"n = {n}")


def small_sums(other=4):
    left = sum(divisors(3)) * sum(divisors(other))
    yield relation("sigma(3) sigma(4) = sigma(12)", left, "=", 28, left - sum(divisors(12)))


@check("euler-lem-1", over="pairs", says="sigma(a b) = sigma(a) sigma(b) for {tried} pairs.",
       instances=lambda most=12: [(a, b) for a in range(1, most) for b in range(1, most)], name=str,
       proof=(executed("an example", small_sums, planted={"6 in the place of 4.": {"other": 6}}),
              by_hand("unique factorization", at="factors")),
       planted={"Pairs that share a factor, too.": {"coprime": False}})
def check_euler_lem_1(pair, coprime=True):
    a, b = pair
    if coprime and any(d > 1 for d in set(divisors(a)) & set(divisors(b))):
        yield left_out("the two share a factor")
    else:
        yield equal(sum(divisors(a * b)), sum(divisors(a)) * sum(divisors(b)))


@check("euler-thm-2", over="numbers", instances=lambda most=500: range(2, most, 2), name=str,
       says="No counterexample.", planted={"p need not be prime.": {"any_p": True}})
def check_euler_thm_2(n, any_p=False):
    shape = {2 ** (p - 1) * (2**p - 1) for p in range(2, 8) if any_p or is_prime(2**p - 1)}
    yield equal(int(sum(divisors(n)) == 2 * n), int(n in shape), f"n = {n}")


@check("euler-prop-1", over="numbers", instances=lambda most=6: range(most), name=str,
       says="All are prime.", hypotheses=("n is a natural number",),
       planted={"Only the first five.": Variant(
           instances=lambda: range(5), expected=Verdict.NOT_CONTRADICTED)})
def check_euler_prop_1(n):
    yield assume("n is a natural number", n >= 0)
    yield holds(is_prime(2 ** (2**n) + 1), f"n = {n}")


@check("euler-cor-1", over="primes", instances=lambda: [2, 3, 5, 7], name=str,
       proof=(uses("euler-lem-1", "a prime has no other divisors, and sigma is multiplicative"),),
       says="Right for {tried} primes.", planted={"p in the place of p + 1.": {"add": 0}})
def check_euler_cor_1(p, add=1):
    yield equal(sum(divisors(p)), p + add)
"""

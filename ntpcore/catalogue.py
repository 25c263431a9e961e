"""The catalogue: every numbered item of Huang et al. (2024), and the statements that are ours.

A row without a page is planned: it stands in the table of claims, counted as open, and nowhere
else. Labels, pages, checks and tests match one to one; tests and the build insist on it.
"""

from __future__ import annotations

from ntpcore.claims import Claim

_SETUP = "huang2024_s3_setup"
_DATA = "huang2024_s4_realizable"
_CLOSURE = "huang2024_s4_prefix_closure"
_MARGIN = "huang2024_s6_max_margin"

CATALOGUE: tuple[Claim, ...] = (
    # Section 3
    Claim(
        "huang2024-eq-1",
        "Equation (1)",
        "cross-entropy by distinct sentence",
        "Section 4.1",
        _SETUP,
    ),
    # Section 4.1
    Claim("huang2024-def-1", "Definition 1", "query-dependent partial order", "Section 4.1", _DATA),
    Claim(
        "huang2024-app-roles",
        "Section 4.1, four types of tokens",
        "an order divides the vocabulary into four disjoint types",
        "Section 4.1",
        _DATA,
        ("huang2024-def-1",),
    ),
    Claim(
        "huang2024-app-injective",
        "Section 4.1, existence of a collocation",
        "a loss near zero forces an injective collocation",
        "Section 4.1",
        _DATA,
    ),
    Claim(
        "huang2024-app-peaks",
        "Section 4.1, existence of an order",
        "the output peaks only at collocated tokens of the sentence",
        "Section 4.1",
        _DATA,
    ),
    Claim(
        "huang2024-app-well-defined",
        "Section 4.1, after Definition 1",
        "a loss near zero makes the orders well defined",
        "Section 4.1",
        _DATA,
        ("huang2024-def-1",),
    ),
    Claim(
        "huang2024-asm-1",
        "Assumption 1",
        "realizable training data",
        "Section 4.1",
        _DATA,
        ("huang2024-def-1",),
    ),
    Claim(
        "huang2024-ex-1",
        "Example 1",
        "subject, verb, object, punctuation",
        "Section 4.1",
        _DATA,
        ("huang2024-asm-1",),
    ),
    Claim(
        "huang2024-fig-1",
        "Figure 1",
        "optimal tokens and collocation of Example 1",
        "Section 4.1",
        _DATA,
        ("huang2024-ex-1",),
    ),
    Claim("huang2024-asm-3", "Assumption 3", "optimal tokens are frequent", "Section 5.2", _DATA),
    Claim(
        "ours-prefix-closure",
        "Theorem (ours)",
        "prefix closure leaves at most one optimal token per query",
        "this book",
        _CLOSURE,
        ("huang2024-asm-1",),
    ),
    Claim(
        "ours-prefix-closure-small",
        "Theorem (ours), up to five tokens",
        "the same for every vocabulary of at most five tokens and sentences of any length",
        "this book",
        _CLOSURE,
        ("huang2024-asm-1",),
    ),
    Claim(
        "ours-last-token",
        "Corollary (ours)",
        "from two tokens on, the next token depends on the last token only",
        "this book",
        _CLOSURE,
        ("ours-prefix-closure",),
    ),
    # Section 4.2
    Claim("huang2024-alg-1", "Algorithm 1", "two-stage normalized gradient descent", "Section 4.2"),
    # Section 5
    Claim("huang2024-asm-2", "Assumption 2", "orthonormal vocabulary", "Section 5", _MARGIN),
    Claim(
        "huang2024-eq-2",
        "Equation (2)",
        "max-margin problem of the feed-forward layer",
        "Section 5.1",
        _MARGIN,
        ("huang2024-asm-2",),
    ),
    Claim(
        "huang2024-prop-1",
        "Proposition 1",
        "stage 1 converges in direction",
        "Section 5.1",
        None,
        ("huang2024-eq-2", "huang2024-lem-1", "huang2024-lem-2"),
    ),
    Claim(
        "huang2024-eq-3",
        "Equation (3)",
        "max-margin problem of the attention layer",
        "Section 5.2",
        _MARGIN,
        ("huang2024-def-1", "huang2024-asm-2"),
    ),
    Claim(
        "huang2024-thm-1",
        "Theorem 1",
        "stage 2 converges in direction",
        "Section 5.2",
        None,
        ("huang2024-lem-5", "huang2024-lem-6", "huang2024-lem-7"),
    ),
    Claim(
        "huang2024-thm-2",
        "Theorem 2",
        "the loss converges linearly",
        "Section 5.2",
        None,
        ("huang2024-thm-1", "huang2024-cor-1"),
    ),
    Claim("huang2024-eq-4", "Equation (4)", "bound on the loss", "Section 5.2"),
    # Section 6
    Claim(
        "huang2024-prop-2",
        "Proposition 2",
        "closed form of the max-margin attention",
        "Section 6",
        _MARGIN,
        ("huang2024-asm-1", "huang2024-asm-2", "huang2024-eq-3"),
        on_data=True,
    ),
    Claim(
        "huang2024-prop-2-corrected",
        "Proposition 2, corrected",
        "the closed form holds exactly under a Hall condition",
        "this book",
        _MARGIN,
        ("huang2024-eq-3", "ours-block-form"),
    ),
    Claim(
        "ours-complete-order",
        "Proposition 2 on complete orders",
        "m/(k+m) and -k/(k+m) when every optimal token lies above every non-optimal one",
        "this book",
        _MARGIN,
        ("huang2024-eq-15",),
    ),
    Claim(
        "ours-block-form",
        "Theorem (ours)",
        "the max-margin attention is a block form",
        "this book",
        _MARGIN,
        ("huang2024-eq-3", "huang2024-eq-15"),
    ),
    Claim(
        "huang2024-thm-3",
        "Theorem 3",
        "non-comparable tokens end up between the others",
        "Section 6",
        None,
        ("huang2024-prop-2", "huang2024-thm-1"),
    ),
    Claim("huang2024-ex-2", "Example 2", "unseen sentences of Example 1", "Section 6"),
    # Section 7
    Claim("huang2024-fig-2", "Figure 2", "training dynamics on random data", "Section 7"),
    # Appendix B
    Claim("huang2024-prop-3", "Proposition 3", "Proposition 1, restated", "Appendix B"),
    Claim("huang2024-eq-5", "Equation (5)", "gradient of the loss of stage 1", "Appendix A"),
    Claim("huang2024-eq-6", "Equation (6)", "gradient of the loss of stage 2", "Appendix A"),
    Claim("huang2024-eq-7", "Equation (7)", "update of stage 1", "Appendix B"),
    Claim(
        "huang2024-eq-8", "Equation (8)", "projection of the gradient on the optimum", "Appendix B"
    ),
    Claim("huang2024-lem-1", "Lemma 1", "norm of the feed-forward layer", "Appendix B"),
    Claim("huang2024-lem-2", "Lemma 2", "projections of the stage-1 gradient", "Appendix B"),
    Claim("huang2024-lem-3", "Lemma 3", "wrong tokens share one logit", "Appendix B"),
    Claim("huang2024-cor-1", "Corollary 1", "margins after stage 1", "Appendix B"),
    # Appendix C
    Claim("huang2024-eq-9", "Equation (9)", "optimal and non-optimal parts", "Appendix C"),
    Claim("huang2024-eq-10", "Equation (10)", "update of stage 2", "Appendix C"),
    Claim("huang2024-eq-11", "Equation (11)", "norm of the attention layer", "Appendix C"),
    Claim("huang2024-eq-12", "Equation (12)", "max-margin problem, restated", "Appendix C"),
    Claim("huang2024-eq-13", "Equation (13)", "margins of the trained attention", "Appendix C"),
    Claim("huang2024-lem-4", "Lemma 4", "projections of the stage-2 gradient", "Appendix C"),
    Claim("huang2024-lem-5", "Lemma 5", "optimal attention never decreases", "Appendix C"),
    Claim("huang2024-lem-6", "Lemma 6", "norm of the attention layer grows linearly", "Appendix C"),
    Claim("huang2024-lem-7", "Lemma 7", "trained and max-margin projections", "Appendix C"),
    # Appendix D
    Claim(
        "huang2024-prop-4",
        "Proposition 4",
        "Proposition 2, restated",
        "Appendix D",
        _MARGIN,
        ("huang2024-eq-14", "huang2024-eq-15", "huang2024-eq-16"),
        on_data=True,
    ),
    Claim(
        "huang2024-eq-14",
        "Equation (14)",
        "the max-margin problem in one-hot coordinates",
        "Appendix D",
        _MARGIN,
        ("huang2024-eq-3", "huang2024-asm-2"),
    ),
    Claim(
        "huang2024-eq-15",
        "Equation (15)",
        "the max-margin problem of one query",
        "Appendix D",
        _MARGIN,
        ("huang2024-eq-14",),
    ),
    Claim(
        "huang2024-eq-16",
        "Equation (16)",
        "the dual is maximal where its gradient vanishes",
        "Appendix D",
        _MARGIN,
        ("huang2024-eq-15",),
        on_data=True,
    ),
)

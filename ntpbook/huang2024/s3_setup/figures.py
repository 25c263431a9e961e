"""The drawing of the page on the setup: one score, and what the model says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from ntpbook.look.plots import NONOPTIMAL, OPTIMAL
from ntpcore.huang2024 import transformer


def answers(score: float, lead: float) -> tuple[float, float, float]:
    """In "O P" with this score of O: attention on O, and probabilities of n(O) = P and n(P) = S.

    Args:
        score: the only entry of W_kq that is not zero, W_kq[O, P].
        lead: by which each token's logit of its own next token leads all others.
    """
    W_kq, W_ov = np.zeros((4, 4)), np.zeros((4, 4))  # tokens S, V, O, P in this order
    W_kq[2, 3] = score
    for token in range(4):
        W_ov[(token + 1) % 4, token] = lead
    X = np.eye(4)[:, [2, 3]]
    weights = transformer.attention(X, W_kq)
    said = transformer.softmax(transformer.logits(X, W_ov, W_kq))
    return float(weights[0]), float(said[3]), float(said[0])


def draw_answers(axes: Axes, scores: Sequence[float], lead: float) -> None:
    """Attention and answers after "O P" against the score of O; P is the non-optimal token.

    Args:
        axes: where to draw.
        scores: values of W_kq[O, P].
        lead: as in `answers`.
    """
    rows = np.array([answers(score, lead) for score in scores])
    looks = (("-", OPTIMAL), ("--", OPTIMAL), ("-.", NONOPTIMAL))
    texts = ("attention on O", "probability of P", "probability of S")
    for (style, color), text, values in zip(looks, texts, rows.T, strict=True):
        axes.plot(scores, values, style, color=color, label=text)
    axes.set(xlabel="score of O under query P", ylabel="share or probability", ylim=(-0.03, 1.03))
    axes.legend(loc="center left", frameon=False)

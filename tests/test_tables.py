"""Tables on pages."""

from ntpcore.tables import Table, unbroken


def test_numbers_get_a_minus_sign_after_which_no_line_breaks():
    assert unbroken("0.5 (3e-05)") == "0.5 (3e−05)"
    assert unbroken("-2.004") == "−2.004"


def test_words_keep_their_hyphens():
    assert unbroken("random, prefix-closed; e-mail") == "random, prefix-closed; e-mail"


def test_cells_are_escaped():
    shown = Table(("<a>",), (("<script>",),))._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert '<th scope="col">&lt;a&gt;</th>' in shown

"""Tables on pages."""

import pytest

from ntpverdicts.tables import DOWNLOAD_MIME, Download, Table, unbroken


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


def test_a_download_carries_its_file_and_links_to_it():
    file = Download("some-numbers.csv", ("x", "name"), [(0.1, "a,b"), (2, '"')])
    shown = file._repr_mimebundle_()
    assert shown[DOWNLOAD_MIME] == {"name": "some-numbers.csv", "text": file.text}
    assert file.text == 'x,name\n0.1,"a,b"\n2,""""\n'
    assert 'href="../data/some-numbers.csv"' in shown["text/html"]


@pytest.mark.parametrize("name", ["../x.csv", "x.html", "A.csv", "x y.csv", ".csv", '"x.csv'])
def test_a_download_has_a_plain_name(name):
    with pytest.raises(ValueError, match="is no name such as"):
        Download(name, ("x",), [])


def test_a_download_with_a_row_of_another_width_is_refused():
    with pytest.raises(ValueError, match=r"row 1 has 1 cells, not 2"):
        Download("x.csv", ("x", "y"), [(1, 2), (3,)])

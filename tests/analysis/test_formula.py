"""Formulas are read by a grammar of their own: what they may hold, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from coterie import CoterieError
from coterie.analysis.formula import LONGEST, read_formula


def terms(text):
    formula = read_formula(text)
    return (["1"] if formula.intercept else []) + [":".join(f.text for f in term) for term in formula.terms]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("y ~ a", ["1", "a"]),
        ("y ~ a + C(b)", ["1", "a", "C(b)"]),
        ("y ~ a*b", ["1", "a", "b", "a:b"]),
        ("y ~ a*b - a", ["1", "b", "a:b"]),
        ("y ~ a/b", ["1", "a", "a:b"]),
        ("y ~ (a + b + c)**2", ["1", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("y ~ a - 1", ["a"]),
        ("y ~ 0 + a", ["a"]),
        ("y ~ -1 + a", ["a"]),
        ("y ~ 1", ["1"]),
        ("y ~ a + b:a + a:b", ["1", "a", "b:a"]),
        ("y ~ a:a", ["1", "a"]),
        ("log(y) ~ np.log(a) + sqrt(b)", ["1", "log(a)", "sqrt(b)"]),
        ("y ~ I(a ** 2) + I(a/2 - b)", ["1", "I(a ** 2)", "I(a / 2 - b)"]),
        ("y ~ `net income` + Q('other one')", ["1", "`net income`", "`other one`"]),
        ("y ~ `C` + `log`", ["1", "`C`", "`log`"]),
        ("Größe ~ net.income + _x1", ["1", "net.income", "_x1"]),
    ],
)
def test_terms(text, wanted):
    assert terms(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "", "y", "y ~", "~ a", "y ~ a ~ b", "y ~ a b", "y ~ a +", "y ~ (a", "y ~ a)", "1 ~ a", "y ~ 2", "y ~ a ** 9",
        "y ~ a ** b",
        "y ~ 0", "y ~ y", "log(y) ~ C(y)", "y ~ f(a)", "y ~ C(a, Treatment)", "y ~ C(log(a))", "y ~ Q(a)", "y ~ 'a'",
        "y ~ a[0]",
        "y ~ a; b", "y ~ {a}", "y ~ a == b", "y ~ a if b else c", "y ~ lambda a: a",
        "y ~ __import__('os').system('true')",
        "y ~ np.load('x')", "y ~ I(__import__('os'))", "y ~ C(a.mean())", "y ~ a @ b", "y ~ a & b", "y ~ %a",
        "y ~ a\x00", "y ~ `a",
        "y ~ exec(a)", "y ~ I(open('x'))", "y ~ a:0", "y ~ a*b*c*d*e*f*g", "y ~ (a+b+c+d+e+f+g+h+i)**4",
        f"y ~ I({'a+' * 900}a)",
        f"y ~ {'(' * 50}a{')' * 50}", f"y ~ I({'(' * 5000}a{')' * 5000})", f"y ~ {'a + ' * LONGEST}b",
    ],
)  # fmt: skip
def test_whatever_else_is_refused(text):
    with pytest.raises(CoterieError):
        read_formula(text)


def test_names_that_look_like_attributes_are_columns_and_nothing_else():
    assert read_formula("y ~ a.__class__").columns == ("y", "a.__class__")
    assert read_formula("__builtins__ ~ os.system").columns == ("__builtins__", "os.system")


def test_arithmetic_is_calculated_here():
    formula = read_formula("log(y) ~ I((a + 1) ** 2 / 4 + b) + I(2 ** -1 * a)")
    values = {"y": np.array([1.0, np.e]), "a": np.array([1.0, 3.0]), "b": np.array([10.0, 20.0])}
    assert formula.outcome.run is not None
    assert formula.outcome.run(values.__getitem__).tolist() == [0.0, 1.0]
    first, second = formula.factors
    assert first.run(values.__getitem__).tolist() == [11.0, 24.0]  # (1 + 1)^2 / 4 + 10, (3 + 1)^2 / 4 + 20
    assert second.run(values.__getitem__).tolist() == [0.5, 1.5]

"""What a draft suggests, and what it asks: names and contents, one against the other."""

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.recipe import Recipe, RecipeError, names
from coterie.recipe.draft import Looking, draft, look, questions_for
from coterie.recipe.suggest import UNDECIDED, kind_of, role_of

N = 200
CYCLE = np.arange(N)


def codes(*values, text=False):
    """A column in which these values come again and again, but not in turn."""
    chosen = [values[i] for i in np.random.default_rng(1).integers(len(values), size=N - len(values))]
    array = pa.array([*chosen, *values])
    return array.cast(pa.string()) if text else array


def suggested(name, array, **about):
    """The role, and the kind if it is masked or guarded."""
    seen = look(array, ".", about)
    role = role_of(name, seen).role
    return (role, kind_of(name, seen).kind) if role in ("quasi", "confidential") else role


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("PatientNr", ["patient", "nr"]),
        ("patient.nr", ["patient", "nr"]),
        ("PATIENT_NR", ["patient", "nr"]),
        ("IDNumber", ["id", "number"]),
        ("Größe in cm", ["grosse", "in", "cm"]),
        ("hiv2004", ["hiv", "2004"]),
        ("Numéro", ["numero"]),
        ("年齢", ["年齢"]),
        ("", []),
    ],
)
def test_words_of_a_name(name, words):
    assert names.words_of(name) == words


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "nr", "person_id", "personId", "patient.nr", "SubjectNo", "subject number", "Fall-Nr", "lfd. Nr.",
     "idNr", "Kundennummer", "Numéro patient ID", "numero_paciente_id", "persona.id", "klant_nr", "household_id",
     "e_mail"],
)  # fmt: skip
def test_persons_numbers_are_identifiers_by_name(name):
    assert suggested(name, codes(*range(1000, 1080))) == "identifier"


@pytest.mark.parametrize("name", ["subject", "Person", "patient", "individual", "caseid", "hhid", "sujet", "familie"])
def test_names_that_may_be_those_of_persons_are_identifiers_if_many_differ_and_asked_about_otherwise(name):
    assert suggested(name, codes(*range(60))) == "identifier"
    assert suggested(name, codes(1, 2, 3, 4)) == UNDECIDED
    assert suggested(name, codes(0, 1)) == ("quasi", "boolean")  # yes or no about a person


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("x", (0, 1), "boolean"),
        ("x", (1, 2), "nominal"),
        ("x", (0.0, 1.0), "boolean"),
        ("x", (0.5, 1.5), "nominal"),
        ("x", (1, 2, 3, 4, 5), UNDECIDED),
        ("x", (1.0, 2.0, 3.0), UNDECIDED),
        ("x", (0.0, 0.5, 1.0), UNDECIDED),
        ("x", tuple(range(20)), UNDECIDED),
        ("x", tuple(range(21)), "integer"),
        ("x", tuple(i + 0.5 for i in range(11)), "numeric"),
        ("region", (1, 2, 3, 4, 5), "nominal"),
        ("Familienstand", (1, 2, 3, 4), "nominal"),
        ("education", (1, 2, 3, 4), "nominal"),
        ("education", (8, 10, 12, 16), UNDECIDED),
        ("children", (0, 1, 2, 3), "integer"),
        ("n_visits", (0, 1, 2, 3), "integer"),
        ("Anzahl Kinder", (0, 1, 2, 3), "integer"),
        ("children", (-9, 0, 1, 2), UNDECIDED),  # a code among counts
        ("age", tuple(range(20, 35)), "integer"),
        ("age", (1, 2, 3, 4, 5), UNDECIDED),  # classes of ages
        ("year", (2019, 2020, 2021), "integer"),
        ("x", (1987, 1988, 1989), "integer"),
        ("zip", (10115, 20095, 50667, 80331), "nominal"),
        ("plz", tuple(range(10115, 10155)), "nominal"),
        ("isco", tuple(range(100, 160)), "nominal"),
        ("day", (1, 2, 3, 4, 5, 6, 7), UNDECIDED),  # of the week?
        ("size", (1, 2, 3), UNDECIDED),
    ],
)
@pytest.mark.parametrize("text", [False, True])
def test_kinds_of_numbers(name, values, kind, text):
    if text and values == (0.0, 1.0):
        kind = "nominal" if pa.array(values).cast(pa.string())[0].as_py() == "0.0" else "boolean"
    assert suggested(name, codes(*values, text=text)) == ("quasi", kind)


def test_brackets_of_income_are_asked_about_and_incomes_are_not():
    assert suggested("income", codes(*range(1, 25))) == ("confidential", UNDECIDED)
    assert suggested("income", codes(*range(1000, 60_000, 1234))) == ("confidential", "integer")


def test_codes_with_leading_zeros_are_nominal_and_not_asked_about():
    assert suggested("ags", codes(*(f"{i:05d}" for i in range(1, 40)))) == ("quasi", "nominal")
    assert suggested("x", codes("01", "02", "03")) == ("quasi", "nominal")


def test_dates_without_signs():
    days = [20240101 + i for i in range(28)]
    assert suggested("x", codes(*days, text=True)) == ("quasi", "datetime")
    assert kind_of("x", look(codes(*days, text=True))).format == "%Y%m%d"
    assert suggested("x", codes(*days)) == ("quasi", UNDECIDED)  # numbers are not read as dates
    assert suggested("x", codes(*(20240101 + 100 * i for i in range(28)), text=True)) == (
        "quasi",
        "integer",
    )  # month 13


def test_dates_without_signs_are_protected_as_dates(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("seen,v\n" + "".join(f"202403{i:02d},{i * 7919 % 100 + 0.5}\n" for i in range(1, 29)))
    text = ct.draft_recipe(path, 4).replace("draft = true", "")
    data = ct.protect(path, Recipe.loads(text)).data
    assert all(20240301 <= int(v) <= 20240328 for v in data.column("seen").to_pylist())


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("weight", (1.0, 2.5, 4.0), "other"),
        ("wgt", (812.5, 1003.25, 2200.0), "other"),
        ("weight", tuple(range(48, 110)), UNDECIDED),  # kilograms
        ("Gewicht", (61.5, 72.0, 80.5), UNDECIDED),
        ("weight", tuple(i / 7 for i in range(3, 150)), UNDECIDED),  # differs too much for strata
        ("body_weight", tuple(range(48, 110)), ("quasi", "integer")),
        ("weight_kg", tuple(range(48, 110)), ("quasi", "integer")),
    ],
)
def test_sampling_weights_and_what_bodies_weigh(name, values, role):
    assert suggested(name, codes(*values)) == role


@pytest.mark.parametrize(
    "name", ["diagnosis", "Hauptdiagnose_diagnose", "ICD10", "Krankheit", "maladie_principale", "enfermedad"]
)
def test_diagnoses_by_name(name):
    assert suggested(name, codes("a", "b", "c")) == ("confidential", "nominal")


def test_diagnoses_and_comments_by_content():
    assert suggested("x", codes("E11.9", "I10", "J45.0", "K35")) == ("confidential", "nominal")
    said = [f"came on day {i} and was sent home" for i in range(150)]
    assert suggested("x", codes(*said)) == "identifier"
    assert suggested("Bemerkungen", codes("a", "b", "c")) == "identifier"
    assert suggested("contact", codes(*(f"p{i}@example.org" for i in range(30)))) == "identifier"


def test_an_empty_column_is_kept_and_no_identifier():
    for name in ("x", "name", "id", "weight"):
        assert suggested(name, pa.nulls(N, pa.string())) == "other"
        assert suggested(name, pa.nulls(N, pa.float64())) == "other"


def test_a_measure_whose_values_all_differ_is_asked_about_and_numbers_of_records_are_dropped():
    shuffled = pa.array(np.random.default_rng(0).permutation(N) * 37 + 1200)
    assert suggested("sales", shuffled) == UNDECIDED
    assert suggested("x", pa.array(np.random.default_rng(0).permutation(N))) == UNDECIDED  # ranks
    assert suggested("x", pa.array(CYCLE + 1)) == "identifier"
    assert suggested("x", pa.array(CYCLE + 1).cast(pa.string())) == "identifier"
    assert suggested("year", pa.array(CYCLE + 1801)) == ("quasi", "integer")
    assert suggested("x", pa.array(CYCLE / 7)) == ("quasi", "numeric")
    assert suggested("x", pa.array(np.random.default_rng(0).permutation(30) * 37)) == (
        "quasi",
        "integer",
    )  # few records


def test_what_protect_would_refuse_is_not_drafted():
    many = pa.array([f"c{i // 3}" for i in range(3 * 4097)])
    assert suggested("x", many) == UNDECIDED
    assert "4,096" in role_of("x", look(many)).why
    assert suggested("zip", pa.array([10_000 + i // 3 for i in range(3 * 4097)])) == UNDECIDED


def test_numbers_that_cannot_be_averaged_exactly_are_asked_about():
    long = codes(*(10**17 + 7 * i for i in range(60)))
    assert suggested("x", long) == suggested("x", long.cast(pa.string())) == UNDECIDED


def test_records_are_numbered_through_part_by_part():
    for parts, through in (([CYCLE[:80], CYCLE[80:]], True), ([CYCLE[:80], CYCLE[81:]], False)):
        looking = Looking()
        for part in parts:
            looking.add(pa.array(part))
        assert looking.seen().numbered == through


def test_numbers_of_persons_that_come_again_are_asked_about():
    for array in (pa.array(CYCLE // 4 + 1), pa.array(CYCLE % 50 + 1), pa.array(CYCLE // 4).cast(pa.string())):
        assert suggested("prof", array) == UNDECIDED
        assert suggested("week", array) == ("quasi", "integer")
    assert suggested("prof", pa.array(CYCLE // 4 + 18)) == ("quasi", "integer")  # as ages in a sorted file


def test_a_number_that_is_text_but_for_gaps_is_asked_about():
    array = codes(*map(str, range(40)), "NA")
    assert suggested("x", array) == ("quasi", UNDECIDED)
    assert "[file] missing" in kind_of("x", look(array)).question


def test_labels_and_levels_of_a_file_decide():
    labels = [[float(i), f"label {i}"] for i in range(1, 6)]
    array = codes(1.0, 2.0, 3.0, 4.0, 5.0)
    assert suggested("x", array, labels=labels) == ("quasi", "nominal")
    assert suggested("x", array, labels=labels, measure="scale") == ("quasi", "nominal")
    assert suggested("x", array, labels=labels, measure="ordinal") == ("quasi", "ordinal")
    assert kind_of("x", look(array, ".", {"labels": labels, "measure": "ordinal"})).order == ("1", "2", "3", "4", "5")
    assert suggested("x", array, measure="ordinal") == ("quasi", "ordinal")
    assert suggested("x", array, measure="nominal") == ("quasi", "nominal")
    assert suggested("x", array, measure="scale") == ("quasi", "integer")
    assert suggested("x", codes(*range(40)), labels=labels) == ("quasi", UNDECIDED)  # some have labels
    assert suggested("id", array, labels=labels) == ("quasi", "nominal")


def test_an_undecided_line_is_refused_at_every_door(tmp_path):
    table = pa.table(
        {"region": codes(1, 2, 3), "rate": codes(4, 5, 6), "weight": codes(*range(60, 90)), "v": CYCLE / 7}
    )
    text = ct.draft_recipe(table, 3).replace("draft = true", "")
    assert "# undecided: few different whole numbers" in text
    with pytest.raises(RecipeError, match=r"line \d+, columns.rate.kind") as error:
        Recipe.loads(text)
    assert "columns.weight.role" in str(error.value)
    assert "columns.region" not in str(error.value)
    path = tmp_path / "r.toml"
    path.write_text(text, encoding="utf-8")
    for call in (ct.protect, ct.assess):
        with pytest.raises(RecipeError, match="leaves this decision to you"):
            call(table, path)
    with pytest.raises(RecipeError, match="leaves this decision to you"):
        Recipe(k=3, columns={"rate": {"role": "quasi", "kind": "?"}})
    decided = text.replace('kind = "?"', 'kind = "integer"').replace('role = "?"', 'role = "other"')
    assert ct.protect(table, Recipe.loads(decided)).verdict.ok


def test_kinds_that_were_said_are_not_asked_about_again():
    table = pa.table({"rate": codes(4, 5, 6), "v": CYCLE / 7})
    for kind in ("integer", "nominal", "ordinal"):
        recipe = Recipe.loads(ct.draft_recipe(table, 3, kind={"rate": kind}).replace("draft = true", ""))
        assert recipe.columns["rate"].kind == kind
    assert recipe.columns["rate"].order == ("4", "5", "6")
    for wrong, words in (({"rat": "integer"}, "did you mean 'rate'"), ({"rate": "code"}, "one of numeric")):
        with pytest.raises(RecipeError, match=words):
            ct.draft_recipe(table, kind=wrong)


def test_an_identifier_that_repeats_leaves_the_unit_open():
    """What `protect` refuses of an identifier without a unit is asked about in the draft, and answers are taken."""
    table = pa.table({"nr": CYCLE // 4 + 1000, "note": codes("a", "b", "c"), "v": CYCLE / 7})
    text = ct.draft_recipe(table, 3).replace("draft = true", "")
    assert 'column = "nr" or column = "note", and k counts persons' in text
    with pytest.raises(RecipeError, match=r"unit\.column: This must be a text\. Got: '\?'"):
        Recipe.loads(text)
    with pytest.raises(RecipeError, match="leaves this decision to you"):
        Recipe(k=3, columns={"v": {"role": "quasi", "kind": "numeric"}}, unit="?")
    for unit in ("nr", "none"):
        recipe = Recipe.loads(text.replace('[unit]\ncolumn = "?"', f'[unit]\ncolumn = "{unit}"'))
        assert ct.protect(table, recipe).verdict.ok
    unique = pa.table({"nr": CYCLE + 1000, "v": CYCLE / 7})
    assert Recipe.loads(ct.draft_recipe(unique, 3).replace("draft = true", "")).unit is None
    with pytest.raises(ct.CoterieError, match="An identifier repeats"):
        ct.protect(
            table, {"k": 3, "columns": {"nr": "identifier", "note": "other", "v": {"role": "quasi", "kind": "numeric"}}}
        )


def test_reasons_hold_no_value():
    array = codes(7391, 7392, 7393)
    assert "739" not in draft({"x": look(array)}, 3)
    assert "739" not in str(questions_for({"x": "quasi"}, {"x": look(array)}))

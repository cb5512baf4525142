"""What the name of a column says of it: words of several languages, however they are joined.

`PatientNr`, `patient.nr`, `PATIENT_NR` and `patient nr` are the same two words. Accents don't count. A name is a hint,
never a proof: `suggest.py` holds it against what the column contains.
"""

from __future__ import annotations

import re
import unicodedata

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: split at blanks, signs, digits and capital letters."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)).replace("ß", "ss")
    return [word.lower() for word in _WORDS.findall(plain.replace("_", " "))]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _list(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Who or what a number may be of
_PERSON = _set(
    """
    person pers persona personne persoon patient patientin paciente paziente subject subj sujet sujeto participant
    participante teilnehmer deelnemer proband probandin respondent individual indiv individu individuo client
    kunde klant customer member mitglied employee mitarbeiter student pupil schuler schueler alumno eleve case
    fall cas caso household haushalt hh hogar menage huishouden family fam familie famille familia famiglia
    """
)
_UNIT = _PERSON | _set(
    """
    record row rows obs observation datensatz zeile enregistrement registro line item unit entity account acc
    konto cuenta compte sample probe firm company unternehmen betrieb empresa entreprise plant school sch schule
    ecole escuela hospital hosp clinic klinik provider prov village vill animal user worker teacher emp cust stud
    resp plot cluster psu
    """
)
_ALONE = _PERSON - _set("member student pupil client customer employee") | _set("record row rownames obs observation")
_NUMBER = _set("nr no num number nummer numero nro index idx lfd lfdnr key schluessel schlussel cle")
_IDENTIFIERS = _set(
    """
    id ids ident identifier identifiant identificador identificativo identifikator kennung kennziffer uuid guid
    ssn nhs mrn iban passport reisepass pasaporte passeport pesel dni nif bsn ahv svnr cpr personnummer matrikel
    serial seqno seqn aktenzeichen surname lastname firstname forename vorname nachname prenom apellido apellidos
    cognome achternaam voornaam username login mail email phone telephone tel telefon telefono mobile handy fax address
    adresse direccion indirizzo adres street strasse rue calle url ip licence license kennzeichen rownames
    """
)
_NAMES = _set("name names nom nome naam nombre nombres")
_GLUED = re.compile(
    rf"({'|'.join(sorted(_UNIT, key=len, reverse=True))})(id|nr|num|no)[a-z]{{0,2}}|id(nr|no|num)|[ph]id|lfdnr"
)
_WEIGHTS = _set(
    """
    weight weights wgt wt wts gewicht gewichte gewichtung poids peso pesos pweight fweight perwt hhwt fnlwgt
    wtfinal
    """
)
_BODY = _set(
    """
    body birth kg kilo kilos lb lbs pound pounds gram grams g korper koerper geburts birthweight bodyweight mass
    """
)
_COMMENTS = _set(
    """
    comment comments commentaire commentaires comentario comentarios commento commenti kommentar kommentare remark
    remarks note notes notiz notizen bemerkung bemerkungen anmerkung anmerkungen observaciones opmerking
    opmerkingen freetext freitext memo anamnese anamnesis
    """
)
_CONFIDENTIAL = _list(
    """
    diagnos disease illness krankheit maladie enfermedad malattia ziekte icd hiv income einkommen revenu ingreso
    reddito inkomen salar gehalt lohn loon sueldo stipendio wage earn verdienst religi politic politisch party
    partei parti partido debt schuld dette deuda credit kredit sexual crime convict vorstrafe cost kosten profit
    gewinn turnover umsatz score grade
    """
)
_MONEY = _list(
    """
    income einkommen revenu ingreso reddito inkomen salar gehalt lohn loon wage earn price preis prix cost kosten
    sales umsatz
    """
)
_POSTAL = _set("zip zipcode plz postleitzahl postcode postcodes postal cap codepostal codigopostal")
_CLASSIFICATIONS = _set("fip fips insee ags nuts isco isced isic nace naics sic soc lsoa icd atc drg")
_CODES = _set("code codes cod codigo codice kode")
_CATEGORIES = _list(
    """
    sex gender geschlecht sesso geslacht race ethn nation citizen religi konfession marital maritl civil
    familienstand region state bundesland province provinz county kreis district country land pays pais status
    type typ categ kateg class klasse group gruppe groupe grupo occup beruf profession job industr branche sector
    sektor party partei language sprache treat trt arm mode stage level stufe niveau
    """
)
_PLACES_AND_TRADES = _list(
    """
    region state bundesland province provinz county kreis district distrikt country land pays pais nation municip
    gemeinde commune occup beruf profession industr branche sector sektor
    """
)
_EDUCATION = ("educ", "bildung", "schul", "instruction", "onderwijs")
_MEASURES = _list(
    """
    age ages alter edad eta leeftijd time year years yrs jahr annee ano anos jaar days tage jours dias dagen week weeks
    woche semaine semana hours hrs stunde heure horas minute exper experience expersq erfahrung tenure durat dauer
    duree los length height anzahl count counts aantal kids children kinder enfants hijos sibling geschwister visit
    besuche room rooms zimmer pieces dependents pregnanc parity
    """
)
_EXACT_ONES = _set("count exper alter time")
_COUNTED = _set("n nr no num number anzahl nombre numero count aantal")
_EXACT = _EXACT_ONES | frozenset(
    w for w in (*_MEASURES, *_CATEGORIES) if len(w) <= 4
)  # too short to begin a longer word

_ENDINGS = _set("level stufe niveau class klasse group gruppe type status income einkommen salary gehalt")


def _begins(words: list[str], stems: tuple[str, ...]) -> bool:
    """Whether a word is one of these or begins with a longer one, or ends with one: `edlevel`, `agegroup`."""
    return any(
        word == stem or (stem not in _EXACT and word.startswith(stem)) or (stem in _ENDINGS and word.endswith(stem))
        for word in words
        for stem in stems
    )


def is_identifier(name: str) -> bool:
    """Whether a name is that of a person's number or of another direct identifier, with hardly a doubt."""
    words = words_of(name)
    numbered = len(words) > 1 and words[-1] in _NUMBER and words[-2] in _UNIT
    compound = any(word.endswith(("nummer", "kennung")) and word != "nummer" for word in words)
    alone = words in (["nr"], ["row"], ["lfd", "nr"])
    return bool(_IDENTIFIERS.intersection(words)) or numbered or compound or alone


def may_identify(name: str) -> bool:
    """Whether a name may be that of a person's number: `subject`, `person`, `case`, `caseid`, `provnum`."""
    words = words_of(name)
    alone = len(words) == 1 and words[0] in _ALONE
    return alone or any(_GLUED.fullmatch(word) for word in words)


def is_number(name: str) -> bool:
    """Whether a name says no more than that it is a number of something: `number`, `no`, `index`."""
    words = words_of(name)
    return len(words) == 1 and words[0] in _NUMBER


def is_name(name: str) -> bool:
    """Whether a name is that of names: `name`, `last name`, `nom`."""
    words = words_of(name)
    return bool(words) and (words[-1] in _NAMES or words[-1].endswith("name"))


def is_weight(name: str) -> bool:
    """Whether a name is that of sampling weights, or of what a body weighs."""
    return bool(_WEIGHTS.intersection(words_of(name)))


def is_body_weight(name: str) -> bool:
    """Whether a name says that a body was weighed."""
    return is_weight(name) and bool(_BODY.intersection(words_of(name)))


def is_comment(name: str) -> bool:
    """Whether a name is that of free text."""
    return bool(_COMMENTS.intersection(words_of(name)))


def is_confidential(name: str) -> bool:
    """Whether a name is that of something people don't tell: illness, money, belief, marks."""
    words = words_of(name)
    inside = any(stem in word for word in words for stem in _CONFIDENTIAL if len(stem) >= 6)  # `Hauptdiagnose`
    return inside or _begins(words, _CONFIDENTIAL)


def is_money(name: str) -> bool:
    """Whether a name is that of amounts of money."""
    return _begins(words_of(name), _MONEY)


def is_classified(name: str) -> bool:
    """Whether a name is that of a classification that many use: postal codes, ISCO, NACE, FIPS."""
    return bool((_POSTAL | _CLASSIFICATIONS).intersection(words_of(name)))


def is_code(name: str) -> bool:
    """Whether a name says that its numbers are codes, of whatever: `region_code`, `fcode`."""
    words = words_of(name)
    return bool(_CODES.intersection(words)) or any(word.endswith("code") for word in words)


def is_category(name: str) -> bool:
    """Whether a name is that of categories: sex, region, status, occupation."""
    return _begins(words_of(name), _CATEGORIES)


def is_place_or_trade(name: str) -> bool:
    """Whether a name is that of categories of which there are often many: counties, countries, occupations."""
    return _begins(words_of(name), _PLACES_AND_TRADES)


def is_education(name: str) -> bool:
    """Whether a name is that of education: years, or levels."""
    return _begins(words_of(name), _EDUCATION)


def is_measure(name: str) -> bool:
    """Whether a name is that of a count, a time or a size: age, children, n_visits, yrs_service."""
    words = words_of(name)
    counted = len(words) > 1 and words[0] in _COUNTED and words[1].isalpha() and words[1] not in _NUMBER
    glued = any(word.startswith(("num", "anz")) and len(word) > 4 for word in words[:1])
    size = words[-1:] == ["size"] and bool(_PERSON.intersection(words))  # of other things, sizes are often classes
    return _begins(words, _MEASURES) or counted or glued or size


def is_age(name: str) -> bool:
    """Whether a name is that of ages."""
    return bool({"age", "alter", "edad", "eta", "leeftijd"}.intersection(words_of(name)))


def is_year(name: str) -> bool:
    """Whether a name is that of calendar years."""
    return bool({"year", "years", "yr", "jahr", "annee", "jaar", "anno", "ano"}.intersection(words_of(name)))

"""Excel files made by hand, cell by cell, so that every oddity can be in one."""

from __future__ import annotations

import zipfile
from datetime import date, datetime, time
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"


class Wrong(NamedTuple):
    """A cell that shows an error."""

    sign: str = "#N/A"


class Formula(NamedTuple):
    """A formula, and its value, if somebody calculated it."""

    text: str
    value: object = None


def letters(column):
    out = ""
    while column:
        column, rest = divmod(column - 1, 26)
        out = chr(65 + rest) + out
    return out


def cell(place, value, shared):
    if value is None:
        return ""
    if isinstance(value, Formula):
        inner = "" if value.value is None else f"<v>{escape(str(value.value))}</v>"
        kind = ' t="str"' if isinstance(value.value, str) else ""
        return f'<c r="{place}"{kind}><f>{escape(value.text)}</f>{inner}</c>'
    if isinstance(value, Wrong):
        return f'<c r="{place}" t="e"><v>{value.sign}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        number = shared.setdefault(value, len(shared))
        return f'<c r="{place}" t="s"><v>{number}</v></c>'
    style = {datetime: 2, date: 1, time: 3}.get(type(value), 0)
    if isinstance(value, datetime):
        value = (value - datetime(1899, 12, 30)).total_seconds() / 86400
    elif isinstance(value, date):
        value = (value - date(1899, 12, 30)).days
    elif isinstance(value, time):
        value = (value.hour * 3600 + value.minute * 60 + value.second) / 86400
    return f'<c r="{place}" s="{style}"><v>{value!r}</v></c>'


def sheet_xml(rows, shared, merged=(), start=(1, 1), before="", after=""):
    lines = []
    for i, row in enumerate(rows, start[0]):
        cells = "".join(cell(f"{letters(j)}{i}", value, shared) for j, value in enumerate(row, start[1]))
        lines.append(f'<row r="{i}">{cells}</row>')
    merges = "".join(f'<mergeCell ref="{ref}"/>' for ref in merged)
    merges = f"<mergeCells>{merges}</mergeCells>" if merges else ""
    return (
        f'{_HEAD}{before}<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}{after}</sheetData>{merges}</worksheet>'
    )


def save_xlsx(path, rows, name="Daten", others=(), hidden=(), **more):
    """An Excel file of one sheet; `others` are more of them, as (name, rows)."""
    shared = {}
    sheets = [(name, sheet_xml(rows, shared, **more)), *((n, sheet_xml(r, shared)) for n, r in others)]
    texts = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in shared)
    ids = range(1, len(sheets) + 1)
    listed = "".join(
        f'<sheet name={quoteattr(n)} sheetId="{i}" state="{"hidden" if n in hidden else "visible"}" r:id="rId{i}"/>'
        for i, (n, _) in zip(ids, sheets, strict=True)
    )
    related = "".join(
        f'<Relationship Id="rId{i}" Type="{_DOCUMENT}/worksheet" Target="worksheets/sheet{i}.xml"/>' for i in ids
    )
    related += f'<Relationship Id="rIdS" Type="{_DOCUMENT}/styles" Target="styles.xml"/>'
    related += f'<Relationship Id="rIdT" Type="{_DOCUMENT}/sharedStrings" Target="sharedStrings.xml"/>'
    formats = "".join(f'<xf numFmtId="{n}" applyNumberFormat="1"/>' for n in (0, 14, 22, 21))
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{i}.xml" ContentType="{_TYPES}.worksheet+xml"/>' for i in ids
    )
    parts = {
        "[Content_Types].xml": f'{_HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}"><Relationship Id="rId1" '
        f'Type="{_DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>{listed}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'{_HEAD}<Relationships xmlns="{_PACKAGE}">{related}</Relationships>',
        "xl/styles.xml": f'{_HEAD}<styleSheet xmlns="{_MAIN}"><cellXfs count="4">{formats}</cellXfs></styleSheet>',
        "xl/sharedStrings.xml": f'{_HEAD}<sst xmlns="{_MAIN}">{texts}</sst>',
    }
    parts |= {f"xl/worksheets/sheet{i}.xml": text for i, (_, text) in zip(ids, sheets, strict=True)}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in parts.items():
            archive.writestr(part, text)
    return path

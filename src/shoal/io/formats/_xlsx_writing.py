"""Writing spreadsheets.

The parts of the file are made here, from the cells alone: no author, no time, no list of strings
that could be longer than the table. XlsxWriter takes a call per cell: for 200,000 rows × 7 columns
it needs 11 to 14 s instead of 2, and again for the check of the bytes. It reads text such as
<r>x</r> as XML, and writes 16 digits of a number, of which some floats need 17.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import pyarrow as pa
import pyarrow.compute as pc

from shoal.base.errors import BadFile
from shoal.io.formats._numbers import as_floats
from shoal.io.formats._xlsx_checks import column_letters
from shoal.io.formats._xlsx_reading import FIRST, LAST
from shoal.io.text_writing import as_text

MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_576, 16_384, 32_767
BATCH = 1 << 15  # rows that are written at once
# Characters that XML cannot contain; the escapes that Excel has for them are read by few programs.
CONTROL = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\ufffe\uffff]"
ESCAPE = "_(x[0-9A-Fa-f]{4}_)"  # is read as a character, unless its first _ is written as one
DAY = 86_400_000  # milliseconds
MARCH = -25_508 * DAY  # 1900-03-01: Excel believes that there was a day before it, February 29
START = -25_569 * DAY  # 1899-12-30
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def write_sheet(table: pa.Table, path: Path, sheet: str) -> None:
    """Write a workbook of one sheet to exactly this path."""
    _check_sizes(table, path)
    _check_name(sheet)
    columns = [_Cells.of(table[name], name) for name in table.column_names]
    _check_rows(table, path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as out:
        for name, content in _parts(sheet).items():
            out.writestr(_entry(name), content)
        with out.open(_entry("xl/worksheets/sheet1.xml"), "w") as part:
            for piece in _sheet(table.column_names, columns):
                part.write(piece)


def _entry(name: str) -> zipfile.ZipInfo:
    """A part of the file, with a fixed time."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 0  # not the system that it was written on
    return entry


# What a sheet cannot contain


def _check_sizes(table: pa.Table, path: Path) -> None:
    if table.num_rows >= MOST_ROWS or table.num_columns > MOST_COLUMNS:
        raise BadFile(
            f"cannot write {path}: a sheet has at most {MOST_ROWS - 1:,} rows below the names and "
            f"{MOST_COLUMNS:,} columns, and the table has {table.num_rows:,} and "
            f"{table.num_columns:,}; write .csv or .parquet"
        )


def _check_name(sheet: str) -> None:
    if not 0 < len(sheet) <= 31 or re.search(r"[][:*?/\\]|^'|'$", sheet) or _has_control(sheet):
        raise BadFile(
            f"no sheet of an .xlsx file can be named {sheet!r}: a name has up to 31 characters, "
            "and none of [ ] : * ? / \\; change [read] sheet, or write another format"
        )


def _check_text(values: Any, name: str) -> None:
    """Raise an error if a column has text that a cell cannot contain."""
    longest = pc.max(pc.utf8_length(values)).as_py() or 0
    if longest > MOST_CHARACTERS:
        raise BadFile(
            f"column {name!r} has text of {longest:,} characters, and a cell of a spreadsheet has "
            f"at most {MOST_CHARACTERS:,}; write .csv or .parquet, or drop the column"
        )
    if pc.any(pc.match_substring_regex(values, CONTROL)).as_py():
        raise BadFile(
            f"column {name!r} has text with control characters, which a spreadsheet cannot store; "
            "remove them, or write .csv or .parquet"
        )


def _has_control(text: str) -> bool:
    return re.search(CONTROL, text) is not None


def _check_rows(table: pa.Table, path: Path) -> None:
    """Raise an error if a row has no cell: nobody could tell that it is there."""
    filled = None
    for column in table.columns:
        valid = column.is_valid()
        filled = valid if filled is None else pc.or_(filled, valid)
    if filled is not None and pc.all(filled).as_py() is False:
        raise BadFile(
            f"cannot write {path}: there is a row without any value, which a spreadsheet cannot "
            "show; write .csv or .parquet, or publish more columns"
        )


# Cells


class _Cells(NamedTuple):
    """A column as the insides of cells."""

    before: str  # what follows the address of a cell
    inside: pa.ChunkedArray  # text; missing where there is no cell
    after: str

    @staticmethod
    def of(values: Any, name: str) -> _Cells:
        """Choose how a column is stored; what a spreadsheet would round or misread is text."""
        if _has_control(name) or len(name) > MOST_CHARACTERS:
            raise BadFile(f"column {name!r}: a spreadsheet cannot store this name; rename it")
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if pa.types.is_boolean(values.type):
            return _Cells(' t="b"><v>', values.cast(pa.int8()).cast(pa.large_string()), "</v></c>")
        if (numbers := as_floats(values)) is not None:
            return _Cells("><v>", numbers.cast(pa.large_string()), "</v></c>")
        if (serial := _serial(values)) is not None:
            style = 1 if pc.all(pc.equal(pc.floor(serial), serial)).as_py() else 2
            return _Cells(f' s="{style}"><v>', serial.cast(pa.large_string()), "</v></c>")
        text = as_text(values, name)
        if isinstance(text, pa.Array):
            text = pa.chunked_array([text])
        _check_text(text, name)
        inside = ' t="inlineStr"><is><t xml:space="preserve">'
        return _Cells(inside, _escaped(text), "</t></is></c>")


def _serial(values: Any) -> Any:
    """Moments as days since 1900, as Excel counts; None if they cannot be stored so."""
    kind = values.type
    if not pa.types.is_date(kind) and not (pa.types.is_timestamp(kind) and kind.tz is None):
        return None
    try:
        moments = values.cast(pa.timestamp("ms")).cast(pa.int64())
    except pa.ArrowInvalid:  # finer than a millisecond, or far away
        return None
    ends = pc.min_max(moments)
    if len(values) > values.null_count and not (
        ends["min"].as_py() >= FIRST and ends["max"].as_py() <= LAST
    ):
        return None
    since = pc.if_else(pc.less(moments, MARCH), START + DAY, START)
    return pc.divide(pc.subtract(moments, since).cast(pa.float64()), float(DAY))


def _escaped(text: Any) -> Any:
    """Text as XML."""
    if pc.any(pc.match_substring_regex(text, f"[&<>\r]|{ESCAPE}")).as_py():
        text = pc.replace_substring_regex(text, ESCAPE, r"_x005F_\1")
        for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "_x000D_")):
            text = pc.replace_substring(text, mark, entity)
    return text


# Parts of the file


def _sheet(names: list[str], columns: list[_Cells]) -> Iterator[bytes]:
    yield f'{XML}<worksheet xmlns="{MAIN}"><sheetData>'.encode()
    header = [pa.chunked_array([[name]], pa.large_string()) for name in names]
    texts = [_Cells.of(name, "") for name in header]
    yield _rows(texts, 0, 0, 1)
    height = len(columns[0].inside)
    for start in range(0, height, BATCH):
        yield _rows(columns, start, 1, min(BATCH, height - start))
    yield b"</sheetData></worksheet>"


def _rows(columns: list[_Cells], start: int, above: int, count: int) -> Any:
    """The XML of some rows; `above` is the number of rows above the first one of the table."""
    numbers = pa.array(range(start + above + 1, start + above + count + 1)).cast(pa.large_string())
    nothing = _word("")
    parts: list[Any] = [_word('<row r="'), numbers, _word('">')]
    for number, (before, inside, after) in enumerate(columns):
        cells = inside.slice(start, count).combine_chunks()
        opened = _word(f'<c r="{column_letters(number)}')
        whole = pc.binary_join_element_wise(
            opened, numbers, _word(f'"{before}'), cells, _word(after), nothing
        )
        parts.append(whole.fill_null(""))
    rows = pc.binary_join_element_wise(*parts, _word("</row>"), nothing)
    joined = pc.binary_join(pa.LargeListArray.from_arrays([0, len(rows)], rows), nothing)
    return joined[0].as_buffer()


def _word(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def _parts(sheet: str) -> dict[str, str]:
    """The other parts: what the file consists of, the name of the sheet, and two date formats."""
    link = f'{XML}<Relationships xmlns="{PACKAGE}/relationships">'
    kinds = "".join(
        f'<Override PartName="/xl/{name}.xml" ContentType="{TYPE}.{kind}+xml"/>'
        for name, kind in (
            ("workbook", "sheet.main"),
            ("worksheets/sheet1", "worksheet"),
            ("styles", "styles"),
        )
    )
    formats = '<xf numFmtId="{}" fontId="0" fillId="0" borderId="0" xfId="0"{}/>'
    applied = ' applyNumberFormat="1"'
    styles = formats.format(0, "") + formats.format(164, applied) + formats.format(165, applied)
    return {
        "[Content_Types].xml": f'{XML}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{kinds}</Types>',
        "_rels/.rels": f'{link}<Relationship Id="rId1" Type="{OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{XML}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        f'<sheet name={quoteattr(sheet)} sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{link}<Relationship Id="rId1" Type="{OFFICE}/worksheet" '
        f'Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="{OFFICE}/styles" '
        'Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'{XML}<styleSheet xmlns="{MAIN}"><numFmts count="2">'
        '<numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
        '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>'
        '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill>'
        '<fill><patternFill patternType="gray125"/></fill></fills>'
        '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>'
        f'</cellStyleXfs><cellXfs count="3">{styles}</cellXfs>'
        '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
        "</styleSheet>",
    }

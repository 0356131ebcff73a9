"""UCI Diabetes 130-US hospitals: stays of patients with diabetes, 1999 to 2008 (Strack 2014)."""

from __future__ import annotations

import io
import lzma
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pyarrow as pa

from shoal.base.errors import BadFile
from shoal.datasets import _find
from shoal.datasets._find import File

# The names are those of UCI, so that a plan fits the file as well as the table.
COLUMNS = tuple(
    """
    encounter_id patient_nbr race gender age weight admission_type_id discharge_disposition_id
    admission_source_id time_in_hospital payer_code medical_specialty num_lab_procedures
    num_procedures num_medications number_outpatient number_emergency number_inpatient diag_1 diag_2
    diag_3 number_diagnoses max_glu_serum A1Cresult metformin repaglinide nateglinide chlorpropamide
    glimepiride acetohexamide glipizide glyburide tolbutamide pioglitazone rosiglitazone acarbose
    miglitol troglitazone tolazamide examide citoglipton insulin glyburide-metformin
    glipizide-metformin glimepiride-pioglitazone metformin-rosiglitazone metformin-pioglitazone
    change diabetesMed readmitted
    """.split()
)
NUMBERS = frozenset(
    """
    encounter_id patient_nbr time_in_hospital num_lab_procedures num_procedures num_medications
    number_outpatient number_emergency number_inpatient number_diagnoses
    """.split()
)
NAME = "diabetic_data.csv"
PACKED = "dataset_diabetes.zip"  # at UCI the table is inside this file
DIABETES = File(
    folder="diabetes130",
    names=(NAME, f"{NAME}.xz", PACKED),
    columns=COLUMNS,
    numbers=NUMBERS,
    rows=101_766,
    sha256="da21942c25a10a51a8842907ab01a8530b06232616b17d317441d592a20c4359",
    copies=(),  # no known package contains it
)


def diabetes(path: str | Path | None = None) -> pa.Table:
    """Load UCI Diabetes 130-US hospitals: 101,766 stays of 71,518 patients (`patient_nbr`).

    Reads `path`: the file, which may be compressed, or a folder that contains it. Without a path,
    the table is loaded from the cache or from UCI. Codes of admission and discharge and ICD-9 codes
    stay text.
    """
    if path is None:
        return _parse(_fetch(), _url())
    found = _find.given(DIABETES, Path(path))
    return _parse(_unpack(_find.unpack(found), str(found)), str(found))


def _url() -> str:
    return f"{_find.UCI}/00296/{PACKED}"


def _fetch() -> bytes:
    """Read the table from the cache, or download it into the cache."""
    kept = _find.cache() / DIABETES.folder / NAME
    if kept.is_file():
        with suppress(BadFile):
            content = _find.unpack(kept)
            if _find.sha256(content) == DIABETES.sha256:
                return content
    content = _download()
    with suppress(OSError):  # the cache is not writable: the table was read anyway
        _find.keep(content, kept)
    return content


def _download() -> bytes:
    """Download the compressed table, and verify its checksum."""
    from http.client import HTTPException  # slow to import, and rarely needed
    from urllib.error import HTTPError
    from urllib.request import urlopen

    url = _url()
    hint = f"give the path of a copy of {NAME} or {PACKED}, or of the folder that contains it"
    try:
        with urlopen(url, timeout=_find.TIMEOUT) as response:
            content = _unpack(response.read(), url)
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise BadFile(f"cannot download {url}: {error}; {hint}") from error
    except BadFile as error:
        raise BadFile(f"{error}; {hint}") from None
    if (found := _find.sha256(content)) != DIABETES.sha256:
        raise BadFile(
            f"the file from {url} is not {NAME}: its SHA-256 is {found}, "
            f"expected {DIABETES.sha256}; {hint}"
        )
    return content


def _unpack(content: bytes, source: str) -> bytes:
    """The table from a ZIP or XZ file; anything else is the table itself."""
    try:
        if content.startswith(b"\xfd7zXZ"):
            return lzma.decompress(content)
        if not content.startswith(b"PK"):
            return content
        with ZipFile(io.BytesIO(content)) as packed:
            inside = [name for name in packed.namelist() if Path(name).name == NAME]
            if not inside:
                raise BadFile(f"{source!r} does not contain {NAME}")
            return packed.read(inside[0])
    except (lzma.LZMAError, EOFError, BadZipFile) as error:
        raise BadFile(f"cannot read {source!r}: {error}") from error


def _parse(content: bytes, source: str) -> pa.Table:
    """Read the table; its header has capital letters, so it is checked here."""
    header, _, rows = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    is_header = header.split(b",")[0].strip(b' "\r') == COLUMNS[0].encode()
    return _find.parse(DIABETES, rows if is_header else content, source)


def hierarchies() -> dict[str, object]:
    """Build the trees of seven quasi-identifiers, as nested mappings from `*` to the leaves.

    The groups are our own. What the codes mean is in IDs_mapping.csv, which UCI has next to
    the table.

    >>> hierarchies()["gender"]
    {'*': {'Female': None, 'Male': None, 'Unknown/Invalid': None}}
    """
    return {
        name: {"*": dict.fromkeys(groups.split()) if isinstance(groups, str) else _tree(groups)}
        for name, groups in GROUPS.items()
    }


def _tree(groups: dict[str, str]) -> dict[str, object]:
    return {label: dict.fromkeys(leaves.split()) for label, leaves in groups.items()}


GROUPS: dict[str, str | dict[str, str]] = {
    "race": "AfricanAmerican Asian Caucasian Hispanic Other",
    "gender": "Female Male Unknown/Invalid",
    "age": {
        "[0-20)": "[0-10) [10-20)",
        "[20-40)": "[20-30) [30-40)",
        "[40-60)": "[40-50) [50-60)",
        "[60-80)": "[60-70) [70-80)",
        "[80-100)": "[80-90) [90-100)",
    },
    "admission_type_id": {
        "not planned": "1 2 7",
        "planned or birth": "3 4",
        "not told": "5 6 8",
    },
    "discharge_disposition_id": {
        "home": "1 6 8",
        "another hospital": "2 5 9 10 22 23 27 28 29 30",
        "nursing": "3 4 15 24",
        "outpatient": "12 16 17",
        "died or hospice": "11 13 14 19 20 21",
        "left": "7",
        "not told": "18 25 26",
    },
    "payer_code": {
        "public": "CH MC MD OG SI WC",
        "private": "BC CM CP DM HM PO UN",
        "self": "SP",
        "other payer": "FR MP OT",
    },
    "medical_specialty": {
        "internal medicine": "Cardiology Endocrinology Endocrinology-Metabolism Gastroenterology "
        "Hematology Hematology/Oncology Hospitalist InfectiousDiseases InternalMedicine Nephrology "
        "Oncology Pulmonology Rheumatology AllergyandImmunology",
        "general and emergency": "Emergency/Trauma Family/GeneralPractice Osteopath "
        "OutreachServices Resident DCPTEAM PhysicianNotFound",
        "surgery": "Anesthesiology Ophthalmology Orthopedics Orthopedics-Reconstructive "
        "Otolaryngology Podiatry Proctology Surgeon Surgery-Cardiovascular "
        "Surgery-Cardiovascular/Thoracic Surgery-Colon&Rectal Surgery-General "
        "Surgery-Maxillofacial Surgery-Neuro Surgery-Plastic Surgery-PlasticwithinHeadandNeck "
        "Surgery-Thoracic Surgery-Vascular SurgicalSpecialty Urology Dentistry",
        "women and birth": "Gynecology Obsterics&Gynecology-GynecologicOnco Obstetrics "
        "ObstetricsandGynecology Perinatology",
        "children": "Anesthesiology-Pediatric Cardiology-Pediatric Pediatrics "
        "Pediatrics-AllergyandImmunology Pediatrics-CriticalCare Pediatrics-EmergencyMedicine "
        "Pediatrics-Endocrinology Pediatrics-Hematology-Oncology Pediatrics-InfectiousDiseases "
        "Pediatrics-Neurology Pediatrics-Pulmonology Surgery-Pediatric",
        "mind and nerves": "Neurology Neurophysiology Psychiatry Psychiatry-Addictive "
        "Psychiatry-Child/Adolescent Psychology Speech",
        "other specialty": "Dermatology Pathology PhysicalMedicineandRehabilitation Radiologist "
        "Radiology SportsMedicine",
    },
}

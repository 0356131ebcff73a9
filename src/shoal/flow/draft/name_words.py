"""Words in the names and labels of columns. They suggest a role where the values do not decide."""

from __future__ import annotations

import re

DIRECT = frozenset(
    "name names firstname lastname surname forename fullname vorname nachname nom prenom email "
    "mail phone telephone telefon mobile fax ssn nhs passport iban account card licence license "
    "plate address street strasse url website ip mac fingerprint photo signature".split()
)
PERSONS = frozenset(
    "patient person subject participant member client customer pupil student employee user "
    "pseudonym pid nbr id key".split()
)
HOUSEHOLDS = frozenset(
    "household households hh hhid hhnr idhh serialno dwelling haushalt haushaltsnummer menage "
    "hogar".split()
)
SENSITIVE = frozenset(
    # health
    "diagnosis diagnoses diagnose diag disease diseases illness condition icd icd9 icd10 disorder "
    "symptom symptoms drug medication medications medicine medical med treatment therapy "
    "procedure procedures surgery operation health hiv aids result outcome apgar apgar5 "
    "readmitted readmission relapse survival death died mortality cause complication disability "
    "mental psychiatric depression addiction pregnancy pregnant contraception contraceptive "
    "abortion gestation serum glucose cholesterol bmi insulin cancer tumor tumour biopsy genetic "
    "vaccination infection "
    # money
    "salary income wage wages pay earnings debt debts credit loan mortgage capital dividend "
    "dividends tax taxes benefit benefits pension poverty wealth assets finance gift gifts "
    "donation donations bonus expenses einkommen gehalt lohn "
    # belief, conduct, achievement
    "religion religious belief politics political party affiliation union orientation sexuality "
    "vote voted crime offence offense verdict conviction arrest sentence score scores exam "
    "gpa".split()
)
# In German, words are written together: Bruttoverdienst, Krankheitstage. But not Vertrag.
_SENSITIVE_PART = re.compile(
    r"einkommen|verdienst|gehalt|vermoe?gen|schulden|(?<![bv])ertrae?g|krankheit|diagnos|befund|"
    r"medikament|konfession|religion|straftat"
)
# Names that say that a column is the result, but not of what.
OUTCOMES = frozenset("class label target outcome result response score churn default".split())
# What only the holder of the data counts: visits, doses, tests.
HOLDER = frozenset(
    "lab laboratory labs outpatient inpatient emergency visit visits prenatal dose dosage doses "
    "procedure procedures medication medications diagnosis diagnoses prescription prescriptions "
    "transaction transactions login logins click clicks".split()
)
COUNTING = frozenset("num number count nr no total anzahl n".split())
CODES = frozenset("zip zipcode postcode postal plz postleitzahl geocode tract lsoa".split())
COMMUNITIES = frozenset("ags gemeinde gemeinden gkz gemeindekennzahl".split())
COMMUNITY_STEMS = ("gemeindeschl", "gemeindekenn", "gemeindenummer", "wohngemeinde")
BIRTH = frozenset("birth born birthday birthdate dob geburtsdatum naissance".split())
AGES = frozenset("age ages alter mager agemother agefather edad".split())
# Numbers under such names stand for categories: half of an admission type means nothing.
CATEGORIES = frozenset(
    "id code type kind category class status source group race ethnicity sex gender marital marry "
    "disposition industry occupation county district region state flag recode".split()
)
CATEGORY_STEMS = ("race", "hisp", "ethni", "marit", "occup")  # in short names: RACEX, HISPCAT
WEIGHTS = frozenset(
    "fnlwgt wgt pweight pwgt pwgtp sampweight hhweight wtfa perwt hhwt pond ponderation "
    "ponderacion".split()
)
WEIGHT_STEMS = ("hochrechnung", "gewichtung")
# Of a record or of a body.
ANY_WEIGHTS = frozenset("weight weights wt gewicht poids peso".split())
BODY = frozenset("birth body kg lb lbs mother baby dry gross net".split())
# Together with "weight": that of a record in a survey, not of a body.
SURVEY = frozenset("instance survey sampling sample design final person record grossing".split())
_PERSON_PART = re.compile(
    r"(patient|person|versichert|kunde|mitglied|mitarbeiter|proband|teilnehmer|schuele?r|schuler)"
    r"[a-z]*"
)
NUMBERING = frozenset("nr no num number nummer id kennung key".split())
# Of records: each has the next number.
RECORDS = NUMBERING | frozenset("lfd row record index case fall obs seq".split())
# Ends of drug names (stems of international nonproprietary names, WHO).
_DRUG = re.compile(
    r"[a-z]{2,}(formin|glinide|gliptin|glipton|glitazone|gli[a-z]*ide|statin|sartan|olol|azole|"
    r"cillin|mycin|prazole|dipine|tidine|zepam|mab|tinib|vir|caine|oxacin|triptan|parin|setron|"
    r"bose|glitol|amide|azide|semide|azosin|oxetine|ipramine|zolam)"
    r"|gl[iy]b?[a-z]+ide|glipizide|glyburide|warfarin|aspirin|ibuprofen|morphine|lithium"
)


def is_sensitive(words: set[str]) -> bool:
    """Whether a name is that of something worth protecting.

    >>> is_sensitive({"income"}), is_sensitive({"bruttoverdienst"}), is_sensitive({"vertrag"})
    (True, True, False)
    """
    return bool(words & SENSITIVE) or any(map(_SENSITIVE_PART.search, words))


def is_person_number(words: set[str]) -> bool:
    """Whether a name is that of a number of people, if the values are numbers of many.

    >>> is_person_number({"patientennummer"}), is_person_number({"personen", "nr"})
    (True, True)
    >>> is_person_number({"dupersid"}), is_person_number({"personen"})
    (True, False)
    """
    if words & PERSONS or any(word.endswith("id") and len(word) > 4 for word in words):
        return True
    people = [word for word in words if _PERSON_PART.fullmatch(word)]
    return any(word.endswith(("nummer", "nr", "kennung")) for word in people) or (
        bool(people) and bool(words & NUMBERING)
    )


def is_drug(words: set[str]) -> bool:
    """Whether a name is made of names of drugs.

    >>> is_drug({"metformin", "glipizide"}), is_drug({"sex"}), is_drug({"age"})
    (True, False, False)
    """
    long = [word for word in words if len(word) > 3]
    return bool(long) and all(_DRUG.fullmatch(word) for word in long)


def is_survey_weight(words: set[str]) -> bool:
    """Whether a name is that of a survey weight; a weight alone may be that of a body.

    >>> is_survey_weight({"instance", "weight"}), is_survey_weight({"weight"})
    (True, False)
    """
    if words & WEIGHTS or any(word.startswith(WEIGHT_STEMS) for word in words):
        return True
    return bool(words & ANY_WEIGHTS) and bool(words & SURVEY)


def may_be_survey_weight(words: set[str]) -> bool:
    """Whether a name is that of a weight, of which only the values can say what it weighs.

    >>> may_be_survey_weight({"weight"}), may_be_survey_weight({"birth", "weight"})
    (True, False)
    """
    return bool(words & ANY_WEIGHTS) and not words & BODY


def is_household(words: set[str]) -> bool:
    """Whether a name is that of a household number, if the values are numbers of many."""
    return bool(words & HOUSEHOLDS) or "duid" in words or {"family", "id"} <= words

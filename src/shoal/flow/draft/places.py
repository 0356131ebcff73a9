"""Countries and states, and the larger regions that they belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shoal.flow.draft.facts import plain_words
from shoal.hierarchies.values import text

# The regions of the US Census Bureau.
_STATES = {
    "Northeast": "ct connecticut|me maine|ma massachusetts|nh new hampshire|ri rhode island|"
    "vt vermont|nj new jersey|ny new york|pa pennsylvania",
    "Midwest": "il illinois|in indiana|mi michigan|oh ohio|wi wisconsin|ia iowa|ks kansas|"
    "mn minnesota|mo missouri|ne nebraska|nd north dakota|sd south dakota",
    "South": "de delaware|fl florida|ga georgia|md maryland|nc north carolina|sc south carolina|"
    "va virginia|dc district of columbia|wv west virginia|al alabama|ky kentucky|ms mississippi|"
    "tn tennessee|ar arkansas|la louisiana|ok oklahoma|tx texas",
    "West": "az arizona|co colorado|id idaho|mt montana|nv nevada|nm new mexico|ut utah|"
    "wy wyoming|ak alaska|ca california|hi hawaii|or oregon|wa washington",
}
_COUNTRIES = {
    "Africa": "algeria|angola|benin|botswana|burkina faso|burundi|cameroon|cape verde|chad|congo|"
    "djibouti|egypt|eritrea|ethiopia|gabon|gambia|ghana|guinea|ivory coast|kenya|lesotho|liberia|"
    "libya|madagascar|malawi|mali|mauritania|mauritius|morocco|mozambique|namibia|niger|nigeria|"
    "rwanda|senegal|sierra leone|somalia|south africa|sudan|tanzania|togo|tunisia|uganda|zambia|"
    "zimbabwe",
    "Americas": "argentina|bahamas|barbados|belize|bolivia|brazil|canada|chile|colombia|"
    "costa rica|cuba|dominican republic|ecuador|el salvador|guatemala|guyana|haiti|honduras|"
    "jamaica|mexico|nicaragua|panama|paraguay|peru|puerto rico|suriname|trinidad|"
    "trinidad and tobago|united states|united states of america|usa|uruguay|"
    "venezuela",
    "Asia": "afghanistan|armenia|azerbaijan|bahrain|bangladesh|bhutan|brunei|cambodia|china|"
    "hong kong|india|indonesia|iran|iraq|israel|japan|jordan|kazakhstan|korea|kuwait|"
    "kyrgyzstan|laos|lebanon|malaysia|mongolia|myanmar|nepal|north korea|oman|pakistan|palestine|"
    "philippines|qatar|saudi arabia|singapore|south korea|sri lanka|syria|taiwan|tajikistan|"
    "thailand|turkey|türkiye|turkmenistan|united arab emirates|uzbekistan|vietnam|yemen",
    "Europe": "albania|austria|belarus|belgium|bosnia|bosnia and herzegovina|bulgaria|croatia|"
    "cyprus|czech republic|czechia|denmark|england|estonia|finland|france|georgia|germany|greece|"
    "hungary|iceland|ireland|italy|kosovo|latvia|liechtenstein|lithuania|"
    "luxembourg|malta|moldova|monaco|montenegro|netherlands|north macedonia|northern ireland|"
    "norway|poland|portugal|romania|russia|scotland|serbia|slovakia|slovenia|spain|sweden|"
    "switzerland|ukraine|united kingdom|wales|yugoslavia",
    "Oceania": "australia|fiji|new zealand|papua new guinea|samoa|tonga",
}
STATES = {
    name: region
    for region, states in _STATES.items()
    for state in states.split("|")
    for name in (state.partition(" ")[0], state.partition(" ")[2])
}
COUNTRIES = {
    name: continent for continent, names in _COUNTRIES.items() for name in names.split("|")
}
STATE_NAMES, COUNTRY_NAMES = frozenset(STATES), frozenset(COUNTRIES)


def by_region(values: Iterable[Any], regions: dict[str, str]) -> dict[str, Any]:
    """A tree of these values under their regions; those without one are children of the root.

    >>> by_region(["CA", "NY", "WA", "?"], STATES)
    {'*': {'West': ['CA', 'WA'], 'Northeast': ['NY'], '?': None}}
    """
    tree: dict[str, Any] = {}
    labels = [text(value) for value in values]
    taken = set(labels)
    for label in labels:
        region = regions.get(plain_words(label))
        if region is None:
            tree[label] = None
        else:
            # A value may be called like a region: South is both in some tables.
            named = region if region not in taken else f"{region} (region)"
            tree.setdefault(named, []).append(label)
    return {"*": tree}

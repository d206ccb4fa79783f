"""Words and signs that stand beside a number: scales, percent, currencies and common units, by one name each."""

from fractions import Fraction

SCALES: dict[str, Fraction] = {
    word: Fraction(size)
    for size, names in {
        12: "dozen",
        100: "hundred hundreds",
        1_000: "thousand thousands tsd",
        100_000: "lakh lakhs",
        1_000_000: "million millions mn mln mio millionen",
        10_000_000: "crore crores",
        1_000_000_000: "billion billions bn bln mrd milliarde milliarden",
        1_000_000_000_000: "trillion trillions tn trn",
    }.items()
    for word in names.split()
} | {
    f"{word}{ending}": Fraction(1, size)
    for word, size in {
        "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
        "hundredth": 100, "thousandth": 1_000, "millionth": 1_000_000,
    }.items()
    for ending in ("", "s")
}  # fmt: skip
"""Lower-case word to what it multiplies by. `quarter` counts only after a number word: `3 quarters` is time."""

LETTER_SCALES = {
    "k": 1_000,
    "K": 1_000,
    "M": 1_000_000,
    "B": 1_000_000_000,
    "bn": 1_000_000_000,
    "T": 1_000_000_000_000,
}
"""Only where they touch the digits: `5K` is 5000, `5 K` a temperature."""

CURRENCY_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "¢": "cent"}
_CODES = "USD EUR GBP JPY INR CHF CNY CAD AUD KRW RUB SEK NOK DKK PLN CZK BRL MXN ZAR SGD HKD"
CURRENCY_CODES = frozenset(_CODES.split())

_ALIASES = {
    "USD": "dollar dollars us$",
    "EUR": "euro euros",
    "GBP": "pound-sterling sterling quid",
    "JPY": "yen",
    "INR": "rupee rupees rs",
    "CNY": "yuan rmb renminbi",
    "cent": "cent cents",
    "m": "meter meters metre metres",
    "km": "kilometer kilometers kilometre kilometres",
    "cm": "centimeter centimeters centimetre centimetres",
    "mm": "millimeter millimeters millimetre millimetres",
    "mi": "mile miles",
    "ft": "foot feet",
    "inch": "inch inches",
    "yd": "yard yards",
    "kg": "kilogram kilograms kilo kilos kgs",
    "g": "gram grams",
    "mg": "milligram milligrams",
    "t": "tonne tonnes ton tons",
    "lb": "pound pounds lbs",
    "oz": "ounce ounces",
    "l": "liter liters litre litres",
    "ml": "milliliter milliliters millilitre millilitres",
    "s": "second seconds sec secs",
    "ms": "millisecond milliseconds",
    "min": "minute minutes mins",
    "h": "hour hours hr hrs",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years yr yrs",
    "°C": "celsius ℃",
    "°F": "fahrenheit ℉",
    "K": "kelvin",
    "V": "volt volts",
    "A": "ampere amperes amp amps",
    "W": "watt watts",
    "kW": "kilowatt kilowatts",
    "MW": "megawatt megawatts",
    "Hz": "hertz",
    "Pa": "pascal pascals",
    "J": "joule joules",
    "N": "newton newtons",
    "Ω": "ohm ohms",
    "pp": "percentage-points",
    "bp": "bps basis-points",
}
_SYMBOLS = (
    "m km cm mm µm nm mi ft yd kg g mg µg t lb oz l L ml mL s ms min h V mV kV A mA W mW kW MW GW kWh MWh Wh Hz kHz "
    "MHz GHz Pa kPa MPa bar psi J kJ N kN Ω kΩ °C °F K m² m³ km² cm² m/s km/h mph rpm dB mol kB MB GB TB pp bp"
)

UNITS: dict[str, str] = {symbol: symbol for symbol in _SYMBOLS.split()} | {code: code for code in CURRENCY_CODES}
"""As written (case counts) to the unit's one name."""
UNIT_WORDS: dict[str, str] = {word: unit for unit, names in _ALIASES.items() for word in names.split()}
"""In lower case to the unit's one name."""


def unit_name(text: str) -> str | None:
    """The one name of a unit or currency as written, or None for a word that is none.

    >>> unit_name("kilograms"), unit_name("$"), unit_name("apples")
    ('kg', 'USD', None)
    """
    text = text.strip().rstrip(".")
    return CURRENCY_SIGNS.get(text) or UNITS.get(text) or UNIT_WORDS.get(text.lower().replace(" ", "-"))

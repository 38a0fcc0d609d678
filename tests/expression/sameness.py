"""When two plain values are the same: by type, and doubles to twelve digits."""

import math
from decimal import Decimal


def same(wanted, found):
    match wanted, found:
        case float(), float():
            both_unknown = math.isnan(wanted) and math.isnan(found)
            return both_unknown or math.isclose(wanted, found, rel_tol=1e-12)
        case Decimal(), Decimal():
            return str(wanted) == str(found)
        case list(), list():
            return len(wanted) == len(found) and all(map(same, wanted, found))
        case dict(), dict():
            return wanted.keys() == found.keys() and all(
                same(wanted[name], found[name]) for name in wanted
            )
        case _:
            return type(wanted) is type(found) and wanted == found

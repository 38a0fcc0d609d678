"""ECL, the language of HPCC, as far as its joins need it: text becomes a program."""

from dovetail.dialects.ecl.catalog import NO_MODULES, Catalog, Modules
from dovetail.dialects.ecl.program import translate

__all__ = ["NO_MODULES", "Catalog", "Modules", "translate"]

"""ECL, the language of HPCC, as far as its joins need it: text becomes a program."""

from dovetail.front.ecl.catalog import Catalog
from dovetail.front.ecl.modules import NO_MODULES, Modules
from dovetail.front.ecl.translating import translate

__all__ = ["NO_MODULES", "Catalog", "Modules", "translate"]

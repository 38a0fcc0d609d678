"""Numbers, their bits and curves."""

from tests.expression.forms.form import NUMBERS, form, numeric, remaining

FORMS = {
    "/": (
        form("double", "({0} / {1})", "whole", "whole"),
        form("exact", "({0} / {1})", "exact", "exact"),
        form("double", "({0} / {1})", "double", "exact"),
    ),
    "div": (
        form("whole", "({0} div {1})", "whole", "whole"),
        form("whole", "({0} div {1})", "exact", "whole"),
    ),
    "%": remaining("({0} % {1})"),
    "mod": remaining("mod({0}, {1})"),
    "pmod": (
        form("whole", "pmod({0}, {1})", "whole", "whole"),
        form("exact", "pmod({0}, {1})", "exact", "exact"),
    ),
    "negative": tuple(form(kind, "(- {0})", kind) for kind in NUMBERS),
    "positive": tuple(form(kind, "positive({0})", kind) for kind in NUMBERS),
    "abs": tuple(form(kind, "abs({0})", kind) for kind in NUMBERS),
    "sign": (
        form("double", "sign({0})", "whole"),
        form("double", "sign({0})", "double"),
    ),
    "signum": (form("double", "signum({0})", "exact"),),
    "floor": (
        form("whole", "floor({0})", "double"),
        form("exact", "floor({0})", "exact"),
    ),
    "ceil": (form("whole", "ceil({0})", "double"), form("exact", "ceil({0})", "exact")),
    "ceiling": (form("whole", "ceiling({0})", "whole"),),
    "round": (
        form("double", "round({0}, 1)", "real"),
        form("exact", "round({0}, 1)", "exact"),
        form("whole", "round({0}, -1)", "whole"),
    ),
    "format_string": (
        # In the 16th digit of numbers beyond 2 ** 53 Java differs from itself.
        form("text", "format_string('%.3e', {0})", "double"),
        form("text", "format_string('%.9e', {0})", "real"),
    ),
    "decimal of digits": (
        form(
            "digits", "dovetail_decimal('*', 7, CAST({0} AS STRING), '1.05')", "exact"
        ),
        form("digits", "dovetail_decimal('exp', 16, CAST({0} AS STRING))", "few"),
        form("digits", "dovetail_decimal('/', 34, '1', CAST({0} AS STRING))", "whole"),
    ),
    "bround": (
        form("double", "bround({0})", "real"),
        form("exact", "bround({0}, 1)", "exact"),
    ),
    **{
        # Spark joins sums of sums, and is null where an inner one wraps: columns only
        f"try_{name}": (
            form("whole", f"try_{name}({{0}}, {{1}})", "number", "number"),
            form("exact", f"try_{name}({{0}}, {{1}})", "limit", "number"),
            form("double", f"try_{name}({{0}}, {{1}})", "real", "limit"),
        )
        for name in ("add", "subtract", "multiply")
    },
    "try_divide": (form("exact", "try_divide({0}, {1})", "exact", "exact"),),
    "try_mod": remaining("try_mod({0}, {1})"),
    "pow": (form("double", "pow({0}, {1})", "real", "few"),),
    "power": (form("double", "power({0}, 0.5D)", "real"),),
    "sqrt": (form("double", "sqrt({0})", "double"),),
    "exp": (form("double", "exp({0})", "few"),),
    "ln": (form("double", "ln({0})", "whole"),),
    "+ of numbers": numeric("({0} + {1})"),
    "- of numbers": numeric("({0} - {1})"),
    "* of numbers": numeric("({0} * {1})"),
    "&": (form("whole", "({0} & {1})", "whole", "whole"),),
    "|": (form("whole", "({0} | {1})", "whole", "number"),),
    "^": (form("whole", "({0} ^ {1})", "whole", "whole"),),
    "~": (form("whole", "(~ {0})", "whole"),),
    "shiftleft": (form("whole", "shiftleft({0}, {1})", "whole", "few"),),
    "shiftright": (form("whole", "shiftright({0}, {1})", "whole", "whole"),),
    "shiftrightunsigned": (
        form("whole", "shiftrightunsigned({0}, {1})", "whole", "few"),
    ),
    "<<": (form("whole", "({0} << {1})", "whole", "few"),),
    # Spark cannot read `>>` behind the word `array`, so only columns go in.
    ">>": (form("shifted", "({0} >> {1})", "number", "few"),),
    "bit_count": (
        form("whole", "bit_count({0})", "whole"),
        form("whole", "bit_count({0})", "truth"),
    ),
    "sin": (form("double", "sin({0})", "real"),),
    "cos": (form("double", "cos({0})", "few"),),
    "tan": (form("double", "tan({0})", "few"),),
    "asin": (form("double", "asin({0})", "double"),),
    "acos": (form("double", "acos({0})", "double"),),
    "atan": (form("double", "atan({0})", "double"),),
    "sinh": (form("double", "sinh({0})", "few"),),
    "cosh": (form("double", "cosh({0})", "few"),),
    "tanh": (form("double", "tanh({0})", "double"),),
    "degrees": (form("double", "degrees({0})", "double"),),
    "radians": (form("double", "radians({0})", "whole"),),
    "cbrt": (form("double", "cbrt({0})", "double"),),
    "expm1": (form("double", "expm1({0})", "few"),),
    "rint": (form("double", "rint({0})", "double"),),
    "log10": (form("double", "log10({0})", "double"),),
    "log2": (form("double", "log2({0})", "whole"),),
    "log1p": (form("double", "log1p({0})", "double"),),
    "log": (
        form("double", "log({0})", "double"),
        form("double", "log({0}, {1})", "real", "double"),
    ),
    "log of base": (form("double", "log(2, {0})", "whole"),),
    "atan2": (form("double", "atan2({0}, {1})", "real", "few"),),
    "hypot": (form("double", "hypot({0}, {1})", "real", "few"),),
    "pi": (form("double", "pi()"),),
    "e": (form("double", "e()"),),
}

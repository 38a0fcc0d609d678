"""Arrays, maps and structs."""

from tests.expression.forms.form import form

FORMS = {
    "array": (form("list", "array({0}, {1})", "few", "few"),),
    "[]": (form("whole", "{0}[1]", "list"), form("whole", "{0}['a']", "scores")),
    "element_at": (form("whole", "element_at({0}, -1)", "list"),),
    "size": (form("whole", "size({0})", "list"), form("whole", "size({0})", "scores")),
    "cardinality": (form("whole", "cardinality({0})", "words"),),
    "field": (form("whole", "{0}.x", "entry"), form("text", "{0}.Y", "entry")),
    "named_struct": (
        form("entry", "named_struct('x', CAST({0} AS INT), 'y', {1})", "whole", "text"),
    ),
    "array_contains": (
        form("truth", "array_contains({0}, {1})", "list", "few"),
        form("truth", "array_contains(array({0}, {1}), {2})", "list", "list", "list"),
    ),
    "array_min": (form("whole", "array_min({0})", "list"),),
    "array_max": (form("whole", "array_max({0})", "list"),),
    "map_keys": (form("whole", "size(map_keys({0}))", "scores"),),
    "map_values": (form("whole", "size(map_values({0}))", "scores"),),
    "transform": (
        form("list", "transform({0}, x -> x + {1})", "list", "few"),
        form("list", "transform({0}, (x, i) -> x * i)", "list"),
        form(
            "whole",
            "size(transform({0}, x -> filter({1}, y -> y > x))[0])",
            "list",
            "list",
        ),
    ),
    "filter": (form("list", "filter({0}, x -> x > {1})", "list", "few"),),
    "exists": (form("truth", "exists({0}, x -> x > {1})", "list", "few"),),
    "forall": (
        form("truth", "forall({0}, x -> x > {1})", "list", "few"),
        form("truth", "forall({0}, x -> exists({1}, y -> y > x))", "list", "list"),
    ),
    "aggregate": (
        form("whole", "aggregate({0}, 0, (p, x) -> p + coalesce(x, 1))", "list"),
        form("double", "aggregate({0}, 1.0D, (p, x) -> p * x, p -> p / 2)", "list"),
    ),
    "reduce": (form("text", "reduce({0}, '', (p, x) -> concat(p, x))", "words"),),
    "slice": (
        form("list", "slice({0}, 2, 2)", "list"),
        form("list", "slice({0}, -2, 1)", "list"),
    ),
    "array_position": (form("whole", "array_position({0}, {1})", "list", "few"),),
    "array_remove": (form("list", "array_remove({0}, {1})", "list", "few"),),
    "array_append": (form("list", "array_append({0}, {1})", "list", "few"),),
    "array_prepend": (form("list", "array_prepend({0}, {1})", "list", "few"),),
    "array_compact": (form("list", "array_compact({0})", "list"),),
    "array_distinct": (
        form("list", "array_distinct({0})", "list"),
        form("words", "array_distinct({0})", "words"),
    ),
    "array_union": (form("list", "array_union({0}, {1})", "list", "list"),),
    "array_intersect": (form("list", "array_intersect({0}, {1})", "list", "list"),),
    "array_except": (form("list", "array_except({0}, {1})", "list", "list"),),
    "arrays_overlap": (
        form("truth", "arrays_overlap({0}, {1})", "list", "list"),
        form("truth", "arrays_overlap({0}, {1})", "words", "words"),
    ),
    "array_join": (
        form("text", "array_join({0}, ',')", "words"),
        form("text", "array_join({0}, {1}, '?')", "list", "text"),
    ),
    "sort_array": (
        form("list", "sort_array({0})", "list"),
        form("list", "sort_array({0}, false)", "list"),
    ),
    "array_sort": (form("list", "array_sort({0})", "list"),),
    "flatten": (form("list", "flatten(array({0}, {1}))", "list", "list"),),
    "array_repeat": (
        form("list", "array_repeat(CAST({0} AS INT), {1})", "whole", "slight"),
    ),
    "sequence": (form("list", "sequence(CAST({0} AS INT), 3)", "slight"),),
    "array_size": (form("whole", "array_size({0})", "list"),),
    "get": (form("whole", "get({0}, {1})", "list", "few"),),
    "try_element_at": (form("whole", "try_element_at({0}, 2)", "list"),),
    "map_from_arrays": (
        form("scores", "map_from_arrays(array('a', 'b'), array({0}, 2))", "few"),
    ),
    "map": (form("scores", "map('a', CAST({0} AS INT), 'b', 2)", "whole"),),
    "map_contains_key": (
        form("truth", "map_contains_key({0}, {1})", "scores", "text"),
    ),
    "map_entries": (
        form("whole", "size(map_entries({0}))", "scores"),
        form("whole", "map_entries({0})[0].value", "scores"),
    ),
}

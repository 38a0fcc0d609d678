"""Names of functions: whether one is any, and which one it may have been meant to be.

conat(a.x, 'b')     no function: CONCAT is near
crc32(a.x)          one of Spark, which is not read here yet
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from sqlglot import parser
from sqlglot.dialects.spark import Spark

from dovetail.dialects.lenses import functions, totals
from dovetail.expression.functions import TABLE

_READ = frozenset({*(name.upper() for name in TABLE), *functions.NAMES, *totals.NAMES})
_OF_SPARK = frozenset(
    """
    aes_decrypt aes_encrypt any approx_percentile array_binary_search assert_true
    bin bitmap_and_agg bloom_filter_agg bucket collect_top_k conv count_min_sketch
    current_path days every format_number hash histogram_numeric hmac hours
    inline_outer is_valid_utf8 is_valid_variant is_variant_null
    jaro_winkler_similarity java_method json_array_length json_tuple listagg
    luhn_check map_concat map_filter map_zip_with mean measure
    monotonically_increasing_id months percentile percentile_approx printf product
    quote raise_error reflect sentences session_window some spark_partition_id std
    string_agg timestamp_nanos transform_keys transform_values unix_nanos url_decode
    url_encode user validate_utf8 version window window_time xxhash64 years zip_with
    """.upper().split()
)
"""What Spark has besides, and sqlglot does not know by name."""
_FAMILIES = re.compile(
    "(HLL|KLL|THETA|TUPLE|ST|VECTOR|VARIANT|XPATH|SCHEMA_OF|INPUT_FILE|MAKE|FROM|TO"
    r"|TRY|TIME|BITMAP)_\w+|XPATH"
)
"""How names of Spark begin of which there are many."""
_KNOWN = frozenset(
    {*_READ, *_OF_SPARK, *parser.Parser.FUNCTIONS, *Spark.Parser.FUNCTIONS}
)


def is_function(name: str) -> bool:
    """Tells whether Lenses or Spark may have a function of a name."""
    return name.upper() in _KNOWN or _FAMILIES.fullmatch(name.upper()) is not None


def nearest(name: str) -> str:
    """Returns which function that is read here may be meant, as a hint, or nothing."""
    near = get_close_matches(name.upper(), sorted(_READ), 1, 0.7)
    return f'did you mean "{near[0]}"?' if near else ""

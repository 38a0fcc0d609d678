"""Texts, patterns in them, and sums of them."""

from tests.expression.forms.form import form

FORMS = {
    "concat": (
        form("text", "concat({0}, {1})", "text", "whole"),
        form("list", "concat({0}, {1})", "list", "list"),
        form("bytes", "concat({0}, {1})", "bytes", "bytes"),
    ),
    "||": (form("text", "({0} || {1})", "text", "text"),),
    "concat_ws": (
        form("text", "concat_ws({0}, {1}, 'x')", "text", "text"),
        form("text", "concat_ws('-', {0})", "words"),
    ),
    "upper": (form("text", "upper({0})", "text"),),
    "ucase": (form("text", "ucase({0})", "text"),),
    "lower": (form("text", "lower({0})", "text"),),
    "lcase": (form("text", "lcase({0})", "text"),),
    "trim": (
        form("text", "trim({0})", "text"),
        form("text", "trim(BOTH 'a' FROM {0})", "text"),
    ),
    "ltrim": (
        form("text", "ltrim({0})", "text"),
        form("text", "ltrim('xa', {0})", "text"),
    ),
    "rtrim": (
        form("text", "rtrim({0})", "text"),
        form("text", "trim(TRAILING 'x' FROM {0})", "text"),
    ),
    "length": (
        form("whole", "length({0})", "text"),
        form("whole", "length({0})", "bytes"),
    ),
    "char_length": (form("whole", "char_length({0})", "text"),),
    "substring": (
        form("text", "substring({0}, {1}, {2})", "text", "few", "few"),
        form("text", "substring({0}, -2)", "text"),
        form("text", "substring({0}, 2, 1)", "text"),
        form("bytes", "substring({0}, 2)", "bytes"),
    ),
    "substr": (
        form("text", "substr({0}, 0, 2)", "text"),
        form("text", "substr({0}, -2, 1)", "text"),
    ),
    "left": (
        form("text", "left({0}, {1})", "text", "few"),
        form("text", "left({0}, 2)", "text"),
    ),
    "right": (
        form("text", "right({0}, {1})", "text", "few"),
        form("text", "right({0}, 2)", "text"),
    ),
    "lpad": (
        form("text", "lpad({0}, 4, '*')", "text"),
        form("text", "lpad({0}, {1}, 'xy')", "text", "few"),
    ),
    "rpad": (
        form("text", "rpad({0}, 4)", "text"),
        form("text", "rpad({0}, 5, {1})", "text", "text"),
    ),
    "replace": (
        form("text", "replace({0}, 'a', 'bb')", "text"),
        form("text", "replace({0}, {1}, {2})", "text", "text", "text"),
    ),
    "instr": (form("whole", "instr({0}, {1})", "text", "text"),),
    "startswith": (form("truth", "startswith({0}, {1})", "text", "text"),),
    "endswith": (form("truth", "endswith({0}, {1})", "text", "text"),),
    "contains": (form("truth", "contains({0}, {1})", "text", "text"),),
    "like": (
        form("truth", "({0} LIKE {1})", "text", "pattern"),
        form("truth", "({0} NOT LIKE '%!_' ESCAPE '!')", "text"),
    ),
    "reverse": (
        form("text", "reverse({0})", "text"),
        form("list", "reverse({0})", "list"),
    ),
    "repeat": (form("text", "repeat({0}, {1})", "letter", "slight"),),
    "make_valid_utf8": (form("text", "make_valid_utf8({0})", "text"),),
    "initcap": (form("text", "initcap({0})", "text"),),
    "translate": (
        form("text", "translate({0}, 'abA', 'xy')", "text"),
        form("text", "translate({0}, {1}, 'z')", "text", "text"),
    ),
    "locate": (
        form("whole", "locate({0}, {1})", "text", "text"),
        form("whole", "locate({0}, {1}, {2})", "text", "text", "few"),
    ),
    "locate from": (form("whole", "locate('a', {0}, 2)", "text"),),
    "position": (
        form("whole", "position({0} IN {1})", "text", "text"),
        form("whole", "position({0}, {1}, {2})", "text", "text", "few"),
    ),
    "split_part": (
        form("text", "split_part({0}, {1}, 1)", "text", "text"),
        form("text", "split_part({0}, '-', -2)", "text"),
    ),
    "substring_index": (
        form("text", "substring_index({0}, {1}, {2})", "text", "text", "few"),
        form("text", "substring_index({0}, '-', -1)", "text"),
    ),
    "ascii": (form("whole", "ascii({0})", "text"),),
    "chr": (
        form("text", "chr({0})", "few"),
        form("text", "chr({0} % 100 + 160)", "few"),
    ),
    "char": (form("text", "char(65 + {0} % 7)", "few"),),
    "octet_length": (
        form("whole", "octet_length({0})", "text"),
        form("whole", "octet_length({0})", "bytes"),
    ),
    "character_length": (form("whole", "character_length({0})", "text"),),
    "len": (form("whole", "len({0})", "text"),),
    "btrim": (
        form("text", "btrim({0})", "text"),
        form("text", "btrim({0}, 'a ')", "text"),
    ),
    "levenshtein": (form("whole", "levenshtein({0}, {1})", "text", "text"),),
    "find_in_set": (
        form("whole", "find_in_set({0}, 'a,12,')", "text"),
        form("whole", "find_in_set({0}, {1})", "text", "text"),
    ),
    "overlay": (
        form("text", "overlay({0}, {1}, {2})", "text", "text", "few"),
        form("text", "overlay({0}, 'xy', 2, {1})", "text", "few"),
    ),
    "bit_length": (form("whole", "bit_length({0})", "text"),),
    "space": (form("text", "space({0})", "slight"),),
    "regexp_substr": (form("text", "regexp_substr({0}, '[a-c]+')", "text"),),
    "regexp_instr": (form("whole", r"regexp_instr({0}, r'\d')", "text"),),
    "rlike": (
        form("truth", "({0} RLIKE r'^[a-z]+$')", "text"),
        form("truth", r"({0} RLIKE r'\d+(\.\d)?')", "text"),
        form("truth", "({0} NOT RLIKE 'a|b.')", "text"),
    ),
    "regexp": (form("truth", "regexp({0}, '[^0-9 ]{{2,}}')", "text"),),
    "regexp_like": (form("truth", r"regexp_like({0}, r'^\s*$')", "text"),),
    "regexp_extract": (
        form("text", r"regexp_extract({0}, r'(\d)(\d)?')", "text"),
        form("text", "regexp_extract({0}, '([a-z])(.*)', 2)", "text"),
    ),
    "regexp group": (form("text", r"regexp_extract({0}, r'\w+', 0)", "text"),),
    "regexp_replace": (
        form("text", "regexp_replace({0}, '[a-c]+', '<>')", "text"),
        form("text", "regexp_replace({0}, 'x+|a.', '-')", "text"),
        form("text", "regexp_replace({0}, '([a-c])|( )', '<$2$1$0>')", "text"),
    ),
    "regexp_count": (form("whole", r"regexp_count({0}, r'\D')", "text"),),
    "split": (
        form("words", "split({0}, '[-. ]')", "text"),
        form("words", "split({0}, ',')", "text"),
    ),
    "hex": (
        form("text", "hex({0})", "whole"),
        form("text", "hex({0})", "text"),
        form("text", "hex({0})", "bytes"),
    ),
    "unhex": (
        form("bytes", "unhex({0})", "text"),
        form("bytes", "unhex(hex({0}))", "whole"),
    ),
    "base64": (form("text", "base64({0})", "bytes"),),
    "md5": (form("text", "md5({0})", "text"),),
    "sha": (form("text", "sha({0})", "text"),),
    "sha1": (form("text", "sha1({0})", "bytes"),),
    "sha2": (
        form("text", "sha2({0}, 256)", "text"),
        form("text", "sha2({0}, {1})", "text", "few"),
    ),
    "crc32": (form("whole", "crc32({0})", "text"),),
}

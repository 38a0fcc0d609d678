"""The look of a picture: one style sheet inside it, for light pages and for dark ones.

Where a reader's wish for dark is not known the light colours stay, on a ground of their
own. No meaning is in a colour alone: rows without a partner are dashed, open ones
dotted, late ones crossed, and each says why in words.
"""

from __future__ import annotations

LIGHT = {
    "ground": "#ffffff",
    "ink": "#1f2328",
    "pale": "#59636e",
    "grid": "#e6e9ed",
    "left": "#cfe2fb",
    "left-edge": "#2463aa",
    "right": "#fde2c2",
    "right-edge": "#a3560d",
    "late": "#b3261e",
    "link": "#59636e",
    "bound": "#7a3fc4",
}
DARK = {
    "ground": "#0f141a",
    "ink": "#e8edf2",
    "pale": "#a3adb8",
    "grid": "#28303a",
    "left": "#173f6b",
    "left-edge": "#78b6ff",
    "right": "#5c3911",
    "right-edge": "#f2b069",
    "late": "#ff9088",
    "link": "#a3adb8",
    "bound": "#c6a0ff",
}
MONOSPACE = (
    "ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', Consolas, monospace"
)
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif"
SHAPE = f"""
.dovetail text {{ font: 12px {SANS}; }}
.dovetail .label {{ font: 11px {MONOSPACE}; }}
.dovetail .reason {{ font-style: italic; }}
.dovetail .name {{ font-size: 16px; font-weight: 600; }}
.dovetail .lane {{ font-weight: 600; }}
.dovetail .bar, .dovetail .dot {{ stroke-width: 1.4; }}
.dovetail .unmatched .bar, .dovetail .unmatched .dot {{ stroke-dasharray: 5 3; }}
.dovetail .open .bar, .dovetail .open .dot {{ stroke-dasharray: 1.5 3; }}
.dovetail .hollow .bar, .dovetail .hollow .dot {{ stroke-dasharray: 5 3; }}
.dovetail .link {{ fill: none; stroke-width: 1.3; }}
.dovetail .silent {{ stroke-dasharray: 4 3; }}
.dovetail .bound {{ stroke-width: 1.6; stroke-dasharray: 7 3 1.5 3; }}
.dovetail .cross {{ stroke-width: 2; }}
"""


def style_sheet() -> str:
    """Returns the whole style sheet."""
    dark = "".join(f"  {rule}\n" for rule in _colours(DARK))
    light = "\n".join(_colours(LIGHT))
    return f"{SHAPE}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _colours(hue: dict[str, str]) -> list[str]:
    """Returns the rules that colour a picture."""
    rules = {
        "text": f"fill: {hue['ink']}",
        ".quiet": f"fill: {hue['pale']}",
        ".reason": f"fill: {hue['pale']}",
        ".ground": f"fill: {hue['ground']}",
        ".grid": f"stroke: {hue['grid']}",
        ".axis": f"stroke: {hue['pale']}",
        ".link": f"stroke: {hue['link']}",
        ".end": f"fill: {hue['link']}",
        ".sample": f"fill: none; stroke: {hue['pale']}",
        ".filled": f"fill: {hue['pale']}",
        ".bound": f"stroke: {hue['bound']}",
        ".promise": f"fill: {hue['bound']}",
        ".cross": f"stroke: {hue['late']}",
        ".late .reason": f"fill: {hue['late']}",
    }
    for side in ("left", "right"):
        edge = hue[f"{side}-edge"]
        rules[f".{side} .bar, .dovetail .{side} .dot"] = (
            f"fill: {hue['ground']}; stroke: {edge}"
        )
        rules[f".{side}.matched .bar, .dovetail .{side}.matched .dot"] = (
            f"fill: {hue[side]}"
        )
        rules[f".{side} .notch"] = f"fill: {edge}"
        rules[f".lane.{side}"] = f"fill: {edge}"
    rules[".row .hollow .bar, .dovetail .row .hollow .dot"] = f"fill: {hue['ground']}"
    return [f".dovetail {where} {{ {what}; }}" for where, what in rules.items()]

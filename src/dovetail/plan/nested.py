"""A join of joins taken apart: each side is an input, also where it is another join.

    (a join b) join c       a join b  ->  rows of a join, as an input
                            rows of a join  join c

Beside its columns such a row has its row time, in a column that does not come out.
Nothing says when rows of a join end but the join itself, so they have no lateness.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from dovetail import schema, spec
from dovetail.plan.combinations import judges_pairs
from dovetail.plan.features import Combination

TIME = "__dovetail_time"
"""The column of a join's row with its row time, beside its own."""
CAUSE = "__dovetail_hidden_place"
"""The column by which such a row stands in the order of arrival: that of its cause."""
NO_DATA_SETS: Mapping[str, spec.Nested] = {}
NOTHING_KNOWN: Mapping[spec.Hand, spec.Input] = {}


def inner_joins(join: spec.JoinSpec) -> Mapping[spec.Hand, spec.Nested]:
    """Returns the joins whose rows are sides of another one."""
    sources = {hand: join.side(hand).source for hand in spec.HANDS}
    return {
        hand: source
        for hand, source in sources.items()
        if isinstance(source, spec.Nested)
    }


def rows_of_join(
    source: spec.Nested,
    inputs: spec.Inputs,
    hand: spec.Hand,
    more: Iterable[schema.Column] = (),
) -> spec.Input:
    """Returns the rows of a join on a hand as an input of a name that no other has.

    `more` are columns that stand behind their row time.
    """
    # A user may have called an input so; no two are of one name.
    name = f"the {hand.value} side"
    while name in inputs:
        name = f"{name}'"
    told = spec.input_of(source, inputs, name)
    time = [schema.Column(TIME, schema.AtomicType.TIMESTAMP)] if told.is_timed else []
    columns = (*told.schema.columns, *time, *more)
    return replace(
        told, schema=schema.Schema(columns), time=TIME if told.is_timed else ""
    )


def unnested(
    join: spec.JoinSpec,
    inputs: spec.Inputs,
    known: Mapping[spec.Hand, spec.Input] = NOTHING_KNOWN,
) -> tuple[spec.JoinSpec, spec.Inputs]:
    """Returns a join around others as one of inputs alone, and these with the rest.

    `known` are rows of joins of which more is known. Where there are joins inside, the
    output columns are written out, so that they are none of ours.
    """
    rows = {
        hand: known.get(hand) or rows_of_join(source, inputs, hand)
        for hand, source in inner_joins(join).items()
    }
    inputs = spec.with_intervals(join, inputs)
    if not rows:
        return join, inputs
    columns = spec.selected_columns(join, spec.side_schemas(join, inputs))
    flat = join.with_sides(
        lambda hand, side: _side_of(side, rows[hand]) if hand in rows else side
    )
    flat = replace(flat, select=spec.Columns(columns))
    every = {**inputs, **{source.name: source for source in rows.values()}}
    return flat, spec.with_intervals(flat, every)


def _side_of(side: spec.Side, rows: spec.Input) -> spec.Side:
    """Returns a side of a join inside as one of its rows, as an input.

    Those of a data set hand no ends on: they never die.
    """
    is_endless = side.window.is_inherited and rows.kind is spec.InputKind.DATASET
    window = spec.Forever() if is_endless else side.window
    return replace(side, source=spec.Named(rows.name), window=window)


DataSets = Mapping[str, spec.Nested]
"""Joins on the clock batch inside others, by the names of their rows as data sets."""


def with_data_sets(
    join: spec.JoinSpec, inputs: spec.Inputs, known: DataSets = NO_DATA_SETS
) -> tuple[spec.JoinSpec, spec.Inputs, DataSets]:
    """Returns a join in which batches inside stand as data sets, and those batches.

    Such a batch is one of data sets and tables, so it can be joined before the start;
    rows of streams are not there by then.
    """
    for hand in spec.HANDS:
        side = join.side(hand)
        source = side.source
        if not isinstance(source, spec.Nested):
            continue
        kinds = {inputs[name].kind for name in spec.source_names(source.join)}
        name = source.name
        waits = spec.InputKind.STREAM in kinds
        if spec.is_batch_inside(join, side, inputs) and not waits:
            while name in inputs:
                name = f"the {name}"
            rows = spec.data_set_of(source, inputs, name)
            inputs, known = {**inputs, name: rows}, {**known, name: source}
            side = _side_of(side, rows)
        else:
            inner, inputs, known = with_data_sets(source.join, inputs, known)
            side = replace(side, source=replace(source, join=inner))
        is_left = hand is spec.Hand.LEFT
        join = replace(join, left=side) if is_left else replace(join, right=side)
    return join, inputs, known


def inner_settings(join: spec.JoinSpec, settings: spec.Settings) -> spec.Settings:
    """Returns the switches of the joins inside another one.

    Early null rows and orders are asked of the whole. In row time no row waits inside,
    and the null row of a late row would be late again.
    """
    if join.clock is not spec.Clock.ARRIVAL:
        return spec.Settings()
    return spec.Settings(
        late_table_rows=settings.late_table_rows,
        late_null_rows=settings.late_null_rows,
    )


def missing_inside(
    join: spec.JoinSpec,
    source: spec.Nested,
    inputs: spec.Inputs,
    settings: spec.Settings,
) -> Mapping[Combination, bool]:
    """Returns what no engine does yet of a join whose rows go to another one.

    In which order rows leave is the affair of the join around. Each join of a row in
    the order of arrival waits for the rows of its own table, if for ever: a wait that
    is over has no place among the rows of another side. In row time a row of a join
    waits too that lives at its own time alone, one inside does not.
    """
    usual = spec.Settings()
    switches = replace(settings, order=usual.order, late_null_rows=usual.late_null_rows)
    waits = settings.late_table_rows == spec.EmitLateTableRows()
    sides = (join.side(hand) for hand in spec.HANDS)
    at_its_time = all(it.window == spec.Rows(0) for it in sides if it.source is source)
    inside = spec.waits_for_tables(source.join, inputs)
    if waits and (join.clock is spec.Clock.ARRIVAL or (at_its_time and not inside)):
        switches = replace(switches, late_table_rows=usual.late_table_rows)
    # A changelog takes rows back; a join around it would have to take its own back.
    is_told = spec.kind_of(source, inputs) is spec.InputKind.TABLE
    return {
        Combination.OTHER_CLOCK_INSIDE: source.join.clock is not join.clock,
        Combination.SWITCH_INSIDE: switches != usual,
        Combination.CHANGELOG_INSIDE: is_told and join.clock is not spec.Clock.BATCH,
        Combination.JUDGED_INHERITED: judges_pairs(join)
        and any(
            join.side(hand).window.is_inherited
            and may_be_ended(join.side(hand).source, inputs)
            for hand in spec.HANDS
        ),
    }


def may_be_ended(source: spec.Named | spec.Nested, inputs: spec.Inputs) -> bool:
    """Tells whether other rows may end a life that a row of a join hands on."""
    if not isinstance(source, spec.Nested):
        return False
    sides = [source.join.side(hand) for hand in spec.HANDS]
    # A life in windows of a size ends with its window, whoever comes.
    if any(side.window.hop_length != spec.NO_TIME for side in sides):
        return False
    return any(
        may_be_ended(side.source, inputs)
        if side.window.is_inherited
        else side.window.is_ended_by_rows
        and spec.known_input(side.source, inputs).is_timed
        for side in sides
    )


def under(name: str, join: spec.JoinSpec, inputs: spec.Inputs) -> spec.Inputs:
    """Returns the inputs of a join that goes under a name, which begins theirs."""
    return {
        f"{name}.{one}": replace(inputs[one], name=f"{name}.{one}")
        for one in spec.source_names(join)
    }


def renamed(join: spec.JoinSpec, name: str) -> spec.JoinSpec:
    """Returns a join whose inputs go under a name."""

    def under_it(_: spec.Hand, side: spec.Side) -> spec.Side:
        match side.source:
            case spec.Named(own):
                return replace(side, source=spec.Named(f"{name}.{own}"))
            case spec.Nested(inner) as source:
                return replace(side, source=replace(source, join=renamed(inner, name)))

    return join.with_sides(under_it)

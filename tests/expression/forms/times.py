"""Dates, moments and spans of time."""

from tests.expression.forms.form import form, numeric, of_day

FORMS = {
    "+": (
        *numeric("({0} + {1})"),
        form("day", "({0} + {1})", "day", "few"),
        form("moment", "({0} + {1})", "moment", "span"),
        form("local", "({1} + {0})", "local", "span"),
        form("moment", "({0} + {1})", "moment", "months"),
    ),
    "-": (
        *numeric("({0} - {1})"),
        form("day", "({0} - {1})", "day", "months"),
        form("moment", "({0} - {1})", "moment", "span"),
        form("truth", "({0} - {1} < INTERVAL 1 DAY)", "moment", "moment"),
        form("truth", "({0} - {1} >= INTERVAL 3 DAYS)", "day", "day"),
    ),
    "*": (
        *numeric("({0} * {1})"),
        form("moment", "({0} + {1} * INTERVAL 1 HOUR)", "moment", "few"),
    ),
    "+ of time": (form("moment", "({0} + {1})", "day", "clock"),),
    "+ of days": (form("day", "({0} + INTERVAL 3 DAYS)", "day"),),
    "+ of months": (form("local", "({0} + {1})", "local", "months"),),
    "+ of spans": (form("moment", "({0} + ({1} + {2}))", "moment", "span", "span"),),
    "- of spans": (form("moment", "({0} + ({1} - {2}))", "moment", "span", "span"),),
    "* of spans": (form("moment", "({0} + {1} * {2})", "moment", "span", "few"),),
    "- of moments": (form("moment", "({0} + ({1} - {2}))", "day", "near", "near"),),
    "- of dates": (
        form("moment", "({0} + ({1} - {2}))", "moment", "nearday", "nearday"),
    ),
    **{
        name: of_day(name)
        for name in (
            *("year", "quarter", "month", "day", "dayofmonth", "dayofweek"),
            *("dayofyear", "weekday", "weekofyear"),
        )
    },
    "hour": (form("whole", "hour({0})", "moment"),),
    "minute": (form("whole", "EXTRACT(MINUTE FROM {0})", "moment"),),
    "second": (form("whole", "second({0})", "moment"),),
    "unix_seconds": (form("whole", "unix_seconds({0})", "moment"),),
    "unix_millis": (form("whole", "unix_millis({0})", "moment"),),
    "unix_micros": (form("whole", "unix_micros({0})", "moment"),),
    "timestamp_seconds": (
        form("moment", "timestamp_seconds({0})", "few"),
        form("moment", "timestamp_seconds(2.5D)"),
    ),
    "timestamp_millis": (form("moment", "timestamp_millis({0})", "few"),),
    "timestamp_micros": (form("moment", "timestamp_micros({0})", "few"),),
    "date_trunc": (form("moment", "date_trunc({0}, {1})", "unit", "moment"),),
    "trunc": (form("day", "trunc({0}, {1})", "day", "unit"),),
    "datediff": (form("whole", "datediff({0}, {1})", "day", "moment"),),
    "date_diff": (form("whole", "date_diff({0}, {1})", "day", "day"),),
    "date_add": (form("day", "date_add({0}, {1})", "day", "few"),),
    "dateadd": (form("day", "dateadd({0}, {1})", "day", "few"),),
    "date_sub": (form("day", "date_sub({0}, {1})", "day", "few"),),
    "add_months": (form("day", "add_months({0}, {1})", "day", "few"),),
    "last_day": (form("day", "last_day({0})", "day"),),
    "to_timestamp": (
        form("moment", "to_timestamp({0})", "dated"),
        form("moment", "to_timestamp({0}, 'yyyy-MM-dd')", "dated"),
        form(
            "moment",
            "to_timestamp(date_format({0}, 'yyyyMMddHHmmss'), 'yyyyMMddHHmmss')",
            "moment",
        ),
    ),
    "timestamp": (form("moment", "timestamp({0})", "day"),),
    "to_date": (
        form("day", "to_date({0})", "dated"),
        form("day", "to_date({0}, 'yyyy-M-d')", "dated"),
    ),
    "date": (form("day", "date({0})", "moment"),),
    "date_part": (
        form("whole", "date_part('month', {0})", "moment"),
        form("exact", "date_part('seconds', {0})", "moment"),
        form("whole", "date_part('day', ({0} - {1}))", "moment", "moment"),
    ),
    "datepart": (form("whole", "datepart('yearofweek', {0})", "day"),),
    "extract": (
        form("exact", "EXTRACT(SECOND FROM {0})", "moment"),
        form("whole", "EXTRACT(DOW FROM {0})", "day"),
        form("whole", "EXTRACT(WEEK FROM {0})", "moment"),
    ),
    "second of moment": (form("exact", "EXTRACT(SECOND FROM {0})", "local"),),
    "year of week": (form("whole", "EXTRACT(YEAROFWEEK FROM {0})", "moment"),),
    "dayofweek_iso": (form("whole", "EXTRACT(DOW_ISO FROM {0})", "day"),),
    "day of span": (
        form("whole", "EXTRACT(DAY FROM ({0} - {1}))", "moment", "moment"),
    ),
    "hour of span": (
        form("whole", "EXTRACT(HOUR FROM ({0} - {1}))", "moment", "moment"),
    ),
    "minute of span": (
        form("whole", "EXTRACT(MINUTE FROM ({0} - {1}))", "moment", "moment"),
    ),
    "second of span": (
        form("exact", "EXTRACT(SECOND FROM ({0} - {1}))", "moment", "moment"),
    ),
    "make_date": (
        form("day", "make_date({0}, {1}, {2})", "years", "few", "few"),
        form("day", "make_date({0}, 2, {1})", "years", "days"),
    ),
    "make_timestamp": (
        form(
            "moment",
            "make_timestamp({0}, 2, {1}, 23, {2}, 59.999999)",
            "years",
            "days",
            "few",
        ),
        form("moment", "make_timestamp({0}, 12, 31, {1}, 59, 60)", "years", "few"),
    ),
    "timestampdiff": (
        form("whole", "timestampdiff(MONTH, {0}, {1})", "moment", "moment"),
        form("whole", "timestampdiff(HOUR, {0}, {1})", "moment", "day"),
        form("whole", "datediff(YEAR, {0}, {1})", "day", "moment"),
        form("whole", "timestampdiff(QUARTER, {0}, {1})", "moment", "moment"),
        form("whole", "timestampdiff(WEEK, {0}, {1})", "moment", "moment"),
    ),
    "timestampadd": (
        form("moment", "timestampadd(MONTH, {0}, {1})", "slight", "moment"),
        form("moment", "timestampadd(MINUTE, {0}, {1})", "few", "day"),
        form("local", "dateadd(QUARTER, {0}, {1})", "slight", "local"),
        form("moment", "timestampadd(DAY, {0}, {1})", "few", "moment"),
    ),
    "months_between": (
        form("double", "months_between({0}, {1})", "moment", "day"),
        form("double", "months_between({0}, {1}, false)", "moment", "moment"),
    ),
    "dayname": (form("text", "dayname({0})", "day"),),
    "monthname": (form("text", "monthname({0})", "day"),),
    "make_dt_interval": (
        form("moment", "({0} + make_dt_interval({1}, 2, {2}))", "moment", "few", "few"),
        form("moment", "({0} + make_dt_interval(1, {1}, 0, 2.5))", "moment", "few"),
    ),
    "make_ym_interval": (
        form("moment", "({0} + make_ym_interval({1}, {2}))", "moment", "slight", "few"),
    ),
    "from_utc_timestamp": (
        form("moment", "from_utc_timestamp({0}, 'Europe/Berlin')", "modern"),
        form("moment", "from_utc_timestamp({0}, '+05:30')", "moment"),
    ),
    "to_utc_timestamp": (
        form("moment", "to_utc_timestamp({0}, 'America/New_York')", "modern"),
        form("moment", "to_utc_timestamp({0}, 'UTC')", "moment"),
    ),
    "next_day": (
        form("day", "next_day({0}, 'Mon')", "day"),
        form("day", "next_day({0}, {1})", "day", "text"),
    ),
    "unix_date": (form("whole", "unix_date({0})", "day"),),
    "date_from_unix_date": (form("day", "date_from_unix_date({0})", "few"),),
    "date_format": (
        form("text", "date_format({0}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')", "moment"),
        form("text", "date_format({0}, 'EEEE d MMM yy, h:mm a')", "day"),
        form("text", "date_format({0}, 'D DDD EEE M H m s MMMM')", "moment"),
    ),
    "try_to_timestamp": (
        form("moment", "try_to_timestamp({0}, 'd/M/yyyy H:m:s.SSS')", "dated"),
    ),
    "moment in form": (
        form("moment", "to_timestamp({0}, 'yyyy-MM-dd HH:mm:ss.SSSSSS')", "dated"),
        form(
            "moment",
            "to_timestamp(date_format({0}, 'dd/MMM/yyyy:HH'), 'dd/MMM/yyyy:HH')",
            "moment",
        ),
        form(
            "moment",
            "to_timestamp(lower(date_format({0}, 'MMMM d, yyyy')), 'MMMM d, yyyy')",
            "moment",
        ),
    ),
    "date in form": (
        form("day", "to_date(date_format({0}, 'dd/MM/yyyy'), 'dd/MM/yyyy')", "moment"),
    ),
    "unix_timestamp": (
        form("whole", "unix_timestamp({0})", "moment"),
        form("whole", "unix_timestamp({0}, 'yyyy-MM-dd')", "dated"),
        form("whole", "unix_timestamp({0})", "dated"),
    ),
    "to_unix_timestamp": (form("whole", "to_unix_timestamp({0})", "day"),),
    "from_unixtime": (
        form("text", "from_unixtime({0})", "few"),
        form("text", "from_unixtime({0}, 'dd.MM.yyyy HH')", "few"),
    ),
}

"""How functions are written, by theme: one form at least for each of the table."""

from tests.expression.forms import casts, nested, numbers, texts, times, truths

FORMS = {
    **truths.FORMS,
    **numbers.FORMS,
    **texts.FORMS,
    **times.FORMS,
    **nested.FORMS,
    **casts.FORMS,
}

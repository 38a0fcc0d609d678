"""What a query has done, as text that other programs read."""

from dovetail.api.progress import Progress


def test_prometheus_reads_counters_and_gauges():
    counted = {"came": 4, "matched": 3, "unmatched": 2, "late": 1}
    first = Progress().after(0, {**counted, "alive": 9, "waiting": 5})
    progress = first.after(1, {**counted, "alive": 7, "waiting": None})
    assert progress.prometheus('of "Zoë"').splitlines() == [
        "# TYPE dovetail_batch gauge",
        'dovetail_batch{query="of \\"Zoë\\""} 1',
        "# TYPE dovetail_came_total counter",
        'dovetail_came_total{query="of \\"Zoë\\""} 8',
        "# TYPE dovetail_matched_total counter",
        'dovetail_matched_total{query="of \\"Zoë\\""} 6',
        "# TYPE dovetail_unmatched_total counter",
        'dovetail_unmatched_total{query="of \\"Zoë\\""} 4',
        "# TYPE dovetail_late_total counter",
        'dovetail_late_total{query="of \\"Zoë\\""} 2',
        "# TYPE dovetail_alive gauge",
        'dovetail_alive{query="of \\"Zoë\\""} 7',
        "# TYPE dovetail_waiting gauge",
        'dovetail_waiting{query="of \\"Zoë\\""} 5',
    ]

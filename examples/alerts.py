"""The whole stack in one script: `python examples/alerts.py`."""

import headrace

with headrace.local() as h:
    h.produce("telemetry", [{"drone": f"d{n % 3}", "battery": float(n)} for n in range(60)])

    pipeline = headrace.Pipeline("alerts")
    telemetry = pipeline.topic("telemetry", schema="drone STRING, battery DOUBLE")
    telemetry.filter("battery < 20").to_topic("low_battery", key="drone")

    print(pipeline.to_sql())
    h.run_batch(pipeline)
    print(f"{len(h.rows('low_battery'))} alerts")

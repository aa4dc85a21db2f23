"""Writes a DataFrame, whose columns have the types that pandas has for them, as the description on stdin says."""
import json
import sys

import pandas

given = json.load(sys.stdin)
frame = pandas.DataFrame(given["rows"], columns=given["headings"], dtype=object)
for heading, kind in zip(given["headings"], given["kinds"]):
    column = frame[heading]
    if kind == "date":
        frame[heading] = pandas.to_datetime(column)
    elif kind == "timestamp":
        frame[heading] = pandas.to_datetime(column, utc=True)
    elif kind in ("money", "integer"):
        frame[heading] = pandas.to_numeric(column)

to = given["to"]
print("pandas", pandas.__version__)
if to.endswith(".csv"):
    frame.to_csv(to, index=False)
    print("frame.to_csv(name, index=False)")
elif to.endswith(".json"):
    frame.to_json(to, orient="records", date_format="iso")
    print('frame.to_json(name, orient="records", date_format="iso")')
else:
    outer = {heading.split(".")[0] for heading in given["headings"] if "." in heading}
    for name in outer:
        inner = [heading for heading in given["headings"] if heading.startswith(name + ".")]
        frame[name] = [
            {heading.split(".")[1]: value for heading, value in zip(inner, values)}
            for values in frame[inner].itertuples(index=False)
        ]
        frame = frame.drop(columns=inner)
    frame.to_json(to, orient="records", lines=True)
    print('frame.to_json(name, orient="records", lines=True)')

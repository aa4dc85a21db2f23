"""Writes a workbook with typed cells, as the description on stdin says."""
import datetime
import json
import sys

import openpyxl

given = json.load(sys.stdin)
book = openpyxl.Workbook()
sheet = book.active
if "sheet" in given["how"]:
    sheet.title = "Info"
    sheet["A1"] = "Stand"
    sheet["B1"] = datetime.date(2026, 11, 1)
    sheet = book.create_sheet(given["how"]["sheet"])
sheet.append(given["headings"])


def typed(kind, value):
    if value is None or value == "":
        return None
    if kind == "date":
        return datetime.date.fromisoformat(value)
    if kind == "timestamp":
        return datetime.datetime.fromisoformat(value)
    if kind == "money":
        return float(value)
    if kind == "integer":
        return int(value)
    return value


for number, row in enumerate(given["rows"], start=2):
    for column, (kind, value) in enumerate(zip(given["kinds"], row), start=1):
        cell = sheet.cell(number, column, typed(kind, value))
        if kind == "text" and cell.value is not None:
            cell.data_type = "s"  # a text that begins with = is no formula
book.save(given["to"])
print("openpyxl", openpyxl.__version__)
print("workbook.save(name)")

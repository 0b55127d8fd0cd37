# lab_results.py FORMAT FILE RAW - reads a file of results as other programs would, prints what is
# in it, and whether the last test's output is the text of RAW (any bytes) as that format can
# hold it.
import csv
import json
import re
import sys
import xml.etree.ElementTree

format, path, raw = sys.argv[1:]
raw = open(raw, "rb").read().decode("utf-8", errors="replace")
bytes = open(path, "rb").read()


def tell(*values):
    print(*values, sep="|")


if format == "json":
    results = json.loads(bytes.decode("utf-8"))
    tell(*results)
    tell(*results["tests"][0])
    tell(results["score"], results["output"], results["output_format"],
         results["stdout_visibility"])
    for test in results["tests"]:
        tell(test["number"], test["score"], test["max_score"], test["status"],
             test["visibility"], ",".join(test["tags"]), test["name"])
    tell("numbers are", *(type(test["score"]).__name__ for test in results["tests"]))
    tell("output", results["tests"][-1]["output"] == raw)
elif format == "xml":
    root = xml.etree.ElementTree.fromstring(bytes)
    tell(root.tag, root.get("name"), root.get("tests"), root.get("failures"), root.get("errors"))
    text = None
    for suite in root:
        points = {p.get("name"): p.get("value") for p in suite.find("properties")}
        tell(suite.tag, suite.get("name"), suite.get("tests"), suite.get("failures"),
             points["score"], points["points"])
        for case in suite.findall("testcase"):
            points = {p.get("name"): p.get("value") for p in case.find("properties")}
            failure = case.find("failure")
            tell(case.tag, case.get("classname"), case.get("name"), points["score"],
                 points["points"], "passed" if failure is None else "failed")
            text = text if failure is None else failure
    plain = re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]", "\ufffd", raw.replace("\r", ""))
    tell("output", text.text == plain)
else:
    text = bytes.decode("utf-8")
    for row in csv.reader(text.splitlines(keepends=True), strict=True):
        tell(*row)
    tell("ends of lines", set(re.findall("\r?\n", text)) == {"\r\n"})

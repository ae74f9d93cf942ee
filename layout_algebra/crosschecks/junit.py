"""A report as JUnit XML, which most CI systems show.

    junit_text(report)        # <testsuite name="crosscheck cpu" tests="3" failures="1" ...>

A disagreement is a failure; what is not checked is skipped, with its reason.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from layout_algebra.crosschecks.results import Checked, Outcome, Report

#: Characters that XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_text(report: Report) -> str:
    """The XML text of a report."""
    suite = ElementTree.Element(
        "testsuite",
        name=f"crosscheck {report.target}",
        tests=str(len(report.checked)),
        failures=str(len(report.among(Outcome.DISAGREES))),
        errors="0",
        skipped=str(len(report.among(Outcome.NOT_CHECKED))),
        time=f"{report.seconds:.3f}",
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, version in report.tools.items():
        ElementTree.SubElement(properties, "property", name=_xml(name), value=_xml(version))
    for one in report.checked:
        _case(suite, one)
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ElementTree.Element, one: Checked) -> None:
    seconds = 0.0 if one.run is None else one.run.seconds
    case = ElementTree.SubElement(
        suite, "testcase", classname=_xml(one.file), name=_xml(one.name), time=f"{seconds:.6f}"
    )
    if one.outcome is Outcome.DISAGREES:
        run = "" if one.run is None else one.run.verdict
        message = f"the proof says {one.proof}, the run {run}"
        failure = ElementTree.SubElement(case, "failure", message=_xml(message))
        failure.text = _xml(f"{one.claim}\n{one.detail}")
    elif one.outcome is Outcome.NOT_CHECKED:
        ElementTree.SubElement(case, "skipped", message=_xml(one.detail))


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)

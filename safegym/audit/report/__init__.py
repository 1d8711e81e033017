"""The report of a run: one HTML file that a reviewer looks at before the record itself."""

from safegym.audit.report.write import render_report, write_report

__all__ = ["render_report", "write_report"]

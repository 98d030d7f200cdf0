"""From the records of a run to what people read: an HTML page, terminal tables, CSV and JSON.

Nothing here measures or decides; numbers and verdicts come from `wavetank.analysis`.
"""

from __future__ import annotations

from wavetank.report.export import csv_text, json_document
from wavetank.report.html import html_text, write_html
from wavetank.report.terminal import print_tables

__all__ = ["csv_text", "html_text", "json_document", "print_tables", "write_html"]

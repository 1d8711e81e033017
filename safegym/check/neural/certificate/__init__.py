"""Certificates of proofs, and the checker that needs nothing of safegym."""

from safegym.check.neural.certificate.checking import CertificateError, check_certificate
from safegym.check.neural.certificate.report import CertificateReport, CheckReport
from safegym.check.neural.certificate.writer import (
    digest_of,
    network_text,
    statement_of,
    write_certificate,
)

__all__ = [
    "CertificateError",
    "CertificateReport",
    "CheckReport",
    "check_certificate",
    "digest_of",
    "network_text",
    "statement_of",
    "write_certificate",
]

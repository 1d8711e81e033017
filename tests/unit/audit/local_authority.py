"""A time-stamp authority of one's own, run by openssl."""

import subprocess
from pathlib import Path

CONFIG = """
[tsa]
default_tsa = here
[here]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
certs = {folder}/root.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
accuracy = secs:1
ess_cert_id_chain = no
ess_cert_id_alg = sha256
"""


def _openssl(*words: object) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


class Authority:
    """root: its root certificate (PEM), which a reader may trust."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True)
        self.folder, self.root = folder, folder / "root.pem"
        (folder / "ext").write_text("extendedKeyUsage=critical,timeStamping\n")
        (folder / "serial").write_text("01\n")
        (folder / "tsa.cnf").write_text(CONFIG.format(folder=folder))
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        _openssl(
            *("req", "-x509", *curve, "-keyout", folder / "ca.key", "-out", self.root),
            *("-days", 3650, "-subj", f"/CN={name} root"),
            *("-addext", "basicConstraints=critical,CA:TRUE"),
        )
        _openssl(
            *("req", *curve, "-keyout", folder / "tsa.key", "-out", folder / "tsa.csr"),
            *("-subj", f"/CN={name}"),
        )
        _openssl(
            *("x509", "-req", "-in", folder / "tsa.csr", "-CA", self.root),
            *("-CAkey", folder / "ca.key", "-CAcreateserial", "-out", folder / "tsa.pem"),
            *("-days", 3650, "-extfile", folder / "ext"),
        )

    def answer(self, request: bytes) -> bytes:
        """The answer to a request: signer and root in it, in openssl's own order."""
        query, reply = self.folder / "q.tsq", self.folder / "q.tsr"
        query.write_bytes(request)
        _openssl(
            *("ts", "-reply", "-config", self.folder / "tsa.cnf", "-section", "here"),
            *("-queryfile", query, "-out", reply),
        )
        return reply.read_bytes()

    def accepts(self, token: bytes, data: bytes) -> bool:
        """Whether openssl verifies the token over these bytes against the root."""
        (self.folder / "v.tsr").write_bytes(token)
        (self.folder / "v.txt").write_bytes(data)
        words = ["ts", "-verify", "-data", "v.txt", "-in", "v.tsr", "-CAfile", "root.pem"]
        done = subprocess.run(["openssl", *words], cwd=self.folder, capture_output=True)
        return done.returncode == 0 and b"Verification: OK" in done.stdout + done.stderr

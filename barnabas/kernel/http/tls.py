"""The files of a listener that speaks https."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from barnabas.kernel.setting_errors import SettingError


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the certificate with its chain, and the key, which may have a password."""

    certificate: Path
    key: Path
    key_password: str | None = None

    def check(self) -> None:
        """Fails with a SettingError unless both can be read and belong together."""
        for setting, path in (("ssl.certificate", self.certificate), ("ssl.key", self.key)):
            if not path.is_file():
                raise SettingError(setting, str(path), "there is no such file")
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key, self.key_password)
        except OSError as problem:
            raise SettingError(
                "ssl.certificate", str(self.certificate), f"it cannot be used with the key {self.key}: {problem}"
            ) from None

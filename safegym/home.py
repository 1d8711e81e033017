"""The user's own folders, outside of any run: signing keys, and the ledger of attempts."""

import os
from pathlib import Path

VARIABLE = "SAFEGYM_HOME"


def keys_folder() -> Path:
    """Folder of the user's keys: $SAFEGYM_HOME, else the system's configuration folder."""
    from platformdirs import user_config_path

    return _named() or user_config_path("safegym", appauthor=False)


def registry_folder() -> Path:
    """Folder of the attempt ledgers: $SAFEGYM_HOME, else the system's data folder."""
    from platformdirs import user_data_path

    return _named() or user_data_path("safegym", appauthor=False)


def _named() -> Path | None:
    found = os.environ.get(VARIABLE)
    return Path(found).expanduser() if found else None

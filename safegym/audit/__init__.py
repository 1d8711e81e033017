"""The tamper-evident log of a run: written by `log`, carried by `bundle`, checked by `verify`."""

"""Tests here are about logic; waiting for the disk would only slow them."""

import os

import pytest


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)

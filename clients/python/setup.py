"""The version of all of camarb, which stands in one file; the rest is in pyproject.toml."""
import pathlib

from setuptools import setup

setup(version=(pathlib.Path(__file__).resolve().parents[2] / "VERSION").read_text().strip())

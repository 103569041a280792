"""All cases, by the application that runs them."""

from collections.abc import Mapping

from builtin_cases import BUILTIN
from cases import Case
from join_cases import JOINS
from processor_cases import PROCESSING

FAMILIES: Mapping[str, tuple[Case, ...]] = {
    "builtin": BUILTIN,
    "joins": JOINS,
    "processors": PROCESSING,
}

"""All cases, by the application that runs them."""

from collections.abc import Mapping

from operators.builtin_cases import BUILTIN
from operators.cases import Case
from operators.join_cases import JOINS
from operators.processor_cases import PROCESSING

FAMILIES: Mapping[str, tuple[Case, ...]] = {
    "builtin": BUILTIN,
    "joins": JOINS,
    "processors": PROCESSING,
}

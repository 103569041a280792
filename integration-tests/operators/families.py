"""All cases, by the application that runs them."""

from collections.abc import Mapping

from operators.builtin_cases import BUILTIN
from operators.cases import Case
from operators.join_cases import JOINS
from operators.processor_cases import PROCESSING

# The longest first, so that no process waits for it in the end.
FAMILIES: Mapping[str, tuple[Case, ...]] = {
    "processors": PROCESSING,
    "builtin": BUILTIN,
    "joins": JOINS,
}

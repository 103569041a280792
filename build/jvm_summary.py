"""Adds up the JUnit reports that sbt wrote and prints the plain closing line."""

import sys
from xml.etree import ElementTree

counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
for path in sys.argv[1:]:
    suite = ElementTree.parse(path).getroot()
    for name in counts:
        counts[name] += int(suite.get(name) or 0)
failed = counts["failures"] + counts["errors"]
passed = counts["tests"] - failed - counts["skipped"]
print(f"jvm: {passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)

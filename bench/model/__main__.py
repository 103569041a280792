"""Write the page of the model, from the pages of figures."""

import argparse

from bench.model.page import PAGE, page

if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    PAGE.write_text(page(), encoding="utf-8")

"""Plain data as Python text."""


def quoted(value: object) -> str:
    """The Python text of plain data, with double quotes where it has no quotes of its own."""
    text = repr(value)
    return text if '"' in text or "\\" in text else text.replace("'", '"')

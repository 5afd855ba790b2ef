"""Files that must be there, read as documents."""

from outfitter.edges.documents import documents
from outfitter.model.layers import Document


def read_file(path, form, cache=None) -> Document:
    found = documents(None if cache is None else str(cache))(str(path), form)
    assert found is not None
    return found

"""What all frozen records share. attrs would write and compile comparison and representation anew for each class, which costs
more than half a millisecond a class at every start (spec/80, start-up); once is enough."""

from attrs import fields


class Value:
    """A record of named fields: equal if its type and every field are; a field declared with `repr=False` is never shown."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Field by field, of the same class only."""
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, field.name) == getattr(other, field.name) for field in fields(type(self)))  # type: ignore[arg-type]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The class and its fields, secrets left out."""
        shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(type(self)) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(shown)})"

"""What all rows and all frozen records share, written once.

`typing` and attrs write and compile code anew for each class, at every start (spec/80, "Start-up"): 0.05 ms for a row, of which a
launch has a hundred, and 0.17 ms for a record. In return, making a row by name takes 4.6 times as long here as with `typing`
(2.7 against 0.6 µs), by place a little longer.

Which row type to use: a module that a launch imports before the harness starts uses `NamedTuple` from here; `typing`'s is for
rows that a launch makes by the hundred thousand, and for modules that are imported later. A record with more fields than one
would write by place, or with a secret, is `attrs.frozen(eq=False, repr=False)` over `Value`. `tests/budgets/test_imports.py` checks the rows.
"""

from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from attrs import fields

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _WithoutSlots(type):
        """Keeps the instances as small as plain tuples."""

        @classmethod
        def __prepare__(cls, _name: str, _bases: tuple[type, ...]) -> dict[str, Any]:
            return {"__slots__": ()}

    class NamedTuple(tuple, metaclass=_WithoutSlots):
        """A tuple with named places, in the order of its class's annotations; class values are defaults.

        To the type checker it is `typing`'s own.
        """

        _fields: ClassVar[tuple[str, ...]] = ()
        _field_defaults: ClassVar[dict[str, Any]] = {}

        def __init_subclass__(cls) -> None:
            names, given = tuple(cls.__annotations__), vars(cls)
            cls._fields = cls.__match_args__ = names
            cls._field_defaults = {name: given[name] for name in names if name in given}
            for place, name in enumerate(names):
                setattr(cls, name, property(itemgetter(place)))

        def __new__(cls, /, *given: Any, **named: Any) -> Any:
            """Every place once, by order or by name. Raises `TypeError` for any other call."""
            if named or len(given) != len(cls._fields):
                given = cls._whole(given, named)
            return tuple.__new__(cls, given)

        @classmethod
        def _whole(cls, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
            rest = cls._fields[len(given) :]
            try:
                if len(given) > len(cls._fields) or len({*rest, *named}) > len(rest):
                    raise KeyError
                return (*given, *map((cls._field_defaults | named).__getitem__, rest))
            except KeyError:
                shown = f"{len(given)} by place, {', '.join(named) or 'none'} by name"
                raise TypeError(f"{cls.__name__} has {', '.join(cls._fields)}; given: {shown}") from None

        @classmethod
        def _make(cls, values: Any) -> Any:
            """A row of just these values."""
            return cls(*values)

        def _replace(self, /, **changes: Any) -> Any:
            """A row like this one but for the places named."""
            return type(self)(**{**self._asdict(), **changes})

        def _asdict(self) -> dict[str, Any]:
            """The values by name."""
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            shown = (f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(shown)})"


class Value:
    """A record of named fields, equal if its type and every field are; `repr=False` hides a field."""

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

"""Other programs rely on these names: adding one is a decision, losing one breaks somebody."""

import mycel
from mycel import errors

PUBLIC_NAMES = {"TeamMemory", "WorkingMemory", "Workspace", "__version__", "connect", "connect_async", "open"}


def test_the_public_names_are_exactly_these() -> None:
    error_names = {
        name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, errors.MycelError)
    }
    assert set(mycel.__all__) == PUBLIC_NAMES | error_names


def test_every_public_name_exists() -> None:
    missing = [name for name in mycel.__all__ if not hasattr(mycel, name)]
    assert not missing

"""Python's values for Lua, and Lua's for Python: see "The protocol" in docs/notebook.md."""

import math

# Lua has no dtype of that name: the nearest that holds the values.
NEAREST = {"int64": "float64", "uint32": "float64", "uint64": "float64", "int16": "int32",
           "uint16": "int32", "int8": "int32", "bool": "uint8", "longdouble": "float64"}


def _plain(value):
    """As JSON has it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, bytes):
        return {"$bytes": value.hex()}
    if isinstance(value, dict):
        return {"$table": [[_plain(k), _plain(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "to_dict") and hasattr(value, "columns"):     # a table of pandas
        return _plain(value.to_dict("records"))
    if hasattr(value, "item"):                                      # a number of numpy
        return _plain(value.item())
    raise TypeError(f"{type(value).__name__} is no value that Lua has")


def to_lua(value):
    """The fields of a request to put, and the bytes behind it."""
    if not (hasattr(value, "dtype") and hasattr(value, "shape") and getattr(value, "ndim", 0)
            and hasattr(value, "astype") and not hasattr(value, "columns")):
        return {"value": _plain(value)}, b""
    name = value.dtype.name
    if value.dtype.kind not in "fiub":
        raise TypeError(f"an array of {name} is no tensor")
    data = value.astype("=f8").tobytes()
    return {"dtype": NEAREST.get(name, name), "shape": list(value.shape), "bytes": len(data)}, data


def _special(value):
    (name, content), = value.items()
    if name == "$float":
        return float(content)
    if name == "$bytes":
        return bytes.fromhex(content)
    if name == "$table":
        return {_python(k): _python(v) for k, v in content}
    return f"<{content}>"                                           # $other: a function, an object


def _python(value):
    if isinstance(value, list):
        return [_python(item) for item in value]
    if isinstance(value, dict):
        special = len(value) == 1 and next(iter(value)).startswith("$")
        return _special(value) if special else {k: _python(v) for k, v in value.items()}
    return value


def from_lua(answer):
    """What an answer to get has."""
    if answer["kind"] == "table":
        return _python(answer["rows"])
    if answer["kind"] == "value":
        return _python(answer.get("value"))
    import numpy

    array = numpy.frombuffer(answer["data"], "=f8").reshape(answer["shape"])
    dtype = "float32" if answer["dtype"] == "bfloat16" else answer["dtype"]
    return array.astype(dtype)

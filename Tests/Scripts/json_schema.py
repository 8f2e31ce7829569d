"""The part of JSON Schema 2020-12 that openapi.json uses: enough to say what an answer lacks."""
import re

DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
KNOWN = {"$ref", "type", "enum", "const", "properties", "required", "items", "description", "format", "pattern",
         "default", "minimum", "maximum", "minLength", "maxLength"}


def faults(value, schema, document, place="$"):
    """What a value is that its schema does not permit; a schema that this does not understand is an error."""
    if unknown := set(schema) - KNOWN:
        raise ValueError(f"{place}: {sorted(unknown)} in a schema is not understood")
    if "$ref" in schema:
        yield from faults(value, resolved(schema["$ref"], document), document, place)
    kinds = schema.get("type", [])
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if kinds and not any(is_a(value, kind) for kind in kinds):
        yield f"{place}: {value!r:.80} is no {' or '.join(kinds)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r:.80} is none of {schema['enum']}"
    if isinstance(value, dict):
        named = schema.get("properties", {})
        for name in schema.get("required", []):
            if name not in value:
                yield f"{place}: no {name}"
        for name, member in value.items():
            if name in named:
                yield from faults(member, named[name], document, f"{place}.{name}")
            elif "properties" in schema:
                # A schema permits it; a description that lacks it is of little use.
                yield f"{place}: {name} is not described"
    if isinstance(value, list) and "items" in schema:
        for index, element in enumerate(value):
            yield from faults(element, schema["items"], document, f"{place}[{index}]")
    if isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{place}: {value!r:.80} does not match {schema['pattern']}"
        if schema.get("format") == "date-time" and not DATE.fullmatch(value):
            yield f"{place}: {value!r:.80} is no date-time"
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 1 << 40):
            yield f"{place}: {value!r:.80} is too short or too long"
    if is_a(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        yield f"{place}: {value} is out of range"


def is_a(value, kind):
    if kind in ("integer", "number"):
        return not isinstance(value, bool) and isinstance(value, (int, float) if kind == "number" else int)
    return isinstance(value, KINDS[kind])


def resolved(reference, document):
    """What `#/a/b` stands for."""
    for step in reference.removeprefix("#/").split("/"):
        document = document[step]
    return document

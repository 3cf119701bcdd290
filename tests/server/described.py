"""Answers against /openapi.json: what a route gives is what its schema says, and nothing else.

    description = Description(json.loads(...))
    description.check("GET", "/v1/collections/feedback/clusters", 200, "application/json", body)

The description promises that members may be added, and so allows others; here those fail, since each is to
be described. Calls of several collections, which are not described, are passed over.
"""
import json
import re
import urllib.parse

KINDS = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
PATTERN = re.compile(r"[*?\[\]\\]")


class Undescribed(AssertionError):
    pass


def is_kind(value, kind):
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, KINDS[kind])


class Description:
    def __init__(self, document):
        self.schemas = document["components"]["schemas"]
        self.routes = [(path.split("/"), methods) for path, methods in document["paths"].items()]

    def fault(self, value, schema, at="answer"):
        """The first thing that is not as the schema has it, in words; None where all is."""
        if "$ref" in schema:
            return self.fault(value, self.schemas[schema["$ref"].rpartition("/")[2]], at)
        if "anyOf" in schema:
            faults = [self.fault(value, s, at) for s in schema["anyOf"]]
            return None if None in faults else " or ".join(faults)
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(is_kind(value, kind) for kind in kinds):
            return f"{at} is {value!r:.60}, and no {' or '.join(kinds)}"
        if "enum" in schema and value is not None and value not in schema["enum"]:
            return f"{at} is {value!r:.60}, and none of {schema['enum']}"
        if schema.get("format") == "date-time" and value is not None and not TIME.fullmatch(value):
            return f"{at} is {value!r:.60}, and no time"
        if isinstance(value, list):
            faults = (self.fault(item, schema.get("items", {}), f"{at}[{i}]") for i, item in enumerate(value))
            return next((fault for fault in faults if fault), None)
        return self.fault_of_object(value, schema, at) if isinstance(value, dict) else None

    def fault_of_object(self, value, schema, at):
        properties = schema.get("properties")
        if properties is None:
            return None
        for name in schema.get("required", []):
            if name not in value:
                return f"{at} lacks {name}"
        for name, member in value.items():
            if name not in properties and not schema.get("additionalProperties"):
                return f"{at}.{name} is not described"
            fault = self.fault(member, properties.get(name, {}), f"{at}.{name}")
            if fault:
                return fault
        return None

    def find(self, method, target):
        """The route, and whether it is one that is described: of one collection."""
        path, _, query = target.partition("?")
        parts = path.split("/")
        found, literal = None, -1
        for template, methods in self.routes:
            fits = len(template) == len(parts) and all(
                t == p or (t.startswith("{") and p) for t, p in zip(template, parts))
            score = sum(2 ** -i for i, t in enumerate(template) if not t.startswith("{"))
            if fits and method.lower() in methods and score > literal:
                found, literal = (template, methods[method.lower()]), score
        if not found:
            return None
        given = dict(zip(found[0], parts))
        for parameter in found[1]["parameters"]:
            value = urllib.parse.unquote(given.get("{" + parameter["name"] + "}", ""))
            if "pattern" in parameter["schema"] and PATTERN.search(value):
                return None
        return None if re.search(r"(^|&)all(=|&|$)", query) else found[1]

    def rows(self, schema):
        """The schema of one line: whatever row the route may give."""
        schemas = schema.get("anyOf", [schema])
        items = [s["items"] if s.get("type") == "array" else s for s in schemas]
        told = [{"type": "object", "properties": {name: {}}, "required": [name]} for name in ("error", "notice")]
        return {"anyOf": items + told}

    def check(self, method, target, status, kind, body):
        route = self.find("GET" if method == "HEAD" else method, target)
        if not route or not 200 <= status < 300 or status == 204 or method == "HEAD":
            return
        response = route["responses"].get(str(status))
        if response is None:
            raise Undescribed(f"{method} {target}: {status} is not described")
        content = response.get("content", {})
        if not content:
            return
        kind = kind.partition(";")[0]
        lines = kind == "application/x-ndjson" and "application/json" in content
        if kind not in content and not lines:
            raise Undescribed(f"{method} {target}: {kind} is not described")
        fault = None
        if kind == "application/json":
            fault = self.fault(json.loads(body), content[kind]["schema"])
        elif lines:
            row = self.rows(content["application/json"]["schema"])
            faults = (self.fault(json.loads(line), row, "line") for line in body.splitlines()[:2000])
            fault = next((f for f in faults if f), None)
        if fault:
            raise Undescribed(f"{method} {target}: {fault}")

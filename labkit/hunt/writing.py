"""Writing: the data of a scenario as the text of a file that a person reads: a step, a link, a cluster a line."""

from __future__ import annotations

from typing import Any

import yaml

from labkit.scenario.documents.yaml_positions import is_text_when_plain

MAX_COLUMNS = 1_000_000  # a line is never broken
LINE_BREAKS = frozenset("\n\r\x85\u2028\u2029")
"""What YAML reads as the end of a line."""


class _Plain(yaml.SafeDumper):
    """Writes what occurs twice twice: the files have no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _quoted(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """Write a text; one with ends of lines in it in double quotes, where these have signs of their own.

    One that is a number or the like for whoever reads scenario files is in quotes too: others read some as texts.
    """
    style = None if is_text_when_plain(text) else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style if LINE_BREAKS.isdisjoint(text) else '"')


_Plain.add_representer(str, _quoted)


def written(data: dict[str, Any], comments: tuple[str, ...] = ()) -> str:
    """Return the text of a scenario file."""
    lines = [f"# {comment}" for comment in comments]
    for key, value in data.items():
        if key == "lab":
            lines += ["lab:", *_section(value, "  ")]
        elif isinstance(value, list) and value:
            lines += [f"{key}:", *(f"  - {flow(item)}" for item in value)]
        else:
            lines.append(f"{key}: {flow(value)}")
    return "\n".join(lines) + "\n"


def flow(value: Any) -> str:
    """Return a value on one line."""
    text = yaml.dump(
        value, Dumper=_Plain, default_flow_style=True, sort_keys=False, width=MAX_COLUMNS, allow_unicode=True
    )
    return text.removesuffix("\n").removesuffix("\n...")


def _section(section: dict[str, Any], indent: str) -> list[str]:
    lines = []
    for key, value in section.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [f"{indent}{key}:", *(f"{indent}  - {flow(item)}" for item in value)]
        elif isinstance(value, dict) and value and key in ("clusters", "clients", "balancers"):
            lines += [f"{indent}{key}:", *(f"{indent}  {flow(name)}: {flow(item)}" for name, item in value.items())]
        else:
            lines.append(f"{indent}{key}: {flow(value)}")
    return lines

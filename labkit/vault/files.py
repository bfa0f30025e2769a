"""Files: what a service keeps beside its store, such as audit lines; never on the disk of the machine it runs on."""

from __future__ import annotations

from collections.abc import Callable, Mapping


class Files:
    """Simulated files by path, each a list of lines.

    ``made`` are files that are there from the beginning: each is made when it is first used.  What audit devices write
    goes through ``append``, whatever they stand for: a socket's and syslog's lines are read like those of a file.
    """

    __slots__ = ("_made", "blocked", "lines")

    def __init__(
        self,
        lines: Mapping[str, tuple[bytes, ...]] | None = None,
        made: Mapping[str, Callable[[], bytes]] | None = None,
        blocked: Mapping[str, str] | None = None,
    ) -> None:
        self.lines: dict[str, list[bytes]] = {path: list(written) for path, written in (lines or {}).items()}
        self._made = dict(made or {})
        self.blocked = dict(blocked or {})  # {path: why nothing can be appended to it}

    def __repr__(self) -> str:
        return f"Files({', '.join(self.names())})"

    def append(self, path: str, line: bytes) -> None:
        """Add a line to a file; a missing file is created.  Raise OSError for one that is blocked."""
        if self.blocked and path in self.blocked:
            raise OSError(self.blocked[path])
        if path not in self.lines and path in self._made:
            self.write(path, self._made[path]())
        self.lines.setdefault(path, []).append(line)

    def block(self, path: str, why: str = "no space left on device") -> None:
        """Let nothing be appended to a file until it is unblocked: a full disk, or a socket without a listener."""
        from labkit.service.arguments import kept_text  # judged where it is asked for (R24)

        self.blocked[kept_text("path", "the name of a file, such as /var/log/audit.log", path)] = kept_text(
            "why", "what the system says, such as no space left on device", why
        )

    def unblock(self, path: str) -> None:
        """Let lines be appended to a file again; one that is not blocked is not an error."""
        self.blocked.pop(path, None)

    def write(self, path: str, content: bytes) -> None:
        """Write a file, in place of what it held."""
        from labkit.service.arguments import kept_text, wrong

        path = kept_text("path", "the name of a file, such as /etc/labkit/paris.pem", path)
        if not isinstance(content, bytes):
            raise wrong("content", "bytes", content)
        self.lines[path] = content.split(b"\n")

    def read(self, path: str) -> bytes | None:
        """Return what a file holds; None for one that is missing."""
        lines = self.lines.get(path)
        if lines is not None:
            return b"\n".join(lines)
        make = self._made.get(path)
        return None if make is None else make()

    def names(self, folder: str = "") -> tuple[str, ...]:
        """Return the names of all files, or of those below a folder, sorted."""
        below = f"{folder.rstrip('/')}/" if folder else ""
        return tuple(sorted(name for name in {*self._made, *self.lines} if name.startswith(below)))

    def copied(self) -> Files:
        """Return files of their own that hold what these hold now."""
        return Files(self.state(), self._made, self.blocked)

    def state(self) -> dict[str, tuple[bytes, ...]]:
        """Return the files that were written as plain values."""
        return {path: tuple(lines) for path, lines in self.lines.items()}

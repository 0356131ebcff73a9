"""Studio: the projects of one user, in a private folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from shoal.base.errors import BadFile
from shoal.plan import Plan
from shoal.studio.private_folder import LOCK, PrivateFolder
from shoal.studio.processes import Process, prepare
from shoal.studio.project import Project
from shoal.studio.sources.source import Source, file_of_source, same
from shoal.studio.sources.uploads import MEGABYTE

UPLOADS, PROJECTS, SETTINGS = "uploads", "projects", "settings.json"


class Wanted(NamedTuple):
    """The table that a command names, to be opened first."""

    title: str
    source: Source
    plan: Plan | None


class Studio:
    """Everything that the server knows."""

    def __init__(
        self,
        folder: Path,
        start: Path,
        most_bytes: int = 500 * MEGABYTE,
        wanted: Wanted | None = None,
    ) -> None:
        """`start` is the folder in which files are offered; uploads have at most `most_bytes`."""
        self.wanted = wanted
        self._first: Project | None = None
        self.folder = PrivateFolder(folder)
        self.folder.claim()
        self.folder.sweep()
        self.start, self.most_bytes = start, most_bytes
        self.uploads = self.folder.folder(UPLOADS)
        self._settings: dict[str, Any] = self.folder.read_json(SETTINGS, {})
        self.projects = _kept(self.folder.folder(PROJECTS))
        # A studio that was killed may have left an upload that was not complete.
        self.uploads.sweep(keep=[path.name for path in self._paths()])
        self.abilities: dict[str, str] | None = None  # what formats lack, once it is known
        self.scout = Process()  # looks at the first rows of tables that are not open yet

    def begin(self) -> None:
        """Open the table that the command names, if it names one."""
        prepare()
        if self.wanted is not None:
            self._first = self.opened(*self.wanted)

    def take_first(self) -> Project | None:
        """The table that the command names: the first page goes there, once."""
        first, self._first = self._first, None
        return first

    @property
    def language(self) -> str:
        """The language that was chosen; "" if none was."""
        return str(self._settings.get("language", ""))

    def speak(self, language: str) -> None:
        """Choose a language."""
        self._settings["language"] = language
        self.folder.write_json(SETTINGS, self._settings)

    def opened(self, title: str, source: Source, plan: Plan | None = None) -> Project:
        """The project of a table: the one that there is, or a new one."""
        for project in self.projects.values():
            if same(project.source, source):
                if plan is not None:
                    project.history.add(plan.to_toml(project.folder.path))
                project.save()
                project.open()
                return project
        return self.add(title, source, plan)

    def add(self, title: str, source: Source, plan: Plan | None = None) -> Project:
        """A new project; its table is read in the background."""
        kept = self.folder.folder(PROJECTS)
        folder = kept.folder(kept.new_name())
        project = Project(folder, {"title": title, "source": source})
        if plan is not None:
            project.history.add(plan.to_toml(folder.path))
        project.save()
        self.projects[project.name] = project
        project.open()
        return project

    def replace(self, project: Project, title: str, source: Source) -> None:
        """Give a project another file, which its plan is kept for as far as it fits."""
        before = project.source
        project.title, project.source = title, source
        project.overview = None
        project.save()
        project.open()
        self._drop(before)

    def remove(self, project: Project) -> None:
        """Forget a project, with everything that was kept of it."""
        project.close()
        project.folder.wipe()
        self.projects.pop(project.name, None)
        self._drop(project.source)

    def _drop(self, source: Source) -> None:
        """Remove a copy that no project uses any more."""
        path = file_of_source(source)
        if path is not None and path.parent == self.uploads.path and path not in self._paths():
            path.unlink(missing_ok=True)

    def _paths(self) -> set[Path]:
        """The files that projects read."""
        found = (file_of_source(one.source) for one in self.projects.values())
        return {path for path in found if path is not None}

    def wipe(self) -> None:
        """Forget everything: nothing but the lock stays in the folder."""
        for project in list(self.projects.values()):
            self.remove(project)
        self._settings = {}
        self.folder.sweep(keep=[LOCK])
        self.uploads = self.folder.folder(UPLOADS)

    def close(self) -> None:
        """End all processes."""
        self.scout.close()
        for project in self.projects.values():
            project.close()

    def end(self, keep: bool) -> None:
        """Remove copies of original records, unless they are to be kept."""
        self.close()
        if not keep:
            self.uploads.wipe()
            for project in self.projects.values():
                project.remove_copies()


def _kept(folder: PrivateFolder) -> dict[str, Project]:
    """The projects of earlier starts; what cannot be read is left as it is, and not shown."""
    found = {}
    for name in folder.names():
        stored = folder.folder(name).read_json("project.json", None)
        with suppress(KeyError, TypeError, AttributeError, BadFile):
            found[name] = Project(folder.folder(name), stored)
    return found

"""Lab cluster: the handle that ``lab["paris"]`` gives, which can show its Merkle index as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.front.shown_names import shown
from labkit.lab.cluster import Cluster

if TYPE_CHECKING:
    from labkit.views.merkle import MerkleView
    from labkit.views.repair import RepairLog, RepairView


class LabCluster(Cluster):
    """One cluster of a lab, asked from an operator's host beside it, and drawn."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        return shown("Cluster", super().__dir__())

    def merkle(self, other: str | None = None, page: tuple[str, int] | None = None) -> MerkleView:
        """Draw its Merkle index beside another cluster's, by default that of the primary that it follows.

        ``page`` such as ``("replicated", 23)`` chooses the page that is looked into; by default it is the first that is
        damaged or differs.  The picture changes nothing, and folds nothing.  ``repair()`` of what it returns shows
        what becomes of damage in each layer.
        """
        from labkit.views import merkle

        return merkle.of(self._driver.queries, self.name, other, page, self._repair)

    def _repair(self, layer: str | None) -> RepairView | RepairLog:
        from labkit.views import repair
        from labkit.views.contents import repair_contents

        queries = self._driver.queries
        if layer is not None:
            return repair.RepairLog(repair_contents.events_here(queries, self.name, layer))
        with self._turns:
            return repair.of(repair_contents.repair_of(queries, self.name, self._driver.copied))

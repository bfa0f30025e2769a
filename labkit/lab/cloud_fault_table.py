"""Cloud fault table: what there is to say about each control that makes the cloud fail; causes and timeline read it.

A row is a method of the cloud's ``FaultControls``, by the name under which the cloud's host records it.
"""

from __future__ import annotations

from typing import NamedTuple


class CloudFault(NamedTuple):
    """One fault of the cloud, or what undoes one: its method, its sentence among causes, and its mark on a timeline.

    ``undone_by`` is the name of another row.  ``status`` is how calls end that it ends, 0 without an answer; None where
    it ends none, or the record says how.
    """

    name: str
    control: str
    cause: str
    mark: str = ""
    undone_by: str = ""
    status: int | None = None

    @property
    def undoes(self) -> tuple[CloudFault, ...]:
        """The faults that it undoes; none where it is a fault itself."""
        return tuple([fault for fault in CLOUD_FAULTS if fault.undone_by == self.name])


CLOUD_FAULTS = (
    CloudFault(
        name="cloud outage",
        control="outage",
        cause="the cloud's endpoint {endpoint} answers nothing any more",
        mark="cloud-outage",
        undone_by="cloud recovered",
        status=0,
    ),
    CloudFault(
        name="cloud fails",
        control="fail_next",
        cause="the cloud's endpoint {endpoint} is set to fail with {status} ({times} times)",
        mark="cloud set to fail",
        undone_by="cloud recovered",
    ),
    CloudFault(
        name="cloud recovered",
        control="recover",
        cause="the cloud's endpoint {endpoint} answers again",
        mark="cloud-recover",
    ),
    CloudFault(
        name="cloud slow",
        control="slow",
        cause="the cloud's endpoint {endpoint} becomes slower ({delay})",
        mark="cloud-slow by {}",
        undone_by="cloud restored",
        status=0,
    ),
    CloudFault(
        name="cloud restored",
        control="restore",
        cause="the cloud's endpoint {endpoint} answers at once again",
        mark="cloud-restore",
    ),
    CloudFault(
        name="cloud throttled",
        control="throttle",
        cause="the cloud's endpoint {endpoint} lets {per_second} requests a second pass, {burst} at once",
        mark="cloud throttled",
        undone_by="cloud unthrottled",
        status=429,
    ),
    CloudFault(
        name="cloud unthrottled",
        control="unthrottle",
        cause="the cloud's endpoint {endpoint} lets every request pass again",
        mark="cloud unthrottled",
    ),
    CloudFault(
        name="keys rolled",
        control="roll_keys",
        cause="the cloud signs with its next key",
        mark="roll-keys",
    ),
    CloudFault(
        name="key unpublished",
        control="use_unpublished_key",
        cause="the cloud signs with a key that it does not publish",
        mark="cloud signs with an unpublished key",
        undone_by="key published",
    ),
    CloudFault(
        name="key published",
        control="publish_key",
        cause="the cloud publishes the key that it signs with",
        mark="cloud publishes its key",
    ),
    CloudFault(
        name="key revoked",
        control="revoke_key",
        cause="the cloud takes the key back that it signed with",
        mark="cloud takes its key back",
    ),
    CloudFault(
        name="key set held",
        control="hold_key_set",
        cause="the cloud's published keys stay as they are",
        mark="cloud holds its key set",
        undone_by="key set released",
    ),
    CloudFault(
        name="key set released",
        control="release_key_set",
        cause="the cloud publishes the keys that it has",
        mark="cloud releases its key set",
    ),
    CloudFault(
        name="secrets spread",
        control="spread_secrets",
        cause="new secrets of the cloud spread after {delay}",
        status=401,
    ),
    CloudFault(
        name="cloud clock",
        control="set_clock_ahead",
        cause="the cloud's clock is set to be ahead by {ahead}",
        mark="cloud's clock off by {}",
    ),
)

OBSERVED = {fault.name: fault for fault in CLOUD_FAULTS}

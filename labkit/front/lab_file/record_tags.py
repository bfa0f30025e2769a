"""Record tags: which CBOR tag each kind of record has in a saved lab.

1. A number is given once and never to another record: files keep it.
2. A record is found by its tag, never by a name in the file.
3. The tags are of the range that anybody may use, from "lab" as three bytes and a zero on.
"""

from __future__ import annotations

from typing import Any

from labkit.cloud import resources
from labkit.cloud.failures import CloudRate, PlannedFailure
from labkit.cloud.parts import KeptToken
from labkit.cloud.signing_keys import SigningKey
from labkit.lab.hosts.client import Operation
from labkit.lab.hosts.client_memory import ClientToken
from labkit.lab.invariants import Violation
from labkit.lab.invariants.version_order import AttemptVersion, VersionAnswered
from labkit.lab.nodes.node_host import Asker
from labkit.lab.operations.operator_console import Finished, PendingAsk, RunningRunbook
from labkit.lab.operations.runbook_effects import Credentials
from labkit.lab.plan import blueprint
from labkit.lab.records.histories import History, Inherited
from labkit.lab.records.ledger import CommittedWrite
from labkit.lab.records.loss_and_outage import Promotion
from labkit.lab.records.surviving_tokens import TokenSurvival
from labkit.lab.snapshot import Snapshot
from labkit.lab.wire import messages
from labkit.scenario.documents.combination import Combination
from labkit.scenario.expect_keys import Expectations, ExpectedRange, NamedRange
from labkit.scenario.measures import VerdictRow
from labkit.scenario.scenario import Step
from labkit.scenario.steps.dispositions import StepResult
from labkit.scenario.timed.points import AfterPoint
from labkit.scenario.timed.timed_conditions import TimedCondition
from labkit.scenario.witnesses import FaultMade
from labkit.service.message import Fetch, Request, Response, Suspended, Unreadable
from labkit.sim.network import Message, NetworkState
from labkit.vault.storage.barrier import KeyringTerm
from labkit.vault.storage.interruption import CommitInterruption

FIRST_TAG = int.from_bytes(b"lab\0", "big")
LIST, FROZEN_SET = FIRST_TAG, FIRST_TAG + 1

_NUMBERS: dict[int, type[Any]] = {
    # the lab and its blueprint
    16: Snapshot,
    17: blueprint.Blueprint,
    18: blueprint.LinkPlan,
    19: blueprint.NodeSettings,
    20: blueprint.ClusterPlan,
    21: blueprint.WorkloadPlan,
    22: blueprint.ClientPlan,
    23: blueprint.BalancerPlan,
    24: blueprint.CloudPlan,
    # requests and answers
    32: Request,
    33: Response,
    34: Fetch,
    35: Suspended,
    36: Unreadable,
    # what is on the network, and what falls due
    40: NetworkState,
    41: Message,
    42: messages.Correlation,
    43: messages.ApiRequest,
    44: messages.ApiAnswer,
    45: messages.ReplicationQuestion,
    46: messages.ReplicationAnswer,
    47: messages.ReplicationRefusal,
    48: messages.ConnectionChallenge,
    49: messages.StreamPush,
    50: messages.ForwardedRequest,
    51: messages.ForwardedAnswer,
    52: messages.Announcement,
    53: messages.BootstrapRequest,
    54: messages.BootstrapAnswer,
    55: messages.PassedOn,
    56: messages.LeaseTimer,
    57: messages.FetchStart,
    58: messages.FetchTimeout,
    59: messages.ForwardTimeout,
    60: messages.DueTimer,
    61: messages.ServiceTimer,
    62: messages.SyncTimer,
    63: messages.AnnounceTimer,
    64: messages.FlapTimer,
    65: messages.WorkTimer,
    66: messages.AttemptTimeout,
    67: messages.CheckTimer,
    68: messages.CloudAnswerTimer,
    69: messages.RetryTimer,
    70: messages.AskDeadline,
    71: messages.AskAgain,
    72: messages.PauseOver,
    # nodes, clients and the operators' console
    80: Asker,
    81: KeyringTerm,
    82: Operation,
    83: ClientToken,
    84: PendingAsk,
    85: RunningRunbook,
    86: Credentials,
    87: Finished,
    88: CommitInterruption,
    # the simulated cloud
    96: KeptToken,
    97: SigningKey,
    98: resources.Tenant,
    99: resources.Subscription,
    100: resources.ResourceGroup,
    101: resources.SystemIdentity,
    102: resources.ManagedIdentity,
    103: resources.ScaleSet,
    104: resources.VirtualMachine,
    105: resources.Group,
    106: resources.Application,
    107: resources.ClientSecret,
    108: PlannedFailure,
    109: CloudRate,
    # the ledger and the rules
    112: CommittedWrite,
    113: History,
    114: Inherited,
    115: Promotion,
    116: TokenSurvival,
    117: Violation,
    118: VersionAnswered,
    119: AttemptVersion,
    # a scenario under way
    128: Step,
    129: StepResult,
    130: VerdictRow,
    131: FaultMade,
    132: Combination,
    133: Expectations,
    134: ExpectedRange,
    135: NamedRange,
    136: TimedCondition,
    137: AfterPoint,
}

RECORDS: dict[int, type[Any]] = {FIRST_TAG + number: record for number, record in _NUMBERS.items()}


def fields_of(record: type[Any]) -> tuple[str, ...]:
    """Return the names of a record's fields, in order."""
    names = getattr(record, "_fields", None)
    return tuple(record.__dataclass_fields__) if names is None else tuple(names)

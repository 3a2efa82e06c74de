"""Sessions: what is asked for, what happens, what is answered (seed 001)."""

from barry_cli._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from barry_cli.base.canonical import canonical_json as canonical_json
    from barry_cli.contract.abort import Abort as Abort
    from barry_cli.contract.continuation import ContinuationDescriptor as ContinuationDescriptor
    from barry_cli.contract.continuation import ContinuationEffects as ContinuationEffects
    from barry_cli.contract.continuation import ContinuationHarness as ContinuationHarness
    from barry_cli.contract.continuation import Emit as Emit
    from barry_cli.contract.continuation import RecordedCallResult as RecordedCallResult
    from barry_cli.contract.continuation import SegmentCompleted as SegmentCompleted
    from barry_cli.contract.continuation import SegmentFailed as SegmentFailed
    from barry_cli.contract.continuation import SegmentInterrupted as SegmentInterrupted
    from barry_cli.contract.continuation import SegmentOutcome as SegmentOutcome
    from barry_cli.contract.events import Done as Done
    from barry_cli.contract.events import Failed as Failed
    from barry_cli.contract.events import Init as Init
    from barry_cli.contract.events import Partial as Partial
    from barry_cli.contract.events import PermissionRequested as PermissionRequested
    from barry_cli.contract.events import Result as Result
    from barry_cli.contract.events import SessionEvent as SessionEvent
    from barry_cli.contract.events import StatusChanged as StatusChanged
    from barry_cli.contract.events import Text as Text
    from barry_cli.contract.events import ToolProgress as ToolProgress
    from barry_cli.contract.events import ToolResult as ToolResult
    from barry_cli.contract.events import ToolUse as ToolUse
    from barry_cli.contract.events import UsageReported as UsageReported
    from barry_cli.contract.levels import ApprovalContinuation as ApprovalContinuation
    from barry_cli.contract.models import Endpoint as Endpoint
    from barry_cli.contract.models import Models as Models
    from barry_cli.contract.models import TokenUsage as TokenUsage
    from barry_cli.contract.models import split_model as split_model
    from barry_cli.contract.native import allowed_native as allowed_native
    from barry_cli.contract.native import configure_harness_session as configure_harness_session
    from barry_cli.contract.native import configure_session as configure_session
    from barry_cli.contract.native import disallowed_tools as disallowed_tools
    from barry_cli.contract.session import Allowed as Allowed
    from barry_cli.contract.session import Decide as Decide
    from barry_cli.contract.session import DeliveryOptions as DeliveryOptions
    from barry_cli.contract.session import DeliveryReceipt as DeliveryReceipt
    from barry_cli.contract.session import Denied as Denied
    from barry_cli.contract.session import EgressPolicy as EgressPolicy
    from barry_cli.contract.session import HttpMcpServer as HttpMcpServer
    from barry_cli.contract.session import McpServerConfig as McpServerConfig
    from barry_cli.contract.session import PermissionDecision as PermissionDecision
    from barry_cli.contract.session import PermissionRequest as PermissionRequest
    from barry_cli.contract.session import Resume as Resume
    from barry_cli.contract.session import Sender as Sender
    from barry_cli.contract.session import Session as Session
    from barry_cli.contract.session import SessionAttachment as SessionAttachment
    from barry_cli.contract.session import SessionConfig as SessionConfig
    from barry_cli.contract.session import StdioMcpServer as StdioMcpServer
    from barry_cli.contract.turns import ApprovalDecision as ApprovalDecision
    from barry_cli.contract.turns import AutomaticReview as AutomaticReview
    from barry_cli.contract.turns import CallState as CallState
    from barry_cli.contract.turns import PublicInterrupt as PublicInterrupt
    from barry_cli.contract.turns import RequiredReview as RequiredReview
    from barry_cli.contract.turns import ReviewPolicy as ReviewPolicy
    from barry_cli.contract.turns import ReviewPolicySchema as ReviewPolicySchema
    from barry_cli.contract.turns import TurnExecutionStore as TurnExecutionStore
    from barry_cli.contract.turns import TurnFinish as TurnFinish
    from barry_cli.contract.turns import TurnSnapshot as TurnSnapshot
    from barry_cli.contract.turns import TurnState as TurnState
    from barry_cli.policy.native import can_enforce_in_sandbox as can_enforce_in_sandbox
    from barry_cli.turns.declare import SessionDeclaration as SessionDeclaration
    from barry_cli.turns.declare import declare_session as declare_session
    from barry_cli.turns.event_queue import EventQueue as EventQueue
    from barry_cli.turns.event_queue import SecondReader as SecondReader
    from barry_cli.turns.execution import TurnExecution as TurnExecution
    from barry_cli.turns.execution import TurnExecutionDependencies as TurnExecutionDependencies
    from barry_cli.turns.fences import extract_fence as extract_fence
    from barry_cli.turns.hashes import execution_hash as execution_hash
    from barry_cli.turns.live_continuation import LiveContinuation as LiveContinuation
    from barry_cli.turns.one_done import TurnStream as TurnStream
    from barry_cli.turns.one_done import one_done as one_done
    from barry_cli.turns.one_done import run_to_done as run_to_done
    from barry_cli.turns.ownership import assert_session_owner as assert_session_owner
    from barry_cli.turns.per_turn import PerTurnOptions as PerTurnOptions
    from barry_cli.turns.per_turn import RunTurn as RunTurn
    from barry_cli.turns.per_turn import per_turn_session as per_turn_session
    from barry_cli.turns.permissions import is_scoped_mcp_tool as is_scoped_mcp_tool
    from barry_cli.turns.permissions import refuse_denied_tools as refuse_denied_tools
    from barry_cli.turns.structured import StructuredReply as StructuredReply
    from barry_cli.turns.structured import StructuredRun as StructuredRun
    from barry_cli.turns.structured import StructuredRunFailed as StructuredRunFailed
    from barry_cli.turns.structured import StructuredRunStopped as StructuredRunStopped
    from barry_cli.turns.structured import run_structured as run_structured
    from barry_cli.turns.structured import structured_output_for as structured_output_for
    from barry_cli.turns.unsupported import NotSupportedInMode as NotSupportedInMode
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "Abort": "barry_cli.contract.abort",
            "Allowed": "barry_cli.contract.session",
            "ApprovalContinuation": "barry_cli.contract.levels",
            "ApprovalDecision": "barry_cli.contract.turns",
            "AutomaticReview": "barry_cli.contract.turns",
            "CallState": "barry_cli.contract.turns",
            "ContinuationDescriptor": "barry_cli.contract.continuation",
            "ContinuationEffects": "barry_cli.contract.continuation",
            "ContinuationHarness": "barry_cli.contract.continuation",
            "Decide": "barry_cli.contract.session",
            "DeliveryOptions": "barry_cli.contract.session",
            "DeliveryReceipt": "barry_cli.contract.session",
            "Denied": "barry_cli.contract.session",
            "Done": "barry_cli.contract.events",
            "EgressPolicy": "barry_cli.contract.session",
            "Emit": "barry_cli.contract.continuation",
            "Endpoint": "barry_cli.contract.models",
            "EventQueue": "barry_cli.turns.event_queue",
            "Failed": "barry_cli.contract.events",
            "HttpMcpServer": "barry_cli.contract.session",
            "Init": "barry_cli.contract.events",
            "LiveContinuation": "barry_cli.turns.live_continuation",
            "McpServerConfig": "barry_cli.contract.session",
            "Models": "barry_cli.contract.models",
            "NotSupportedInMode": "barry_cli.turns.unsupported",
            "Partial": "barry_cli.contract.events",
            "PerTurnOptions": "barry_cli.turns.per_turn",
            "PermissionDecision": "barry_cli.contract.session",
            "PermissionRequest": "barry_cli.contract.session",
            "PermissionRequested": "barry_cli.contract.events",
            "PublicInterrupt": "barry_cli.contract.turns",
            "RecordedCallResult": "barry_cli.contract.continuation",
            "RequiredReview": "barry_cli.contract.turns",
            "Result": "barry_cli.contract.events",
            "Resume": "barry_cli.contract.session",
            "ReviewPolicy": "barry_cli.contract.turns",
            "ReviewPolicySchema": "barry_cli.contract.turns",
            "RunTurn": "barry_cli.turns.per_turn",
            "SecondReader": "barry_cli.turns.event_queue",
            "SegmentCompleted": "barry_cli.contract.continuation",
            "SegmentFailed": "barry_cli.contract.continuation",
            "SegmentInterrupted": "barry_cli.contract.continuation",
            "SegmentOutcome": "barry_cli.contract.continuation",
            "Sender": "barry_cli.contract.session",
            "Session": "barry_cli.contract.session",
            "SessionAttachment": "barry_cli.contract.session",
            "SessionConfig": "barry_cli.contract.session",
            "SessionDeclaration": "barry_cli.turns.declare",
            "SessionEvent": "barry_cli.contract.events",
            "StatusChanged": "barry_cli.contract.events",
            "StdioMcpServer": "barry_cli.contract.session",
            "StructuredReply": "barry_cli.turns.structured",
            "StructuredRun": "barry_cli.turns.structured",
            "StructuredRunFailed": "barry_cli.turns.structured",
            "StructuredRunStopped": "barry_cli.turns.structured",
            "Text": "barry_cli.contract.events",
            "TokenUsage": "barry_cli.contract.models",
            "ToolProgress": "barry_cli.contract.events",
            "ToolResult": "barry_cli.contract.events",
            "ToolUse": "barry_cli.contract.events",
            "TurnExecution": "barry_cli.turns.execution",
            "TurnExecutionDependencies": "barry_cli.turns.execution",
            "TurnExecutionStore": "barry_cli.contract.turns",
            "TurnFinish": "barry_cli.contract.turns",
            "TurnSnapshot": "barry_cli.contract.turns",
            "TurnState": "barry_cli.contract.turns",
            "TurnStream": "barry_cli.turns.one_done",
            "UsageReported": "barry_cli.contract.events",
            "allowed_native": "barry_cli.contract.native",
            "assert_session_owner": "barry_cli.turns.ownership",
            "can_enforce_in_sandbox": "barry_cli.policy.native",
            "canonical_json": "barry_cli.base.canonical",
            "configure_harness_session": "barry_cli.contract.native",
            "configure_session": "barry_cli.contract.native",
            "declare_session": "barry_cli.turns.declare",
            "disallowed_tools": "barry_cli.contract.native",
            "execution_hash": "barry_cli.turns.hashes",
            "extract_fence": "barry_cli.turns.fences",
            "is_scoped_mcp_tool": "barry_cli.turns.permissions",
            "one_done": "barry_cli.turns.one_done",
            "per_turn_session": "barry_cli.turns.per_turn",
            "refuse_denied_tools": "barry_cli.turns.permissions",
            "run_structured": "barry_cli.turns.structured",
            "run_to_done": "barry_cli.turns.one_done",
            "split_model": "barry_cli.contract.models",
            "structured_output_for": "barry_cli.turns.structured",
        },
    )

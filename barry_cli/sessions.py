"""Sessions: what is asked for, what happens, what is answered (seed 001)."""

from barry_cli._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationDescriptor as ContinuationDescriptor
    from barry_cli.contract.continuation import ContinuationEffects as ContinuationEffects
    from barry_cli.contract.continuation import ContinuationHarness as ContinuationHarness
    from barry_cli.contract.continuation import RecordedCallResult as RecordedCallResult
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
    from barry_cli.policy.native import can_enforce_in_sandbox as can_enforce_in_sandbox
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "Allowed": "barry_cli.contract.session",
            "ApprovalContinuation": "barry_cli.contract.levels",
            "ContinuationDescriptor": "barry_cli.contract.continuation",
            "ContinuationEffects": "barry_cli.contract.continuation",
            "ContinuationHarness": "barry_cli.contract.continuation",
            "Decide": "barry_cli.contract.session",
            "DeliveryOptions": "barry_cli.contract.session",
            "DeliveryReceipt": "barry_cli.contract.session",
            "Denied": "barry_cli.contract.session",
            "Done": "barry_cli.contract.events",
            "EgressPolicy": "barry_cli.contract.session",
            "Endpoint": "barry_cli.contract.models",
            "Failed": "barry_cli.contract.events",
            "HttpMcpServer": "barry_cli.contract.session",
            "Init": "barry_cli.contract.events",
            "McpServerConfig": "barry_cli.contract.session",
            "Models": "barry_cli.contract.models",
            "Partial": "barry_cli.contract.events",
            "PermissionDecision": "barry_cli.contract.session",
            "PermissionRequest": "barry_cli.contract.session",
            "PermissionRequested": "barry_cli.contract.events",
            "RecordedCallResult": "barry_cli.contract.continuation",
            "Result": "barry_cli.contract.events",
            "Resume": "barry_cli.contract.session",
            "SegmentOutcome": "barry_cli.contract.continuation",
            "Sender": "barry_cli.contract.session",
            "Session": "barry_cli.contract.session",
            "SessionAttachment": "barry_cli.contract.session",
            "SessionConfig": "barry_cli.contract.session",
            "SessionEvent": "barry_cli.contract.events",
            "StatusChanged": "barry_cli.contract.events",
            "StdioMcpServer": "barry_cli.contract.session",
            "Text": "barry_cli.contract.events",
            "TokenUsage": "barry_cli.contract.models",
            "ToolProgress": "barry_cli.contract.events",
            "ToolResult": "barry_cli.contract.events",
            "ToolUse": "barry_cli.contract.events",
            "UsageReported": "barry_cli.contract.events",
            "allowed_native": "barry_cli.contract.native",
            "can_enforce_in_sandbox": "barry_cli.policy.native",
            "configure_harness_session": "barry_cli.contract.native",
            "configure_session": "barry_cli.contract.native",
            "disallowed_tools": "barry_cli.contract.native",
            "split_model": "barry_cli.contract.models",
        },
    )

"""Agents: harnesses that Barry drives without their terminal UI (seeds 002 and 004)."""

from barry_cli._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from barry_cli.base.local_executor import LocalExecutor as LocalExecutor
    from barry_cli.contract.execution import Executor as Executor
    from barry_cli.contract.execution import RunningProcess as RunningProcess
    from barry_cli.contract.plan import Command as Command
    from barry_cli.headless.agent_adapter import AgentAdapter as AgentAdapter
    from barry_cli.headless.agent_adapter import AgentFeatures as AgentFeatures
    from barry_cli.headless.agent_adapter import CommandResult as CommandResult
    from barry_cli.headless.agent_events import AgentEvent as AgentEvent
    from barry_cli.headless.agent_events import Observed as Observed
    from barry_cli.headless.agent_events import Quota as Quota
    from barry_cli.headless.agent_events import Raw as Raw
    from barry_cli.headless.agent_events import Retrying as Retrying
    from barry_cli.headless.agent_events import Stopped as Stopped
    from barry_cli.headless.agent_events import Usage as Usage
    from barry_cli.headless.agent_events import reset_time as reset_time
    from barry_cli.headless.agent_input import AgentInput as AgentInput
    from barry_cli.headless.agent_input import Continuation as Continuation
    from barry_cli.headless.agent_session import agent_session as agent_session
    from barry_cli.headless.capabilities import CapabilitySettings as CapabilitySettings
    from barry_cli.headless.capabilities import PermissionPolicy as PermissionPolicy
    from barry_cli.headless.continuation import agent_continuation as agent_continuation
    from barry_cli.headless.conversations import ConversationStore as ConversationStore
    from barry_cli.headless.conversations import Place as Place
    from barry_cli.headless.conversations import StoredConversation as StoredConversation
    from barry_cli.headless.faults import AgentFault as AgentFault
    from barry_cli.headless.faults import unavailable_fault as unavailable_fault
    from barry_cli.headless.file_conversations import FileConversations as FileConversations
    from barry_cli.headless.harness import CliHarness as CliHarness
    from barry_cli.headless.live import AgentLiveInput as AgentLiveInput
    from barry_cli.headless.live import LiveDialogue as LiveDialogue
    from barry_cli.headless.live import LiveStep as LiveStep
    from barry_cli.headless.plans import AgentConfiguration as AgentConfiguration
    from barry_cli.headless.plans import CredentialPlan as CredentialPlan
    from barry_cli.headless.plans import GeneratedFile as GeneratedFile
    from barry_cli.headless.plans import HostFile as HostFile
    from barry_cli.headless.plans import MergedFile as MergedFile
    from barry_cli.headless.reading import read_count as read_count
    from barry_cli.headless.reading import read_line as read_line
    from barry_cli.headless.reading import read_list as read_list
    from barry_cli.headless.reading import read_number as read_number
    from barry_cli.headless.reading import read_object as read_object
    from barry_cli.headless.reading import read_string as read_string
    from barry_cli.headless.session import HarnessSession as HarnessSession
    from barry_cli.headless.session import TurnOutcome as TurnOutcome
    from barry_cli.headless.variables import Grant as Grant
    from barry_cli.headless.variables import Variables as Variables
    from barry_cli.headless.wire.acp import AcpDialogue as AcpDialogue
    from barry_cli.headless.wire.acp_profile import AcpProfile as AcpProfile
    from barry_cli.headless.wire.jsonrpc import JsonRpc as JsonRpc
    from barry_cli.headless.wire.jsonrpc import RpcError as RpcError
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "AcpDialogue": "barry_cli.headless.wire.acp",
            "AcpProfile": "barry_cli.headless.wire.acp_profile",
            "AgentAdapter": "barry_cli.headless.agent_adapter",
            "AgentConfiguration": "barry_cli.headless.plans",
            "AgentEvent": "barry_cli.headless.agent_events",
            "AgentFault": "barry_cli.headless.faults",
            "AgentFeatures": "barry_cli.headless.agent_adapter",
            "AgentInput": "barry_cli.headless.agent_input",
            "AgentLiveInput": "barry_cli.headless.live",
            "CapabilitySettings": "barry_cli.headless.capabilities",
            "CliHarness": "barry_cli.headless.harness",
            "Command": "barry_cli.contract.plan",
            "CommandResult": "barry_cli.headless.agent_adapter",
            "Continuation": "barry_cli.headless.agent_input",
            "ConversationStore": "barry_cli.headless.conversations",
            "CredentialPlan": "barry_cli.headless.plans",
            "Executor": "barry_cli.contract.execution",
            "FileConversations": "barry_cli.headless.file_conversations",
            "GeneratedFile": "barry_cli.headless.plans",
            "Grant": "barry_cli.headless.variables",
            "HarnessSession": "barry_cli.headless.session",
            "HostFile": "barry_cli.headless.plans",
            "JsonRpc": "barry_cli.headless.wire.jsonrpc",
            "LiveDialogue": "barry_cli.headless.live",
            "LiveStep": "barry_cli.headless.live",
            "LocalExecutor": "barry_cli.base.local_executor",
            "MergedFile": "barry_cli.headless.plans",
            "Observed": "barry_cli.headless.agent_events",
            "PermissionPolicy": "barry_cli.headless.capabilities",
            "Place": "barry_cli.headless.conversations",
            "Quota": "barry_cli.headless.agent_events",
            "Raw": "barry_cli.headless.agent_events",
            "Retrying": "barry_cli.headless.agent_events",
            "RpcError": "barry_cli.headless.wire.jsonrpc",
            "RunningProcess": "barry_cli.contract.execution",
            "Stopped": "barry_cli.headless.agent_events",
            "StoredConversation": "barry_cli.headless.conversations",
            "TurnOutcome": "barry_cli.headless.session",
            "Usage": "barry_cli.headless.agent_events",
            "Variables": "barry_cli.headless.variables",
            "agent_continuation": "barry_cli.headless.continuation",
            "agent_session": "barry_cli.headless.agent_session",
            "read_count": "barry_cli.headless.reading",
            "read_line": "barry_cli.headless.reading",
            "read_list": "barry_cli.headless.reading",
            "read_number": "barry_cli.headless.reading",
            "read_object": "barry_cli.headless.reading",
            "read_string": "barry_cli.headless.reading",
            "reset_time": "barry_cli.headless.agent_events",
            "unavailable_fault": "barry_cli.headless.faults",
        },
    )

"""Adapters: what a harness can do, promise, and how it starts (seed 000)."""

from barry_cli._face import face

TYPE_CHECKING = False
if TYPE_CHECKING:
    from barry_cli.bags.manifest import BagManifest as BagManifest
    from barry_cli.base.problems import AdapterNotInstalled as AdapterNotInstalled
    from barry_cli.base.problems import AdapterRefused as AdapterRefused
    from barry_cli.base.problems import BarryError as BarryError
    from barry_cli.base.problems import HarnessVersionMismatch as HarnessVersionMismatch
    from barry_cli.base.problems import Refused as Refused
    from barry_cli.base.problems import UsageProblem as UsageProblem
    from barry_cli.contract.acp import AcpHarness as AcpHarness
    from barry_cli.contract.adapter import Adapter as Adapter
    from barry_cli.contract.adapter import CallKind as CallKind
    from barry_cli.contract.adapter import Evidence as Evidence
    from barry_cli.contract.adapter import LaunchMode as LaunchMode
    from barry_cli.contract.adapter import Mode as Mode
    from barry_cli.contract.adapter import Modes as Modes
    from barry_cli.contract.adapter import NativeControl as NativeControl
    from barry_cli.contract.adapter import SessionMode as SessionMode
    from barry_cli.contract.adapter import TranscriptSource as TranscriptSource
    from barry_cli.contract.adapter import define_adapter as define_adapter
    from barry_cli.contract.draft import PlanDraft as PlanDraft
    from barry_cli.contract.engine import EngineHandle as EngineHandle
    from barry_cli.contract.engine import EngineSpec as EngineSpec
    from barry_cli.contract.engine import StartEngine as StartEngine
    from barry_cli.contract.evidence import Underway as Underway
    from barry_cli.contract.evidence import spoken as spoken
    from barry_cli.contract.guarantees import Guarantees as Guarantees
    from barry_cli.contract.guarantees import lowered as lowered
    from barry_cli.contract.hook_inbox import HookInbox as HookInbox
    from barry_cli.contract.instrument import HookCall as HookCall
    from barry_cli.contract.instrument import Inside as Inside
    from barry_cli.contract.instrument import Instrument as Instrument
    from barry_cli.contract.instrument import Notice as Notice
    from barry_cli.contract.levels import CaptureLevel as CaptureLevel
    from barry_cli.contract.levels import DeliveryLevel as DeliveryLevel
    from barry_cli.contract.levels import GatingLevel as GatingLevel
    from barry_cli.contract.levels import IdentityLevel as IdentityLevel
    from barry_cli.contract.levels import ModeId as ModeId
    from barry_cli.contract.levels import Platform as Platform
    from barry_cli.contract.line import LineInbox as LineInbox
    from barry_cli.contract.line import place_plugin as place_plugin
    from barry_cli.contract.models import Vendor as Vendor
    from barry_cli.contract.models import VendorCode as VendorCode
    from barry_cli.contract.models import VendorFactories as VendorFactories
    from barry_cli.contract.models import VendorFactory as VendorFactory
    from barry_cli.contract.plan import Command as Command
    from barry_cli.contract.plan import EvidentInbox as EvidentInbox
    from barry_cli.contract.plan import LaunchInbox as LaunchInbox
    from barry_cli.contract.plan import LaunchPlan as LaunchPlan
    from barry_cli.contract.proof import NotShown as NotShown
    from barry_cli.contract.proof import ProofContext as ProofContext
    from barry_cli.contract.proof import ScriptedModel as ScriptedModel
    from barry_cli.contract.proof import Terminal as Terminal
    from barry_cli.contract.requirements import Binary as Binary
    from barry_cli.contract.requirements import HarnessCapabilities as HarnessCapabilities
    from barry_cli.contract.requirements import Install as Install
    from barry_cli.contract.requirements import Login as Login
    from barry_cli.contract.requirements import OfferedModel as OfferedModel
    from barry_cli.contract.requirements import Pin as Pin
    from barry_cli.contract.requirements import Requirements as Requirements
    from barry_cli.registry.adapters import Adapters as Adapters
    from barry_cli.registry.adapters import Added as Added
    from barry_cli.registry.adapters import AddOptions as AddOptions
    from barry_cli.registry.adapters import VendorCodeLoaded as VendorCodeLoaded
    from barry_cli.registry.check import AdapterCheck as AdapterCheck
    from barry_cli.registry.check import check_adapter as check_adapter
    from barry_cli.registry.records import InstalledAdapter as InstalledAdapter
    from barry_cli.registry.records import find_installed as find_installed
    from barry_cli.registry.sample import test_adapter as test_adapter
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "AcpHarness": "barry_cli.contract.acp",
            "Adapter": "barry_cli.contract.adapter",
            "AdapterCheck": "barry_cli.registry.check",
            "AdapterNotInstalled": "barry_cli.base.problems",
            "AdapterRefused": "barry_cli.base.problems",
            "Adapters": "barry_cli.registry.adapters",
            "AddOptions": "barry_cli.registry.adapters",
            "Added": "barry_cli.registry.adapters",
            "BagManifest": "barry_cli.bags.manifest",
            "BarryError": "barry_cli.base.problems",
            "Binary": "barry_cli.contract.requirements",
            "CallKind": "barry_cli.contract.adapter",
            "CaptureLevel": "barry_cli.contract.levels",
            "Command": "barry_cli.contract.plan",
            "DeliveryLevel": "barry_cli.contract.levels",
            "EngineHandle": "barry_cli.contract.engine",
            "EngineSpec": "barry_cli.contract.engine",
            "Evidence": "barry_cli.contract.adapter",
            "EvidentInbox": "barry_cli.contract.plan",
            "GatingLevel": "barry_cli.contract.levels",
            "Guarantees": "barry_cli.contract.guarantees",
            "HarnessCapabilities": "barry_cli.contract.requirements",
            "HarnessVersionMismatch": "barry_cli.base.problems",
            "HookCall": "barry_cli.contract.instrument",
            "HookInbox": "barry_cli.contract.hook_inbox",
            "IdentityLevel": "barry_cli.contract.levels",
            "Inside": "barry_cli.contract.instrument",
            "Install": "barry_cli.contract.requirements",
            "InstalledAdapter": "barry_cli.registry.records",
            "Instrument": "barry_cli.contract.instrument",
            "LaunchInbox": "barry_cli.contract.plan",
            "LaunchMode": "barry_cli.contract.adapter",
            "LaunchPlan": "barry_cli.contract.plan",
            "LineInbox": "barry_cli.contract.line",
            "Login": "barry_cli.contract.requirements",
            "Mode": "barry_cli.contract.adapter",
            "ModeId": "barry_cli.contract.levels",
            "Modes": "barry_cli.contract.adapter",
            "NativeControl": "barry_cli.contract.adapter",
            "NotShown": "barry_cli.contract.proof",
            "Notice": "barry_cli.contract.instrument",
            "OfferedModel": "barry_cli.contract.requirements",
            "Pin": "barry_cli.contract.requirements",
            "PlanDraft": "barry_cli.contract.draft",
            "Platform": "barry_cli.contract.levels",
            "ProofContext": "barry_cli.contract.proof",
            "Refused": "barry_cli.base.problems",
            "Requirements": "barry_cli.contract.requirements",
            "ScriptedModel": "barry_cli.contract.proof",
            "SessionMode": "barry_cli.contract.adapter",
            "StartEngine": "barry_cli.contract.engine",
            "Terminal": "barry_cli.contract.proof",
            "TranscriptSource": "barry_cli.contract.adapter",
            "Underway": "barry_cli.contract.evidence",
            "UsageProblem": "barry_cli.base.problems",
            "Vendor": "barry_cli.contract.models",
            "VendorCode": "barry_cli.contract.models",
            "VendorCodeLoaded": "barry_cli.registry.adapters",
            "VendorFactories": "barry_cli.contract.models",
            "VendorFactory": "barry_cli.contract.models",
            "check_adapter": "barry_cli.registry.check",
            "define_adapter": "barry_cli.contract.adapter",
            "find_installed": "barry_cli.registry.records",
            "lowered": "barry_cli.contract.guarantees",
            "place_plugin": "barry_cli.contract.line",
            "spoken": "barry_cli.contract.evidence",
            "test_adapter": "barry_cli.registry.sample",
        },
    )

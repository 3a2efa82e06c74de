"""What the policy refuses: a call that a bound does not allow, and a policy that can't be made."""

from __future__ import annotations

from barry_cli.base.problems import Refused


class PolicyProblem(Refused):
    """A policy can't be made from what was given: a part is missing, unknown or was changed."""

    code = "policy-problem"


class NotAllowed(Refused):
    """A bound, or the scope of an approval, does not allow this.

    ``field`` is where the rule stands in a bound, ``rule`` the rule itself; both may be empty.
    """

    code = "not-allowed"

    def __init__(self, message: str, *, rule: str = "", field: str = "", hint: str = "") -> None:
        self.rule = rule
        self.field = field
        super().__init__(message, hint=hint, details={"rule": rule, "field": field})

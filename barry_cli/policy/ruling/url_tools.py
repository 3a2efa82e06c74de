"""Tools that read a URL."""

from barry_cli.policy.ruling.domains import domain_rule, hosts_of, is_local
from barry_cli.policy.ruling.operands import HOLE
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.verdict import Verdict, allowed
from barry_cli.policy.ruling.wording import denied


def fetch_verdict(policy: Policy) -> Verdict | None:
    """The denial of every tool that reads URLs."""
    actions = policy.actions
    rule = actions.get("http:read")
    if rule is None:
        return None
    return denied("network.actions", rule, "reading a URL (http:read)")


def url_verdict(policy: Policy, url: str, cwd: str) -> Verdict:
    """Whether a URL may be read."""
    if url.strip()[:5].lower() == "file:":
        from barry_cli.policy.ruling.file_tools import path_verdict

        return path_verdict(policy, url.strip(), "read", cwd)
    hosts = hosts_of(url.strip())
    for host in hosts:
        verdict = host_verdict(policy, host, url, (0, len(url)))
        if verdict is not None:
            return verdict
    if not hosts and (policy.domains or policy.allow_domains is not None):
        field = "network.domains" if policy.domains else "network.allowDomains"
        return denied(field, "", "a URL", url, (0, len(url)), "it names no host")
    return allowed(url)


def host_verdict(policy: Policy, host: str, text: str, span: tuple[int, int]) -> Verdict | None:
    """The denial of a host, if there is one. HOLE in it stands for what isn't known."""
    if HOLE in host:
        from barry_cli.policy.ruling.unsure_hosts import unsure_verdict

        return unsure_verdict(policy, host, text, span)
    rule = domain_rule(host, policy.domains)
    if rule is not None:
        return denied("network.domains", rule, f"the host {host}", text, span)
    wanted = policy.allow_domains
    if wanted is None or is_local(host):
        return None
    if domain_rule(host, wanted) is not None:
        return None
    rule = ", ".join(written for written, _ in wanted)
    return denied("network.allowDomains", rule, f"the host {host}", text, span)

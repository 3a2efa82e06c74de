"""What package managers, registries' and clouds' own programs do over the network."""

from barry_cli.policy.ruling.addresses import addresses, plausible
from barry_cli.policy.ruling.domains import canonical
from barry_cli.policy.ruling.http import READ, SAFE, WRITE, Reach
from barry_cli.policy.ruling.operands import HOLE, Operands, known, take_apart
from barry_cli.policy.ruling.shell.reading import Word

# By subcommand: what reads, a bar, what writes. "+" stands for every other subcommand.
SERVICES: dict[str, str] = {
    "npm": (
        "install i in ins inst insta instal isnt isnta isntal isntall add ci clean-install ic"
        " install-clean update up upgrade udpate view v show info search s se find audit outdated"
        " exec x create install-test it cit ping whoami"
        " | publish unpublish deprecate undeprecate owner author dist-tag dist-tags access login"
        " adduser add-user logout star unstar team token org hook profile trust"
    ),
    "yarn": (
        "add install upgrade up upgrade-interactive dlx create info audit outdated import global"
        " | publish owner login logout tag"
    ),
    "pnpm": (
        "add install i update up upgrade dlx create audit outdated fetch view info search import"
        " | publish login logout deprecate unpublish"
    ),
    "bun": "add install i update x create outdated audit upgrade | publish",
    "npx": "+ |",
    "pip": "install download wheel search index |",
    "pipx": "install upgrade upgrade-all inject run reinstall reinstall-all |",
    "uv": "add sync lock tool pip python self | publish",
    "poetry": "add install update lock search self | publish",
    "pipenv": "install update sync lock upgrade |",
    "twine": "| upload register",
    "conda": "install update create search upgrade |",
    "cargo": "install fetch update search add generate-lockfile info | publish yank owner login",
    "go": "get install |",
    "gem": "install update fetch search outdated | push yank owner signin",
    "bundle": "install update outdated lock add |",
    "composer": "install update require create-project search outdated |",
    "brew": "install upgrade update fetch tap search reinstall outdated |",
    "apt": "install update upgrade full-upgrade dist-upgrade download source build-dep changelog |",
    "apk": "add update upgrade fetch |",
    "dnf": "install update upgrade download search makecache check-update |",
    "zypper": "install in update up refresh ref dup patch |",
    "snap": "install refresh find download info | upload push login",
    "flatpak": "install update search |",
    "docker": "pull search run create build login logout | push",
    "helm": "pull fetch repo search dependency show | push registry install upgrade uninstall",
    "skopeo": "inspect list-tags | copy sync delete",
    "kubectl": (
        "get describe logs top explain api-resources api-versions cluster-info events diff auth"
        " wait port-forward proxy version | +"
    ),
    "terraform": "init plan refresh providers get | apply destroy import login taint",
    "heroku": "logs ps apps config releases status info | +",
    "vercel": "ls list logs inspect whoami pull | +",
    "netlify": "status logs | deploy login",
    "wrangler": "tail whoami | deploy publish login secret delete",
    "flyctl": "logs status info apps ips | deploy launch scale secrets destroy",
    "firebase": "| deploy login",
    "gsutil": "ls cat stat du hash | +",
    "rclone": "ls lsd lsl lsf lsjson cat size check md5sum sha1sum about tree | +",
    "s3cmd": "ls get info du | +",
}
ALIASES = {
    "pip3": "pip",
    "podman": "docker",
    "nerdctl": "docker",
    "buildah": "docker",
    "tofu": "terraform",
    "fly": "flyctl",
    "yum": "dnf",
    "microdnf": "dnf",
    "apt-get": "apt",
    "mamba": "conda",
    "micromamba": "conda",
    "oc": "kubectl",
    "pnpx": "npx",
    "bunx": "npx",
    "uvx": "npx",
    "glab": "gh",
    "gcloud": "aws",
    "az": "aws",
    "doctl": "aws",
}
VALUED = frozenset(
    """-C -n -c -H -l -o -p -w -r -e -F --prefix --registry --cwd --dir --filter --cache --config
    --context --namespace --kubeconfig --host --log-level --python --index-url --proxy --workspace
    --loglevel --userconfig --directory --project --profile --region --output --manifest-path
    --color --server --token --user --cluster --app --account --scope --team --endpoint-url
    --subscription --query --format""".split()
)
GH_READS = frozenset("list view status diff checks checkout download watch verify token".split())
GH_LOCAL = frozenset("help completion alias config extension version".split())
LOCAL = frozenset("help completion config plugin kustomize version".split())
"""Subcommands that stay on this machine, whatever the program."""
GH_VALUED = frozenset(
    """-R -X -f -F -H -q -t -b -L -l -a -m -B -s -p --repo --method --raw-field --field --header
    --hostname --input --jq --template --title --body --limit --label --assignee --milestone
    --base --head --json --search --state --cache --preview""".split()
)
CLOUD_READS = frozenset("ls head lookup search filter wait tail logs read download".split())
CLOUD_READ_VERBS = ("list", "describe", "get", "show", "batch-get", "scan")


def service(name: str, words: list[Word]) -> Reach | None:
    """What one of these programs does; None for any other program."""
    name = ALIASES.get(name, name)
    if name == "gh":
        return _gh(words)
    if name == "aws":
        return _cloud(words)
    listed = SERVICES.get(name)
    if listed is None:
        return None
    reach = Reach()
    found = take_apart(words, VALUED, loose=True)
    verbs = _verbs(found)
    if _asks_for_help(found):
        return reach
    reach.hosts.extend(addresses(words).hosts)
    reads, _, writes = listed.partition("|")
    if verbs[:1] and verbs[0] in LOCAL and verbs[0] not in reads.split():
        return reach
    if name == "uv" and verbs[:1] == ["pip"] and verbs[1:2] not in (["install"], ["sync"]):
        return reach
    if name == "kubectl" and _kubectl(words, verbs, reach):
        return reach
    _by_verb(verbs, reads.split(), writes.split(), words, reach)
    if name == "go" and verbs[:2] in (["mod", "download"], ["mod", "tidy"]):
        reach.add(words[0], READ)
    if name == "docker":
        from barry_cli.policy.ruling.containers import docker

        docker(words, reach)
    if name == "go":
        _modules(found, reach)
    if name == "yarn" and not found.operands:
        reach.add(words[0] if words else Word("", 0, 0, False), READ)
    return reach


def _by_verb(
    verbs: list[str], reads: list[str], writes: list[str], words: list[Word], reach: Reach
) -> None:
    if not words:
        return
    if not verbs:
        if "+" in reads:
            reach.add(words[0], READ)
        return
    # An option that isn't known may have taken the first word for its value: look at two.
    for verb in verbs[:2]:
        if verb == HOLE:
            reach.add(words[0], *([READ] if reads else []), *([WRITE] if writes else []))
            return
        if verb in writes:
            reach.add(words[0], WRITE)
            return
        if verb in reads:
            reach.add(words[0], READ)
            return
    if "+" in writes:
        reach.add(words[0], WRITE)
    elif "+" in reads:
        reach.add(words[0], READ)


def _modules(found: Operands, reach: Reach) -> None:
    """A Go module's path begins with its host."""
    for word in found.operands[1:]:
        head, slash, _ = known(word).partition("/")
        if slash and plausible(head):
            reach.hosts.append((canonical(head), word))


def _kubectl(words: list[Word], verbs: list[str], reach: Reach) -> bool:
    """Its server; True for what its second verb shows to be reading."""
    for word in take_apart(words, VALUED | {"-s"}).values("-s"):
        reach.to_url(word)
    if verbs[:2] not in (["rollout", "status"], ["rollout", "history"]):
        return False
    reach.add(words[0], READ)
    return True


def _gh(words: list[Word]) -> Reach:
    reach = Reach()
    found = take_apart(words, GH_VALUED, loose=True)
    verbs = _verbs(found)
    if not verbs or verbs[0] in GH_LOCAL or _asks_for_help(found):
        return reach
    if verbs[:2] in (["auth", "setup-git"], ["auth", "token"], ["repo", "set-default"]):
        return reach
    first = found.operands[0]
    if verbs[0] == "api":
        _gh_api(found, reach)
    elif verbs[0] in {"search", "status", "browse"}:
        reach.add(first, READ)
    elif verbs[1:2] == ["clone"] or verbs[1:2] == ["checkout"]:
        reach.add(first, READ, "git:fetch")
    elif verbs[1:2] and HOLE in verbs[1]:
        reach.add(first, READ, WRITE)
    elif verbs[1:2]:
        reach.add(first, READ if verbs[1] in GH_READS else WRITE)
        if verbs[:2] == ["repo", "create"] and found.has("--push"):
            reach.add(first, "git:push")
    addressed = [word for word in found.operands[1:3] if "://" in known(word)]
    for word in found.values("--hostname") + addressed:
        reach.to_url(word)
    named = found.operands[2:3] if verbs[0] == "repo" else []
    for word in found.values("-R", "--repo") + named:
        host, _, rest = known(word).partition("/")
        if "/" in rest and "." in host:  # HOST/OWNER/NAME
            reach.to_url(Word(host, word.start, word.end, True))
    return reach


def _gh_api(found: Operands, reach: Reach) -> None:
    first = found.operands[0]
    methods = found.values("-X", "--method")
    if methods:
        method = methods[-1].text
        reach.add(first, READ if method is not None and method.upper() in SAFE else WRITE)
    elif found.has("-f", "-F", "--raw-field", "--field", "--input"):
        reach.add(first, WRITE)
    elif found.unknown:
        reach.add(first, READ, WRITE)
    else:
        reach.add(first, READ)


def _cloud(words: list[Word]) -> Reach:
    """Their verb stands behind one or more names: `s3 ls`, `compute instances list`."""
    reach = Reach()
    reach.hosts.extend(addresses(words).hosts)
    found = take_apart(words, VALUED, loose=True)
    verbs = _verbs(found)
    if len(verbs) < 2 or _asks_for_help(found) or verbs[0] in {"configure", "config", "help"}:
        return reach
    first = found.operands[0]
    if verbs[:2] in (["s3", "cp"], ["s3", "sync"], ["s3", "mv"]):
        target = verbs[3] if len(verbs) > 3 else HOLE
        reach.add(first, WRITE if target[:5] == "s3://" or verbs[1] == "mv" else READ)
        if HOLE in target:
            reach.add(first, WRITE)
        return reach
    reads = any(verb in CLOUD_READS or verb.startswith(CLOUD_READ_VERBS) for verb in verbs[1:4])
    reach.add(first, READ if reads else WRITE)
    return reach


def _verbs(found: Operands) -> list[str]:
    return [known(word) for word in found.operands]


def _asks_for_help(found: Operands) -> bool:
    # Not a letter of what is attached to another option: -ihttps://..
    asks = {"--version", "--help", "-h"}
    return any(option.name in asks and option.word.text in asks for option in found.options)

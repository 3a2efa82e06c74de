"""Subcommands: which words of a command line are the chain `push` or `pr create`.

The options that stand before and inside a chain are known for the programs below, so that the
`x` in `git -C x push` isn't taken for one. For other programs, and for options that are not
listed, both are tried: that the option takes the next word, and that it doesn't.
"""

from barry_cli.policy.ruling.programs.options import OPTIONAL, STOP, kinds, scan
from barry_cli.policy.ruling.programs.wrappers import ALIASES, WRAPPERS
from barry_cli.policy.ruling.shell.nodes import Word

_DOCKER = (
    "config: c: context: D debug H: host: l: log-level: tls tlscacert: tlscert: tlskey: tlsverify"
    " v version url: identity: connection: root: runroot: remote r n: namespace: address: a:"
    " storage-driver: storage-opt: cgroup-manager: tmpdir: module: help h"
)
_COMPOSE = (
    "f: file: p: project-name: profile: env-file: project-directory: ansi: parallel: progress:"
    " compatibility dry-run all-resources verbose c: context: H: host: log-level: no-ansi v version"
    " tls help h"
)
_NODE = (
    "prefix: C: dir: cwd: cache: registry: userconfig: globalconfig: w: workspace: loglevel:"
    " script-shell: otp: tag: F: filter: reporter: g global s silent q quiet d dd ddd verbose"
    " workspaces ws include-workspace-root if-present ignore-scripts r recursive json y yes f force"
    " p parseable save-dev D save S no-save no-audit no-fund legacy-peer-deps production"
    " stream parallel aggregate-output color no-color h help v version use-stderr if-present"
    " top-level offline frozen-lockfile bun b"
)
_KUBECTL = (
    "n: namespace: context: cluster: kubeconfig: s: server: token: user: as: as-group: as-uid:"
    " cache-dir: certificate-authority: client-certificate: client-key: profile: profile-output:"
    " request-timeout: tls-server-name: username: password: v: vmodule: log-dir: log-file:"
    " insecure-skip-tls-verify match-server-version warnings-as-errors disable-compression"
)

GLOBALS: dict[str, str] = {
    "git": (
        "C: c: git-dir: work-tree: namespace: super-prefix: config-env: attr-source: exec-path"
        " html-path man-path info-path p paginate P no-pager no-replace-objects no-lazy-fetch"
        " no-optional-locks no-advice bare literal-pathspecs glob-pathspecs noglob-pathspecs"
        " icase-pathspecs list-cmds: v! version! h! help!"
    ),
    "gh": "R: repo: hostname: help! version!",
    "glab": "R: repo: g: group: help version h v",
    "hub": "noop help version C: c: git-dir: work-tree:",
    "docker": _DOCKER,
    "docker compose": _COMPOSE,
    "docker-compose": _COMPOSE,
    "docker container": "help",
    "kubectl": _KUBECTL,
    "helm": (
        "n: namespace: kube-context: kubeconfig: kube-apiserver: kube-token: kube-ca-file: debug"
        " kube-as-user: kube-as-group: registry-config: repository-cache: repository-config:"
        " burst-limit: qps: kube-insecure-skip-tls-verify kube-tls-server-name: h help"
    ),
    "npm": _NODE,
    "pnpm": _NODE,
    "yarn": _NODE,
    "bun": _NODE,
    "cargo": (
        "color: C: Z: config: explain: manifest-path: target-dir: j: jobs: p: package: v verbose q"
        " quiet frozen locked offline list V version h help"
    ),
    "rustup": "v verbose q quiet h help V version",
    "go": "C:",
    "terraform": "~ chdir: help version",
    "tofu": "~ chdir: help version",
    "terragrunt": "~ chdir: terragrunt-working-dir: working-dir: help version",
    "pulumi": "C: cwd: s: stack: color: v: verbose: logtostderr logflow e emoji non-interactive",
    "aws": (
        "profile: region: output: query: endpoint-url: color: ca-bundle: cli-read-timeout:"
        " cli-connect-timeout: cli-binary-format: debug no-verify-ssl no-paginate no-sign-request"
        " no-cli-pager cli-auto-prompt no-cli-auto-prompt version"
    ),
    "gcloud": (
        "account: project: billing-project: configuration: format: filter: flags-file: verbosity:"
        " impersonate-service-account: access-token-file: flatten: limit: page-size: sort-by:"
        " trace-token: user-output-enabled log-http q quiet h help v version"
    ),
    "gsutil": "o: h: i: u: m q D DD",
    "az": "o: output: query: subscription: only-show-errors verbose debug h help v version",
    "doctl": "t: access-token: u: api-url: c: config: context: o: output: http-retry-max: trace v",
    "fly": "t: access-token: a: app: c: config: verbose debug h help",
    "heroku": "a: app: r: remote: version help",
    "vercel": "A: local-config: Q: global-config: S: scope: T: team: t: token: cwd: d debug h v",
    "wrangler": "c: config: e: env: cwd: h help v version",
    "pip": (
        "python: log: keyring-provider: proxy: retries: timeout: exists-action: trusted-host: cert:"
        " client-cert: cache-dir: use-feature: use-deprecated: isolated require-virtualenv v q"
        " verbose quiet debug no-input no-cache-dir no-color disable-pip-version-check"
        " no-python-version-warning h help V version"
    ),
    "uv": (
        "cache-dir: color: config-file: directory: project: allow-insecure-host: n no-cache q"
        " quiet v verbose offline no-progress no-config native-tls managed-python h help V version"
    ),
    "poetry": "C: directory: P: project: n no-interaction q quiet v vv vvv no-plugins no-cache",
    "pipenv": "python: pypi-mirror: three two q quiet v verbose site-packages clear h",
    "twine": "no-color version h help",
    "brew": "d debug q quiet v verbose h help",
    "apt-get": (
        "o: option: c: config-file: t: target-release: default-release: a: host-architecture: y yes"
        " assume-yes q qq quiet s simulate f m no-install-recommends allow-downgrades d"
    ),
    "apt": "o: option: c: config-file: t: target-release: a: host-architecture: y yes q qq f d s",
    "dnf": "c: config: y q v x: exclude: enablerepo: disablerepo: repo: releasever: installroot:",
    "yum": "c: config: y q v x: exclude: enablerepo: disablerepo: releasever: installroot:",
    "systemctl": (
        "H: host: M: machine: t: type: p: property: P: n: lines: o: output: s: signal: state: root:"
        " image: job-mode: kill-whom: kill-value: user system global q quiet f force now no-pager"
        " no-block no-ask-password a all l full r recursive no-legend plain no-wall h help version"
    ),
    "svn": (
        "username: password: config-dir: config-option: trust-server-cert-failures: q v"
        " non-interactive no-auth-cache trust-server-cert force-interactive password-from-stdin"
    ),
    "hg": (
        "R: repository: repo: cwd: config: color: encoding: encodingmode: pager: y noninteractive q"
        " quiet v verbose debug debugger traceback time profile hidden h help version"
    ),
    "vagrant": "no-color color machine-readable debug timestamp v version h help",
    "ansible-vault": "vault-id: vault-password-file: h help v",
    "dotenv": "f: file: q: quote: e: export:",
    "tmux": "f: L: S: c: T: 2 C D l N u v V",
    "conda": "v q json debug no-plugins h help V version",
    "nix": "extra-experimental-features: option:: store: log-format: v verbose debug quiet L",
    "bundle": "r: retry: no-color V verbose h help v version",
    "perf": "exec-path: html-path no-pager p paginate debug: buildid-dir: h help v version",
    "mise": "C: cd: E: env: j: jobs: q quiet v verbose y yes raw",
    "fnm": "node-dist-mirror: fnm-dir: log-level: arch: version-file-strategy: corepack-enabled",
}
"""Program, or program and subcommand -> its options that stand before (further) subcommands."""

_TWO: dict[str, str] = {
    "gh": "*",
    "glab": "*",
    "aws": "*",
    "az": "*",
    "gcloud": "*",
    "doctl": "*",
    "fly": "*",
    "docker": "compose container image volume network system buildx builder context swarm stack"
    " service node secret config plugin manifest trust machine pod",
    "npm": "run run-script exec config access owner dist-tag team token org profile pkg cache",
    "yarn": "run workspace npm workspaces",
    "pnpm": "run exec store env",
    "bun": "run pm",
    "terraform": "state workspace providers metadata",
    "tofu": "state workspace providers metadata",
    "kubectl": "rollout config auth certificate set create cluster-info",
    "helm": "repo plugin registry dependency get show search",
    "uv": "run pip tool python cache self",
    "poetry": "run env source cache self",
    "pip": "config cache index",
    "brew": "services bundle",
    "vercel": "env domains dns certs alias",
    "nix": "profile flake store",
    "conda": "env run",
    "pulumi": "stack config policy state",
}
_THREE = frozenset(("gcloud",))


def key(program: str) -> str:
    """The name under which a program stands in the tables."""
    found = ALIASES.get(program)
    if found is not None or program[:3] not in {"ld-", "ld.", "qem"}:
        return found or program
    if program[:5] == "qemu-" and program not in _QEMU and program[:12] != "qemu-system-":
        return "qemu"
    return "loader" if program[:2] == "ld" and ".so" in program else program


_QEMU = frozenset(("qemu-ga", "qemu-img", "qemu-io", "qemu-nbd", "qemu-pr-helper"))


def _options(program: str) -> str:
    """The options in front of a program's operands, as far as they are listed."""
    listed = GLOBALS.get(program)
    return listed if listed is not None else WRAPPERS.get(program, "").partition(" ")[2]


def depth(program: str, first: str) -> int:
    """How many words make up a program's chain that begins with `first`."""
    program = key(program)
    listed = _TWO.get(program)
    if listed is None or not (listed == "*" or first in listed.split()):
        return 1
    return 3 if program in _THREE else 2


def chain(words: list[Word], name: str) -> list[str]:
    """The subcommand chain of a call: empty without one, shorter where a word isn't known."""
    at = 1
    program = key(name)
    most = 1
    found: list[str] = []
    while len(found) < most:
        operands = scan(words, at, _options(program)).at
        if not operands or operands[0] >= len(words):
            break
        text = words[operands[0]].text
        if text is None:
            break
        if not found and program in _PLUS and text[:1] == "+":
            at = operands[0] + 1
            continue
        found.append(text)
        if len(found) == 1:
            most = depth(name, text)
        program = f"{program} {text}"
        if program not in GLOBALS:
            program = key(name)
        at = operands[0] + 1
    return found


_MOST = 512  # states of one chain: a sane line has a handful
_PLUS = frozenset(("cargo", "rustc", "rustup", "rustfmt"))  # `cargo +nightly publish`


class _State:
    """How far a chain was followed: the next word, how many parts are done, the table of options
    that holds there; `maybe`: an unknown word was taken for a part; `plain`: behind `--`.
    """

    __slots__ = ("at", "done", "maybe", "plain", "table")

    def __init__(self, at: int, done: int, table: str, maybe: bool, plain: bool) -> None:
        self.at = at
        self.done = done
        self.table = table
        self.maybe = maybe
        self.plain = plain

    def skip(self, words: int) -> "_State":
        return _State(self.at + words, self.done, self.table, self.maybe, self.plain)

    def take(self, part: str, program: str, sure: bool) -> "_State":
        deeper = f"{self.table} {part}"
        table = deeper if deeper in GLOBALS else program
        return _State(self.at + 1, self.done + 1, table, self.maybe or not sure, self.plain)


def completes(words: list[Word], name: str, parts: tuple[str, ...]) -> int:
    """Whether the words behind the program begin with the chain `parts`, or may.

    0: they don't. 1: they do. 2: unknown words may complete it.
    """
    program = key(name)
    best = 0
    todo = [_State(1, 0, program, False, False)]
    seen: set[tuple[int, int, str, bool, bool]] = set()
    while todo:
        state = todo.pop()
        if state.done == len(parts):
            if not state.maybe:
                return 1
            best = 2
            continue
        mark = (state.at, state.done, state.table, state.maybe, state.plain)
        if state.at >= len(words) or mark in seen:
            continue
        if len(seen) > _MOST:
            return 2
        seen.add(mark)
        word = words[state.at]
        head = word.text if word.text is not None else word.prefix
        if head[:1] == "-" and (head != "-" or word.text is None) and not state.plain:
            todo += _past_option(state, word, head, parts[state.done], program)
        elif head == "" and word.text is None and word.many:
            best = 2  # no word, or all that is left of the chain
        else:
            todo += _past_word(state, word, head, parts[state.done], program)
    return best


def _past_word(state: _State, word: Word, head: str, part: str, program: str) -> list[_State]:
    if word.text is not None:
        if head == part:
            return [state.take(part, program, True)]
        if state.done == 0 and head[:1] == "+" and program in _PLUS:
            return [state.skip(1)]
        return []
    found: list[_State] = []
    if head == "" and not state.plain:  # an option, with or without a value
        found += [state.skip(1), state.skip(2)]
        for after in found:
            after.maybe = True
    if len(head) <= len(part) and part.startswith(head) and part.endswith(word.suffix):
        found.append(state.take(part, program, False))
    return found


def _past_option(state: _State, word: Word, head: str, part: str, program: str) -> list[_State]:
    whole = word.text is not None
    if whole and head == "--":
        after = state.skip(1)
        after.plain = True
        return [after]
    takes, sure = _takes(head, whole, _options(state.table))
    if takes == STOP:
        return []
    found = [state.skip(1 + takes)]
    if not sure:
        found.append(state.skip(2))
    if not whole and part.startswith(head):
        found.append(state.take(part, program, False))
    return found


def _takes(head: str, whole: bool, spec: str) -> tuple[int, bool]:
    """How many words an option takes as its values (or STOP), and whether that is known."""
    table = kinds(spec)
    if head[:2] == "--" or "~" in table:
        name, equal, _ = head.lstrip("-").partition("=")
        if equal or not whole:
            return 0, True
        takes = table.get(name) if len(name) > 1 else None
        return (0, False) if takes is None else (0 if takes == OPTIONAL else takes, True)
    for index in range(1, len(head)):
        takes = table.get(head[index])
        if takes is None:
            return 0, index < len(head) - 1 or not whole or head[index].isdigit()
        if takes == STOP:
            return STOP, True
        if takes:
            last = index == len(head) - 1 and whole
            return (0 if takes == OPTIONAL else takes if last else takes - 1), True
    return 0, whole or head != "-"

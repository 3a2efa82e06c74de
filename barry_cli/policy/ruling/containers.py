"""Where container programs get their images from, and bring them to."""

from barry_cli.policy.ruling.http import READ, WRITE, Reach
from barry_cli.policy.ruling.operands import HOLE, known, take_apart
from barry_cli.policy.ruling.shell.reading import Word

VALUED = frozenset(
    """-a -c -e -h -H -l -m -p -u -v -w -f -t -o --add-host --annotation --arch --attach
    --blkio-weight --build-arg --build-context --builder --cache-from --cache-to --cap-add
    --cap-drop --cgroup-parent --cgroupns --cidfile --config --context --cpu-period --cpu-quota
    --cpu-shares --cpus --cpuset-cpus --cpuset-mems --detach-keys --device --device-cgroup-rule
    --dns --dns-option --dns-search --domainname --entrypoint --env --env-file --expose --file
    --filter --format --gpus --group-add --health-cmd --health-interval --health-retries
    --health-timeout --host --hostname --iidfile --ip --ip6 --ipc --isolation --kernel-memory
    --label --label-file --link --log-driver --log-level --log-opt --mac-address --memory
    --memory-reservation --memory-swap --metadata-file --mount --name --net --network
    --network-alias --oom-score-adj --output --password --pid --pids-limit --platform --pod
    --profile --progress --project-name --publish --pull --restart --runtime --secret
    --security-opt --shm-size --ssh --stop-signal --stop-timeout --storage-opt --sysctl --tag
    --target --tmpfs --ulimit --user --username --userns --uts --volume --volume-driver
    --volumes-from --workdir""".split()
)
GROUPS = frozenset("image compose manifest plugin buildx container".split())
ONE = frozenset("pull push run create login logout inspect search".split())
"""Subcommands with an image or a registry for their first operand."""


STARTS = frozenset("run create exec start attach".split())
"""Subcommands under which -t and -i are flags; elsewhere they take a name."""


def without_flags(words: list[Word], valued: frozenset[str]) -> frozenset[str]:
    """The options that take a value under the subcommand that these words have."""
    verbs = {word.text for word in take_apart(words, valued).operands[:2]}
    return valued - {"-t", "-i", "-f", "-o"} if verbs & STARTS else valued


def docker(words: list[Word], reach: Reach) -> None:
    """`image push`, `compose pull`; a registry stands in front of an image's name."""
    found = take_apart(words, without_flags(words, VALUED))
    operands = found.operands
    verbs = [known(word) for word in operands[:2]]
    if verbs[:1] and verbs[0] in GROUPS:
        reach.actions.clear()
        if "push" in verbs[1:]:
            reach.add(operands[1], WRITE)
        elif verbs[1:] and verbs[1] in {"pull", "build", "bake", "up", "inspect", "install", "run"}:
            reach.add(operands[1], READ)
        grouped = verbs[0] != "compose"
        operands, verbs = (operands[1:], verbs[1:]) if grouped else ([], [])
    if not verbs or verbs[0] not in ONE:
        return
    for word in operands[1:2]:
        text = known(word)
        first, slash, _ = text.partition("/")
        if verbs[0] in {"login", "logout"}:
            reach.to_url(word)
        elif HOLE in first or (slash and ("." in first or ":" in first)):
            reach.to_url(Word(f"docker://{first}", word.start, word.end, True))

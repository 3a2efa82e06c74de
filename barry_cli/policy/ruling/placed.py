"""The folder that a program moves to before it runs another."""

from barry_cli.policy.ruling.operands import after
from barry_cli.policy.ruling.programs.call import Call
from barry_cli.policy.ruling.shell.reading import Word

# Program -> the options that name the folder; behind a bar those after which it may be any.
_OPTIONS = {
    "bwrap": "--chdir",
    "chroot": "|",
    "docker": "-w --workdir",
    "env": "-C --chdir | -S --split-string",
    "git": "-C --work-tree | foreach",
    "just": "-d --working-directory",
    "login": "|",
    "machinectl": "|",
    "make": "-C --directory",
    "mise": "-C --cd",
    "nerdctl": "-w --workdir",
    "npm": "--prefix -C",
    "nsenter": "--wd -w --wdns | -r --root",
    "parallel": "--wd --workdir",
    "pdm": "-p --project",
    "pixi": "--cwd",
    "pnpm": "-C --dir",
    "podman": "-w --workdir",
    "poetry": "-C --directory",
    "runuser": "| - -l --login",
    "start-stop-daemon": "-d --chdir",
    "su": "| - -l --login",
    "sudo": "-D --chdir | -i --login",
    "systemd-run": "--working-directory",
    "tmux": "-c",
    "unshare": "-w --wd | -R --root",
    "uv": "--directory --project",
    "watchexec": "--workdir",
    "yarn": "--cwd",
}


def placed(call: Call, inner: Call) -> "list[Word | None]":
    """The folders that `call` moves to in turn before it runs `inner`; None where it may be any."""
    options, _, unsure = _OPTIONS[call.name].partition("|")
    if not options and not unsure.strip():
        return [None]
    named, lost = options.split(), unsure.split()
    first = inner.words[0]
    found: list[Word | None] = []
    words = call.words
    for index, word in enumerate(words[1:], 1):
        if word is first or word.text == "--":
            break
        head = word.prefix
        if any(head == each or (each[:2] == "--" and head[: len(each)] == each) for each in lost):
            if head[:2] != "-S" or "C" in (word.text or "C") or "chdir" in head:
                found.append(None)
            continue
        for option in named:
            if word.text == option:
                found += words[index + 1 : index + 2]
            elif option[:2] == "--" and head.startswith(f"{option}="):
                found.append(after(word, len(option) + 1))
            elif option[:2] != "--" and head[:2] == option and len(head) > 2:
                found.append(after(word, 3 if head[2] == "=" else 2))
        if head[:1] == "-" != head[1:2] and "-i" in lost and "i" in head and "/" not in head:
            found.append(None)
    return found

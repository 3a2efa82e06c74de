"""The programs that run a command given to them, and how each reads its own options.

An entry begins with how the command stands there, then come the options as `options` lists them.
A digit: so many operands stand in front of the command. Letters:
`n` that operand is there only when it is a number; `t` it is a time; `m` options may follow it;
`a` NAME=VALUE words may stand in front; `s` the words are joined and read by a shell; `o` one word
is read by a shell, several are a program with arguments; `e` under the option s one word is read
by a shell; `c` each word is read by a shell; `i` without a command a shell reads its input; `d` the
command stands behind `--` only; `-` the words are no command, only options carry some.
"""

# Kept as plain text: most command lines need none of it, and none is taken apart unless needed.
_RUN = (
    "1i d detach e: env: env-file: i interactive privileged t tty u: user: w: workdir: detach-keys:"
    " help! T no-TTY index: preserve-fds: latest l"
)
_CONTAINER = (
    "1 a: attach: add-host: annotation: arch: blkio-weight: blkio-weight-device: cap-add: cap-drop:"
    " cgroup-parent: cgroupns: cgroups: cidfile: conmon-pidfile: c: cpu-shares: cpu-count:"
    " cpu-percent: cpu-period: cpu-quota: cpu-rt-period: cpu-rt-runtime: cpus: cpuset-cpus:"
    " cpuset-mems: d detach detach-keys: device: device-cgroup-rule: device-read-bps:"
    " device-read-iops: device-write-bps: device-write-iops: disable-content-trust dns: dns-opt:"
    " dns-option: dns-search: domainname: entrypoint: e: env: env-file: env-host expose: gidmap:"
    " gpus: group-add: health-cmd$ health-interval: health-retries: health-start-interval:"
    " health-start-period: health-timeout: help! h: hostname: hostuser: init init-path: i"
    " interactive io-maxbandwidth: io-maxiops: ip: ip6: ipc: isolation: kernel-memory: l: label:"
    " label-file: link: link-local-ip: log-driver: log-opt: mac-address: m: memory:"
    " memory-reservation: memory-swap: memory-swappiness: mount: name: network: net:"
    " network-alias: net-alias: no-healthcheck oom-kill-disable oom-score-adj: pid: pids-limit:"
    " platform: pod: privileged p: publish: P publish-all pull: q quiet read-only replace requires:"
    " restart: rm rmi rootfs runtime: secret: security-opt: shm-size: sig-proxy stop-signal:"
    " stop-timeout: storage-opt: subgidname: subuidname: sysctl: systemd: tls-verify tmpfs: t tty"
    " tz: uidmap: ulimit: umask: u: user: userns: uts: v: volume: volume-driver: volumes-from: w:"
    " workdir: no-deps service-ports use-aliases build quiet-pull remove-orphans T no-TTY"
)
_KUBECTL = (
    " n: namespace: context: cluster: kubeconfig: s: server: token: user: as: as-group:"
    " request-timeout: v: c: container: i stdin t tty q quiet f: filename: pod-running-timeout:"
    " help! h!"
)
_UV = (
    " active all-extras all-groups all-packages C: cache-dir: color: compile-bytecode config-file:"
    " config-setting: default-index: directory: dev env-file: exact extra: extra-index-url: f:"
    " find-links: frozen g: group: i: index: index-url: index-strategy: isolated keyring-provider:"
    " link-mode: locked managed-python n no-cache no-config no-default-groups no-dev no-editable"
    " no-env-file no-extra: no-group: no-index no-managed-python no-progress no-project no-sync"
    " offline only-dev only-group: package: P: prerelease: project: p: python: python-platform:"
    " python-preference: q quiet refresh refresh-package: reinstall reinstall-package: resolution:"
    " U upgrade upgrade-package: v verbose w: with: with-editable: with-requirements: from:"
    " torch-backend: no-build no-binary h! help! V! version! gui-script s script"
)
_NPX = (
    "0 p: package: c$ call$ w: workspace: workspaces include-workspace-root y yes no no-install q"
    " quiet ignore-existing prefix: cache: registry: userconfig: script-shell: shell-auto-fallback:"
    " n: node-arg: node-options: parallel r recursive C: dir: filter: F: shell-mode bun silent s"
    " loglevel: h! help! v! version!"
)
_STRACE = (
    "0 a: b: e: E: I: o: O: p: P: s: S: u: U: X: c C d D f F h! i k n N q r t T v V! w x y Y z Z"
    " abbrev: argv0: attach: columns: const-print-style: decode-fds: decode-pids: env: fault:"
    " inject: interruptible: kvm: output: quiet: raw: signal: signals: silent: stack-trace-limit:"
    " status: string-limit: summary-columns: summary-sort-by: summary-syscall-overhead: syscalls:"
    " trace: trace-fds: trace-path: user: verbose: write: read: follow-forks debug failed-only"
    " instruction-pointer output-append-mode seccomp-bpf successful-only summary summary-only"
    " summary-wall-clock syscall-number syscall-times tips strings-in-hex help! version!"
    " always-show-pid stack-trace relative-timestamps absolute-timestamps no-abbrev daemonize"
)

WRAPPERS: dict[str, str] = {
    # privileges, accounts, machines
    "sudo": (
        "0ai u: user: g: group: h: host: p: prompt: C: close-from: c: login-class: a: auth-type:"
        " D: chdir: R: chroot: r: role: t: type: T: command-timeout: U: other-user: A askpass b"
        " background B bell E preserve-env H set-home i login k reset-timestamp n non-interactive N"
        " no-update P preserve-groups S stdin s shell e! edit! K! remove-timestamp! l! list! v!"
        " validate! V! version! help!"
    ),
    "doas": "0i u: a: C: L! n s",
    "pkexec": "0 u: user: disable-internal-agent help! version! keep-cwd",
    "gosu": "1 h! v! help! version!",
    "su-exec": "1",
    "setuidgid": "1",
    "sshpass": "0 f: d: p: P: e v h! V!",
    "chroot": "1i userspec: groups: skip-chdir help! version!",
    "unshare": (
        "0i m u i n p U C T f r c R: w: S: G: l: mount uts ipc net pid user cgroup time fork"
        " kill-child mount-proc mount-binfmt map-root-user map-current-user map-auto map-user:"
        " map-group: map-users: map-groups: propagation: setgroups: root: wd: setuid: setgid:"
        " boottime: monotonic: load-interp: keep-caps owner: h! help! V! version!"
    ),
    "nsenter": (
        "0i a m u i n p U C T r w F Z e t: S: G: W: N: all mount uts ipc net pid user cgroup time"
        " root wd no-fork follow-context env keep-caps preserve-credentials target: setuid: setgid:"
        " net-socket: wdns: user-parent join-cgroup h! help! V! version!"
    ),
    "setpriv": (
        "0 clear-groups keep-groups init-groups groups: reuid: regid: ruid: rgid: euid: egid:"
        " inh-caps: ambient-caps: bounding-set: securebits: pdeathsig: ptracer: selinux-label:"
        " apparmor-profile: landlock-access: landlock-rule: seccomp-filter: no-new-privs reset-env"
        " d! dump! list-caps! help! version!"
    ),
    "systemd-run": (
        "0 H: host: M: machine: u: unit: p: property: description: slice: E: setenv: uid: gid:"
        " nice: working-directory: service-type: on-active: on-boot: on-startup: on-unit-active:"
        " on-unit-inactive: on-calendar: path-property: socket-property: timer-property: json:"
        " background: d S shell t pty P pipe q quiet r remain-after-exit G collect user system"
        " scope same-dir slice-inherit send-sighup no-block wait no-ask-password expand-environment"
        " on-timezone-change on-clock-change ignore-failure no-pager h! help! version!"
    ),
    "run0": "0 u: user: g: group: D: chdir: setenv: unit: property: slice: nice: background:",
    "systemd-inhibit": "0 what: who: why: mode: list! no-pager no-legend help! version!",
    "systemd-nspawn": "0 D: directory: i: image: M: machine: u: user: E: setenv: bind: bind-ro:",
    "machinectl shell": "1i uid: E: setenv: q quiet",
    "firejail": "0 ~ list! tree! top! version! help! quiet noprofile private net",
    "bwrap": (
        "0 args: argv0: unshare-all share-net unshare-user unshare-user-try unshare-ipc unshare-pid"
        " unshare-net unshare-uts unshare-cgroup unshare-cgroup-try userns: userns2: disable-userns"
        " assert-userns-disabled pidns: uid: gid: hostname: chdir: clearenv setenv:: unsetenv:"
        " lock-file: sync-fd: bind:: bind-try:: dev-bind:: dev-bind-try:: ro-bind:: ro-bind-try::"
        " bind-fd:: ro-bind-fd:: remount-ro: overlay-src: overlay::: tmp-overlay: ro-overlay:"
        " exec-label: file-label: proc: dev: tmpfs: mqueue: dir: file:: bind-data:: ro-bind-data::"
        " symlink:: seccomp: add-seccomp-fd: block-fd: userns-block-fd: info-fd: json-status-fd:"
        " new-session die-with-parent as-pid-1 cap-add: cap-drop: perms: size: chmod:: level-prefix"
        " help! version!"
    ),
    "proot": "0 r: rootfs: b: bind: q: qemu: w: pwd: cwd: v: k: 0 R: S: i: h! V!",
    "fakeroot": "0 l: lib: faked: s: i: u unknown-is-real b: h! v!",
    "sandbox-exec": "0 f: n: p: D:",
    "docker exec": _RUN,
    "docker run": _CONTAINER,
    "docker create": _CONTAINER,
    "docker compose exec": _RUN,
    "docker compose run": _CONTAINER,
    "docker-compose exec": _RUN,
    "docker-compose run": _CONTAINER,
    "docker container exec": _RUN,
    "docker container run": _CONTAINER,
    "kubectl exec": "1m" + _KUBECTL,
    "kubectl run": "d" + _KUBECTL + " image: command l: labels: env: restart: rm overrides: port:",
    "kubectl debug": "d" + _KUBECTL + " image: target: copy-to: profile: env: share-processes",
    "k3s": "0",
    "microk8s": "0",
    "lxc exec": "1 cwd: env: mode: user: group: t T n force-interactive force-noninteractive",
    "distrobox enter": "1 n: name: e T nw no-workdir a: additional-flags: v verbose",
    "toolbox run": "0 c: container: d: distro: r: release:",
    "vagrant ssh": "- c$ command$",
    "gh codespace ssh": "ds c: codespace: repo: server-port: profile: config d debug",
    "multipass exec": "1 d: working-directory: n no-map-working-directory v verbose",
    "limactl shell": "1 workdir: shell: debug tty preserve-env",
    "colima ssh": "d p: profile:",
    "minikube ssh": "d p: profile: n: node: native-ssh",
    "wsl": "0 d: distribution: u: user: cd: e exec shell-type: system",
    "cmd": "1o",
    "ansible": "- a% args% m: module-name: i: inventory: u: user: e: extra-vars: f: l: b K k",
    "pdsh": "0s w: x: l: t: u: f: R: g: X: b S N",
    "clush": "0s w: x: g: X: l: t: u: f: o: a b B q v",
    "pssh": "0s h: hosts: H: host: l: user: p: par: o: outdir: e: errdir: t: timeout: O: x: A i v",
    "gcloud compute ssh": "- command$ zone: project: ssh-key-file: ssh-flag: tunnel-through-iap",
    "heroku run": "0 a: app: r: remote: s: size: x exit-code no-tty e: env: no-notify type:",
    "fly ssh console": "- C$ command$ a: app:",
    "mosh": "1sm client: server: predict: family: p: port: ssh: ssh-pty no-init local a n",
    # priority, time, signals, limits
    "nice": "0 n: adjustment: help! version!",
    "nohup": "0 help! version!",
    "timeout": (
        "1t k: kill-after: s: signal: foreground preserve-status v verbose f p help! version!"
    ),
    "gtimeout": "1t k: kill-after: s: signal: foreground preserve-status v verbose help! version!",
    "stdbuf": "0 i: input: o: output: e: error: help! version!",
    "ionice": ("0 c: class: n: classdata: p! pid! P! pgid! u! uid! t ignore h! help! V! version!"),
    "chrt": (
        "1n a all-tasks b batch d deadline e ext f fifo i idle o other r rr R reset-on-fork v"
        " verbose T: sched-runtime: P: sched-period: D: sched-deadline: m! max! p! pid! h! help! V!"
    ),
    "taskset": "1 a all-tasks c cpu-list p! pid! h! help! V! version!",
    "setsid": "0 c ctty f fork w wait h! help! V! version!",
    "time": (
        "0 f: format: o: output: a append p portability q quiet v verbose l h! help! V! version!"
    ),
    "gtime": "0 f: format: o: output: a append p portability q quiet v verbose help! V! version!",
    "numactl": (
        "0 i: interleave: w: weighted-interleave: m: membind: N: cpunodebind: C: physcpubind: l"
        " localalloc p: preferred: P: preferred-many: b balancing a all s! show! H! hardware! h!"
    ),
    "prlimit": "0 p! pid! c d e f i l m n q r s t u v x y core nofile o: output: raw verbose h! V!",
    "choom": "0 n: adjust: p! pid! h! V!",
    "cpulimit": "0 l: limit: p! pid! e: exe: P: path: c: cpu: b background f foreground z lazy i m",
    "setarch": "1n B 3 F I L R S T X Z v addr-no-randomize uname-2.6 list! h! help! V! version!",
    "linux32": "0 B 3 F I L R S T X Z v addr-no-randomize h! V!",
    "linux64": "0 B 3 F I L R S T X Z v addr-no-randomize h! V!",
    "arch": "0 ~ arm64 arm64e x86_64 i386 c d: e: h 32 64",
    "caffeinate": "0 d i m s u t: w:",
    "cgexec": "0 g: sticky h!",
    "chpst": "0 u: U: e: /: b: n: l: L: m: d: o: p: f: c: r: t: v P 0 1 2",
    "softlimit": "0 a: c: d: f: l: m: o: p: r: s: t:",
    "catchsegv": "0",
    "eatmydata": "0",
    "detach": "0",
    "daemonize": "0 a c: e: o: p: l: u: E: v",
    # environment managers
    "command": "0 p v! V!",
    "builtin": "0",
    "exec": "0 a: c l",
    "uv run": "0 m: module:" + _UV,
    "uvx": "0" + _UV,
    "uv tool run": "0" + _UV,
    "pipx run": "0 spec: python: no-cache verbose index-url: pip-args: pypackages path system",
    "poetry run": "0 C: directory: P: project: n q v h! help!",
    "pipenv run": "0 python: q v h! help!",
    "pdm run": "0 p: project: g global s: site-packages q v h! help! l! list!",
    "rye run": "0 pyproject: v verbose q quiet l! list! h! help!",
    "hatch run": "0 h! help!",
    "pixi run": "0 e: environment: manifest-path: frozen locked q v x executable h! help!",
    "conda run": "0 n: name: p: prefix: cwd: v no-capture-output live-stream dev s h! help!",
    "bundle exec": "0 keep-file-descriptors gemfile: h! help!",
    "npx": _NPX,
    "bunx": _NPX,
    "npm exec": _NPX,
    "pnpm exec": _NPX,
    "pnpm dlx": _NPX,
    "pnpx": _NPX,
    "yarn exec": "0o" + _NPX[1:],
    "yarn dlx": _NPX,
    "bun x": _NPX,
    "corepack": "0 h! help! v! version!",
    "rbenv exec": "0",
    "pyenv exec": "0",
    "nodenv exec": "0",
    "asdf exec": "0",
    "volta run": "0 node: npm: yarn: bundled-npm no-npm no-yarn verbose quiet h! help!",
    "nvm exec": "1n silent",
    "fnm exec": "0 using: arch:",
    "mise exec": "d j: jobs: C: cd: E: env: c$ command$ raw y yes",
    "direnv exec": "1",
    "nix-shell": "- run$ command$ p: packages: A: attr: I: expr: E: pure",
    "nix develop": "- c command",
    "nix shell": "- c command",
    "dotenv": "0 e: c: p: v: o override f: file: debug quote: q: h! help!",
    "dotenv run": "0 f: file: e: export: override no-override q: quote:",
    "cross-env": "0a",
    "cross-env-shell": "0as",
    "env-cmd": "0 f: file: r: rc-file: e: environments: x expand-envs no-override silent use-shell",
    "lerna exec": "0o concurrency: scope: ignore: since: stream parallel no-bail no-sort"
    " no-private",
    "devbox run": "0 c: config: e: env: env-file: q quiet pure l! list! h! help!",
    "tox exec": "d e: env: c: conf: skip-pkg-install",
    "guix shell": "d m: manifest: e: f: D: C container pure",
    "dotenvx run": "0 f: env-file: e: env: fv: env-vault-file: overload convention: q quiet",
    "op run": "d env-file: no-masking account: session: cache",
    "doppler run": "d command$ p: project: c: config: t: token: preserve-env fallback:",
    "infisical run": "d command$ e: env: path: projectId: token: recursive watch",
    "aws-vault exec": "1 n no-session d: duration: region: mfa-token: j json ecs-server stdout",
    "chamber exec": "d pristine strict",
    "sops exec-env": "1s background pristine same-process user:",
    "envdir": "1",
    "envchain": "1",
    "foreman run": "0 e: env: d: root: f: procfile:",
    "proxychains": "0 f: q h! help!",
    "proxychains4": "0 f: q h! help!",
    "torsocks": "0 a: address: P: port: u: user: p: pass: i isolate d debug q quiet on! off! show!",
    "torify": "0 v h! V!",
    "tsocks": "0",
    "trickle": "0 s d: u: w: t: l: n: p: v",
    "dbus-run-session": "0 config-file: dbus-daemon: help! version!",
    "dbus-launch": "0 sh-syntax csh-syntax binary-syntax auto-syntax autolaunch: config-file:",
    "xvfb-run": (
        "0 a auto-servernum e: error-file: f: auth-file: h! help! l listen-tcp n: server-num: p:"
        " xauth-protocol: s: server-args: w: wait:"
    ),
    # watchers, recorders, debuggers, benchmarks
    "watch": (
        "0s n: interval: q: equexit: s: shotsdir: b beep c color C no-color d differences e errexit"
        " f follow g chgexit p precise r no-rerun t no-title w no-wrap no-linenumbers h! help! v!"
        " version! x exec"
    ),
    "viddy": "0s n: interval: d differences p precise t no-title s shell:",
    "entr": "0e a c d n p r s x z",
    "watchexec": (
        "0o w: watch: W: watch-non-recursive: e: exts: f: filter: i: ignore: d: debounce: s:"
        " signal: stop-signal: stop-timeout: o: on-busy-update: shell: E: env: workdir: n r restart"
        " c clear p postpone no-vcs-ignore N notify"
    ),
    "chokidar": "- c$ command$ d: debounce: i: ignore: initial p polling",
    "nodemon": "- x$ exec$ w: watch: e: ext: i: ignore: d: delay:",
    "cargo watch": "d s$ shell$ x: exec: w: watch: i: ignore: d: delay: c clear q quiet",
    "unbuffer": "0 p",
    "rlwrap": "0 a A b: c C: D: e: f: g: H: i I l: m M: n N o O: p P: q: r R s: S: t: T: U v! w:",
    "strace": _STRACE,
    "ltrace": (
        "0 a: align: A: D: debug: e: F: config: l: library: n: indent: o: output: p: s: u: w:"
        " where: x: b C c f i L r S t T no-signals demangle h! help! V! version!"
    ),
    "valgrind": "0 h! help! help-debug! version! q quiet v verbose d",
    "heaptrack": "0 o: output: p: pid: r record-only d debug",
    "rr record": "0 n h i: c: o: v: e: env: t: chaos",
    "perf stat": (
        "0 e: event: i no-inherit p: t: a all-cpus d detailed r: repeat: B n null v C: cpu: A x:"
        " field-separator: G: cgroup: I: interval-print: D: delay: o: output: append log-fd: pre$"
        " post$ M: metrics: T S table"
    ),
    "perf record": (
        "0 e: event: filter: p: t: r: realtime: D: delay: a all-cpus C: cpu: c: count: o: output:"
        " F: freq: m: g call-graph: q v s d T P k: u: uid: G: cgroup: b j: W n N B S: I z"
    ),
    "perf trace": "0 e: o: output: p: t: u: a C: s S T v f D: F: duration:",
    "hyperfine": (
        "0c w: warmup: m: min-runs: M: max-runs: r: runs: s$ setup$ reference$ p$ prepare$ C$"
        " conclude$ c$ cleanup$ P::: parameter-scan::: D: parameter-step-size: L:: parameter-list::"
        " S: shell: N i ignore-failure style: sort: u: time-unit: export-asciidoc: export-csv:"
        " export-json: export-markdown: export-orgmode: show-output output: input: n: command-name:"
        " h! help! V! version!"
    ),
    "concurrently": (
        "0c n: names: c: prefix-colors: p: prefix: l: prefix-length: t: timestamp-format: m:"
        " max-processes: s: success: i: k kill-others kill-others-on-fail kill-signal: r raw"
        " no-color hide: g group restart-tries: restart-after: handle-input h! help! v! V! version!"
    ),
    "lldb": "d o: one-line: b batch f: file: p: k: O: s: source:",
    "tini": "0 p: e: s v w g h! version!",
    "dumb-init": "0 c single-child r: rewrite: v verbose h! help! V! version!",
    "chronic": "0 e v",
    "ifne": "0 n",
    "sem": ("0s j: jobs: id: semaphorename: fg bg wait! st: semaphoretimeout: u line-buffer tag"),
    "retry": "1n t: times: d: delay: until: while: m: s:",
    "xcrun": "0 sdk: toolchain: l log f! find! r run n v verbose k show-sdk-path! h! version!",
    "flatpak-spawn": "0 host clear-env watch-bus env: latest-version forward-fd: directory:",
    "busybox": "0 list! list-full! help! install!",
    "toybox": "0 help! version! long!",
    # other ways in: sessions of another kind, terminals, loaders, emulators, jails
    "ssh-agent": "0 a: t: c s k! d D E: O: P:",
    "gpg-agent": "0 daemon server homedir: options: s c csh sh q quiet v verbose",
    "faketime": "1 f m p: exclude-monotonic help! version!",
    "xterm": "d ~ e$ T: title: n: fn: fs: geometry: bg: fg: class: display: hold",
    "dtach": "1 a! A c n N e: E r: z p! ",
    "abduco": "1 c n A a! e: f l q r",
    "kitty": "0 T: title: c: config: o: override: d: directory: working-directory: detach hold 1"
    " single-instance name: class: session: help! version!",
    "aa-exec": "0 p: profile: n: namespace: d debug i immediate v verbose",
    "s6-setuidgid": "1",
    "s6-softlimit": "0 a: c: d: f: l: m: o: p: r: s: t:",
    "s6-env": "0a",
    "execlineb": "- c$ P p s",
    "wine": "0 help! version!",
    "wine64": "0 help! version!",
    "winpty": "0 X: mouse showkey help! version!",
    "snap run": "0 shell command: hook: r: revision: strace gdb",
    "mpirun": "0 n: np: c: N: H: host: hostfile: machinefile: x: mca:: bind-to: map-by: rank-by:"
    " wdir: oversubscribe allow-run-as-root v q help! version!",
    "srun": (
        "0 n: ntasks: N: nodes: c: p: partition: t: time: J: job-name: mem: gres: A: account: o:"
        " output: e: error: i: pty w: q: l"
    ),
    "multitime": "0 n: q f: I: i: o: r: s: b:",
    "pty": "0",
    "systemd-cat": "0 t: identifier: p: priority: stderr-priority: level-prefix: help! version!",
    "nsjail": "d",
    "minijail0": (
        "0 a: b: B: c: C: d e E: f: g: G h! H i I j k: K l L m: M: n N p P: r R: s S: t T: u: U v"
        " V: w x: X: y Y z"
    ),
    "landrun": "0 ro: rox: rw: rwx: bind-tcp: connect-tcp: env: best-effort unrestricted-filesystem"
    " unrestricted-network log-level: ldd add-exec",
    "pee": "0c",
    "mispipe": "0c",
    "xe": "0 0 F L p R v s A: a N: I: f: j:",
    "rush": "0c j: d: D: n: r: t: i: o: e c: k v: T: eta dry-run!",
    "qemu": "0 L: g: s: cpu: E: U: B: R: d: D: p: r: strace singlestep version! help! ~",
    "loader": "0 ~ library-path: inhibit-cache preload: audit: argv0: list! verify! help! version!"
    " inhibit-rpath: glibc-hwcaps-prepend: glibc-hwcaps-mask:",
    "fab": "d H: hosts: i: u: user: f: c:",
    "just": "- c$ command$ f: d: set:: shell% shell-arg%",
    "salt": "2s t: timeout: G E L: C b: out:",
    "gdbserver": "1 once multi attach! wrapper debug",
    "kcov": "1 ~ include-path: exclude-path: include-pattern: exclude-pattern:",
    "coverage run": "0 m: module: a p branch source: omit: include: rcfile:",
    "py-spy record": "d",
    "samply record": "0 o: output: r: rate: n no-open s save-only",
    "turbo exec": "d",
    "nx exec": "d",
    "rushx": "0",
    "pgrphack": "0",
    "fghack": "0",
    "setlock": "1 n N x X",
    "lckdo": "1 w W: e x s q",
    "with-lock-ex": "1 w q f t:",
    "runas": "0 u: user:",
    "gksudo": "0 u: user:",
    "kdesu": "0 u: c$",
    "ip netns exec": "1",
    "ip vrf exec": "1",
    "onchange": "d i initial v d: delay: a f: filter: j: k p: poll: c",
    "nq": "0 c q w t",
    "tsp": "0 n f m d L: N: D: S: E g l! K! C! k: r: w: c: t: p: i: s: u: U: o: a:",
    "ts": "0 n f m d L: N: D: S: E i s",
    "pueue add": "0s w: working-directory: i immediate f follow s stashed d: delay: g: group: a:"
    " after: o: priority: l: label: p print-task-id e escape",
    "run-one": "0",
    "run-this-one": "0",
    "run-one-constantly": "0",
    "keep-one-running": "0",
    "timelimit": "0 q p t: T: s: S:",
    "cronic": "0",
    "daemon": "0 n: name: X% command% e: env: D: chdir: u: user: r respawn o: output: F: pidfile:"
    " P: pidfiles: f foreground U unsafe N",
    "catatonit": "0 g",
    "graftcp": "0 a: c: p: f: n: o: u: s: V!",
    "lxc-attach": "0 n: name: s: a: e u: g: L: P: v: f: clear-env keep-env uid: gid:",
    "devcontainer exec": "0 workspace-folder: container-id: config: remote-env: id-label:"
    " docker-path: log-level: log-format:",
    "bench": "c",
    "npm explore": "d shell:",
    "mussh": "- c$ h: H: m: l: o: t: p: i: d v b B u U",
    # only options carry commands
    "rsync": "- e% rsh% rsync-path%",
    "scp": "- S% o: i: F: l: c: P: J: D: X:",
    "sftp": "- S% o: i: F: l: c: P: J: D: X: b: B: R: s:",
    "tar": (
        "- I% use-compress-program% to-command% F% info-script% new-volume-script% rsh-command%"
        " rmt-command% f: file: C: directory: b: T: X: V: g: K: N: H: L: one-top-level"
        " checkpoint checkpoint-action:"
    ),
    "man": "- P% pager% H:",
    "sort": "- compress-program% k: t: o: S: T:",
    "wget": "- use-askpass%",
    "rg": "- pre% hostname-bin%",
    "zip": "- ~ TT% unzip-command% b: i: x: t: n: P:",
    "install": "- strip-program% m: o: g: t: S: mode: owner: group: target-directory: suffix:",
    "nc": "- e% c% w: p: s: q: i: I: O: X: x: T: V: m: P:",
    "ncat": "- e% exec% c$ sh-exec$ p: s: w: i: g: G: m: proxy: proxy-type: ssl-cert: ssl-key:",
    "split": "- filter% a: b: C: l: n: t:",
}
"""Program, or program and subcommand -> how it carries its command."""

ALIASES: dict[str, str] = {
    "podman": "docker",
    "nerdctl": "docker",
    "finch": "docker",
    "podman-compose": "docker-compose",
    "oc": "kubectl",
    "mamba": "conda",
    "micromamba": "conda",
    "incus": "lxc",
    "autossh": "ssh",
    "rsh": "ssh",
    "slogin": "ssh",
    "mpiexec": "mpirun",
    "lxterm": "xterm",
    "uxterm": "xterm",
    "urxvt": "xterm",
    "rxvt": "xterm",
    "st": "xterm",
    "konsole": "xterm",
    "alacritty": "xterm",
    "foot": "xterm",
    "wezterm": "xterm",
    "terminator": "xterm",
    "xfce4-terminal": "xterm",
    "mate-terminal": "xterm",
    "gnome-terminal": "xterm",
    "x-terminal-emulator": "xterm",
    "flyctl": "fly",
    "bundler": "bundle",
    "gsetsid": "setsid",
    "gnice": "nice",
    "gnohup": "nohup",
    "gstdbuf": "stdbuf",
    "gxargs": "xargs",
    "gfind": "find",
    "gtar": "tar",
    "bsdtar": "tar",
    "genv": "env",
    "gawk": "awk",
    "mawk": "awk",
    "nawk": "awk",
    "fdfind": "fd",
    "mise x": "mise exec",
    "npm x": "npm exec",
    "i386": "linux32",
    "x86_64": "linux64",
    "uname26": "linux32",
    "gsed": "sed",
    "nvim": "vim",
    "vi": "vim",
    "ex": "vim",
    "view": "vim",
    "gvim": "vim",
    "vim.tiny": "vim",
    "vim.basic": "vim",
    "cmd.exe": "cmd",
    "wsl.exe": "wsl",
    "gh cs ssh": "gh codespace ssh",
    "powershell.exe": "powershell",
    "pwsh.exe": "pwsh",
    "bash.exe": "bash",
    "netcat": "nc",
}
"""Programs that read their words as another does."""

"""The same as `roles` for programs that are met less often, some by their subcommands.

More kinds: `named` (operands are words, unless they are written like a path), `trees` (any operand
may be a file, or a folder with all that is below), `last` (the last operand is written, the others
are read), `words` (no files). More marks behind an option: `*` a file that is read or written, `%`
a value that names a file behind an `@` or a `=`.
"""

from barry_cli.policy.ruling.roles import by_name

_LISTED = """\
shellcheck yamllint hadolint flake8 pylint bandit vulture pyflakes pycodestyle pydocstyle
    markdownlint actionlint cloc tokei scc loc luacheck cpplint cppcheck jsonlint tidy stylelint
    pytest py.test unittest | read -c: -k: -m: -n: -p: -o: -e: -f: -s: --config: --rcfile<
    --format: --exclude: --ignore: --select: --tb: --cov: --cov-report: --rootdir: --timeout:
    --maxfail: --durations: --junitxml> --fix+ --write+ --ignore-paths: --ignore-patterns:
    --extend-exclude: --exclude-dir: --ignore-pattern: --envfile< --env-file<
eslint prettier tsc mypy pyright biome oxlint xo standard rubocop clang-tidy golint staticcheck
    | read -c: --config< --parser: --ext: --ignore-path< --format: --fix+ --write+ -w+ -A+ -a+
    --outDir> --outFile> --output-file> -o> --project: -p: --max-warnings: --rule: --plugin: -f:
    --ignore-pattern: --exclude: --ignore:
gofmt goimports shfmt clang-format yapf autopep8 isort black rustfmt stylua dprint | write -l!
    -d! --check! --diff! -c! --dry-run! --list! -e: -r: -s: -i: -ln: --config: --edition:
    --style: --line-length: --target-version: -t: --profile: --emit: --exclude: --extend-exclude:
    --force-exclude: --skip: --skip-glob: --extend-skip: --extend-skip-glob: --include:
gcc g++ cc c++ clang clang++ cpp tcc icc nvcc ld as gfortran rustc ghc ocamlc fpc nasm yasm
    valac dmd javac kotlinc protoc swiftc | compile
strip objcopy ranlib | change -o> -I: -O: -j: -R: -K: -N:
pandoc | read -o> --output> -f: -t: -r: -w: --from: --to: --read: --write: --template<
    --metadata: -M: -V: --variable: --css: -H< -B< -A< --bibliography< --csl< --filter:
    --lua-filter< --defaults< -d< --metadata-file< --log> --extract-media> --reference-doc<
    --resource-path: --toc-depth:
convert magick | last -resize: -quality: -density: -crop: -rotate: -geometry: -background:
    -fill: -gravity: -font: -pointsize: -annotate: -draw: -format: -depth: -colorspace: -type:
    -extent:
qpdf pdftotext pdftoppm pdfunite gs | last -f: -l: -r: -dNOPAUSE: -sOutputFile>
rsvg-convert cairosvg dot neato | read -o> -T: -f: -w: -h: -K: -G: -N: -E: -z:
sox lame flac oggenc cwebp dwebp optipng pngquant jpegtran svgo | last -o> -q: -b: -V:
gh+gist+create | read -d: -f: --desc: --filename:
gh+gist+edit | write -a< -f: -d: --add< --filename: --desc: --remove:
gh+release+create | pattern -F< -n: -t: --notes-file< --notes: --title: --target: --tag:
    --discussion-category: --notes-start-tag: -R: --repo:
gh+release+upload | pattern -R: --repo:
gh+release+download | named -D> -O> --dir> --output> -p: -A: --pattern: --archive: -R: --repo:
gh+run+download | named -D> --dir> -n: -p: --name: --pattern: -R: --repo:
gh+secret+set gh+variable+set | none -f< --env-file< -b: --body: -a: --app: -e: --env: -o:
    --org: -r: --repos: -R: --repo: -v: --visibility:
gh+ssh-key+add | read -t: --title: --type:
gh+gpg-key+add | read -t: --title:
gh+attestation+verify | read
gh+api glab+api | none -F% -f: -H: -X: -q: -t: -p: --field% --raw-field: --input< --header:
    --method: --jq: --template: --hostname: --cache: --preview:
gh glab | named -F< --body-file< --notes-file< --template: -T: -f: --env-file< -b: --body: -t:
    --title: -m: --message: -n: --notes: -B: -H: -a: -l: -p: -r: -R: --repo: --base: --head:
    --assignee: --label: --milestone: --project: --reviewer: --json: -q: --jq: -L: --limit: -s:
    --state: --search: -S: --author: --description: -d: --subject: --field% --input<
npm yarn pnpm npx bunx pnpx corepack ni nx turbo lerna rush | named --prefix* -C* --dir*
    --cwd* --userconfig* --globalconfig* --cache* --registry: -w: --workspace: --filter: -F:
    --tag: --otp: --loglevel: --message: -m: --pack-destination> --outfile> --outdir>
pip pip3 pipx uv uvx poetry pdm pipenv hatch rye conda mamba | named -r< -c< -t* -e*
    --requirement< --constraint< --target* --prefix* --root* --src* --log> --dest>
    --wheel-dir> --out-dir> -o> --output-file> --output> --cert< --client-cert< --cache-dir*
    --editable* --python: -p: -n: --directory* --project* --env-file< -i: --index-url:
    --extra-index-url: --find-links: -f: -m: --with: --report>
cargo rustup go dotnet mvn gradle sbt lein mix stack cabal gem bundle composer swift dart
    flutter zig | named -o> -out> --manifest-path< --target-dir* --out-dir> -C* -modfile*
    -coverprofile> -cpuprofile> -memprofile> --root* -f: --file: -p: --package: --features:
    --bin: --example: --test: --bench: --target: -j: --profile: --message-format: --color:
    --config: -run: -bench: -tags: -ldflags: -timeout: -count: -mod: -v! --output>
make gmake bmake ninja just task rake invoke mage cmake meson bazel buck scons ant tox nox |
    named -f< --file< --makefile< -C* --directory* -j: -l: -o: -W: -I: -D: -G: -S: -B* -d:
    --justfile< --working-directory* --eval: --toolchain< --install-prefix* --output>
docker podman nerdctl docker-compose podman-compose | docker
kubectl oc helm kustomize helmfile argocd flux | named -f< --filename< -k* --kustomize*
    --kubeconfig< --from-file% --from-env-file< --values< --set-file% --certificate-authority<
    --client-certificate< --client-key< --token: -n: --namespace: -o: --output: -l: --selector:
    -c: --context: --patch-file< --patch: -p: --image: --as: --cert< --key< --output-dir>
    --post-renderer: --ca-file< --key-file< --cert-file< --keyring< --template:
    --field-selector: --overrides: --set: --version: -t:
terraform tofu terragrunt packer pulumi | named~ -var-file< -state* -state-out> -out> -backup>
    -chdir* -backend-config: -var: -target: -lock-timeout: --cwd*
aws gsutil s3cmd rclone b2 mc | trees --output: --query: --profile: --region: --cli-input-json:
    -o: -m: --exclude: --include: --exclude-from< --include-from< --files-from< --config:
    --filter: --body< --endpoint-url: --content-type: --acl: --template-body< --password-file<
gcloud az doctl heroku fly flyctl vercel netlify wrangler firebase supabase | named --output:
    --query: --profile: --region: --format: --filter: --project: --key-file< --env-file<
    --flags-file< --access-token-file< --cli-input-json: --template-file< --config: -o: -n: -g:
    --message: -m: --name: --from-file< --body< --out> --file< --exclude: --include:
    --exclude-from< --include-from< --files-from< --password-file<
ansible ansible-playbook | named -i< -e% -a: -m: --vault-password-file< --private-key<
    --key-file< -u: -f: -l: -t: --extra-vars% --inventory< --tags: --limit: --become-user: -M:
ssh autossh | none -i< -F< -E> -S: -o: -p: -l: -L: -R: -D: -J: -W: -b: -c: -e: -m: -O: -Q: -w:
    -B:
ssh-add ssh-copy-id | read -i< -t: -p: -o: -e: -s: -H< -h:
ssh-keygen | none -f* -y -t: -b: -C: -N: -P: -m: -F: -R: -l -r: -s< -I: -n: -V: -O: -Y: -z: -a:
    -E: -D: -w:
ssh-keyscan | none -f< -t: -p: -T: -D: -O:
sftp | sftp
sqlite3 sqlite duckdb | sqlite
psql mysql mariadb | database
mongosh mongo redis-cli mongodump mongoimport pg_dump mysqldump | none -f<
    --file* -o> --output> -L> --log-file> -h: -U: -d: -p: -u: -P: -c: -e: --eval: --host:
    --port: --username: --dbname: --defaults-file< --defaults-extra-file< --out> --archive*
    --tlsCAFile< --cacert< --cert< --key< --pass: -a: -n: -v: -F: -R: -t: --execute: --command:
    --set: --ssl-ca< --result-file> -r>
pg_restore | read -d: -h: -U: -p: -f> --file> -L< -j: -n: -t: -s -C -c
date gdate | none -f< --file< -r< --reference< -d: --date: -s: --set: -I: -u
ffmpeg ffprobe avconv | ffmpeg
jq gojq jaq | jq
yq | pattern -i+ --inplace+ --in-place+ -o: -p: --output-format: --input-format: --from-file^
    -I:
mount umount losetup swapon mkswap fusermount bindfs | change -t: -o: -L: -U: -O: -j:
mkfs mke2fs fsck e2fsck parted fdisk wipefs blkdiscard cryptsetup | change -t: -L: -b: -m:
cpio | cpio
pax 7z 7za 7zr rar unrar arj jar ar | packed
crontab at batch | read -u: -l -e -r -q: -t: -f<
install-info update-alternatives | change
socat | socat
nc ncat netcat | none -U* -o> -e: -c: -w: -p: -s: -x: -X: --ssl-key< --ssl-cert<
    --ssl-trustfile<
openssl | openssl
age rage sops minisign signify | read -o> -i< -R< -r: -p: -s< -m< -x> --output> --identity<
    --recipients-file<
keytool certtool step | named -keystore* -file* -importkeystore* -srckeystore< -destkeystore>
    --outfile> --infile< --load-privkey< --load-certificate< -alias: -storepass: -keypass:
    -dname:
base58 uuencode uudecode cksfv hashdeep b3sum xxhsum crc32 rhash md5 shasum | read -o> -a: -c<
mail mailx mutt sendmail swaks | none -a< -A< --attach< -s: -c: -b: -r: -S: -f: -i<
lpr lp enscript a2ps | read -P: -d: -o: -n: -p>
xdg-open open start wslview | read -a: -b:
qrencode | none -r< -o> --read-from< --output> -s: -l: -t: -m: -v:
curlftpfs sshfs | second
systemctl service launchctl | words
nginx apachectl httpd caddy redis-server | named -c< -g: -p* --config<
http-server serve live-server | named -C< -K< --cert< --key< -p: -a:
hugo mkdocs jekyll sphinx-build zola | named -s* -d> --source* --destination> -c<
source-highlight | read -o> -l: -f: -O: -P: -S:
java | named -jar< -cp: -classpath: -agentlib: -agentpath< -javaagent:
history | none -a> -w> -r< -n< -d: -c -s:
mapfile readarray | none -d: -n: -O: -s: -u: -C: -c: -t
apt apt-get aptitude dpkg dnf yum zypper pacman apk snap flatpak brew port nix nix-env nix-shell
    nix-build | named -c< -o: -t: -f: --config-file< -i< -I< -A: -E: -p: -r: --root* --file<
    --installroot* -U<
tmux screen byobu | named -f< -S: -L: -t: -c: -n: -s: -x: -y: -F: -e:
dig host nslookup whois ping traceroute | none -f< -k< -t: -p: -q: -c: -W: -i: -x: -b: -y: -R:
    -N:
vhs asciinema ttyrec | named -o> -e: -c: -t: -i:
logger | none -f< --file< -t: -p: -i -s -n: -P:
logrotate rsyslogd | read -s* -l>
"""

_BY_SUBCOMMAND = "gh glab "

_ROLES = by_name(_LISTED)


def more(name: str, words: list[str]) -> tuple[str, int]:
    """The entry of a program, "" when there is none, and how many of its first words, `words`, are
    subcommands that it stands for.
    """
    for count in (2, 1) if f"{name} " in _BY_SUBCOMMAND else ():
        found = _ROLES.get("+".join([name, *words[:count]]))
        if found and len(words) >= count:
            return found, count
    return _ROLES.get(name) or _ROLES.get(name.rstrip("0123456789.-")) or "", 0

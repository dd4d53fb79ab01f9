import { describe, expect, test } from "vitest";
import { isListed, wordsOf } from "../../../rails/guard/command.ts";
import { foremanTool } from "../../../rails/guard/foreman-tool.ts";
import { refusal } from "../../../rails/guard/refuse.ts";
import { SHIPPED } from "./run.ts";

/** Lines of a table, as they are typed: one each, without blanks around. */
const lines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => line.replaceAll("⏎", "\n").replaceAll("⇥", "\t"));

/** Lines that nobody reads to their end: with each step down there is twice as much to read. */
const DEEP = [
  ["substituted", `echo ${"$(echo ".repeat(60)}minion merge${")".repeat(60)}`],
  ["grouped", `${"( ".repeat(3000)}minion merge${" )".repeat(3000)}`],
  ["in braces", `${"{ ".repeat(3000)}minion merge${"; }".repeat(3000)}`],
] as const;

describe("the session itself", () => {
  const foreman = async (command: string): Promise<string | null> => {
    const call = { tool_name: "Bash", tool_input: { command } };
    return (await foremanTool(call, null, null))?.decision ?? null;
  };
  const ASKED = String.raw`
    minion merge
    minion  merge
    minion⇥merge
    'minion' merge
    "minion" merge
    "min"ion merge
    min'ion' merge
    mi\nion merge
    \minion merge
    $'minion' merge
    minion 'merge'
    minion mer"ge"
    minion m\erge
    minion merge --into main
    minion merge --into --help
    minion merge --into -h
    minion merge --run --help
    minion merge -- -h
    minion merge -- --help
    minion --json merge
    minion clean
    minion clean -- --dry-run
    minion clean --run --dry-run
    minion clean --run=r1
    minion land 2
    minion land 2 -- --help
    minion retry 2
    minion abort
    minion resume --budget 500
    minion resume --budget=500
    minion resume --run r1 --budget 5
    minion resume --take
    minion resume --run r1 --take
    minion resume --red-base
    minion start x.md --new
    minion start --new -- x.md
    minion start --budget 5 --new x.md
    minion blueprint --agree
    minion blueprint --json --agree
    timeout 300 minion merge
    timeout -k 5 300 minion merge
    timeout --signal=KILL 300 minion merge
    timeout -s KILL 300 minion merge
    command minion land 2
    command -p minion land 2
    builtin command minion land 2
    env minion land 2
    env A=1 B=2 minion land 2
    env -i A=1 minion land 2
    env -u A minion land 2
    env -S 'minion land 2'
    nohup minion land 2
    nohup minion land 2 &
    exec minion land 2
    exec -a x minion land 2
    nice minion land 2
    nice -n 10 minion land 2
    nice -10 minion land 2
    ionice -c 3 minion land 2
    stdbuf -oL minion land 2
    stdbuf -o L minion land 2
    setsid minion land 2
    setsid -w minion land 2
    time minion land 2
    time -p minion merge
    sudo minion land 2
    sudo -u me minion land 2
    sudo -E A=1 minion land 2
    xargs minion land
    echo 2 | xargs minion land
    echo 2 | xargs -n 1 minion land
    echo 2 | xargs -I{} minion land {}
    echo merge | xargs minion
    ls | xargs -P 2 -n1 sh -c 'minion land 1'
    env nice timeout 5 minion merge
    nohup setsid env A=1 minion merge
    sh -c 'minion merge'
    bash -lc "minion merge"
    bash -c 'cd x && minion merge'
    bash -o pipefail -c 'minion merge | tail'
    zsh -ic 'minion merge'
    sh -c "sh -c 'minion merge'"
    eval minion merge
    eval 'minion merge'
    eval "minion" "merge"
    trap 'minion merge' EXIT
    watch -n 5 minion merge
    watch 'minion merge'
    $(which minion) merge
    "$(which minion)" merge
    $(command -v minion) merge
    $(type -P minion) merge
    $(echo minion) merge
    $(printf minion) merge
    $(echo minion merge)
    npx minion merge
    npx --yes minion@1.2.0 merge
    npx -y minion merge
    pnpm dlx minion merge
    yarn minion merge
    bunx minion merge
    node /x/bin/minion merge
    node "$HOME/.claude/skills/minion/bin/minion" merge
    node --no-warnings bin/minion merge
    sh /x/bin/minion merge
    bash ./bin/minion merge
    /x/bin/minion merge
    ./assets/bin/minion merge
    "$P/bin/minion" merge
    ~/.claude/skills/minion/bin/minion merge
    M=minion; $M merge
    M=minion && "$M" merge
    M='minion merge'; $M
    V=merge; minion $V
    minion $V
    minion "$@"
    minion $(cat verb)
    minion start $X
    for v in merge; do minion $v; done
    for v in board merge; do minion $v; done
    for n in 1 2; do minion land $n; done
    while true; do minion land 1; done
    until minion land 1; do sleep 1; done
    if true; then minion merge; fi
    case x in x) minion merge;; esac
    f() { minion merge; }; f
    function f { minion land 1; }; f
    ( minion merge )
    { minion merge; }
    ! minion merge
    minion board && minion merge
    minion board; minion merge
    minion board || minion merge
    minion board | minion merge
    minion board⏎minion merge
    minion merge &
    minion merge > out.log 2>&1
    > out.log minion merge
    minion>out.log merge
    minion 2>&1 merge
    A=1 minion merge
    cd /x && A=1 minion merge | tail -3
    echo $(minion merge)
    cat <(minion merge)
    cat <<EOF⏎$(minion merge)⏎EOF
    echo "${"$"}(minion merge)"
    sh <<'EOF'⏎minion merge⏎EOF
    bash -s <<< 'minion merge'
    echo 'minion merge' | sh
    printf 'minion merge\n' | bash
    cat <<'EOF' | sh⏎minion merge⏎EOF
    find . -exec minion land 1 \;
    find . -exec sh -c 'minion land 1' \;
    parallel minion land ::: 1 2
    python3 -c "import os; os.system('minion merge')"
    python3 -c "import subprocess as s; s.run(['minion', 'merge'])"
    node -e "require('child_process').execSync('minion merge')"
    perl -e 'system("minion merge")'
    awk 'BEGIN { system("minion merge") }'
    {minion,merge}
    ${"$"}{X:-minion} merge
    flock /tmp/l minion merge
    flock /tmp/l -c 'minion merge'
    unbuffer minion merge
    busybox sh -c 'minion merge'
    script -qc 'minion merge' /dev/null
    su -c 'minion merge'
    npx -c 'minion merge'
    alias m='minion merge'
    a=(minion merge); "${"$"}{a[@]}"
    python3 - <<'EOF'⏎import os⏎os.system("minion merge")⏎EOF
    echo "import os; os.system('minion merge')" | python3
    env -C /x minion merge
    coproc minion merge
    [[ -n $(minion merge) ]]
    set -- minion merge; "$@"
    set -- x minion merge; shift; "$@"
    set -- minion merge; $1 $2
    bash <(echo minion merge)
    source <(echo minion merge)
    . <(printf 'minion %s' merge)
    sh < <(echo minion merge)
    bash -s < <(echo minion merge)
    $(printf 'minion') merge
    $(printf '%s' minion) merge
    $(printf 'min%s' ion) merge
    $(printf '\x6dinion') merge
    $(printf '\155inion') merge
    $(echo -n min)ion merge
    $(basename /x/minion) merge
    $(realpath $(which minion)) merge
    $(echo noinim | rev) merge
    echo bWluaW9uIG1lcmdl | base64 -d | sh
    base64 -d <<< bWluaW9uIG1lcmdl | bash
    bash <<< "$(echo bWluaW9uIG1lcmdl | base64 -d)"
    eval "$(base64 -d <<< bWluaW9uIG1lcmdl)"
    echo 6d696e696f6e206d65726765 | xxd -r -p | sh
    echo 'minion merge' | cat | tee log | sh
    echo 'minion merge' | (cd x; sh)
    { echo minion; echo merge; } | xargs sh -c '"$@"' _
    (echo minion merge) | sh
    echo merge | xargs -I{} minion {}
    echo 'minion merge' | xargs -I{} sh -c '{}'
    m''inion merge
    mini\on merge
    $'\x6d'inion merge
    m"i"nion merge
    printf -v c 'min%s' ion; $c merge
    read c <<< 'minion merge'; $c
    read -r a b <<< 'minion merge'; "$a" "$b"
    echo minion merge | { read c; $c; }
    echo minion merge | while read -r c; do $c; done
    while read -r v; do minion "$v"; done <<< merge
    mapfile -t a <<< 'minion'; "${"$"}{a[@]}" merge
    cmd=(minion merge); "${"$"}{cmd[@]}"
    cmd=(minion); cmd+=(merge); "${"$"}{cmd[@]}"
    cmd=(minion merge); ${"$"}{cmd[0]} ${"$"}{cmd[1]}
    c=min; c+=ion; $c merge
    c=min; ${"$"}{c}ion merge
    c=minions; ${"$"}{c:0:6} merge
    c=MINION; ${"$"}{c,,} merge
    c='x minion merge'; ${"$"}{c#x }
    c='minion merge'; d=c; ${"$"}{!d}
    : ${"$"}{X:=minion}; $X merge
    declare c=minion; $c merge
    export c=minion; $c merge
    run() { "$@"; }; run minion merge
    run() { shift; "$@"; }; run x minion merge
    run() { "${"$"}{@:2}"; }; run x minion merge
    m() { minion "$@"; }; m merge
    f() { echo minion merge; }; f | sh
    f() { echo minion merge; }; $(f)
    alias m=minion; m merge
    alias m=minion⏎m merge
    hash -p /x/bin/minion m; m merge
    ln -s "$(which minion)" m; ./m merge
    cp /x/bin/minion m && ./m merge
    echo 'minion merge' > x.sh; sh x.sh
    echo 'minion merge' > x.sh && . ./x.sh
    printf 'minion merge\n' > x && source x
    cat > x.sh <<'EOF'⏎minion merge⏎EOF⏎bash x.sh
    echo 'minion "$1"' > x.sh; sh x.sh merge
    echo 'minion merge' | tee x.sh; chmod +x x.sh; ./x.sh
    echo 'import os; os.system("minion merge")' > x.py; python3 x.py
    sh -c '"$@"' _ minion merge
    sh -c 'minion "$1"' _ merge
    coproc { minion merge; }
    find . -name x -exec sh -c 'minion merge' {} +
    parallel ::: 'minion merge'
    parallel 'minion {}' ::: merge
    echo 'minion merge' | parallel
    env -S'minion merge'
    env -S 'A=1 minion' merge
    env --split-string='minion merge'
    env -vS 'minion merge'
    tmux new-session -d 'minion merge'
    tmux send-keys 'minion merge' Enter
    echo 'minion merge' | at now
    git -c alias.m='!minion merge' m
    git config alias.m '!minion merge'
    git difftool -x 'minion merge'
    GIT_EDITOR='minion merge' git commit
    export EDITOR='minion merge'
    python3 -c "import os; os.system('min' + 'ion merge')"
    $X minion; $Y merge
    minion board; /x/bin/mini* merge
    command "$X" merge # minion
    eval "$X" # minion
    $SHELL -c 'minion merge'
    echo minion | tr a a | sh
    bash <(sed s/x/minion/ <<< 'x merge')
    git -c core.pager='minion merge' log
    git -c core.fsmonitor='minion merge' status
    git -c diff.external='minion merge' diff
    git -c credential.helper='!minion merge' fetch
    git fetch 'ext::minion merge'
    git grep -O'minion merge' x
    git grep --open-files-in-pager='minion merge' x
    ssh localhost 'minion merge'
    node --eval='require("child_process").execSync("minion merge")'
    node -e"require('child_process').execSync('minion merge')"
    python3 -c'import os;os.system("minion merge")'
    perl -e'system "minion merge"'
    perl -E 'system "minion merge"'
    perl -E'system "minion merge"'
    ruby -e'system("minion merge")'
    php -r'system("minion merge");'
    lua -e'os.execute("minion merge")'
    deno eval 'new Deno.Command("minion",{args:["merge"]}).spawn()'
    bun --eval='Bun.spawnSync(["minion","merge"])'
    R -e 'system("minion merge")'
    Rscript -e 'system("minion merge")'
    elixir -e 'System.cmd("minion", ["merge"])'
    groovy -e '"minion merge".execute()'
    pwsh -c 'minion merge'
    pwsh -Command 'minion merge'
    nu -c 'minion merge'
    elvish -c 'minion merge'
    xonsh -c 'minion merge'
    fish --command='minion merge'
    fish -c'minion merge'
    bash -c -- 'minion merge'
    bash -c -e 'minion merge'
    bash -c +e 'minion merge'
    bash -co pipefail 'minion merge'
    trap -- 'minion merge' EXIT
    install $(which minion) /tmp/x; /tmp/x merge
    make -f - <<< 'a:;minion merge'
    make -f - <<< $'a:\n\tminion merge'
    printf 'a:\n\tminion merge\n' | make -f -
    printf 'a:\n\tminion merge\n' > Mk; make -f Mk
    make --eval='a:;minion merge' a
    make SHELL='minion merge'
    vim -c 'silent !minion merge'
    vim -c 'call system("minion merge")'
    ed <<< '!minion merge'
    ex -s <<< '!minion merge'
    expect -c 'spawn minion merge'
    sqlite3 :memory: '.shell minion merge'
    sqlite3 :memory: <<< '.shell minion merge'
    gdb -batch -ex 'shell minion merge'
    gdb -batch -ex '!minion merge'
    dc -e '!minion merge'
    less '+!minion merge' x
    split --filter='minion merge' x
    sort --compress-program='minion merge' x
    zip -TT 'minion merge' a b
    tar -I 'minion merge' -cf a b
    tar --use-compress-program 'minion merge' -cf a b
    rsync -e 'minion merge' a b:c
    ssh -o ProxyCommand='minion merge' x
    ssh -oProxyCommand='minion merge' x
    scp -S 'minion merge' a b:
    man -P 'minion merge' ls
    rg --pre 'minion merge' x
    find . -fprintf run.sh 'minion merge' ; sh run.sh
    su me -c'minion merge'
    su --command='minion merge'
    hyperfine --prepare='minion merge' ls
    nodemon --exec='minion merge'
    npx nodemon --exec 'minion merge'
    npx -y concurrently 'minion merge'
    npx --call='minion merge'
    doppler run --command='minion merge'
    npx cross-env-shell 'minion merge'
    sudo -i 'minion merge'
    parallel -a f minion
    ssh -t h 'cd /x && minion merge'
    declare -n r=v; v=minion; $r merge
    awk 'BEGIN{"minion merge"|getline}'
    awk '{print | "minion merge"}' f
    sed -n '1{e minion merge⏎}' f
    sed 's/.*/minion merge/e' f
    git rebase -ix 'minion merge' main
    git mergetool --tool-help; git -c mergetool.x.cmd='minion merge' mergetool -t x
    git -c core.editor='minion merge' commit
    git -c core.sshCommand='minion merge' fetch
    git -c uploadpack.packObjectsHook='minion merge' fetch
    git fetch --upload-pack='minion merge' .
    git fetch --upload-pack 'minion merge' .
    git push --receive-pack='minion merge' .
    git push --exec='minion merge' .
    git clone -u 'minion merge' . x
    git clone 'ext::minion merge' x
    git clone -c core.fsmonitor='minion merge' . x
    git archive --remote=. --exec='minion merge' HEAD
    git ls-remote --upload-pack='minion merge' .
    GIT_PROXY_COMMAND='minion merge' git fetch
    SHELL='minion merge' vim
    LESSOPEN='|minion merge' less x
    MANPAGER='minion merge' man x
    BROWSER='minion merge' xdg-open x
    complete -C 'minion merge' x
    bash -s merge <<< 'minion $1'
    bash -s -- merge <<< 'minion $1'
    python3 -c 'import os; os.execvp("minion", ["minion","merge"])'
    python3 <<'EOF'⏎import subprocess⏎subprocess.run([⏎ "minion",⏎ "merge",⏎])⏎EOF
    python3 -c "import subprocess as s⏎s.call([⏎'minion',⏎'merge'])"
    ruby -e 'Open3.capture2("minion merge")'
    perl -MIPC::Open3 -e 'open3(1,2,3,"minion merge")'
    php -r 'passthru("minion merge");'
    osascript -e 'do shell script "minion merge"'
    osascript -e 'tell app "Terminal" to do script "minion merge"'
    deno eval 'await new Deno.Command("minion",{args:["merge"]}).output()'
    xterm -e 'minion merge'
    x-terminal-emulator -e 'minion merge'
    crontab <<< '* * * * * minion merge'
    echo '* * * * * minion merge' | crontab -
    (crontab -l; echo '0 0 * * * minion merge') | crontab -
  `;
  test.each(DEEP)(
    "what lies deeper within itself than anybody writes is asked for: %s",
    async (_, line) => expect(await foreman(line)).toBe("ask"),
  );

  test.each(lines(ASKED))("is asked: %j", async (line) => expect(await foreman(line)).toBe("ask"));

  const FREE = `
    minion
    minion --version
    minion -V
    minion --help
    minion -h
    minion merge --help
    minion merge -h
    minion land --help
    minion plan x.md
    minion plan --json x.md
    minion plan - <<'EOF'⏎1. merge⏎EOF
    minion plan "x y.md"
    minion plan x.md --expect 4
    minion plan x.md --budget 5
    minion board
    minion board --run r1
    minion report
    minion report --html
    minion report --html --run r1 --watch
    minion stats
    minion attention --json
    minion events
    minion blueprint
    minion blueprint --json
    minion overlays
    minion guide forms
    minion clean --dry-run
    minion clean --run r1 --dry-run
    minion start x.md
    minion start x.md --budget 5
    minion start --workflow quick x.md
    minion start -- x.md
    minion next
    minion next --json
    minion next --wait 90 --json
    minion resume
    minion resume --run r1
    "minion" next
  `;
  test.each(lines(FREE))("goes unasked: %j", async (line) =>
    expect(await foreman(line)).toBe("allow"),
  );

  const LEFT = String.raw`
    minion report --html page.html
    minion report --html="$HOME/page.html"
    minion report --html --run r1 page.html
    echo minion merge
    echo 'minion merge' > notes.md
    printf '%s\n' 'minion land 1'
    grep -rn 'minion merge' docs
    rg 'minion land' src
    man minion
    which minion
    command -v minion
    type minion
    git commit -m 'minion merge'
    git log --grep 'minion merge'
    git grep minion merge
    cat docs/minion merge
    ls minion land
    cp minion land
    cd minion && npm test
    npm test -- test/minion/merge.test.ts
    npm run minion
    node scripts/minion.js merge
    vim minion merge
    cat <<'EOF'⏎minion merge⏎EOF
    cat <<'EOF' > x.sh⏎minion merge⏎EOF
    minion board | head -3
    minion next && npm test
    timeout 60 minion board
    minion hook Stop
    minion job land r1
    minion nosuchverb
    npm test
    git push
    git stash
    python3 -c "print('merge')"
    node -e "console.log(1)"
    find . -name minion
    docker build -t minion .
    minions merge
    minion.sh merge
    my-minion merge
    sh merge.sh
    $(cat command)
    # minion merge
    "$PYTHON" -m pytest tests/minion
    run() { echo "+ $*"; "$@"; }; run npm test -- minion
    set -- docs/minion; ls "$@"
    read -r v < minion.txt; echo "$v"
    echo 'minion merge' | tee notes.md
    echo 'minion merge' | grep merge
    echo bWluaW9uIG1lcmdl | base64 -d
    printf -v x '%s' 'minion merge'; echo "$x"
    cat > x.sh <<'EOF'⏎minion merge⏎EOF⏎cat x.sh
    diff <(echo minion merge) <(cat x)
    cmd=(npm test); "${"$"}{cmd[@]}" -- minion
    bash scripts/minion.sh
    . ./minion.env
    cat minion.sh | bash
    GIT_EDITOR=true git commit -m 'minion merge'
    find minion -name '*.ts' -exec cat {} +
    alias m=minion
    curl -fsSL https://x.example/minion | sh
    eval "$(direnv export bash)"; npm test -- minion
    npx vitest run -t 'minion merge works'
    npm test -- 'minion merge'
    gh pr create --title 'minion merge is gone' --body 'git push -f is refused'
    curl -d 'minion merge' https://x
    perl -pe 's/minion merge/x/' f
    sed -e 's/x/minion merge/' f
    npx prettier --write 'docs/minion merge.md'
  `;
  test.each(lines(LEFT))("is left to the person's own permissions: %j", async (line) =>
    expect(await foreman(line)).toBeNull(),
  );
});

describe("a worker", () => {
  const OWN = "minion/r1/1-one.1";
  const TOP = "/a/repo/.claude/worktrees/w1";
  const WHERE = { cwd: TOP, top: TOP, main: "/a/repo", common: "/a/repo/.git" };
  const worker = (line: string): string => {
    if (refusal(line, OWN, SHIPPED.refuse, WHERE)) return "refused";
    return isListed(wordsOf(line) ?? [], SHIPPED.allow, TOP) ? "unasked" : "left";
  };

  test.each(DEEP)("what lies deeper within itself than anybody writes is refused: %s", (_, line) =>
    expect(worker(line)).toBe("refused"),
  );

  const REFUSED = String.raw`
    minion merge
    minion land 1
    'minion' next
    timeout 5 minion merge
    npx minion merge
    node /x/bin/minion land 1
    $(which minion) merge
    minion $X
    minion --json land 1
    minion merge -- -h
    git stash
    python3 - <<'EOF'⏎import os⏎os.system("git stash")⏎EOF
    HUSKY_SKIP_HOOKS=1 git commit -m x
    git -c color.ui=false -c core.hooksPath= commit -m x
    git --no-pager -C src -c core.hooksPath= commit -m x
    git commit -F $HOME/.netrc
    gh api -X PUT repos/a/b/pulls/1/merge
    rm /a/repo/.git/hooks/pre-commit
    echo x > /a/repo/.git/config
    rm -rf .git
    echo x >> /a/repo/.git/info/exclude
    cp x /a/repo/.git/hooks/pre-commit
    cp x "$(git rev-parse --git-common-dir)/hooks/pre-push"
    cp x ${"`"}git rev-parse --git-common-dir${"`"}/hooks/pre-push
    echo x > "$(git rev-parse --path-format=absolute --git-path hooks)/pre-commit"
    echo x >> $(git rev-parse --git-dir)/info/exclude
    d=$(git rev-parse --git-common-dir); echo x > "$d/config"
    cd "$(git rev-parse --git-common-dir)" && cp ../x hooks/pre-push
    cd "$(git rev-parse --git-common-dir)/hooks" && touch pre-push
    rm "$(git rev-parse --show-toplevel)/../../../.git/hooks/pre-commit"
    tee $PWD/../../../.git/config < x
    tee "$(pwd)/../../../.git/config" < x
    cd "$(git rev-parse --git-common-dir)/.." && git commit -am x
    cd "$(git rev-parse --git-common-dir)"; cd ..; git add -A
    cd "$(dirname "$(git rev-parse --git-common-dir)")" && git add -A
    cd "$(cd "$(git rev-parse --git-common-dir)/.." && pwd)" && git add -A
    git -C "$(git rev-parse --git-common-dir)/.." commit -am x
    git -C $(dirname $(git rev-parse --git-common-dir)) add -A
    GIT_WORK_TREE="$(git rev-parse --show-toplevel)/../../.." git add -A
    find .git/minion -type f | xargs rm
    find .git/minion -type f -print0 | xargs -0 rm -f
    tar xzf x.tgz -C .git/minion
    ln -s x .git/minion/r1/x
    git⇥stash
    'git' stash
    g\it stash
    "git" "stash"
    GIT stash
    git 'stash' push
    git st"ash"
    {git,stash}
    git {stash,push}
    timeout 5 git stash
    env git stash
    env -i PATH=/bin git stash
    env -S 'git stash'
    nohup git stash
    command git stash
    exec git stash
    nice -n 5 git stash
    time git stash
    sudo git stash
    stdbuf -oL git stash
    setsid git stash
    xargs git stash
    echo stash | xargs git
    bash -lc 'git stash'
    eval git stash
    eval 'git stash'
    trap 'git stash' EXIT
    sh <<< 'git stash'
    sh <<EOF⏎git stash⏎EOF
    echo git stash | sh
    echo 'git stash' | timeout 5 bash
    G=git; $G stash
    S=stash; git $S
    git $S
    git "$@"
    git $(cat verb)
    for c in status stash; do git $c; done
    f() { git "$1"; }; f stash
    (cd src; git stash)
    find . -name x -exec git stash \;
    python3 -c "import os; os.system('git stash')"
    python3 -c "import subprocess as s; s.run(['git','stash'])"
    node -e "require('child_process').execFileSync('git', ['stash'])"
    perl -e 'system("git", "stash")'
    awk 'BEGIN { system("git stash") }'
    git -c alias.s=stash s
    git -c 'alias.s=!git push -f' s
    git -c ALIAS.s=stash s
    git -c alias.x='!sh -c "rm -rf x"' x
    git -c CORE.HOOKSPATH=/dev/null commit -m x
    git -c Core.HooksPath= commit -m x
    git -c core.hookspath='/a b' commit -m x
    git -c core.fsmonitor=./x status
    git -c core.sshCommand=./x fetch
    git -c core.editor=./x commit
    git -c core.pager=./x log
    git -c diff.external=./x diff
    git -c include.path=/x status
    git -c commit.gpgsign=false commit -m x
    git -c commit.gpgSign=false commit -m x
    git --config-env=core.hooksPath=X commit -m x
    git --exec-path=/x status
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0= git commit -m x
    GIT_CONFIG_GLOBAL=/x git commit -m x
    GIT_INDEX_FILE=/x git add .
    GIT_DIR=/a/repo/.git git commit -m x
    env GIT_DIR=/a/repo/.git git reset --hard
    export GIT_DIR=/a/repo/.git
    HUSKY=0 git commit -m x
    HUSKY=0 git push
    env HUSKY=0 git commit -m x
    A=1 HUSKY=0 B=2 git commit -m x
    export HUSKY=0
    export HUSKY=0; git commit -m x
    LEFTHOOK=0 git commit -m x
    SKIP=lint git commit -m x
    PRE_COMMIT_ALLOW_NO_CONFIG=1 git commit -m x
    git commit --no-gpg-sign -m x
    git commit --no-gpg -m x
    git commit --no-verify -m x
    git commit -nm x
    git commit -m x -n
    git fetch . HEAD:main
    git fetch . HEAD:refs/heads/main
    git fetch -q . HEAD:main
    git fetch . +HEAD:main
    git fetch origin main:main
    git fetch origin refs/heads/x:refs/heads/y
    git fetch --depth 1 origin x:y
    git fetch -u origin x
    git fetch --update-head-ok . x:y
    git pull . HEAD:main
    git pull origin main:main
    git send-pack . HEAD:main
    git send-pack --force . HEAD:main
    git push . HEAD:main
    git push --force-with-lease origin HEAD
    git update-ref refs/heads/main HEAD
    git symbolic-ref HEAD refs/heads/x
    git symbolic-ref -m x HEAD refs/heads/x
    git symbolic-ref -q HEAD refs/heads/x
    git replace a b
    git filter-branch --all
    git fast-import
    git notes add -m x
    git gc --prune=now
    git prune
    git repack -ad
    git maintenance run
    git tag -d v1
    git branch -D x
    git switch main
    git switch -c x
    git checkout -b x
    git worktree prune
    git reflog expire --all
    git remote add x y
    git remote set-url origin y
    git remote rename a b
    git config user.name x
    git config --local user.name x
    git config --type bool core.bare true
    git config -f .git/config core.bare true
    git config --unset core.bare
    git config --global --add a.b c
    git config set a.b c
    git config -e
    git rebase -x 'git stash' main
    git rebase --exec 'git stash' main
    git bisect run git stash
    git submodule foreach 'git stash'
    git -C /a/repo commit -m x
    git -C /a/repo reset --hard
    git -C ../../.. add -A
    git -C ../w2 reset --hard
    git --git-dir=/a/repo/.git reset
    git --git-dir /a/repo/.git branch x
    git --work-tree=/a/repo checkout -- .
    cd /a/repo && git add -A
    cd ../w2 && git commit -m x
    (cd /a/repo; git checkout -- .)
    cd ../../..; git reset --hard
    pushd /a/repo && git merge x
    git commit -F ~/.ssh/id_rsa
    git commit -F /etc/passwd
    git commit -F/etc/passwd
    git commit --file=/etc/passwd
    git commit --file ../../x
    git commit -F ../x
    git commit -t /etc/passwd
    git tag -a v1 -F ~/.netrc
    gh pr merge 1
    timeout 9 gh pr merge 1
    rm -rf /a/repo/.git/minion
    cp x /a/repo/.git/minion/r1/events.jsonl
    cp -t .git/minion/r1 x
    mv .git/minion/r1 /tmp
    tee /a/repo/.git/minion/r1/events.jsonl
    sed -i s/a/b/ .git/minion/r1/events.jsonl
    sed -ni p .git/minion/r1/events.jsonl
    perl -pi -e s/a/b/ .git/minion/r1/events.jsonl
    find .git/minion -delete
    find .git/minion -name x -exec rm {} +
    find .git/minion -exec sh -c 'rm $0' {} \;
    sort -o .git/minion/r1/events.jsonl x
    cd .git/minion && rm -rf r1
    cd /a/repo/.git/minion/r1; echo x >> events.jsonl
    echo x > /a/repo/.git/minion/r1/report.md
    D=/a/repo/.git/minion; rm -rf $D
    dd if=/dev/null of=.git/minion/r1/events.jsonl
    truncate -s 0 .git/minion/r1/events.jsonl
    node -e "fs.rmSync('.git/minion/r1')"
    python3 -c "open('.git/minion/r1/events.jsonl','w')"
    set -- git stash; "$@"
    bash <(echo git stash)
    $(printf git) stash
    echo Z2l0IHN0YXNo | base64 -d | sh
    base64 -d x.b64 | sh
    base64 -d < x.b64 | timeout 5 bash
    base64 -d x.b64 > x.sh; sh x.sh
    eval "$(base64 -d x.b64)"
    source <(base64 -d x.b64)
    echo gvg fgnfu | tr a-z n-za-m | sh
    sed s/x/git/ x.sh | sh
    openssl enc -d -aes-256-cbc -in x | bash
    python3 -c "print('gi'+'t stash')" | sh
    python3 -c "import os,base64; os.system(base64.b64decode('Z2l0IHN0YXNo'))"
    node -e "require('child_process').execSync(Buffer.from('Z2l0','base64')+' stash')"
    node -e "require(atob('Y2hpbGRfcHJvY2Vzcw==')).execSync(atob('Z2l0IHN0YXNo'))"
    node -e 'const m = "s" + "poke".reverse; import(atob(m)).then((x) => x.run(atob("Z2l0IHN0YXNo")))' 
    node -e 'require("\x63hild_process").exec(["stash", "git"].reverse().join(" "))' 
    perl -e 'system(pack("H*", "676974207374617368"))'
    echo "import os; os.system('git stash')" | python3 -
    base64 -d x.b64 | python3
    g''it stash
    gi\t stash
    $'\x67it' stash
    /usr/bin/g?t stash
    /usr/bin/gi[t] stash
    /usr/*/git stash
    ${"$"}{X}it stash
    $X stash
    "$X" push --force
    "$X" -c core.hooksPath=/dev/null commit -m x
    $X
    eval "$X"
    sh -c "$X"
    $SHELL -c 'git stash'
    $X "$Y"
    read -r c < cmd; $c
    while read -r c; do eval "$c"; done < cmds
    read -r a b <<< 'git stash'; "$a" "$b"
    printf -v c 'gi%s' t; "$c" stash
    a=(git stash); "${"$"}{a[@]}"
    a=g; a+=it; $a stash
    run() { "$@"; }; run git stash
    g() { git "$@"; }; g stash
    alias g=git; g stash
    alias g='git stash'; g
    ln -s /usr/bin/git g; ./g stash
    echo 'git stash' > x.sh; sh x.sh
    cat > x.sh <<'EOF'⏎git stash⏎EOF⏎chmod +x x.sh && ./x.sh
    echo 'git stash' > x; . ./x
    sh -c 'git "$1"' _ stash
    echo 'git stash' | xargs -I{} sh -c '{}'
    find . -exec {} stash \;
    parallel git ::: stash
    env -S'git stash'
    GIT_EDITOR='git stash' git commit
    git st$X
    git s?ash
    X=ls; X=git; Y="$X stash"; $Y
    X=git; Y=a; Y=stash; $X $Y; X=ls
    X=ls; X='git stash'; echo "$X" | sh
    X=ls; X=git; $(echo $X) stash
    { [ -f x ]; echo git stash; } | sh
    (npm test && echo git stash) | sh
    f() { echo git stash; }; f | sh
    for f in x; do echo git stash; done | sh
    exec 3<<<'git stash'; sh <&3
    bash /dev/fd/3 3<<<'git stash'
    IFS=_; c=git_stash; $c
    su <<< 'git stash'
    sudo -s <<< 'git stash'
    hyperfine 'git stash'
    sed '1e git stash' x
    tar cf x --checkpoint-action=exec='git stash' y
    vim -c ':!git stash' x
    toybox sh -c 'git stash'
    git $'st\x61sh'
    git "$(echo hsats | rev)"
    tmux new -d 'git stash'
    minion $(echo merge)
    $X merge
    echo bWluaW9uIG1lcmdl | base64 -d | sh
    echo 'minion merge' > x.sh; bash ./x.sh
    git fetch 'ext::git stash'
    git grep -O'git stash' x
    git grep --open-files-in-pager='git stash' x
    ssh localhost 'git stash'
    node --eval='require("child_process").execSync("git stash")'
    node -e"require('child_process').execSync('git stash')"
    python3 -c'import os;os.system("git stash")'
    perl -e'system "git stash"'
    perl -E 'system "git stash"'
    perl -E'system "git stash"'
    ruby -e'system("git stash")'
    php -r'system("git stash");'
    lua -e'os.execute("git stash")'
    deno eval 'new Deno.Command("minion",{args:["merge"]}).spawn()'
    bun --eval='Bun.spawnSync(["git","stash"])'
    R -e 'system("git stash")'
    Rscript -e 'system("git stash")'
    elixir -e 'System.cmd("minion", ["merge"])'
    groovy -e '"git stash".execute()'
    pwsh -c 'git stash'
    pwsh -Command 'git stash'
    nu -c 'git stash'
    elvish -c 'git stash'
    xonsh -c 'git stash'
    fish --command='git stash'
    fish -c'git stash'
    bash -c -- 'git stash'
    bash -c -e 'git stash'
    bash -c +e 'git stash'
    bash -co pipefail 'git stash'
    trap -- 'git stash' EXIT
    install $(which minion) /tmp/x; /tmp/x merge
    make -f - <<< 'a:;git stash'
    make -f - <<< $'a:\n\tgit stash'
    printf 'a:\n\tgit stash\n' | make -f -
    printf 'a:\n\tgit stash\n' > Mk; make -f Mk
    make --eval='a:;git stash' a
    make SHELL='git stash'
    vim -c 'silent !git stash'
    vim -c 'call system("git stash")'
    ed <<< '!git stash'
    ex -s <<< '!git stash'
    expect -c 'spawn git stash'
    sqlite3 :memory: '.shell git stash'
    sqlite3 :memory: <<< '.shell git stash'
    gdb -batch -ex 'shell git stash'
    gdb -batch -ex '!git stash'
    dc -e '!git stash'
    less '+!git stash' x
    split --filter='git stash' x
    sort --compress-program='git stash' x
    zip -TT 'git stash' a b
    tar -I 'git stash' -cf a b
    tar --use-compress-program 'git stash' -cf a b
    rsync -e 'git stash' a b:c
    ssh -o ProxyCommand='git stash' x
    ssh -oProxyCommand='git stash' x
    scp -S 'git stash' a b:
    man -P 'git stash' ls
    rg --pre 'git stash' x
    find . -fprintf run.sh 'git stash' ; sh run.sh
    su me -c'git stash'
    su --command='git stash'
    hyperfine --prepare='git stash' ls
    nodemon --exec='git stash'
    npx nodemon --exec 'git stash'
    npx -y concurrently 'git stash'
    npx --call='git stash'
    doppler run --command='git stash'
    npx cross-env-shell 'git stash'
    parallel -a f minion
    ssh -t h 'cd /x && git stash'
    ssh h 'cd x; git stash'
    declare -n r=v; v=minion; $r merge
    awk 'BEGIN{"git stash"|getline}'
    awk '{print | "git stash"}' f
    sed -n '1{e git stash⏎}' f
    sed 's/.*/git stash/e' f
    git rebase -ix 'git stash' main
    git fetch --upload-pack='git stash' .
    git fetch --upload-pack 'git stash' .
    git clone -u 'git stash' . x
    git clone 'ext::git stash' x
    git clone -c core.fsmonitor='git stash' . x
    git archive --remote=. --exec='git stash' HEAD
    git ls-remote --upload-pack='git stash' .
    GIT_PROXY_COMMAND='git stash' git fetch
    SHELL='git stash' vim
    LESSOPEN='|git stash' less x
    MANPAGER='git stash' man x
    BROWSER='git stash' xdg-open x
    complete -C 'git stash' x
    python3 -c 'import os; os.execvp("minion", ["git","stash"])'
    python3 <<'EOF'⏎import subprocess⏎subprocess.run([⏎ "minion",⏎ "merge",⏎])⏎EOF
    python3 -c "import subprocess as s⏎s.call([⏎'minion',⏎'merge'])"
    ruby -e 'Open3.capture2("git stash")'
    perl -e 'open(F,"git stash|")'
    perl -MIPC::Open3 -e 'open3(1,2,3,"git stash")'
    php -r 'passthru("git stash");'
    osascript -e 'do shell script "git stash"'
    osascript -e 'tell app "Terminal" to do script "git stash"'
    deno eval 'await new Deno.Command("minion",{args:["merge"]}).output()'
    xterm -e 'git stash'
    x-terminal-emulator -e 'git stash'
    crontab <<< '* * * * * git stash'
    echo '* * * * * git stash' | crontab -
    (crontab -l; echo '0 0 * * * git stash') | crontab -
  `;
  const many = Array.from({ length: 150 }, (_, at) => `v${at}`).join(" ");
  const deep = (level: number): string =>
    level === 0 ? "git stash" : `sh -c ${JSON.stringify(deep(level - 1))}`;
  test("is refused what nobody would read to its end", () => {
    expect(worker(`for v in ${many} stash; do git $v; done`)).toBe("refused");
    expect(worker(deep(9))).toBe("refused");
  });

  test.each(lines(REFUSED))("is refused: %j", (line) => expect(worker(line)).toBe("refused"));

  const UNASKED = `
    git status
    git status --short
    git diff
    git diff HEAD~1 -- src
    git diff main...HEAD
    git diff a..b
    git log --oneline -5
    git log -n 5
    git log v1..HEAD
    git show HEAD
    git show HEAD:src/a.ts
    git add -A
    git add .
    git add src/a.ts 'a b'
    git add /a/repo/.claude/worktrees/w1/src/a.ts
    git add test/minion/r1/x.test.ts
    git commit -m 'feat: x'
    git commit -am x
    git commit -F - <<'EOF'⏎feat: x⏎EOF
    git commit -F msg.txt
    git commit -F /a/repo/.claude/worktrees/w1/msg.txt
    git commit -c HEAD
    git commit --amend --no-edit
    git mv a b
    git rm a
    git restore a
    git restore --staged a
    git blame src/a.ts
    git grep foo
    git grep -n 'a b' -- src
    git ls-files
    git rev-parse HEAD
    git branch --show-current
    git commit -m x -- -n
    git commit -m "minion merge"
    git grep 'minion land'
    git log --grep='git stash'
  `;
  test.each(lines(UNASKED))("goes unasked: %j", (line) => expect(worker(line)).toBe("unasked"));

  const LEFT = String.raw`
    git diff --no-index /dev/null ~/.ssh/id_rsa
    git diff --no-index a b
    git stash --help
    git fetch origin '+refs/heads/*:refs/remotes/origin/*'
    git commit -F /tmp/msg.txt
    python3 -c "print(open('.git/minion/r1/events.jsonl').read())"
    node -p "require('fs').readFileSync('.git/minion/r1/output/x.log','utf8')"
    python3 - <<'EOF'⏎open('README.md','w').write('git stash')⏎EOF
    ln -s /a/repo/.git/minion/r1/output logs
    tar czf /tmp/x.tgz .git/minion/r1
    perl -ne 'print if /FAIL/' .git/minion/r1/output/x.log
    rm -rf /tmp/x/.git
    touch .gitignore
    cat .git/config
    find . -name '*.orig' | xargs rm
    git diff --no-ind a b
    git diff /dev/null /etc/passwd
    git grep --no-index x
    git grep --no-index . ~/.ssh
    git grep x ../..
    git grep -f /etc/passwd
    git blame --contents /etc/passwd a
    git blame --contents=/etc/passwd a
    git log --output=/x
    git diff --ext-diff
    git add --pathspec-from-file=x
    git show --textconv --outp=x
    git add ../x
    git stash list
    git stash show -p
    git worktree list
    git -C src status
    git -C /a/repo log
    git -C /a/repo status
    git -C ../w2 diff
    cd /a/repo && git log
    cd src && git add -A
    cd src && cd .. && git add -A
    cd "$(git rev-parse --show-toplevel)" && git add -A
    cd "$(dirname src/a.ts)" && git add -A
    git -C "$PWD/src" add -A
    cat "$(git rev-parse --git-common-dir)/config"
    cp "$(git rev-parse --git-dir)/HEAD" x
    echo x > "$(git rev-parse --show-toplevel)/out.txt"
    echo x > "$PWD/out.txt"
    cd /tmp/x && cp hook "$(git rev-parse --git-dir)/hooks/pre-commit"
    cd /tmp/x && git init && git add -A && git commit -m x
    git -C /tmp/x commit -m x
    git -c color.ui=false diff
    git -c core.quotePath=false status
    git -c core.pager=cat log
    git -c core.editor=true rebase --continue
    git -c user.name=x log
    git -c advice.detachedHead=false checkout a
    git --no-pager log
    git switch -
    git switch minion/r1/1-one.1
    git remote
    git remote -v
    git remote update
    git remote show origin
    git remote get-url origin
    git config core.bare
    git config --type bool core.bare
    git config --type=bool core.bare
    git config --bool core.bare
    git config --get user.name
    git config --get-all a.b
    git config --get-regexp '^core' x
    git config --list --show-origin
    git config -l
    git config -f .gitmodules --list
    git config --file .gitmodules submodule.a.path
    git config --default x a.b
    git config get --all a.b
    git config list
    git fetch
    git fetch origin
    git fetch origin main
    git fetch --all --prune
    git fetch --depth 1 https://example.org/x main
    git fetch https://example.org:8443/x main
    git fetch git@example.org:a/b main
    git fetch ssh://git@example.org/a/b
    git pull --ff-only
    git pull origin main
    git push
    git push -u origin HEAD
    git symbolic-ref HEAD
    git symbolic-ref --short HEAD
    git symbolic-ref -q HEAD
    git notes list
    git tag v1
    git reset --hard HEAD~1
    git rebase --continue
    git rebase -x 'npm test' main
    git cherry-pick --abort
    git checkout -- a
    git checkout -- -b
    git add -- --no-verify
    git help stash
    git help
    git --version
    git submodule update --init
    git submodule foreach 'git status'
    ls-files | xargs git add
    git ls-files | xargs git blame
    git ls-files | xargs wc -l
    git status | head -3
    FOO=1 git status
    GIT_PAGER=cat git log
    HUSKY=0 npm ci
    minion --version
    minion --help
    minion begin r1/1.1
    timeout 90 minion gate test
    minion submit <<'EOF'⏎minion merge; git stash⏎EOF
    echo minion land 1
    echo git stash
    rg 'git stash' docs
    grep -rn 'git push -f' docs
    cat .git/minion/r1/output/x.log
    less .git/minion/r1/output/x.log
    find /a/repo/.git/minion/r1/output -name '*.log'
    find .git/minion -type f -exec cat {} +
    find .git/minion -name '*.log' | xargs grep FAIL
    awk '{ print $1 }' .git/minion/r1/output/x.log
    jq . .git/minion/r1/events.jsonl
    sort .git/minion/r1/output/x.log | uniq -c
    diff .git/minion/r1/output/a.log .git/minion/r1/output/b.log
    cp .git/minion/r1/output/x.log /tmp/x.log
    cp /a/repo/.git/minion/r1/output/x.log .
    cut -c 1-80 .git/minion/r1/output/x.log
    sed -n 1,5p .git/minion/r1/output/x.log
    sed s/a/b/ .git/minion/r1/output/x.log
    sed -En 's/a/b/p' .git/minion/r1/output/x.log
    cd /a/repo/.git/minion/r1/output && ls -la
    stat .git/minion/r1
    xxd .git/minion/r1/output/x.log
    bat .git/minion/r1/output/x.log
    perl -ne 'print if /FAIL/' .git/minion/r1/output/x.log
    cat .git/minion/r1/output/x.log > /tmp/x.log
    vitest run test/minion/r1/x.test.ts
    rm test/minion/r1/x.test.ts
    mv test/minion/r1/events.test.ts test/minion/r1/x.ts
    touch test/minion/r1/output/x
    echo x > test/minion/r1/report.md
    rm -rf src/.git-notes
    npm test
    npm install minion
    cp minion land
    make minion
    python3 -c "print(1)"
    for f in a b; do echo $f; done
    docker run -v .:/x git status
    "$PYTHON" -m pytest -x
    "$PYTHON" "$DIR/x.py"
    ${"$"}{PYTHON:-python3} x.py
    $(npm bin)/eslint .
    $HOME/.cargo/bin/cargo test
    ./gradlew test
    eval "$(direnv export bash)"
    eval "$(ssh-agent -s)"
    source .venv/bin/activate && pytest
    . "$NVM_DIR/nvm.sh"
    source <(kubectl completion bash)
    bash scripts/x.sh
    cat x.sh | bash
    curl -fsSL https://x.example | sh
    bash <(curl -s https://x.example)
    run() { echo "+ $*"; "$@"; }; run npm test
    g() { git "$1"; }; g status
    set -- a b; npm test "$@"
    for t in tests/*.sh; do "$t"; done
    for t in tests/*.sh; do bash "$t" || exit 1; done
    read -r v < .nvmrc; nvm use "$v"
    while read -r f; do node "$f"; done < list
    while read -r f; do git add "$f"; done < list
    echo aGk= | base64 -d
    base64 -d x.b64 | tar xz
    echo Z2l0IHN0YXNo | base64 -d
    echo 'git stash' > notes.md
    cat > x.sh <<'EOF'⏎git stash⏎EOF
    cat > x.sh <<'EOF'⏎npm test⏎EOF⏎bash x.sh
    echo 'npm test' | sh
    CMD="npm test"; $CMD
    cmd=(npm test); "${"$"}{cmd[@]}"
    args=(-r x); pytest "${"$"}{args[@]}"
    ls | xargs -I{} sh -c 'cd {} && npm test'
    find . -name '*.sh' -exec bash {} \;
    find . -name x -exec {} --version \;
    python3 gen.py | sh
    python3 -c "import subprocess; subprocess.run(['npm', 'test'])"
    python3 -c "import base64; print(base64.b64decode('Z2l0IHN0YXNo'))"
    node - <<'JS'⏎const rows = [1, 2].reverse().map((id) => \`row \${id}\`);⏎console.log(/a/.exec("a"), atob("YQ=="), rows);⏎JS
    node --input-type=module -e 'import { page } from "./src/page.js"; console.log([..."abc"].reverse().map(String.fromCharCode))' 
    cat x | python3 -m json.tool
    cat x.json | jq -r .a | xargs npm view
    sed s/x/y/ a | node scripts/x.js
    git log --format=%s | sed s/a/b/ | sort
    git commit -m "$(printf 'feat: %s' x)"
    git diff "$(git merge-base main HEAD)"
    git log --since="$(date -d yesterday +%F)"
    git checkout -- '*.ts'
    [ -f x ] && npm test
    [[ $X = git ]] && npm test
    alias g=git
    diff <(git stash list) <(cat x)
    printf '%s\n' 'git stash' | grep -c stash
    env -S 'npm test'
    parallel npm test ::: a b
    GIT_EDITOR=true git rebase --continue
    for f in x y; do cat $f; done | sort
    sed -e 's/a/b/' x
    timeout 60 env A=1 nice sh -c "bash -c 'cd x && npm test'"
    IFS=, read -r a b <<< 'x,y'; npm test $a
    vim -c 'set nu' x
    GIT_SEQUENCE_EDITOR='sed -i s/pick/fixup/' git rebase -i main
    sh work.sh
    $(cat command)
    npx vitest run -t 'git stash works'
    npm test -- -t "minion merge lands"
    npm test -- 'git stash'
    pytest -k 'git stash'
    gh pr create --title 'git stash is gone' --body 'git push -f is refused'
    gh pr create -t 'minion merge' -b 'minion merge x'
    gh issue list --search 'git stash in:title'
    curl -d 'git stash' https://x
    curl --data-raw 'git stash' https://x
    docker build --label 'git stash' .
    make -f - <<< 'a:; npm test'
    make test
    make -C sub test
    sqlite3 x.db 'select * from git'
    sqlite3 x.db <<< 'select 1;'
    gdb -batch -ex bt ./x
    ssh h uptime
    ssh h 'cd /x && npm test'
    bash -lc 'npm test'
    bash -o pipefail -c 'npm test | tee x'
    bash -x scripts/x.sh -c 'git stash'
    node -e"console.log(1)"
    node --test --test-name-pattern='git stash'
    node scripts/x.js --eval=1
    perl -pe 's/git stash/x/' f
    perl -i -pe 's/a/b/' f
    python3 -c'print(1)'
    python3 -m pytest -k 'git stash'
    sed -i 's/git stash/git commit/' README.md
    sed 's/minion merge/x/e' f
    sed -e 's/x/git stash/' f
    sed -n 's/re git stash/e/p' f
    awk '/git stash/ {print}' f
    awk '{print "git stash"}' f
    awk '{print $1 | "sort"}' f
    tar -cf x -I zstd a
    tar -I 'zstd -19' -cf a b
    rsync -ae ssh a b:c
    rsync -a -e 'ssh -p 22' a b:c
    vim -c 'set nu' f
    PAGER=less man git
    MANPAGER='less -R' man git
    EDITOR=vim git commit
    SHELL=/bin/bash npm test
    crontab -l
    trap 'rm -f x' EXIT; npm test
    split -l 10 x
    git notes list
    declare -n r=v; v=npm; $r test
    eslint --rule 'quotes: [2]' src
    cargo test -- 'git stash'
    go test -run 'git stash'
    npx tsx -e 'console.log("git stash")'
    mkdir 'git stash'
    code 'git stash.md'
    npx prettier --write 'docs/git stash.md'
  `;
  test.each(lines(LEFT))("is not refused, nor let through by us: %j", (line) =>
    expect(worker(line)).toBe("left"),
  );
});

# What the scripts share: where the checkout is, which Python and which Java it uses.
# Sourced, never run.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
script=scripts/$(basename "$0")
python=$PWD/.venv/bin/python

# Spark starts its workers with the python3 of PATH unless told otherwise, and that
# one has no pyarrow.
export PYSPARK_PYTHON=$python PYSPARK_DRIVER_PYTHON=$python

# A worker of Spark that may not keep compiled modules compiles pandas anew: 2 s each.
unset PYTHONDONTWRITEBYTECODE

say() { printf '%s: %s\n' "$script" "$*" >&2; }
die() { say "$*"; exit 1; }

# The comment block at the top of a script is its --help.
help() { awk 'NR > 1 && /^#/ { sub(/^# ?/, ""); print; next } NR > 1 { exit }' "$0"; }

# Installs a Debian package where that needs no question: as root, with apt-get.
apt_install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  say "installing $1"
  mkdir -p .cache
  {
    apt-get update -qq \
      && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$1"
  } </dev/null >.cache/apt.log 2>&1 || { tail -n 5 .cache/apt.log >&2; return 1; }
}

# The major version of a java program; fails where it does not run.
java_major() {
  "$1" -version 2>&1 | sed -n 's/.*version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' | grep .
}

# Points JAVA_HOME at a Java that Spark can use: the one that is set, else PATH's.
find_java() {
  local home version
  for home in "${JAVA_HOME:-}" "$(path_java_home)"; do
    [ -n "$home" ] && version=$(java_major "$home/bin/java") || continue
    [ "$version" -ge 17 ] && { export JAVA_HOME=$home; return; }
  done
  return 1
}

path_java_home() {
  local program
  program=$(command -v java) || return 0
  # macOS has a /usr/bin/java that only forwards; it knows the home itself.
  if [ -x /usr/libexec/java_home ]; then /usr/libexec/java_home 2>/dev/null; return 0; fi
  dirname "$(dirname "$(readlink -f "$program")")"
}

# Fetches something, said first, with the Ivy that PySpark ships, which gets the other words.
ivy() {
  local what=$1 jar log
  shift
  log=.cache/$(basename "$0")/fetch.log
  say "fetching $what"
  jar=$("$python" -c 'import pathlib, pyspark
print(*pathlib.Path(pyspark.__file__).parent.glob("jars/ivy-*.jar"))')
  find_java || die "Ivy needs Java 17 or newer: scripts/setup finds one"
  "$JAVA_HOME/bin/java" -jar "$jar" "$@" > "$log" 2>&1 \
    || { tail -n 5 "$log" >&2; die "$what cannot be had"; }
}

# Waits until what was just started in a folder listens on a port; else shows its log.
await_port() {
  local what=$1 folder=$2 port=$3 log=$4
  for _ in $(seq 300); do
    # It listens once it is ready; what it logs has no reader here.
    (: < "/dev/tcp/127.0.0.1/$port") 2>/dev/null && { say "127.0.0.1:$port"; return; }
    kill -0 "$(cat "$folder/pid")" 2>/dev/null || break
    sleep 0.2
  done
  tail -n 5 "$log" >&2
  die "$what does not start"
}

# Sends a signal to what was started in a folder, and waits for its end.
end_by() {
  local pid
  pid=$(cat "$2/pid")
  kill "-$1" "$pid" 2>/dev/null || return 0
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
}

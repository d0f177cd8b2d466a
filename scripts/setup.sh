#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Prism needs on Debian 12: packages of the distribution, and torch with its
# dependencies into .venv. May be run again at any time: it does only what is left to do, also after
# a broken download or a killed run.
#
#   scripts/setup.sh [--no-torch] [--check]
#
#   --no-torch   no Python environment: the program and its unit tests, without the torch plugin
#   --check      only say what would be done; exit 1 when that is something
source "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

PACKAGES=$ROOT/scripts/debian-packages.txt
LOCK=$ROOT/scripts/requirements.lock
PYTHON=/usr/bin/python3
WHOLE_SIZE="torch with its CUDA libraries; all of it: 2.7 GB to download, 4.7 GB on disk"
VENV_NEEDS_GIB=6 # on disk, with the largest archive while it is unpacked

torch=1
check=0
for argument in "$@"; do
  case $argument in
    --no-torch) torch=0 ;;
    --check) check=1 ;;
    -h | --help)
      sed -n '3,11s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) die 2 "unknown option '$argument' (there are --no-torch and --check)" ;;
  esac
done

system() { (. /etc/os-release && echo "${PRETTY_NAME:-unknown}"); }
is_debian_12() { (. /etc/os-release && [[ ${ID:-} == debian && ${VERSION_ID:-} == 12 ]]); }

# The packages of the list that are not installed, one a line. On Debian 12 the first name counts,
# elsewhere any of a line's names does.
missing_packages() {
  local line name installed found
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
  while IFS= read -r line; do
    [[ -z $line || $line == \#* ]] && continue
    is_debian_12 && line=${line%%|*}
    found=0
    for name in ${line//|/ }; do
      grep -qxF -- "$name" <<<"$installed" && found=1
    done
    ((found)) || echo "${line%%|*}"
  done <"$PACKAGES"
}

install_packages() {
  local apt=(apt-get -qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600)
  export DEBIAN_FRONTEND=noninteractive
  if dpkg-query -W -f='${db:Status-Status}' libboost1.74-dev 2>/dev/null | grep -qx installed; then
    say "setup: Boost 1.81 replaces the installed Boost 1.74 headers (Debian lets only one be there)"
  fi
  dpkg --configure -a # finishes what a killed run left half done
  "${apt[@]}" update || die 4 "the list of packages could not be fetched; run this again to go on"
  apt-get install --assume-no --no-install-recommends "$@" 2>/dev/null |
    sed -n 's/^\(Need to get\|After this operation\)/setup:   &/p' || true
  "${apt[@]}" install -y --no-install-recommends "$@" >/dev/null ||
    die 4 "not everything could be installed; what is finished is kept, run this again to go on"
}

missing_requirements() {
  if [[ -x $PYTHON ]]; then
    "$PYTHON" -I "$ROOT/scripts/venv_state.py" "$VENV" "$LOCK" "$@"
  else
    grep -F -- "==" "$LOCK" # --check on a machine without Python
  fi
}

# .venv with a working interpreter and pip; what is in it stays.
make_venv() {
  if ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then
    rm -rf "$VENV"/lib/python3.*/site-packages/pip{,-*.dist-info}
    "$PYTHON" -m venv "$VENV" || die 4 "cannot make the Python environment $VENV"
  fi
}

# One package at a time: each that is done stays done, whatever happens to the next.
install_requirements() {
  local requirement count=0 bar=off
  [[ -t 1 ]] && bar=on
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_RETRIES=10 PIP_RESUME_RETRIES=10
  for requirement in "$@"; do
    count=$((count + 1))
    say "setup:   $count of $#: $requirement"
    for attempt in 1 2 3; do
      "$VENV/bin/python" -m pip install --quiet --no-deps --progress-bar "$bar" \
        --root-user-action ignore "$requirement" && continue 2
      ((attempt == 3)) || say "setup:   trying again"
    done
    die 4 "could not install $requirement; what is finished is kept, run this again to go on"
  done
  "$VENV/bin/python" -m pip check || die 4 "the packages of $LOCK do not fit together"
}

main() {
  local packages requirements=() venv_broken=0 todo=0 free
  trap 'say; say "setup: interrupted; run it again to go on"; exit 130' INT TERM
  command -v dpkg-query >/dev/null ||
    die 4 "$(system) has no dpkg; Prism is built on Debian 12 (docs/building.md)"
  mapfile -t packages < <(missing_packages)
  is_debian_12 || say "setup: this is $(system), not Debian 12: untested"

  if ((${#packages[@]})); then
    todo=1
    say "setup: to install from the distribution: ${packages[*]}"
    if ((!check)); then
      is_debian_12 || die 4 "install these packages (or their counterparts), then run this again"
      ((EUID == 0)) || die 4 "that needs root: apt-get install ${packages[*]}"
      install_packages "${packages[@]}"
      mapfile -t packages < <(missing_packages)
      ((${#packages[@]} == 0)) || die 4 "still missing: ${packages[*]}"
    fi
  fi

  if ((torch)); then
    exec 9<"$LOCK" # two runs at once would write the same environment
    flock --nonblock 9 || { say "setup: waiting for another run of this script" && flock 9; }
    mapfile -t requirements < <(missing_requirements)
    [[ -x $VENV/bin/python ]] || venv_broken=1
  fi
  if ((${#requirements[@]} || venv_broken)); then
    todo=1
    say "setup: to install from PyPI into .venv: ${#requirements[@]} of" \
      "$(grep -cF -- "==" "$LOCK") packages ($WHOLE_SIZE)"
    if ((!check)); then
      free=$(($(df --output=avail -k "$ROOT" | tail -1) / 1048576))
      ((free >= VENV_NEEDS_GIB || ${#requirements[@]} < 5)) ||
        die 4 "only $free GiB are free in $ROOT, $VENV_NEEDS_GIB GiB are needed"
      make_venv
      mapfile -t requirements < <(missing_requirements --repair)
      install_requirements "${requirements[@]}"
    fi
  fi

  if ((!todo)); then
    say "setup: everything is there"
  elif ((check)); then
    return 1
  else
    say "setup: done"
  fi
}

main

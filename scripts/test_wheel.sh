#!/usr/bin/env bash
# Installs the wheels of dist/ into Debian systems that have Python and nothing else, and runs tests/wheel there.
#   scripts/test_wheel.sh [SUITE ...]   bookworm (Python 3.11) and trixie (3.13) unless named
# Needs root and debootstrap. The systems stay in build/wheel-test; nothing but them is touched.
set -euo pipefail
cd "$(dirname "$0")/.."
suites=("$@")
((${#suites[@]})) || suites=(bookworm trixie)
for program in debootstrap unshare chroot; do
  command -v $program >/dev/null || { echo "$program is missing (apt-get install debootstrap)" >&2; exit 1; }
done

for suite in "${suites[@]}"; do
  system=$PWD/build/wheel-test/$suite
  if [[ ! -e $system/ready ]]; then
    rm -rf "$system" && mkdir -p "$system"
    echo "Installing Debian $suite with Python into $system"
    debootstrap --variant=minbase --include=python3,python3-venv "$suite" "$system" \
      "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$system.log" || { tail -5 "$system.log" >&2; exit 1; }
    touch "$system/ready"
  fi
  found=$(find "$system"/usr/lib "$system"/usr/bin -name 'libtbb*' -o -name 'libfmt*' -o -name 'libboost*' \
    -o -name 'libLLVM*' -o -name 'g++*' -o -name 'c++*' -o -name 'clang*')
  [[ -z $found ]] || { echo "$system is not bare: $found" >&2; exit 1; }

  # Fetched here and installed there without a network, so that nothing but these files can help. pip takes wheels of
  # the platforms that are named, not of older ones.
  rm -rf "$system/wheel" && mkdir "$system/wheel"
  version=$(chroot "$system" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  download=(.venv/bin/python -m pip download --quiet --disable-pip-version-check --dest "$system/wheel"
    --only-binary=:all: --python-version "$version" --platform manylinux2014_x86_64)
  for glibc in {17..36}; do download+=(--platform "manylinux_2_${glibc}_x86_64"); done
  "${download[@]}" numpy pytest
  release=$(ls -t dist/metalloid_torch_mps-*.whl | head -1 | sed -E 's/.*\+torch([0-9.]+)-.*/\1/')
  # An index with builds for CPUs saves 4 GB.
  "${download[@]}" ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} "torch==$release"
  cp dist/metalloid*.whl tests/wheel/*.py "$system/wheel"

  echo "== Debian $suite, Python $version"
  unshare --mount --pid --fork bash -euo pipefail -c '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin bash -euc "
      rm -rf /venv && python3 -m venv /venv
      /venv/bin/pip install --quiet --no-index --find-links /wheel metalloid[mps-prebuilt] numpy pytest
      cd /wheel && /venv/bin/python -m pytest -p no:cacheprovider checks.py"
  ' bash "$system"
done

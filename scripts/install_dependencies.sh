#!/usr/bin/env bash
# Installs what building and testing Metalloid needs and this machine lacks, and says so first.
#   scripts/install_dependencies.sh          compilers, libraries, and the Python packages in .venv
#   scripts/install_dependencies.sh test     also the packages that the Python tests compare with (5 GB: torch)
#   scripts/install_dependencies.sh lint     also clang-format, clang-tidy, ruff and mypy
#   scripts/install_dependencies.sh checker  also Oclgrind, which the checker is compared with
#   scripts/install_dependencies.sh mac      also programs that are written for a Mac, in build/mac_programs (700 MB)
#   scripts/install_dependencies.sh opencl   also PoCL, and Intel's OpenCL runtime for CPUs in build/opencl (1 GB)
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
  g++ cmake ninja-build ccache
  clang-22 lld-22 llvm-22-dev libclang-22-dev libclang-rt-22-dev
  libzstd-dev zlib1g-dev libcurl4-openssl-dev libxml2-dev # what the static LLVM links to
  libboost-dev libboost-context-dev libtbb-dev libfmt-dev libcli11-dev nlohmann-json3-dev libxxhash-dev
  llvm-22-tools libgtest-dev libgmock-dev libbenchmark-dev libmpfr-dev pkg-config # tests and benchmarks
  python3-dev python3-venv
)
# The C++ library of a Mac, which programs written there lean on.
if [[ "${1:-}" == test || "${1:-}" == mac ]]; then packages+=(libc++-22-dev libc++abi-22-dev); fi
if [[ "${1:-}" == lint ]]; then packages+=(clang-format-22 clang-tidy-22); fi
if [[ "${1:-}" == opencl ]]; then packages+=(pocl-opencl-icd); fi
if [[ "${1:-}" == checker ]]; then packages+=(oclgrind); fi
python_packages=(nanobind scikit-build-core numpy pytest pytest-xdist hypothesis pyyaml)
oracles=("torch>=2.7" "mlx[cpu]>=0.30" coreai-torch mpmath expecttest)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ "$status" == installed ]] || missing+=("$package")
done

if ((${#missing[@]})); then
  as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "These Debian packages are missing, and there is neither root nor sudo to install them:" >&2
      echo "  ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "Installing ${#missing[@]} Debian packages with apt-get${as_root[0]:+ through sudo}:"
  echo "  ${missing[*]}" | fold -s -w 100 | sed '2,$s/^/  /'
  echo "(about 2 GB on disk and half a minute when nothing is there yet, most of it LLVM)"
  log=$(mktemp)
  if ! { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
  fi
  rm "$log"
fi

# The stamp lists what was installed, so that a longer list installs again.
stamp=.venv/installed-for-metalloid
if [[ "$(cat "$stamp" 2>/dev/null)" != "${python_packages[*]}" ]]; then
  echo "Installing Python packages into .venv: ${python_packages[*]}"
  [[ -x .venv/bin/python ]] || python3 -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "${python_packages[@]}"
  echo "${python_packages[*]}" >"$stamp"
fi

stamp=.venv/oracles-for-metalloid
if [[ "${1:-}" == test && "$(cat "$stamp" 2>/dev/null)" != "${oracles[*]}" ]]; then
  echo "Installing Python packages to compare with into .venv (about 5 GB, minutes): ${oracles[*]}"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "${oracles[@]}"
  echo "${oracles[*]}" >"$stamp"
fi

linters=("ruff~=0.17.6" "mypy~=2.4.1")
stamp=.venv/linters-for-metalloid
if [[ "${1:-}" == lint && "$(cat "$stamp" 2>/dev/null)" != "${linters[*]}" ]]; then
  echo "Installing linters of Python into .venv: ${linters[*]}"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "${linters[@]}"
  echo "${linters[*]}" >"$stamp"
fi

# The runtimes that kernels are compared with have a folder of their own, with the file that leads OpenCL to them.
opencl=("pyopencl>=2025" numpy intel-opencl-rt intel-cmplr-lib-rt)
if [[ "${1:-}" == opencl ]]; then
  folder=build/opencl
  stamp=$folder/installed
  if [[ "$(cat "$stamp" 2>/dev/null)" != "${opencl[*]}" ]]; then
    echo "Installing Python packages into $folder: ${opencl[*]}"
    [[ -x $folder/bin/python ]] || .venv/bin/python -m venv "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "${opencl[@]}"
    mkdir -p "$folder/vendors"
    cp /etc/OpenCL/vendors/pocl.icd "$folder/vendors/"
    echo "$PWD/$folder/lib/libintelocl.so" >"$folder/vendors/intel.icd"
    echo "${opencl[*]}" >"$stamp"
  fi
fi

# What is written for Metal's host API and comes from a package registry: Halide, which makes objects that speak to it,
# metal-cpp's headers, which MLX's wheel for Macs brings, and ggml with llama.cpp, which llama-cpp-python's sources bring.
programs=("halide==21.0.0" "mlx-metal==0.32.4" "llama-cpp-python==0.3.36")
if [[ "${1:-}" == mac ]]; then
  folder=build/mac_programs
  stamp=$folder/installed
  if [[ "$(cat "$stamp" 2>/dev/null)" != "${programs[*]}" ]]; then
    echo "Downloading into $folder: ${programs[*]}"
    rm -rf "$folder"
    mkdir -p "$folder"
    pip=(.venv/bin/python -m pip --quiet --disable-pip-version-check)
    "${pip[@]}" install --no-deps --target "$folder/halide" "${programs[0]}"
    "${pip[@]}" download --no-deps --only-binary :all: --platform macosx_14_0_arm64 --dest "$folder" "${programs[1]}"
    .venv/bin/python -m zipfile -e "$folder"/mlx_metal-*.whl "$folder/mlx"
    mv "$folder/mlx/mlx/include/metal_cpp" "$folder/metal_cpp"
    rm -rf "$folder/mlx" "$folder"/mlx_metal-*.whl
    "${pip[@]}" download --no-deps --no-binary :all: --no-build-isolation --dest "$folder" "${programs[2]}"
    mkdir "$folder/llama.cpp"
    tar -xzf "$folder"/llama_cpp_python-*.tar.gz -C "$folder/llama.cpp" --strip-components 3 --wildcards '*/vendor/llama.cpp/*'
    rm "$folder"/llama_cpp_python-*.tar.gz
    echo "${programs[*]}" >"$stamp"
  fi
fi

# What Grouperfish is built with, as Debian names it, and how to install what is missing.
# Sourced by ./quickstart and ./check, which call need_packages with the list they need.

build_packages="gcc g++ cmake make ninja-build pkg-config libleveldb-dev libsnappy-dev libstemmer-dev
    libicu-dev libcld2-dev libsimdjson-dev libarchive-dev libxxhash-dev libcsv-dev
    libopenblas-dev liblapacke-dev libmicrohttpd-dev libxml2-dev libssl-dev
    libcurl4-openssl-dev libpq-dev zlib1g-dev libmagic-dev"
# For `./check --quick`; and what the other tests need further.
quick_test_packages="curl libcmocka-dev python3 zip zstd"
test_packages="chromium clang clang-format-14 debhelper debootstrap dh-python fonts-wqy-microhei jq
    iproute2 libclang-rt-14-dev libopenmpi-dev lintian mandoc mkdocs munge nginx-light openmpi-bin openssl
    patchelf postgresql python3-ipykernel
    python3-matplotlib python3-nbclient python3-numpy python3-openpyxl python3-pandas
    python3-pip python3-plotly python3-scipy python3-sklearn python3-venv slurm-wlm
    slurm-wlm-basic-plugins strace"
# For `./check --hbase`; whoever has Java and Maven of another source keeps them.
hbase_packages="iproute2 libopenmpi-dev nginx-light openmpi-bin python3-numpy python3-scipy"
command -v java >/dev/null || hbase_packages="$hbase_packages default-jre-headless"
command -v mvn >/dev/null || hbase_packages="$hbase_packages maven"
# For the page's tests; whoever has a Node.js of another source keeps it.
command -v node >/dev/null && command -v npm >/dev/null || test_packages="$test_packages nodejs npm"

# Prints those of its arguments that are not installed.
missing_packages() {
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
            echo "$package"
    done
}

need_packages() {
    if ! command -v apt-get >/dev/null; then
        echo "This is no Debian system: install what these packages hold, then build with cmake:" >&2
        echo "$@" >&2
        return 0
    fi
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    echo "Installing: $missing"
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
        command -v sudo >/dev/null || {
            echo "these packages are missing, and only root can install them: $missing" >&2
            return 1
        }
    fi
    $as_root apt-get update -q >/dev/null &&
        # shellcheck disable=SC2086 # a list of words
        DEBIAN_FRONTEND=noninteractive $as_root apt-get install -q -y --no-install-recommends \
            $missing >/dev/null
}

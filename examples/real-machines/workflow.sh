#!/bin/sh
# A typical workflow on a cloud of real machines, with the `openstack` command only. Exits with 0 if all commands
# succeeded; created resources are removed at the end, even after a failure. See README.md for the required environment.
set -eu
here=$(dirname "$0")

: "${IMAGE_FILE:?a raw or qcow2 image}"
format=${IMAGE_FORMAT:-qcow2}
flavor=${FLAVOR:-m1.tiny}
larger=${LARGER_FLAVOR:-m1.small}
network=${NETWORK:-private}
ready=${READY:-login:}
say=${SAY:-}
expect=${EXPECT:-login:}
name=workflow-$$
files=$(mktemp -d)

step() { printf '\n== %s\n' "$*"; }

# Repeats a command until it prints the expected output. Fails after 100 attempts, which take several minutes.
until_output() {
  shown=$1
  shift
  attempts=0
  until "$@" 2>/dev/null | tee "$files/output" | grep -q -e "$shown"; do
    attempts=$((attempts + 1))
    [ "$attempts" -lt 100 ] || { cat "$files/output"; echo "the output does not contain: $shown" >&2; return 1; }
    sleep 2
  done
}

# Types text on the serial line, and waits for the expected output.
serial() {
  url=$(openstack console url show --serial "$name" -f value -c url)
  node --experimental-websocket --no-warnings "$here/serial.mjs" "$url" "$1" "$2"
}

# The resources to remove at the end: the server first, because it uses the others.
created=
remove() {
  status=$?
  trap - EXIT
  set +e
  step 'removes the created resources'
  case $created in *server*) openstack server delete --wait "$name" ;; esac
  for resource in $created; do
    case $resource in
      server) ;;
      copy) openstack image delete "$name-copy" ;;
      *) openstack "$resource" delete "$name" ;;
    esac
  done
  [ -z "${KERNEL_FILE:-}" ] || openstack image delete $kernel $ramdisk
  rm -rf "$files"
  exit "$status"
}
trap remove EXIT

step 'uploads an image'
upload() {
  openstack image create --disk-format "$1" --container-format "$2" --file "$3" -f value -c id "$4"
}
kernel=
ramdisk=
set --
if [ -n "${KERNEL_FILE:-}" ]; then
  kernel=$(upload aki aki "$KERNEL_FILE" "$name-kernel")
  [ -z "${RAMDISK_FILE:-}" ] || ramdisk=$(upload ari ari "$RAMDISK_FILE" "$name-ramdisk")
  set -- --property "kernel_id=$kernel" --property "ramdisk_id=$ramdisk"
  set -- "$@" --property "os_command_line=${COMMAND_LINE:-root=/dev/vda console=ttyS0}"
fi
openstack image create --disk-format "$format" --container-format bare --file "$IMAGE_FILE" "$@" -f value -c id "$name"
created=image

step 'imports a key pair'
ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$files/key"
openstack keypair create --public-key "$files/key.pub" -f value -c fingerprint "$name"
created="keypair $created"

step 'boots a server'
created="server $created"
openstack server create --flavor "$flavor" --image "$name" --network "$network" --key-name "$name" --wait "$name" \
  -f value -c id -c status -c addresses
until_output "$ready" openstack console log show "$name"
cat "$files/output"

step 'uses its serial console'
serial "$say" "$expect"

if [ -n "${SSH_PORT:-}${SSH_HOST:-}" ]; then
  step 'logs in with the key'
  login() {
    ssh -q -i "$files/key" -p "${SSH_PORT:-22}" -o BatchMode=yes -o IdentitiesOnly=yes -o ConnectTimeout=30 \
      -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "${SSH_USER:-debian}@${SSH_HOST:-127.0.0.1}" "$1" </dev/null
  }
  until_output 'logged in as' login 'echo logged in as $(whoami)'
  cat "$files/output"
fi

step 'attaches and detaches a volume'
openstack volume create --size 1 -f value -c id "$name"
created="volume $created"
until_output available openstack volume show "$name" -f value -c status
openstack server add volume "$name" "$name" -f value -c Device
until_output in-use openstack volume show "$name" -f value -c status
[ -z "${SAY_VOLUME:-}" ] || serial "$SAY_VOLUME" "$EXPECT_VOLUME"
openstack server remove volume "$name" "$name"
until_output available openstack volume show "$name" -f value -c status

step 'creates an image of the running server'
openstack server image create --name "$name-copy" --wait "$name" -f value -c name -c status -c disk_format
created="copy $created"

step 'resizes the server'
openstack server resize --flavor "$larger" --wait "$name"
openstack server resize confirm "$name"
until_output ACTIVE openstack server show "$name" -f value -c status -c flavor
cat "$files/output"

if [ "$(openstack hypervisor list -f value -c ID | wc -l)" -gt 1 ] && [ -z "${STAY:-}" ]; then
  step 'migrates the running server to another host'
  openstack server migrate --live-migration --wait "$name"
  until_output ACTIVE openstack server show "$name" -f value -c status -c OS-EXT-SRV-ATTR:host
  cat "$files/output"
  serial "$say" "$expect"
fi

step 'deletes the server'
openstack server delete --wait "$name"
created=$(echo "$created" | sed 's/server//')
step 'all steps succeeded'

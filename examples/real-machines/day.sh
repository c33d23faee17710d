#!/bin/sh
# A day with a cloud of real machines, with the `openstack` command only. Exits with 0 if all commands succeeded;
# created resources are removed at the end, also after a failure. See README.md for the required environment.
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
name=day-$$
files=$(mktemp -d)

step() { printf '\n== %s\n' "$*"; }

# Waits for up to several minutes until a command prints the expected output.
until_shown() {
  shown=$1
  shift
  tries=0
  until "$@" 2>/dev/null | tee "$files/shown" | grep -q -e "$shown"; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { cat "$files/shown"; echo "nowhere to be seen: $shown" >&2; return 1; }
    sleep 2
  done
}

# Types text on the serial line, and waits for the expected output.
serial() {
  url=$(openstack console url show --serial "$name" -f value -c url)
  node --experimental-websocket --no-warnings "$here/serial.mjs" "$url" "$1" "$2"
}

# The resources to remove at the end: the server first, because it uses the others.
made=
remove() {
  status=$?
  trap - EXIT
  set +e
  step 'clears up'
  case $made in *server*) openstack server delete --wait "$name" ;; esac
  for thing in $made; do
    case $thing in
      server) ;;
      copy) openstack image delete "$name-copy" ;;
      *) openstack "$thing" delete "$name" ;;
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
made=image

step 'brings a key'
ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$files/key"
openstack keypair create --public-key "$files/key.pub" -f value -c fingerprint "$name"
made="keypair $made"

step 'boots a server'
made="server $made"
openstack server create --flavor "$flavor" --image "$name" --network "$network" --key-name "$name" --wait "$name" \
  -f value -c id -c status -c addresses
until_shown "$ready" openstack console log show "$name"
cat "$files/shown"

step 'speaks with it on its serial line'
serial "$say" "$expect"

if [ -n "${SSH_PORT:-}${SSH_HOST:-}" ]; then
  step 'logs in with the key'
  login() {
    ssh -q -i "$files/key" -p "${SSH_PORT:-22}" -o BatchMode=yes -o IdentitiesOnly=yes -o ConnectTimeout=30 \
      -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null "${SSH_USER:-debian}@${SSH_HOST:-127.0.0.1}" "$1" </dev/null
  }
  until_shown 'logged in as' login 'echo logged in as $(whoami)'
  cat "$files/shown"
fi

step 'gives it a volume, and takes it back'
openstack volume create --size 1 -f value -c id "$name"
made="volume $made"
until_shown available openstack volume show "$name" -f value -c status
openstack server add volume "$name" "$name" -f value -c Device
until_shown in-use openstack volume show "$name" -f value -c status
[ -z "${SAY_VOLUME:-}" ] || serial "$SAY_VOLUME" "$EXPECT_VOLUME"
openstack server remove volume "$name" "$name"
until_shown available openstack volume show "$name" -f value -c status

step 'copies it while it runs'
openstack server image create --name "$name-copy" --wait "$name" -f value -c name -c status -c disk_format
made="copy $made"

step 'resizes it'
openstack server resize --flavor "$larger" --wait "$name"
openstack server resize confirm "$name"
until_shown ACTIVE openstack server show "$name" -f value -c status -c flavor
cat "$files/shown"

if [ "$(openstack hypervisor list -f value -c ID | wc -l)" -gt 1 ] && [ -z "${STAY:-}" ]; then
  step 'moves it to another computer while it runs'
  openstack server migrate --live-migration --wait "$name"
  until_shown ACTIVE openstack server show "$name" -f value -c status -c OS-EXT-SRV-ATTR:host
  cat "$files/shown"
  serial "$say" "$expect"
fi

step 'deletes it'
openstack server delete --wait "$name"
made=$(echo "$made" | sed 's/server//')
step 'all steps succeeded'

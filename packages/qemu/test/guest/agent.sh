#!/bin/busybox sh
# A minimal QEMU guest agent, with only the commands for setting a password and for freezing and trimming file systems.
# Its argument is the channel.
export PATH=/bin
mkdir -p /etc
: >/etc/shadow

respond() { printf '%s\n' "$1" >&3; }
field() { echo "$line" | sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p"; }

state=thawed
while :; do
  exec 3<>"$1"
  while read -r line <&3; do
    case "$(field execute)" in
      guest-sync-delimited) printf '\377' >&3; respond "{\"return\": $(field id)}" ;;
      guest-ping) respond '{"return": {}}' ;;
      guest-set-user-password)
        user=$(field username)
        secret=$(field password | base64 -d | mkpasswd -m sha512 -S saltsaltsalt -P 0)
        if [ "$user" = root ]; then
          echo "$user:$secret:19000::::::" >/etc/shadow
          respond '{"return": {}}'
        else respond '{"error": {"class": "GenericError", "desc": "unknown user"}}'; fi
        ;;
      guest-fstrim)
        if [ "$state" = thawed ] && fstrim /mnt/disk; then respond '{"return": {"paths": []}}'
        else respond '{"error": {"class": "GenericError", "desc": "cannot trim"}}'; fi
        ;;
      guest-fsfreeze-status) respond "{\"return\": \"$state\"}" ;;
      guest-fsfreeze-freeze)
        echo frozen >>/tmp-freezes
        fsfreeze --freeze /mnt/disk && state=frozen
        respond '{"return": 1}'
        ;;
      guest-fsfreeze-thaw)
        fsfreeze --unfreeze /mnt/disk && state=thawed
        respond '{"return": 1}'
        ;;
      *) respond '{"error": {"class": "CommandNotFound", "desc": "unknown"}}' ;;
    esac
  done
  exec 3>&-
  sleep 1
done

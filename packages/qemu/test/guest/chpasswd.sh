#!/bin/busybox sh
# A fake of the program in the package passwd, to which agents pass passwords: lines of `user:password` on its input.
export PATH=/bin
while IFS= read -r line || [ -n "$line" ]; do
  user=${line%%:*}
  [ "$user" = root ] || exit 1
  echo "$user:$(printf '%s' "${line#*:}" | mkpasswd -m sha512 -S saltsaltsalt -P 0):19000::::::" >/etc/shadow
done

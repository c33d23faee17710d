/** The eight bytes that the commands below store in a TPM 2.0, in hexadecimal digits. */
export const TPM_WORD = Buffer.from('keptkept').toString('hex');

/** A successful response to the first command, which has no parameters. */
export const TPM_DEFINED = '80020000001300000000000000000000010000';

/** `TPM2_NV_DefineSpace` of an ordinary index of eight bytes, `TPM2_NV_Write` and `TPM2_NV_Read`, with empty passwords. */
const COMMANDS = {
  define: `8002 0000002d 0000012a 40000001 00000009 40000009 0000 00 0000 0000 000e 01500001 000b 00040004 0000 0008`,
  write: `8002 0000002b 00000137 01500001 01500001 00000009 40000009 0000 00 0000 0008 ${TPM_WORD} 0000`,
  read: `8002 00000023 0000014e 01500001 01500001 00000009 40000009 0000 00 0000 0008 0000`,
} as const;

/** Returns a shell command of the guest that sends a command to its TPM, and prints the response as hexadecimal digits. */
export function tpmCommand(name: keyof typeof COMMANDS): string {
  const bytes = COMMANDS[name].replaceAll(' ', '').replaceAll(/../g, '\\x$&');
  const response = `dd bs=4096 count=1 <&3 2>/dev/null | hexdump -v -e '1/1 "%02x"'`;
  return `exec 3<>/dev/tpm0; printf '${bytes}' >&3; ${response}; echo; exec 3>&-`;
}

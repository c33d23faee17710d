import { randomBytes } from '@apistrata/record-store';

const PASSWORD_CHARACTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** Returns a password of twelve letters and digits, without characters that look alike. */
export function generatePassword(): string {
  return Array.from(randomBytes(12), (byte) => PASSWORD_CHARACTERS[byte % PASSWORD_CHARACTERS.length]).join('');
}

import { randomBytes } from '@apistrata/record-store';

const CHARACTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';

/** Returns a password of twelve letters and digits, without characters that look alike. */
export function generatePassword(): string {
  return Array.from(randomBytes(12), (byte) => CHARACTERS[byte % CHARACTERS.length]).join('');
}
